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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::answer::{Answer, Receipt};
use super::dispatch::Dispatch;
use super::exec::{Executor, Job, Place, Seen, Unprepared, judge};
use super::notes::{self, Kept};
use super::observer;
use super::refusal::Why;
use super::session::{DEFAULT_TIMEOUT, PREFLIGHT_ALLOWANCE, Session};
use super::submission::Submission;
use crate::lease::Liveness;
use crate::ledger::{
    Admission, Call, CallId, Claim, Exit, History, Label, Lookup, NotStartedReason, Observation, Options,
    Refusal, Request, Run, RunId, Store,
};
use crate::observe::{Unobserved, incarnation};
use crate::policy::PolicySource;
use crate::redact::Redactor;
use crate::state::{CallState, CommandPermit, FreshPreflight, Phase, PreflightPermit};
use crate::supervise::{Deferred, Keep, Memory, NotRun};

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
            Ok(Admission::Replay(_)) | Err(crate::ledger::Failure::Refused(Refusal::InProgress { .. })) => {
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
            if record.state == CallState::Running && self.recover(who, request, phase)? {
                answer.is_recovered = true;
                continue;
            }
            return Err(match (phase, record.state) {
                (Phase::Preflight, CallState::Completed) => Refusal::MetadataRevalidationRequired,
                (phase, state) => Refusal::Unresolved { phase, state },
            }
            .into());
        }
    }

    /// Looks where a supervisor left its result whose owner is gone, and writes that down
    /// if everything it is bound to is as it was. Gives whether there was one.
    fn recover(&self, who: &Identity, request: &Request, phase: Phase) -> Result<bool, Why> {
        let place = Place::of(self.store.state(), &who.run, &request.call, phase);
        self.await_end(&place);
        let Some(report) = place.report() else { return Ok(false) };
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
            Seen::NotSpawned(_) => return Ok(false),
        };
        let is_resolved = seen.is_ok();
        let mut run = self.store.reopen(&who.run, Options::default())?;
        run.recover(&lookup, seen)?;
        if is_resolved {
            place.forget();
        }
        Ok(true)
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

    fn admit(&self) -> Result<(), Deferred> {
        let needed = self.executor.admission.saturating_add(self.executor.host_reserve);
        let memory = Memory::now(Path::new("/proc"));
        match memory {
            Some(memory) if memory.available >= needed => Ok(()),
            memory => Err(Deferred { available: memory.map(|memory| memory.available), needed }),
        }
    }
}

/// A call, for this process.
type Key = (PathBuf, RunId, CallId);

/// The calls that this process is at work on, or is about to be, each with how often.
static AT_WORK: Mutex<BTreeMap<Key, usize>> = Mutex::new(BTreeMap::new());

/// A call is in [`AT_WORK`] while this lives.
struct AtWork(Key);

impl AtWork {
    fn on(key: Key) -> Self {
        *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).entry(key.clone()).or_default() += 1;
        Self(key)
    }

    fn is_on(key: &Key) -> bool {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut calls = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = calls.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.0);
            }
        }
    }
}

/// Whether the call may still start: nobody stopped it, and there is time.
fn bounds(session: &Session) -> Result<(), Why> {
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

/// A call whose intent is durable.
struct Ongoing<'a, 'b> {
    checks: &'a Checks<'b>,
    run: &'a mut Run,
    submission: &'a Submission,
    session: &'a Session,
    dispatch: &'a Dispatch,
}

impl Ongoing<'_, '_> {
    fn go(mut self, permit: PreflightPermit, answer: &mut Answer) -> Result<(), Why> {
        let call = permit.call().clone();
        let Some((fresh, observation)) = self.preflight(permit, &call, answer)? else { return Ok(()) };
        if let Some(reason) = self.refuses() {
            return Ok(self.run.decline(fresh, reason)?);
        }
        let permit = self.run.intend(fresh, observation)?;
        self.command(permit, &call, answer)
    }

    /// Observes the checkout. Its result is saved before it is read.
    fn preflight(
        &mut self,
        permit: PreflightPermit,
        call: &CallId,
        answer: &mut Answer,
    ) -> Result<Option<(FreshPreflight, Observation)>, Why> {
        let checks = self.checks;
        let place = self.place(call, Phase::Preflight);
        let allowance = self.session.allows(PREFLIGHT_ALLOWANCE);
        let observer = &checks.executor.observer;
        let mut arguments = observer.arguments.clone();
        arguments.push(checks.checkout.as_os_str().to_owned());
        let job = Job {
            program: observer.program.clone().into_os_string(),
            arguments,
            checkout: checks.checkout,
            allowance,
            // It is our own program that prints here, and its words are read again.
            keep: Keep { chars: crate::ledger::PREFLIGHT_STREAM_CHARS, redact: false },
        };
        let prepared = match place.prepare(checks.executor, job) {
            Ok(prepared) => prepared,
            Err(unprepared) => {
                let reason = answer.note(unprepared);
                return Ok(self.run.preflight_not_started(permit, reason).map(|()| None)?);
            }
        };
        self.run.start_preflight(&permit, prepared.identity().clone())?;
        let ended = prepared.run(self.session.stop(), &mut |process| place.started(process));
        match judge(ended, Phase::Preflight, allowance.is_clipped) {
            Seen::NotSpawned(cause) => {
                answer.not_run = Some(cause);
                self.run.preflight_not_spawned(permit)?;
                place.forget();
                Ok(None)
            }
            Seen::Loss(loss) => Ok(self.run.lose_preflight(permit, loss).map(|()| None)?),
            Seen::Outcome(outcome) => {
                let saved = (outcome.exit == Exit::Code(0)).then(|| outcome.output.stdout.text().to_owned());
                let fresh = self.run.complete_preflight(permit, outcome)?;
                place.forget();
                match saved.and_then(|saved| observer::read(&saved, checks.checkout)).and_then(observation) {
                    Some(observation) => Ok(Some((fresh, observation))),
                    None => {
                        Ok(self.run.decline(fresh, NotStartedReason::ObservationUnusable).map(|()| None)?)
                    }
                }
            }
        }
    }

    fn command(&mut self, permit: CommandPermit, call: &CallId, answer: &mut Answer) -> Result<(), Why> {
        let checks = self.checks;
        if let Some(reason) = self.refuses() {
            return Ok(self.run.not_started(permit, reason)?);
        }
        let place = self.place(call, Phase::Command);
        let allowance = self.session.allows(self.submission.timeout.unwrap_or(DEFAULT_TIMEOUT));
        let job = Job {
            program: self.dispatch.program.clone().into(),
            arguments: self.dispatch.arguments.iter().map(Into::into).collect(),
            checkout: checks.checkout,
            allowance,
            keep: Keep::default(),
        };
        let prepared = match place.prepare(checks.executor, job) {
            Ok(prepared) => prepared,
            Err(unprepared) => {
                let reason = answer.note(unprepared);
                return Ok(self.run.not_started(permit, reason)?);
            }
        };
        // The last look before the word is given. Dropped, the supervisor starts nothing.
        if let Some(reason) = self.refuses() {
            drop(prepared);
            place.forget();
            return Ok(self.run.not_started(permit, reason)?);
        }
        let running = self.run.start(permit, prepared.identity().clone())?;
        let ended = prepared.run(self.session.stop(), &mut |process| place.started(process));
        match judge(ended, Phase::Command, allowance.is_clipped) {
            Seen::Outcome(outcome) => {
                answer.record = Some(self.run.complete(running, outcome)?);
                place.forget();
            }
            // What is left on the disk of it is what settling will look at.
            Seen::Loss(loss) => drop(self.run.lose(running, loss)?),
            Seen::NotSpawned(cause) => {
                answer.not_run = Some(cause);
                self.run.not_spawned(running)?;
                place.forget();
            }
        }
        Ok(())
    }

    /// Why the command must not start now, in the ledger's words.
    fn refuses(&self) -> Option<NotStartedReason> {
        if self.checks.policy.judge(&self.submission.command.text()).is_err() {
            return Some(NotStartedReason::PolicyRefused);
        }
        match bounds(self.session) {
            Err(Why::Stopped(_)) => return Some(NotStartedReason::Stopped),
            Err(_) => return Some(NotStartedReason::BudgetExhausted),
            Ok(()) => {}
        }
        self.checks.admit().is_err().then_some(NotStartedReason::CapacityRefused)
    }

    fn place(&self, call: &CallId, phase: Phase) -> Place {
        Place::of(self.checks.store.state(), self.run.history().run(), call, phase)
    }
}

impl Answer {
    fn note(&mut self, unprepared: Unprepared) -> NotStartedReason {
        match unprepared {
            Unprepared::NotRun(cause) => {
                self.not_run = Some(cause);
                NotStartedReason::SpawnFailed
            }
            Unprepared::Disk(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded) => {
                NotStartedReason::CapacityRefused
            }
            Unprepared::Disk(_) => {
                self.not_run = Some(NotRun::NoScratch);
                NotStartedReason::SpawnFailed
            }
        }
    }
}

fn observation(observed: crate::observe::Observed) -> Option<Observation> {
    Some(Observation {
        path: Label::new(observed.path).ok()?,
        head: observed.head.map(Label::new).transpose().ok()?,
        fingerprint: Label::new(observed.fingerprint).ok()?,
    })
}
