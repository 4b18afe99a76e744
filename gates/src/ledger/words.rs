//! What refusals, holds and forgeries say in words. One line each, and no content of any
//! record.

use std::fmt;

use super::refusal::{ClaimRefusal, Forgery, Hold, Refusal};
use super::terms::NotedRefusal;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Absent => write!(f, "there is no ledger for this run"),
            Refusal::Held(hold) => write!(f, "the run is held: {hold}"),
            Refusal::Newer { found, known } => {
                write!(f, "the run has format {found}, and this version knows {known}")
            }
            Refusal::Claim(claim) => write!(f, "the claim is refused: {claim}"),
            Refusal::Fenced => write!(f, "a newer owner has claimed the run"),
            Refusal::Invalid(invalid) => write!(f, "{invalid}"),
            Refusal::PayloadChanged => write!(f, "the call id was used with another payload"),
            Refusal::InProgress { process } => {
                write!(f, "the call is at work in process {}", process.pid)
            }
            Refusal::Unresolved { phase, state } => {
                write!(f, "the {} of this call is {}", phase.word(), state.word())
            }
            Refusal::Retired { phase } => write!(f, "the {} of this call was settled", phase.word()),
            Refusal::Suppressed { by, phase, state } => {
                write!(f, "the {} of the same command is {} as call {by}", phase.word(), state.word())
            }
            Refusal::MetadataRevalidationRequired => {
                write!(f, "the saved preflight does not prove what the checkout is now")
            }
            Refusal::NoSuchCall => write!(f, "the run has no such call"),
            Refusal::LookupMismatch => {
                write!(f, "the record belongs to another owner, thread, workspace or command")
            }
            Refusal::NothingToSettle => write!(f, "the call is not unresolved"),
            Refusal::StillRuns { process } => write!(f, "process {} still runs", process.pid),
            Refusal::CannotTell { process } => {
                write!(f, "it cannot be told whether process {} runs", process.pid)
            }
            Refusal::ForeignProof => write!(f, "the proof is of another process"),
            Refusal::Illegal(what) => write!(f, "the step is not allowed: {what}"),
            Refusal::Capacity(NotedRefusal::ReceiptsFull) => write!(f, "the run has all its receipts"),
            Refusal::Capacity(NotedRefusal::BytesFull) => write!(f, "the run's receipts have no room left"),
            Refusal::Capacity(NotedRefusal::AliasesFull) => {
                write!(f, "the thread's aliases are all unresolved")
            }
            Refusal::RunFull => write!(f, "the run's file has reached its bound"),
            Refusal::DiskFull => write!(f, "the disk is full"),
            Refusal::Busy => write!(f, "the run's lock was not free in time"),
            Refusal::Poisoned => write!(f, "an earlier write of this handle failed"),
            Refusal::Unavailable { step, path, kind } => {
                write!(f, "cannot {step} {}: {kind}", path.display())
            }
        }
    }
}

impl fmt::Display for ClaimRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClaimRefusal::OtherThread => "the run belongs to another thread",
            ClaimRefusal::OtherResource => "the run was authorized for another resource",
            ClaimRefusal::OlderFence => "a claim with a newer fence exists",
            ClaimRefusal::SameFenceOtherOwner => "the fence belongs to another owner",
        })
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Gone => write!(f, "its frames are gone"),
            Hold::Cut { acknowledged, found } => {
                write!(f, "record {acknowledged} was acknowledged, and the last that is there is {found}")
            }
            Hold::AcknowledgementLost => {
                write!(f, "the second place does not say how far it was acknowledged")
            }
            Hold::Replaced { sequence } => {
                write!(f, "record {sequence} is not the one that was acknowledged")
            }
            Hold::Corrupt { offset, what } => write!(f, "at byte {offset} {what}"),
            Hold::Foreign { offset, what } => write!(f, "the frame at byte {offset} is foreign: {what}"),
            Hold::Malformed { sequence, what } => write!(f, "record {sequence} is malformed: {what}"),
            Hold::Forged { sequence, what } => write!(f, "record {sequence} cannot stand there: {what}"),
            Hold::TooLarge { bytes } => write!(f, "{bytes} bytes are more than a run can have"),
        }
    }
}

impl fmt::Display for Forgery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forgery::Opening => write!(f, "a run is opened once, and first"),
            Forgery::OtherRun => write!(f, "it is of another run"),
            Forgery::Unclaimed => write!(f, "nobody has claimed the run"),
            Forgery::Claim(claim) => write!(f, "{claim}"),
            Forgery::NoSuchCall(call) => write!(f, "call {call} has no intent"),
            Forgery::DuplicateCall(call) => write!(f, "call {call} has an intent already"),
            Forgery::Digest(call) => write!(f, "the digests of call {call} are not those of its request"),
            Forgery::Payload(call) => write!(f, "it has another payload than call {call}"),
            Forgery::Fence(call) => write!(f, "call {call} is not of the current claim"),
            Forgery::Step(illegal) => write!(f, "{illegal}"),
            Forgery::PreflightUnresolved(call) => write!(f, "the preflight of call {call} is not completed"),
            Forgery::Process(call) => write!(f, "the process is not the one of call {call}"),
            Forgery::Output(call) => write!(f, "call {call} keeps more output than it may"),
            Forgery::Eviction(call) => write!(f, "the outputs of call {call} cannot be given up"),
            Forgery::Capacity(call) => write!(f, "there is no room for call {call}"),
        }
    }
}
