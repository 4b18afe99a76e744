//! Rust: the grammar's reader ([`crate::grammar`]), what `use` and `mod` mean, and no runner
//! yet, so that no plan follows these files.
//!
//! A specifier in facts is one of:
//! - `mod a/b`: a module in a file of its own, below the inline modules around it;
//! - `path a/x.rs`: the same with `#[path]`;
//! - `include x`: a file that is read into this one;
//! - `a::b::C`: one path of a `use`, or a path in an expression (optional). `self` and
//!   `super` count from the module of the file, also where an inline module is around.
//!
//! What it refuses to do: it expands no macro, and knows no `cfg`: every module that may be
//! compiled counts.

mod crates;
mod paths;
mod resolve;
#[cfg(test)]
mod tests;

use owed_engine::facts::FileFacts;
use owed_engine::function::FunctionFacts;
use owed_engine::language::{Language, SourceFile};
use owed_engine::resolve::{ResolveOptions, Resolver};
use owed_engine::tree::Tree;

use crate::grammar::language::ByData;
use crate::grammar::{facts, sources};

static DATA: ByData = ByData::new(&sources::RUST);

/// The Rust plugin.
#[derive(Clone, Copy, Debug)]
pub struct Rust;

impl Language for Rust {
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
        facts::read(DATA.grammar(), file.bytes, paths::expand)
    }

    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        DATA.functions(file)
    }

    fn resolver<'a>(&self, tree: &'a dyn Tree, _options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
        Box::new(resolve::RustResolver::new(tree))
    }
}
