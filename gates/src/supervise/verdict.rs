//! How a supervised command ended. Three kinds and no fourth: it never ran, it was
//! ended by somebody, or it ended by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ProcessIdentity;

/// The verdict record. Partial output never turns one kind into another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Verdict {
    /// Nothing was started.
    NotRun {
        /// Why.
        cause: NotRun,
    },
    /// It was started, and ended by another hand before it was done.
    Interrupted {
        /// By whom.
        cause: Interruption,
    },
    /// It ended by itself.
    Exit {
        /// With what.
        exit: Exit,
    },
}

/// The end of a process that nobody else ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Exit {
    /// Its own exit code; 75 is a code like any other here.
    Code(i32),
    /// A signal that a fault of its own raised (`SIGSEGV`, `SIGABRT` …).
    Fault(i32),
}

/// Why nothing was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotRun {
    /// There is no such program.
    ProgramMissing,
    /// The file may not be executed.
    NotExecutable,
    /// The file is there, but the interpreter it names is not, or it is no program.
    NoInterpreter,
    /// The working directory is no directory.
    NoDirectory,
    /// The temporary directory of the command could not be made.
    NoScratch,
    /// The system refused for another reason (too many processes, arguments too long).
    SpawnRefused,
    /// The request was not understood.
    BadRequest,
    /// The supervisor itself could not be started, or said nothing.
    NoSupervisor,
    /// The owner went away before it said `go`.
    OwnerGone,
    /// Supervision is not built for this system.
    UnsupportedPlatform,
}

impl NotRun {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::ProgramMissing => "program-missing",
            Self::NotExecutable => "not-executable",
            Self::NoInterpreter => "no-interpreter",
            Self::NoDirectory => "no-directory",
            Self::NoScratch => "no-scratch",
            Self::SpawnRefused => "spawn-refused",
            Self::BadRequest => "bad-request",
            Self::NoSupervisor => "no-supervisor",
            Self::OwnerGone => "owner-gone",
            Self::UnsupportedPlatform => "unsupported-platform",
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::ProgramMissing => "install the program, or name it with its path",
            Self::NotExecutable => "make the file executable, or name its interpreter first",
            Self::NoInterpreter => "check the first line of the script, or name its interpreter first",
            Self::NoDirectory => "give a working directory that exists",
            Self::NoScratch => {
                "make room in the temporary directory, or set TMPDIR to one that can be written"
            }
            Self::SpawnRefused => "shorten the command, or wait until the system has room for processes",
            Self::BadRequest => "use the same version of owed for the supervisor and its owner",
            Self::NoSupervisor => "check that the owed binary can be executed from where it lies",
            Self::OwnerGone => "start it again",
            Self::UnsupportedPlatform => "run on Linux; other systems are not built yet",
        }
    }
}

/// Who ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "certainty", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Interruption {
    /// One source was observed.
    By {
        /// It.
        source: Source,
    },
    /// More than one was observed before the command was gone, so none is named.
    Ambiguous {
        /// All of them, sorted.
        sources: Vec<Source>,
    },
}

impl Interruption {
    /// From what was observed, in any order.
    pub(super) fn of(mut sources: Vec<Source>) -> Option<Self> {
        sources.sort_unstable();
        sources.dedup();
        match sources[..] {
            [] => None,
            [source] => Some(Self::By { source }),
            _ => Some(Self::Ambiguous { sources }),
        }
    }
}

/// What can end a command before it is done. Observed, never read from prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Its deadline.
    Deadline,
    /// The run was stopped.
    RunStop,
    /// The call was stopped: a signal to the owner, or its session's end.
    CallStop,
    /// The owner is gone: its end of the control pipe closed.
    OwnerGone,
    /// The supervisor itself was asked to end by a signal.
    SupervisorSignal,
    /// The tree holds more memory than it may.
    TreeMemory,
    /// The host has less memory left than the reserve.
    HostMemory,
    /// The memory of the tree could not be read, so it could not be watched.
    NoTelemetry,
    /// Somebody else killed it (the kernel for want of memory, an administrator).
    Outside,
}

impl Source {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::RunStop => "run-stop",
            Self::CallStop => "call-stop",
            Self::OwnerGone => "owner-gone",
            Self::SupervisorSignal => "supervisor-signal",
            Self::TreeMemory => "tree-memory",
            Self::HostMemory => "host-memory",
            Self::NoTelemetry => "no-telemetry",
            Self::Outside => "outside",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRun { cause } => write!(f, "not run: {}", cause.word()),
            Self::Interrupted { cause: Interruption::By { source } } => {
                write!(f, "interrupted: {}", source.word())
            }
            Self::Interrupted { cause: Interruption::Ambiguous { sources } } => {
                let words: Vec<&str> = sources.iter().map(|source| source.word()).collect();
                write!(f, "interrupted: {}", words.join(" and "))
            }
            Self::Exit { exit: Exit::Code(code) } => write!(f, "exit {code}"),
            Self::Exit { exit: Exit::Fault(signal) } => write!(f, "ended by signal {signal}"),
        }
    }
}

/// One stream of a command, as much of it as is kept. Evidence from outside: it is
/// redacted, but nothing in it is to be believed or obeyed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The text: all of it, or its beginning and end with a line between that says how
    /// much is missing.
    pub text: String,
    /// How many bytes the command wrote.
    pub bytes: u64,
    /// Whether something is missing from `text`.
    pub truncated: bool,
    /// Whether something was no UTF-8 and was replaced (U+FFFD).
    pub lossy: bool,
    /// How many secrets were taken out.
    pub redactions: u32,
}

/// All that the supervisor knows of one run: the exit record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The operation this run belonged to, as the request named it.
    pub operation: String,
    /// BLAKE3 of the request, in hexadecimal: the record fits this request only.
    pub request: String,
    /// The supervisor.
    pub supervisor: ProcessIdentity,
    /// The command; `None` when it was not started.
    pub command: Option<ProcessIdentity>,
    /// How it ended.
    pub verdict: Verdict,
    /// What the operating system said of its end, whoever caused it; `None` when it did
    /// not run, or when nobody was told.
    pub status: Option<crate::ledger::Exit>,
    /// When, in milliseconds since 1970. Shown, never compared.
    pub ended_ms: u64,
    /// What it wrote.
    pub stdout: Stream,
    /// What it wrote to its standard error.
    pub stderr: Stream,
    /// From its start to its end, in milliseconds.
    pub duration_ms: u64,
    /// The most memory the tree was seen to hold (resident bytes, sampled); `None` when
    /// it ended before the first sample.
    pub peak_tree_bytes: Option<u64>,
    /// Processes of the tree that were still there when the command itself had ended,
    /// and were killed.
    pub stragglers: u32,
    /// Whether nothing of the tree is left: the kernel's word, not a guess.
    pub tree_ended: bool,
    /// Whether its temporary directory is gone.
    pub scratch_removed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_is_named_and_several_are_not_ranked() {
        assert_eq!(Interruption::of(vec![]), None);
        let twice = Interruption::of(vec![Source::Deadline, Source::Deadline]);
        assert_eq!(twice, Some(Interruption::By { source: Source::Deadline }));
        assert_eq!(
            Interruption::of(vec![Source::CallStop, Source::Deadline]),
            Some(Interruption::Ambiguous { sources: vec![Source::Deadline, Source::CallStop] })
        );
    }

    #[test]
    fn words_are_those_of_the_records() {
        for cause in [NotRun::ProgramMissing, NotRun::NoInterpreter, NotRun::UnsupportedPlatform] {
            assert_eq!(serde_json::to_value(cause).unwrap(), cause.word());
        }
        for source in [Source::Deadline, Source::NoTelemetry, Source::Outside] {
            assert_eq!(serde_json::to_value(source).unwrap(), source.word());
        }
    }
}
