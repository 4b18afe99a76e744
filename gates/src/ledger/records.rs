//! The records of a run: the producer's types, which every reader uses too.
//!
//! Each is a strict value: unknown, missing and repeated fields are refused, and so is any
//! spelling of the same value that the writer would not have written (a record is read, then
//! written again, and the bytes have to be equal). Nothing absent is filled in.
//!
//! What a record may follow is not said here but in [`crate::state`] and
//! [`super::history`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::names::{CallId, Digest, Invalid, RunId};
use super::terms::{
    AbortSource, Claim, EndProof, ExitRecord, InfraReason, NotStartedReason, NotedRefusal, Observation,
    Outcome, Purpose, Timeout, UnknownReason,
};
use super::text::{COMMAND_CHARS, CommandText, Output, STORED_COMMAND_CHARS};
use crate::lease::ProcessIdentity;
use crate::state::Phase;

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
