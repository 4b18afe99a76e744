//! JavaScript: reader, resolver, manifests.

mod functions;
pub mod manifest;
pub mod read;
pub mod resolve;

use owed_engine::digest::Digest;
use owed_engine::facts::FileFacts;
use owed_engine::function::{FunctionFacts, Limits};
use owed_engine::language::{Language, ManifestDiff, SourceFile};
use owed_engine::resolve::{ResolveOptions, Resolver};
use owed_engine::tree::Tree;

/// The JavaScript plugin.
#[derive(Clone, Copy, Debug)]
pub struct JavaScript;

impl Language for JavaScript {
    fn name(&self) -> &'static str {
        "javascript"
    }

    fn package_prefix(&self) -> &'static str {
        "npm:"
    }

    fn reader_version(&self) -> &'static str {
        read::version()
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

    fn code(&self, path: &str, text: &str) -> Option<Digest> {
        crate::runners::config::code(path, text)
    }

    fn fix(&self, operation: &str) -> Option<&'static str> {
        read::fix(operation)
    }

    fn offers_by_the_way(&self) -> bool {
        // A module gives others nothing but its exports, which count where they are written.
        false
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        self.functions_within(file, &Limits::default())
    }

    fn functions_within(&self, file: SourceFile<'_>, limits: &Limits) -> Option<FunctionFacts> {
        Some(functions::read(file, limits))
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        resolve::resolver(tree, options)
    }

    fn resolvers<'a>(&self, tree: &'a dyn Tree, options: &[ResolveOptions]) -> Vec<Box<dyn Resolver + 'a>> {
        resolve::resolvers(tree, options)
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
