//! The facts of all sources of a project. In a project that was recalled from the cache,
//! they are fetched when somebody asks for them: a plan asks for few.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::digest::Digest;
use crate::facts::FileFacts;
use crate::reader::Reader;

/// The facts of each source that could be read, by path.
#[derive(Default)]
pub struct Sources<'a> {
    /// Sorted by path.
    listed: Vec<Listed>,
    /// Files outside of the inventory that a closure names; sorted by path.
    beyond: Vec<Listed>,
    /// How facts are had that are not here yet.
    fetch: Option<Reader<'a>>,
}

struct Listed {
    path: String,
    digest: Digest,
    facts: OnceLock<Option<Box<FileFacts>>>,
}

impl Listed {
    fn known((path, facts): (String, FileFacts)) -> Self {
        Self { path, digest: Digest::default(), facts: OnceLock::from(Some(Box::new(facts))) }
    }
}

impl<'a> Sources<'a> {
    /// These facts, sorted by path.
    pub(crate) fn of(facts: impl IntoIterator<Item = (String, FileFacts)>) -> Self {
        Self { listed: facts.into_iter().map(Listed::known).collect(), ..Self::default() }
    }

    /// The facts of these contents, sorted by path, to be fetched.
    pub(crate) fn to_fetch(contents: Vec<(String, Digest, Option<FileFacts>)>, fetch: Reader<'a>) -> Self {
        let listed = contents.into_iter().map(|(path, digest, known)| {
            let facts = known.map_or_else(OnceLock::new, |facts| OnceLock::from(Some(Box::new(facts))));
            Listed { path, digest, facts }
        });
        Self { listed: listed.collect(), beyond: Vec::new(), fetch: Some(fetch) }
    }

    /// Adds files outside of the inventory.
    pub(crate) fn extend(&mut self, beyond: BTreeMap<String, FileFacts>) {
        self.beyond.extend(beyond.into_iter().map(Listed::known));
        self.order();
    }

    /// The same, of these contents, to be fetched; those that are here stay.
    pub(crate) fn fetch_beyond(&mut self, contents: Vec<(String, Digest)>) {
        let listed =
            contents.into_iter().map(|(path, digest)| Listed { path, digest, facts: OnceLock::new() });
        self.beyond.extend(listed);
        self.order();
    }

    fn order(&mut self) {
        // Stable: of two, the one that came first stays.
        self.beyond.sort_by(|a, b| a.path.cmp(&b.path));
        self.beyond.dedup_by(|b, a| a.path == b.path);
    }

    /// Paths of the files outside of the inventory, sorted.
    pub(crate) fn beyond(&self) -> impl Iterator<Item = &str> {
        self.beyond.iter().map(|l| l.path.as_str())
    }

    fn find(&self, path: &str) -> Option<&Listed> {
        let of = |list: &'_ [Listed]| list.binary_search_by(|l| l.path.as_str().cmp(path)).ok();
        of(&self.listed).map(|at| &self.listed[at]).or_else(|| of(&self.beyond).map(|at| &self.beyond[at]))
    }

    /// The facts of a source.
    pub fn get(&self, path: &str) -> Option<&FileFacts> {
        let listed = self.find(path)?;
        let fetched = listed.facts.get_or_init(|| {
            let reader = self.fetch.as_ref()?;
            let language = reader.plugins.language_of(path)?;
            let facts = reader.kept(language, path, listed.digest);
            facts.unwrap_or_else(|| reader.read(language, path).1).ok().map(Box::new)
        });
        fetched.as_deref()
    }

    /// Whether a source of this path could be read.
    pub fn contains_key(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// How many sources could be read.
    pub fn len(&self) -> usize {
        self.listed.len() + self.beyond.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Paths of all sources that could be read: those of the inventory, sorted, and then
    /// others that a closure names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().chain(&self.beyond).map(|l| l.path.as_str())
    }

    /// Every source with its facts, in the same order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FileFacts)> {
        self.keys().filter_map(|path| Some((path, self.get(path)?)))
    }
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys()).finish()
    }
}
