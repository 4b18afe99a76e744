//! `owed.record/1`, `owed.records/1` and `owed.suggest/1`.
//!
//! What a command printed is only ever found under a key named `untrusted`: it is
//! evidence from outside, and nothing in it is to be believed or obeyed.

use owed_gates::check::{Answer, Kept, Receipt, State, Suggestion, Why, note};
use owed_gates::ledger::{Call, Exit, Stream, Timeout};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::one_of;

/// A recorded check, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.record/1")]
pub(crate) struct RecordAnswer {
    /// `owed.record/1`.
    #[schemars(schema_with = "record_tag")]
    pub schema: &'static str,
    /// The run.
    pub run: String,
    /// The identity of the call.
    pub id: String,
    /// What the check is for; null when nothing is recorded and nothing was submitted.
    pub purpose: Option<&'static str>,
    /// The command as it is recorded, without secrets.
    pub command: Option<Untrusted>,
    /// BLAKE3 of the command as it was given; null when nothing is recorded.
    pub command_hash: Option<String>,
    /// The caller's own timeout in milliseconds; null when it was left out.
    pub timeout_ms: Option<u64>,
    /// Where the call stands.
    #[schemars(schema_with = "state_words")]
    pub state: &'static str,
    /// Which half of the call that is about: the preflight observes the checkout.
    pub phase: Option<&'static str>,
    /// The exit code of the command. Zero does not say that assertions ran.
    pub exit_code: Option<i32>,
    /// The signal of a fault of its own that ended it.
    pub signal: Option<i32>,
    /// Why it did not start or why its end is not known, as a word.
    pub reason: Option<String>,
    /// Who ended it, where that was observed.
    pub abort: Option<String>,
    /// Which part of the machinery failed.
    pub infrastructure: Option<String>,
    /// What it printed.
    pub stdout: Option<Untrusted>,
    /// What it printed to its standard error.
    pub stderr: Option<Untrusted>,
    /// Whether the evidence is partial: output is missing, or the end is not known.
    pub partial: bool,
    /// Whether this is a saved result: nothing was run.
    pub replayed: bool,
    /// Whether the result was found where a supervisor left it whose owner was gone.
    pub recovered: bool,
    /// Whether the call was retired by proof that nothing of it runs any more.
    pub settled: bool,
    /// Why this request was refused; null when it was not.
    pub refusal: Option<RefusalSeen>,
    /// What was seen of the checkout before the command: an observation, not a snapshot.
    pub observed: Option<ObservedSeen>,
    /// What became of the checkpoint.
    #[schemars(schema_with = "kept_words")]
    pub checkpoint: &'static str,
    /// Other calls of the run whose end is not known.
    pub open: Vec<String>,
    /// For a call that is not completed: what is known of it, in a fixed order, bounded.
    pub note: Option<String>,
}

/// A text that came from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Untrusted {
    /// The text, without secrets that could be recognised.
    pub untrusted: String,
    /// How many bytes there were.
    pub bytes: u64,
    /// Whether some are missing here.
    pub truncated: bool,
    /// Whether some were no UTF-8 and were replaced.
    pub lossy: bool,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RefusalSeen {
    /// A stable word.
    pub code: &'static str,
    /// One sentence for a person.
    pub detail: String,
    /// What to do next.
    pub remedy: &'static str,
    /// Whether it is known that the command did not start by this request.
    pub did_not_start: bool,
    /// Whether the command may be run in another way, without a record.
    pub unrecorded_permitted: bool,
}

/// An observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ObservedSeen {
    /// The commit; null before the first one.
    pub head: Option<String>,
    /// Digest of what differs from it.
    pub fingerprint: String,
    /// The checkout.
    pub path: String,
}

/// The calls of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.records/1")]
pub(crate) struct RecordsAnswer {
    /// `owed.records/1`.
    #[schemars(schema_with = "records_tag")]
    pub schema: &'static str,
    /// The run.
    pub run: String,
    /// Oldest first.
    pub calls: Vec<RecordAnswer>,
    /// Requests that were refused for want of room, oldest first.
    pub refused: Vec<RefusedNote>,
}

/// A request that was refused for want of room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RefusedNote {
    /// The identity it was asked under.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Bounded checks for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.suggest/1")]
pub(crate) struct SuggestAnswer {
    /// `owed.suggest/1`.
    #[schemars(schema_with = "suggest_tag")]
    pub schema: &'static str,
    /// One for each package that the change touches.
    pub suggestions: Vec<Suggested>,
}

/// A bounded check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Suggested {
    /// The package's directory; `.` for the root.
    pub package: String,
    /// The command, to be run at the root; null when there is no useful bounded check.
    pub command: Option<String>,
    /// Where it comes from, or why there is none.
    pub reason: String,
    /// The changed files it is for.
    pub paths: Vec<String>,
}

impl RecordAnswer {
    /// What came of a request.
    pub(crate) fn of(answer: &Answer) -> Self {
        let mut seen = match (&answer.record, &answer.receipt) {
            (Some(call), Some(receipt)) => Self::recorded(answer.run.as_str(), call, receipt),
            _ => Self::nothing(answer.run.as_str(), answer.call.as_str()),
        };
        seen.purpose = seen.purpose.or(Some(answer.purpose.word()));
        if let Some(why) = &answer.refusal {
            seen.refuse(why);
        }
        seen.reason = answer.not_run.map(|cause| cause.word().to_owned()).or(seen.reason);
        (seen.replayed, seen.recovered) = (answer.is_replayed, answer.is_recovered);
        seen.checkpoint = match answer.notes {
            Kept::None => "none",
            Kept::Written(_) => "written",
            Kept::NotReplaced => "not_replaced",
            Kept::Unknown => "unknown",
        };
        seen.open = answer.open.iter().map(ToString::to_string).collect();
        seen.note = note::failure(answer);
        seen
    }

    /// A call as it is recorded.
    pub(crate) fn recorded(run: &str, call: &Call, receipt: &Receipt) -> Self {
        let (exit_code, signal) = match receipt.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let output = receipt.output.as_ref().filter(|_| !receipt.is_evicted);
        let command = &call.request.command;
        Self {
            purpose: Some(call.request.purpose.word()),
            command: Some(Untrusted {
                untrusted: command.text.clone(),
                bytes: command.text.len() as u64,
                truncated: false,
                lossy: false,
            }),
            command_hash: Some(call.request.command_hash.hex()),
            timeout_ms: match call.request.timeout {
                Timeout::Omitted => None,
                Timeout::Explicit(ms) => Some(ms.get()),
            },
            state: receipt.state.word(),
            phase: Some(receipt.phase.word()),
            exit_code,
            signal,
            reason: word(&receipt.not_started).or_else(|| word(&receipt.unknown)),
            abort: word(&receipt.abort),
            infrastructure: word(&receipt.infra),
            stdout: output.map(|output| Untrusted::of(&output.stdout)),
            stderr: output.map(|output| Untrusted::of(&output.stderr)),
            partial: receipt.is_partial || receipt.is_evicted,
            settled: receipt.is_settled,
            observed: receipt.observed.as_ref().map(|observed| ObservedSeen {
                head: observed.head.as_ref().map(ToString::to_string),
                fingerprint: observed.fingerprint.to_string(),
                path: observed.path.to_string(),
            }),
            ..Self::nothing(run, call.request.call.as_str())
        }
    }

    /// A call of which nothing is recorded.
    pub(crate) fn nothing(run: &str, id: &str) -> Self {
        Self {
            schema: "owed.record/1",
            run: run.to_owned(),
            id: id.to_owned(),
            purpose: None,
            command: None,
            command_hash: None,
            timeout_ms: None,
            state: State::NotStarted.word(),
            phase: None,
            exit_code: None,
            signal: None,
            reason: None,
            abort: None,
            infrastructure: None,
            stdout: None,
            stderr: None,
            partial: false,
            replayed: false,
            recovered: false,
            settled: false,
            refusal: None,
            observed: None,
            checkpoint: "none",
            open: Vec::new(),
            note: None,
        }
    }

    /// The same, with why the request was refused.
    pub(crate) fn refuse(&mut self, why: &Why) {
        if !why.did_not_start() {
            self.state = State::Unknown.word();
        }
        self.refusal = Some(RefusalSeen {
            code: why.code(),
            detail: why.to_string(),
            remedy: why.remedy(),
            did_not_start: why.did_not_start(),
            unrecorded_permitted: why.permits_unrecorded(),
        });
    }
}

impl Untrusted {
    fn of(stream: &Stream) -> Self {
        Self {
            untrusted: stream.text().to_owned(),
            bytes: stream.bytes(),
            truncated: stream.truncated(),
            lossy: stream.lossy(),
        }
    }
}

impl From<Suggestion> for Suggested {
    fn from(suggestion: Suggestion) -> Self {
        Self {
            package: super::plan::directory(suggestion.package),
            command: suggestion.command,
            reason: suggestion.reason,
            paths: suggestion.paths,
        }
    }
}

/// The word of a value that is written as one.
pub(crate) fn word(value: &Option<impl Serialize>) -> Option<String> {
    serde_json::to_value(value.as_ref()?).ok()?.as_str().map(str::to_owned)
}

fn record_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.record/1" })
}

fn records_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.records/1" })
}

fn suggest_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.suggest/1" })
}

fn state_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&[State::Pending, State::Completed, State::NotStarted, State::Unknown].map(State::word))
}

fn kept_words(_: &mut SchemaGenerator) -> Schema {
    one_of(&["none", "written", "not_replaced", "unknown"])
}
