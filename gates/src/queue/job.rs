//! Batches, and what became of them.

use serde::{Deserialize, Serialize};

use super::request::{Asks, Priority, Request, Terms};
use super::sealed::Form;
use super::sight::Sight;
use crate::lease::ProcessIdentity;

/// Requests that are worked on together. All have the same terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its name.
    pub id: String,
    /// The requests, in the order of the queue, the caller's own first.
    pub requests: Vec<Request>,
    /// What all of them ask for together.
    pub asks: Asks,
    /// How they are to be run.
    pub terms: Terms,
    /// Requests that were left for a later batch.
    pub left: usize,
    pub(super) taken: Taken,
}

/// A batch that was seen at work. Whether its process still lives is another question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The batch.
    pub batch: String,
    /// Who works on it.
    pub owner: ProcessIdentity,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// As which it was taken.
    pub priority: Priority,
    /// Its requests.
    pub requests: Vec<String>,
}

impl Form for Taken {
    const FORM: &'static str = "owed.taken/1";
}

/// A batch that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// As it was seen at work.
    pub job: Taken,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
    /// How: `passed`, `failed`, or `no-verdict`.
    pub verdict: String,
    /// The requests that it discharged.
    pub discharged: Vec<String>,
    /// Those that it did not, and why.
    pub kept: Vec<Kept>,
}

impl Form for Ended {
    const FORM: &'static str = "owed.ended/1";
}

/// A request that stays, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The request.
    pub request: String,
    /// A stable kebab-case word.
    pub reason: String,
    /// For a person.
    pub detail: String,
    /// When that was, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Form for Kept {
    const FORM: &'static str = "owed.kept/1";
}

/// What a batch came to, when it has a verdict.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `passed` or `failed`.
    pub verdict: &'static str,
    /// Whether every test there is was run or is paid for.
    pub full: bool,
    /// Whether it produced coverage.
    pub coverage: bool,
    /// What others may take for their own, if they find everything as it was.
    pub shared: Option<(Sight, String)>,
}

/// A result that others may take for their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The batch.
    pub batch: String,
    /// Its requests.
    pub requests: Vec<String>,
    /// Who ran it.
    pub by: ProcessIdentity,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
    /// `passed` or `failed`.
    pub verdict: String,
    /// What it rested on.
    pub sight: Sight,
    /// The answer, as the caller of [`super::Queue::complete`] wrote it.
    pub answer: String,
}

impl Form for Shared {
    const FORM: &'static str = "owed.shared/1";
}
