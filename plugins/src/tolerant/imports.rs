//! Imports from the queries `imports` and `exports`: all matches with one outer node are one
//! import statement, re-export or call.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use owed_engine::facts::{Import, ImportKind, LoadMode, Name, Names, Presence, Span};
use tree_sitter::Node;

use super::Dialect;
use super::lines::Lines;
use super::matches::{Syntax, extent};
use super::strings::value;
use crate::grammar::{Match, Part, Role, SheetKind};

/// What the matches of one outer node say together.
#[derive(Default)]
struct Gathered {
    roles: Vec<Role>,
    specifier: Option<String>,
    /// A source that is no literal.
    computed: bool,
    /// With their places.
    names: Vec<(usize, Name)>,
    /// The local name of the whole module; `*` when it has none.
    whole: Option<String>,
}

/// Every import, in order; `None` when finding them would take too long.
pub(super) fn read(syntax: &Syntax<'_>, lines: &Lines) -> Option<Vec<Import>> {
    let (dialect, text) = (syntax.dialect, syntax.text());
    let mut gathered: BTreeMap<Place, Gathered> = BTreeMap::new();
    let exports = syntax.matches(SheetKind::Exports)?;
    let found = syntax.matches(SheetKind::Imports)?;
    for one in found.iter().chain(exports.iter().filter(|one| one.role == Role::ExportFrom)) {
        gathered.entry(Place::of(one)).or_default().add(dialect, one, text);
    }
    let regions: Vec<Span> =
        gathered.iter().filter(|(_, one)| one.is_region()).map(|(place, _)| place.span()).collect();
    let mut imports = Vec::new();
    for (place, one) in gathered.into_iter().filter(|(_, one)| !one.is_region()) {
        let span = place.span();
        // Of the regions that start before it, which are few.
        let before = &regions[..regions.partition_point(|region| region.start <= span.start)];
        let erased = before.iter().any(|region| region.end >= span.end);
        one.imports(dialect, span, erased, lines, &mut imports);
    }
    Some(imports)
}

/// Where an outer node stands, with its number; outer before inner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u32, Reverse<u32>, usize);

impl Place {
    fn of(one: &Match<'_>) -> Self {
        let Span { start, end } = extent(one.node);
        Self(start, Reverse(end), one.node.id())
    }

    fn span(self) -> Span {
        Span { start: self.0, end: self.1.0 }
    }
}

impl Gathered {
    fn add(&mut self, dialect: Dialect, one: &Match<'_>, text: &str) {
        self.roles.push(one.role);
        if let Some(source) = one.part(Part::Source) {
            self.source(dialect, source, text);
        }
        let written = |node: Node<'_>| match node.kind() {
            "string" => value(dialect, node, text).unwrap_or_default(),
            _ => without_layout(&text[node.byte_range()]),
        };
        let (name, alias) = (one.part(Part::Name).map(written), one.part(Part::Alias).map(written));
        match (name, alias, one.part(Part::Wildcard)) {
            (Some(name), alias, _) => {
                let local = alias.unwrap_or_else(|| name.clone());
                let at = one.part(Part::Name).map_or(0, |node| node.start_byte());
                self.names.push((at, Name { imported: name, local }));
            }
            (None, alias, Some(_)) => self.whole = Some(alias.unwrap_or_else(|| "*".to_owned())),
            (None, Some(alias), None) if dialect == Dialect::Python => self.whole = Some(alias),
            (None, Some(alias), None) => {
                self.names.push((0, Name { imported: "default".to_owned(), local: alias }));
            }
            (None, None, None) => {}
        }
    }

    fn source(&mut self, dialect: Dialect, source: Node<'_>, text: &str) {
        match source.kind() {
            "dotted_name" | "relative_import" | "__future__" => {
                self.specifier = Some(without_layout(&text[source.byte_range()]));
            }
            _ => match value(dialect, source, text) {
                Some(specifier) => self.specifier = Some(specifier),
                None => self.computed = true,
            },
        }
    }

    /// Whether the node is one in which nothing is loaded at run time.
    fn is_region(&self) -> bool {
        self.specifier.is_none() && !self.computed && self.roles.iter().all(|it| *it == Role::ImportTypeOnly)
    }

    fn kind(&self, dialect: Dialect, erased: bool) -> ImportKind {
        let has = |role: Role| self.roles.contains(&role);
        if has(Role::ImportTypeOnly) || erased {
            ImportKind::TypeOnly
        } else if has(Role::ImportMock) {
            ImportKind::Mock
        } else if has(Role::ImportResolve) {
            ImportKind::Resolve
        } else if has(Role::ImportRequire) {
            ImportKind::Require
        } else if has(Role::ImportCall) {
            ImportKind::Dynamic
        } else if self.whole.as_deref() == Some("*") && (has(Role::ExportFrom) || dialect == Dialect::Python)
        {
            ImportKind::Star
        } else if has(Role::ExportFrom) {
            ImportKind::ReExport
        } else {
            ImportKind::Static
        }
    }

    fn imports(self, dialect: Dialect, span: Span, erased: bool, lines: &Lines, into: &mut Vec<Import>) {
        let kind = match self.specifier {
            Some(_) => self.kind(dialect, erased),
            None => ImportKind::Computed,
        };
        let is_call = matches!(kind, ImportKind::Mock | ImportKind::Resolve | ImportKind::Dynamic);
        let specifier = self.specifier.unwrap_or_default();
        let mut add = |names: Names| {
            into.push(Import {
                specifier: specifier.clone(),
                kind,
                mode: if kind == ImportKind::Require { LoadMode::Cjs } else { LoadMode::Esm },
                presence: Presence::Required,
                names,
                line: lines.line(span.start as usize),
                span,
            });
        };
        if is_call || kind == ImportKind::Computed {
            // What is taken of it, only a walk with scopes can say.
            return add(Names::Namespace(format!("import({specifier:?})")));
        }
        let mut names = self.names;
        names.sort();
        names.dedup();
        let names: Vec<Name> = names.into_iter().map(|(_, name)| name).collect();
        match self.whole {
            Some(_) if dialect == Dialect::Python && kind == ImportKind::Star => add(Names::Effects),
            Some(whole) => {
                add(Names::Namespace(whole));
                if !names.is_empty() {
                    add(Names::List(names));
                }
            }
            None if names.is_empty() => add(match dialect {
                // `import a.b` binds `a`.
                Dialect::Python => {
                    Names::Namespace(specifier.split('.').next().unwrap_or_default().to_owned())
                }
                _ if kind == ImportKind::Require => Names::Namespace(format!("require({specifier:?})")),
                _ => Names::Effects,
            }),
            None => add(Names::List(names)),
        }
    }
}

/// `a . b` and names that go on behind a backslash.
fn without_layout(written: &str) -> String {
    written.chars().filter(|letter| !letter.is_whitespace() && *letter != '\\').collect()
}
