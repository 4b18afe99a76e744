//! The steps of a call, each one record: what [`crate::state`] allows, made durable.

use super::call::{Call, PhaseRecord};
use super::capacity;
use super::names::CallId;
use super::records::{
    CommandIntended, Completed, Evicted, NotStarted, PreflightIntended, Record, Refused, Request, Started,
    Unknown,
};
use super::refusal::{Failure, Refusal};
use super::run::{Run, When};
use super::store::unavailable;
use super::terms::{
    AbortSource, ExitRecord, InfraReason, NotStartedReason, NotedRefusal, Observation, Outcome, UnknownReason,
};
use super::text::Output;
use crate::lease::{Liveness, ProcessIdentity};
use crate::state::{
    CallState, CommandPermit, FreshPreflight, PermitKey, Phase, PreflightPermit, RunningCommand,
};

/// The answer to a request.
#[derive(Debug)]
pub enum Admission {
    /// The intent is durable: the preflight may be dispatched.
    New(PreflightPermit),
    /// The identity has a saved result (completed or not started): nothing is executed and
    /// nothing is looked at. Its outputs are empty when it was [`Call::evicted`].
    Replay(Box<Call>),
}

/// What is known of an outcome that is not known.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Why.
    pub reason: UnknownReason,
    /// Who ended it.
    pub abort: AbortSource,
    /// Which part of the machinery failed.
    pub infra: Option<InfraReason>,
    /// What is kept of the output.
    pub output: Output,
    /// What the supervisor saw, when it saw the end.
    pub supervisor: Option<ExitRecord>,
}

impl Loss {
    /// A loss of which nothing but the reason is known.
    #[must_use]
    pub fn of(reason: UnknownReason) -> Self {
        Self {
            reason,
            abort: AbortSource::Unobserved,
            infra: None,
            output: Output::default(),
            supervisor: None,
        }
    }
}

impl Run {
    /// Asks for a call: replays what is saved, refuses what is uncertain or has no room, and
    /// otherwise makes the intent of the preflight durable, with room for the whole call.
    ///
    /// # Errors
    /// [`Refusal`]: nothing was started. [`super::Persistence`]: nothing was started either,
    /// and the identity may be taken.
    pub fn begin(&mut self, request: &Request) -> Result<Admission, Failure> {
        self.locked(When::BeforeDispatch, |run| {
            if let Some(call) = run.history.call(&request.call) {
                return run.again(call, request).map(|call| Admission::Replay(Box::new(call)));
            }
            let fence = run.check_fence()?;
            if let Some((by, phase, state)) = run.history.suppressing(request) {
                return Err(Refusal::Suppressed { by: by.clone(), phase, state }.into());
            }
            run.admit(request)?;
            let intended = PreflightIntended {
                request: request.clone(),
                fence,
                reserved: capacity::reservation(),
                process: run.store.host().me(),
                at_ms: run.now_ms(),
            };
            run.append(Record::PreflightIntended(intended), When::BeforeDispatch)?;
            Ok(Admission::New(PreflightPermit { key: key_of(request) }))
        })
    }

    /// The same identity again.
    fn again(&self, call: &Call, request: &Request) -> Result<Call, Failure> {
        if call.request.payload_hash != request.payload_hash {
            return Err(Refusal::PayloadChanged.into());
        }
        let alive = |process: &ProcessIdentity| self.store.host().liveness(process) == Liveness::Alive;
        let at_work = |record: &PhaseRecord| {
            let process = record.dispatcher.as_ref().filter(|process| alive(process))?;
            Some(Refusal::InProgress { process: process.clone() })
        };
        if let Some((phase, record)) = call.unresolved() {
            let working = (record.state != CallState::Unknown).then(|| at_work(record)).flatten();
            let unresolved = Refusal::Unresolved { phase, state: record.state };
            return Err(working.unwrap_or(unresolved).into());
        }
        if call.awaits_command() {
            let waiting = at_work(&call.preflight);
            return Err(waiting.unwrap_or(Refusal::MetadataRevalidationRequired).into());
        }
        match call.state() {
            CallState::Settled => {
                let phase = if call.command.is_some() { Phase::Command } else { Phase::Preflight };
                Err(Refusal::Retired { phase }.into())
            }
            _ => Ok(call.clone()),
        }
    }

    /// Makes room, in the run's own counts and on the disk.
    fn admit(&mut self, request: &Request) -> Result<(), Failure> {
        if self.place.end > capacity::RUN_BYTES {
            return Err(Refusal::RunFull.into());
        }
        let store = self.store.clone();
        if let Some(reason) = capacity::refuses(&self.history, request, store.host()) {
            return Err(self.note(request, reason));
        }
        while capacity::aliases(&self.history) + 2 > capacity::ALIASES {
            let Some(call) = capacity::next_to_evict(&self.history, store.host()) else {
                return Err(self.note(request, NotedRefusal::AliasesFull));
            };
            let evicted = Evicted { call: call.request.call.clone(), at_ms: self.now_ms() };
            self.append(Record::Evicted(evicted), When::BeforeDispatch)?;
        }
        let room = u64::from(capacity::reservation()) + capacity::worst_case(request);
        let path = store.frames_of(self.history.run());
        self.frames
            .reserve(self.place.end, room)
            .map_err(|error| unavailable("reserve room in", &path, &error))?;
        Ok(())
    }

    /// Notes a refusal under the identity that was asked for, which it does not use up.
    fn note(&mut self, request: &Request, reason: NotedRefusal) -> Failure {
        if self.history.refused().len() < capacity::NOTES {
            let (call, command_hash) = (request.call.clone(), request.command_hash);
            let refused = Refused { call, command_hash, reason, at_ms: self.now_ms() };
            if let Err(failure) = self.append(Record::Refused(refused), When::BeforeDispatch) {
                return failure;
            }
        }
        Refusal::Capacity(reason).into()
    }

    /// The fence of our claim, when it is still the newest.
    fn check_fence(&self) -> Result<u64, Refusal> {
        match &self.claim {
            Some(claim) if self.history.claim() == Some(claim) => Ok(claim.fence),
            _ => Err(Refusal::Fenced),
        }
    }

    /// Records the process of a preflight that has one, before it is let go.
    ///
    /// # Errors
    /// As [`Run::begin`].
    pub fn start_preflight(
        &mut self,
        permit: &PreflightPermit,
        process: ProcessIdentity,
    ) -> Result<(), Failure> {
        let call = permit.key.call.clone();
        self.locked(When::BeforeDispatch, |run| {
            run.check_fence()?;
            let (phase, at_ms) = (Phase::Preflight, run.now_ms());
            run.append(Record::Started(Started { call, phase, process, at_ms }), When::BeforeDispatch)
        })
    }

    /// Saves the preflight's result, before anybody reads what it says.
    ///
    /// # Errors
    /// The result is not saved, so the command must not start.
    pub fn complete_preflight(
        &mut self,
        permit: PreflightPermit,
        outcome: Outcome,
    ) -> Result<FreshPreflight, Failure> {
        self.end(&permit.key, Phase::Preflight, When::BeforeDispatch, |call, phase, at_ms| {
            Record::Completed(Completed { call, phase, outcome, at_ms })
        })?;
        Ok(FreshPreflight { key: permit.key })
    }

    /// Nothing of the preflight started.
    ///
    /// # Errors
    /// It is not recorded: the call stays pending.
    pub fn preflight_not_started(
        &mut self,
        permit: PreflightPermit,
        reason: NotStartedReason,
    ) -> Result<(), Failure> {
        self.refrain(&permit.key, Phase::Preflight, reason)
    }

    /// What became of the preflight is not known.
    ///
    /// # Errors
    /// It is not recorded: the call stays pending, which blocks as much.
    pub fn lose_preflight(&mut self, permit: PreflightPermit, loss: Loss) -> Result<(), Failure> {
        self.end(&permit.key, Phase::Preflight, When::BeforeDispatch, |call, phase, at_ms| {
            lost(call, phase, loss, at_ms)
        })
    }

    /// Makes the intent of the command durable, with what the preflight saw.
    ///
    /// # Errors
    /// [`Refusal::Fenced`] and [`Refusal::Capacity`], recorded as not started;
    /// [`super::Persistence`]: it must not start.
    pub fn intend(
        &mut self,
        fresh: FreshPreflight,
        observation: Observation,
    ) -> Result<CommandPermit, Failure> {
        let PermitKey { call, payload } = fresh.key;
        self.locked(When::BeforeDispatch, |run| {
            let refused = match run.check_fence() {
                Err(refusal) => Some((refusal, NotStartedReason::Fenced)),
                Ok(_) if capacity::receipts(&run.history) >= capacity::RECEIPTS => {
                    Some((Refusal::Capacity(NotedRefusal::ReceiptsFull), NotStartedReason::CapacityRefused))
                }
                Ok(_) => None,
            };
            let (phase, at_ms) = (Phase::Command, run.now_ms());
            if let Some((refusal, reason)) = refused {
                let record = NotStarted { call: call.clone(), phase, reason, at_ms };
                run.append(Record::NotStarted(record), When::BeforeDispatch)?;
                return Err(refusal.into());
            }
            let process = run.store.host().me();
            let (id, payload_hash) = (call.clone(), payload);
            let intended = CommandIntended { call: id, payload_hash, observation, process, at_ms };
            run.append(Record::CommandIntended(intended), When::BeforeDispatch)
        })?;
        Ok(CommandPermit { key: PermitKey { call, payload } })
    }

    /// Records that the command is not started, after its preflight and before its intent.
    ///
    /// # Errors
    /// It is not recorded: the call needs a new identity either way.
    pub fn decline(&mut self, fresh: FreshPreflight, reason: NotStartedReason) -> Result<(), Failure> {
        self.refrain(&fresh.key, Phase::Command, reason)
    }

    /// Records that the command is not started, after its intent.
    ///
    /// # Errors
    /// It is not recorded: the call stays pending.
    pub fn not_started(&mut self, permit: CommandPermit, reason: NotStartedReason) -> Result<(), Failure> {
        self.refrain(&permit.key, Phase::Command, reason)
    }

    /// Records the command's process. It has to exist and to wait: only with the value that
    /// this gives may it be let go.
    ///
    /// # Errors
    /// [`Refusal::Fenced`], recorded as not started; [`super::Persistence`]. In both cases the
    /// process must be ended without having been let go.
    pub fn start(
        &mut self,
        permit: CommandPermit,
        process: ProcessIdentity,
    ) -> Result<RunningCommand, Failure> {
        let call = permit.key.call.clone();
        self.locked(When::BeforeDispatch, |run| {
            let (phase, at_ms) = (Phase::Command, run.now_ms());
            if let Err(refusal) = run.check_fence() {
                let reason = NotStartedReason::Fenced;
                let record = NotStarted { call, phase, reason, at_ms };
                run.append(Record::NotStarted(record), When::BeforeDispatch)?;
                return Err(refusal.into());
            }
            run.append(Record::Started(Started { call, phase, process, at_ms }), When::BeforeDispatch)
        })?;
        Ok(RunningCommand { key: permit.key })
    }

    /// It is not known whether the command was let go.
    ///
    /// # Errors
    /// It is not recorded: the call stays pending.
    pub fn lose_dispatch(&mut self, permit: CommandPermit, loss: Loss) -> Result<(), Failure> {
        self.end(&permit.key, Phase::Command, When::AfterDispatch, |call, phase, at_ms| {
            lost(call, phase, loss, at_ms)
        })
    }

    /// Makes the command's outcome durable. Only what this gives may be reported.
    ///
    /// # Errors
    /// Always [`super::Persistence`]: the command ran, and its outcome is unknown.
    pub fn complete(&mut self, running: RunningCommand, outcome: Outcome) -> Result<Call, Failure> {
        self.end(&running.key, Phase::Command, When::AfterDispatch, |call, phase, at_ms| {
            Record::Completed(Completed { call, phase, outcome, at_ms })
        })?;
        Ok(self.history.call(&running.key.call).expect("it was completed just now").clone())
    }

    /// What became of the command is not known.
    ///
    /// # Errors
    /// Always [`super::Persistence`]: the call stays pending, which blocks as much.
    pub fn lose(&mut self, running: RunningCommand, loss: Loss) -> Result<Call, Failure> {
        self.end(&running.key, Phase::Command, When::AfterDispatch, |call, phase, at_ms| {
            lost(call, phase, loss, at_ms)
        })?;
        Ok(self.history.call(&running.key.call).expect("it was lost just now").clone())
    }

    fn refrain(&mut self, key: &PermitKey, phase: Phase, reason: NotStartedReason) -> Result<(), Failure> {
        self.end(key, phase, When::BeforeDispatch, |call, phase, at_ms| {
            Record::NotStarted(NotStarted { call, phase, reason, at_ms })
        })
    }

    fn end(
        &mut self,
        key: &PermitKey,
        phase: Phase,
        when: When,
        record: impl FnOnce(CallId, Phase, u64) -> Record,
    ) -> Result<(), Failure> {
        self.locked(when, |run| {
            let record = record(key.call.clone(), phase, run.now_ms());
            run.append(record, when)
        })
    }
}

fn key_of(request: &Request) -> PermitKey {
    PermitKey { call: request.call.clone(), payload: request.payload_hash }
}

pub(super) fn lost(call: CallId, phase: Phase, loss: Loss, at_ms: u64) -> Record {
    let Loss { reason, abort, infra, output, supervisor } = loss;
    Record::Unknown(Unknown { call, phase, reason, abort, infra, output, supervisor, at_ms })
}
