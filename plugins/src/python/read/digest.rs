//! Digests of units: their tokens, without comments, layout, and docstrings that nothing
//! is seen to read, and what the imported names among their references stand for.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::scope::{Bound, MODULE, Symbol, flag};
use super::units::{MAIN_UNIT, MODULE_UNIT, UnitId};
use super::walk::{Docstring, Walk};

/// The first bytes of a BLAKE3 hash.
pub(super) type Digest = [u8; 16];

pub(super) struct Digests {
    pub(super) units: Vec<Digest>,
    pub(super) module: Option<Digest>,
    pub(super) main: Option<Digest>,
}

impl Digests {
    pub(super) fn of(walk: &Walk<'_>, references: &[Vec<Symbol>], text: &str, tokens: &[Token]) -> Self {
        let mut pass = Pass {
            bytes: text.as_bytes(),
            tokens,
            next: 0,
            after_docstring: false,
            module: Vec::new(),
            main: Vec::new(),
            own: Vec::new(),
        };
        let mut digests = Self { units: vec![Digest::default(); walk.units.len()], module: None, main: None };
        let unread = |d: &&Docstring| !(d.kept || walk.reads_docs || text[d.range].contains(">>>"));
        let docstrings = walk.docstrings.iter().filter(unread).map(|d| (d.range, None));
        let mut marks: Vec<(TextRange, Option<UnitId>)> =
            walk.ranges.iter().map(|(range, unit)| (*range, Some(*unit))).chain(docstrings).collect();
        // Outer ones first; a docstring may be all there is of a unit's first line.
        marks.sort_by_key(|(range, unit)| (range.start(), std::cmp::Reverse(range.end()), unit.is_none()));
        let mut open: Vec<(TextRange, Option<UnitId>)> = Vec::new();
        let mut close = |pass: &mut Pass<'_>, (range, unit): (TextRange, Option<UnitId>)| {
            pass.take(range.end(), unit.map(Some));
            if let Some(unit) = unit
                && unit > MAIN_UNIT
            {
                let unit = unit.0 as usize;
                digests.units[unit] = finish(&mut pass.own, walk, &references[unit]);
            }
        };
        for mark in marks {
            while let Some(top) = open.pop_if(|(range, _)| range.end() <= mark.0.start()) {
                close(&mut pass, top);
            }
            pass.take(mark.0.start(), open.last().map_or(Some(None), |(_, unit)| unit.map(Some)));
            open.push(mark);
        }
        while let Some(top) = open.pop() {
            close(&mut pass, top);
        }
        if !pass.module.is_empty() {
            digests.module = Some(finish(&mut pass.module, walk, &references[MODULE_UNIT.0 as usize]));
        }
        if !pass.main.is_empty() {
            digests.main = Some(finish(&mut pass.main, walk, &references[MAIN_UNIT.0 as usize]));
        }
        digests
    }
}

/// One pass over the tokens.
struct Pass<'t> {
    bytes: &'t [u8],
    tokens: &'t [Token],
    next: usize,
    after_docstring: bool,
    module: Vec<u8>,
    main: Vec<u8>,
    own: Vec<u8>,
}

impl Pass<'_> {
    /// Adds the tokens before `end` to a unit; `Some(None)`: to none; `None`: they are a
    /// docstring.
    fn take(&mut self, end: TextSize, unit: Option<Option<UnitId>>) {
        let tokens = &self.tokens[self.next..];
        let buffer = match unit {
            None | Some(None) => {
                let skipped = tokens.iter().take_while(|t| t.start() < end).count();
                self.next += skipped;
                self.after_docstring |= unit.is_none() && skipped > 0;
                return;
            }
            Some(Some(MODULE_UNIT)) => &mut self.module,
            Some(Some(MAIN_UNIT)) => &mut self.main,
            Some(Some(_)) => &mut self.own,
        };
        for token in tokens {
            if token.start() >= end {
                break;
            }
            self.next += 1;
            let kind = token.kind();
            if matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline) {
                continue;
            }
            if self.after_docstring {
                self.after_docstring = false;
                if kind == TokenKind::Newline {
                    continue;
                }
            }
            // The kind says all of an operator or a keyword.
            buffer.push(kind as u8);
            if kind <= TokenKind::IpyEscapeCommand || kind == TokenKind::Unknown {
                let range = token.range();
                buffer.extend_from_slice(&self.bytes[range.start().to_usize()..range.end().to_usize()]);
                buffer.push(0);
            }
        }
    }
}

fn finish(buffer: &mut Vec<u8>, walk: &Walk<'_>, references: &[Symbol]) -> Digest {
    let mut imported: Vec<(&str, u32)> = Vec::new();
    for &symbol in references {
        if walk.names.flags(symbol) & flag::IMPORTED == 0 {
            continue;
        }
        for binding in walk.names.bindings(MODULE, symbol) {
            if let Bound::Import(target) = binding.bound
                && !walk.targets[target as usize].type_only
            {
                imported.push((walk.names.name(symbol), target));
            }
        }
    }
    imported.sort_by(|a, b| a.0.cmp(b.0).then(a.1.cmp(&b.1)));
    for (local, target) in imported {
        let target = &walk.targets[target as usize];
        buffer.push(u8::MAX);
        buffer.extend_from_slice(local.as_bytes());
        buffer.push(0);
        buffer.extend_from_slice(&target.level.to_le_bytes());
        buffer.extend_from_slice(target.module.as_bytes());
        buffer.push(0);
        buffer.extend_from_slice(target.name.unwrap_or("").as_bytes());
    }
    let digest = shortened(blake3::hash(buffer));
    buffer.clear();
    digest
}

pub(super) fn shortened(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    let length = digest.len();
    digest.copy_from_slice(&hash.as_bytes()[..length]);
    digest
}
