//! A language that is data alone: what [`Language`] asks is answered from a [`Source`].
//!
//! What it refuses to do: it has no effects, no packages and no resolver of its own. What
//! an import means is not known here, so that whoever reaches such a file is owed by any
//! change; a language that knows more wraps this one.

use std::sync::OnceLock;

use owed_engine::facts::{FileFacts, Import};
use owed_engine::function::FunctionFacts;
use owed_engine::language::{Language, SourceFile};
use owed_engine::path;
use owed_engine::resolve::{Resolution, ResolveOptions, Resolver, UnknownImport};
use owed_engine::tree::Tree;

use super::Grammar;
use super::sources::Source;

/// A language made of a grammar and a folder of queries.
#[derive(Debug)]
pub struct ByData {
    source: &'static Source,
    compiled: OnceLock<Grammar>,
}

impl ByData {
    /// Nothing is compiled before a file is read.
    pub const fn new(source: &'static Source) -> Self {
        Self { source, compiled: OnceLock::new() }
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
        super::facts::read(self.grammar(), file.bytes)
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        self.grammar().functions(file.bytes)
    }

    fn resolver<'a>(&self, _tree: &'a dyn Tree, _options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        Box::new(Unresolved)
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
