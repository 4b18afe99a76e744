//! Top-level bindings while they are being read: their token ranges, what they refer
//! to, and whether evaluating them at import may have effects.

use std::borrow::Cow;

use owed_engine::facts::DeclarationKind;
use oxc_semantic::SymbolId;
use oxc_span::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The pseudo-declaration of all statements with effects at import.
pub(super) const MODULE: u32 = 0;
/// The pseudo-declaration of what the file's import and re-export statements say.
pub(super) const LINKS: u32 = 1;

/// One top-level binding.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    /// Its name.
    pub(super) name: Cow<'a, str>,
    /// What it is.
    pub(super) kind: DeclarationKind,
    /// Where its tokens are (merged declarations have more than one place).
    pub(super) spans: Vec<Span>,
    /// Whether evaluating it at import may have effects.
    pub(super) effects: bool,
    /// Whether it exists for the importer (`<module>` may be empty).
    pub(super) present: bool,
    /// The unit whose references it shares (`const { a, b } = x`).
    pub(super) twin: Option<u32>,
}

/// The bindings of a file and their references.
#[derive(Debug)]
pub(super) struct Units<'a> {
    /// [`MODULE`], [`LINKS`], then in source order.
    pub(super) list: Vec<Unit<'a>>,
    /// The unit being walked.
    pub(super) current: u32,
    /// References to symbols of the root scope.
    pub(super) symbols: Vec<(u32, SymbolId)>,
    /// References to names that are no symbols (`import("./x")`).
    pub(super) texts: Vec<(u32, String)>,
    /// Whether the body of a test is being walked.
    pub(super) late: bool,
    /// Symbols that statements refer to outside of bodies of tests.
    pub(super) early: FxHashSet<SymbolId>,
    by_symbol: FxHashMap<SymbolId, u32>,
    by_text: FxHashMap<String, u32>,
    /// By symbol: the unit that referred to it last, plus one.
    seen: Vec<u32>,
}

impl<'a> Units<'a> {
    /// No bindings, in a file with that many symbols.
    pub(super) fn new(symbols: usize) -> Self {
        let pseudo = |name: &'static str| Unit {
            name: Cow::Borrowed(name),
            kind: DeclarationKind::Module,
            spans: Vec::new(),
            effects: true,
            present: false,
            twin: None,
        };
        Self {
            list: vec![pseudo("<module>"), pseudo("<links>")],
            current: MODULE,
            symbols: Vec::new(),
            texts: Vec::new(),
            late: false,
            early: FxHashSet::default(),
            by_symbol: FxHashMap::default(),
            by_text: FxHashMap::default(),
            seen: vec![0; symbols],
        }
    }

    /// The unit of a symbol, made when it is the symbol's first declaration.
    pub(super) fn of_symbol(
        &mut self,
        symbol: Option<SymbolId>,
        name: &'a str,
        kind: DeclarationKind,
    ) -> u32 {
        if let Some(symbol) = symbol
            && let Some(&unit) = self.by_symbol.get(&symbol)
        {
            return unit;
        }
        let unit = self.add(Cow::Borrowed(name), kind);
        if let Some(symbol) = symbol {
            self.by_symbol.insert(symbol, unit);
        }
        unit
    }

    /// The unit of a name that is no symbol (`exports.a`); assigning twice adds to it.
    pub(super) fn of_text(&mut self, name: &str, kind: DeclarationKind) -> u32 {
        if let Some(&unit) = self.by_text.get(name) {
            return unit;
        }
        let unit = self.add(Cow::Owned(name.to_owned()), kind);
        self.by_text.insert(name.to_owned(), unit);
        unit
    }

    /// A new unit.
    pub(super) fn add(&mut self, name: Cow<'a, str>, kind: DeclarationKind) -> u32 {
        let unit = u32::try_from(self.list.len()).expect("a file has fewer than 2^32 bindings");
        self.list.push(Unit { name, kind, spans: Vec::new(), effects: false, present: true, twin: None });
        unit
    }

    /// Whether a symbol has a unit.
    pub(super) fn has(&self, symbol: SymbolId) -> bool {
        self.by_symbol.contains_key(&symbol)
    }

    /// The unit with that number.
    pub(super) fn at(&mut self, unit: u32) -> &mut Unit<'a> {
        &mut self.list[unit as usize]
    }

    /// Adds tokens to a unit.
    pub(super) fn extend(&mut self, unit: u32, span: Span) {
        let unit = self.at(unit);
        unit.spans.push(span);
        unit.present = true;
    }

    /// The unit being walked refers to `symbol`.
    pub(super) fn refer(&mut self, symbol: SymbolId) {
        if self.current == MODULE && !self.late {
            self.early.insert(symbol);
        }
        let seen = &mut self.seen[symbol.index()];
        if *seen != self.current + 1 {
            *seen = self.current + 1;
            self.symbols.push((self.current, symbol));
        }
    }

    /// The unit being walked refers to a name that is no symbol.
    pub(super) fn refer_text(&mut self, text: String) {
        self.texts.push((self.current, text));
    }
}
