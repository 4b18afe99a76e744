//! What is said about a call: what the ledger holds, what was refused, and what else is
//! open in its run.

use super::notes::Kept;
use super::refusal::Why;
use crate::lease::{Host, Liveness};
use crate::ledger::{
    AbortSource, Call, CallId, Exit, InfraReason, NotStartedReason, Observation, Output, Purpose, RunId,
    UnknownReason,
};
use crate::state::{CallState, Phase};
use crate::supervise::NotRun;

/// Where a call stands, in the four words of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its process may still be at work.
    Pending,
    /// A typed outcome is durable.
    Completed,
    /// It is known that the command did not start.
    NotStarted,
    /// It started or may have, and its outcome is not known; also when it was settled.
    Unknown,
}

impl State {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::NotStarted => "not_started",
            Self::Unknown => "unknown",
        }
    }
}

/// A call as it is shown. A receipt of a process, not of a truth: exit code 0 does not say
/// that assertions ran, another one not that one failed, and neither approves anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Where it stands.
    pub state: State,
    /// Which half of it that is about.
    pub phase: Phase,
    /// How the command ended; only of a completed one.
    pub exit: Option<Exit>,
    /// What was seen of the checkout before the command; an observation, not a snapshot.
    pub observed: Option<Observation>,
    /// What is kept of the output.
    pub output: Option<Output>,
    /// Whether some of the output is missing from the receipt.
    pub is_partial: bool,
    /// Whether its output was given up for room.
    pub is_evicted: bool,
    /// Whether it was retired by a proof that nothing of it runs any more.
    pub is_settled: bool,
    /// Why it did not start.
    pub not_started: Option<NotStartedReason>,
    /// Why its outcome is not known.
    pub unknown: Option<UnknownReason>,
    /// Who ended it.
    pub abort: Option<AbortSource>,
    /// Which part of the machinery failed.
    pub infra: Option<InfraReason>,
}

impl Receipt {
    /// From the record of a call. `host` says whether the process that would complete it
    /// is still there.
    #[must_use]
    pub fn of(call: &Call, host: &dyn Host) -> Self {
        let (phase, record) = match &call.command {
            Some(command) => (Phase::Command, command),
            None => (Phase::Preflight, &call.preflight),
        };
        let is_abandoned =
            || record.dispatcher.as_ref().is_some_and(|process| host.liveness(process) == Liveness::Gone);
        let mut state = match record.state {
            CallState::Pending | CallState::Running if is_abandoned() => State::Unknown,
            CallState::Pending | CallState::Running => State::Pending,
            CallState::Completed => State::Completed,
            CallState::NotStarted => State::NotStarted,
            CallState::Unknown | CallState::Settled => State::Unknown,
        };
        if phase == Phase::Preflight && state == State::Completed {
            // Only a preflight is complete, and the command that belongs to it has no
            // intent: it did not start, unless its process is about to.
            state = if is_abandoned() { State::NotStarted } else { State::Pending };
        }
        let completed = record.completed.as_ref().filter(|_| phase == Phase::Command);
        let unknown = record.unknown.as_ref();
        let output = completed
            .map(|record| &record.outcome.output)
            .or_else(|| unknown.map(|record| &record.output))
            .cloned();
        Self {
            state,
            phase,
            exit: completed.map(|record| record.outcome.exit),
            observed: call.command.as_ref().and_then(|command| command.observation.clone()),
            is_partial: output.as_ref().is_some_and(Output::partial) || state == State::Unknown,
            output,
            is_evicted: call.evicted,
            is_settled: record.state == CallState::Settled,
            not_started: record.not_started.as_ref().map(|record| record.reason),
            unknown: unknown.map(|record| record.reason).or_else(|| {
                let is_lost = state == State::Unknown && record.state != CallState::Settled;
                is_lost.then_some(UnknownReason::OwnerLost)
            }),
            abort: unknown.map(|record| record.abort),
            infra: unknown.and_then(|record| record.infra),
        }
    }

    /// The exit code of a program that shows it: 0 completed with exit code 0, 1 completed
    /// otherwise, 2 not started because something refused, 75 no verdict.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match (self.state, self.exit) {
            (State::Completed, Some(Exit::Code(0))) => 0,
            (State::Completed, _) => 1,
            (State::NotStarted, _) => match self.not_started {
                Some(
                    NotStartedReason::PolicyRefused
                    | NotStartedReason::SpawnFailed
                    | NotStartedReason::ObservationUnusable
                    | NotStartedReason::Fenced,
                ) => 2,
                _ => 75,
            },
            (State::Pending | State::Unknown, _) => 75,
        }
    }
}

/// The answer to a check that was asked for.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The run.
    pub run: RunId,
    /// The identity.
    pub call: CallId,
    /// What it is for.
    pub purpose: Purpose,
    /// What the ledger holds under the identity; `None` when it holds nothing.
    pub record: Option<Call>,
    /// The same, to be shown.
    pub receipt: Option<Receipt>,
    /// Whether it is a saved result: nothing was executed and nothing looked at.
    pub is_replayed: bool,
    /// Whether the reply had been lost, and the result was found where the supervisor
    /// left it.
    pub is_recovered: bool,
    /// Why the command was not made to start by this call.
    pub refusal: Option<Why>,
    /// Why the operating system made no process.
    pub not_run: Option<NotRun>,
    /// What became of the checkpoint.
    pub notes: Kept,
    /// Other calls of the run that are not resolved.
    pub open: Vec<CallId>,
}

impl Answer {
    /// The exit code: that of the receipt, unless this call was refused.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        use crate::ledger::Refusal;
        match (&self.refusal, &self.receipt) {
            (
                Some(Why::Ledger(
                    Refusal::Unresolved { .. } | Refusal::InProgress { .. } | Refusal::Retired { .. },
                )),
                _,
            ) => 75,
            (Some(why), _) if why.is_capacity() || !why.did_not_start() => 75,
            (Some(_), _) => 2,
            (None, Some(receipt)) => receipt.exit_code(),
            (None, None) => 75,
        }
    }

    /// A line for a log: a closed code and who it is about. No command, no output, no
    /// text of an error. What is done with it changes no settlement.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        let code = match (&self.refusal, &self.receipt) {
            (Some(why), _) => why.code(),
            (None, Some(receipt)) => receipt.state.word(),
            (None, None) => "nothing",
        };
        let phase = self.receipt.as_ref().map_or("none", |receipt| receipt.phase.word());
        format!("code={code} run={} call={} phase={phase}", self.run, self.call)
    }
}
