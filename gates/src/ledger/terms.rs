//! The terms that records are made of: purposes, claims, outcomes, and the closed sets of
//! reasons. Strict as the records are; what a term means for a call is said in
//! [`crate::state`].

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::names::Label;
use super::text::Output;
use crate::lease::ProcessIdentity;

/// What a call is for. A verification is not an approval to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Before the intended change.
    Baseline,
    /// After it.
    Verification,
}

impl Purpose {
    /// The word used in output and arguments.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Baseline => "baseline",
            Purpose::Verification => "verification",
        }
    }
}

/// The caller's own timeout. Leaving it out and giving the default are different payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timeout {
    /// Not given.
    Omitted,
    /// Given, in milliseconds.
    Explicit(NonZeroU64),
}

/// In whose name a run is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The run's owner.
    pub owner: Label,
    /// The owner's unit, when there is one. Never an empty one.
    pub unit: Option<Label>,
    /// The thread that the run belongs to; the same for all its claims.
    pub thread: Label,
    /// The workspace's incarnation: a checkout that was replaced has another.
    pub workspace: Label,
    /// What was authorized, as one opaque text; the same for all claims of a run.
    pub resource: Label,
    /// Which of several owners is the newest: a claim with a smaller fence is refused.
    pub fence: u64,
}

/// What was seen of the checkout before the command. An observation, not a snapshot:
/// another process may change the tree at any time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The checkout.
    pub path: Label,
    /// The commit; `null` outside a repository and before the first commit.
    pub head: Option<Label>,
    /// Digest of the working tree.
    pub fingerprint: Label,
}

/// How a process ended, by the operating system's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Its exit code.
    Code(i32),
    /// The signal that ended it.
    Signal(i32),
}

/// What a supervisor knows of a process that it saw end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExitRecord {
    /// Which process.
    pub process: ProcessIdentity,
    /// How it ended.
    pub exit: Exit,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A typed outcome: what the executor observed, and nothing read out of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// What it said, redacted and bounded.
    pub output: Output,
    /// The supervisor's record, when a supervisor ran it.
    pub supervisor: Option<ExitRecord>,
}

/// Why nothing started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotStartedReason {
    /// A policy refused it after the intent.
    PolicyRefused,
    /// The run's budget is spent.
    BudgetExhausted,
    /// The run or the call was stopped.
    Stopped,
    /// A newer owner has claimed the run.
    Fenced,
    /// The operating system did not make the process.
    SpawnFailed,
    /// The preflight's result does not say what the checkout is.
    ObservationUnusable,
    /// There was no room for its receipt.
    CapacityRefused,
    /// The heavy lease was not free in time.
    Deferred,
}

/// Why an outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// Its deadline passed and it was ended.
    TimedOut,
    /// The run, the session or the call was stopped while it ran.
    Interrupted,
    /// It was ended for memory, or because memory could not be watched.
    Memory,
    /// The process that supervised it is gone.
    OwnerLost,
    /// Its result did not arrive.
    ResultLost,
    /// Its result was not what an executor gives.
    ResultMalformed,
    /// It is not known whether it was let go.
    DispatchUncertain,
}

/// Who ended it, when that was observed. No text of an error is read for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortSource {
    /// The process's own deadline.
    ProcessDeadline,
    /// The run's deadline.
    RunDeadline,
    /// A signal to the run.
    RunSignal,
    /// A signal to the call or its session.
    CallSignal,
    /// Several that contradict each other, or one that came late.
    Ambiguous,
    /// None was observed.
    Unobserved,
}

/// Which part of the machinery failed, when that has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfraReason {
    /// Waiting for the process failed.
    Wait,
    /// Reading its output failed.
    Pipe,
    /// The whole tree could not be ended.
    Kill,
    /// Memory or processes could not be watched.
    Telemetry,
    /// Writing the result failed.
    Persistence,
}

/// The proof that nothing of a call runs any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndProof {
    /// Its supervisor saw it end.
    ExitRecord(ExitRecord),
    /// The operating system has no such process any more.
    ProcessGone(ProcessIdentity),
    /// No process was recorded, so none was let go; and the process that could have done so
    /// is gone.
    OwnerGone(ProcessIdentity),
}

/// Why a call was refused before an intent: kept as a note under its identity, which it does
/// not use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotedRefusal {
    /// All receipts of the run are used.
    ReceiptsFull,
    /// The receipts' bytes are used.
    BytesFull,
    /// The thread's aliases are all unresolved.
    AliasesFull,
}
