//! Go: the grammar's reader ([`crate::grammar`]), what an import path means, and no runner
//! yet, so that no plan follows these files.
//!
//! A package is a directory: each of its files depends on all others of it. Build
//! constraints are not judged: every file that may be compiled counts, and `_test.go` files
//! count for each other only.

mod resolve;
#[cfg(test)]
mod tests;

use owed_engine::facts::{Import, ImportKind, Names};

use crate::grammar::language::{ByData, Meaning};
use crate::grammar::{Match, Parsed, sources};

/// The Go plugin.
pub static GO: ByData = ByData::following(
    &sources::GO,
    Meaning { expand, resolver: |tree| Box::new(resolve::GoResolver::new(tree)) },
);

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
