//! `owed.plan/1`.

use std::collections::BTreeMap;

use owed_engine::change::{Change, ChangeKind};
use owed_engine::problem::Widening;
use owed_engine::selection::{
    Inventory, Mode, OwedTest, Placed, PlacedChange, Reason, ReasonKind, Selection,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{Base, NotCheckedFile, ProblemSeen, all, one_of};

/// The tests a change owes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.plan/1")]
pub(crate) struct PlanAnswer {
    /// `owed.plan/1`.
    #[schemars(schema_with = "plan_tag")]
    pub schema: &'static str,
    /// What was compared with; null when the change was given as paths, or with `--all`.
    pub base: Option<Base>,
    /// How much is owed: nothing, the listed tests, or all of them.
    #[schemars(schema_with = "mode_words")]
    pub mode: &'static str,
    /// Why all tests are owed; empty unless the mode is `widened`.
    pub widened: Vec<WideningReason>,
    /// What changed, sorted by path.
    pub changes: Vec<ChangeSeen>,
    /// The owed tests, sorted by runner project and path.
    pub tests: Vec<TestOwed>,
    /// How many test files are not owed.
    pub omitted: usize,
    /// What was looked at.
    pub inventory: InventorySeen,
    /// Files that were not read or not parsed.
    pub not_checked: Vec<NotCheckedFile>,
    /// What was not understood.
    pub problems: Vec<ProblemSeen>,
}

/// Why all tests are owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WideningReason {
    /// A stable kebab-case word.
    pub reason: String,
    /// The file that made it necessary; empty when there is none.
    pub path: String,
    /// One sentence for a person.
    pub detail: String,
}

/// A change, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangeSeen {
    /// Project-relative path.
    pub path: String,
    /// How it changed.
    #[schemars(schema_with = "change_words")]
    pub kind: &'static str,
    /// The old path of a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What kind of file it is to this project.
    #[schemars(schema_with = "placed_words")]
    pub placed: &'static str,
    /// How many test files are owed because of it.
    pub owes: usize,
}

/// An owed test file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TestOwed {
    /// Project-relative path.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// Why, strongest first.
    pub reasons: Vec<ReasonSeen>,
    /// Its class.
    #[schemars(schema_with = "super::opacity_words")]
    pub opacity: &'static str,
    /// Whether a receipt pays for it.
    pub receipt: ReceiptStatus,
    /// How long it is expected to take; null when it was never measured.
    pub estimate_ms: Option<u64>,
}

/// One reason for which a test is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReasonSeen {
    /// Which rule.
    #[schemars(schema_with = "reason_words")]
    pub kind: &'static str,
    /// The changed path, when one change is the cause.
    pub changed: Option<String>,
    /// From the test to the changed file, shortest.
    pub chain: Vec<String>,
    /// More for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Whether a receipt pays for a test, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReceiptStatus {
    /// `hit` when `owed run` would reuse it, `miss` when it would run it, `none` where there
    /// are no receipts to ask.
    #[schemars(schema_with = "receipt_words")]
    pub status: &'static str,
    /// A stable kebab-case word: `inputs-equal`, the reason of `owed run` for running it, or
    /// why there is nothing to ask.
    pub reason: &'static str,
    /// The first input that differs, or what else stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct InventorySeen {
    /// Files considered.
    pub files: usize,
    /// Test files.
    pub tests: usize,
    /// Test files by runner.
    pub by_runner: BTreeMap<&'static str, usize>,
}

impl PlanAnswer {
    /// The answer to a selection.
    pub(crate) fn new(base: Option<Base>, selection: Selection) -> Self {
        Self {
            schema: "owed.plan/1",
            base,
            mode: selection.mode.word(),
            widened: all(selection.widened),
            changes: all(selection.changes),
            tests: all(selection.tests),
            omitted: selection.omitted,
            inventory: selection.inventory.into(),
            not_checked: all(selection.not_checked),
            problems: all(selection.problems),
        }
    }
}

impl From<Widening> for WideningReason {
    fn from(widening: Widening) -> Self {
        Self { reason: widening.reason, path: widening.path, detail: widening.detail }
    }
}

impl From<PlacedChange> for ChangeSeen {
    fn from(placed: PlacedChange) -> Self {
        let Change { path, kind } = placed.change;
        let word = kind.word();
        let from = match kind {
            ChangeKind::Renamed { from } => Some(from),
            _ => None,
        };
        Self { path, kind: word, from, placed: placed.placed.word(), owes: placed.owes }
    }
}

impl From<OwedTest> for TestOwed {
    fn from(test: OwedTest) -> Self {
        Self {
            path: test.path,
            runner: test.runner,
            project: directory(test.project),
            reasons: all(test.reasons),
            opacity: test.opacity.word(),
            receipt: ReceiptStatus { status: "none", reason: "no-ledger", detail: None },
            estimate_ms: None,
        }
    }
}

impl From<Reason> for ReasonSeen {
    fn from(reason: Reason) -> Self {
        Self { kind: reason.kind.word(), changed: reason.changed, chain: reason.chain, detail: reason.detail }
    }
}

impl From<Inventory> for InventorySeen {
    fn from(inventory: Inventory) -> Self {
        Self { files: inventory.files, tests: inventory.tests, by_runner: inventory.by_runner }
    }
}

/// A project-relative directory as answers show it: the root is `.`.
pub(crate) fn directory(dir: String) -> String {
    if dir.is_empty() { ".".to_owned() } else { dir }
}

fn plan_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.plan/1" })
}

fn receipt_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["hit", "miss", "none"])
}

pub(crate) fn mode_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&[Mode::None, Mode::Selective, Mode::Widened].map(Mode::word))
}

fn change_words(_: &mut SchemaGenerator) -> Schema {
    one_of(
        &[
            ChangeKind::Added,
            ChangeKind::Modified,
            ChangeKind::Deleted,
            ChangeKind::Renamed { from: String::new() },
            ChangeKind::TypeChanged,
            ChangeKind::Untracked,
        ]
        .map(|kind| kind.word()),
    )
}

fn placed_words(_: &mut SchemaGenerator) -> Schema {
    one_of(
        &[
            Placed::Source,
            Placed::Test,
            Placed::Data,
            Placed::Config,
            Placed::Lock,
            Placed::Inert,
            Placed::Unknown,
        ]
        .map(Placed::word),
    )
}

/// The words of all reasons.
pub(crate) fn reason_words(_: &mut SchemaGenerator) -> Schema {
    one_of(
        &[
            ReasonKind::Changed,
            ReasonKind::Depends,
            ReasonKind::Companion,
            ReasonKind::Snapshot,
            ReasonKind::Declared,
            ReasonKind::Observed,
            ReasonKind::Shared,
            ReasonKind::Package,
            ReasonKind::Negative,
            ReasonKind::InputOpaque,
            ReasonKind::NotUnderstood,
            ReasonKind::Requested,
        ]
        .map(ReasonKind::word),
    )
}
