//! From the state of a walk to facts: digests, references by name, effects with the
//! time they happen at. Everything is put in an order that depends on the source only.

use std::collections::BTreeSet;

use owed_engine::facts::{
    Answered, Clock, Declaration, DeclarationKind, Effect, FileFacts, ImportKind, Names, Span, When,
};
use oxc_parser::Token;
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest::Digester;
use super::effects::Noted;
use super::units::{LINKS, MODULE, Unit};
use super::walk::Walk;

/// What makes two effects one: the unit, whether it is called, the operation and its class.
type Operation = (u32, bool, String, String);

impl<'a> Walk<'_, 'a> {
    /// The facts of the file that was walked; declarations only where its tokens are given.
    pub(super) fn finish(mut self, tokens: Option<&[Token]>) -> FileFacts {
        self.settle_spaces();
        self.jsx_runtime();
        self.settle_watched();
        self.release();
        let mut clock = self.clock();
        self.lift_clocks();
        let declarations = tokens.map(|tokens| self.declarations_of(tokens)).unwrap_or_default();
        let mut facts = FileFacts { declarations, ..FileFacts::default() };
        // Tests that run at the same time change the clock under each other.
        if tokens.is_some() && !self.tests.is_empty() && !self.source.contains(".concurrent") {
            clock.early = Some(self.early());
        }
        (facts.effects, clock.answered) = self.effects_of();
        facts.clock = (tokens.is_some() && clock != Clock::default()).then(|| Box::new(clock));
        facts.tests = self.tests;
        facts.exports = self.exports;
        facts.exports.sort_by(|a, b| (&a.name, &a.local).cmp(&(&b.name, &b.local)));
        facts.exports.dedup();
        facts.imports = self.imports;
        // Stable: several imports of one place stay in the order they were found.
        facts.imports.sort_by_key(|import| import.span);
        facts
    }

    /// By unit: the names it refers to, sorted.
    fn references(&self) -> Vec<BTreeSet<&str>> {
        let units = &self.units;
        let mut references: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); units.list.len()];
        let mut imported: FxHashSet<&str> = FxHashSet::default();
        for import in &self.imports {
            match &import.names {
                Names::Effects => {}
                Names::Namespace(local) => {
                    imported.insert(local);
                }
                Names::List(list) => imported.extend(list.iter().map(|name| name.local.as_str())),
            }
        }
        for (unit, symbol) in &units.symbols {
            let name = self.scoping.symbol_name(*symbol);
            // `if (c) { var x = 1 }`: a statement of `<module>` makes the binding.
            let known = units.has(*symbol) || imported.contains(name);
            references[*unit as usize].insert(if known { name } else { "<module>" });
        }
        for (unit, text) in &units.texts {
            references[*unit as usize].insert(text);
        }
        for (at, unit) in units.list.iter().enumerate() {
            if let Some(of) = unit.twin {
                let shared = references[of as usize].clone();
                references[at].extend(shared);
            }
            references[at].remove(unit.name.as_ref());
        }
        if units.list[LINKS as usize].present {
            references[MODULE as usize].insert("<links>");
        }
        references
    }

    fn declarations_of(&mut self, tokens: &[Token]) -> Vec<Declaration> {
        let mut erasures = std::mem::take(&mut self.erasures);
        let references = self.references();
        let mut exported: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
        for export in &self.exports {
            exported.entry(export.local.as_str()).or_default().insert(export.name.as_str());
        }
        let mut origins: FxHashMap<&str, BTreeSet<(&str, &str)>> = FxHashMap::default();
        for import in self.imports.iter().filter(|import| import.kind != ImportKind::TypeOnly) {
            let specifier = import.specifier.as_str();
            match &import.names {
                Names::Effects => {}
                Names::Namespace(local) => {
                    origins.entry(local).or_default().insert(("*", specifier));
                }
                Names::List(list) => {
                    for name in list {
                        origins.entry(&name.local).or_default().insert((&name.imported, specifier));
                    }
                }
            }
        }
        let mut digester = Digester::new(self.source, tokens, &mut erasures);
        let mut declarations = Vec::with_capacity(self.units.list.len());
        for (unit, references) in self.units.list.iter().zip(references) {
            if !unit.present {
                continue;
            }
            for span in &unit.spans {
                digester.tokens(*span);
            }
            for name in exported.get(unit.name.as_ref()).into_iter().flatten() {
                digester.text(name);
            }
            for reference in &references {
                for (imported, specifier) in origins.get(reference).into_iter().flatten() {
                    digester.text(reference);
                    digester.text(imported);
                    digester.text(specifier);
                }
            }
            let span = span_of(unit);
            declarations.push(Declaration {
                name: unit.name.clone().into_owned(),
                kind: unit.kind,
                digest: digester.finish(),
                references: references.into_iter().map(str::to_owned).collect(),
                effects_at_import: unit.effects,
                line: self.lines.line(span.start),
                span,
            });
        }
        declarations
    }

    /// What the file's statements refer to outside of bodies of tests.
    fn early(&self) -> Vec<String> {
        let units = &self.units;
        let mut early: Vec<String> =
            units.early.iter().map(|symbol| self.scoping.symbol_name(*symbol).to_owned()).collect();
        // Where a namespace or a load is used is not told apart.
        early.extend(units.texts.iter().filter(|(unit, _)| *unit == MODULE).map(|(_, text)| text.clone()));
        early.sort_unstable();
        early.dedup();
        early
    }

    /// Each operation once a declaration and class, where it is first seen; with those that a
    /// stopped clock answers wherever they are seen.
    fn effects_of(&mut self) -> (Vec<Effect>, Vec<Answered>) {
        let mut seen: FxHashMap<Operation, (usize, bool, bool)> = FxHashMap::default();
        let mut found = Vec::with_capacity(self.effects.len());
        let mut noted = std::mem::take(&mut self.effects);
        noted.sort_by_key(|noted| noted.effect.span);
        for noted in noted {
            let answered = self.is_answered(&noted);
            let Noted { unit, mut effect, in_method, bodies } = noted;
            let in_test = super::clocks::is_late(&bodies);
            let of = &self.units.list[unit as usize];
            let called = of.kind != DeclarationKind::Module
                && (!of.effects || (in_method && of.kind == DeclarationKind::Class));
            let key = (unit, called, effect.operation.clone(), format!("{:?}", effect.class));
            let next = found.len();
            let (at, all, all_in_test) = seen.entry(key).or_insert((next, answered, in_test));
            (*all, *all_in_test) = (*all && answered, *all_in_test && in_test);
            if *at != next {
                continue;
            }
            if called {
                effect.when = When::Call(of.name.clone().into_owned());
            }
            found.push(effect);
        }
        let answered = seen.into_values().filter(|(_, answered, _)| *answered);
        let mut answered: Vec<Answered> = answered
            .map(|(at, _, in_test)| Answered {
                effect: u32::try_from(at).expect("a file has fewer than 2^32 effects"),
                leaves: Self::leaves(&found[at].operation),
                in_test,
            })
            .collect();
        answered.sort_unstable_by_key(|answered| answered.effect);
        (found, answered)
    }
}

fn span_of(unit: &Unit<'_>) -> Span {
    let start = unit.spans.iter().map(|span| span.start).min().unwrap_or(0);
    let end = unit.spans.iter().map(|span| span.end).max().unwrap_or(0);
    Span { start, end }
}
