//! What owner and supervisor say to each other: lines of JSON through two pipes.

use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};

use super::{ProcessIdentity, Report, Source};

/// From the owner. The first line is the request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// Start it.
    Go,
    /// End it, for this reason.
    Stop(Source),
}

/// From the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    /// It has read the request and waits for `go`.
    Ready(ProcessIdentity),
    /// The command runs.
    Started(ProcessIdentity),
    /// It is over; the last event.
    Ended(Box<Report>),
}

/// A line longer than this is not ours.
const LINE: u64 = 16 << 20;

/// The next line; `None` at the end.
pub(super) fn line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = from.by_ref().take(LINE).read_line(&mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(line))
}

/// A value as a line.
pub(super) fn encode(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("all of its parts have a form in JSON");
    line.push('\n');
    line
}
