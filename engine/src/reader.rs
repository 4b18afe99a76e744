//! The read step: from files to facts, in parallel, with the help of the cache.

use rayon::prelude::*;

use crate::cache::snapshot::{Source, State};
use crate::cache::{Cache, Content, key_of};
use crate::digest::Digest;
use crate::facts::FileFacts;
use crate::language::{Language, SourceFile};
use crate::problem::{NotChecked, Unchecked};
use crate::project::{Plugins, Reading, Settings};
use crate::tree::Tree;

/// How sources are read.
pub(crate) struct Reader<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) plugins: Plugins<'a>,
    pub(crate) settings: Settings,
    pub(crate) reading: Reading,
    pub(crate) cache: Option<&'a Cache>,
}

impl Reader<'_> {
    /// Reads all sources among `files`, which are sorted: facts of those that have some, and
    /// what became of each.
    pub(crate) fn read_all(&self, files: &[String]) -> (Vec<(String, FileFacts)>, Vec<Source>) {
        let read: Vec<(Source, Option<FileFacts>)> = files
            .par_iter()
            .filter_map(|path| {
                let language = self.plugins.language_of(path)?;
                let (digest, facts) = self.read(language, path);
                Some((Source::new(path, digest, facts.as_ref().map_err(|e| *e)), facts.ok()))
            })
            .collect();
        let mut facts = Vec::with_capacity(read.len());
        let mut sources = Vec::with_capacity(read.len());
        for (source, found) in read {
            facts.extend(found.map(|found| (source.path.clone(), found)));
            sources.push(source);
        }
        (facts, sources)
    }

    /// The facts of one source, from the cache if it has them, with the digest of its content
    /// (a meaningless one without a cache, where nobody hashes).
    pub(crate) fn read(&self, language: &dyn Language, path: &str) -> (Digest, Result<FileFacts, Unchecked>) {
        let Some(cache) = self.cache else {
            let facts = read_source(self.tree, language, &self.settings, path, self.reading);
            return (Digest::default(), facts);
        };
        let known = self.tree.known_digest(path);
        if let Some(digest) = known
            && let Some(facts) = self.kept(language, path, digest)
        {
            return (digest, facts);
        }
        let (bytes, digest) = match self.tree.read_with_digest(path) {
            Ok(read) => read,
            Err(reason) => return (Digest::or_reason(Err(reason)), Err(reason)),
        };
        if known != Some(digest)
            && let Some(facts) = self.kept(language, path, digest)
        {
            return (digest, facts);
        }
        let facts = facts_of(language, &self.settings, path, &bytes, self.reading);
        if facts.as_ref().err() == Some(&Unchecked::TooLarge) {
            return (digest, facts);
        }
        let content = Content { size: bytes.len() as u64, facts };
        cache.keep_content(key_of(language, path, self.reading, digest), &content);
        (digest, content.facts)
    }

    /// The facts of a content, if they are kept; an error where they are of a kind that the
    /// settings refuse.
    pub(crate) fn kept(
        &self,
        language: &dyn Language,
        path: &str,
        content: Digest,
    ) -> Option<Result<FileFacts, Unchecked>> {
        let content = self.cache?.content(key_of(language, path, self.reading, content))?;
        Some(if content.size > self.settings.file_size { Err(Unchecked::TooLarge) } else { content.facts })
    }
}

impl Source {
    pub(crate) fn new(path: &str, digest: Digest, read: Result<&FileFacts, Unchecked>) -> Self {
        let state = match read {
            Err(reason) => State::Unread(reason),
            Ok(facts) => match facts.damage.first() {
                Some(damage) if damage.cause == "depth" => State::Damaged(Unchecked::Depth, damage.line),
                Some(damage) => State::Damaged(Unchecked::Unparsable, damage.line),
                None => State::Read,
            },
        };
        Self { path: path.to_owned(), digest, state }
    }

    pub(crate) fn not_checked(&self) -> Option<NotChecked> {
        let (reason, line) = match self.state {
            State::Read => return None,
            State::Damaged(reason, line) => (reason, Some(line)),
            State::Unread(reason) => (reason, None),
        };
        Some(NotChecked { path: self.path.clone(), reason, line })
    }
}

/// Reads one source file with its language.
pub(crate) fn read_source(
    tree: &dyn Tree,
    language: &dyn Language,
    settings: &Settings,
    path: &str,
    reading: Reading,
) -> Result<FileFacts, Unchecked> {
    facts_of(language, settings, path, &tree.read(path)?, reading)
}

/// The bytes of one source file, as far as they can be text of its language.
pub(crate) fn source_bytes(
    tree: &dyn Tree,
    language: &dyn Language,
    settings: &Settings,
    path: &str,
) -> Result<Vec<u8>, Unchecked> {
    let bytes = tree.read(path)?;
    text_of(language, settings, &bytes)?;
    Ok(bytes)
}

fn text_of(language: &dyn Language, settings: &Settings, bytes: &[u8]) -> Result<(), Unchecked> {
    if bytes.len() as u64 > settings.file_size {
        return Err(Unchecked::TooLarge);
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(8192)]).is_some() {
        return Err(Unchecked::Binary);
    }
    if !language.declares_encoding(bytes) && std::str::from_utf8(bytes).is_err() {
        return Err(Unchecked::NotUtf8);
    }
    Ok(())
}

fn facts_of(
    language: &dyn Language,
    settings: &Settings,
    path: &str,
    bytes: &[u8],
    reading: Reading,
) -> Result<FileFacts, Unchecked> {
    text_of(language, settings, bytes)?;
    let file = SourceFile { path, bytes };
    Ok(match reading {
        Reading::Files => language.read_without_declarations(file),
        Reading::Declarations => language.read(file),
    })
}
