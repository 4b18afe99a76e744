//! What a contradiction leaves behind: a receipt said that a test passes with these inputs,
//! and with the same inputs it failed.
//!
//! Then an input exists that no identity holds, so no receipt can be believed until somebody
//! has looked. The trip stands in two places, the [`log`](super::log) and a file beside the
//! receipts; either is enough to stop reuse, and so is a log that cannot be read.
#![expect(clippy::disallowed_methods, reason = "this module keeps the second place of a trip")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::log::{Event, Log};
use crate::home;
use crate::runs::look::is_absent;

/// The file beside the receipts.
const MARK: &str = "TRIPPED";

/// One contradiction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trip {
    /// The test file, project-relative.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project.
    pub project: String,
    /// The identity that both runs had.
    pub identity: String,
    /// The receipt that was contradicted.
    pub receipt: String,
    /// What may be the input that nobody knew of; empty when nothing can be seen to differ.
    pub missing: Vec<Missing>,
}

/// A trace of an input that no identity holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// `undeclared` (it was loaded and is in no closure), `loaded` and `not-loaded` (then and
    /// now differ), `written-since` (it was written after the receipt and is no input).
    pub kind: String,
    /// The path.
    pub name: String,
}

/// Whether receipts may be believed at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Yes.
    Clear,
    /// No, and why.
    Tripped(String),
}

impl Standing {
    /// Of the project at `root`. Costs next to nothing where nothing was ever audited.
    pub fn of(root: &Path) -> Self {
        let mark = mark(root);
        let marked = match fs::read_to_string(&mark) {
            Ok(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
            Err(error) if is_absent(&error) => None,
            Err(error) => Some(format!("{} cannot be read: {error}", mark.display())),
        };
        match Log::read(root) {
            Err(held) => Self::Tripped(format!("the audit log cannot be believed: {held}")),
            Ok(log) => match (log.open_trips().next(), marked) {
                (Some((number, trip)), _) => Self::Tripped(sentence(number, trip)),
                (None, Some(said)) => {
                    Self::Tripped(format!("{said} (noted beside the receipts, and not in the audit log)"))
                }
                (None, None) => Self::Clear,
            },
        }
    }

    /// Why not, when not.
    pub fn tripped(&self) -> Option<&str> {
        match self {
            Self::Clear => None,
            Self::Tripped(why) => Some(why),
        }
    }
}

fn mark(root: &Path) -> PathBuf {
    root.join(".owed/receipts").join(MARK)
}

fn sentence(number: u64, trip: &Trip) -> String {
    format!("entry {number}: {} was paid for by a receipt, and failed with the same inputs", trip.test)
}

/// Stops all reuse: first beside the receipts, then in the log.
///
/// # Errors
/// When neither place could be written. One is enough.
pub fn set(root: &Path, trip: Trip) -> io::Result<u64> {
    let marked = home::own(root, "receipts").and_then(|dir| {
        let said = format!("{} was paid for by a receipt, and failed with the same inputs\n", trip.test);
        let mut file = fs::File::create(dir.join(MARK))?;
        io::Write::write_all(&mut file, said.as_bytes())?;
        file.sync_all()
    });
    match Log::append(root, Event::Tripped(trip)) {
        Ok(noted) => Ok(noted.number),
        Err(error) => marked.map(|()| 0).map_err(|_| error),
    }
}

/// Allows reuse again; the log keeps why. Gives how many trips were open, a mark that no entry
/// stands for included.
///
/// # Errors
/// When the log cannot be believed or written: then reuse stays off.
pub fn acknowledge(root: &Path, reason: &str) -> io::Result<usize> {
    let log = Log::read(root).map_err(|held| io::Error::other(held.to_string()))?;
    let open: Vec<u64> = log.open_trips().map(|(number, _)| number).collect();
    let mark = mark(root);
    let marked = fs::exists(&mark)?;
    if open.is_empty() && !marked {
        return Ok(0);
    }
    let count = open.len().max(1);
    Log::append(root, Event::Acknowledged { trips: open, reason: reason.to_owned() })?;
    if marked {
        fs::remove_file(mark)?;
    }
    Ok(count)
}
