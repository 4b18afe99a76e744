//! What git knows: the files of a project, what changed since a base, and the bytes
//! of the index and of commits.
//!
//! # Why the `git` program, and not a library
//!
//! Measured on a repository of 3,501 tracked and 3,000 ignored files, two cores,
//! git 2.47.3 against gix 0.90.0 (release build), warm, medians of 15 to 30 runs:
//!
//! | question | git | gix |
//! | --- | --- | --- |
//! | list tracked files | 1.8 ms (`ls-files -s -v -z`) | 0.75 ms |
//! | untracked files | 5.0 ms (`ls-files -o --exclude-standard -z`) | |
//! | working tree against a commit, renames | 5.2 ms (`diff --raw -z -M`) | |
//! | index, working tree and untracked at once | 8.9 ms (`status --porcelain=v2 -z`) | 15.3 ms (`status`) |
//! | crates added to the build | 0 | 139 |
//! | build time of those alone | 0 | 48 s |
//! | size of the stripped binary | 0 | + 3.2 MB |
//!
//! A spawn costs 1.1 ms and independent questions are asked at the same time, so the
//! library would win one millisecond where it is fast and lose six where it matters.
//! And the program is right by definition about what this module must not get wrong:
//! every configuration key, clean filters, sparse and split indexes, racy time stamps,
//! worktrees, `GIT_DIR`, partial clones.
//!
//! Later, on small projects, processes were most of a warm plan: so what takes none is read
//! here ([`plain`], [`index_file`]), and one `git status` answers the rest ([`status`]).
//!
//! # How it is asked
//!
//! Only with `-z` (names hold newlines, tabs and umlauts), in the C locale, without
//! optional locks (reading must not disturb a commit in progress), pager, prompts,
//! external diffs or text conversions, and with literal path specifications.
//! `core.fsmonitor` is switched off: a monitor is a program of the user's that git
//! believes without looking, and a change it forgets would be a test wrongly skipped.
//! The cost is one `lstat` a file. So are the cache of untracked files and the settings
//! that have git compare only part of what the disk says of a file. Everything else of the user's configuration and of
//! the `GIT_*` environment holds.
//!
//! What this module refuses to do: it writes nothing into a repository, fetches
//! nothing by itself, and does not guess where history is missing.

mod base;
mod before;
mod blobs;
mod changes;
mod error;
mod flagged;
mod index;
mod index_file;
mod object_tree;
mod objects;
mod plain;
mod raw;
mod run;
mod status;

pub use base::{Base, BaseInfo};
pub use before::AtBase;
pub use changes::{Changes, SubmoduleChange};
pub use error::{Missing, VcsError};
pub use object_tree::ObjectTree;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::read::Inventory;
use index::{Dirty, Index, Untracked};
use run::Git;
use status::{Asked, Status};

/// A git repository with a working tree, and what it answered so far.
///
/// It is one observation: a question about the working tree is asked of git once, so
/// that [`Repository::files`] and [`Repository::changes`] agree. Make a new one to
/// look again. It can be shared between threads; both may run at the same time.
#[derive(Debug)]
pub struct Repository {
    git: Git,
    is_shallow: bool,
    is_sha256: bool,
    asked: Mutex<Option<Asked>>,
    status: OnceLock<Option<Status>>,
    index: OnceLock<Result<Index, VcsError>>,
    untracked: OnceLock<Result<Untracked, VcsError>>,
    dirty: OnceLock<Result<Dirty, VcsError>>,
}

impl Repository {
    /// The repository that `dir` lies in; `None` when it lies in none.
    ///
    /// `GIT_DIR`, `GIT_WORK_TREE`, linked worktrees and `safe.directory` mean what
    /// they mean to git.
    ///
    /// # Errors
    /// When git is missing, refuses (another owner), or the repository is bare or broken.
    pub fn discover(dir: &Path) -> Result<Option<Self>, VcsError> {
        let Some(here) = run::bound_to() else { return Self::open(Git::at(dir)) };
        // The environment names a repository (we run in a hook). To git its working tree
        // is then the directory it starts in, so that `dir`, if it lies deeper, would be
        // taken for the top. And if `dir` lies elsewhere, that repository is not meant.
        match Self::open(Git::at(&here)) {
            Ok(Some(bound)) if run::lies_in(dir, bound.root()) => Ok(Some(bound)),
            Err(error) if run::lies_in(dir, &here) => Err(error),
            _ => Self::open(Git::at(dir).foreign()),
        }
    }

    /// The repository of the submodule checked out at `path`; `None` when it is not.
    pub(crate) fn submodule(&self, path: &str) -> Result<Option<Self>, VcsError> {
        let dir = self.root().join(path);
        // Without this, git would find the repository around an empty directory.
        if !run::is_repository(&dir) {
            return Ok(None);
        }
        Self::open(Git::at(&dir).foreign())
    }

    fn open(git: Git) -> Result<Option<Self>, VcsError> {
        if let Some(found) = plain::find(git.dir()) {
            let git = git.moved(found.root);
            return Ok(Some(Self { is_shallow: found.is_shallow, ..Self::at(git) }));
        }
        Self::asked(git)
    }

    /// The same, by asking git what is there.
    fn asked(git: Git) -> Result<Option<Self>, VcsError> {
        // The top level comes last: it alone may hold newlines.
        let facts = [
            "--is-bare-repository",
            "--is-inside-work-tree",
            "--is-shallow-repository",
            "--show-object-format",
            "--show-toplevel",
        ];
        let output = git.run("rev-parse", &facts)?;
        if !output.success {
            return error::of_discovery(&output, git.dir());
        }
        let text = String::from_utf8(output.stdout).map_err(|_| VcsError::Broken {
            detail: "the path of its working tree is no UTF-8".to_owned(),
        })?;
        let mut lines = text.splitn(5, '\n');
        let mut next = || lines.next().unwrap_or_default();
        let (is_bare, is_inside) = (next() == "true", next() == "true");
        let (is_shallow, is_sha256) = (next() == "true", next() == "sha256");
        let root = next().strip_suffix('\n').unwrap_or_default().to_owned();
        if root.is_empty() {
            return Err(if is_bare || !is_inside {
                VcsError::NoWorkTree
            } else {
                VcsError::Broken { detail: "git names no working tree".to_owned() }
            });
        }
        let git = git.moved(PathBuf::from(root));
        Ok(Some(Self { is_shallow, is_sha256, ..Self::at(git) }))
    }

    fn at(git: Git) -> Self {
        Self {
            git,
            is_shallow: false,
            is_sha256: false,
            asked: Mutex::default(),
            status: OnceLock::new(),
            index: OnceLock::new(),
            untracked: OnceLock::new(),
            dirty: OnceLock::new(),
        }
    }

    /// The top directory of the working tree, absolute, links followed.
    pub fn root(&self) -> &Path {
        self.git.dir()
    }

    /// Whether history was cut off when this was cloned.
    pub fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    /// Asks git about the working tree, and does not wait for the answer: the first question
    /// that needs it does.
    pub fn ask_ahead(&self) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_none() && self.status.get().is_none() {
            *asked = status::ask(&self.git);
        }
    }

    /// The files of the working tree: tracked ones, and untracked ones that are not
    /// ignored; without those that were deleted or are not checked out (sparse), and
    /// without untracked installed things ([`crate::read::is_installed`]).
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn files(&self) -> Result<Inventory, VcsError> {
        index::inventory(self)
    }

    /// Which of `paths` git ignores, sorted. Tracked files are never ignored.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn ignored(&self, paths: &[&str]) -> Result<Vec<String>, VcsError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        // Behind `./` a name that starts with a colon is no pattern.
        let input: String = paths.iter().map(|path| format!("./{path}\0")).collect();
        let output = self.git.feed("check-ignore", &["-z", "--stdin"], input.as_bytes())?;
        // Status 1 says that none is.
        if !output.success && output.code != Some(1) {
            return Err(output.failed());
        }
        let mut ignored: Vec<String> = run::fields(&output.stdout)
            .filter_map(|field| run::utf8(field.strip_prefix(b"./").unwrap_or(field)).ok())
            .collect();
        ignored.sort_unstable();
        Ok(ignored)
    }

    fn index(&self) -> Result<&Index, VcsError> {
        remembered(self.index.get_or_init(|| index::read_index(&self.git)))
    }

    fn untracked(&self) -> Result<&Untracked, VcsError> {
        match self.status() {
            Some(status) => Ok(&status.untracked),
            None => remembered(self.untracked.get_or_init(|| index::read_untracked(&self.git))),
        }
    }

    fn dirty(&self) -> Result<&Dirty, VcsError> {
        match self.status() {
            Some(status) => Ok(&status.dirty),
            None => remembered(self.dirty.get_or_init(|| index::read_dirty(&self.git))),
        }
    }

    /// All that one question tells, if the working tree is plain.
    fn status(&self) -> Option<&Status> {
        let look = || {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
            asked.or_else(|| status::ask(&self.git))?.status(self.is_sha256)
        };
        self.status.get_or_init(look).as_ref()
    }

    /// Asks about the working tree: all at once where that is possible, or else the three
    /// questions at the same time, so far as
    /// they were not asked yet.
    fn observe(&self) {
        if self.status().is_some() {
            return;
        }
        std::thread::scope(|scope| {
            scope.spawn(|| self.untracked().is_ok());
            scope.spawn(|| self.dirty().is_ok());
            self.index().is_ok()
        });
    }
}

fn remembered<T>(answer: &Result<T, VcsError>) -> Result<&T, VcsError> {
    answer.as_ref().map_err(Clone::clone)
}
