//! What somebody looked at while it answered: the contents it read, and whether it asked
//! where the project lies or what a child process says.
//!
//! Kinds of paths and listings of directories are not recorded one by one: a tree tells
//! them all at once ([`Tree::layout`], [`Tree::witness`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::snapshot::{Code, Lack};
use crate::digest::Digest;
use crate::problem::Unchecked;
use crate::runner::ConfigLoader;
use crate::tree::{Kind, Tree, Witness, text_of};

/// A tree that remembers what was read from it.
pub(crate) struct TracedTree<'a> {
    inner: &'a dyn Tree,
    reads: Mutex<BTreeMap<String, Digest>>,
    lacks: Mutex<BTreeSet<Lack>>,
    /// By path: the content, and what its code is once that was said.
    codes: Mutex<BTreeMap<String, (Digest, Option<Digest>)>>,
    located: AtomicBool,
}

/// What was looked at.
pub(crate) struct Traced {
    /// Contents that were read, sorted by path.
    pub(crate) reads: Vec<(String, Digest)>,
    /// Contents of which only some words were wanted, that hold none of them; sorted.
    pub(crate) lacks: Vec<Lack>,
    /// Contents of which only the code was looked at, sorted.
    pub(crate) codes: Vec<Code>,
    /// Whether the root was asked for.
    pub(crate) located: bool,
}

impl Traced {
    /// All contents, as if each had been read.
    pub(crate) fn into_reads(self) -> Vec<(String, Digest)> {
        let mut reads = self.reads;
        reads.extend(self.lacks.into_iter().map(|lack| (lack.path, lack.digest)));
        reads.extend(self.codes.into_iter().map(|code| (code.path, code.digest)));
        reads.sort();
        reads.dedup();
        reads
    }
}

impl<'a> TracedTree<'a> {
    pub(crate) fn new(inner: &'a dyn Tree) -> Self {
        Self {
            inner,
            reads: Mutex::default(),
            lacks: Mutex::default(),
            codes: Mutex::default(),
            located: AtomicBool::new(false),
        }
    }

    /// Ends it.
    pub(crate) fn finish(self) -> Traced {
        let mut reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut codes = Vec::new();
        for (path, (digest, code)) in self.codes.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match code {
                Some(code) => codes.push(Code { path, digest, code }),
                // Nobody said what its code is: all of it was read.
                None => drop(reads.entry(path).or_insert(digest)),
            }
        }
        let lacks = self.lacks.into_inner().unwrap_or_else(PoisonError::into_inner);
        Traced {
            reads: reads.into_iter().collect(),
            lacks: lacks.into_iter().collect(),
            codes,
            located: self.located.into_inner(),
        }
    }

    fn note(&self, path: &str, digest: Digest) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if !reads.contains_key(path) {
            reads.insert(path.to_owned(), digest);
        }
    }
}

impl Tree for TracedTree<'_> {
    fn root(&self) -> &Path {
        self.located.store(true, Ordering::Relaxed);
        self.inner.root()
    }

    fn files(&self) -> &[String] {
        self.inner.files()
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        self.inner.kind(path)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        self.read_with_digest(path).map(|(bytes, _)| bytes)
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        self.inner.list(dir)
    }

    fn real(&self, path: &str) -> Option<String> {
        self.inner.real(path)
    }

    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        let read = self.inner.read_with_digest(path);
        self.note(path, Digest::or_reason(read.as_ref().map(|(_, digest)| *digest).map_err(|e| *e)));
        read
    }

    fn code(&self, path: &str) -> Option<String> {
        let read = self.inner.read_with_digest(path);
        let digest = Digest::or_reason(read.as_ref().map(|(_, digest)| *digest).map_err(|e| *e));
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.entry(path.to_owned()).or_insert((digest, None));
        drop(codes);
        read.ok().and_then(|(bytes, _)| text_of(bytes))
    }

    fn code_is(&self, path: &str, digest: &dyn Fn() -> Digest) {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code @ None)) = codes.get_mut(path) {
            *code = Some(digest());
        }
    }

    fn text_with(&self, path: &str, words: &[&str]) -> Option<String> {
        let read = self.inner.read_with_digest(path);
        let digest = Digest::or_reason(read.as_ref().map(|(_, digest)| *digest).map_err(|e| *e));
        let text = read.ok().and_then(|(bytes, _)| text_of(bytes));
        let found = text.filter(|text| words.iter().any(|word| text.contains(word)));
        if found.is_some() {
            self.note(path, digest);
        } else {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let lack = Lack { path: path.to_owned(), digest, words };
            self.lacks.lock().unwrap_or_else(PoisonError::into_inner).insert(lack);
        }
        found
    }

    fn known_digest(&self, path: &str) -> Option<Digest> {
        self.inner.known_digest(path)
    }

    fn layout(&self) -> Option<Digest> {
        self.inner.layout()
    }

    fn witness(&self) -> Option<Witness> {
        self.inner.witness()
    }

    fn confirms(&self, witness: &Witness) -> bool {
        self.inner.confirms(witness)
    }
}

/// A loader that remembers whether it was asked. What it says depends on more than the
/// project: on programs, the environment, the clock.
pub(crate) struct TracedLoader<'a> {
    inner: &'a dyn ConfigLoader,
    asked: AtomicBool,
}

impl<'a> TracedLoader<'a> {
    pub(crate) fn new(inner: &'a dyn ConfigLoader) -> Self {
        Self { inner, asked: AtomicBool::new(false) }
    }

    pub(crate) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl ConfigLoader for TracedLoader<'_> {
    fn load(
        &self,
        interpreter: &str,
        program: &str,
        cwd: &str,
        arguments: &[&str],
    ) -> Result<String, String> {
        self.asked.store(true, Ordering::Relaxed);
        self.inner.load(interpreter, program, cwd, arguments)
    }
}
