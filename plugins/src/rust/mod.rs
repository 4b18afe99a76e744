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

use crate::grammar::language::{ByData, Meaning};
use crate::grammar::sources;

/// The Rust plugin.
pub static RUST: ByData = ByData::following(
    &sources::RUST,
    Meaning { expand: paths::expand, resolver: |tree| Box::new(resolve::RustResolver::new(tree)) },
);
