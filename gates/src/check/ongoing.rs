//! A call whose intent is durable: its preflight, then its command, each step recorded
//! before the next.

use super::answer::Answer;
use super::dispatch::Dispatch;
use super::exec::{Job, Place, Seen, Unprepared, judge};
use super::observer;
use super::refusal::Why;
use super::run::{Checks, bounds};
use super::session::{DEFAULT_TIMEOUT, PREFLIGHT_ALLOWANCE, Session};
use super::submission::Submission;
use crate::ledger::{CallId, Exit, Label, NotStartedReason, Observation, Run};
use crate::state::{CommandPermit, FreshPreflight, Phase, PreflightPermit};
use crate::supervise::{Keep, NotRun};

/// A call whose intent is durable.
pub(super) struct Ongoing<'a, 'b> {
    pub(super) checks: &'a Checks<'b>,
    pub(super) run: &'a mut Run,
    pub(super) submission: &'a Submission,
    pub(super) session: &'a Session,
    pub(super) dispatch: &'a Dispatch,
}

impl Ongoing<'_, '_> {
    /// Goes through both phases.
    ///
    /// # Errors
    /// When a step could not be recorded.
    pub(super) fn go(mut self, permit: PreflightPermit, answer: &mut Answer) -> Result<(), Why> {
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
