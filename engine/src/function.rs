//! What a reader says about the functions of one file: sizes in lexical tokens, complexity,
//! and the shape that repeated implementations are found by.
//!
//! A value of (bytes, reader version) like [`crate::facts`], but read only when a check asks
//! for it: selection never pays for it. Nothing here compares two functions; that is the
//! checks' work.

use crate::facts::{Damage, Span};

/// How far a reader of functions goes into one file.
///
/// Both are counts of what the file itself holds, never of time: the same bytes give the same
/// answer on a busy machine and on an idle one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Brackets (or levels of indentation) that may be open at once.
    pub depth: u32,
    /// Steps that may be spent on what is not linear in the size of the file: to find what a
    /// name means, each scope around it is one step.
    pub work: u64,
}

impl Limits {
    /// Nesting by default. People stop at some tens of levels, generators of parsers and
    /// bundlers at some hundreds.
    pub const DEPTH: u32 = 1_000;
    /// Depths that can be asked for. Readers recurse with the nesting, on a stack that grows
    /// with it up to a bound.
    pub const DEPTHS: std::ops::RangeInclusive<u32> = 8..=10_000;
    /// Steps by default: some seconds of one core. The largest file that is read by default,
    /// 5 MiB of names in ten scopes, needs a twentieth.
    pub const WORK: u64 = 1 << 28;

    /// How a [`Damage::cause`] starts that is about [`Limits::depth`].
    pub const DEPTH_CAUSE: &str = "depth: ";
    /// How a [`Damage::cause`] starts that is about [`Limits::work`].
    pub const WORK_CAUSE: &str = "timeout: ";
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEPTH, work: Self::WORK }
    }
}

/// The functions of one file, or why they are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionFacts {
    /// In order of their first byte, outer before inner.
    pub functions: Vec<Function>,
    /// Not empty means that the file is NOT CHECKED as a whole and `functions` is empty.
    pub damage: Vec<Damage>,
}

/// How a function is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKind {
    /// A named function declaration or a function expression.
    Function,
    /// A member of a class, or a method of an object literal.
    Method,
    /// `=>`.
    Arrow,
    /// `get` and `set`; Python's properties are methods.
    Accessor,
    /// A constructor (`constructor`, `__init__` is a method).
    Constructor,
    /// Python's `lambda`.
    Lambda,
    /// Rust's closures, Go's function literals.
    Closure,
}

impl FunctionKind {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Arrow => "arrow",
            Self::Accessor => "accessor",
            Self::Constructor => "constructor",
            Self::Lambda => "lambda",
            Self::Closure => "closure",
        }
    }
}

/// One function with a body. Overload signatures and abstract members are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Qualified, as a person would say it: `Cart.total`, `onClick@handlers`,
    /// `<anonymous>#2 in load`.
    pub name: String,
    /// How it is written.
    pub kind: FunctionKind,
    /// From its own first token (after decorators, `export` and `default`) to its last.
    pub span: Span,
    /// 1-based line of the first token, by the language's own rule of lines.
    pub start_line: u32,
    /// 1-based line of the last token.
    pub end_line: u32,
    /// Tokens (`tokens/1`) without those of nested functions.
    pub own_tokens: u32,
    /// Tokens (`tokens/1`) with those of nested functions.
    pub total_tokens: u32,
    /// Cyclomatic complexity: 1 + decisions, nested functions excluded.
    pub cyclomatic: u32,
    /// Cognitive complexity (G. A. Campbell, SonarSource, version 1.7).
    pub cognitive: u32,
    /// Statements anywhere in the body, docstring excluded.
    pub statements: u32,
    /// Whether a function, method or class with a block body lies inside.
    pub has_nested: bool,
    /// Whether the body only hands on to one call (`return f(a, b)`).
    pub delegate: bool,
    /// Index in [`FunctionFacts::functions`] of the function around it.
    pub parent: Option<u32>,
    /// First 16 bytes of the BLAKE3 hash of its tokens as written, comments and white space
    /// left out: equal means copied verbatim.
    pub digest: [u8; 16],
    /// The same without trailing commas, optional semicolons and optional parentheses: equal
    /// means that at most the formatting differs.
    pub format_digest: [u8; 16],
    /// What repeated implementations are found by.
    pub shape: Shape,
}

/// A function's normalised body: a sequence of symbols in the order of the syntax tree's
/// pre-order walk, types erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The walk. Equal sequences after renumbering locals = the same implementation.
    pub symbols: Vec<Symbol>,
    /// Statements, outer before inner, in order.
    pub statements: Vec<Statement>,
    /// The literals in order of their [`Symbol::Literal`] symbols, as written.
    pub literals: Vec<String>,
}

/// One step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A node kind, operator, keyword, callee or member name, or a name bound outside the
    /// function: the hash of what it is. Two different things have different hashes.
    Fixed(u64),
    /// The callee or member name of a call; like `Fixed`, told apart so that advice may
    /// blind it.
    Callee(u64),
    /// A name bound in the function (parameters included): a number of its binding, unique in
    /// the function, in no particular order. Compare after renumbering by first occurrence.
    Local(u32),
    /// A literal; `0` string, `1` number, `2` regular expression, `3` template or f-string
    /// part, `4` boolean or null. The text is in [`Shape::literals`].
    Literal(u8),
    /// The end of a node with a variable number of children.
    End,
}

/// One statement of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its first symbol in [`Shape::symbols`].
    pub start: u32,
    /// One past its last symbol.
    pub end: u32,
    /// Which block it stands in: statements with equal `block` are siblings in order.
    pub block: u32,
    /// 1-based first and last line.
    pub lines: (u32, u32),
}
