//! Every way in which the ledger says no, as closed sets with a remedy each.
//!
//! A [`Refusal`] means: nothing was started by this call and no byte of history changed,
//! except for the note that the refusal itself may be. A [`Persistence`] failure means that a
//! record may or may not be durable: what depends on it must not happen, and nothing may be
//! tried again under the same handle.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::names::{CallId, Invalid};
use super::records::Malformed;
use super::terms::NotedRefusal;
use crate::lease::ProcessIdentity;
use crate::state::{CallState, Illegal, Phase};

/// Why a run is held: kept as it is, neither read as history nor written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The second place says that there was a run, and its frames are not there.
    Gone,
    /// Frames that were acknowledged are missing at the end.
    Cut {
        /// The last sequence number that was acknowledged.
        acknowledged: u64,
        /// The last that is there.
        found: u64,
    },
    /// There are frames, and the second place is gone or unreadable: nobody can say whether
    /// the end was cut.
    AcknowledgementLost,
    /// The last acknowledged frame is not the one that was acknowledged.
    Replaced {
        /// Its sequence number.
        sequence: u64,
    },
    /// Bytes that are not a frame, where one was acknowledged or whole ones follow.
    Corrupt {
        /// Where in the file of frames.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A whole frame that does not follow the one before: of another run, or out of order.
    Foreign {
        /// Where in the file of frames.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A whole frame whose payload is not a record.
    Malformed {
        /// Its sequence number.
        sequence: u64,
        /// What is wrong.
        what: Malformed,
    },
    /// A record that the writer would not have written at this place.
    Forged {
        /// Its sequence number.
        sequence: u64,
        /// What is wrong.
        what: Forgery,
    },
    /// The frames are more than a run can have.
    TooLarge {
        /// Their size in bytes.
        bytes: u64,
    },
}

/// Why a record cannot stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// The first record does not open the run, or a later one does.
    Opening,
    /// The run is another one than the directory's.
    OtherRun,
    /// It comes before the run was claimed.
    Unclaimed,
    /// A claim that may not follow the claim before.
    Claim(ClaimRefusal),
    /// The call has no intent.
    NoSuchCall(CallId),
    /// The call has one already.
    DuplicateCall(CallId),
    /// Digests that are not those of the request.
    Digest(CallId),
    /// Another payload than the call's.
    Payload(CallId),
    /// A fence that is not the current claim's.
    Fence(CallId),
    /// The machine has no such step.
    Step(Illegal),
    /// The command came before its preflight was completed.
    PreflightUnresolved(CallId),
    /// A process that is not the one recorded.
    Process(CallId),
    /// More output than its phase may keep.
    Output(CallId),
    /// The outputs of a call were given up that still needs them, or has none.
    Eviction(CallId),
    /// The limits of the run do not admit it.
    Capacity(CallId),
}

/// Why a claim is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// Another thread than the run's.
    OtherThread,
    /// Another resource than the run's.
    OtherResource,
    /// A fence that is smaller than the newest claim's.
    OlderFence,
    /// The newest claim's fence, in another name.
    SameFenceOtherOwner,
}

/// Why a call is refused. Nothing of it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no ledger for the run, and it had to exist.
    Absent,
    /// The run is held.
    Held(Hold),
    /// The run was written by a newer version.
    Newer {
        /// Its version.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The claim is not the run's.
    Claim(ClaimRefusal),
    /// A newer owner has claimed the run since this handle was opened.
    Fenced,
    /// A name or a text is not allowed.
    Invalid(Invalid),
    /// The identity was used with another payload.
    PayloadChanged,
    /// The same identity is at work in a process that lives.
    InProgress {
        /// Which.
        process: ProcessIdentity,
    },
    /// The same identity is unresolved: it is never repeated.
    Unresolved {
        /// Which half.
        phase: Phase,
        /// Where it stands.
        state: CallState,
    },
    /// The same identity was retired by a proof. It is never repeated.
    Retired {
        /// Which half.
        phase: Phase,
    },
    /// The same command is unresolved under another identity.
    Suppressed {
        /// Which identity.
        by: CallId,
        /// Which half.
        phase: Phase,
        /// Where it stands.
        state: CallState,
    },
    /// The identity has a saved preflight and no command. What it observed may have changed.
    MetadataRevalidationRequired,
    /// There is no such call.
    NoSuchCall,
    /// The lookup names another owner, thread, workspace or command than the record.
    LookupMismatch,
    /// The call is not unresolved, so there is nothing to settle.
    NothingToSettle,
    /// The process still runs.
    StillRuns {
        /// Which.
        process: ProcessIdentity,
    },
    /// Nobody can tell whether the process runs.
    CannotTell {
        /// Which.
        process: ProcessIdentity,
    },
    /// The proof is of another process than the one recorded.
    ForeignProof,
    /// The run's records do not allow this step: another process has resolved the call.
    Illegal(Forgery),
    /// There is no room for its receipt.
    Capacity(NotedRefusal),
    /// The run's file has reached its bound.
    RunFull,
    /// The disk has no room for the receipt.
    DiskFull,
    /// Another process kept the run's lock for too long.
    Busy,
    /// An earlier failure of this handle left it uncertain what is durable.
    Poisoned,
    /// The state directory cannot be written or read.
    Unavailable {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// The operating system's kind of error.
        kind: io::ErrorKind,
    },
}

impl Refusal {
    /// The closed code of it, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Absent => "ledger_absent",
            Refusal::Held(_) => "ledger_held",
            Refusal::Newer { .. } => "ledger_newer",
            Refusal::Claim(_) => "claim_refused",
            Refusal::Fenced => "fenced",
            Refusal::Invalid(_) => "invalid",
            Refusal::PayloadChanged => "payload_changed",
            Refusal::InProgress { .. } => "in_progress",
            Refusal::Unresolved { .. } => "unresolved",
            Refusal::Retired { .. } => "retired",
            Refusal::Suppressed { .. } => "suppressed",
            Refusal::MetadataRevalidationRequired => "metadata_revalidation_required",
            Refusal::NoSuchCall => "no_such_call",
            Refusal::LookupMismatch => "lookup_mismatch",
            Refusal::NothingToSettle => "nothing_to_settle",
            Refusal::StillRuns { .. } => "still_runs",
            Refusal::CannotTell { .. } => "cannot_tell",
            Refusal::ForeignProof => "foreign_proof",
            Refusal::Illegal(_) => "illegal_step",
            Refusal::Capacity(NotedRefusal::ReceiptsFull) => "receipts_full",
            Refusal::Capacity(NotedRefusal::BytesFull) => "bytes_full",
            Refusal::Capacity(NotedRefusal::AliasesFull) => "aliases_full",
            Refusal::RunFull => "run_full",
            Refusal::DiskFull => "disk_full",
            Refusal::Busy => "busy",
            Refusal::Poisoned => "poisoned",
            Refusal::Unavailable { .. } => "ledger_unavailable",
        }
    }

    /// Whether it only says that nothing can be recorded here, so that a host may run the
    /// command without a record and say so. Never after a policy, an uncertain execution or a
    /// persistence failure.
    #[must_use]
    pub fn permits_unrecorded(&self) -> bool {
        matches!(self, Refusal::Absent | Refusal::Unavailable { .. })
    }

    /// What to do about it, in one line.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Refusal::Absent => "name a run that exists, or leave out the demand that it does",
            Refusal::Held(_) => {
                "keep the run as evidence and start another run id; restore its files if you have them"
            }
            Refusal::Newer { .. } => "use the version of owed that wrote the run, or a newer one",
            Refusal::Claim(_) | Refusal::Fenced => {
                "claim the run with its own thread and resource and a newer fence, or start another run id"
            }
            Refusal::Invalid(_) => "correct the argument and call again",
            Refusal::PayloadChanged => "use a new call id for a changed request",
            Refusal::InProgress { .. } => {
                "wait for the process that runs it, then ask again under the same id"
            }
            Refusal::Unresolved { .. } | Refusal::Suppressed { .. } => {
                "look at the call with `owed record show`, and retire it with `owed record settle` when it has ended"
            }
            Refusal::Retired { .. } => "use a new call id to run the command again",
            Refusal::MetadataRevalidationRequired => {
                "use a new call id, so that the checkout is observed again"
            }
            Refusal::NoSuchCall => "list the run's calls with `owed record list`",
            Refusal::LookupMismatch => "ask with the owner, thread, workspace and command of the record",
            Refusal::NothingToSettle => "nothing: the call is resolved",
            Refusal::StillRuns { .. } => "wait until the process has ended, or end it, then settle",
            Refusal::CannotTell { .. } => {
                "settle from the host and the PID namespace in which the command ran"
            }
            Refusal::ForeignProof => "give the exit record of the process that the call recorded",
            Refusal::Illegal(_) => "look at the call with `owed record show`: it was resolved otherwise",
            Refusal::Capacity(NotedRefusal::ReceiptsFull) => {
                "start another run id; the saved results stay readable"
            }
            Refusal::Capacity(NotedRefusal::BytesFull) => {
                "wait for running calls to end, settle lost ones, or start another run id"
            }
            Refusal::Capacity(NotedRefusal::AliasesFull) => "settle the unresolved calls of the thread",
            Refusal::RunFull => "start another run id",
            Refusal::DiskFull => "free some room on the disk and call again",
            Refusal::Busy => "see which process holds the run's lock, and call again",
            Refusal::Poisoned => "open the run again; what is durable is read from the disk",
            Refusal::Unavailable { .. } => "make the state directory readable and writable",
        }
    }
}

/// A record could not be made durable, or it is not known whether it is.
#[derive(Debug)]
pub struct Persistence {
    /// What was tried.
    pub step: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the operating system said.
    pub error: io::Error,
    /// Whether the command had been let go when this happened. When not, it has not started
    /// and must not.
    pub dispatched: bool,
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, path, error, dispatched } = self;
        let what = if *dispatched { "its outcome is unknown" } else { "the command did not start" };
        write!(f, "cannot {step} {}: {error}; {what}", path.display())
    }
}

impl std::error::Error for Persistence {}

/// Why a step of the ledger was not made.
#[derive(Debug)]
pub enum Failure {
    /// It was refused: nothing was started by it.
    Refused(Refusal),
    /// It may or may not have been recorded. Fail closed.
    Persistence(Persistence),
}

impl Failure {
    /// The closed code of it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Failure::Refused(refusal) => refusal.code(),
            Failure::Persistence(_) => "persistence_failure",
        }
    }

    /// What to do about it, in one line.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Failure::Refused(refusal) => refusal.remedy(),
            Failure::Persistence(_) => {
                "repair the disk, open the run again, and look at the call before anything else"
            }
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Failure::Refused(Refusal::Invalid(invalid))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refusal) => write!(f, "{refusal}"),
            Failure::Persistence(failure) => write!(f, "{failure}"),
        }
    }
}

impl std::error::Error for Failure {}
