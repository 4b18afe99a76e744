//! What a file imports, by `imports.scm`.
//!
//! A specifier is the text of all `@source` parts of a match, one after another. What a
//! language writes more shortly than one thing an import (`use a::{b, c}`) is for the
//! language to take apart. A file with errors keeps what was found, and says so.

use owed_engine::facts::{Damage, FileFacts, Import, ImportKind, LoadMode, Name, Names, Presence, Span};

use super::{Grammar, Match, Overflow, Parsed, Part, Role, SheetKind};

/// Reads one file.
pub(crate) fn read(grammar: &Grammar, bytes: &[u8]) -> FileFacts {
    let whole = |cause: &str, at: u32| {
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..bytes.len().min(at as usize)]).count();
        let damage = Damage {
            cause: cause.to_owned(),
            line: super::parse::offset(line),
            span: Span { start: at, end: at },
        };
        FileFacts { damage: vec![damage], ..FileFacts::default() }
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return whole("not UTF-8", super::parse::offset(error.valid_up_to())),
    };
    let parsed = match grammar.parse(text) {
        Ok(parsed) => parsed,
        Err(refused) => return whole(refused.cause(), refused.at()),
    };
    let mut facts = FileFacts { damage: parsed.damage(), ..FileFacts::default() };
    match grammar.matches(SheetKind::Imports, &parsed) {
        Ok(found) => {
            let mut lines = Lines { text, at: 0, line: 1 };
            facts.imports = found.iter().filter_map(|one| import(&parsed, one, &mut lines)).collect();
        }
        Err(Overflow) => facts.damage.push(Damage {
            cause: "too many imports under way at once".to_owned(),
            line: 1,
            span: Span::default(),
        }),
    }
    facts
}

/// Counts lines forward.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, at: usize) -> u32 {
        if at > self.at {
            let between = &self.text.as_bytes()[self.at..at];
            self.line += super::parse::offset(memchr::memchr_iter(b'\n', between).count());
            self.at = at;
        }
        self.line
    }
}

fn import(parsed: &Parsed<'_>, one: &Match<'_>, lines: &mut Lines<'_>) -> Option<Import> {
    let kind = match one.role {
        Role::Import if one.part(Part::Wildcard).is_some() => ImportKind::Star,
        Role::Import => ImportKind::Static,
        Role::ImportTypeOnly => ImportKind::TypeOnly,
        Role::ImportDynamic => ImportKind::Computed,
        _ => return None,
    };
    let sources: Vec<&str> = one.all(Part::Source).map(|node| parsed.of(node)).collect();
    // The text of a computed import bounds nothing.
    let specifier = if kind == ImportKind::Computed { String::new() } else { sources.concat() };
    let alias = one.part(Part::Alias).map(|node| parsed.of(node).to_owned());
    let names: Vec<Name> = one
        .all(Part::Name)
        .map(|node| {
            let imported = parsed.of(node).to_owned();
            Name { local: alias.clone().unwrap_or_else(|| imported.clone()), imported }
        })
        .collect();
    let names = match (names.is_empty(), alias) {
        (false, _) => Names::List(names),
        (true, Some(alias)) => Names::Namespace(alias),
        (true, None) => Names::Effects,
    };
    Some(Import {
        specifier,
        kind,
        mode: LoadMode::Esm,
        presence: Presence::Required,
        names,
        line: lines.of(one.node.start_byte()),
        span: one.span(),
    })
}
