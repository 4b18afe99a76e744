//! The answers as they are printed in JSON: the contract with scripts and agents.
//!
//! The engine's types carry no serialisation; these do, and the JSON Schemas under
//! `cli/schemas/` are generated from them. Adding a field is a minor change, anything
//! else asks for a new major in the `schema` field.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod graph;
pub(crate) mod matrix;
pub(crate) mod opacity;
pub(crate) mod plan;
pub(crate) mod receipts;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod why;

use owed_engine::problem::{NotChecked, Problem};
use owed_engine::selection::Opacity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// The revisions that were compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Base {
    /// As asked for.
    pub rev: String,
    /// The commit it names.
    pub commit: String,
    /// Where the comparison starts.
    pub merge_base: String,
}

/// A file that was not read or not parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NotCheckedFile {
    /// Project-relative path.
    pub path: String,
    /// Why.
    #[schemars(schema_with = "unchecked_words")]
    pub reason: &'static str,
    /// 1-based line of the first error, where one exists.
    pub line: Option<u32>,
}

impl From<NotChecked> for NotCheckedFile {
    fn from(file: NotChecked) -> Self {
        Self { path: file.path, reason: file.reason.word(), line: file.line }
    }
}

/// Something that was not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct ProblemSeen {
    /// A stable kebab-case word.
    pub code: String,
    /// Project-relative path of the file it was seen in; empty when there is none.
    pub path: String,
    /// 1-based line, where one exists.
    pub line: Option<u32>,
    /// One sentence for a person.
    pub detail: String,
}

impl From<Problem> for ProblemSeen {
    fn from(problem: Problem) -> Self {
        Self { code: problem.code, path: problem.path, line: problem.line, detail: problem.detail }
    }
}

/// Converts each of a list.
pub(crate) fn all<A, B: From<A>>(list: Vec<A>) -> Vec<B> {
    list.into_iter().map(B::from).collect()
}

/// The schema of a text that is one of `words`.
fn one_of(words: &[&str]) -> Schema {
    json_schema!({ "type": "string", "enum": words })
}

fn unchecked_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&[
        "unparsable",
        "too-large",
        "binary",
        "not-utf8",
        "unreadable",
        "depth",
        "timeout",
        "unsupported-language",
    ])
}

fn opacity_words(_: &mut SchemaGenerator) -> Schema {
    one_of(
        &[
            Opacity::Pure,
            Opacity::Pinned,
            Opacity::Bounded,
            Opacity::TimeOpaque,
            Opacity::Unknown,
            Opacity::InputOpaque,
        ]
        .map(Opacity::word),
    )
}

/// Whole text of an answer: pretty JSON and a line end.
pub(crate) fn json(answer: &impl Serialize) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(answer)?;
    text.push('\n');
    Ok(text)
}
