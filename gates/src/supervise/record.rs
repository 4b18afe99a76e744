//! The exit record on the disk, and what a gate makes of it.

use std::path::Path;

use super::{Exit, Report, Verdict};

/// Why there is no exit record to rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRecord {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It is not what a supervisor writes.
    Malformed,
    /// It is that of another request.
    Foreign,
}

impl Report {
    /// The exit record at `path`, if it is the record of exactly this request
    /// ([`super::Request::digest`]).
    ///
    /// # Errors
    /// When it is missing, damaged, or another's.
    pub fn load(path: &Path, operation: &str, request: &str) -> Result<Self, NoRecord> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(NoRecord::Missing),
            Err(_) => return Err(NoRecord::Unreadable),
        };
        let report: Self = serde_json::from_str(&text).map_err(|_| NoRecord::Malformed)?;
        let is_ours = report.operation == operation && report.request == request;
        if is_ours { Ok(report) } else { Err(NoRecord::Foreign) }
    }
}

/// What a gate makes of a run, decided by the exit record and by nothing it printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Exit code 0.
    Passed,
    /// Any other end of its own; 75 is not special when the command says it.
    Failed,
    /// It never ran.
    NotRun,
    /// It was ended by another hand.
    Interrupted,
    /// There is no record, so the gate is broken.
    NoRecord(NoRecord),
}

impl Standing {
    /// From a record, or from why there is none.
    pub fn of(record: &Result<Report, NoRecord>) -> Self {
        match record.as_ref().map(|report| &report.verdict) {
            Ok(Verdict::Exit { exit: Exit::Code(0) }) => Self::Passed,
            Ok(Verdict::Exit { .. }) => Self::Failed,
            Ok(Verdict::NotRun { .. }) => Self::NotRun,
            Ok(Verdict::Interrupted { .. }) => Self::Interrupted,
            Err(why) => Self::NoRecord(*why),
        }
    }

    /// The exit code of a program that stands for this run: 0 passed, 1 failed (a broken
    /// gate counts as failed), 75 no verdict.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed | Self::NoRecord(_) => 1,
            Self::NotRun | Self::Interrupted => 75,
        }
    }

    /// Why the run cannot be reused; `None` when it passed. Stored with its record.
    pub fn reuse_denied_reason(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Failed => Some("failed"),
            Self::NotRun => Some("not-run"),
            Self::Interrupted => Some("interrupted"),
            Self::NoRecord(NoRecord::Missing) => Some("record-missing"),
            Self::NoRecord(NoRecord::Unreadable) => Some("record-unreadable"),
            Self::NoRecord(NoRecord::Malformed) => Some("record-malformed"),
            Self::NoRecord(NoRecord::Foreign) => Some("record-foreign"),
        }
    }
}
