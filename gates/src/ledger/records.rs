//! The records of a run: the producer's types, which every reader uses too.
//!
//! Each is a strict value: unknown, missing and repeated fields are refused, and so is any
//! spelling of the same value that the writer would not have written (a record is read, then
//! written again, and the bytes have to be equal). Nothing absent is filled in.
//!
//! What a record may follow is not said here but in [`crate::state`] and
//! [`super::history`].

use std::num::NonZeroU64;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::names::{CallId, Digest, Invalid, Label, RunId};
use super::text::{COMMAND_CHARS, CommandText, Output, STORED_COMMAND_CHARS};
use crate::lease::ProcessIdentity;
use crate::state::Phase;

/// What a call is for. A verification is not an approval to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Before the intended change.
    Baseline,
    /// After it.
    Verification,
}

impl Purpose {
    /// The word used in output and arguments.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Baseline => "baseline",
            Purpose::Verification => "verification",
        }
    }
}

/// The caller's own timeout. Leaving it out and giving the default are different payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timeout {
    /// Not given.
    Omitted,
    /// Given, in milliseconds.
    Explicit(NonZeroU64),
}

/// What a caller asks for, under one identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The identity.
    pub call: CallId,
    /// What it is for.
    pub purpose: Purpose,
    /// The command, redacted.
    pub command: CommandText,
    /// Digest of the command as it was given, whatever it is wrapped in to be dispatched.
    pub command_hash: Digest,
    /// Digest of everything that was submitted under the identity.
    pub payload_hash: Digest,
    /// The caller's own timeout.
    pub timeout: Timeout,
    /// Digest of whatever else was submitted under the identity (how the command is
    /// meant, a checkpoint).
    pub attachment: Option<Digest>,
}

impl Request {
    /// Checks and digests what a caller submits. `redact` gives the text that is stored.
    ///
    /// # Errors
    /// [`Invalid`] when the command is empty, holds NUL, or has more than [`COMMAND_CHARS`]
    /// characters. It is never shortened.
    pub fn new(
        call: CallId,
        purpose: Purpose,
        command: &str,
        timeout: Timeout,
        redact: impl FnOnce(&str) -> String,
    ) -> Result<Self, Invalid> {
        let refuse = |rule| Err(Invalid { what: "command", rule });
        if command.trim().is_empty() {
            return refuse("is not empty");
        }
        if command.contains('\0') {
            return refuse("has no NUL");
        }
        if command.chars().count() > COMMAND_CHARS {
            return refuse("at most 16,000 characters");
        }
        let text = redact(command);
        if text.chars().count() > STORED_COMMAND_CHARS {
            return refuse("at most 20,000 characters after redaction");
        }
        let command_hash = command_hash(command);
        Ok(Self {
            payload_hash: payload_hash(purpose, command_hash, timeout, None),
            attachment: None,
            call,
            purpose,
            command: CommandText { redacted: text != command, text },
            command_hash,
            timeout,
        })
    }

    /// The same request with something else submitted beside it: another payload.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Digest) -> Self {
        self.attachment = Some(attachment);
        self.payload_hash = payload_hash(self.purpose, self.command_hash, self.timeout, self.attachment);
        self
    }

    /// Whether the digests are those of the fields. The command's own digest can only be
    /// checked when redaction left the text alone.
    pub(super) fn is_genuine(&self) -> bool {
        let command = &self.command;
        (command.redacted || command_hash(&command.text) == self.command_hash)
            && command.text.chars().count() <= STORED_COMMAND_CHARS
            && payload_hash(self.purpose, self.command_hash, self.timeout, self.attachment)
                == self.payload_hash
    }
}

/// The digest by which commands are compared: of the text as it was given. Differently
/// spelled commands that do the same have different digests, and nothing claims otherwise.
#[must_use]
pub fn command_hash(command: &str) -> Digest {
    Digest::of("owed ledger 1: command", &[command.as_bytes()])
}

fn payload_hash(purpose: Purpose, command: Digest, timeout: Timeout, attachment: Option<Digest>) -> Digest {
    let timeout = match timeout {
        Timeout::Omitted => "omitted".to_owned(),
        Timeout::Explicit(ms) => format!("explicit {ms}"),
    };
    let attachment: &[u8] = attachment.as_ref().map_or(&[], |digest| digest.bytes());
    let parts: [&[u8]; 4] = [purpose.word().as_bytes(), command.bytes(), timeout.as_bytes(), attachment];
    Digest::of("owed ledger 1: payload", &parts)
}

/// In whose name a run is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The run's owner.
    pub owner: Label,
    /// The owner's unit, when there is one. Never an empty one.
    pub unit: Option<Label>,
    /// The thread that the run belongs to; the same for all its claims.
    pub thread: Label,
    /// The workspace's incarnation: a checkout that was replaced has another.
    pub workspace: Label,
    /// What was authorized, as one opaque text; the same for all claims of a run.
    pub resource: Label,
    /// Which of several owners is the newest: a claim with a smaller fence is refused.
    pub fence: u64,
}

/// What was seen of the checkout before the command. An observation, not a snapshot:
/// another process may change the tree at any time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The checkout.
    pub path: Label,
    /// The commit; `null` outside a repository and before the first commit.
    pub head: Option<Label>,
    /// Digest of the working tree.
    pub fingerprint: Label,
}

/// How a process ended, by the operating system's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Its exit code.
    Code(i32),
    /// The signal that ended it.
    Signal(i32),
}

/// What a supervisor knows of a process that it saw end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExitRecord {
    /// Which process.
    pub process: ProcessIdentity,
    /// How it ended.
    pub exit: Exit,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A typed outcome: what the executor observed, and nothing read out of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// What it said, redacted and bounded.
    pub output: Output,
    /// The supervisor's record, when a supervisor ran it.
    pub supervisor: Option<ExitRecord>,
}

/// Why nothing started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotStartedReason {
    /// A policy refused it after the intent.
    PolicyRefused,
    /// The run's budget is spent.
    BudgetExhausted,
    /// The run or the call was stopped.
    Stopped,
    /// A newer owner has claimed the run.
    Fenced,
    /// The operating system did not make the process.
    SpawnFailed,
    /// The preflight's result does not say what the checkout is.
    ObservationUnusable,
    /// There was no room for its receipt.
    CapacityRefused,
    /// The heavy lease was not free in time.
    Deferred,
}

/// Why an outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// Its deadline passed and it was ended.
    TimedOut,
    /// The run, the session or the call was stopped while it ran.
    Interrupted,
    /// It was ended for memory, or because memory could not be watched.
    Memory,
    /// The process that supervised it is gone.
    OwnerLost,
    /// Its result did not arrive.
    ResultLost,
    /// Its result was not what an executor gives.
    ResultMalformed,
    /// It is not known whether it was let go.
    DispatchUncertain,
}

/// Who ended it, when that was observed. No text of an error is read for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbortSource {
    /// The process's own deadline.
    ProcessDeadline,
    /// The run's deadline.
    RunDeadline,
    /// A signal to the run.
    RunSignal,
    /// A signal to the call or its session.
    CallSignal,
    /// Several that contradict each other, or one that came late.
    Ambiguous,
    /// None was observed.
    Unobserved,
}

/// Which part of the machinery failed, when that has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfraReason {
    /// Waiting for the process failed.
    Wait,
    /// Reading its output failed.
    Pipe,
    /// The whole tree could not be ended.
    Kill,
    /// Memory or processes could not be watched.
    Telemetry,
    /// Writing the result failed.
    Persistence,
}

/// The proof that nothing of a call runs any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndProof {
    /// Its supervisor saw it end.
    ExitRecord(ExitRecord),
    /// The operating system has no such process any more.
    ProcessGone(ProcessIdentity),
    /// No process was recorded, so none was let go; and the process that could have done so
    /// is gone.
    OwnerGone(ProcessIdentity),
}

/// Why a call was refused before an intent: kept as a note under its identity, which it does
/// not use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotedRefusal {
    /// All receipts of the run are used.
    ReceiptsFull,
    /// The receipts' bytes are used.
    BytesFull,
    /// The thread's aliases are all unresolved.
    AliasesFull,
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// When, in milliseconds since 1970. Shown, never compared.
            pub at_ms: u64,
        }
    };
}

record! {
    /// The first record of every run.
    Opened {
        /// Version of the format.
        format: u32,
        /// The run, which is also the directory's name.
        run: RunId,
    }
}

record! {
    /// A run is claimed.
    Claimed {
        /// In whose name.
        claim: Claim,
        /// By which process.
        process: ProcessIdentity,
    }
}

record! {
    /// The preflight of a call is about to be dispatched. Holds the request, so it is the
    /// first record of every call.
    PreflightIntended {
        /// What was asked for.
        request: Request,
        /// Under which claim.
        fence: u64,
        /// Room that is kept for the rest of the call, in bytes.
        reserved: u32,
        /// The process that will dispatch it.
        process: ProcessIdentity,
    }
}

record! {
    /// The command of a call is about to be dispatched.
    CommandIntended {
        /// The call.
        call: CallId,
        /// The payload of its request.
        payload_hash: Digest,
        /// What was seen of the checkout.
        observation: Observation,
        /// The process that will dispatch it.
        process: ProcessIdentity,
    }
}

record! {
    /// The process of a phase exists, and is let go when this is durable.
    Started {
        /// The call.
        call: CallId,
        /// The phase.
        phase: Phase,
        /// Which process.
        process: ProcessIdentity,
    }
}

record! {
    /// A phase has ended and its outcome is known.
    Completed {
        /// The call.
        call: CallId,
        /// The phase.
        phase: Phase,
        /// The outcome.
        outcome: Outcome,
    }
}

record! {
    /// Nothing of a phase started.
    NotStarted {
        /// The call.
        call: CallId,
        /// The phase.
        phase: Phase,
        /// Why.
        reason: NotStartedReason,
    }
}

record! {
    /// What became of a phase is not known.
    Unknown {
        /// The call.
        call: CallId,
        /// The phase.
        phase: Phase,
        /// Why.
        reason: UnknownReason,
        /// Who ended it.
        abort: AbortSource,
        /// Which part of the machinery failed.
        infra: Option<InfraReason>,
        /// What is kept of the output: partial evidence.
        output: Output,
        /// What the supervisor saw, when it saw the end.
        supervisor: Option<ExitRecord>,
    }
}

record! {
    /// An unresolved phase is retired.
    Settled {
        /// The call.
        call: CallId,
        /// The phase.
        phase: Phase,
        /// Why nothing of it can run any more.
        proof: EndProof,
    }
}

record! {
    /// The outputs of a resolved call are given up for room. Its identity, state and exit
    /// stay, so it is still never repeated.
    Evicted {
        /// The call.
        call: CallId,
    }
}

record! {
    /// A call was refused for want of room, and nothing started.
    Refused {
        /// The identity it was asked under.
        call: CallId,
        /// Its command.
        command_hash: Digest,
        /// Why.
        reason: NotedRefusal,
    }
}

/// A record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after its type, which has the text")]
pub enum Record {
    Opened(Opened),
    Claimed(Claimed),
    PreflightIntended(PreflightIntended),
    CommandIntended(CommandIntended),
    Started(Started),
    Completed(Completed),
    NotStarted(NotStarted),
    Unknown(Unknown),
    Settled(Settled),
    Evicted(Evicted),
    Refused(Refused),
}

/// Why the payload of a whole frame is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A type that this version does not know.
    Type(u8),
    /// Not a value of its type: the parser's words, which may quote a field's name but no
    /// content.
    Value(String),
    /// A value, but not spelled as the writer spells it.
    Spelling,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Malformed::Type(kind) => write!(f, "type {kind} is not known"),
            Malformed::Value(what) => write!(f, "not a record: {what}"),
            Malformed::Spelling => write!(f, "not spelled as it is written"),
        }
    }
}

macro_rules! kinds {
    ($($number:literal => $name:ident,)*) => {
        impl Record {
            /// The number of its type in a frame. Numbers are never given out again.
            #[must_use]
            pub fn kind(&self) -> u8 {
                match self {
                    $(Record::$name(_) => $number,)*
                }
            }

            /// Its payload.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Record::$name(record) => to_json(record),)*
                }
            }

            /// Reads a payload back.
            ///
            /// # Errors
            /// [`Malformed`] for everything that [`Record::encode`] does not give.
            pub fn decode(kind: u8, payload: &[u8]) -> Result<Self, Malformed> {
                match kind {
                    $($number => from_json(payload).map(Record::$name),)*
                    other => Err(Malformed::Type(other)),
                }
            }
        }
    };
}

kinds! {
    1 => Opened,
    2 => Claimed,
    3 => PreflightIntended,
    4 => CommandIntended,
    5 => Started,
    6 => Completed,
    7 => NotStarted,
    8 => Unknown,
    9 => Settled,
    10 => Evicted,
    11 => Refused,
}

fn to_json<T: Serialize>(record: &T) -> Vec<u8> {
    serde_json::to_vec(record).expect("records have no maps with keys that are not text, and no floats")
}

fn from_json<T: Serialize + DeserializeOwned>(payload: &[u8]) -> Result<T, Malformed> {
    let record: T = serde_json::from_slice(payload).map_err(|error| Malformed::Value(category(&error)))?;
    if to_json(&record) == payload { Ok(record) } else { Err(Malformed::Spelling) }
}

/// Where and of which kind, without the parser's text, which may quote the value.
fn category(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        serde_json::error::Category::Io => "unreadable",
        serde_json::error::Category::Syntax => "no JSON",
        serde_json::error::Category::Data => "a field that is not allowed, missing or out of range",
        serde_json::error::Category::Eof => "it stops early",
    };
    format!("{kind}, at byte {}", error.column())
}
