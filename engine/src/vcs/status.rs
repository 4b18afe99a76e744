//! The working tree in one question: `git status`, beside the index as it lies on the disk.
//!
//! Asked one by one (tracked files, untracked ones, the disk against the index, the commit
//! of `HEAD`, the index against it) these are five processes that do what one does. Here
//! the names of tracked files are read from the index ([`super::index_file`]) while git
//! compares; that the index did not change meanwhile is told by its state before and after.
//!
//! Git has compared bytes where only time stamps differ, with its own rule for files that
//! were written in the same tick as the index. But it calls a file of another size modified,
//! though filters may make the same of it (line endings): so where it names a file of which
//! the bytes differ from the index, `git diff` is asked about that file.
//!
//! What this module refuses to do: it answers for plain working trees only. A conflict,
//! a submodule, a flag (`assume-unchanged`, `skip-worktree`, an intended addition), a name
//! that is no UTF-8, or an answer it does not know gives nothing; then the questions are
//! asked one by one.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread::JoinHandle;

use rustc_hash::FxHashMap;

use super::index::{Dirty, Mode, Untracked};
use super::raw::Record;
use super::run::{Git, fields};
use super::{index, index_file, plain};
use crate::cache::Stat;
use crate::read::state_of;

/// What one look at a working tree found.
#[derive(Debug)]
pub(super) struct Status {
    /// Tracked paths, in the order of the index.
    pub(super) tracked: Vec<(String, Mode)>,
    pub(super) untracked: Untracked,
    pub(super) dirty: Dirty,
    /// The commit of `HEAD`; `None` before the first one.
    pub(super) head: Option<String>,
    /// How the disk differs from `HEAD`.
    pub(super) from_head: FromHead,
}

/// How tracked paths differ on the disk from the commit of `HEAD`.
#[derive(Debug)]
pub(super) enum FromHead {
    /// In these ways; there are no renames, because nothing was removed, or nothing added.
    Exactly(Vec<Record>),
    /// At these paths at most: git has to compare once more.
    At(Vec<String>),
}

const ARGUMENTS: [&str; 8] = [
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=all",
    "--ignored=no",
    "--no-renames",
    "--ignore-submodules=all",
];

/// A question that was asked, and whose answer nobody has waited for yet.
#[derive(Debug)]
pub(super) struct Asked {
    child: Child,
    answer: Option<JoinHandle<std::io::Result<Vec<u8>>>>,
    index: PathBuf,
    before: Option<Stat>,
}

/// Asks about the working tree of `git`; `None` when the questions have to be asked one by one.
pub(super) fn ask(git: &Git) -> Option<Asked> {
    if !plain::is_unnamed() {
        return None;
    }
    let index = plain::git_dir(git.dir())?.join("index");
    let before = state_of(&index);
    let mut child = git.command("status", &ARGUMENTS).stderr(Stdio::null()).spawn().ok()?;
    let mut stdout = child.stdout.take().expect("its standard output is piped");
    // Read as it comes: pipes are finite, and git must not wait for us.
    let answer = std::thread::spawn(move || {
        let mut answer = Vec::new();
        stdout.read_to_end(&mut answer).map(|_| answer)
    });
    Some(Asked { child, answer: Some(answer), index, before })
}

impl Asked {
    /// The answer.
    pub(super) fn status(mut self, is_sha256: bool) -> Option<Status> {
        let id = if is_sha256 { 32 } else { 20 };
        // What is dropped without having been waited for is ended.
        let tracked = tracked(&self.index, id).filter(|all| self.before.is_some() || all.is_empty())?;
        let answer = self.answer.take()?.join().ok()?.ok()?;
        self.child.wait().ok().filter(ExitStatus::success)?;
        let status = parse(&answer, tracked)?;
        (state_of(&self.index) == self.before).then_some(status)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.answer.is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn tracked(file: &Path, id: usize) -> Option<Vec<(String, Mode)>> {
    match std::fs::read(file) {
        Ok(bytes) => index_file::entries(&bytes, id),
        // Before the first file is added there is none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(Vec::new()),
        Err(_) => None,
    }
}

fn parse(answer: &[u8], tracked: Vec<(String, Mode)>) -> Option<Status> {
    let mut head = None;
    let mut others: Vec<&[u8]> = Vec::new();
    let mut entries = Vec::new();
    for field in fields(answer) {
        let (kind, rest) = (*field.first()?, field.get(2..)?);
        match kind {
            b'#' => {
                if let Some(commit) = rest.strip_prefix(b"branch.oid ") {
                    head = Some(std::str::from_utf8(commit).ok()?.to_owned());
                }
            }
            b'1' => entries.push(Entry::parse(rest)?),
            b'?' => others.push(rest),
            _ => return None,
        }
    }
    let untracked = index::untracked_of(others.into_iter());
    untracked.undecodable.is_empty().then_some(())?;
    // A path that is intended to be added is no longer a plain entry of the index.
    let dirty: FxHashMap<String, Record> =
        entries.iter().filter_map(Entry::on_disk).map(|record| (record.path.clone(), record)).collect();
    Some(Status {
        tracked,
        untracked,
        dirty: Dirty { records: dirty },
        head: head.filter(|commit| commit != "(initial)"),
        from_head: from_head(&entries),
    })
}

fn from_head(entries: &[Entry]) -> FromHead {
    let told: Option<Vec<Option<Record>>> = entries.iter().map(Entry::since_head).collect();
    let records: Option<Vec<Record>> = told.map(|told| told.into_iter().flatten().collect());
    let has = |records: &[Record], status| records.iter().any(|record| record.status == status);
    match records {
        // Only what was removed and what was added can be the two sides of a rename.
        Some(records) if !has(&records, b'A') || !has(&records, b'D') => FromHead::Exactly(records),
        _ => FromHead::At(entries.iter().map(|entry| entry.path.clone()).collect()),
    }
}

/// `XY SUB MODE-HEAD MODE-INDEX MODE-DISK OID-HEAD OID-INDEX PATH`
#[derive(Debug)]
struct Entry {
    /// `HEAD` to index, and index to disk.
    staged: u8,
    unstaged: u8,
    modes: [Mode; 3],
    oids: [String; 2],
    path: String,
}

impl Entry {
    fn parse(rest: &[u8]) -> Option<Self> {
        let mut parts = rest.splitn(8, |b| *b == b' ');
        let [staged, unstaged] = *parts.next()?.first_chunk::<2>()?;
        (parts.next()? == b"N...").then_some(())?;
        let mut mode = || Mode::parse(parts.next()?).filter(|mode| *mode != Mode::Submodule);
        let modes = [mode()?, mode()?, mode()?];
        let mut oid = || Some(std::str::from_utf8(parts.next()?).ok()?.to_owned());
        let oids = [oid()?, oid()?];
        let path = std::str::from_utf8(parts.next()?).ok()?.to_owned();
        let known = |letter| matches!(letter, b'.' | b'M' | b'T' | b'A' | b'D');
        (known(staged) && known(unstaged)).then_some(Self { staged, unstaged, modes, oids, path })
    }

    fn record(&self, status: u8, old: usize, new: Mode) -> Record {
        Record {
            old_mode: self.modes[old],
            new_mode: new,
            old_oid: self.oids[old].clone(),
            new_oid: "0".repeat(self.oids[old].len()),
            status,
            path: self.path.clone(),
            from: None,
        }
    }

    /// How the disk differs from the index.
    fn on_disk(&self) -> Option<Record> {
        (self.unstaged != b'.').then(|| self.record(self.unstaged, 1, self.modes[2]))
    }

    /// How the disk differs from `HEAD`, if it does; `None` when that is not told.
    #[expect(clippy::option_option, reason = "not told, told that it does not, told how")]
    fn since_head(&self) -> Option<Option<Record>> {
        let status = match (self.staged, self.unstaged) {
            (letter @ (b'M' | b'T' | b'A' | b'D'), b'.') => letter,
            (b'.' | b'M' | b'T', b'D') => b'D',
            // What neither `HEAD` nor the disk holds is no difference between them.
            (b'A', b'D') => return Some(None),
            // The disk may be as `HEAD` again, or not differ from the index at all.
            _ => return None,
        };
        let new = if status == b'D' { Mode::Absent } else { self.modes[2] };
        Some(Some(self.record(status, 0, new)))
    }
}
