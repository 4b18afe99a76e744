//! The functions of a Python file: sizes, complexity, shapes.
//!
//! A file is measured whole or not at all. What CPython refuses when it compiles is damage,
//! also where the grammar alone would allow it (`return` outside a function, `nonlocal`
//! without a binding, a parameter named twice), and there are no functions then.
//!
//! - **Functions** are `def`, `async def` and `lambda`. [`crate::measure`] says how they are
//!   called.
//! - **Statements** are all but a docstring; an `elif` is one, an `else` is none. A `lambda`
//!   has none.
//! - **Cyclomatic** complexity counts `if`, `elif`, loops, `except`, conditional
//!   expressions, each `and` and `or`, each `for` and `if` of a comprehension, and each
//!   `case` that can fail to match; neither `else`, `finally`, `with` nor `assert`.
//! - **Cognitive** complexity: the paper's rules; the `else` of a loop is a break in the flow
//!   like that of an `if`; `try`, `with` and comprehensions cost nothing. A function that
//!   only defines one and returns is a decorator's and does not nest it (the paper's note on
//!   Python).
//! - **Shapes** erase annotations, type parameters and docstrings.

mod context;
mod depth;
mod faults;
mod lexemes;
mod scopes;
mod shape;
mod walk;
mod words;

use owed_engine::facts::{Damage, Span};
use owed_engine::function::{FunctionFacts, Limits};
use owed_engine::language::SourceFile;
use owed_engine::path;
use ruff_python_ast::{ModModule, PythonVersion};
use ruff_python_parser::{Mode, ParseOptions, Parsed};
use ruff_text_size::Ranged;

use super::read::text::{self, Lines, offset};

/// Measures one file.
pub(super) fn read(file: SourceFile<'_>, limits: &Limits) -> FunctionFacts {
    let decoded = text::decode(file.bytes);
    let lines = Lines::new(&decoded.text);
    if let Some((cause, at)) = decoded.refused {
        let at = offset(at);
        return damaged(cause, lines.line(at), Span { start: at, end: at.saturating_add(1) });
    }
    if let Some(at) = memchr::memchr(0, decoded.text.as_bytes()) {
        let at = offset(at);
        return damaged(
            "a NUL byte in the source".to_owned(),
            lines.line(at),
            Span { start: at, end: at + 1 },
        );
    }
    if let Some((cause, at)) = depth::before_parsing(decoded.text.as_bytes(), limits.depth) {
        return damaged(cause, lines.line(at), Span { start: at, end: at });
    }
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest_preview());
    let parsed = ruff_python_parser::parse_unchecked(&decoded.text, options)
        .try_into_module()
        .expect("module mode gives a module");
    let stub = path::extension(file.path) == "pyi";
    // Trees are walked and freed recursively.
    depth::with_room(parsed, limits.depth, |parsed| measured(parsed, &decoded.text, &lines, stub, limits))
}

fn measured(
    parsed: &Parsed<ModModule>,
    text: &str,
    lines: &Lines<'_>,
    stub: bool,
    limits: &Limits,
) -> Option<FunctionFacts> {
    if !parsed.errors().is_empty() {
        let found = parsed.errors().iter().map(|error| (error.error.to_string(), error.range()));
        return Some(faults::facts(found.collect(), lines));
    }
    let tokens = parsed.tokens();
    if let Some((cause, at)) = depth::of_tokens(tokens, limits.depth) {
        return Some(damaged(cause, lines.line(at), Span { start: at, end: at + 1 }));
    }
    let scopes = scopes::Scopes::of(parsed.syntax(), limits.work)?;
    let mut walk = walk::Walk::new(text, tokens, &scopes, lines, stub);
    walk.module(&parsed.syntax().body);
    if let Some(at) = walk.exhausted() {
        let cause = format!("{}its names lie in too many scopes", Limits::WORK_CAUSE);
        return Some(damaged(cause, lines.line(at), Span { start: at, end: at + 1 }));
    }
    let errors = walk.faults();
    if !errors.is_empty() {
        return Some(faults::facts(errors, lines));
    }
    let (mut functions, docstrings) = walk.finish();
    crate::measure::measure(&mut functions, lexemes::lexemes(tokens, &docstrings, text), text.as_bytes());
    Some(FunctionFacts { functions, damage: Vec::new() })
}

fn damaged(cause: String, line: u32, span: Span) -> FunctionFacts {
    FunctionFacts { functions: Vec::new(), damage: vec![Damage { cause, line, span }] }
}
