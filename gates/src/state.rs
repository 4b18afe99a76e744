//! The state machine of a recorded call: which step may follow which, and nothing else.
//!
//! Every call has two [`Phase`]s with an identity each: the preflight, which observes the
//! checkout, and the command. Each phase goes through the same machine:
//!
//! ```text
//!  (no intent) ── Intend ──> pending ── Start ──> running ── Complete ──> completed ■
//!       │                     │  │ │                │  │
//!       │ NotStart            │  │ └── Lose ──┐     │  └── Lose ──┐
//!       │ (command only)      │  │            v     │             v
//!       │                     │  │         unknown <┼─────────────┘
//!       v      NotStart       │  │            │     │
//!  not_started ■ <────────────┘  │            │     │ Settle (proof of the end)
//!                                │ Settle     v     v
//!                                └────────> settled ■
//!
//!  a preflight may also go pending ── Complete ──> completed (it may have no child);
//!  running ── NotSpawn ──> not_started when the supervisor made no process
//! ```
//!
//! `■` is final: nothing leads out of it. There is no way from `unknown` to `completed`
//! (success is never made up afterwards), from `running` to `not_started` (what was seen to
//! start has started), and none back to `pending` (nothing is replayed). `NotSpawn` is no
//! exception to the second: what `Start` records is the supervisor, and its own report says
//! that the operating system made no process of the command.
//!
//! The machine is held twice. Where the caller is code, by types: [`PreflightPermit`],
//! [`FreshPreflight`], [`CommandPermit`] and [`RunningCommand`] can only be made by the
//! ledger, are consumed by the step they allow, and cannot be copied. Where the input is a
//! file, by [`step`], which every record passes when it is written and again when it is
//! read, and which answers [`Illegal`].
//!
//! A permit cannot be used twice:
//!
//! ```compile_fail,E0382
//! fn twice(permit: owed_gates::state::CommandPermit, run: &mut owed_gates::ledger::Run) {
//!     let _ = run.not_started(permit, owed_gates::ledger::NotStartedReason::Stopped);
//!     let _ = run.not_started(permit, owed_gates::ledger::NotStartedReason::Stopped);
//! }
//! ```
//!
//! A preflight that was read back from the ledger cannot start a command, because only
//! finishing it in this process gives the value that is needed:
//!
//! ```compile_fail,E0451
//! let restored = owed_gates::state::FreshPreflight { key: unreachable!() };
//! ```

use serde::{Deserialize, Serialize};

use crate::ledger::{CallId, Digest};

/// The two halves of a call, each with an identity of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Observes the checkout (path, head, fingerprint) before the command.
    Preflight,
    /// The command itself.
    Command,
}

impl Phase {
    /// The word used in output and messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Phase::Preflight => "preflight",
            Phase::Command => "command",
        }
    }
}

/// Where one phase of a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// The intent is durable; nothing was seen to start.
    Pending,
    /// The process that runs it is recorded; no outcome yet.
    Running,
    /// A typed outcome is durable. Exit 0 does not say that assertions ran, and another code
    /// does not say that one failed.
    Completed,
    /// It is known that nothing started.
    NotStarted,
    /// It started or may have, and what became of it is not known.
    Unknown,
    /// It was unresolved, and there is proof that nothing of it runs any more. What it did
    /// stays unknown.
    Settled,
}

impl CallState {
    /// The word used in output and in the index. `Running` is a `pending` call of which the
    /// process is known.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CallState::Pending | CallState::Running => "pending",
            CallState::Completed => "completed",
            CallState::NotStarted => "not_started",
            CallState::Unknown => "unknown",
            CallState::Settled => "settled",
        }
    }

    /// Whether it may still be running, or nobody knows: it is never replayed, and its
    /// command is not started under another id.
    #[must_use]
    pub fn is_unresolved(self) -> bool {
        matches!(self, CallState::Pending | CallState::Running | CallState::Unknown)
    }
}

/// A step of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Record the intent, before anything is started.
    Intend,
    /// Record the process that was made, before it is let go.
    Start,
    /// Record the typed outcome.
    Complete,
    /// Record that nothing started, and why.
    NotStart,
    /// Record the supervisor's word that the operating system made no process.
    NotSpawn,
    /// Record that the outcome is not known, and why.
    Lose,
    /// Record the proof that nothing of it runs any more.
    Settle,
}

/// A step that the machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// Where the phase stood; `None` is a phase without an intent.
    pub from: Option<CallState>,
    /// What was asked.
    pub step: Step,
    /// Of which phase.
    pub phase: Phase,
}

impl std::fmt::Display for Illegal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let from = self.from.map_or("no intent", CallState::word);
        write!(f, "{:?} of a {} that has {from}", self.step, self.phase.word())
    }
}

impl std::error::Error for Illegal {}

/// The whole machine.
///
/// # Errors
/// [`Illegal`] for every pair that is not an arrow of the picture above.
pub fn step(phase: Phase, from: Option<CallState>, step: Step) -> Result<CallState, Illegal> {
    use CallState as S;
    match (from, step) {
        (None, Step::Intend) => Ok(S::Pending),
        (Some(S::Pending), Step::Start) => Ok(S::Running),
        (Some(S::Pending), Step::NotStart) => Ok(S::NotStarted),
        // A command may be declined when its preflight is done and before its own intent.
        (None, Step::NotStart) if phase == Phase::Command => Ok(S::NotStarted),
        // A preflight may be answered in process, without a child to record.
        (Some(S::Pending), Step::Complete) if phase == Phase::Preflight => Ok(S::Completed),
        (Some(S::Running), Step::Complete) => Ok(S::Completed),
        (Some(S::Running), Step::NotSpawn) => Ok(S::NotStarted),
        (Some(S::Pending | S::Running), Step::Lose) => Ok(S::Unknown),
        (Some(S::Pending | S::Running | S::Unknown), Step::Settle) => Ok(S::Settled),
        _ => Err(Illegal { from, step, phase }),
    }
}

/// Which call a permit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PermitKey {
    pub(crate) call: CallId,
    pub(crate) payload: Digest,
}

/// The preflight's intent is durable: it may be dispatched, once.
#[must_use = "a permit that is dropped leaves its call pending for ever"]
#[derive(Debug)]
pub struct PreflightPermit {
    pub(crate) key: PermitKey,
}

/// The preflight's result is durable, and this process has seen it end: the command may be
/// intended, once. Nothing that is read from a ledger makes one of these.
#[must_use = "without it the command cannot be started"]
#[derive(Debug)]
pub struct FreshPreflight {
    pub(crate) key: PermitKey,
}

/// The command's intent is durable: its process may be made, but not let go, once.
#[must_use = "a permit that is dropped leaves its call pending for ever"]
#[derive(Debug)]
pub struct CommandPermit {
    pub(crate) key: PermitKey,
}

/// The command's process is durable: it may be let go, once, and then has to be completed
/// or lost.
#[must_use = "a command that is dropped here stays pending for ever"]
#[derive(Debug)]
pub struct RunningCommand {
    pub(crate) key: PermitKey,
}

macro_rules! call_of {
    ($($permit:ty),+) => {$(
        impl $permit {
            /// The call that this is for.
            #[must_use]
            pub fn call(&self) -> &CallId {
                &self.key.call
            }
        }
    )+};
}
call_of!(PreflightPermit, FreshPreflight, CommandPermit, RunningCommand);

/// How many refusals in a row a caller may correct before it has to stop.
pub const REFUSALS_IN_A_ROW: u32 = 3;

/// What a caller may do after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on; a corrected command may be tried.
    Continue,
    /// The same kind of refusal came [`REFUSALS_IN_A_ROW`] times: stop and ask.
    StopRepeatedRefusals,
    /// An execution is uncertain or was not persisted: nothing more before that is settled.
    StopUncertain,
}

/// Counts refusals for a caller that would otherwise try for ever. Holds no permission: the
/// ledger refuses by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovery {
    in_a_row: u32,
    uncertain: bool,
}

impl Recovery {
    /// A call was answered with a result, new or saved.
    pub fn answered(&mut self) -> Next {
        self.in_a_row = 0;
        self.next()
    }

    /// A call was refused before anything started. A stop or a spent budget is the run's
    /// normal end and is not counted: tell only refusals that a caller could correct.
    pub fn refused(&mut self) -> Next {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.next()
    }

    /// A call became unknown, or a record could not be persisted.
    pub fn uncertain(&mut self) -> Next {
        self.uncertain = true;
        self.next()
    }

    fn next(self) -> Next {
        if self.uncertain {
            Next::StopUncertain
        } else if self.in_a_row >= REFUSALS_IN_A_ROW {
            Next::StopRepeatedRefusals
        } else {
            Next::Continue
        }
    }
}
