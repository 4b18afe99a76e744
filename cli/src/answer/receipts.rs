//! `owed.receipts/1`: one answer for every question about receipts.

use owed_engine::receipt::{Difference, Entry, Receipt};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::plan::directory;
use super::run::CaseCounts;

/// Receipts, and what is asked about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.receipts/1")]
pub(crate) struct ReceiptsAnswer {
    /// `owed.receipts/1`.
    #[schemars(schema_with = "receipts_tag")]
    pub schema: &'static str,
    /// The receipts asked about, sorted by test.
    pub receipts: Vec<ReceiptSeen>,
    /// Files that are no receipts, and are ignored.
    pub ignored: Vec<Ignored>,
    /// What differs (`diff`, `why-not`, `verify`), the most telling first.
    pub differences: Vec<Differs>,
    /// How many files were removed (`prune`).
    pub removed: usize,
    /// Why no receipt is reused at all: one was contradicted, and nobody has acknowledged that.
    pub tripped: Option<String>,
}

impl ReceiptsAnswer {
    /// With nothing in it.
    pub(crate) fn new() -> Self {
        Self {
            schema: "owed.receipts/1",
            receipts: Vec::new(),
            ignored: Vec::new(),
            differences: Vec::new(),
            removed: 0,
            tripped: None,
        }
    }
}

/// One receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReceiptSeen {
    /// Its name.
    pub id: String,
    /// What it vouches for: `file` or `full`.
    pub scope: String,
    /// The test file.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// The hash of all its inputs.
    pub identity: String,
    /// The class that the test had.
    pub class: String,
    /// What ran.
    pub cases: CaseCounts,
    /// Milliseconds by the runner's clock.
    pub duration_ms: Option<u64>,
    /// Whether its entries are there and give its identity, and (`verify`) whether each that
    /// names its input fully is what it was.
    #[schemars(schema_with = "state_words")]
    pub state: &'static str,
    /// Its entries (`show`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntrySeen>,
}

impl ReceiptSeen {
    /// A receipt in a state.
    pub(crate) fn new(receipt: Receipt, state: &'static str) -> Self {
        Self {
            id: receipt.id().to_owned(),
            scope: match receipt.scope {
                owed_engine::receipt::Scope::File => "file",
                owed_engine::receipt::Scope::Full => "full",
            }
            .to_owned(),
            test: receipt.test,
            runner: receipt.runner,
            project: directory(receipt.project),
            identity: receipt.identity,
            class: receipt.class,
            cases: receipt.cases.into(),
            duration_ms: receipt.duration_ms,
            state,
            entries: Vec::new(),
        }
    }
}

/// One input of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct EntrySeen {
    /// Its kind.
    pub dimension: &'static str,
    /// Its name.
    pub name: String,
    /// A digest or a word; never a value.
    pub seen: String,
}

impl From<Entry> for EntrySeen {
    fn from(entry: Entry) -> Self {
        Self { dimension: entry.dimension.word(), name: entry.name, seen: entry.seen }
    }
}

/// An input that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Differs {
    /// The test that is asked about.
    pub test: String,
    /// A stable word: `inputs-differ`, or why there is nothing to compare.
    pub reason: String,
    /// Its kind; empty when there is nothing to compare.
    pub dimension: String,
    /// Its name.
    pub name: String,
    /// What was seen then; null when it was no input.
    pub before: Option<String>,
    /// What is seen now; null when it is no input any more.
    pub after: Option<String>,
    /// For a person.
    pub detail: String,
}

impl Differs {
    /// A difference of a test's inputs.
    pub(crate) fn input(test: &str, difference: Difference) -> Self {
        Self {
            test: test.to_owned(),
            reason: "inputs-differ".to_owned(),
            dimension: difference.dimension.word().to_owned(),
            detail: owed_gates::runs::decide::say(&difference),
            name: difference.name,
            before: difference.before,
            after: difference.after,
        }
    }

    /// Something else that stands in the way.
    pub(crate) fn other(test: &str, reason: &str, detail: String) -> Self {
        Self {
            test: test.to_owned(),
            reason: reason.to_owned(),
            dimension: String::new(),
            name: String::new(),
            before: None,
            after: None,
            detail,
        }
    }
}

/// A file that is no receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Ignored {
    /// Its name below `.owed/receipts/passed`.
    pub file: String,
    /// Why.
    pub reason: &'static str,
}

fn receipts_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.receipts/1" })
}

fn state_words(_: &mut SchemaGenerator) -> Schema {
    super::one_of(&["whole", "entries-gone", "current", "stale"])
}
