//! What the queries found, by node: functions, classes, bindings, calls, tests.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::super::kinds::Kinds;
use super::super::{Grammar, Overflow, Parsed, Part, Role, SheetKind};

/// The most letters of a name that is a whole type.
const LONGEST: usize = 48;

/// A function, by its node.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) role: Role,
    /// `None`: it has no name of its own.
    pub(super) name: Option<String>,
    /// The nodes that say it.
    pub(super) name_nodes: Vec<usize>,
    /// Whether its body is a block.
    pub(super) block: bool,
    /// Its body, for the question whether it only hands on.
    pub(super) body: usize,
}

/// A value with a name.
#[derive(Debug)]
pub(super) struct Valued {
    pub(super) name: String,
    pub(super) value: usize,
}

/// When a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Where it stands.
    Here,
    /// After this node, which gives it its value.
    After(usize),
}

/// What a call is made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// A name alone.
    Name,
    /// A member of this.
    Member(String),
}

/// All of it, by the numbers of nodes.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) functions: FxHashMap<usize, Definition>,
    pub(super) classes: FxHashMap<usize, String>,
    pub(super) valued: FxHashMap<usize, Valued>,
    pub(super) bound: FxHashMap<usize, Bound>,
    pub(super) scopes: FxHashSet<usize>,
    pub(super) called: FxHashMap<usize, Called>,
    pub(super) tests: FxHashSet<usize>,
}

impl Found {
    /// Asks the queries.
    pub(super) fn of(grammar: &Grammar, kinds: &Kinds, parsed: &Parsed<'_>) -> Result<Self, Overflow> {
        let mut found = Self::default();
        for one in grammar.matches(SheetKind::Definitions, parsed)? {
            let names: Vec<Node<'_>> = one.all(Part::Name).collect();
            let texts = || names.iter().map(|name| plain(parsed.of(*name)));
            let id = one.node.id();
            match one.role {
                Role::Function | Role::Method => {
                    let body = one.part(Part::Body);
                    let definition = Definition {
                        role: one.role,
                        name: (!names.is_empty()).then(|| texts().collect::<Vec<_>>().join(&kinds.separator)),
                        name_nodes: names.iter().map(Node::id).collect(),
                        block: body.is_some_and(|body| kinds.of(body.kind_id()).block),
                        body: body.map_or(0, |body| body.id()),
                    };
                    // One node may be found as a function and as a method; the role that says
                    // more has the last word.
                    match found.functions.entry(id) {
                        std::collections::hash_map::Entry::Occupied(mut known) => {
                            if definition.role > known.get().role {
                                known.insert(definition);
                            }
                        }
                        std::collections::hash_map::Entry::Vacant(free) => {
                            free.insert(definition);
                        }
                    }
                }
                Role::Class => {
                    let texts: Vec<String> = texts().collect();
                    let name = match (&texts[..], &kinds.of_two) {
                        ([first, second], Some(form)) => form.replace("{0}", first).replace("{1}", second),
                        _ => texts.join(&kinds.separator),
                    };
                    found.classes.entry(id).or_insert(name);
                }
                Role::Variable => {
                    let body = one.part(Part::Body);
                    let when = if body.is_some() { Bound::After(id) } else { Bound::Here };
                    for name in &names {
                        if kinds.of(name.kind_id()).name && !is_constant(kinds, parsed.of(*name)) {
                            // A pattern around another says more about when.
                            found.bound.entry(name.id()).or_insert(when);
                        }
                    }
                    if let (Some(body), Some(name)) = (body, texts().next()) {
                        found.valued.entry(id).or_insert(Valued { name, value: body.id() });
                    }
                }
                Role::Scope => {
                    found.scopes.insert(id);
                }
                _ => {}
            }
        }
        for one in grammar.matches(SheetKind::References, parsed)? {
            if one.role == Role::Call
                && let Some(name) = one.part(Part::Name)
            {
                let called = match one.part(Part::Receiver) {
                    Some(receiver) => Called::Member(parsed.of(receiver).to_owned()),
                    None => Called::Name,
                };
                found.called.insert(name.id(), called);
            }
        }
        for one in grammar.matches(SheetKind::Tests, parsed)? {
            found.tests.insert(one.node.id());
        }
        Ok(found)
    }
}

fn is_constant(kinds: &Kinds, name: &str) -> bool {
    kinds.capitals_are_constants && name.starts_with(char::is_uppercase)
}

/// A name on one line, and not endless.
fn plain(name: &str) -> String {
    let mut text = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push('…');
    }
    text
}
