//! Declarations and exports: the units of a file with what they refer to and a digest of
//! their tokens.
//!
//! A digest covers the tokens, without comments, layout, and docstrings that nothing is
//! seen to read, and what the imported names among the references stand for: changing
//! `from a import x` to `from b import x` changes every declaration that uses `x`.

use std::collections::BTreeMap;

use owed_engine::facts::{Declaration, DeclarationKind, Export};
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::loads;
use super::purity::Purity;
use super::scope::{Bound, MODULE, Symbol};
use super::text::Lines;
use super::units::{self, MAIN_UNIT, MODULE_UNIT, UnitId};
use super::walk::{Docstring, Walk};

type Digest = [u8; 16];

/// Every name bound at module level: declarations and imports alike can be imported.
pub(super) fn exports(walk: &Walk<'_>, listed: &[&str]) -> Vec<Export> {
    let mut names: Vec<&str> = walk.names.module_symbols().into_iter().map(|s| walk.names.name(s)).collect();
    names.extend(listed);
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|n| Export { name: n.to_owned(), local: n.to_owned() }).collect()
}

/// The declarations of a file, by name.
pub(super) fn declarations(
    walk: &Walk<'_>,
    purity: &Purity<'_, '_>,
    whole: &[UnitId],
    text: &str,
    tokens: &[Token],
    lines: &Lines<'_>,
) -> Vec<Declaration> {
    let references = references(walk, whole);
    let digests = Digests::of(walk, &references, text, tokens);
    let mut declared: BTreeMap<&str, Declaration> = BTreeMap::new();
    let mut parts: Vec<(&str, Digest)> = Vec::new();
    for (at, unit) in walk.units.iter().enumerate().skip(2) {
        let Some(stmt) = unit.stmt else { continue };
        let range = stmt.range();
        let effects_at_import = purity.has_effects(stmt);
        for &symbol in &unit.names {
            let name = walk.names.name(symbol);
            parts.push((name, digests.units[at]));
            let declaration = declared.entry(name).or_insert_with(|| Declaration {
                name: name.to_owned(),
                kind: unit.kind,
                digest: digests.units[at],
                references: Vec::new(),
                effects_at_import: false,
                line: lines.line(range.start().to_u32()),
                span: loads::span(range),
            });
            declaration.effects_at_import |= effects_at_import;
            let referred =
                references[at].iter().filter(|s| **s != symbol).map(|s| walk.names.name(*s).to_owned());
            declaration.references.extend(referred);
        }
    }
    combine(&mut declared, parts);
    let first = walk.ranges.iter().find(|(_, unit)| *unit == MODULE_UNIT).map(|(range, _)| *range);
    let module =
        |name: &'static str, kind, digest, unit: UnitId, range: ruff_text_size::TextRange| Declaration {
            name: name.to_owned(),
            kind,
            digest,
            references: references[unit.0 as usize].iter().map(|s| walk.names.name(*s).to_owned()).collect(),
            effects_at_import: unit == MODULE_UNIT,
            line: lines.line(range.start().to_u32()),
            span: loads::span(range),
        };
    // Names that statements with effects bind: loop variables, `with … as`, `global`.
    for symbol in walk.names.module_symbols() {
        let name = walk.names.name(symbol);
        let imported = walk.names.bindings(MODULE, symbol).any(|b| matches!(b.bound, Bound::Import(_)));
        if !imported && !declared.contains_key(name) {
            let range = first.unwrap_or_default();
            let digest = digests.module.unwrap_or_default();
            let mut declaration = module(units::MODULE, DeclarationKind::Value, digest, MODULE_UNIT, range);
            declaration.name = name.to_owned();
            declaration.effects_at_import = false;
            declaration.references =
                if digests.module.is_some() { vec![units::MODULE.to_owned()] } else { Vec::new() };
            declared.insert(name, declaration);
        }
    }
    for &(symbol, UnitId(writer)) in &walk.writers {
        let writers = &walk.units[writer as usize].names;
        if let Some(declaration) = declared.get_mut(walk.names.name(symbol)) {
            declaration.references.extend(writers.iter().map(|s| walk.names.name(*s).to_owned()));
        }
    }
    if let Some(digest) = digests.module {
        let range = first.unwrap_or_default();
        declared.insert(
            units::MODULE,
            module(units::MODULE, DeclarationKind::Module, digest, MODULE_UNIT, range),
        );
    }
    let main = walk.ranges.iter().find(|(_, unit)| *unit == MAIN_UNIT);
    if let (Some(digest), Some((range, _))) = (digests.main, main) {
        declared
            .insert(units::MAIN, module(units::MAIN, DeclarationKind::Function, digest, MAIN_UNIT, *range));
    }
    declared
        .into_values()
        .map(|mut declaration| {
            declaration.references.sort_unstable();
            declaration.references.dedup();
            declaration.references.retain(|r| *r != declaration.name);
            declaration
        })
        .collect()
}

/// A name declared more than once has the digest of all its declarations.
fn combine(declared: &mut BTreeMap<&str, Declaration>, mut parts: Vec<(&str, Digest)>) {
    parts.sort_by(|a, b| a.0.cmp(b.0));
    for same in parts.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        let mut hasher = blake3::Hasher::new();
        for (_, digest) in same {
            hasher.update(digest);
        }
        if let Some(declaration) = declared.get_mut(same[0].0) {
            declaration.digest = shortened(hasher.finalize());
        }
    }
}

/// For each unit, the module-level names it reads, sorted by symbol; all of them for the
/// units in `whole`.
fn references(walk: &Walk<'_>, whole: &[UnitId]) -> Vec<Vec<Symbol>> {
    let mut references = vec![Vec::new(); walk.units.len()];
    for read in &walk.uses {
        let seen = match walk.names.resolve(read.scope, read.symbol) {
            Some(scope) => scope == MODULE,
            // A star import may bring it.
            None => walk.star && !is_builtin(walk.names.name(read.symbol)),
        };
        if seen {
            references[read.unit.0 as usize].push(read.symbol);
        }
    }
    for unit in whole {
        references[unit.0 as usize].extend(walk.names.module_symbols());
    }
    for list in &mut references {
        list.sort_unstable();
        list.dedup();
    }
    references
}

struct Digests {
    units: Vec<Digest>,
    module: Option<Digest>,
    main: Option<Digest>,
}

impl Digests {
    fn of(walk: &Walk<'_>, references: &[Vec<Symbol>], text: &str, tokens: &[Token]) -> Self {
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
        let length = self.tokens[self.next..].iter().take_while(|t| t.start() < end).count();
        let tokens = &self.tokens[self.next..self.next + length];
        self.next += length;
        let buffer = match unit {
            None => {
                self.after_docstring |= length > 0;
                return;
            }
            Some(None) => return,
            Some(Some(MODULE_UNIT)) => &mut self.module,
            Some(Some(MAIN_UNIT)) => &mut self.main,
            Some(Some(_)) => &mut self.own,
        };
        for token in tokens {
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
        if walk.names.flags(symbol) & super::scope::flag::IMPORTED == 0 {
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

fn shortened(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    let length = digest.len();
    digest.copy_from_slice(&hash.as_bytes()[..length]);
    digest
}

fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// Names of the builtins module, sorted.
const BUILTINS: [&str; 79] = [
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "Ellipsis",
    "Exception",
    "False",
    "ImportError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "ModuleNotFoundError",
    "NameError",
    "None",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "RuntimeError",
    "StopIteration",
    "SystemExit",
    "True",
    "TypeError",
    "UnicodeDecodeError",
    "ValueError",
    "ZeroDivisionError",
    "__file__",
    "__import__",
    "__name__",
    "abs",
    "all",
    "any",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "min",
    "next",
    "object",
    "open",
    "ord",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "set",
    "setattr",
    "sorted",
    "str",
    "super",
    "zip",
];

/// The names a literal `__all__` lists.
pub(super) fn listed(body: &[ruff_python_ast::Stmt]) -> Vec<&str> {
    use ruff_python_ast::{Expr, Stmt};
    let mut names = Vec::new();
    for stmt in body {
        let value = match stmt {
            Stmt::Assign(s) if s.targets.iter().any(is_all) => &s.value,
            Stmt::AnnAssign(s) if is_all(&s.target) => match &s.value {
                Some(value) => value,
                None => continue,
            },
            Stmt::AugAssign(s) if is_all(&s.target) => &s.value,
            _ => continue,
        };
        let mut pending = vec![&**value];
        while let Some(part) = pending.pop() {
            match part {
                Expr::BinOp(op) => pending.extend([&*op.left, &*op.right]),
                Expr::List(ruff_python_ast::ExprList { elts, .. })
                | Expr::Tuple(ruff_python_ast::ExprTuple { elts, .. }) => {
                    names.extend(elts.iter().filter_map(|e| match e {
                        Expr::StringLiteral(s) => Some(s.value.to_str()),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    names
}

fn is_all(target: &ruff_python_ast::Expr) -> bool {
    matches!(target, ruff_python_ast::Expr::Name(n) if n.id.as_str() == "__all__")
}
