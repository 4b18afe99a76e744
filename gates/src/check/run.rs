//! Running a check: the order in which things are looked at, written down and done.
//!
//! ```text
//! submission ── a saved record of the identity? ──> replay, or why not       (nothing runs)
//!      │ no
//! policy ── time left, not stopped ── a checkout ── memory                   (nothing written)
//!      │
//! preflight: intent ▣ ── supervisor ready ▣ ── runs ── result saved ▣ ── read
//!      │
//! command: intent ▣ ── policy, time, stop, memory again ── supervisor ready ▣ ── runs ── outcome ▣
//!
//! ▣ is durable before the next step
//! ```
//!
//! What is saved or unresolved comes before everything else: a missing capability must
//! not hide that an earlier command is still uncertain.

use std::path::Path;
use std::time::Duration;

use super::answer::{Answer, Receipt};
use super::at_work::AtWork;
use super::exec::{Executor, Place, Seen, judge};
use super::notes::{self, Kept};
use super::ongoing::Ongoing;
use super::refusal::Why;
use super::session::{DEFAULT_TIMEOUT, Session};
use super::submission::Submission;
use crate::lease::Liveness;
use crate::ledger::{
    Admission, Call, CallId, Claim, Failure, History, Label, Lookup, Options, Refusal, Request, RunId, Store,
};
use crate::observe::{Unobserved, incarnation};
use crate::policy::PolicySource;
use crate::redact::Redactor;
use crate::state::{CallState, Phase};
use crate::supervise::{Deferred, Memory};

/// In whose name checks are recorded. Labels are the caller's own and only ever compared,
/// byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The run.
    pub run: RunId,
    /// Its owner.
    pub owner: Label,
    /// The owner's unit, when there is one.
    pub unit: Option<Label>,
    /// The thread the run belongs to.
    pub thread: Label,
    /// What was authorized.
    pub resource: Label,
    /// Which of several owners is the newest.
    pub fence: u64,
}

/// Everything that recorded checks need.
#[derive(Clone, Copy)]
pub struct Checks<'a> {
    /// The ledger.
    pub store: &'a Store,
    /// What runs commands.
    pub executor: &'a Executor,
    /// Which commands may run.
    pub policy: &'a dyn PolicySource,
    /// The directory that commands run in: the root of the project, absolute, links
    /// followed.
    pub checkout: &'a Path,
    /// Refuse when the run has no ledger yet.
    pub must_exist: bool,
}

/// How long a process that is at work on the same call, or is just being ended, is waited
/// for at once.
const TICK: Duration = Duration::from_millis(20);
/// How long a supervisor whose owner is gone may take to end the tree.
const ENDING: Duration = Duration::from_secs(8);

impl Checks<'_> {
    /// Records a check, or replays it.
    pub fn run(&self, who: &Identity, call: &CallId, submission: &Submission, session: &Session) -> Answer {
        let mut answer = Answer {
            run: who.run.clone(),
            call: call.clone(),
            purpose: submission.purpose,
            record: None,
            receipt: None,
            is_replayed: false,
            is_recovered: false,
            refusal: None,
            not_run: None,
            notes: Kept::None,
            open: Vec::new(),
        };
        if let Err(why) = self.attempt(who, submission, session, &mut answer) {
            answer.refusal = Some(why);
        }
        self.look(&mut answer);
        if submission.checkpoint.is_some() && answer.notes == Kept::None {
            answer.notes = Kept::NotReplaced;
        }
        answer
    }

    /// What the ledger holds at the end, as far as it can be read.
    fn look(&self, answer: &mut Answer) {
        // What belongs to somebody else is not shown.
        if matches!(
            answer.refusal,
            Some(Why::Identity(_) | Why::Ledger(Refusal::LookupMismatch | Refusal::Claim(_)))
        ) {
            return;
        }
        let Ok(snapshot) = self.store.inspect(&answer.run) else { return };
        if let Some(call) = snapshot.history.call(&answer.call) {
            answer.record = Some(call.clone());
        }
        answer.receipt = answer.record.as_ref().map(|call| Receipt::of(call, self.store.host()));
        let open = snapshot.history.unresolved().into_iter().map(|call| call.request.call.clone());
        answer.open = open.filter(|call| *call != answer.call).collect();
    }

    fn attempt(
        &self,
        who: &Identity,
        submission: &Submission,
        session: &Session,
        answer: &mut Answer,
    ) -> Result<(), Why> {
        let redactor = Redactor::knowing(&self.executor.environment);
        let request = submission.request(answer.call.clone(), &redactor)?;
        let dispatch = submission.command.dispatch(self.checkout).map_err(Why::Command)?;
        match self.store.inspect(&who.run) {
            Ok(snapshot) if snapshot.history.call(&request.call).is_some() => {
                return self.again(who, &request, session, answer);
            }
            Ok(snapshot) => suppressed(&snapshot.history, &request)?,
            Err(Refusal::Absent) if !self.must_exist => {}
            Err(refusal) => return Err(refusal.into()),
        }
        self.policy.judge(&submission.command.text()).map_err(Why::Policy)?;
        bounds(session)?;
        let claim = self.claim(who)?;
        self.admit().map_err(Why::Memory)?;
        let options = Options { must_exist: self.must_exist, ..Options::default() };
        let mut run = self.store.open(&who.run, claim, options)?;
        let at_work = AtWork::on((self.store.state().to_owned(), who.run.clone(), request.call.clone()));
        let permit = match run.begin(&request) {
            Ok(Admission::New(permit)) => permit,
            // Another process was faster.
            Ok(Admission::Replay(_)) | Err(Failure::Refused(Refusal::InProgress { .. })) => {
                drop((run, at_work));
                return self.again(who, &request, session, answer);
            }
            Err(failure) => return Err(failure.into()),
        };
        let call = Ongoing { checks: self, run: &mut run, submission, session, dispatch: &dispatch };
        call.go(permit, answer)?;
        if let (Some(checkpoint), Some(call)) = (&submission.checkpoint, &answer.record) {
            let fence = run.catch_up().ok().and_then(History::claim).map(|claim| claim.fence);
            answer.notes = notes::keep(self.store.state(), &who.run, call, fence, checkpoint, &redactor);
        }
        Ok(())
    }

    /// The identity is there already: its saved result, or why it has none. A process that
    /// is at work on it is waited for; nothing is executed.
    fn again(
        &self,
        who: &Identity,
        request: &Request,
        session: &Session,
        answer: &mut Answer,
    ) -> Result<(), Why> {
        let mut waited = Duration::ZERO;
        let mut moved = false;
        loop {
            let snapshot = self.store.inspect(&who.run)?;
            let history = &snapshot.history;
            let call = history.call(&request.call).ok_or(Refusal::NoSuchCall)?;
            belongs(history, call, who)?;
            if call.request.payload_hash != request.payload_hash {
                return Err(Refusal::PayloadChanged.into());
            }
            let Some((phase, record)) = call
                .unresolved()
                .or_else(|| call.awaits_command().then_some((Phase::Preflight, &call.preflight)))
            else {
                if call.state() == CallState::Settled {
                    let phase = if call.command.is_some() { Phase::Command } else { Phase::Preflight };
                    return Err(Refusal::Retired { phase }.into());
                }
                answer.is_replayed = true;
                answer.record = Some(call.clone());
                return Ok(());
            };
            // This process knows by itself what it is at work on.
            let key = (self.store.state().to_owned(), who.run.clone(), request.call.clone());
            let at_work = record
                .dispatcher
                .as_ref()
                .filter(|process| **process != self.store.host().me() || AtWork::is_on(&key));
            let at_work = at_work.filter(|process| {
                record.state != CallState::Unknown && self.store.host().liveness(process) == Liveness::Alive
            });
            if let Some(process) = at_work {
                bounds(session)?;
                if waited > DEFAULT_TIMEOUT {
                    return Err(Refusal::InProgress { process: process.clone() }.into());
                }
                self.store.host().pause(TICK);
                waited += TICK;
                continue;
            }
            if record.state == CallState::Running {
                match self.recover(who, request, phase)? {
                    Recovered::Written => {
                        answer.is_recovered = true;
                        continue;
                    }
                    // Once: a state that both sides read in different ways is not waited for.
                    Recovered::MovedOn if !moved => {
                        moved = true;
                        continue;
                    }
                    Recovered::MovedOn | Recovered::Nothing => {}
                }
            }
            return Err(match (phase, record.state) {
                (Phase::Preflight, CallState::Completed) => Refusal::MetadataRevalidationRequired,
                (phase, state) => Refusal::Unresolved { phase, state },
            }
            .into());
        }
    }

    /// Looks where a supervisor left its result whose owner is gone, and writes that down
    /// if everything it is bound to is as it was.
    fn recover(&self, who: &Identity, request: &Request, phase: Phase) -> Result<Recovered, Why> {
        let place = Place::of(self.store.state(), &who.run, &request.call, phase);
        self.await_end(&place);
        let Some(report) = place.report() else { return Ok(Recovered::Nothing) };
        let lookup = Lookup {
            call: request.call.clone(),
            owner: who.owner.clone(),
            unit: who.unit.clone(),
            thread: who.thread.clone(),
            workspace: self.workspace()?,
            command_hash: request.command_hash,
        };
        let seen = match judge(Ok(report), phase, false) {
            Seen::Outcome(outcome) => Ok(outcome),
            Seen::Loss(loss) => Err(loss),
            // That it made no process is a result, but not one that is worth a way of its
            // own here: settling takes it.
            Seen::NotSpawned(_) => return Ok(Recovered::Nothing),
        };
        let is_resolved = seen.is_ok();
        let mut run = self.store.reopen(&who.run, Options::default())?;
        match run.recover(&lookup, seen) {
            Ok(_) => {}
            // The owner had written its end, and died before it was acknowledged: opening the
            // run for writing has made that good, and what was read before is out of date.
            Err(Failure::Refused(Refusal::NothingToSettle)) => return Ok(Recovered::MovedOn),
            Err(failure) => return Err(failure.into()),
        }
        if is_resolved {
            place.forget();
        }
        Ok(Recovered::Written)
    }

    /// Waits for a supervisor that is ending its tree because its owner is gone.
    pub(super) fn await_end(&self, place: &Place) {
        let Some(dispatched) = place.dispatched() else { return };
        let mut waited = Duration::ZERO;
        while waited < ENDING && self.store.host().liveness(&dispatched.supervisor) == Liveness::Alive {
            self.store.host().pause(TICK);
            waited += TICK;
        }
    }

    fn claim(&self, who: &Identity) -> Result<Claim, Why> {
        Ok(Claim {
            owner: who.owner.clone(),
            unit: who.unit.clone(),
            thread: who.thread.clone(),
            workspace: self.workspace()?,
            resource: who.resource.clone(),
            fence: who.fence,
        })
    }

    pub(super) fn workspace(&self) -> Result<Label, Why> {
        // What a record of the observation can hold.
        let path = self.checkout.to_str().and_then(|path| Label::new(path).ok());
        path.filter(|path| path.as_str().len() <= 600).ok_or(Why::CheckoutPath)?;
        let incarnation = incarnation(self.checkout).map_err(|error| match error {
            Unobserved::NoCheckout => Why::NoCheckout,
            Unobserved::Git(error) => Why::Git(error.sentence()),
            Unobserved::Path => Why::CheckoutPath,
        })?;
        Ok(Label::new(incarnation)?)
    }

    /// Whether the host has the memory that a command may need.
    pub(super) fn admit(&self) -> Result<(), Deferred> {
        let needed = self.executor.admission.saturating_add(self.executor.host_reserve);
        let memory = Memory::now(Path::new("/proc"));
        match memory {
            Some(memory) if memory.available >= needed => Ok(()),
            memory => Err(Deferred { available: memory.map(|memory| memory.available), needed }),
        }
    }
}

/// Whether the call may still start: nobody stopped it, and there is time.
pub(super) fn bounds(session: &Session) -> Result<(), Why> {
    if let Some(reason) = session.stopped() {
        return Err(Why::Stopped(reason));
    }
    if session.is_spent() { Err(Why::BudgetExhausted) } else { Ok(()) }
}

/// Whether the same command is unresolved under another identity.
fn suppressed(history: &History, request: &Request) -> Result<(), Why> {
    let other =
        history.unresolved().into_iter().find(|call| call.request.command_hash == request.command_hash);
    match other.and_then(|call| Some((call, call.unresolved()?))) {
        Some((call, (phase, record))) => {
            let (by, state) = (call.request.call.clone(), record.state);
            Err(Refusal::Suppressed { by, phase, state }.into())
        }
        None => Ok(()),
    }
}

/// Whether the labels are those under which a call was recorded.
pub(super) fn belongs(history: &History, call: &Call, who: &Identity) -> Result<(), Why> {
    let claim = history.claim_of(call).ok_or(Why::Identity("owner"))?;
    let same = [
        ("owner", claim.owner == who.owner),
        ("unit", claim.unit == who.unit),
        ("thread", claim.thread == who.thread),
        ("resource", claim.resource == who.resource),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(Why::Identity(what)),
        None => Ok(()),
    }
}

/// What looking for a result without an owner came to.
enum Recovered {
    /// There was one, and it is written down.
    Written,
    /// The phase waits for none any more.
    MovedOn,
    /// There is none.
    Nothing,
}
