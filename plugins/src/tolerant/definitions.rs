//! Functions and classes from the query `definitions`: all matches with one outer node are one
//! definition, called by the first pattern that names it.

use std::collections::BTreeMap;

use owed_engine::facts::Span;
use tree_sitter::Node;

use super::lines::Lines;
use super::matches::{About, matches, offset, span};
use super::strings::value;
use super::tokens::Tokens;
use super::{Class, Dialect, Spanned};
use crate::measure::{Frames, Named};

/// What a definition is, by the words of the query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Variable,
    Namespace,
    Class,
    Function,
    /// A member of what is around it.
    Method,
}

struct Definition {
    role: Role,
    name: Option<String>,
    /// From its first token behind decorators to its last.
    span: Span,
}

/// The functions, and the classes at the top level.
pub(super) fn read(
    dialect: Dialect,
    root: Node<'_>,
    text: &str,
    lines: &Lines,
) -> (Vec<Spanned>, Vec<Class>) {
    let tokens = Tokens::of(dialect, root, text);
    let nameless = if dialect == Dialect::Python { "<lambda>" } else { "<anonymous>" };
    let mut frames = Frames::new(nameless);
    let mut open: Vec<u32> = Vec::new();
    // The numbers of the functions around a place, with their ends.
    let mut around: Vec<(usize, u32)> = Vec::new();
    let (mut functions, mut classes) = (Vec::<Spanned>::new(), Vec::new());
    for ((from, std::cmp::Reverse(end), _), one) in gathered(dialect, root, text) {
        while open.pop_if(|until| *until <= from).is_some() {
            frames.pop();
        }
        while around.pop_if(|(_, until)| *until <= from).is_some() {}
        let top = open.is_empty();
        let place = one.span;
        let line = lines.line(place.start as usize);
        let named = match (one.role, &one.name) {
            (Role::Method, Some(name)) => frames.member(&key(name), false),
            (_, Some(name)) if dialect == Dialect::Python && frames.in_class() => frames.member(name, true),
            (_, Some(name)) => frames.named(name),
            (Role::Function | Role::Method | Role::Class, None) => frames.anonymous(),
            (Role::Variable | Role::Namespace, None) => Named { display: String::new(), suffix: "".into() },
        };
        match one.role {
            Role::Function | Role::Method => {
                let total = tokens.between(place.start, place.end);
                if let Some((parent, _)) = around.last() {
                    functions[*parent].own_tokens -= total;
                }
                around.push((functions.len(), end));
                functions.push(Spanned {
                    name: named.full(),
                    span: place,
                    line,
                    top: one.name.filter(|_| top),
                    own_tokens: total,
                    total_tokens: total,
                });
                frames.function(&named);
            }
            Role::Class => {
                if let Some(name) = one.name.filter(|_| top) {
                    classes.push(Class { name, span: place, line });
                }
                frames.class(named);
            }
            Role::Namespace => frames.namespace(&one.name.unwrap_or_default()),
            Role::Variable => {
                frames.object(one.name.map(|_| named));
            }
        }
        open.push(end);
    }
    (functions, classes)
}

type Place = (u32, std::cmp::Reverse<u32>, usize);

/// Definitions by place, outer before inner.
fn gathered(dialect: Dialect, root: Node<'_>, text: &str) -> BTreeMap<Place, Definition> {
    let mut found: BTreeMap<Place, Definition> = BTreeMap::new();
    for one in matches(dialect, About::Definitions, root, text) {
        let role = match one.role {
            "definition.method" => Role::Method,
            "definition.function" => Role::Function,
            "definition.class" => Role::Class,
            "definition.variable" => Role::Variable,
            "scope" => Role::Namespace,
            _ => continue,
        };
        let place = span(one.node);
        let name = one.part("name").and_then(|name| match name.kind() {
            "string" => value(dialect, name, text),
            _ => {
                let written = &text[name.byte_range()];
                let short = written.split_whitespace().collect::<Vec<_>>().join(" ");
                // What is assigned to is only a name when it is one chain.
                let chain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | '#');
                (!matches!(name.kind(), "member_expression" | "attribute") || short.chars().all(chain))
                    .then(|| short.chars().take(42).collect())
            }
        });
        let own_name = one.node.child_by_field_name("name").is_some();
        let entry = found
            .entry((place.start, std::cmp::Reverse(place.end), one.node.id()))
            .or_insert_with(|| Definition { role, name: None, span: tokens_of(one.node) });
        entry.role = entry.role.max(role);
        // From where it stands rather than its own.
        let outside = name.is_some() && one.part("name").is_some_and(|it| !within(one.node, it));
        if entry.name.is_none() || outside || (own_name && name.is_some() && entry.name.is_none()) {
            entry.name = name.or(entry.name.take());
        }
    }
    found
}

fn within(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

/// From the first token of a definition behind its decorators to its last before comments.
fn tokens_of(node: Node<'_>) -> Span {
    let Span { mut start, mut end } = span(node);
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
    let children = (0..node.child_count()).rev().filter_map(|at| node.child(at));
    children.into_iter().find(|it| !it.is_extra() && it.start_byte() < it.end_byte())
}

/// A key as it is said in a name.
fn key(written: &str) -> String {
    written.to_owned()
}
