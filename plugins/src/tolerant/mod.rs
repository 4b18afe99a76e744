//! The tolerant reader: the second reader of JavaScript, TypeScript and Python, which keeps
//! going where the first one stops. It reads a concrete syntax tree (tree-sitter) with the
//! queries of `queries/<language>/*.scm`, and shares nothing with the first readers: neither
//! parser nor walk nor the rules by which tokens are counted.
//!
//! It is there for two things:
//!
//! - **recovery** ([`recover`]): a file that the first reader rejects still has imports, tests
//!   and functions, as far as they can be seen around what is broken. They are *possible*
//!   facts of a file whose damage stays;
//! - **agreement** ([`read`]): on files that both read, what is imported, where functions are
//!   and how many tokens they have must be the same. A fact that decides a skip is read twice.
//!
//! It knows no scopes: a local function called `require` is `require` here, a specifier that is
//! put together is not evaluated, and effects are not looked for at all. So nothing here may
//! ever be taken for the whole of a file.

mod cases;
mod definitions;
mod imports;
mod lines;
mod matches;
mod recovery;
mod strings;
#[cfg(test)]
mod tests;
mod tokens;

use owed_engine::facts::{Damage, Import, Span, Test};
use owed_engine::path;

pub(crate) use recovery::recover;

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// TypeScript without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// JavaScript, with JSX.
    JavaScript,
    /// Python 3.
    Python,
}

impl Dialect {
    /// The dialect of a file by its name.
    pub fn of(path: &str) -> Option<Self> {
        Self::of_extension(path::extension(path))
    }

    /// The dialect of files with this extension.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "js" | "jsx" | "mjs" | "cjs" => Some(Self::JavaScript),
            "py" | "pyi" => Some(Self::Python),
            _ => None,
        }
    }
}

/// What a function is called and where it is, with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned {
    /// Qualified like [`owed_engine::function::Function::name`].
    pub name: String,
    /// From its first token (after decorators) to its last.
    pub span: Span,
    /// 1-based line of its first token.
    pub line: u32,
    /// Whether it stands at the top level of the file, by the name it has there.
    pub top: Option<String>,
    /// Tokens (`tokens/1`) without those of nested functions.
    pub own_tokens: u32,
    /// Tokens (`tokens/1`) with those of nested functions.
    pub total_tokens: u32,
}

/// A class at the top level of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Where.
    pub span: Span,
    /// 1-based line of its first token.
    pub line: u32,
}

/// What the tolerant reader sees in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Import statements, re-exports, and calls that load a module by its name; in order.
    /// Nothing is said about modes or what may be absent.
    pub imports: Vec<Import>,
    /// Functions with a body, in order, outer before inner.
    pub functions: Vec<Spanned>,
    /// Classes at the top level.
    pub classes: Vec<Class>,
    /// Test cases and suites, in order.
    pub tests: Vec<Test>,
    /// Where the grammar had to skip or make up something; in order.
    pub damage: Vec<Damage>,
}

/// Reads a text; `None` when it is too large or too deep, or would take too long.
pub fn read(dialect: Dialect, text: &str) -> Option<Read> {
    let text = &lines::as_grammars_end_them(dialect, text);
    let syntax = matches::Syntax::of(dialect, text)?;
    let lines = lines::Lines::new(text, dialect != Dialect::Python);
    let (functions, classes) = definitions::read(&syntax, &lines)?;
    Some(Read {
        imports: imports::read(&syntax, &lines)?,
        functions,
        classes,
        tests: cases::read(&syntax, &lines)?,
        damage: syntax.parsed.damage(),
    })
}
