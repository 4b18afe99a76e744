//! Leases: who works on what, across processes.
//!
//! A lease is a file with an exclusive `flock` for as long as it is held, and in it who
//! holds it ([`ProcessIdentity`]). The lock is the first word: the kernel frees it when its
//! process ends, however it ends. The identity is the second: a live owner holds even where
//! the lock is not seen, and a process that merely got the owner's PID never does.
//!
//! | the lock | the file says | then |
//! | --- | --- | --- |
//! | taken | anything | held |
//! | free | nothing, or a cut identity | free |
//! | free | a process that lives | held |
//! | free | a process that is gone, of an earlier boot, or whose PID has another process now | free |
//! | free | a process of which that cannot be told (another PID namespace, another platform) | free: on one kernel the lock is right |
//! | free | something without an identity (an older tool's lock) | held while it is fresh, [`LEGACY_MS`] |
//!
//! What it refuses to do: wait without a deadline, and say of a process that is shown by
//! [`Leases::holder`] that it lives.

pub mod lanes;
mod process;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use process::nonce;
pub use process::{Host, Liveness, ProcessIdentity, System, ancestors};

use crate::disk::{Disk, DiskFile, Lock, Mode, RealDisk, read_from};

/// How long a lock without an identity holds: 24 hours, in milliseconds.
pub const LEGACY_MS: u64 = 24 * 60 * 60 * 1000;

/// The first pause while a lock is not free, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// More than any identity takes.
const READ_BYTES: usize = 64 << 10;

/// What a lease's file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    process: ProcessIdentity,
    at_ms: u64,
}

/// Who holds a lease, as far as it can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process that lives.
    Process(ProcessIdentity),
    /// Whoever has the lock; the file names this process, if any.
    Locked(Option<ProcessIdentity>),
    /// A lock of an older tool, without an identity.
    Legacy {
        /// How old it is in milliseconds; `None` when its time lies ahead of our clock.
        age_ms: Option<u64>,
    },
}

/// Why a lease was not given.
#[derive(Debug)]
pub enum LeaseFailure {
    /// Somebody holds it.
    Held(Holder),
    /// Its name is not a plain file name.
    Name,
    /// The file cannot be made, locked or written.
    Unavailable {
        /// Which file.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
}

impl std::fmt::Display for LeaseFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LeaseFailure::Held(Holder::Process(process)) => {
                write!(f, "process {} holds the lease; wait until it has ended", process.pid)
            }
            LeaseFailure::Held(Holder::Locked(Some(process))) => {
                write!(f, "the lease is locked, last by process {}; wait until it is free", process.pid)
            }
            LeaseFailure::Held(Holder::Locked(None)) => {
                write!(f, "the lease is locked by another process; wait until it is free")
            }
            LeaseFailure::Held(Holder::Legacy { .. }) => {
                write!(f, "a lock without an identity holds for 24 hours; remove it if its tool has ended")
            }
            LeaseFailure::Name => write!(f, "a lease's name is a plain file name"),
            LeaseFailure::Unavailable { path, error } => {
                write!(f, "cannot take the lease {}: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for LeaseFailure {}

/// What the file of a lease that nobody has locked means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may be taken.
    Free,
    /// It is held.
    Held(Holder),
}

/// Judges what is in the file of a lease whose lock was free; `modified_ms` is when it was
/// last written. Pure, but for what the host says.
#[must_use]
pub fn judge(content: &[u8], modified_ms: u64, host: &dyn Host) -> Judgement {
    if content.iter().all(|&byte| byte == 0 || byte.is_ascii_whitespace()) {
        return Judgement::Free;
    }
    match serde_json::from_slice::<Owner>(content) {
        Ok(owner) if owner.process == host.me() => Judgement::Free,
        Ok(owner) => match host.liveness(&owner.process) {
            Liveness::Alive => Judgement::Held(Holder::Process(owner.process)),
            Liveness::Gone | Liveness::Unknown => Judgement::Free,
        },
        // Our own writing, cut by a crash: whoever wrote it has no lock any more.
        Err(error) if content[0] == b'{' && error.is_eof() => Judgement::Free,
        Err(_) => match host.now_ms().checked_sub(modified_ms) {
            Some(age) if age >= LEGACY_MS => Judgement::Free,
            // A time ahead of our clock says that one of the two has jumped: not old.
            age_ms => Judgement::Held(Holder::Legacy { age_ms }),
        },
    }
}

/// The leases of one directory.
#[derive(Clone, Debug)]
pub struct Leases {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    host: Arc<dyn Host>,
}

impl Leases {
    /// The leases in a directory, which is made when it is first needed, and its parent, too.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self::on(directory, Arc::new(RealDisk), Arc::new(System))
    }

    /// The same on another disk or host.
    #[must_use]
    pub fn on(directory: impl Into<PathBuf>, disk: Arc<dyn Disk>, host: Arc<dyn Host>) -> Self {
        Self { directory: directory.into(), disk, host }
    }

    /// Takes a lease, waiting at most `wait` while it is held.
    ///
    /// # Errors
    /// [`LeaseFailure::Held`] names who holds it.
    pub fn acquire(&self, name: &str, wait: Duration) -> Result<Lease, LeaseFailure> {
        let plain = !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if !plain {
            return Err(LeaseFailure::Name);
        }
        let path = self.directory.join(name);
        let (mut pause, longest) = PAUSES;
        let mut waited = Duration::ZERO;
        loop {
            let holder = match self.try_acquire(&path) {
                Ok(Attempt::Got(file)) => {
                    return Ok(Lease { file, path, disk: Arc::clone(&self.disk) });
                }
                Ok(Attempt::Moved) => None,
                Ok(Attempt::Held(holder)) => Some(holder),
                Err(error) => return Err(LeaseFailure::Unavailable { path, error }),
            };
            if waited >= wait {
                return Err(LeaseFailure::Held(holder.unwrap_or(Holder::Locked(None))));
            }
            self.host.pause(pause);
            waited += pause;
            pause = (pause * 2).min(longest);
        }
    }

    fn try_acquire(&self, path: &Path) -> io::Result<Attempt> {
        let file = match self.disk.open(path, Mode::Create) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                for directory in [self.directory.parent(), Some(&*self.directory)].into_iter().flatten() {
                    match self.disk.create_dir(directory) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ => {}
                    }
                }
                self.disk.open(path, Mode::Create)?
            }
            opened => opened?,
        };
        if !file.try_lock(Lock::Exclusive)? {
            return Ok(Attempt::Held(Holder::Locked(named(&*file)?)));
        }
        if !file.is_at(path)? {
            // Its holder removed it when it was done, between our opening and our locking.
            return Ok(Attempt::Moved);
        }
        let content = read_from(&*file, 0, READ_BYTES)?;
        if let Judgement::Held(holder) = judge(&content, file.modified_ms()?, &*self.host) {
            return Ok(Attempt::Held(holder));
        }
        let owner = Owner { process: self.host.me(), at_ms: self.host.now_ms() };
        let bytes = serde_json::to_vec(&owner).expect("an identity is plain data");
        file.truncate(0)?;
        if file.write_at(0, &bytes)? != bytes.len() {
            // The lock alone holds it, while we live.
            file.truncate(0)?;
        }
        Ok(Attempt::Got(file))
    }

    /// Which process a lease's file names: the last holder that is known. Says nothing about
    /// whether that process lives, or whether the lease is held.
    ///
    /// # Errors
    /// As the operating system says; an absent file is `None`.
    pub fn holder(&self, name: &str) -> io::Result<Option<ProcessIdentity>> {
        match self.disk.open(&self.directory.join(name), Mode::Read) {
            Ok(file) => named(&*file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

enum Attempt {
    Got(Box<dyn DiskFile>),
    Held(Holder),
    Moved,
}

fn named(file: &dyn DiskFile) -> io::Result<Option<ProcessIdentity>> {
    let content = read_from(file, 0, READ_BYTES)?;
    Ok(serde_json::from_slice::<Owner>(&content).ok().map(|owner| owner.process))
}

/// A lease that is held until it is dropped, or its process ends.
#[derive(Debug)]
pub struct Lease {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    disk: Arc<dyn Disk>,
}

impl Lease {
    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The lock is still ours, and who waits for it looks whether the file is still there.
        // When it was removed by hand, the file of that name is somebody else's.
        let ours = self.file.is_at(&self.path).unwrap_or(false);
        if !ours || self.disk.remove(&self.path).is_err() {
            // When nothing works, the identity holds until this process ends.
            let _ = self.file.truncate(0);
        }
    }
}

/// Waits for the lock of an open file; `false` when it was not free in time. Polled, because
/// the kernel's own waiting has no deadline and a stopped process may hold a lock for ever.
///
/// # Errors
/// When the file cannot be locked at all.
pub fn wait_for_lock(file: &dyn DiskFile, lock: Lock, host: &dyn Host, wait: Duration) -> io::Result<bool> {
    let (mut pause, longest) = PAUSES;
    let mut waited = Duration::ZERO;
    loop {
        if file.try_lock(lock)? {
            return Ok(true);
        }
        if waited >= wait {
            return Ok(false);
        }
        host.pause(pause);
        waited += pause;
        pause = (pause * 2).min(longest);
    }
}
