//! Steps that rest on a supervisor's word: that it made no process, and what it saw of a
//! process whose owner was gone before it could write that down.

use super::call::Call;
use super::records::{Completed, NotStarted, Record};
use super::refusal::{Failure, Refusal};
use super::run::{Run, When};
use super::steps::{Loss, lost};
use super::terms::{NotStartedReason, Outcome};
use super::view::Lookup;
use crate::lease::Liveness;
use crate::state::{CallState, Phase, PreflightPermit, RunningCommand};

impl Run {
    /// The supervisor was let go and reports that the operating system made no process.
    ///
    /// # Errors
    /// It is not recorded: the call stays pending.
    pub fn not_spawned(&mut self, running: RunningCommand) -> Result<(), Failure> {
        self.record_not_spawned(&running.key.call, Phase::Command)
    }

    /// The same for the preflight.
    ///
    /// # Errors
    /// As [`Run::not_spawned`].
    pub fn preflight_not_spawned(&mut self, permit: PreflightPermit) -> Result<(), Failure> {
        self.record_not_spawned(&permit.key.call, Phase::Preflight)
    }

    fn record_not_spawned(&mut self, call: &super::CallId, phase: Phase) -> Result<(), Failure> {
        let call = call.clone();
        self.locked(When::BeforeDispatch, |run| {
            let (reason, at_ms) = (NotStartedReason::SpawnFailed, run.now_ms());
            run.append(Record::NotStarted(NotStarted { call, phase, reason, at_ms }), When::BeforeDispatch)
        })
    }

    /// Writes down what a supervisor saw of a phase whose owner is gone: the reply was lost,
    /// the result was not. It dispatches nothing, and a result that is already recorded as
    /// not known stays so.
    ///
    /// # Errors
    /// [`Refusal::LookupMismatch`] unless everything of the lookup is as it was recorded;
    /// [`Refusal::InProgress`] while the owner lives, [`Refusal::CannotTell`] when nobody can
    /// say; [`Refusal::NothingToSettle`] when the phase does not wait for a result;
    /// [`Refusal::ForeignProof`] when the result names no supervisor or another one.
    pub fn recover(&mut self, asked: &Lookup, seen: Result<Outcome, Loss>) -> Result<Call, Failure> {
        self.locked(When::BeforeDispatch, |run| {
            let call = run.history.lookup(asked)?;
            let (phase, record) = call.unresolved().ok_or(Refusal::NothingToSettle)?;
            let (Some(started), CallState::Running) = (&record.started, record.state) else {
                return Err(Refusal::NothingToSettle.into());
            };
            if let Some(process) = &record.dispatcher {
                match run.store.host().liveness(process) {
                    Liveness::Gone => {}
                    Liveness::Alive => return Err(Refusal::InProgress { process: process.clone() }.into()),
                    Liveness::Unknown => return Err(Refusal::CannotTell { process: process.clone() }.into()),
                }
            }
            let supervisor = match &seen {
                Ok(outcome) => outcome.supervisor.as_ref(),
                Err(loss) => loss.supervisor.as_ref(),
            };
            if supervisor.map(|record| &record.process) != Some(&started.process) {
                return Err(Refusal::ForeignProof.into());
            }
            let (id, at_ms) = (asked.call.clone(), run.now_ms());
            let record = match seen {
                Ok(outcome) => Record::Completed(Completed { call: id, phase, outcome, at_ms }),
                Err(loss) => lost(id, phase, loss, at_ms),
            };
            run.append(record, When::BeforeDispatch)?;
            Ok(run.history.call(&asked.call).expect("it was recorded just now").clone())
        })
    }
}
