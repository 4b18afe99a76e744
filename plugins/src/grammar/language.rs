//! A language that is data alone: what [`Language`] asks is answered from a [`Source`].
//!
//! What it refuses to do: it has no effects and no packages. What an import means is not known
//! here, so that whoever reaches such a file is owed by any change, unless the language gives
//! a [`Meaning`].

use std::sync::OnceLock;

use owed_engine::facts::{FileFacts, Import};
use owed_engine::function::FunctionFacts;
use owed_engine::language::{Language, SourceFile};
use owed_engine::path;
use owed_engine::resolve::{Resolution, ResolveOptions, Resolver, UnknownImport};
use owed_engine::tree::Tree;

use super::Grammar;
use super::facts::Expand;
use super::sources::Source;

/// A language made of a grammar and a folder of queries.
#[derive(Debug)]
pub struct ByData {
    source: &'static Source,
    meaning: Option<Meaning>,
    compiled: OnceLock<Grammar>,
}

/// What the imports of a language mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    /// Every match as the imports that it stands for.
    pub(crate) expand: Expand,
    /// What they lead to.
    pub(crate) resolver: for<'a> fn(&'a dyn Tree) -> Box<dyn Resolver + 'a>,
}

impl ByData {
    /// Nothing is compiled before a file is read.
    pub const fn new(source: &'static Source) -> Self {
        Self { source, meaning: None, compiled: OnceLock::new() }
    }

    /// A language whose imports are known.
    pub(crate) const fn following(source: &'static Source, meaning: Meaning) -> Self {
        Self { source, meaning: Some(meaning), compiled: OnceLock::new() }
    }

    /// The grammar with its queries.
    pub fn grammar(&self) -> &Grammar {
        self.compiled
            .get_or_init(|| self.source.compile().expect("a test compiles every embedded file of queries"))
    }
}

impl Language for ByData {
    fn name(&self) -> &'static str {
        self.source.name
    }

    fn package_prefix(&self) -> &'static str {
        self.source.package_prefix
    }

    fn reader_version(&self) -> &'static str {
        self.source.reader_version
    }

    fn reads(&self, path: &str) -> bool {
        self.source.extensions.contains(&path::extension(path))
    }

    fn read(&self, file: SourceFile<'_>) -> FileFacts {
        let expand = self.meaning.map_or::<Expand, _>(|_, _, imports| imports, |meaning| meaning.expand);
        super::facts::read(self.grammar(), file.bytes, expand)
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        self.grammar().functions(file.bytes)
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, _options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        match &self.meaning {
            Some(meaning) => (meaning.resolver)(tree),
            None => Box::new(Unresolved),
        }
    }
}

/// Says of every import that its meaning is not known.
#[derive(Clone, Copy, Debug)]
struct Unresolved;

impl Resolver for Unresolved {
    fn resolve(&self, _from: &str, _import: &Import) -> Resolution {
        Resolution { unknown: Some(UnknownImport::Unresolved), ..Resolution::default() }
    }
}
