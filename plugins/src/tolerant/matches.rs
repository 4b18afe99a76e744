//! From a text to its concrete tree, and from a query to what it matches.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use owed_engine::facts::Span;
use tree_sitter::{Language, Node, ParseOptions, Parser, Query, QueryCursor, StreamingIterator as _, Tree};

use super::Dialect;

/// What a query is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Definitions,
    Imports,
    Exports,
    Tests,
}

/// One match: its outer node, the role of that, and the parts.
pub(super) struct Match<'t> {
    pub(super) role: &'static str,
    pub(super) node: Node<'t>,
    parts: Vec<(&'static str, Node<'t>)>,
}

impl<'t> Match<'t> {
    /// The node that is the part called `name`.
    pub(super) fn part(&self, name: &str) -> Option<Node<'t>> {
        self.parts.iter().find(|(part, _)| *part == name).map(|(_, node)| *node)
    }
}

const DEFINITIONS: [&str; 3] = [
    include_str!("../../../queries/typescript/definitions.scm"),
    include_str!("../../../queries/javascript/definitions.scm"),
    include_str!("../../../queries/python/definitions.scm"),
];
const IMPORTS: [&str; 3] = [
    include_str!("../../../queries/typescript/imports.scm"),
    include_str!("../../../queries/javascript/imports.scm"),
    include_str!("../../../queries/python/imports.scm"),
];
const EXPORTS: [&str; 3] = [
    include_str!("../../../queries/typescript/exports.scm"),
    include_str!("../../../queries/javascript/exports.scm"),
    include_str!("../../../queries/python/exports.scm"),
];
const TESTS: [&str; 3] = [
    include_str!("../../../queries/typescript/tests.scm"),
    include_str!("../../../queries/javascript/tests.scm"),
    include_str!("../../../queries/python/tests.scm"),
];

fn language(dialect: Dialect) -> Language {
    match dialect {
        Dialect::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Dialect::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Dialect::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Dialect::Python => tree_sitter_python::LANGUAGE.into(),
    }
}

fn query(dialect: Dialect, about: About) -> &'static Query {
    static QUERIES: [OnceLock<Query>; 16] = [const { OnceLock::new() }; 16];
    QUERIES[dialect as usize * 4 + about as usize].get_or_init(|| {
        let texts = match about {
            About::Definitions => DEFINITIONS,
            About::Imports => IMPORTS,
            About::Exports => EXPORTS,
            About::Tests => TESTS,
        };
        let text = match dialect {
            Dialect::TypeScript | Dialect::Tsx => texts[0],
            Dialect::JavaScript => texts[1],
            Dialect::Python => texts[2],
        };
        Query::new(&language(dialect), text).expect("a test compiles every query")
    })
}

/// How often a parser may report for each byte before it is stopped; ordinary code needs a
/// hundredth, a text of random marks a tenth.
const STEPS_PER_BYTE: usize = 1;

/// The tree; `None` when finding one would take too long.
pub(super) fn parse(dialect: Dialect, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language(dialect)).expect("the grammar is of a version that the parser reads");
    let limit = 10_000 + text.len() * STEPS_PER_BYTE;
    let mut steps = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// All matches of a query, in the order of their outer nodes.
pub(super) fn matches<'t>(dialect: Dialect, about: About, root: Node<'t>, text: &str) -> Vec<Match<'t>> {
    let query = query(dialect, about);
    let names = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut matches = cursor.matches(query, root, text.as_bytes());
    while let Some(one) = matches.next() {
        let mut role = None;
        let mut parts = Vec::with_capacity(one.captures().len());
        for capture in one.captures() {
            let name = names[capture.index as usize];
            match name {
                "name" | "alias" | "source" | "wildcard" | "body" => parts.push((name, capture.node)),
                _ if name.starts_with('_') => {}
                _ => role = Some((name, capture.node)),
            }
        }
        if let Some((role, node)) = role {
            found.push(Match { role, node, parts });
        }
    }
    found.sort_by_key(|it| (it.node.start_byte(), std::cmp::Reverse(it.node.end_byte()), it.node.id()));
    found
}

/// Where the grammar skipped or invented something.
pub(super) fn errors(root: Node<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    walk(root, |node| {
        if node.is_error() || node.is_missing() {
            found.push(span(node));
        }
        node.has_error() && !node.is_error()
    });
    found
}

/// Visits nodes in order; `enter` says whether to go into a node.
pub(super) fn walk<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Where a node stands.
pub(super) fn span(node: Node<'_>) -> Span {
    Span { start: offset(node.start_byte()), end: offset(node.end_byte()) }
}

/// A byte offset as facts hold it.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
