//! What a caller submits: exactly a purpose, a command, and at most a timeout and a
//! checkpoint. Anything else (a result, another run, an unknown field) is refused before
//! anything happens.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;

use super::dispatch::Command;
use super::notes::Checkpoint;
use super::refusal::Why;
use super::session::LONGEST_TIMEOUT;
use crate::ledger::{CallId, Digest, Purpose, Request, Timeout};
use crate::redact::Redactor;

/// A check that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// What it is for.
    pub purpose: Purpose,
    /// The command.
    pub command: Command,
    /// Its timeout. Leaving it out is not the same submission as giving the default.
    pub timeout: Option<Duration>,
    /// Notes to keep when it succeeds; only with a verification.
    pub checkpoint: Option<Checkpoint>,
}

/// The form in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    purpose: Purpose,
    command: String,
    #[serde(default, deserialize_with = "given")]
    timeout_ms: Option<NonZeroU64>,
    #[serde(default, deserialize_with = "given")]
    checkpoint: Option<Checkpoint>,
}

/// A field that is there has a value: `null` is no way to leave it out.
fn given<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Submission {
    /// A submission in JSON, as a host hands it on: `purpose`, `command` (for the shell),
    /// and optionally `timeout_ms` and `checkpoint`.
    ///
    /// # Errors
    /// [`Why::Submission`] for every other field, a missing one, or a wrong value.
    pub fn from_json(text: &str) -> Result<Self, Why> {
        // A list of values is no object, although a parser may take one for the other.
        if !text.trim_start().starts_with('{') {
            return Err(Why::Submission("not an object".to_owned()));
        }
        let form: Form = serde_json::from_str(text).map_err(|error| {
            // The parser may quote a field's name, which is the caller's own, but no value.
            let what = error.to_string();
            let what = what.strip_prefix("unknown field").map_or_else(
                || "not of the form {purpose, command, timeout_ms?, checkpoint?}".to_owned(),
                |rest| format!("unknown field{}", rest.split(" at line").next().unwrap_or_default()),
            );
            Why::Submission(what)
        })?;
        let submission = Self {
            purpose: form.purpose,
            command: Command::Shell(form.command),
            timeout: form.timeout_ms.map(|ms| Duration::from_millis(ms.get())),
            checkpoint: form.checkpoint,
        };
        submission.check()?;
        Ok(submission)
    }

    fn check(&self) -> Result<(), Why> {
        if self.timeout.is_some_and(|timeout| timeout.as_millis() == 0 || timeout > LONGEST_TIMEOUT) {
            return Err(Why::Timeout);
        }
        match (&self.checkpoint, self.purpose) {
            (Some(_), Purpose::Baseline) => Err(Why::CheckpointWithBaseline),
            (Some(checkpoint), Purpose::Verification) => checkpoint.check().map_err(Why::Checkpoint),
            (None, _) => Ok(()),
        }
    }

    /// The submission under an identity, checked against every limit that needs nothing
    /// but itself.
    ///
    /// # Errors
    /// When it is not allowed. Nothing is shortened to make it fit.
    pub(super) fn request(&self, call: CallId, redactor: &Redactor) -> Result<Request, Why> {
        self.check()?;
        let timeout = match self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
        {
            None => Timeout::Omitted,
            Some(ms) => Timeout::Explicit(NonZeroU64::new(ms).ok_or(Why::Timeout)?),
        };
        let text = self.command.text();
        let request = Request::new(call, self.purpose, &text, timeout, |text| redactor.field(text).text)?;
        Ok(request.with_attachment(self.attachment()))
    }

    /// How the command is meant, and the checkpoint.
    fn attachment(&self) -> Digest {
        let form: &[u8] = match self.command {
            Command::Shell(_) => b"shell",
            Command::Program(_) => b"program",
        };
        let checkpoint = self.checkpoint.as_ref().map(Checkpoint::bytes).unwrap_or_default();
        Digest::of("owed check 1: submission", &[form, &checkpoint])
    }
}
