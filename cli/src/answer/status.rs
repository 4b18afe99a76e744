//! `owed.status/1`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::one_of;

/// What has no verdict yet, what was seen at work, and what is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.status/1")]
pub(crate) struct StatusAnswer {
    /// `owed.status/1`.
    #[schemars(schema_with = "status_tag")]
    pub schema: &'static str,
    /// When this was looked at, in milliseconds since 1970.
    pub observed_ms: u64,
    /// Requests without a verdict, in the order of their making.
    pub pending: Vec<PendingRequest>,
    /// Files in the queue that are no requests: what they asked for is not known.
    pub held: Vec<HeldRequest>,
    /// Requests that a person has vouched for, as long as their files stay as they are.
    pub acknowledged: Vec<Word>,
    /// The job that was seen last; null when none ever was.
    pub job: Option<Job>,
    /// Receipts that are kept.
    pub receipts: Receipts,
}

/// A request without a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PendingRequest {
    /// Its name.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// The process that made it; whether it still runs is not said.
    pub pid: u32,
    /// As which it was made.
    #[schemars(schema_with = "priority_words")]
    pub priority: &'static str,
    /// Whether it asks for every test.
    pub full: bool,
    /// Whether it asks for coverage.
    pub coverage: bool,
    /// The changes it is about.
    pub paths: Vec<String>,
    /// How many processes wait for it that are not known to be gone.
    pub awaited: usize,
    /// Why it was put off the last time; null when it never was, as far as is known.
    pub deferred: Option<Deferred>,
}

/// Why a request was put off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Deferred {
    /// A stable kebab-case word.
    pub reason: String,
    /// For a person.
    pub detail: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A file that should be a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct HeldRequest {
    /// Its name in `.owed/queue/requests`.
    pub name: String,
    /// Why it is none.
    #[schemars(schema_with = "held_words")]
    pub why: &'static str,
}

/// A person's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Word {
    /// The request, or the held file.
    pub id: String,
    /// What was said.
    pub because: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A job, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Job {
    /// Its name.
    pub id: String,
    /// The process that had it; whether it still works is not said.
    pub pid: u32,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// `running` was observed once and is no proof that it still is; `ended` is.
    #[schemars(schema_with = "state_words")]
    pub state: &'static str,
    /// Its requests.
    pub requests: Vec<String>,
    /// When it ended, in milliseconds since 1970; null when that is not known.
    pub ended_ms: Option<u64>,
    /// How it ended; null when that is not known.
    pub verdict: Option<String>,
}

/// Receipts that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Receipts {
    /// How many.
    pub kept: usize,
    /// Of how many test files.
    pub tests: usize,
    /// Files among them that are none.
    pub ignored: usize,
}

fn status_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.status/1" })
}

fn priority_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["interactive", "background"])
}

fn held_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["unreadable", "foreign", "newer-version", "damaged", "malformed"])
}

fn state_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["running", "ended"])
}
