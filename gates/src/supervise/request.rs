//! What a supervisor is asked to do.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::memory::{RESERVE, Weight};

/// One command, with everything that decides how it runs. It travels through a pipe, so
/// that neither arguments nor environment show in a list of processes twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Whose run this is; the report repeats it.
    pub operation: String,
    /// The program: a path, or a name that `PATH` of [`Request::environment`] finds.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its environment, exactly: nothing is inherited. Only `TMPDIR` is set besides.
    pub environment: Vec<(OsString, OsString)>,
    /// Its temporary directory (`$TMPDIR`): made before, removed after. It must not
    /// exist yet, so that its name marks this run and no other.
    pub scratch: PathBuf,
    /// How far it may go.
    pub limits: Limits,
    /// How much of its output is kept.
    pub keep: Keep,
    /// Where the exit record goes; `None` keeps none.
    pub record: Option<PathBuf>,
    /// Where the process file system is mounted.
    pub procfs: PathBuf,
}

/// How far a command may go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How long it may run.
    pub deadline: Duration,
    /// How long it may tidy up after `SIGTERM`, before the tree is killed.
    pub grace: Duration,
    /// Resident bytes its tree may hold.
    pub tree_memory: u64,
    /// Bytes that must stay available on the host.
    pub host_reserve: u64,
    /// How often memory is looked at.
    pub sample: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(600),
            grace: Duration::from_secs(1),
            tree_memory: Weight::Heavy.tree_memory(),
            host_reserve: RESERVE,
            sample: Duration::from_millis(100),
        }
    }
}

/// How much output is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Characters of each stream in the report.
    pub chars: usize,
    /// Whether secrets are taken out. Only for what our own programs print may this be
    /// `false`.
    pub redact: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { chars: 4_000, redact: true }
    }
}

impl Request {
    /// A request with the default limits.
    pub fn new(
        operation: impl Into<String>,
        program: impl Into<OsString>,
        cwd: PathBuf,
        scratch: PathBuf,
    ) -> Self {
        Self {
            operation: operation.into(),
            program: program.into(),
            arguments: Vec::new(),
            cwd,
            environment: Vec::new(),
            scratch,
            limits: Limits::default(),
            keep: Keep::default(),
            record: None,
            procfs: PathBuf::from("/proc"),
        }
    }

    /// As it is sent.
    pub(super) fn encoded(&self) -> String {
        serde_json::to_string(self).expect("all of its parts have a form in JSON")
    }

    /// What a report of this request is bound to: BLAKE3 in hexadecimal.
    pub fn digest(&self) -> String {
        blake3::hash(self.encoded().as_bytes()).to_hex().to_string()
    }
}
