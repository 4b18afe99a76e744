//! What a run's records say together: the strict reader.
//!
//! [`History::check`] says whether a record may follow, and [`History::apply`] takes it in.
//! The writer checks before it writes and the reader before it believes, with the same code,
//! so that a file cannot hold what the writer would have refused.

use std::collections::BTreeMap;

use super::call::{Call, PhaseRecord, proves};
use super::capacity;
use super::names::{CallId, RunId};
use super::records::{Claimed, NotStarted, Record, Refused, Request};
use super::refusal::{ClaimRefusal, Forgery};
use super::terms::{Claim, NotStartedReason};
use crate::lease::ProcessIdentity;
use crate::state::{CallState, Phase, Step, step};

/// What a run's records say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    run: RunId,
    opened: bool,
    sequence: u64,
    claims: Vec<Claimed>,
    calls: BTreeMap<CallId, Call>,
    refused: Vec<Refused>,
}

impl History {
    pub(super) fn new(run: RunId) -> Self {
        Self {
            run,
            opened: false,
            sequence: 0,
            claims: Vec::new(),
            calls: BTreeMap::new(),
            refused: Vec::new(),
        }
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// How many records it has.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.sequence
    }

    /// The newest claim.
    #[must_use]
    pub fn claim(&self) -> Option<&Claim> {
        self.claims.last().map(|claimed| &claimed.claim)
    }

    /// The claim under which a call was made.
    #[must_use]
    pub fn claim_of(&self, call: &Call) -> Option<&Claim> {
        self.claims.iter().map(|claimed| &claimed.claim).find(|claim| claim.fence == call.fence)
    }

    /// A call by its identity.
    #[must_use]
    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.calls.get(id)
    }

    /// All calls, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<&Call> {
        let mut calls: Vec<&Call> = self.calls.values().collect();
        calls.sort_by_key(|call| call.sequence);
        calls
    }

    /// The calls that are unresolved, oldest first. Every answer about the run names them.
    #[must_use]
    pub fn unresolved(&self) -> Vec<&Call> {
        self.calls().into_iter().filter(|call| call.unresolved().is_some()).collect()
    }

    /// The notes about calls that were refused for want of room, oldest first.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Whether a record may follow.
    pub(super) fn check(&self, record: &Record) -> Result<(), Forgery> {
        match record {
            Record::Opened(opened) => {
                if self.opened {
                    return Err(Forgery::Opening);
                }
                if opened.run != self.run { Err(Forgery::OtherRun) } else { Ok(()) }
            }
            _ if !self.opened => Err(Forgery::Opening),
            Record::Claimed(claimed) => self.check_claim(&claimed.claim).map_err(Forgery::Claim),
            _ if self.claims.is_empty() => Err(Forgery::Unclaimed),
            Record::PreflightIntended(intended) => {
                let id = &intended.request.call;
                if self.calls.contains_key(id) {
                    return Err(Forgery::DuplicateCall(id.clone()));
                }
                if !intended.request.is_genuine() {
                    return Err(Forgery::Digest(id.clone()));
                }
                if self.claim().is_none_or(|claim| claim.fence != intended.fence) {
                    return Err(Forgery::Fence(id.clone()));
                }
                if self.suppressing(&intended.request).is_some()
                    || u64::from(intended.reserved) > capacity::AGGREGATE_BYTES
                {
                    return Err(Forgery::Capacity(id.clone()));
                }
                Ok(())
            }
            Record::CommandIntended(intended) => {
                let call = self.known(&intended.call)?;
                if intended.payload_hash != call.request.payload_hash {
                    return Err(Forgery::Payload(intended.call.clone()));
                }
                self.check_fence(&intended.call, call)?;
                if capacity::receipts(self) >= capacity::RECEIPTS {
                    return Err(Forgery::Capacity(intended.call.clone()));
                }
                self.check_step(&intended.call, Phase::Command, Step::Intend)
            }
            Record::Started(started) => {
                self.check_fence(&started.call, self.known(&started.call)?)?;
                self.check_step(&started.call, started.phase, Step::Start)
            }
            Record::Completed(completed) => {
                self.check_supervisor(
                    &completed.call,
                    completed.phase,
                    completed.outcome.supervisor.as_ref().map(|record| &record.process),
                )?;
                let small = completed.phase == Phase::Command || completed.outcome.output.fits_preflight();
                if !small {
                    return Err(Forgery::Output(completed.call.clone()));
                }
                self.check_step(&completed.call, completed.phase, Step::Complete)
            }
            Record::NotStarted(not_started) => {
                self.check_step(&not_started.call, not_started.phase, self.step_of(not_started))
            }
            Record::Unknown(unknown) => {
                self.check_supervisor(
                    &unknown.call,
                    unknown.phase,
                    unknown.supervisor.as_ref().map(|record| &record.process),
                )?;
                if unknown.phase == Phase::Preflight && !unknown.output.fits_preflight() {
                    return Err(Forgery::Output(unknown.call.clone()));
                }
                self.check_step(&unknown.call, unknown.phase, Step::Lose)
            }
            Record::Settled(settled) => {
                self.check_step(&settled.call, settled.phase, Step::Settle)?;
                let call = self.known(&settled.call)?;
                let proven = call.phase(settled.phase).is_some_and(|record| proves(&settled.proof, record));
                if proven { Ok(()) } else { Err(Forgery::Process(settled.call.clone())) }
            }
            Record::Evicted(evicted) => {
                let call = self.known(&evicted.call)?;
                if call.evicted || !capacity::evictable(call) {
                    return Err(Forgery::Eviction(evicted.call.clone()));
                }
                Ok(())
            }
            Record::Refused(refused) => {
                if self.refused.len() >= capacity::NOTES {
                    return Err(Forgery::Capacity(refused.call.clone()));
                }
                Ok(())
            }
        }
    }

    /// Whether a claim may follow the newest one; an equal one is no new claim.
    pub(super) fn check_claim(&self, claim: &Claim) -> Result<(), ClaimRefusal> {
        let Some(current) = self.claim() else { return Ok(()) };
        if current.thread != claim.thread {
            return Err(ClaimRefusal::OtherThread);
        }
        if current.resource != claim.resource {
            return Err(ClaimRefusal::OtherResource);
        }
        if claim.fence < current.fence {
            return Err(ClaimRefusal::OlderFence);
        }
        if claim.fence == current.fence {
            return Err(ClaimRefusal::SameFenceOtherOwner);
        }
        Ok(())
    }

    /// The unresolved call that has the same command under another identity.
    pub(super) fn suppressing(&self, request: &Request) -> Option<(&CallId, Phase, CallState)> {
        self.calls
            .iter()
            .filter(|(id, call)| **id != request.call && call.request.command_hash == request.command_hash)
            .find_map(|(id, call)| call.unresolved().map(|(phase, record)| (id, phase, record.state)))
    }

    fn known(&self, id: &CallId) -> Result<&Call, Forgery> {
        self.calls.get(id).ok_or_else(|| Forgery::NoSuchCall(id.clone()))
    }

    /// Nothing new is started in the name of an older claim.
    fn check_fence(&self, id: &CallId, call: &Call) -> Result<(), Forgery> {
        if self.claim().is_some_and(|claim| claim.fence == call.fence) {
            Ok(())
        } else {
            Err(Forgery::Fence(id.clone()))
        }
    }

    fn check_supervisor(
        &self,
        id: &CallId,
        phase: Phase,
        process: Option<&ProcessIdentity>,
    ) -> Result<(), Forgery> {
        let recorded = self.known(id)?.phase(phase).and_then(|record| record.started.as_ref());
        match (process, recorded) {
            (Some(process), Some(started)) if started.process == *process => Ok(()),
            (None, _) => Ok(()),
            _ => Err(Forgery::Process(id.clone())),
        }
    }

    /// Only a spawn that failed leads out of a phase whose supervisor was let go.
    fn step_of(&self, not_started: &NotStarted) -> Step {
        let phase = self.calls.get(&not_started.call).and_then(|call| call.phase(not_started.phase));
        let is_running = phase.is_some_and(|phase| phase.state == CallState::Running);
        match not_started.reason {
            NotStartedReason::SpawnFailed if is_running => Step::NotSpawn,
            _ => Step::NotStart,
        }
    }

    fn check_step(&self, id: &CallId, phase: Phase, asked: Step) -> Result<(), Forgery> {
        let call = self.known(id)?;
        if phase == Phase::Command && call.preflight.state != CallState::Completed {
            return Err(Forgery::PreflightUnresolved(id.clone()));
        }
        let from = call.phase(phase).map(|record| record.state);
        step(phase, from, asked).map(|_| ()).map_err(Forgery::Step)
    }

    /// Takes a record in; `bytes` is what its frame takes.
    pub(super) fn apply(&mut self, record: &Record, bytes: u64) -> Result<(), Forgery> {
        self.check(record)?;
        self.sequence += 1;
        match record {
            Record::Opened(_) => self.opened = true,
            Record::Claimed(claimed) => self.claims.push(claimed.clone()),
            Record::Refused(refused) => self.refused.push(refused.clone()),
            Record::PreflightIntended(intended) => {
                let dispatcher = Some(intended.process.clone());
                let call = Call {
                    request: intended.request.clone(),
                    fence: intended.fence,
                    sequence: self.sequence,
                    preflight: PhaseRecord::new(CallState::Pending, dispatcher, intended.at_ms),
                    command: None,
                    evicted: false,
                    reserved: u64::from(intended.reserved),
                    bytes,
                };
                self.calls.insert(intended.request.call.clone(), call);
            }
            Record::CommandIntended(intended) => {
                let call = self.taking(&intended.call, bytes)?;
                let dispatcher = Some(intended.process.clone());
                let mut command = PhaseRecord::new(CallState::Pending, dispatcher, intended.at_ms);
                command.observation = Some(intended.observation.clone());
                call.command = Some(command);
            }
            Record::Started(started) => {
                self.stepping(&started.call, started.phase, Step::Start, bytes)?.started =
                    Some(started.clone());
            }
            Record::Completed(completed) => {
                self.stepping(&completed.call, completed.phase, Step::Complete, bytes)?.completed =
                    Some(completed.clone());
            }
            Record::NotStarted(not_started) => {
                let (id, phase) = (&not_started.call, not_started.phase);
                if self.known(id)?.phase(phase).is_none() {
                    let declined = PhaseRecord::new(CallState::NotStarted, None, not_started.at_ms);
                    self.taking(id, bytes)?.command = Some(declined);
                    self.stepped(id, phase)?.not_started = Some(not_started.clone());
                } else {
                    let asked = self.step_of(not_started);
                    self.stepping(id, phase, asked, bytes)?.not_started = Some(not_started.clone());
                }
            }
            Record::Unknown(unknown) => {
                self.stepping(&unknown.call, unknown.phase, Step::Lose, bytes)?.unknown =
                    Some(unknown.clone());
            }
            Record::Settled(settled) => {
                self.stepping(&settled.call, settled.phase, Step::Settle, bytes)?.settled =
                    Some(settled.clone());
            }
            Record::Evicted(evicted) => {
                let call = self.taking(&evicted.call, bytes)?;
                capacity::strip(call);
            }
        }
        Ok(())
    }

    fn taking(&mut self, id: &CallId, bytes: u64) -> Result<&mut Call, Forgery> {
        let call = self.calls.get_mut(id).ok_or_else(|| Forgery::NoSuchCall(id.clone()))?;
        call.bytes += bytes;
        Ok(call)
    }

    fn stepped(&mut self, id: &CallId, phase: Phase) -> Result<&mut PhaseRecord, Forgery> {
        self.calls
            .get_mut(id)
            .and_then(|call| call.phase_mut(phase))
            .ok_or_else(|| Forgery::NoSuchCall(id.clone()))
    }

    fn stepping(
        &mut self,
        id: &CallId,
        phase: Phase,
        asked: Step,
        bytes: u64,
    ) -> Result<&mut PhaseRecord, Forgery> {
        self.taking(id, bytes)?;
        let record = self.stepped(id, phase)?;
        record.state = step(phase, Some(record.state), asked).map_err(Forgery::Step)?;
        Ok(record)
    }
}
