//! Phase notes: what a caller reports with a verification, kept when that succeeds.
//!
//! `notes/RUN/NNNNNN.json` under the state directory holds one version each; the highest
//! number is the current one. A new version never overwrites an older one, so nothing is
//! lost by a wrong one. What the caller reports stands apart from what the check observed.
//!
//! A note is no evidence, and its absence is none either.
#![expect(clippy::disallowed_methods, reason = "notes are files")]

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ledger::{Call, Digest, Exit, Observation, Purpose, RunId};
use crate::redact::Redactor;
use crate::state::CallState;

/// Characters of one text of a checkpoint.
pub const TEXT_CHARS: usize = 2_000;
/// Entries of one list.
pub const ENTRIES: usize = 32;
/// Characters of all of it.
pub const ALL_CHARS: usize = 16_000;

/// What the caller reports. All fields are required, so that none is forgotten; the lists
/// may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Where the work stands.
    pub phase: String,
    /// What it is for.
    pub goal: String,
    /// What was decided.
    pub decisions: Vec<String>,
    /// What was considered and rejected.
    pub rejected: Vec<String>,
    /// What the caller says is done.
    pub completed: Vec<String>,
    /// What is not proven.
    pub unproven: Vec<String>,
    /// What comes next.
    pub next: String,
}

/// What is wrong with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointFault {
    /// A text is empty.
    Empty(&'static str),
    /// A text is too long.
    TooLong(&'static str),
    /// A list has too many entries.
    TooMany(&'static str),
    /// All of it is too long.
    TooLarge,
}

impl fmt::Display for CheckpointFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(field) => write!(f, "`{field}` is empty"),
            Self::TooLong(field) => write!(f, "a text of `{field}` has more than {TEXT_CHARS} characters"),
            Self::TooMany(field) => write!(f, "`{field}` has more than {ENTRIES} entries"),
            Self::TooLarge => write!(f, "it has more than {ALL_CHARS} characters"),
        }
    }
}

impl Checkpoint {
    /// A checkpoint in JSON.
    ///
    /// # Errors
    /// When a field is missing, unknown or of another type.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text)
            .map_err(|error| format!("line {}, column {}", error.line(), error.column()))
    }

    /// Whether it is within its bounds.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), CheckpointFault> {
        let mut all = 0;
        for (field, text) in [("phase", &self.phase), ("goal", &self.goal), ("next", &self.next)] {
            all += length(field, text)?;
        }
        let lists = [
            ("decisions", &self.decisions),
            ("rejected", &self.rejected),
            ("completed", &self.completed),
            ("unproven", &self.unproven),
        ];
        for (field, list) in lists {
            if list.len() > ENTRIES {
                return Err(CheckpointFault::TooMany(field));
            }
            for text in list {
                all += length(field, text)?;
            }
        }
        if all > ALL_CHARS { Err(CheckpointFault::TooLarge) } else { Ok(()) }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts have a form in JSON")
    }

    fn redacted(&self, redactor: &Redactor) -> Self {
        let text = |text: &String| redactor.field(text).text;
        let list = |list: &[String]| list.iter().map(text).collect();
        Self {
            phase: text(&self.phase),
            goal: text(&self.goal),
            decisions: list(&self.decisions),
            rejected: list(&self.rejected),
            completed: list(&self.completed),
            unproven: list(&self.unproven),
            next: text(&self.next),
        }
    }
}

fn length(field: &'static str, text: &str) -> Result<usize, CheckpointFault> {
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err(CheckpointFault::Empty(field));
    }
    if chars > TEXT_CHARS { Err(CheckpointFault::TooLong(field)) } else { Ok(chars) }
}

/// One version of the notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// What the caller reported. Nobody has verified it.
    pub reported: Checkpoint,
    /// What the check observed.
    pub observed: Evidence,
    /// The fence of the claim that wrote it.
    pub fence: u64,
}

/// The process evidence behind a version of the notes. The observation precedes the
/// command: it attests neither an unchanged tree nor what was asserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The verification.
    pub call: String,
    /// The commit it saw.
    pub head: Option<String>,
    /// The fingerprint of the working tree it saw.
    pub fingerprint: String,
    /// The hash of its command.
    pub command_hash: Digest,
}

/// What became of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// There was none.
    None,
    /// It is the current version.
    Written(u32),
    /// The check did not succeed, was a replay, or was fenced: the notes are as they were.
    NotReplaced,
    /// It may or may not have been written. The check is not repeated for it; look at the
    /// notes before writing others.
    Unknown,
}

/// The current version of a run's notes, with its number; `None` when there is none.
///
/// # Errors
/// When they cannot be read. They are not empty then.
pub fn current(state: &Path, run: &RunId) -> io::Result<Option<(u32, Notes)>> {
    let Some(number) = numbers(&directory(state, run))?.into_iter().max() else { return Ok(None) };
    let text = fs::read_to_string(directory(state, run).join(name(number)))?;
    let notes = serde_json::from_str(&text).map_err(|_| ErrorKind::InvalidData)?;
    Ok(Some((number, notes)))
}

/// Writes a new version if `call` is a verification that has just completed with exit
/// code 0 under the newest claim.
pub(super) fn keep(
    state: &Path,
    run: &RunId,
    call: &Call,
    fence: Option<u64>,
    checkpoint: &Checkpoint,
    redactor: &Redactor,
) -> Kept {
    let Some(observation) = succeeded(call).filter(|_| fence == Some(call.fence)) else {
        return Kept::NotReplaced;
    };
    let notes = Notes {
        reported: checkpoint.redacted(redactor),
        observed: Evidence {
            call: call.request.call.to_string(),
            head: observation.head.as_ref().map(ToString::to_string),
            fingerprint: observation.fingerprint.to_string(),
            command_hash: call.request.command_hash,
        },
        fence: call.fence,
    };
    match write(state, run, &notes) {
        Ok(Some(number)) => Kept::Written(number),
        Ok(None) => Kept::NotReplaced,
        Err(_) => Kept::Unknown,
    }
}

fn succeeded(call: &Call) -> Option<&Observation> {
    let command = call.command.as_ref()?;
    let exit = command.completed.as_ref()?.outcome.exit;
    let is_success = call.request.purpose == Purpose::Verification
        && command.state == CallState::Completed
        && exit == Exit::Code(0);
    command.observation.as_ref().filter(|_| is_success)
}

/// Gives the number, or nothing when a newer owner's notes are there.
fn write(state: &Path, run: &RunId, notes: &Notes) -> io::Result<Option<u32>> {
    let directory = directory(state, run);
    fs::create_dir_all(&directory)?;
    loop {
        let latest = current(state, run)?;
        if latest.as_ref().is_some_and(|(_, latest)| latest.fence > notes.fence) {
            return Ok(None);
        }
        let number = latest.map_or(1, |(number, _)| number + 1);
        let draft = directory.join(format!("{}.{}", name(number), std::process::id()));
        let mut file = fs::File::create(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(notes)?)?;
        file.sync_all()?;
        // A link, unlike a rename, does not replace what another process wrote meanwhile.
        let linked = fs::hard_link(&draft, directory.join(name(number)));
        fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            other => {
                other?;
                fs::File::open(&directory)?.sync_all()?;
                return Ok(Some(number));
            }
        }
    }
}

fn directory(state: &Path, run: &RunId) -> PathBuf {
    state.join("notes").join(run.as_str())
}

fn name(number: u32) -> String {
    format!("{number:06}.json")
}

fn numbers(directory: &Path) -> io::Result<Vec<u32>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number: Option<u32> = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
        numbers.extend(number);
    }
    Ok(numbers)
}
