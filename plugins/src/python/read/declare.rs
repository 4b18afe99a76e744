//! Declarations and exports: the units of a file with what they refer to and a digest of
//! their tokens.
//!
//! A digest covers the tokens, without comments, layout, and docstrings that nothing is
//! seen to read, and what the imported names among the references stand for: changing
//! `from a import x` to `from b import x` changes every declaration that uses `x`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use owed_engine::facts::{Declaration, DeclarationKind, Export, Span};
use ruff_python_ast::token::Token;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::digest::{Digest, Digests, shortened};
use super::loads;
use super::purity::Purity;
use super::scope::{Bound, MODULE, Symbol};
use super::text::Lines;
use super::units::{self, MAIN_UNIT, MODULE_UNIT, UnitId};
use super::walk::Walk;

/// Every name bound at module level: declarations and imports alike can be imported.
pub(super) fn exports(walk: &Walk<'_>, listed: &[&str]) -> Vec<Export> {
    let mut names: Vec<&str> = walk.names.module_symbols().into_iter().map(|s| walk.names.name(s)).collect();
    names.extend(listed);
    // The parser gives missing names after an error as empty ones.
    names.retain(|n| !n.is_empty());
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|n| Export { name: n.to_owned(), local: n.to_owned() }).collect()
}

/// The names of a file's declarations with their kinds, and nothing else of them.
pub(super) fn named(walk: &Walk<'_>) -> Vec<Declaration> {
    let units = walk.units.iter().flat_map(|unit| {
        let kind = unit.kind;
        unit.names.iter().map(move |symbol| (*symbol, kind))
    });
    // Names that other statements bind come last, so that they are not taken for the kind.
    let others = walk.names.module_symbols().into_iter().filter(|&symbol| !is_imported(walk, symbol));
    let others = others.map(|symbol| (symbol, DeclarationKind::Value));
    let all = units.chain(others).map(|(symbol, kind)| (walk.names.name(symbol), kind));
    let mut all: Vec<(&str, DeclarationKind)> = all.filter(|(name, _)| !name.is_empty()).collect();
    all.sort_by_key(|(name, _)| *name);
    all.dedup_by_key(|(name, _)| *name);
    let declaration = |(name, kind): (&str, DeclarationKind)| Declaration {
        name: name.to_owned(),
        kind,
        digest: Digest::default(),
        references: Vec::new(),
        effects_at_import: false,
        line: 0,
        span: Span::default(),
    };
    all.into_iter().map(declaration).collect()
}

fn is_imported(walk: &Walk<'_>, symbol: Symbol) -> bool {
    walk.names.bindings(MODULE, symbol).any(|b| matches!(b.bound, Bound::Import(_)))
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
    let members = members(walk);
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
            let others = references[at].iter().filter(|s| **s != symbol);
            declaration.references.extend(others.flat_map(|s| written(walk, &members, at, *s)));
            declaration.references.extend(subclasses(walk, at));
        }
    }
    combine(&mut declared, parts);
    let first = walk.ranges.iter().find(|(_, unit)| *unit == MODULE_UNIT).map(|(range, _)| *range);
    let module = |name: &'static str, kind, digest, unit: UnitId, range: TextRange| Declaration {
        name: name.to_owned(),
        kind,
        digest,
        references: {
            let unit = unit.0 as usize;
            let names = references[unit].iter().flat_map(|s| written(walk, &members, unit, *s));
            names.chain(subclasses(walk, unit)).collect()
        },
        effects_at_import: unit == MODULE_UNIT,
        line: lines.line(range.start().to_u32()),
        span: loads::span(range),
    };
    // Names that statements with effects bind: loop variables, `with … as`, `global`.
    for symbol in walk.names.module_symbols() {
        let name = walk.names.name(symbol);
        if !is_imported(walk, symbol) && !declared.contains_key(name) {
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
        .filter(|declaration| !declaration.name.is_empty())
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

/// Attribute chains by unit and symbol, sorted.
type ChainsOf<'w, 'a> = BTreeMap<(u32, Symbol), Vec<&'w [&'a str]>>;

/// The chains through which each unit uses an imported name, where it uses it in no other
/// way.
fn members<'w, 'a>(walk: &'w Walk<'a>) -> ChainsOf<'w, 'a> {
    let mut by_name: ChainsOf<'w, 'a> = BTreeMap::new();
    let Some(members) = &walk.members else { return by_name };
    let chains = members.chains.iter();
    let only = chains.filter(|(unit, symbol, _)| !members.whole.contains(&(*unit, *symbol)));
    let mut sorted: Vec<(u32, Symbol, &'w [&'a str])> =
        only.map(|(unit, symbol, chain)| (unit.0, *symbol, chain.as_slice())).collect();
    sorted.sort_unstable();
    for (unit, symbol, chain) in sorted {
        by_name.entry((unit, symbol)).or_default().push(chain);
    }
    by_name
}

/// The mark of a unit that asks a class for its subclasses, which no name leads to.
fn subclasses(walk: &Walk<'_>, unit: usize) -> Option<String> {
    let asks = walk.members.as_ref()?.subclasses.iter().any(|asking| asking.0 as usize == unit);
    asks.then(|| units::SUBCLASSES.to_owned())
}

/// How a unit refers to a name: `m.attr` for each attribute it reads of an import of which
/// it does nothing else, otherwise the name.
fn written(walk: &Walk<'_>, members: &ChainsOf<'_, '_>, unit: usize, symbol: Symbol) -> Vec<String> {
    let name = walk.names.name(symbol);
    let mut bindings = walk.names.bindings(MODULE, symbol).peekable();
    let imported = bindings.peek().is_some() && bindings.all(|b| matches!(b.bound, Bound::Import(_)));
    let key = (u32::try_from(unit).unwrap_or(u32::MAX), symbol);
    match members.get(&key) {
        Some(chains) if imported => {
            chains.iter().map(|chain| format!("{name}.{}", chain.join("."))).collect()
        }
        _ => vec![name.to_owned()],
    }
}

/// Whether `name` is known without being bound: a builtin of Python 3, or one of Python 2
/// that code for both asks for.
pub(super) fn is_builtin(name: &str) -> bool {
    static NAMES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| BUILTINS.split_whitespace().collect());
    NAMES.contains(name) || (name.starts_with("__") && name.ends_with("__"))
}

/// `dir(builtins)` of CPython 3.8 to 3.14, what `site` adds, and the builtins of Python 2.
const BUILTINS: &str = "
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning
EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError
FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError OSError
OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError
RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True TypeError
UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
UnicodeWarning UserWarning ValueError Warning WindowsError ZeroDivisionError _IncompleteInputError
abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile
complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset
getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals
map max memoryview min next object oct open ord pow print property quit range repr reversed round set
setattr slice sorted staticmethod str sum super tuple type vars zip
StandardError apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr
unicode xrange
";

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

/// Whether `__all__` is one literal list of names that nothing else touches: it is only
/// looked through afterwards.
pub(super) fn lists_all(body: &[ruff_python_ast::Stmt], text: &str) -> bool {
    use ruff_python_ast::{Expr, Stmt};
    let is_literal = |stmt: &Stmt| match stmt {
        Stmt::Assign(assign) => match (&*assign.targets, &*assign.value) {
            ([target], Expr::List(ruff_python_ast::ExprList { elts, .. }))
            | ([target], Expr::Tuple(ruff_python_ast::ExprTuple { elts, .. })) => {
                is_all(target) && elts.iter().all(Expr::is_string_literal_expr)
            }
            _ => false,
        },
        _ => false,
    };
    let mentions: Vec<usize> = text.match_indices("__all__").map(|(at, _)| at).collect();
    let is_look = |at: &usize| {
        text[..*at].ends_with(" in ") && text[at + "__all__".len()..].starts_with([':', ')', ']', '\n', '\r'])
    };
    body.iter().any(is_literal) && mentions.iter().filter(|at| !is_look(at)).count() == 1
}

fn is_all(target: &ruff_python_ast::Expr) -> bool {
    matches!(target, ruff_python_ast::Expr::Name(n) if n.id.as_str() == "__all__")
}
