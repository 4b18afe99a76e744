//! Looking at checks, and retiring those that nobody will complete. Nothing here starts a
//! command or signals a process.

use super::answer::Receipt;
use super::exec::{Place, exit_record};
use super::refusal::Why;
use super::run::{Checks, Identity, belongs};
use crate::lease::Liveness;
use crate::ledger::{Call, CallId, History, NotedRefusal, Options, Refusal};
use crate::state::{CallState, Phase};

/// What a run holds.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Its calls, oldest first, each as it is shown.
    pub calls: Vec<(Call, Receipt)>,
    /// Calls that were refused for want of room.
    pub refused: Vec<(CallId, NotedRefusal)>,
}

/// A call that was retired.
#[derive(Clone, Debug)]
pub struct SettledCall {
    /// Which half of it was unresolved.
    pub phase: Phase,
    /// The call as it is now.
    pub call: Call,
    /// The same, to be shown.
    pub receipt: Receipt,
}

impl Checks<'_> {
    /// One call, as it was recorded: also of a run that has ended, and on a disk that cannot
    /// be written.
    ///
    /// # Errors
    /// When the run cannot be read, has no such call, or belongs to another thread or
    /// resource.
    pub fn show(&self, who: &Identity, call: &CallId) -> Result<(Call, Receipt), Why> {
        let snapshot = self.store.inspect(&who.run)?;
        visible(&snapshot.history, who)?;
        let call = snapshot.history.call(call).ok_or(Refusal::NoSuchCall)?;
        Ok((call.clone(), Receipt::of(call, self.store.host())))
    }

    /// All calls of a run.
    ///
    /// # Errors
    /// As [`Checks::show`].
    pub fn list(&self, who: &Identity) -> Result<Listing, Why> {
        let snapshot = self.store.inspect(&who.run)?;
        let history = &snapshot.history;
        visible(history, who)?;
        let calls = history.calls().into_iter();
        Ok(Listing {
            calls: calls.map(|call| (call.clone(), Receipt::of(call, self.store.host()))).collect(),
            refused: history.refused().iter().map(|note| (note.call.clone(), note.reason)).collect(),
        })
    }

    /// Retires the unresolved half of one call, by proof that nothing of it runs any more:
    /// its supervisor's exit record, or the operating system's word about the processes.
    /// What the command did stays unknown; it may be run again under a new id.
    ///
    /// # Errors
    /// Without proof, and as [`Checks::show`].
    pub fn settle(&self, who: &Identity, call: &CallId) -> Result<SettledCall, Why> {
        let snapshot = self.store.inspect(&who.run)?;
        let recorded = snapshot.history.call(call).ok_or(Refusal::NoSuchCall)?;
        belongs(&snapshot.history, recorded, who)?;
        let (phase, record) = recorded.unresolved().ok_or(Refusal::NothingToSettle)?;
        // While its owner is at work nothing is proven, and nothing worth waiting for.
        if let Some(process) = &record.dispatcher
            && record.state != CallState::Unknown
            && self.store.host().liveness(process) == Liveness::Alive
        {
            return Err(Refusal::InProgress { process: process.clone() }.into());
        }
        let place = Place::of(self.store.state(), &who.run, call, phase);
        self.await_end(&place);
        let report = place.report();
        if let Some(started) = &record.started {
            // That the supervisor is gone does not say that its tree is: when it was killed,
            // nobody ended that.
            let is_other_boot = started.process.boot != self.store.host().me().boot;
            let is_ended = report.as_ref().is_some_and(|report| report.tree_ended);
            if !is_other_boot && !is_ended {
                let process = started.process.clone();
                match place.survivors() {
                    Some(left) if left.is_empty() => {}
                    Some(left) => {
                        let pid = left.first().copied().unwrap_or(process.pid);
                        let process = self.store.host().identify(pid).unwrap_or(process);
                        return Err(Refusal::StillRuns { process }.into());
                    }
                    None => return Err(Refusal::CannotTell { process }.into()),
                }
            }
        }
        let exit = report.as_ref().and_then(exit_record);
        let mut run = self.store.reopen(&who.run, Options::default())?;
        let phase = run.settle(call, exit)?;
        place.forget();
        let call = run.history().call(call).ok_or(Refusal::NoSuchCall)?.clone();
        let receipt = Receipt::of(&call, self.store.host());
        Ok(SettledCall { phase, call, receipt })
    }
}

/// Whether a run may be looked at under these labels.
fn visible(history: &History, who: &Identity) -> Result<(), Why> {
    let Some(claim) = history.claim() else { return Ok(()) };
    if claim.thread != who.thread {
        return Err(Why::Identity("thread"));
    }
    if claim.resource != who.resource { Err(Why::Identity("resource")) } else { Ok(()) }
}
