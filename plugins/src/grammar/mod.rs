//! Languages by data: a tree-sitter grammar and a folder of queries.
//!
//! [`Grammar::new`] compiles `queries/<language>/*.scm` against a grammar and refuses
//! whatever tree-sitter would ignore in silence: a capture outside the closed
//! vocabulary ([`SheetKind`], [`Role`], [`Part`]), a pattern without exactly one role, a predicate
//! that nobody acts on, a file that does not say what it is for. A [`Match`] is one pattern
//! at one place with all its parts: captures are never read one by one, because one node
//! can be the `@name` of several patterns.
//!
//! What it refuses to do: it resolves no import and judges no name; and it never takes a
//! tree with errors for a whole one ([`Parsed::damage`]).

pub(crate) mod facts;
mod functions;
mod kinds;
pub mod language;
mod parse;
pub mod partial;
pub mod sources;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::cell::RefCell;
use std::fmt;

use owed_engine::facts::Span;
use owed_engine::function::FunctionFacts;
use tree_sitter::{Language, Node, Query, QueryCursor, StreamingIterator};
use tree_sitter_language::LanguageFn;

pub(crate) use parse::offset;
pub use parse::{Event, Events, Parsed, Refused};
use sources::Folder;
use vocabulary::Capture;
pub use vocabulary::{Part, Role, SheetKind};

/// Matches that a query may have under way at once. Exceeding it loses some, so it is an
/// error ([`Overflow`]); tree-sitter allows no more.
const UNDER_WAY: u32 = 65_536;

thread_local! {
    static CURSOR: RefCell<QueryCursor> = RefCell::new({
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(UNDER_WAY);
        cursor
    });
}

/// A grammar and its queries, ready to be used from any thread.
pub struct Grammar {
    name: &'static str,
    language: Language,
    sheets: Vec<Sheet>,
    kinds: Option<kinds::Kinds>,
}

/// All files of one kind.
struct Sheet {
    kind: SheetKind,
    files: Vec<File>,
}

/// One file of queries.
struct File {
    /// The number of its first pattern among those of the sheet.
    first: usize,
    query: Query,
    captures: Vec<Capture>,
}

impl Sheet {
    /// How many patterns its files have.
    fn patterns(&self) -> usize {
        self.files.last().map_or(0, |file| file.first + file.query.pattern_count())
    }
}

/// Why a grammar and its queries do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarError {
    /// The file in question, or the grammar's name.
    pub file: String,
    /// What is wrong with it.
    pub cause: String,
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.cause)
    }
}

impl std::error::Error for GrammarError {}

/// More matches were under way than can be followed, so that some are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// One pattern at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'t> {
    /// Which pattern of its file, from 0.
    pub pattern: usize,
    /// What it is.
    pub role: Role,
    /// The outer node.
    pub node: Node<'t>,
    /// Its parts, in the order of the source.
    pub parts: Vec<(Part, Node<'t>)>,
}

impl<'t> Match<'t> {
    /// The first part of this kind.
    pub fn part(&self, part: Part) -> Option<Node<'t>> {
        self.all(part).next()
    }

    /// All parts of this kind, in the order of the source.
    pub fn all(&self, part: Part) -> impl Iterator<Item = Node<'t>> {
        self.parts.iter().filter(move |(kind, _)| *kind == part).map(|(_, node)| *node)
    }

    /// Where the outer node stands.
    pub fn span(&self) -> Span {
        parse::span(self.node)
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Grammar {
    /// Compiles the files of `folders`. Files of one stem (`definitions`) are read one after the
    /// other, as if they were one.
    ///
    /// # Errors
    /// The grammar is of a version that this tree-sitter cannot run, or a file breaks the
    /// rules of the module's header.
    pub fn new(
        name: &'static str,
        language: LanguageFn,
        folders: &[&Folder<'_>],
    ) -> Result<Self, GrammarError> {
        let language = Language::new(language);
        let versions = tree_sitter::MIN_COMPATIBLE_LANGUAGE_VERSION..=tree_sitter::LANGUAGE_VERSION;
        if !versions.contains(&language.abi_version()) {
            let cause = format!("version {} of the grammar is not in {versions:?}", language.abi_version());
            return Err(GrammarError { file: name.to_owned(), cause });
        }
        let mut sheets: Vec<Sheet> = Vec::new();
        for folder in folders {
            for (number, (stem, text)) in folder.queries.iter().enumerate() {
                let error =
                    |cause: String| GrammarError { file: format!("{}/{stem}.scm", folder.name), cause };
                let known = SheetKind::ALL.into_iter().find(|kind| kind.stem() == *stem);
                let kind = known.ok_or_else(|| error("no file of queries has this name".to_owned()))?;
                if folder.queries[..number].iter().any(|(before, _)| before == stem) {
                    return Err(error("given twice".to_owned()));
                }
                let query = Query::new(&language, text).map_err(|it| error(it.to_string()))?;
                let captures = vocabulary::check(kind, &query, text).map_err(error)?;
                match sheets.iter_mut().find(|sheet| sheet.kind == kind) {
                    Some(sheet) => sheet.files.push(File { first: sheet.patterns(), query, captures }),
                    None => sheets.push(Sheet { kind, files: vec![File { first: 0, query, captures }] }),
                }
            }
        }
        sheets.sort_by_key(|sheet| sheet.kind);
        Ok(Self { name, language, sheets, kinds: None })
    }

    /// The same with a `functions.toml`, so that functions can be measured.
    ///
    /// # Errors
    /// The text is not of its form, or names what the grammar does not have.
    pub fn with_functions(self, text: &str) -> Result<Self, GrammarError> {
        let error = |cause| GrammarError { file: format!("{}/functions.toml", self.name), cause };
        let kinds = kinds::Kinds::new(&self.language, text).map_err(error)?;
        Ok(Self { kinds: Some(kinds), ..self })
    }

    /// The functions of a file; `None` without a `functions.toml`.
    pub fn functions(&self, bytes: &[u8]) -> Option<FunctionFacts> {
        Some(functions::read(self, self.kinds.as_ref()?, bytes))
    }

    /// The language's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// tree-sitter's own value.
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// Parses one file.
    ///
    /// # Errors
    /// The text is too large, or needs too many steps. Syntax errors are none of these: they
    /// are in [`Parsed::damage`].
    pub fn parse<'s>(&self, text: &'s str) -> Result<Parsed<'s>, Refused> {
        parse::parse(&self.language, text)
    }

    /// All that the queries of `kind` find, in the order of the source, outer before inner, then in the
    /// order of the patterns. Without a file of this kind nothing is found.
    ///
    /// # Errors
    /// Some matches would be missing.
    pub fn matches<'t>(&self, kind: SheetKind, parsed: &'t Parsed<'_>) -> Result<Vec<Match<'t>>, Overflow> {
        let Some(sheet) = self.sheets.iter().find(|sheet| sheet.kind == kind) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for file in &sheet.files {
            run(&file.query, &file.captures, parsed, |number| file.first + number, &mut found)?;
        }
        sort(&mut found);
        Ok(found)
    }

    /// The kinds of files that it has, each with the number of patterns in it.
    pub fn sheets(&self) -> Vec<(SheetKind, usize)> {
        self.sheets.iter().map(|sheet| (sheet.kind, sheet.patterns())).collect()
    }
}

/// Adds all that a query finds; `number` gives the number of a pattern in its sheet.
fn run<'t>(
    query: &Query,
    captures: &[Capture],
    parsed: &'t Parsed<'_>,
    number: impl Fn(usize) -> usize,
    found: &mut Vec<Match<'t>>,
) -> Result<(), Overflow> {
    CURSOR.with_borrow_mut(|cursor| {
        let mut matches = cursor.matches(query, parsed.root(), parsed.text().as_bytes());
        while let Some(one) = matches.next() {
            let mut outer = None;
            let mut parts = Vec::new();
            for capture in one.captures() {
                match captures[capture.index as usize] {
                    Capture::Role(role) => outer = Some((role, capture.node)),
                    Capture::Part(part) => parts.push((part, capture.node)),
                    Capture::Helper => {}
                }
            }
            let (role, node) = outer.expect("each pattern was seen to have one role");
            parts.sort_by_key(|(part, node)| (node.start_byte(), node.end_byte(), *part));
            parts.dedup();
            found.push(Match { pattern: number(one.pattern_index), role, node, parts });
        }
        drop(matches);
        if cursor.did_exceed_match_limit() { Err(Overflow) } else { Ok(()) }
    })
}

/// Into the order of the source.
fn sort(found: &mut [Match<'_>]) {
    // Ties are patterns that differ in their parts only: their parts decide.
    let parts = |it: &Match<'_>| it.parts.iter().map(|(_, n)| n.start_byte()).collect::<Vec<_>>();
    found.sort_by(|a, b| {
        let key = |it: &Match<'_>| (it.node.start_byte(), std::cmp::Reverse(it.node.end_byte()), it.pattern);
        key(a).cmp(&key(b)).then_with(|| parts(a).cmp(&parts(b)))
    });
}
