//! `owed.run/1`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use owed_engine::receipt::Receipt;
use owed_gates::audit::Missing;

use super::audit::MissingSeen;
use super::plan::directory;
use super::{all, one_of};

/// What was run, what was not and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.run/1")]
pub(crate) struct RunAnswer {
    /// `owed.run/1`.
    #[schemars(schema_with = "run_tag")]
    pub schema: &'static str,
    /// The verdict about everything that was owed.
    #[schemars(schema_with = "verdict_words")]
    pub verdict: &'static str,
    /// Why there is no verdict; empty when there is one.
    pub no_verdict: Vec<Denied>,
    /// The owed tests, sorted by path, then by runner and runner project.
    pub results: Vec<TestResult>,
    /// How many test files were not owed.
    pub omitted: usize,
    /// How many test files of how many owed were not run, because they are paid for.
    pub reused: usize,
    /// Where the receipts are; null when none was written or read.
    pub record: Option<String>,
    /// Why no receipt was reused at all: one was contradicted, and nobody has acknowledged
    /// that; null when receipts may be reused.
    pub tripped: Option<String>,
    /// What became of receipts that were put to the test; null without `--audit`.
    pub audit: Option<AuditSeen>,
    /// What the queue of requests has to do with it.
    pub queue: QueueSeen,
}

impl RunAnswer {
    /// With nothing in it.
    pub(crate) fn empty() -> Self {
        Self {
            schema: "owed.run/1",
            verdict: "passed",
            no_verdict: Vec::new(),
            results: Vec::new(),
            omitted: 0,
            reused: 0,
            record: None,
            tripped: None,
            audit: None,
            queue: QueueSeen::default(),
        }
    }

    /// Draws the verdict from the results, and from why there may be none.
    pub(crate) fn judge(&mut self) {
        self.no_verdict.sort();
        self.no_verdict.dedup();
        let failed = self.results.iter().any(|result| result.outcome == "failed");
        self.verdict = match (failed, self.no_verdict.is_empty()) {
            (true, _) => "failed",
            (false, true) => "passed",
            (false, false) => "no-verdict",
        };
        self.reused = self.results.iter().filter(|result| result.outcome == "reused").count();
        let kept = self.results.iter().any(|result| result.receipt.is_some());
        self.record = kept.then(|| ".owed/receipts".to_owned());
    }

    /// Adds the answer of another batch.
    pub(crate) fn add(&mut self, other: Self) {
        self.results.extend(other.results);
        self.results.sort_by(|a, b| (&a.path, a.runner, &a.project).cmp(&(&b.path, b.runner, &b.project)));
        self.no_verdict.extend(other.no_verdict);
        self.tripped = self.tripped.take().or(other.tripped);
        self.audit = match (self.audit.take(), other.audit) {
            (Some(mut one), Some(more)) => {
                one.add(more);
                Some(one)
            }
            (one, more) => one.or(more),
        };
        self.judge();
    }
}

/// What the queue of requests has to do with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct QueueSeen {
    /// The request; null when none was made, because nothing had to be run.
    pub request: Option<String>,
    /// Whether the request is an earlier one, which covers what was asked for.
    pub joined: bool,
    /// The process whose result was taken, once everything was found as it was then.
    pub shared_by: Option<u32>,
    /// Requests that this run discharged, its own included.
    pub discharged: Vec<String>,
    /// Requests that have no verdict yet; `owed status` says why.
    pub pending: Vec<String>,
    /// Files in the queue that are no requests: what they asked for is not known.
    pub held: Vec<String>,
}

/// Receipts that were put to the test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AuditSeen {
    /// The share that was asked for.
    pub percent: String,
    /// How many tests that were paid for were run.
    pub sampled: usize,
    /// How many of them passed again.
    pub confirmed: usize,
    /// Those that failed with the inputs they had passed with.
    pub contradicted: Vec<Contradiction>,
}

impl AuditSeen {
    /// Adds what another batch saw.
    fn add(&mut self, more: Self) {
        self.sampled += more.sampled;
        self.confirmed += more.confirmed;
        self.contradicted.extend(more.contradicted);
    }
}

/// A receipt that was contradicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Contradiction {
    /// Its number in the audit log.
    pub number: u64,
    /// The test file.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// The receipt.
    pub receipt: String,
    /// What may be the input that nobody knew of.
    pub missing: Vec<MissingSeen>,
}

impl Contradiction {
    /// Of a receipt.
    pub(crate) fn new(number: u64, receipt: &Receipt, missing: Vec<Missing>) -> Self {
        Self {
            number,
            test: receipt.test.clone(),
            runner: receipt.runner.clone(),
            project: directory(receipt.project.clone()),
            receipt: receipt.id().to_owned(),
            missing: all(missing),
        }
    }
}

/// One test file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TestResult {
    /// Project-relative path.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// What happened.
    #[schemars(schema_with = "outcome_words")]
    pub outcome: &'static str,
    /// What it depends on that is not a file.
    #[schemars(schema_with = "super::opacity_words")]
    pub opacity: &'static str,
    /// The receipt that was used or written.
    pub receipt: Option<String>,
    /// Why it was not reused, and why this run left no receipt.
    pub denied: Vec<Denied>,
    /// Whether every input of the run was known and equal before and after.
    pub runtime_verified: bool,
    /// Milliseconds by the runner's clock.
    pub duration_ms: Option<u64>,
    /// Its cases; of the receipt when it was reused.
    pub cases: CaseCounts,
    /// What the runner said about it, first lines.
    pub errors: Vec<String>,
}

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct Denied {
    /// A stable kebab-case word.
    pub reason: String,
    /// For a person.
    pub detail: String,
}

impl Denied {
    /// A reason.
    pub(crate) fn new(reason: &str, detail: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), detail: detail.into() }
    }
}

/// Numbers of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CaseCounts {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
    /// Skipped.
    pub skipped: u32,
}

impl From<owed_engine::outcome::Cases> for CaseCounts {
    fn from(cases: owed_engine::outcome::Cases) -> Self {
        Self { passed: cases.passed, failed: cases.failed, skipped: cases.skipped }
    }
}

fn run_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.run/1" })
}

fn verdict_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["passed", "failed", "no-verdict"])
}

fn outcome_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["passed", "failed", "reused", "not-run", "interrupted"])
}
