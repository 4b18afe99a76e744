//! One call, as the records say it is.

use serde::Serialize;

use super::records::{Completed, NotStarted, Request, Settled, Started, Unknown};
use super::terms::{EndProof, Observation};
use crate::lease::ProcessIdentity;
use crate::state::{CallState, Phase};

/// One half of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseRecord {
    /// Where it stands.
    pub state: CallState,
    /// The process that was to dispatch it; `None` when it was declined before an intent.
    pub dispatcher: Option<ProcessIdentity>,
    /// When it was intended or declined, in milliseconds since 1970.
    pub intended_ms: u64,
    /// What was seen of the checkout; only of a command.
    pub observation: Option<Observation>,
    /// Its process.
    pub started: Option<Started>,
    /// Its outcome. The output is empty when [`Call::evicted`] is set.
    pub completed: Option<Completed>,
    /// Why it did not start.
    pub not_started: Option<NotStarted>,
    /// Why its outcome is not known.
    pub unknown: Option<Unknown>,
    /// Why nothing of it runs any more.
    pub settled: Option<Settled>,
}

impl PhaseRecord {
    pub(super) fn new(state: CallState, dispatcher: Option<ProcessIdentity>, at_ms: u64) -> Self {
        Self {
            state,
            dispatcher,
            intended_ms: at_ms,
            observation: None,
            started: None,
            completed: None,
            not_started: None,
            unknown: None,
            settled: None,
        }
    }
}

/// One call: what was asked, and what is known of both halves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// What was asked.
    pub request: Request,
    /// Under which claim.
    pub fence: u64,
    /// Sequence number of its first record: the order of calls.
    pub sequence: u64,
    /// The preflight.
    pub preflight: PhaseRecord,
    /// The command; `None` while it has no intent.
    pub command: Option<PhaseRecord>,
    /// Whether its outputs were given up for room.
    pub evicted: bool,
    /// Room that is kept while it is not resolved, in bytes.
    pub(super) reserved: u64,
    /// What its records take, in bytes.
    pub(super) bytes: u64,
}

impl Call {
    /// One half of it.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Option<&PhaseRecord> {
        match phase {
            Phase::Preflight => Some(&self.preflight),
            Phase::Command => self.command.as_ref(),
        }
    }

    pub(super) fn phase_mut(&mut self, phase: Phase) -> Option<&mut PhaseRecord> {
        match phase {
            Phase::Preflight => Some(&mut self.preflight),
            Phase::Command => self.command.as_mut(),
        }
    }

    /// The half that is unresolved. At most one is: a command follows a completed preflight.
    #[must_use]
    pub fn unresolved(&self) -> Option<(Phase, &PhaseRecord)> {
        [(Phase::Preflight, Some(&self.preflight)), (Phase::Command, self.command.as_ref())]
            .into_iter()
            .filter_map(|(phase, record)| Some((phase, record?)))
            .find(|(_, record)| record.state.is_unresolved())
    }

    /// Where the call stands as a whole: its command's state, or its preflight's while there
    /// is no command.
    #[must_use]
    pub fn state(&self) -> CallState {
        self.command.as_ref().map_or(self.preflight.state, |command| command.state)
    }

    /// Whether the preflight is saved and no command was intended or declined. A process
    /// that still holds its [`crate::state::FreshPreflight`] may go on; nobody else can.
    #[must_use]
    pub fn awaits_command(&self) -> bool {
        self.command.is_none() && self.preflight.state == CallState::Completed
    }
}

/// Whether a proof is about the process that a phase recorded.
pub(super) fn proves(proof: &EndProof, record: &PhaseRecord) -> bool {
    let started = record.started.as_ref().map(|started| &started.process);
    match proof {
        EndProof::ExitRecord(exit) => started == Some(&exit.process),
        EndProof::ProcessGone(process) => started == Some(process),
        EndProof::OwnerGone(process) => started.is_none() && record.dispatcher.as_ref() == Some(process),
    }
}
