//! The primary reader: one JavaScript or TypeScript file into facts, with oxc's parser
//! and scope analysis, in one walk.
//!
//! What the facts promise beyond the engine's contract:
//!
//! - **`<module>` and `<links>`.** Statements with effects are the pseudo-declaration
//!   `<module>`. What the import and re-export statements say is a second one,
//!   `<links>`, to which `<module>` refers: a changed specifier changes its digest.
//! - **Names of loads.** What `import("./a")`, `require("./a")`, a mock, a glob or a
//!   script takes from its module is called by that text (`import("./a")`,
//!   `import("./a").b`) in [`Names`](owed_engine::facts::Names) and in references, so
//!   that a load inside a function is reached only with the function.
//! - **Namespaces.** `import * as ns` of which only static members are read is a list
//!   of names with the locals `ns.a`; declarations refer to `ns.a`. Once it escapes it
//!   is a namespace.
//! - **Exports** name a binding of the file, an imported one, `default` (an anonymous
//!   default export) or `exports.a` (CommonJS). Re-exports from other modules are
//!   imports only. `export * from` has the names `Namespace("*")`.
//! - **Digests** also cover the export names of a declaration and what its imported
//!   names mean.
//! - **Effects** of a declaration that has effects at import happen at import.
//!
//! It refuses to guess: what the parser rejects is damage, with imports from a lexical
//! scan that errs towards more.

mod acts;
mod bindings;
pub(super) mod blocks;
mod cases;
mod class;
mod classes;
mod clocks;
mod common;
pub(super) mod depth;
mod digest;
mod effects;
mod evaluate;
mod finish;
mod globs;
mod held;
mod imports;
mod lexical;
pub(super) mod lines;
mod loads;
mod locale;
mod loopback;
mod made;
mod members;
mod mocks;
mod operations;
mod own;
pub(super) mod parse;
mod places;
mod programs;
mod purity;
mod references;
mod rows;
mod snapshots;
mod spaces;
mod statements;
mod table;
mod taken;
#[cfg(test)]
mod tests;
mod units;
mod usage;
mod value;
mod walk;
mod watched;

use std::cell::RefCell;

use owed_engine::facts::{Damage, FileFacts, Span};
use owed_engine::language::SourceFile;
use owed_engine::path;
use oxc_allocator::Allocator;
use oxc_semantic::SemanticBuilder;

use crate::tolerant::{self, Dialect};
use lines::Lines;
use walk::Walk;

/// Extensions that are read as they are.
const SCRIPTS: &[&str] = &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];

/// An arena that grew beyond this is given back after the file.
const ARENA: usize = 64 << 20;

/// Whether the file at `path` is read here.
pub fn reads(path: &str) -> bool {
    let extension = path::extension(path);
    SCRIPTS.contains(&extension) || blocks::is_template(extension)
}

/// Changes whenever the facts of equal bytes may change: with this number, or with the
/// effect table.
pub fn version() -> &'static str {
    static VERSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    VERSION.get_or_init(|| format!("javascript/7+{:016x}", table::FINGERPRINT))
}

/// What to do about an operation of the effect table, as answers show it, in one line.
pub fn fix(operation: &str) -> Option<&'static str> {
    table::table().fix(operation)
}

/// Whether the effect table has rows for a package, so that its own code need not be read.
pub fn models(package: &str) -> bool {
    table::table().module(package).is_some()
}

/// Every operation of the effect table as answers show it, and whether all its uses are
/// pure; sorted.
pub fn operations() -> Vec<(String, bool)> {
    table::table().operations()
}

/// Reads one file.
pub fn read(file: SourceFile<'_>) -> FileFacts {
    read_as(file, true)
}

/// The same without declarations: no tokens are kept, and nothing is digested.
pub fn read_without_declarations(file: SourceFile<'_>) -> FileFacts {
    read_as(file, false)
}

fn read_as(file: SourceFile<'_>, digests: bool) -> FileFacts {
    let (bytes, offset) = match file.bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => (rest, 3),
        None => (file.bytes, 0),
    };
    let mut facts = match std::str::from_utf8(bytes) {
        Ok(text) => read_text(file.path, text, digests),
        Err(error) => {
            let start = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            damaged("not valid UTF-8", Span { start, end: start })
        }
    };
    if offset > 0 {
        shift(&mut facts, offset);
    }
    facts
}

fn read_text(path: &str, text: &str, digests: bool) -> FileFacts {
    let extension = path::extension(path);
    if blocks::is_template(extension) {
        return blocks::read(path, extension, text);
    }
    let name = path::basename(path);
    read_script(name, extension, is_declaration_file(name), text, false, digests)
}

/// Reads a text that is a script as a whole. `whole` says that code outside it uses
/// its bindings, `digests` that declarations are wanted.
fn read_script(
    name: &str,
    extension: &str,
    declarations: bool,
    text: &str,
    whole: bool,
    digests: bool,
) -> FileFacts {
    let work =
        || with_arena(|arena| parse_and_walk(arena, name, extension, declarations, text, whole, digests));
    depth::with_room(text, work).unwrap_or_else(|| {
        let mut facts = lexical::read(text);
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        facts.damage = vec![Damage {
            cause: format!("nested deeper than {} levels", depth::LIMIT),
            line: 1,
            span: Span { start: 0, end },
        }];
        facts
    })
}

fn parse_and_walk(
    arena: &Allocator,
    name: &str,
    extension: &str,
    declarations: bool,
    text: &str,
    whole: bool,
    digests: bool,
) -> FileFacts {
    let want = parse::Want { tokens: digests, strict: false };
    let parsed = parse::parse(arena, text, extension, declarations, want);
    let lines = Lines::new(text);
    let mut facts = if parsed.answer.panicked {
        FileFacts::default()
    } else {
        let program = arena.alloc(parsed.answer.program);
        let semantic = SemanticBuilder::new().with_stats(parse::stats(text)).build(program).semantic;
        let scoping = semantic.into_scoping();
        let mut walk = Walk::new(text, name, &scoping, &lines);
        walk.declarations = declarations;
        walk.whole = whole;
        walk.program(program);
        walk.exported_aliases();
        walk.finish(digests.then_some(&*parsed.answer.tokens))
    };
    references::add(&mut facts, text, &lines);
    facts.damage = parsed
        .faults
        .into_iter()
        .map(|fault| Damage {
            cause: fault.cause,
            line: lines.line(fault.start),
            span: Span { start: fault.start, end: fault.end },
        })
        .collect();
    if !facts.damage.is_empty() {
        let dialect = Dialect::of_extension(extension).unwrap_or(Dialect::JavaScript);
        tolerant::recover(&mut facts, dialect, text, digests);
        lexical::complete(&mut facts, text);
    }
    facts.damage.sort_by_key(|damage| damage.span);
    facts
}

/// One arena a thread: the memory of the last file serves the next.
pub(super) fn with_arena<T>(work: impl FnOnce(&Allocator) -> T) -> T {
    thread_local! {
        static SPARE: RefCell<Option<Allocator>> = const { RefCell::new(None) };
    }
    let mut arena = SPARE.with(|spare| spare.borrow_mut().take()).unwrap_or_default();
    let result = work(&arena);
    arena.reset();
    if arena.capacity() <= ARENA {
        SPARE.with(|spare| *spare.borrow_mut() = Some(arena));
    }
    result
}

/// `x.d.ts`, `x.d.mts`, `x.d.css.ts`.
pub(super) fn is_declaration_file(name: &str) -> bool {
    name.ends_with(".d.mts")
        || name.ends_with(".d.cts")
        || (name.ends_with(".ts") && name.rfind(".d.").is_some_and(|at| at > 0))
}

fn damaged(cause: &str, span: Span) -> FileFacts {
    FileFacts { damage: vec![Damage { cause: cause.to_owned(), line: 1, span }], ..FileFacts::default() }
}

/// Moves every span by the bytes that were taken off the front.
fn shift(facts: &mut FileFacts, by: u32) {
    let spans = (facts.imports.iter_mut().map(|it| &mut it.span))
        .chain(facts.declarations.iter_mut().map(|it| &mut it.span))
        .chain(facts.effects.iter_mut().map(|it| &mut it.span))
        .chain(facts.tests.iter_mut().map(|it| &mut it.span))
        .chain(facts.damage.iter_mut().map(|it| &mut it.span));
    for span in spans {
        span.start += by;
        span.end += by;
    }
}
