//! Every way in which a check is refused, as one closed set: a code for machines, a
//! sentence, and one line that says what to do.

use std::fmt;
use std::io::ErrorKind;

use super::dispatch::TooLong;
use super::notes::CheckpointFault;
use crate::ledger::{Failure, Invalid, Refusal};
use crate::policy::Denied;
use crate::supervise::{Deferred, NotRun, StopReason};

/// Why a check was refused. Unless it is [`Why::Persistence`] with `dispatched`, the
/// command did not start, and no byte of the run's history changed except for the note
/// that a refusal for want of room leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The submission is not of the form.
    Submission(String),
    /// The timeout is zero or too long.
    Timeout,
    /// The complete dispatched command is too long.
    Command(TooLong),
    /// A checkpoint came with a baseline.
    CheckpointWithBaseline,
    /// The checkpoint is not allowed.
    Checkpoint(CheckpointFault),
    /// The policy refuses the command.
    Policy(Denied),
    /// There is no checkout to bind a receipt to.
    NoCheckout,
    /// Git could not be asked; what it said, in one closed sentence.
    Git(String),
    /// The path of the checkout is too long for a record.
    CheckoutPath,
    /// There is nothing that could run the command.
    Executor(NotRun),
    /// The host has too little memory.
    Memory(Deferred),
    /// The run or the call was stopped before anything was written down.
    Stopped(StopReason),
    /// No time is left.
    BudgetExhausted,
    /// The caller's labels are not those of the record.
    Identity(&'static str),
    /// The ledger refuses.
    Ledger(Refusal),
    /// Something could not be made durable.
    Persistence {
        /// What was tried.
        step: &'static str,
        /// The operating system's kind of error.
        kind: ErrorKind,
        /// Whether the command had been let go: then its outcome is unknown.
        dispatched: bool,
    },
}

impl Why {
    /// The code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Submission(_) => "submission_invalid",
            Self::Timeout => "timeout_invalid",
            Self::Command(_) => "command_too_long",
            Self::CheckpointWithBaseline => "checkpoint_with_baseline",
            Self::Checkpoint(_) => "checkpoint_invalid",
            Self::Policy(Denied::Unreadable(_)) => "policy_unreadable",
            Self::Policy(_) => "policy_refused",
            Self::NoCheckout => "no_checkout",
            Self::Git(_) => "git_unavailable",
            Self::CheckoutPath => "checkout_path_invalid",
            Self::Executor(_) => "no_executor",
            Self::Memory(_) => "memory_low",
            Self::Stopped(_) => "stopped",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Identity(_) => "identity_mismatch",
            Self::Ledger(refusal) => refusal.code(),
            Self::Persistence { .. } => "persistence_failure",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Submission(_) => "submit purpose and command, and at most timeout_ms and checkpoint",
            Self::Timeout => "give a timeout of 1ms to 24h, or none",
            Self::Command(TooLong::Text) => "put the command into a script of the checkout and run that",
            Self::Command(TooLong::Path) | Self::CheckoutPath => {
                "use a checkout whose path is UTF-8 and at most 1,024 bytes long"
            }
            Self::CheckpointWithBaseline => "give the checkpoint with a verification",
            Self::Checkpoint(_) => "correct the checkpoint and call again with it",
            Self::Policy(Denied::Unreadable(_)) => "repair the policy; until then nothing is recorded",
            Self::Policy(_) => "use a command that the policy allows; do not run this one in another way",
            Self::NoCheckout => "work in a git working tree, or run the command without a receipt and say so",
            Self::Git(_) => {
                "repair what git complains about, or run the command without a receipt and say so"
            }
            Self::Executor(cause) => cause.remedy(),
            Self::Memory(_) => "wait until other work has ended, or lower what is asked for with --reserve",
            Self::Stopped(_) => "call again with a new id when the run goes on",
            Self::BudgetExhausted => "call again with a new id when the run has time",
            Self::Identity(_) => "ask with the owner, unit, thread and resource of the run",
            Self::Ledger(refusal) => refusal.remedy(),
            Self::Persistence { dispatched: false, .. } => "repair the disk, then call again with a new id",
            Self::Persistence { dispatched: true, .. } => {
                "repair the disk, then look at the call with `owed record show` before anything else"
            }
        }
    }

    /// Whether the caller may run the command in another way, without a receipt. Only
    /// where a capability is missing and nothing was touched; never around a policy, an
    /// unknown outcome or a failed write.
    #[must_use]
    pub fn permits_unrecorded(&self) -> bool {
        matches!(self, Self::NoCheckout | Self::Git(_) | Self::CheckoutPath)
            || matches!(self, Self::Executor(NotRun::UnsupportedPlatform | NotRun::NoSupervisor))
            || matches!(self, Self::Ledger(Refusal::Absent))
    }

    /// Whether it is room, time or memory that is wanting: no verdict, and the same may
    /// succeed later.
    #[must_use]
    pub fn is_capacity(&self) -> bool {
        match self {
            Self::Memory(_) | Self::BudgetExhausted | Self::Stopped(_) => true,
            Self::Ledger(refusal) => {
                matches!(refusal, Refusal::Capacity(_) | Refusal::RunFull | Refusal::DiskFull | Refusal::Busy)
            }
            _ => false,
        }
    }

    /// Whether it is known that the command did not start by this call.
    #[must_use]
    pub fn did_not_start(&self) -> bool {
        !matches!(self, Self::Persistence { dispatched: true, .. })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submission(what) => write!(f, "the submission was not understood: {what}"),
            Self::Timeout => write!(f, "the timeout is zero or longer than a day"),
            Self::Command(TooLong::Text) => {
                write!(f, "the complete command would have more than 64,000 characters")
            }
            Self::Command(TooLong::Path) => {
                write!(f, "the path of the checkout cannot be written into a command")
            }
            Self::CheckpointWithBaseline => write!(f, "a baseline has no checkpoint"),
            Self::Checkpoint(fault) => write!(f, "the checkpoint is not allowed: {fault}"),
            Self::Policy(denied) => write!(f, "{denied}"),
            Self::NoCheckout => write!(f, "there is no git working tree here to bind a receipt to"),
            Self::Git(what) => write!(f, "git cannot be asked: {what}"),
            Self::CheckoutPath => write!(f, "the path of the checkout cannot be written into a record"),
            Self::Executor(cause) => write!(f, "nothing can run the command: {}", cause.word()),
            Self::Memory(deferred) => {
                let mib = |bytes: u64| bytes >> 20;
                match deferred.available {
                    Some(available) => write!(
                        f,
                        "the host has {} MiB of memory left, and {} MiB are needed",
                        mib(available),
                        mib(deferred.needed)
                    ),
                    None => write!(f, "the host does not say how much memory is left"),
                }
            }
            Self::Stopped(StopReason::Run) => write!(f, "the run was stopped"),
            Self::Stopped(StopReason::Call) => write!(f, "the call was stopped"),
            Self::BudgetExhausted => write!(f, "the run has no time left"),
            Self::Identity(what) => write!(f, "the record belongs to another {what}"),
            Self::Ledger(refusal) => write!(f, "{refusal}"),
            Self::Persistence { step, kind, .. } => write!(f, "cannot {step} the ledger: {kind}"),
        }
    }
}

impl std::error::Error for Why {}

impl From<Refusal> for Why {
    fn from(refusal: Refusal) -> Self {
        Self::Ledger(refusal)
    }
}

impl From<Invalid> for Why {
    fn from(invalid: Invalid) -> Self {
        Self::Ledger(Refusal::Invalid(invalid))
    }
}

impl From<Failure> for Why {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => Self::Ledger(refusal),
            Failure::Persistence(failure) => Self::Persistence {
                step: failure.step,
                kind: failure.error.kind(),
                dispatched: failure.dispatched,
            },
        }
    }
}
