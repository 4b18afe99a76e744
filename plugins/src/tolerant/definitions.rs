//! Functions and classes from the query `definitions`: all matches with one outer node are one
//! definition, called by the first pattern that names it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use owed_engine::facts::Span;
use tree_sitter::Node;

use super::lines::Lines;
use super::matches::{Syntax, extent};
use super::strings::value;
use super::tokens::Tokens;
use super::{Class, Dialect, Spanned};
use crate::grammar::{self, Part, SheetKind};
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

/// The functions, and the classes at the top level; `None` when finding them would take too
/// long.
pub(super) fn read(syntax: &Syntax<'_>, lines: &Lines) -> Option<(Vec<Spanned>, Vec<Class>)> {
    let dialect = syntax.dialect;
    let tokens = Tokens::of(syntax);
    let nameless = if dialect == Dialect::Python { "<lambda>" } else { "<anonymous>" };
    let mut frames = Frames::new(nameless);
    let mut open: Vec<u32> = Vec::new();
    // The numbers of the functions around a place, with their ends.
    let mut around: Vec<(usize, u32)> = Vec::new();
    let (mut functions, mut classes) = (Vec::<Spanned>::new(), Vec::new());
    for ((from, Reverse(end), _), one) in gathered(syntax)? {
        while open.pop_if(|until| *until <= from).is_some() {
            frames.pop();
        }
        while around.pop_if(|(_, until)| *until <= from).is_some() {}
        let top = open.is_empty();
        let place = one.span;
        let line = lines.line(place.start as usize);
        let named = match (one.role, &one.name) {
            (Role::Method, Some(name)) => frames.member(name, false),
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
    Some((functions, classes))
}

type Place = (u32, Reverse<u32>, usize);

/// Definitions by place, outer before inner.
fn gathered(syntax: &Syntax<'_>) -> Option<BTreeMap<Place, Definition>> {
    let (dialect, text) = (syntax.dialect, syntax.text());
    let mut found: BTreeMap<Place, Definition> = BTreeMap::new();
    for one in syntax.matches(SheetKind::Definitions)? {
        let role = match one.role {
            grammar::Role::Method => Role::Method,
            grammar::Role::Function => Role::Function,
            grammar::Role::Class => Role::Class,
            grammar::Role::Variable => Role::Variable,
            grammar::Role::Scope => Role::Namespace,
            _ => continue,
        };
        let place = one.span();
        let name = one.part(Part::Name);
        let said = name.and_then(|name| match name.kind() {
            "string" => value(dialect, name, text),
            _ => {
                let written = &text[name.byte_range()];
                let short = written.split_whitespace().collect::<Vec<_>>().join(" ");
                // What is assigned to is only a name when it is one chain.
                let chain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.' | '#');
                match name.kind() {
                    "member_expression" | "attribute" => short.chars().all(chain).then_some(short),
                    "computed_property_name" => Some(short.chars().take(42).collect()),
                    _ => Some(short),
                }
            }
        });
        let entry = found
            .entry((place.start, Reverse(place.end), one.node.id()))
            .or_insert_with(|| Definition { role, name: None, span: extent(one.node) });
        entry.role = entry.role.max(role);
        // What it is bound to names it rather than a name of its own.
        let outside = name.is_some_and(|name| !within(one.node, name));
        if said.is_some() && (entry.name.is_none() || outside) {
            entry.name = said;
        }
    }
    Some(found)
}

fn within(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}
