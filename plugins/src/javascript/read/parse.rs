//! From a text to a syntax tree: which dialects a file name allows, in which order
//! they are tried, and what remains wrong when none fits.
//!
//! A file that one dialect rejects and another accepts is not damaged: `.js` alone
//! does not say whether it holds a module, a script, a CommonJS body with `return`
//! at the top, JSX, or type annotations.

use oxc_allocator::Allocator;
use oxc_diagnostics::{Diagnostics, OxcDiagnostic, Severity};
use oxc_parser::config::TokensParserConfig;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

/// A syntax error as the parser words it.
#[derive(Clone, Debug)]
pub(in crate::javascript) struct Fault {
    /// What it said.
    pub(in crate::javascript) cause: String,
    /// Where, in bytes of the text.
    pub(in crate::javascript) start: u32,
    /// End of the place.
    pub(in crate::javascript) end: u32,
}

/// A parsed text.
pub(in crate::javascript) struct Parsed<'a> {
    /// The parser's answer for the dialect that fits best.
    pub(in crate::javascript) answer: ParserReturn<'a>,
    /// Its errors; empty when the dialect fits.
    pub(in crate::javascript) faults: Vec<Fault>,
    /// The errors of plain JavaScript when only TypeScript fits a file of JavaScript.
    pub(in crate::javascript) plain: Vec<Fault>,
}

/// What is wanted besides the tree.
#[derive(Clone, Copy, Debug)]
pub(in crate::javascript) struct Want {
    /// The list of tokens.
    pub(in crate::javascript) tokens: bool,
    /// That regular expressions are read, too.
    pub(in crate::javascript) strict: bool,
}

/// Parses `text` in the dialects that `extension` allows (`ts`, `jsx`, …).
/// `declarations` says that it is a declaration file.
pub(in crate::javascript) fn parse<'a>(
    allocator: &'a Allocator,
    text: &'a str,
    extension: &str,
    declarations: bool,
    want: Want,
) -> Parsed<'a> {
    let mut best: Option<Parsed<'a>> = None;
    for (dialect, loose) in dialects(extension, declarations) {
        let options = ParseOptions {
            preserve_parens: false,
            allow_return_outside_function: loose,
            parse_regular_expression: want.strict,
            ..<_>::default()
        };
        let parser = || Parser::new(allocator, text, dialect).with_options(options);
        // Debug builds of the parser assert what does not hold of its list of tokens after some
        // errors; it finds the errors without the list.
        let plain = if cfg!(debug_assertions) || !want.tokens { Some(parser().parse()) } else { None };
        let answer =
            match plain.filter(|plain| !want.tokens || plain.panicked || !plain.diagnostics.is_empty()) {
                Some(refused) => refused,
                None => parser().with_config(TokensParserConfig).parse(),
            };
        if !answer.panicked && answer.diagnostics.is_empty() {
            let plain = match best {
                Some(best) if dialect.is_typescript() && !best.answer.program.source_type.is_typescript() => {
                    best.faults
                }
                _ => Vec::new(),
            };
            return Parsed { answer, faults: Vec::new(), plain };
        }
        let parsed = Parsed { faults: faults(&answer, text), answer, plain: Vec::new() };
        let better = match &best {
            None => true,
            Some(old) => {
                (parsed.answer.panicked, parsed.faults.len()) < (old.answer.panicked, old.faults.len())
            }
        };
        if better {
            best = Some(parsed);
        }
    }
    best.expect("every extension allows at least one dialect")
}

fn dialects(extension: &str, declarations: bool) -> impl Iterator<Item = (SourceType, bool)> {
    let unknown = SourceType::unambiguous();
    let list: Vec<(SourceType, bool)> = match extension {
        _ if declarations => vec![(SourceType::d_ts(), false)],
        "ts" => {
            let base = unknown.with_typescript(true);
            vec![(base, false), (base.with_module(true), false), (base.with_script(true), true)]
        }
        // The front matter of a page is the body of a function with imports: a `return` in it
        // answers the request.
        "astro" => {
            let base = unknown.with_typescript(true);
            vec![(base, true), (base.with_module(true), true), (base.with_jsx(true), true)]
        }
        "mts" => vec![(SourceType::ts(), false)],
        "cts" => {
            let base = SourceType::ts();
            vec![(base.with_commonjs(true), true), (base.with_module(true), false)]
        }
        "tsx" => {
            let base = unknown.with_typescript(true).with_jsx(true);
            vec![(base, false), (base.with_module(true), false), (base.with_script(true), true)]
        }
        "mjs" => vec![(SourceType::mjs(), false), (SourceType::jsx(), false), (SourceType::tsx(), false)],
        _ => {
            let base = unknown.with_jsx(true);
            let mut list = vec![
                (base, false),
                (base.with_module(true), false),
                (base.with_commonjs(true), true),
                (base.with_script(true), true),
                (unknown.with_typescript(true).with_jsx(true), true),
            ];
            if extension == "cjs" {
                list.swap(0, 2);
            }
            list
        }
    };
    list.into_iter()
}

fn faults(answer: &ParserReturn<'_>, text: &str) -> Vec<Fault> {
    let mut faults = found(&answer.diagnostics, text);
    if faults.is_empty() {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        faults.push(Fault { cause: "the parser gave up".to_owned(), start: 0, end });
    }
    faults
}

/// The errors among `diagnostics`.
pub(in crate::javascript) fn found(diagnostics: &Diagnostics, text: &str) -> Vec<Fault> {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let fault = |diagnostic: &OxcDiagnostic| {
        let place = diagnostic.labels.first();
        let start = place.map_or(0, |label| label.offset()).min(end);
        let length = place.map_or(0, |label| label.len());
        Fault { cause: diagnostic.message.to_string(), start, end: start.saturating_add(length).min(end) }
    };
    errors.map(fault).collect()
}

/// Room for the scope analysis of `text`, guessed from its size. Too little only costs
/// time; counting would cost a walk.
pub(in crate::javascript) fn stats(text: &str) -> oxc_semantic::Stats {
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    oxc_semantic::Stats::new(bytes / 8 + 16, bytes / 64 + 16, bytes / 48 + 16, bytes / 16 + 16)
}
