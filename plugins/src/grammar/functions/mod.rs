//! The functions of a file, by its grammar, its queries and its `functions.toml`: sizes,
//! complexity, shapes.
//!
//! A file with a syntax error is not measured at all. What a compiler refuses beyond the
//! grammar is not looked for: the grammar is the only authority here.
//!
//! - **Functions** are what `definitions.scm` says. [`crate::measure`] says how they are
//!   called; a function of a class has the class before it.
//! - **Tests** (`tests.scm`) are left out with everything in them.
//! - **Statements** are what stands in a block, its last value included.
//! - **Cyclomatic** complexity counts branches, loops, cases that can fail to match, each
//!   logical operator, and what the file lists as one more way out.
//! - **Cognitive** complexity: the paper's rules.
//! - **Shapes** erase types where a declaration has them.
//!
//! What stands in the tokens of a macro is tokens: no function is seen there.

mod names;
mod tokens;
mod walk;

use owed_engine::facts::{Damage, Span};
use owed_engine::function::FunctionFacts;

use super::kinds::Kinds;
use super::{Grammar, Overflow, Parsed};

/// Brackets open at once in a file that is measured.
const DEEPEST: u32 = 1_000;

/// Measures one file.
pub(super) fn read(grammar: &Grammar, kinds: &Kinds, bytes: &[u8]) -> FunctionFacts {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            return damaged(text_before(bytes, error.valid_up_to()), error.valid_up_to(), "not UTF-8");
        }
    };
    if let Some(at) = memchr::memchr(0, bytes) {
        return damaged(text, at, "a NUL byte in the source");
    }
    let parsed = match grammar.parse(text) {
        Ok(parsed) => parsed,
        Err(refused) => return damaged(text, refused.at() as usize, refused.cause()),
    };
    let damage = parsed.damage();
    if !damage.is_empty() {
        return FunctionFacts { functions: Vec::new(), damage };
    }
    let lexemes = match tokens::lexemes(kinds, &parsed) {
        Ok(lexemes) => lexemes,
        Err(at) => {
            let cause = format!("depth: nested deeper than {DEEPEST} levels");
            return damaged(text, at as usize, &cause);
        }
    };
    match measured(grammar, kinds, &parsed, &lexemes) {
        Ok(facts) => facts,
        Err(Overflow) => damaged(text, 0, "too many definitions under way at once"),
    }
}

fn measured(
    grammar: &Grammar,
    kinds: &Kinds,
    parsed: &Parsed<'_>,
    lexemes: &[crate::measure::Lexeme],
) -> Result<FunctionFacts, Overflow> {
    let found = names::Found::of(grammar, kinds, parsed)?;
    let mut functions = walk::Walk::new(kinds, parsed, &found).functions();
    crate::measure::measure(&mut functions, lexemes.iter().copied(), parsed.text().as_bytes());
    Ok(FunctionFacts { functions, damage: Vec::new() })
}

fn text_before(bytes: &[u8], end: usize) -> &str {
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}

fn damaged(text: &str, at: usize, cause: &str) -> FunctionFacts {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let start = super::parse::offset(at);
    let damage = Damage {
        cause: cause.to_owned(),
        line: super::parse::offset(line),
        span: Span { start, end: start },
    };
    FunctionFacts { functions: Vec::new(), damage: vec![damage] }
}
