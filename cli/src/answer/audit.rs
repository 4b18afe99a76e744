//! `owed.audit/1`.

use owed_gates::audit::{Gap, Log, Missing, Row, RowOutcome, Trip};
use owed_gates::runs::observed::Finding;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::plan::directory;
use super::{all, one_of};

/// How many rows without a miss plans need before they may decide (`selection.md` 6).
const NEEDED: usize = 30;

/// What is known about whether plans and receipts can be believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.audit/1")]
pub(crate) struct AuditAnswer {
    /// `owed.audit/1`.
    #[schemars(schema_with = "audit_tag")]
    pub schema: &'static str,
    /// The row that was compared just now; null for other questions.
    pub row: Option<RowSeen>,
    /// All rows so far.
    pub rows: Rows,
    /// Contradicted receipts that nobody has acknowledged: while there are some, nothing is
    /// reused.
    pub tripped: Vec<TripSeen>,
    /// Tests that loaded files which are not among their known inputs, sorted: they get no
    /// receipts.
    pub incomplete_closures: Vec<FindingSeen>,
    /// How many contradictions were acknowledged just now.
    pub acknowledged: usize,
    /// Why the log cannot be believed; null when it can. Then nothing above was counted, and
    /// nothing is reused.
    pub held: Option<String>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RowSeen {
    /// Its number in the log.
    pub number: u64,
    /// Whether the same plan and reports were compared before; then nothing was added.
    pub known: bool,
    /// What it came to.
    #[schemars(schema_with = "row_words")]
    pub outcome: &'static str,
    /// What the caller calls it.
    pub label: Option<String>,
    /// The commit that the plan compared with.
    pub base: Option<String>,
    /// Whether the plan left tests out.
    pub selective: bool,
    /// Whether every test file was reported.
    pub complete: bool,
    /// How many test files the plan owed.
    pub owed: u64,
    /// How many it left out.
    pub omitted: u64,
    /// How many test files the reports name.
    pub reported: u64,
    /// Files that failed.
    pub failed: Vec<String>,
    /// Those that the plan had left out.
    pub misses: Vec<String>,
    /// Those that it had left out, and that failed at the base as well.
    pub preexisting: Vec<String>,
    /// Why it is not complete.
    pub gaps: Vec<GapSeen>,
}

impl RowSeen {
    /// A row with its number.
    pub(crate) fn new(number: u64, known: bool, row: Row) -> Self {
        Self {
            number,
            known,
            outcome: row.outcome.word(),
            label: row.label,
            base: row.base,
            selective: row.selective,
            complete: row.complete,
            owed: row.owed,
            omitted: row.omitted,
            reported: row.reported,
            failed: row.failed,
            misses: row.misses,
            preexisting: row.preexisting,
            gaps: all(row.gaps),
        }
    }
}

/// Why not everything was reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct GapSeen {
    /// A stable kebab-case word.
    pub reason: String,
    /// For a person.
    pub detail: String,
}

impl From<Gap> for GapSeen {
    fn from(gap: Gap) -> Self {
        Self { reason: gap.reason, detail: gap.detail }
    }
}

/// Numbers of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Rows {
    /// All of them.
    pub all: usize,
    /// Those whose plan left tests out.
    pub selective: usize,
    /// Those of which every test was reported.
    pub complete: usize,
    /// Those that are clean: selective, complete, and nothing that failed was left out.
    pub clean: usize,
    /// Those with a miss.
    pub misses: usize,
    /// Those that prove nothing, because the plan left nothing out.
    pub widened: usize,
    /// Those of which a report is missing, without a miss.
    pub incomplete: usize,
    /// Clean rows since the last miss.
    pub clean_since_miss: usize,
    /// How many of these it takes.
    pub needed: usize,
    /// Whether there are enough for plans to decide.
    pub ready: bool,
}

impl Rows {
    fn of(log: &Log) -> Self {
        let mut rows = Self { needed: NEEDED, ..Self::default() };
        for (_, row) in log.rows() {
            rows.all += 1;
            rows.selective += usize::from(row.selective);
            rows.complete += usize::from(row.complete);
            match row.outcome {
                RowOutcome::Miss => (rows.misses, rows.clean_since_miss) = (rows.misses + 1, 0),
                RowOutcome::Widened => rows.widened += 1,
                RowOutcome::Incomplete => rows.incomplete += 1,
                RowOutcome::Clean => {
                    rows.clean += 1;
                    rows.clean_since_miss += 1;
                }
            }
        }
        rows.ready = rows.clean_since_miss >= NEEDED;
        rows
    }
}

/// A contradicted receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TripSeen {
    /// Its number in the log.
    pub number: u64,
    /// The test file.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// The identity that it passed and failed with.
    pub identity: String,
    /// The receipt.
    pub receipt: String,
    /// What may be the input that nobody knew of.
    pub missing: Vec<MissingSeen>,
}

impl TripSeen {
    /// A trip with its number.
    pub(crate) fn new(number: u64, trip: Trip) -> Self {
        Self {
            number,
            test: trip.test,
            runner: trip.runner,
            project: directory(trip.project),
            identity: trip.identity,
            receipt: trip.receipt,
            missing: all(trip.missing),
        }
    }
}

/// A trace of an input that no identity holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct MissingSeen {
    /// `undeclared`: it was loaded and is in no closure. `loaded`, `not-loaded`: it was loaded
    /// only now, or only then. `written-since`: it was written after the receipt, and is none of
    /// the test's inputs.
    #[schemars(schema_with = "missing_words")]
    pub kind: String,
    /// The path.
    pub name: String,
}

impl From<Missing> for MissingSeen {
    fn from(missing: Missing) -> Self {
        Self { kind: missing.kind, name: missing.name }
    }
}

/// A test whose closure is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FindingSeen {
    /// The test file.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// What it loaded, and is not among its known inputs.
    pub files: Vec<String>,
}

impl From<Finding> for FindingSeen {
    fn from(finding: Finding) -> Self {
        Self {
            test: finding.test,
            runner: finding.runner,
            project: directory(finding.project),
            files: finding.files,
        }
    }
}

impl AuditAnswer {
    /// What the log says.
    pub(crate) fn new(log: &Log, findings: Vec<Finding>) -> Self {
        Self {
            schema: "owed.audit/1",
            row: None,
            rows: Rows::of(log),
            tripped: log.open_trips().map(|(number, trip)| TripSeen::new(number, trip.clone())).collect(),
            incomplete_closures: all(findings),
            acknowledged: 0,
            held: None,
        }
    }
}

fn audit_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.audit/1" })
}

fn row_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&RowOutcome::ALL.map(RowOutcome::word))
}

fn missing_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["undeclared", "loaded", "not-loaded", "written-since"])
}
