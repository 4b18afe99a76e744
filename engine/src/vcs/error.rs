//! What can go wrong with git, each with what to do about it.

use std::fmt;
use std::path::Path;

use super::run::Output;

/// Why git could not answer. Displayed as one sentence and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VcsError {
    /// There is no `git` program.
    GitMissing,
    /// The system did not let it start or talk.
    Io {
        /// What was tried.
        action: String,
        /// What the system said.
        detail: String,
    },
    /// The repository belongs to another user and git refuses it.
    DubiousOwnership {
        /// The directory, as git names it.
        directory: String,
    },
    /// A bare repository, or the inside of a `.git` directory.
    NoWorkTree,
    /// Something that looks like a repository and is none.
    Broken {
        /// What git said.
        detail: String,
    },
    /// A revision that names no commit.
    UnknownRevision {
        /// As it was given.
        rev: String,
        /// Names that look like it, best first.
        near: Vec<String>,
    },
    /// History was cut off by a shallow clone before the commit that is needed.
    ShallowBase {
        /// As it was given.
        rev: String,
        /// What is missing.
        missing: Missing,
    },
    /// The two histories have no commit in common.
    NoMergeBase {
        /// The base, as it was given.
        rev: String,
    },
    /// Git failed in a way that is not known here.
    Failed {
        /// The git command.
        command: String,
        /// The first line of its complaint.
        detail: String,
    },
    /// Git answered in a form that is not known here.
    Unexpected {
        /// The git command.
        command: String,
        /// What was not understood.
        detail: String,
    },
}

/// What a shallow clone lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The commit itself.
    Commit,
    /// A commit that it and `HEAD` have in common.
    MergeBase,
    /// The parent of the commit.
    Parent,
}

impl VcsError {
    /// What happened, as a sentence without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::GitMissing => "the program `git` was not found".to_owned(),
            Self::Io { action, detail } => format!("{action} failed: {detail}"),
            Self::DubiousOwnership { directory } => {
                format!("git refuses the repository at {directory} because another user owns it")
            }
            Self::NoWorkTree => {
                "this is a bare repository (or the inside of one), without files to look at".to_owned()
            }
            Self::Broken { detail } => format!("the repository is broken: {detail}"),
            Self::UnknownRevision { rev, near } if near.is_empty() => {
                format!("`{rev}` names no commit of this repository")
            }
            Self::UnknownRevision { rev, near } => {
                format!("`{rev}` names no commit of this repository; there is `{}`", near.join("`, `"))
            }
            Self::ShallowBase { rev, missing } => {
                let what = match missing {
                    Missing::Commit => format!("the commit `{rev}`"),
                    Missing::MergeBase => format!("a commit that `{rev}` and HEAD have in common"),
                    Missing::Parent => format!("the parent of `{rev}`"),
                };
                format!("this clone is shallow and lacks {what}")
            }
            Self::NoMergeBase { rev } => format!("`{rev}` and HEAD have no commit in common"),
            Self::Failed { command, detail } => format!("`git {command}` failed: {detail}"),
            Self::Unexpected { command, detail } => {
                format!("the answer of `git {command}` was not understood: {detail}")
            }
        }
    }

    /// What to do about it, as a sentence without a full stop.
    pub fn remedy(&self) -> String {
        match self {
            Self::GitMissing => "install git, put it on PATH, or ask for all tests".to_owned(),
            Self::Io { .. } => "try again; if it persists, check limits on processes and open files".to_owned(),
            Self::DubiousOwnership { directory } => {
                format!("if you trust it, run `git config --global --add safe.directory {directory}`")
            }
            Self::NoWorkTree => "run this in a checkout (`git worktree add DIR` makes one)".to_owned(),
            Self::Broken { .. } => "`git fsck` and `git worktree repair` may help; a fresh clone does".to_owned(),
            Self::UnknownRevision { rev, .. } => match rev.strip_prefix("origin/") {
                Some(branch) => format!("run `git fetch origin {branch}`, or name another base"),
                None => "fetch it, or name another base".to_owned(),
            },
            Self::ShallowBase { .. } => {
                "run `git fetch --deepen=100` (or `git fetch --unshallow`); in CI, check out with the full history"
                    .to_owned()
            }
            Self::NoMergeBase { .. } => "name a base that shares history with HEAD".to_owned(),
            Self::Failed { .. } => "run the command by hand to see all of its complaint".to_owned(),
            Self::Unexpected { .. } => "this may be a git that is too new or too old (2.25 is needed)".to_owned(),
        }
    }
}

impl fmt::Display for VcsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.sentence(), self.remedy())
    }
}

impl std::error::Error for VcsError {}

/// Reads the complaint of a failed discovery: no repository is an answer, everything
/// else is an error. The locale is C, so that the words are git's own.
pub(super) fn of_discovery<T>(output: &Output, dir: &Path) -> Result<Option<T>, VcsError> {
    let complaint = output.complaint();
    if complaint.contains("detected dubious ownership") {
        let directory = complaint.split('\'').nth(1).unwrap_or_default().to_owned();
        return Err(VcsError::DubiousOwnership { directory });
    }
    if complaint.contains("must be run in a work tree") {
        return Err(VcsError::NoWorkTree);
    }
    if complaint.contains("not a git repository (or any") {
        // A damaged `.git` is passed over by git as if it were not there. We would then
        // answer for a project without history where there should be one.
        return match dir.ancestors().find(|d| super::run::is_repository(d)) {
            None => Ok(None),
            Some(_) => {
                Err(VcsError::Broken { detail: "there is a `.git`, but git does not accept it".to_owned() })
            }
        };
    }
    if complaint.contains("not a git repository") {
        return Err(VcsError::Broken { detail: complaint });
    }
    Err(output.failed())
}
