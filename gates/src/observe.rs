//! What is seen of a checkout before a command runs: where it is, which commit is checked
//! out, and a fingerprint of everything that differs from that commit.
//!
//! It is an observation, not a snapshot: another process may change the tree while it is
//! looked at, and the command itself may do so afterwards. Files that git was told not to
//! look at (`assume-unchanged`, `skip-worktree`) are compared by their bytes. What is
//! ignored is not part of it. A path that could not be read or named makes the
//! fingerprint a *partial* one, by its own prefix: two partial fingerprints that are
//! equal prove nothing.
//!
//! Nothing is written, no lock of the repository is taken, and no command of the
//! project's is run.
#![expect(clippy::disallowed_methods, reason = "the bytes of changed files are the fingerprint")]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use owed_engine::change::ChangeKind;
use owed_engine::vcs::{Base, Repository, VcsError};
use serde::{Deserialize, Serialize};

/// The prefix of a fingerprint of everything that differs.
pub const WHOLE: &str = "worktree1:";
/// The prefix of one from which something is missing.
pub const PARTIAL: &str = "worktree1-partial:";

/// An observation, as the preflight of a check prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// The checkout, links followed.
    pub path: String,
    /// The commit; `None` before the first one.
    pub head: Option<String>,
    /// [`WHOLE`] or [`PARTIAL`], and 64 hexadecimal digits.
    pub fingerprint: String,
}

/// Why nothing was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unobserved {
    /// There is no git working tree here.
    NoCheckout,
    /// Git could not be asked.
    Git(VcsError),
    /// The path of the checkout cannot be written down (no UTF-8, or gone).
    Path,
}

/// Looks at the checkout around `dir`.
///
/// # Errors
/// When there is none, or git cannot be asked.
pub fn observe(dir: &Path) -> Result<Observed, Unobserved> {
    let path = fs::canonicalize(dir).map_err(|_| Unobserved::Path)?;
    let repository = Repository::discover(&path).map_err(Unobserved::Git)?.ok_or(Unobserved::NoCheckout)?;
    let base = Base::Worktree { rev: "HEAD".to_owned() };
    let (head, changes) = match repository.changes(&base) {
        Ok(changes) => (changes.base.merge_base.clone(), changes),
        Err(error) => return Err(Unobserved::Git(error)),
    };
    let mut is_whole = changes.undecodable.is_empty() && changes.submodules.iter().all(|one| one.listed);
    let mut hash = Fingerprint::new();
    hash.field(head.as_deref().unwrap_or_default().as_bytes());
    for change in &changes.changes {
        for path in change.paths() {
            hash.field(path.as_bytes());
            hash.field(kind(&change.kind).as_bytes());
            is_whole &= hash.file(&repository.root().join(path));
        }
    }
    for lossy in &changes.undecodable {
        hash.field(lossy.as_bytes());
    }
    let prefix = if is_whole { WHOLE } else { PARTIAL };
    Ok(Observed {
        path: path.to_str().ok_or(Unobserved::Path)?.to_owned(),
        head,
        fingerprint: format!("{prefix}{}", hash.0.finalize().to_hex()),
    })
}

/// What tells this checkout from one that replaces it at the same path: the identity of
/// its directory and of its git directory on the disk.
///
/// # Errors
/// When there is no git working tree.
pub fn incarnation(dir: &Path) -> Result<String, Unobserved> {
    let path = fs::canonicalize(dir).map_err(|_| Unobserved::Path)?;
    let repository = Repository::discover(&path).map_err(Unobserved::Git)?.ok_or(Unobserved::NoCheckout)?;
    let mut hash = Fingerprint::new();
    for place in [path.clone(), repository.root().join(".git")] {
        let meta = fs::metadata(&place).map_err(|_| Unobserved::Path)?;
        hash.field(place.as_os_str().as_bytes());
        hash.field(&meta.dev().to_le_bytes());
        hash.field(&meta.ino().to_le_bytes());
        // Numbers of removed files are given again; where a file system keeps the time
        // of birth, it tells them apart.
        let born = meta.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        hash.field(&born.map_or(0, |age| age.as_nanos()).to_le_bytes());
    }
    Ok(format!("checkout1:{}", hash.0.finalize().to_hex()))
}

fn kind(kind: &ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Deleted => "deleted",
        _ => "present",
    }
}

struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    fn new() -> Self {
        Self(blake3::Hasher::new_derive_key("owed checkout observation 1"))
    }

    /// Each field with its length, so that no two lists of fields give the same bytes.
    fn field(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// What lies at a path. Gives whether that could be told.
    fn file(&mut self, path: &Path) -> bool {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.field(b"absent");
                return true;
            }
            Err(_) => {
                self.field(b"unreadable");
                return false;
            }
        };
        let kind = meta.file_type();
        if kind.is_symlink() {
            let target = fs::read_link(path);
            self.field(b"link");
            self.field(target.as_deref().map_or(&b""[..], |target| target.as_os_str().as_bytes()));
            return target.is_ok();
        }
        if !kind.is_file() {
            // A submodule's directory; its files stand for themselves.
            self.field(b"other");
            return kind.is_dir();
        }
        let is_executable = meta.permissions().mode() & 0o100 != 0;
        self.field(if is_executable { b"executable" } else { b"file" });
        let mut content = blake3::Hasher::new();
        let read = fs::File::open(path).and_then(|file| content.update_reader(file).map(|_| ()));
        self.field(content.finalize().as_bytes());
        read.is_ok()
    }
}
