//! The functions of a JavaScript or TypeScript file: sizes, complexity, shapes.
//!
//! A file is measured whole or not at all. What its parser or the early errors of the
//! language refuse (a `let` declared twice, `break` outside a loop, an undeclared
//! `#private`, `return` outside a function where no CommonJS wrapper can be around it) is
//! damage, and there are no functions then.
//!
//! - **Functions** are what has a body: declarations, expressions, arrows, methods,
//!   accessors and constructors. Overload signatures, abstract and ambient members are none.
//!   [`crate::measure`] says how they are called.
//! - **Statements** are all but blocks, labels, empty statements, directives and types. A
//!   body that is an expression has none.
//! - **Cyclomatic** complexity counts `if`, loops, `case`, `catch`, `?:`, `&&`, `||`, `??`
//!   and their assignments; neither `?.` nor default values, `default:` or `else`.
//! - **Cognitive** complexity: the paper's rules; `??`, `?.` and `||=` are shorthands and
//!   cost nothing, a `&&` that only chooses a JSX child neither. A function of declarations
//!   alone stands in for a class and does not nest what is in it (the paper's note on
//!   JavaScript).
//! - **Shapes** erase types, declarations of types and modifiers; parentheses are no nodes;
//!   a branch without braces is a block of one statement; `else if` is no block.
//! - In `.vue`, `.svelte` and `.astro` files the scripts are measured, not the markup.

mod exports;
mod faults;
mod lexemes;
mod reach;
mod shape;
mod types;
mod walk;
mod words;

use owed_engine::facts::{Damage, Span};
use owed_engine::function::{FunctionFacts, Limits};
use owed_engine::language::SourceFile;
use owed_engine::path;
use oxc_allocator::Allocator;

use super::read::{blocks, depth, lines::Lines, parse};

/// Measures one file.
pub(super) fn read(file: SourceFile<'_>, limits: &Limits) -> FunctionFacts {
    let (bytes, offset) = match file.bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => (rest, 3),
        None => (file.bytes, 0),
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let line = Lines::new(valid).line(at);
            return damaged("not valid UTF-8", line, Span { start: at + offset, end: at + offset });
        }
    };
    let mut facts = read_text(file.path, text, limits);
    for span in facts.functions.iter_mut().map(|it| &mut it.span) {
        span.start += offset;
        span.end += offset;
    }
    for span in facts.damage.iter_mut().map(|it| &mut it.span) {
        span.start += offset;
        span.end += offset;
    }
    facts
}

fn read_text(path: &str, text: &str, limits: &Limits) -> FunctionFacts {
    let extension = path::extension(path);
    if blocks::is_template(extension) {
        let (script, jsx) = blocks::script(extension, text);
        let dialect = if jsx { "tsx" } else { "ts" };
        return measured(&script, dialect, false, true, limits);
    }
    let declarations = super::read::is_declaration_file(path::basename(path));
    measured(text, extension, declarations, false, limits)
}

fn measured(
    text: &str,
    extension: &str,
    declarations: bool,
    template: bool,
    limits: &Limits,
) -> FunctionFacts {
    if let Some(at) = too_deep(text.as_bytes(), limits.depth) {
        // Not judged by the tokens, which only a parser knows, but there is no program
        // with so many brackets even if half of them were in strings.
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        return damaged(&depth_cause(limits), Lines::new(text).line(at), Span { start: at, end: at });
    }
    let work =
        || super::read::with_arena(|arena| parsed(arena, text, extension, declarations, template, limits));
    depth::with_room(text, work)
        .unwrap_or_else(|| damaged(&depth_cause(limits), 1, Span { start: 0, end: 0 }))
}

fn parsed(
    arena: &Allocator,
    text: &str,
    extension: &str,
    declarations: bool,
    template: bool,
    limits: &Limits,
) -> FunctionFacts {
    let parsed =
        parse::parse(arena, text, extension, declarations, parse::Want { tokens: true, strict: true });
    let lines = Lines::new(text);
    if !parsed.faults.is_empty() {
        return faults::facts(parsed.faults, &lines);
    }
    if let Some(at) = lexemes::deeper_than(&parsed.answer.tokens, limits.depth) {
        return damaged(&depth_cause(limits), lines.line(at), Span { start: at, end: at + 1 });
    }
    let program = arena.alloc(parsed.answer.program);
    if !parsed.plain.is_empty() && !types::used(program) {
        return faults::facts(parsed.plain, &lines);
    }
    if let Some(at) = reach::exhausted(program, text, limits.work) {
        let cause = format!("{}its names lie in too many scopes", Limits::WORK_CAUSE);
        return damaged(&cause, lines.line(at), Span { start: at, end: at + 1 });
    }
    let (scoping, mut early) = faults::early(program, text, template);
    if !template {
        early.extend(exports::faults(program, &parsed.answer.tokens));
        early.extend(types::faults(program, &parsed.answer.tokens));
    }
    if !early.is_empty() {
        return faults::facts(early, &lines);
    }
    let mut walk = walk::Walk::new(text, &parsed.answer.tokens, &scoping, &lines);
    walk.program(program);
    if !walk.faults.is_empty() {
        return faults::facts(walk.faults, &lines);
    }
    let lone_return = walk.lone_return;
    if let Some(span) = lone_return
        && !template
        && !faults::may_be_wrapped(extension, program)
    {
        return faults::facts(vec![faults::outside_function(span)], &lines);
    }
    let mut functions = walk.finish();
    let lexemes = lexemes::lexemes(&parsed.answer.tokens, text);
    crate::measure::measure(&mut functions, lexemes, text.as_bytes());
    FunctionFacts { functions, damage: Vec::new() }
}

fn depth_cause(limits: &Limits) -> String {
    format!("{}nested deeper than {} levels", Limits::DEPTH_CAUSE, limits.depth)
}

fn damaged(cause: &str, line: u32, span: Span) -> FunctionFacts {
    FunctionFacts { functions: Vec::new(), damage: vec![Damage { cause: cause.to_owned(), line, span }] }
}

/// Where many times more brackets are open than any measured file has, so that parsing it
/// would only cost time and memory. Brackets in strings and comments count too.
fn too_deep(bytes: &[u8], limit: u32) -> Option<usize> {
    let far = 50 * i64::from(limit.max(Limits::DEPTH));
    if (bytes.len() as i64) < far {
        return None;
    }
    let mut open = 0_i64;
    for (at, block) in bytes.chunks(128).enumerate() {
        let mut change = 0_i32;
        for byte in block {
            change += i32::from(matches!(byte, b'(' | b'[' | b'{'));
            change -= i32::from(matches!(byte, b')' | b']' | b'}'));
        }
        open = (open + i64::from(change)).max(0);
        if open > far {
            return Some(at * 128);
        }
    }
    None
}
