//! The grammars and queries of the dialects.

use std::sync::LazyLock;

use owed_engine::facts::Span;
use tree_sitter::Node;

use super::Dialect;
use crate::grammar::partial::{Kinds, Partial};
use crate::grammar::sources::{JAVASCRIPT, PYTHON, TSX, TYPESCRIPT};
use crate::grammar::{Event, Match, Parsed, SheetKind, offset};

/// A text with its tree.
pub(super) struct Syntax<'s> {
    pub(super) dialect: Dialect,
    grammar: &'static Partial,
    kinds: Kinds,
    pub(super) parsed: Parsed<'s>,
}

/// The grammar of a dialect with its queries.
fn grammar(dialect: Dialect) -> &'static Partial {
    static GRAMMARS: [LazyLock<Partial>; 4] = [
        LazyLock::new(|| Partial::new(&TYPESCRIPT)),
        LazyLock::new(|| Partial::new(&TSX)),
        LazyLock::new(|| Partial::new(&JAVASCRIPT)),
        LazyLock::new(|| Partial::new(&PYTHON)),
    ];
    &GRAMMARS[dialect as usize]
}

impl<'s> Syntax<'s> {
    /// Parses `text`; `None` when it is too large or too deep, or would take too long.
    pub(super) fn of(dialect: Dialect, text: &'s str) -> Option<Self> {
        let grammar = grammar(dialect);
        let parsed = grammar.parse(text).ok()?;
        Some(Self { dialect, grammar, kinds: grammar.kinds(&parsed), parsed })
    }

    /// The source.
    pub(super) fn text(&self) -> &'s str {
        self.parsed.text()
    }

    /// What the queries of `kind` find; `None` when that would take too long.
    pub(super) fn matches(&self, kind: SheetKind) -> Option<Vec<Match<'_>>> {
        self.grammar.matches(kind, &self.parsed, &self.kinds).ok()
    }

    /// Visits nodes in order; `enter` says whether to go into a node.
    pub(super) fn walk<'t>(&'t self, mut enter: impl FnMut(Node<'t>) -> bool) {
        let mut events = self.parsed.events();
        while let Some(event) = events.next() {
            if let Event::Enter(node) = event
                && !enter(node)
            {
                events.skip_children();
            }
        }
    }
}

/// From the first token of a node behind its decorators to its last before comments.
pub(super) fn extent(node: Node<'_>) -> Span {
    let mut start = offset(node.start_byte());
    let mut end = offset(node.end_byte());
    let mut cursor = node.walk();
    if let Some(first) = node.children(&mut cursor).find(|it| it.kind() != "decorator" && !it.is_extra()) {
        start = offset(first.start_byte());
    }
    let mut at = node;
    while let Some(last) = last_child(at) {
        end = offset(last.end_byte());
        at = last;
    }
    Span { start, end }
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut children = (0..node.child_count()).rev().filter_map(|at| node.child(at));
    children.find(|it| !it.is_extra() && it.start_byte() < it.end_byte())
}
