//! What becomes of calls that nobody will finish: marked as unknown when their process is
//! gone, and retired by proof. Nothing here dispatches a command or signals a process.

use super::call::PhaseRecord;
use super::names::CallId;
use super::records::{Record, Settled};
use super::refusal::{Failure, Refusal};
use super::run::{Run, When};
use super::steps::{Loss, lost};
use super::terms::{EndProof, ExitRecord, UnknownReason};
use crate::lease::Liveness;
use crate::state::{CallState, Phase};

impl Run {
    /// Marks the calls as unknown whose dispatching process is gone: nobody else can say
    /// what became of them. Calls of processes that live, or of which that cannot be told,
    /// are left as they are. Gives the identities that were marked.
    ///
    /// # Errors
    /// As [`Run::begin`].
    pub fn lose_abandoned(&mut self) -> Result<Vec<CallId>, Failure> {
        self.locked(When::BeforeDispatch, |run| {
            let host = run.store.clone();
            let abandoned: Vec<(CallId, Phase)> = run
                .history
                .unresolved()
                .into_iter()
                .filter_map(|call| {
                    let (phase, record) = call.unresolved()?;
                    let gone = |process| host.host().liveness(process) == Liveness::Gone;
                    let lost =
                        record.state != CallState::Unknown && record.dispatcher.as_ref().is_some_and(gone);
                    lost.then(|| (call.request.call.clone(), phase))
                })
                .collect();
            for (call, phase) in &abandoned {
                let loss = Loss::of(UnknownReason::OwnerLost);
                let record = lost(call.clone(), *phase, loss, run.now_ms());
                run.append(record, When::BeforeDispatch)?;
            }
            Ok(abandoned.into_iter().map(|(call, _)| call).collect())
        })
    }

    /// Retires the unresolved half of a call by a proof that nothing of it runs any more: the
    /// supervisor's exit record, or the operating system's word. Dispatches nothing and
    /// signals nobody. Gives the half that was retired.
    ///
    /// # Errors
    /// [`Refusal::NothingToSettle`], [`Refusal::StillRuns`], [`Refusal::CannotTell`],
    /// [`Refusal::InProgress`], [`Refusal::ForeignProof`], and as [`Run::begin`].
    pub fn settle(&mut self, id: &CallId, exit: Option<ExitRecord>) -> Result<Phase, Failure> {
        self.locked(When::BeforeDispatch, |run| {
            let call = run.history.call(id).ok_or(Refusal::NoSuchCall)?;
            let (phase, record) = call.unresolved().ok_or(Refusal::NothingToSettle)?;
            let proof = run.proof(record, exit)?;
            let (call, at_ms) = (id.clone(), run.now_ms());
            let settled = Settled { call, phase, proof, at_ms };
            run.append(Record::Settled(settled), When::BeforeDispatch)?;
            Ok(phase)
        })
    }

    fn proof(&self, record: &PhaseRecord, exit: Option<ExitRecord>) -> Result<EndProof, Refusal> {
        let host = self.store.host();
        // While its dispatcher lives and has not given up, the outcome may still be recorded.
        if let Some(process) = &record.dispatcher
            && record.state != CallState::Unknown
            && host.liveness(process) == Liveness::Alive
        {
            return Err(Refusal::InProgress { process: process.clone() });
        }
        let started = record.started.as_ref().map(|started| started.process.clone());
        if let Some(exit) = exit {
            if started.as_ref() != Some(&exit.process) {
                return Err(Refusal::ForeignProof);
            }
            if host.liveness(&exit.process) == Liveness::Alive {
                return Err(Refusal::StillRuns { process: exit.process });
            }
            return Ok(EndProof::ExitRecord(exit));
        }
        let proof_of = if started.is_some() { EndProof::ProcessGone } else { EndProof::OwnerGone };
        let process = started.or_else(|| record.dispatcher.clone()).ok_or(Refusal::NothingToSettle)?;
        match host.liveness(&process) {
            Liveness::Gone => Ok(proof_of(process)),
            Liveness::Alive => Err(Refusal::StillRuns { process }),
            Liveness::Unknown => Err(Refusal::CannotTell { process }),
        }
    }
}
