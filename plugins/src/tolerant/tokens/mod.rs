//! How many tokens (`tokens/1`) stand in a place, by the leaves of the concrete tree.
//!
//! A leaf is a token, but for what a language says otherwise: literals are one whatever their
//! parts are, comments and layout are none, and a few leaves of the grammars are two tokens of
//! the language.

mod javascript;
mod python;

use tree_sitter::Node;

use super::Dialect;
use super::matches::Syntax;
use crate::grammar::offset;

/// The tokens of a text.
pub(super) struct Tokens {
    /// Where each token starts, in order.
    starts: Vec<u32>,
}

impl Tokens {
    pub(super) fn of(syntax: &Syntax<'_>) -> Self {
        let mut found = Found { text: syntax.text(), starts: Vec::new() };
        match syntax.dialect {
            Dialect::Python => python::tokens(syntax, &mut found),
            Dialect::TypeScript | Dialect::Tsx | Dialect::JavaScript => {
                javascript::tokens(syntax, &mut found)
            }
        }
        found.starts.sort_unstable();
        Self { starts: found.starts }
    }

    /// How many start in `from..to`.
    pub(super) fn between(&self, from: u32, to: u32) -> u32 {
        let before = |at: u32| self.starts.partition_point(|start| *start < at);
        offset(before(to).saturating_sub(before(from)))
    }
}

/// Tokens as they are found.
struct Found<'t> {
    text: &'t str,
    starts: Vec<u32>,
}

impl Found<'_> {
    /// So many tokens that start at `at`.
    fn add(&mut self, at: usize, count: usize) {
        self.starts.extend(std::iter::repeat_n(offset(at), count));
    }

    /// A node as one token.
    fn whole(&mut self, node: Node<'_>) {
        self.add(node.start_byte(), 1);
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }
}
