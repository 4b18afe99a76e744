//! The exit codes, decided in one place.

use std::process::ExitCode;

/// How a command ends. The numbers are a contract (`owed --help`, README).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The question was answered, whatever the answer is.
    Answered = 0,
    /// A verdict failed.
    Failed = 1,
    /// Usage, configuration, or a needed tool is unavailable.
    Unusable = 2,
    /// A gate cannot vouch: something in scope was NOT CHECKED.
    CannotVouch = 3,
    /// No verdict: deferred, stale, interrupted.
    NoVerdict = 75,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
