//! A failure that a person can act on: what is wrong and where, and what to do next.

use std::fmt;

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// One sentence, with the file and the place where there is one.
    pub what: String,
    /// What to do next.
    pub next: Option<String>,
}

impl Complaint {
    /// A complaint with a next step.
    pub(crate) fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: Some(next.into()) }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Complaint {}
