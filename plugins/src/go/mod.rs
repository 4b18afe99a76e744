//! Go: the grammar's reader ([`crate::grammar`]), what an import path means, and no runner
//! yet, so that no plan follows these files.
//!
//! A package is a directory: each of its files depends on all others of it. Build
//! constraints are not judged: every file that may be compiled counts, and `_test.go` files
//! count for each other only.

mod resolve;
#[cfg(test)]
mod tests;

use owed_engine::facts::{FileFacts, Import, ImportKind, Names};
use owed_engine::function::FunctionFacts;
use owed_engine::language::{Language, SourceFile};
use owed_engine::resolve::{ResolveOptions, Resolver};
use owed_engine::tree::Tree;

use crate::grammar::language::ByData;
use crate::grammar::{Match, Parsed, facts, sources};

static DATA: ByData = ByData::new(&sources::GO);

/// The Go plugin.
#[derive(Clone, Copy, Debug)]
pub struct Go;

impl Language for Go {
    fn name(&self) -> &'static str {
        DATA.name()
    }

    fn package_prefix(&self) -> &'static str {
        DATA.package_prefix()
    }

    fn reader_version(&self) -> &'static str {
        DATA.reader_version()
    }

    fn reads(&self, path: &str) -> bool {
        DATA.reads(path)
    }

    fn read(&self, file: SourceFile<'_>) -> FileFacts {
        facts::read(DATA.grammar(), file.bytes, expand)
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        DATA.functions(file)
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, _options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        Box::new(resolve::GoResolver::new(tree))
    }
}

/// `//go:embed a b*` are two patterns of files beside the source.
fn expand(_: &Parsed<'_>, found: &[Match<'_>], imports: Vec<Import>) -> Vec<Import> {
    let mut all = Vec::with_capacity(imports.len());
    for (one, import) in found.iter().zip(imports) {
        if one.node.kind() != "comment" {
            all.push(import);
            continue;
        }
        let patterns = import.specifier.strip_prefix("//go:embed").unwrap_or_default();
        for pattern in patterns.split_whitespace() {
            let pattern = pattern.trim_matches(['"', '`']);
            let pattern = pattern.strip_prefix("all:").unwrap_or(pattern);
            let specifier = format!("./{pattern}");
            all.push(Import { specifier, kind: ImportKind::Glob, names: Names::Effects, ..import.clone() });
        }
    }
    all
}
