//! Python: reader, resolver, manifests.

mod functions;
pub mod manifest;
pub(crate) mod project;
pub mod read;
pub mod resolve;

use owed_engine::facts::FileFacts;
use owed_engine::function::{FunctionFacts, Limits};
use owed_engine::language::{Language, ManifestDiff, SourceFile};
use owed_engine::resolve::{ResolveOptions, Resolver};
use owed_engine::tree::Tree;

/// The Python plugin.
#[derive(Clone, Copy, Debug)]
pub struct Python;

impl Language for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn package_prefix(&self) -> &'static str {
        "pypi:"
    }

    fn reader_version(&self) -> &'static str {
        "python/7"
    }

    fn reads(&self, path: &str) -> bool {
        read::reads(path)
    }

    fn read(&self, file: SourceFile<'_>) -> FileFacts {
        read::read(file)
    }

    fn read_without_declarations(&self, file: SourceFile<'_>) -> FileFacts {
        read::read_without_declarations(file)
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        self.functions_within(file, &Limits::default())
    }

    fn functions_within(&self, file: SourceFile<'_>, limits: &Limits) -> Option<FunctionFacts> {
        Some(functions::read(file, limits))
    }

    fn declares_encoding(&self, bytes: &[u8]) -> bool {
        read::declares_encoding(bytes)
    }

    fn fix(&self, operation: &str) -> Option<&'static str> {
        read::fix(operation)
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        resolve::resolver(tree, options)
    }

    fn manifest(
        &self,
        tree: &dyn Tree,
        path: &str,
        base: Option<&[u8]>,
        head: Option<&[u8]>,
    ) -> Option<ManifestDiff> {
        manifest::diff(tree, path, base, head)
    }
}
