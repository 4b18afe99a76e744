//! What belongs to a project, as a value: the files that are looked at, and what
//! could not be named or listed.

use serde::{Deserialize, Serialize};

use crate::problem::{NotChecked, Unchecked};

/// The files of a project: tracked ones, and untracked ones that are not ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Regular files, sorted by bytes. Each is known to be one: nobody asks the disk again.
    pub files: Vec<String>,
    /// Symbolic links, sorted by bytes; a tree follows them to find out what they are.
    pub links: Vec<String>,
    /// Submodules and what is known of them, sorted by path.
    pub submodules: Vec<Submodule>,
    /// Untracked directories that are repositories of their own (a linked worktree, a
    /// clone): git does not look inside, and neither do we. Sorted.
    pub embedded: Vec<String>,
    /// What is there but cannot be looked at: names that are no UTF-8 (given lossily),
    /// submodules that are not checked out, directories that cannot be listed.
    pub not_checked: Vec<NotChecked>,
}

/// A submodule of the project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Submodule {
    /// Where it is mounted.
    pub path: String,
    /// Whether its files could be listed; otherwise it is a directory of unknown content.
    pub listed: bool,
}

impl Inventory {
    /// An inventory of `files`, all regular.
    pub fn of_files(files: Vec<String>) -> Self {
        Self { files, ..Self::default() }.sorted()
    }

    /// Sorts and removes duplicates, so that equal projects give equal inventories
    /// whatever order they were found in.
    #[must_use]
    pub(crate) fn sorted(mut self) -> Self {
        for list in [&mut self.files, &mut self.links, &mut self.embedded] {
            list.sort_unstable();
            list.dedup();
        }
        self.submodules.sort();
        self.submodules.dedup();
        self.not_checked.sort();
        self.not_checked.dedup();
        self
    }

    /// Notes that `path` cannot be looked at.
    pub(crate) fn refuse(&mut self, path: String) {
        self.not_checked.push(NotChecked { path, reason: Unchecked::Unreadable, line: None });
    }
}

/// Directory names that hold installed or generated things in every project. Where
/// they are untracked they are left out even when no ignore file says so: a checkout
/// without `.gitignore` must not gain 30,000 sources after `npm install`.
const INSTALLED: [&str; 5] = [".git", ".owed", "node_modules", "__pycache__", "site-packages"];

/// Whether a directory of this name holds installed or generated things.
/// Virtual environments have free names; they are known by their `pyvenv.cfg`.
pub fn is_installed(name: &str) -> bool {
    INSTALLED.contains(&name)
}
