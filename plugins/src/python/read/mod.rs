//! Reads one Python file into facts, with ruff's parser.
//!
//! Bytes become text ([`text`]), the tree is walked once ([`walk`]), and what the walk
//! kept is judged when all names are known: imports ([`loads`]), effects ([`effects`],
//! by the table in [`rows`]), declarations ([`declare`]), tests ([`cases`]).
//!
//! It reads what is written and runs nothing. It does not resolve modules or paths, and
//! it knows no other file. From a file with a syntax error it keeps what the parser could
//! recover, and says where the damage is.

mod cases;
mod declare;
mod digest;
mod effects;
mod eval;
mod loads;
mod modules;
mod names;
mod place;
mod purity;
mod rows;
mod scope;
pub(super) mod text;
mod units;
mod walk;

#[cfg(test)]
mod tests;

use owed_engine::facts::{Damage, FileFacts, ImportKind, Span};
use owed_engine::language::SourceFile;
use owed_engine::path;
use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, Parsed};
use ruff_text_size::Ranged;

use crate::tolerant::{self, Dialect};
use text::{Lines, offset};

/// How deep trees are walked at all. CPython gives up earlier.
const DEEPEST: u32 = 10_000;
/// Stack for walking deep trees.
const DEEP_STACK: usize = 512 << 20;
/// More brackets open at once than any program has; parsing it would take the memory of
/// the machine.
const MOST_BRACKETS: usize = 20_000;

/// Whether the file at `path` is read here.
pub fn reads(path: &str) -> bool {
    matches!(path::extension(path), "py" | "pyi")
}

/// Whether `bytes` declare an encoding of their own (PEP 263) that is read here.
pub fn declares_encoding(bytes: &[u8]) -> bool {
    text::declares_encoding(bytes)
}

/// What a person can do about an effect with this operation, in one line.
pub fn fix(operation: &str) -> Option<&'static str> {
    rows::TABLE.fix(operation)
}

/// Whether the effect table says all that a package outside the standard library does, so
/// that its own code need not be read. Rows alone do not: `numpy.load` has one, and the rest
/// of numpy is native code.
pub fn models(package: &str) -> bool {
    rows::TABLE.models(package)
}

/// Every operation of the effect table as answers show it, and whether a case names it in
/// its code (else in what it expects); sorted.
pub fn operations() -> Vec<(String, bool)> {
    rows::TABLE.operations()
}

/// How much is read of a file's declarations and exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    Nothing,
    /// Names and kinds of declarations.
    Names,
    /// What each refers to and does, its digest, and what the module gives others.
    Whole,
}

/// Reads one file.
pub fn read(file: SourceFile<'_>) -> FileFacts {
    read_as(file, Declared::Whole)
}

/// Reads one file, all but its declarations and exports; names of declarations are read of
/// tests and of modules that may define hooks of pytest, because discovery asks for them.
pub fn read_without_declarations(file: SourceFile<'_>) -> FileFacts {
    let asked_for = path::basename(file.path).to_ascii_lowercase().contains("test")
        || memchr::memmem::find(file.bytes, b"pytest_").is_some()
        || memchr::memmem::find(file.bytes, b"load_tests").is_some();
    read_as(file, if asked_for { Declared::Names } else { Declared::Nothing })
}

fn read_as(file: SourceFile<'_>, declared: Declared) -> FileFacts {
    let decoded = text::decode(file.bytes);
    let lines = Lines::new(&decoded.text);
    let name = path::basename(file.path);
    let mut facts = if open_brackets(decoded.text.as_bytes()) > MOST_BRACKETS {
        FileFacts { damage: vec![depth_damage()], ..FileFacts::default() }
    } else {
        parsed(&decoded.text, name, &lines, declared)
    };
    if !facts.damage.is_empty() {
        tolerant::recover(&mut facts, Dialect::Python, &decoded.text, declared != Declared::Nothing);
    }
    if let Some((cause, at)) = decoded.refused {
        let at = offset(at);
        let damage = Damage { cause, line: lines.line(at), span: Span { start: at, end: at + 1 } };
        facts.damage.insert(0, damage);
    }
    facts
}

fn parsed(text: &str, name: &str, lines: &Lines<'_>, declared: Declared) -> FileFacts {
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest_preview());
    let parsed = ruff_python_parser::parse_unchecked(text, options)
        .try_into_module()
        .expect("module mode gives a module");
    if let Some(facts) = facts(&parsed, text, name, lines, declared, walk::SHALLOW) {
        return facts;
    }
    // Deeper than the caller's stack may bear: once more, with a stack of its own. The
    // tree is freed there too, because freeing recurses as deep as walking does; one that
    // is deeper than any stack is leaked.
    let tree = std::mem::ManuallyDrop::new(parsed);
    let deep = std::thread::scope(|scope| {
        let work = move || {
            let facts = facts(&tree, text, name, lines, declared, DEEPEST);
            if facts.is_some() {
                drop(std::mem::ManuallyDrop::into_inner(tree));
            }
            facts
        };
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work).ok()?;
        thread.join().ok().flatten()
    });
    deep.unwrap_or_else(|| FileFacts { damage: vec![depth_damage()], ..FileFacts::default() })
}

fn facts(
    parsed: &Parsed<ModModule>,
    text: &str,
    name: &str,
    lines: &Lines<'_>,
    declared: Declared,
    limit: u32,
) -> Option<FileFacts> {
    let body = &parsed.syntax().body;
    let stub = name.ends_with(".pyi");
    let walk = walk::Walk::new(body, text.len(), stub, declared == Declared::Whole, limit);
    if walk.too_deep {
        return None;
    }
    let listed = declare::listed(body);
    let found = effects::judge(&walk, text, name, &listed, lines);
    let names = &names::Names::new(&walk);
    let eval = eval::Eval::new(names, name);
    let purity = purity::Purity { names, eval: &eval };
    let mut imports: Vec<_> = walk.imports.iter().map(|i| loads::statement(i, lines)).collect();
    imports.extend(found.imports);
    let is_package = name.starts_with("__init__.");
    let mut submodules: Vec<&str> = Vec::new();
    if is_package {
        // `from package import *` imports what `__all__` lists, submodules too.
        submodules
            .extend(listed.iter().filter(|n| names.is_builtin(n, scope::MODULE) && !n.starts_with('_')));
        for submodule in &submodules {
            let specifier = format!(".{submodule}");
            let range = ruff_text_size::TextRange::default();
            imports.push(loads::load(specifier, ImportKind::StringRef, true, range, lines));
        }
    }
    imports.sort_by(|a, b| (a.span, a.kind, &a.specifier).cmp(&(b.span, b.kind, &b.specifier)));
    let mut effects = found.effects;
    effects.sort_by_key(|e| e.span);
    let mut seen = rustc_hash::FxHashSet::default();
    effects.retain(|e| seen.insert(format!("{}\0{:?}\0{:?}", e.operation, e.class, e.when)));
    let damage = parsed.errors().first().map(|error| Damage {
        cause: error.error.to_string(),
        line: lines.line(error.range().start().to_u32()),
        span: loads::span(error.range()),
    });
    Some(FileFacts {
        imports,
        exports: match declared {
            Declared::Whole => declare::exports(&walk, &submodules),
            Declared::Names | Declared::Nothing => Vec::new(),
        },
        declarations: match declared {
            Declared::Whole => {
                declare::declarations(&walk, &purity, &found.whole, text, parsed.tokens(), lines)
            }
            Declared::Names => declare::named(&walk),
            Declared::Nothing => Vec::new(),
        },
        effects,
        listed: (!found.offered.is_empty() && declare::lists_all(body, text))
            .then(|| listed.iter().map(|name| (*name).to_owned()).collect()),
        offered: found.offered,
        tests: cases::tests(body, lines),
        damage: damage.into_iter().collect(),
        clock: None,
    })
}

const DEPTH: &str = "depth";

fn depth_damage() -> Damage {
    Damage { cause: DEPTH.to_owned(), line: 1, span: Span::default() }
}

/// About how many brackets are open at once, at most: strings and comments are counted
/// too, and only every block's end is looked at.
fn open_brackets(bytes: &[u8]) -> usize {
    if bytes.len() <= MOST_BRACKETS {
        return 0;
    }
    let (mut open, mut most) = (0_usize, 0);
    for block in bytes.chunks(128) {
        let opened: u8 = block.iter().map(|b| u8::from(matches!(b, b'(' | b'[' | b'{'))).sum();
        let closed: u8 = block.iter().map(|b| u8::from(matches!(b, b')' | b']' | b'}'))).sum();
        open = (open + usize::from(opened)).saturating_sub(closed.into());
        most = most.max(open);
    }
    most
}
