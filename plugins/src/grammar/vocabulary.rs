//! The closed vocabulary of captures, and the check that a query keeps to it.
//!
//! Each pattern has exactly one *role*, its outer node; every other capture is a *part* of
//! it, or a helper for a predicate (`@_x`). A name that is not listed, a part in a sheet
//! that has none of it, a predicate that nobody would act on: an error, because
//! tree-sitter itself would ignore them all in silence.

use tree_sitter::{CaptureQuantifier, Query};

/// What a file of queries is about; its stem is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SheetKind {
    /// `definitions.scm`
    Definitions,
    /// `references.scm`
    References,
    /// `imports.scm`
    Imports,
    /// `exports.scm`
    Exports,
    /// `tests.scm`
    Tests,
}

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `@definition.function`: a function that is no member; without a name, a closure.
    Function,
    /// `@definition.method`: a function of a type.
    Method,
    /// `@definition.class`: something whose members are called by its name.
    Class,
    /// `@definition.type`: a type without members that are functions.
    Type,
    /// `@definition.variable`: a name that is bound to a value.
    Variable,
    /// `@reference.call`
    Call,
    /// `@reference.read`
    Read,
    /// `@reference.type`
    TypeReference,
    /// `@import`
    Import,
    /// `@import.type_only`: what is never loaded at run time.
    ImportTypeOnly,
    /// `@import.dynamic`: the text of what is loaded is not known.
    ImportDynamic,
    /// `@import.call`: a call that loads a module by its name.
    ImportCall,
    /// `@import.require`: a load by CommonJS.
    ImportRequire,
    /// `@import.resolve`: where a module lies is asked, and it is not run.
    ImportResolve,
    /// `@import.mock`: a runner is told to put something in the place of a module.
    ImportMock,
    /// `@export`
    Export,
    /// `@export.from`: an export of what another module offers.
    ExportFrom,
    /// `@test`
    Test,
    /// `@test.suite`
    Suite,
    /// `@test.skipped`
    SkippedTest,
    /// `@scope`: names that are bound in it end with it.
    Scope,
    /// `@suppress`: a comment or mark that silences a check.
    Suppress,
}

/// A part of what a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// `@name`; several are one name, in the order of the source.
    Name,
    /// `@body`: of a function its body, of a variable its value.
    Body,
    /// `@doc`
    Doc,
    /// `@receiver`: what a member is called on.
    Receiver,
    /// `@source`: the text that says what is imported.
    Source,
    /// `@alias`: the name that an import has here.
    Alias,
    /// `@wildcard`: the mark that all names are meant.
    Wildcard,
}

const ANYWHERE: [(&str, Role); 2] = [("scope", Role::Scope), ("suppress", Role::Suppress)];

impl SheetKind {
    /// All of them, in order.
    pub const ALL: [Self; 5] =
        [Self::Definitions, Self::References, Self::Imports, Self::Exports, Self::Tests];

    /// The stem of its file.
    pub fn stem(self) -> &'static str {
        match self {
            Self::Definitions => "definitions",
            Self::References => "references",
            Self::Imports => "imports",
            Self::Exports => "exports",
            Self::Tests => "tests",
        }
    }

    fn roles(self) -> &'static [(&'static str, Role)] {
        match self {
            Self::Definitions => &[
                ("definition.function", Role::Function),
                ("definition.method", Role::Method),
                ("definition.class", Role::Class),
                ("definition.type", Role::Type),
                ("definition.variable", Role::Variable),
            ],
            Self::References => &[
                ("reference.call", Role::Call),
                ("reference.read", Role::Read),
                ("reference.type", Role::TypeReference),
            ],
            Self::Imports => &[
                ("import", Role::Import),
                ("import.type_only", Role::ImportTypeOnly),
                ("import.dynamic", Role::ImportDynamic),
                ("import.call", Role::ImportCall),
                ("import.require", Role::ImportRequire),
                ("import.resolve", Role::ImportResolve),
                ("import.mock", Role::ImportMock),
            ],
            Self::Exports => &[("export", Role::Export), ("export.from", Role::ExportFrom)],
            Self::Tests => {
                &[("test", Role::Test), ("test.suite", Role::Suite), ("test.skipped", Role::SkippedTest)]
            }
        }
    }

    fn parts(self) -> &'static [(&'static str, Part)] {
        match self {
            Self::Definitions => &[("name", Part::Name), ("body", Part::Body), ("doc", Part::Doc)],
            Self::References => &[("name", Part::Name), ("receiver", Part::Receiver)],
            Self::Imports => &[
                ("source", Part::Source),
                ("name", Part::Name),
                ("alias", Part::Alias),
                ("wildcard", Part::Wildcard),
            ],
            Self::Exports => &[
                ("name", Part::Name),
                ("source", Part::Source),
                ("alias", Part::Alias),
                ("wildcard", Part::Wildcard),
            ],
            Self::Tests => &[("name", Part::Name)],
        }
    }
}

/// What one capture of a query stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    Role(Role),
    Part(Part),
    Helper,
}

fn capture(sheet: SheetKind, name: &str) -> Option<Capture> {
    if name.starts_with('_') {
        return Some(Capture::Helper);
    }
    let roles = sheet.roles().iter().chain(&ANYWHERE);
    let role = roles.clone().find(|(word, _)| *word == name).map(|(_, role)| Capture::Role(*role));
    let part = || sheet.parts().iter().find(|(word, _)| *word == name).map(|(_, part)| Capture::Part(*part));
    role.or_else(part)
}

/// The captures of `query` by number, if all are of the vocabulary.
pub(super) fn captures(sheet: SheetKind, query: &Query) -> Result<Vec<Capture>, String> {
    let one = |name: &&str| {
        capture(sheet, name).ok_or_else(|| format!("@{name} is no capture of {}", sheet.stem()))
    };
    query.capture_names().iter().map(one).collect()
}

/// The captures of `query` by number, if it keeps to the vocabulary and its file to the
/// form: a sentence on its purpose first, and above each pattern a comment that shows what
/// it matches.
pub(super) fn check(sheet: SheetKind, query: &Query, text: &str) -> Result<Vec<Capture>, String> {
    let header = text.lines().next().unwrap_or("");
    if !header.starts_with("; ") || !header.trim_end().ends_with('.') {
        return Err("the first line is not a comment with a sentence on its purpose".to_owned());
    }
    let captures = captures(sheet, query)?;
    for pattern in 0..query.pattern_count() {
        let start = query.start_byte_for_pattern(pattern);
        let line = text[..start].matches('\n').count() + 1;
        let fail = |what: String| Err(format!("line {line}: {what}"));
        let quantifiers = query.capture_quantifiers(pattern);
        let mut roles = Vec::new();
        for ((capture, name), quantifier) in captures.iter().zip(query.capture_names()).zip(quantifiers) {
            match (capture, quantifier) {
                (_, CaptureQuantifier::Zero) | (Capture::Part(_) | Capture::Helper, _) => {}
                (Capture::Role(_), CaptureQuantifier::One) => roles.push(*name),
                (Capture::Role(_), _) => return fail(format!("@{name} is not there exactly once")),
            }
        }
        match roles[..] {
            [_] => {}
            [] => return fail("a pattern without a role".to_owned()),
            _ => return fail(format!("a pattern with several roles: @{}", roles.join(", @"))),
        }
        if let Some(predicate) = query.general_predicates(pattern).first() {
            return fail(format!("#{} does nothing", predicate.operator));
        }
        if !query.property_predicates(pattern).is_empty() || !query.property_settings(pattern).is_empty() {
            return fail("properties do nothing".to_owned());
        }
        let above = text[header.len()..start].lines().rev().find(|line| !line.trim().is_empty());
        if !above.is_some_and(|above| above.trim_start().starts_with(';')) {
            return fail("no comment above the pattern shows what it matches".to_owned());
        }
    }
    Ok(captures)
}
