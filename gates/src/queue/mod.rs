//! The queue: what somebody wants run and has no verdict yet, across processes and restarts.
//!
//! ```text
//! .owed/queue/requests/ID     a request: immutable, sealed, durable before it is acknowledged
//! .owed/queue/awaiting/ID.N   who waits for it: a process with its start and boot
//! .owed/queue/notes/ID        why it was put off the last time
//! .owed/queue/taken           the batch that was last seen at work
//! .owed/queue/last            the batch that ended last, and what it left
//! .owed/queue/results/BATCH   a result that a waiter may take for its own
//! .owed/queue/acknowledged/ID a person's word for a request, bound to the bytes of then
//! .owed/queue/checked/ID      what a recovery has checked, and what not
//! .owed/queue/log             every request that left, and why; append-only
//! ```
//!
//! The *set* of requests changes only under one short lease (`queue`), so that writers in
//! several processes lose nothing; a *request* never changes. A new one that a pending one
//! covers gets its id. One that is wider takes over the paths of narrower ones that nobody
//! waits for, is durable, and only then do they go, each with a line in the log. A full
//! request never gives way to a selected one, nor coverage to a run without it.
//!
//! A request leaves when a run met what it asked for *and* none of its paths was written
//! since before that run. The second is looked at under the same lease under which requests
//! are made: whoever edits and then asks is either seen, or comes too late and gets a
//! request of its own. Everything else (a kill, a deadline, a deferral, no verdict) keeps it.
//!
//! What it refuses to do: it takes no damaged or foreign file for an empty one (it is
//! [`Held`], by name), says of no process that it lives, and lets no waiter have a result
//! without looking at everything again ([`Sight`]).

mod acknowledge;
mod batch;
mod job;
mod log;
mod poll;
pub mod recovery;
mod request;
mod sealed;
mod sight;
mod submit;
mod turn;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use acknowledge::{Acknowledgement, Refused};
pub use batch::{MOST_REQUESTS, Settled};
pub use job::{Batch, Ended, Kept, Outcome, Shared, Taken};
pub use poll::{Poll, Reply, Seen};
pub use request::{Asks, Changes, Kind, Priority, Request, Terms};
pub use sealed::Held;
pub use sight::{Look, Sight};
pub use submit::{Stay, Ticket};
pub use turn::{Deferral, Turn, Wait};

use crate::disk::{Disk, RealDisk};
use crate::home;
use crate::lease::{Host, Lease, LeaseFailure, Leases, Liveness, System};

/// How long the lease on the set of requests is waited for. It is held for milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The queue of one project.
#[derive(Clone, Debug)]
pub struct Queue {
    root: PathBuf,
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    host: Arc<dyn Host>,
    leases: Leases,
}

/// Why the queue could not do something. Nothing of it was acknowledged.
#[derive(Debug)]
pub enum Fault {
    /// The lease on the set of requests was not to be had.
    Lock(LeaseFailure),
    /// A file or directory of it.
    Disk {
        /// Which.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock(failure) => write!(f, "the queue of requests is busy: {failure}"),
            Self::Disk { path, error } => write!(f, "the queue of requests: {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Fault {}

/// A file that should be a request and is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldFile {
    /// Its name in `.owed/queue/requests`.
    pub name: String,
    /// Why.
    pub why: Held,
}

/// What has no verdict yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The requests, in the order of their making.
    pub requests: Vec<Request>,
    /// Files that are no requests: what they asked for is not known.
    pub held: Vec<HeldFile>,
    /// Requests that a person has vouched for, and held files (without a request).
    pub acknowledged: Vec<(Option<Request>, Acknowledgement)>,
}

impl Queue {
    /// The queue of the project in `root`, which is made when it is missing.
    ///
    /// # Errors
    /// When its directories cannot be made.
    pub fn of(root: &Path) -> Result<Self, Fault> {
        home::own(root, "queue").map_err(|error| Fault::Disk { path: root.join(".owed/queue"), error })?;
        Self::on(root, Arc::new(RealDisk), Arc::new(System))
    }

    /// The same on another disk or host; `.owed/queue` has to be there.
    ///
    /// # Errors
    /// When its directories cannot be made.
    pub fn on(root: &Path, disk: Arc<dyn Disk>, host: Arc<dyn Host>) -> Result<Self, Fault> {
        let dir = root.join(".owed/queue");
        for name in ["requests", "awaiting", "notes", "results", "acknowledged", "checked"] {
            let path = dir.join(name);
            match disk.create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Fault::Disk { path, error });
                }
                _ => {}
            }
        }
        let leases = Leases::on(root.join(".owed/leases"), Arc::clone(&disk), Arc::clone(&host));
        Ok(Self { root: root.to_owned(), dir, disk, host, leases })
    }

    /// Whether there is a queue in `root`: looking at one must not make it.
    pub fn is_in(root: &Path) -> bool {
        RealDisk.list(&root.join(".owed/queue/requests")).is_ok()
    }

    /// What has no verdict yet, as it is now.
    ///
    /// # Errors
    /// When the requests cannot be listed.
    pub fn pending(&self) -> Result<Pending, Fault> {
        let mut pending = Pending::default();
        for name in self.names("requests")? {
            if name.starts_with(sealed::DRAFT) {
                continue;
            }
            match sealed::read::<Request>(&*self.disk, &self.path("requests", &name)) {
                // It has left since it was listed.
                None => {}
                Some(Ok(request)) if request.id == name => pending.requests.push(request),
                Some(Ok(_)) => pending.held.push(HeldFile { name, why: Held::Foreign }),
                Some(Err(why)) => pending.held.push(HeldFile { name, why }),
            }
        }
        self.acknowledged(&mut pending)?;
        pending.requests.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(pending)
    }

    /// The batch that was last seen at work; `None` when none is.
    pub fn taken(&self) -> Option<Result<Taken, Held>> {
        sealed::read(&*self.disk, &self.dir.join("taken"))
    }

    /// The batch that ended last.
    pub fn last(&self) -> Option<Result<Ended, Held>> {
        sealed::read(&*self.disk, &self.dir.join("last"))
    }

    /// Why a request was put off the last time, if that is known.
    pub fn note(&self, id: &str) -> Option<Kept> {
        let note = sealed::read::<Kept>(&*self.disk, &self.path("notes", id)).and_then(Result::ok);
        let kept = self.last().and_then(Result::ok).into_iter().flat_map(|last| last.kept);
        let last = kept.into_iter().find(|kept| kept.request == id);
        note.into_iter().chain(last).max_by_key(|kept| kept.at_ms)
    }

    /// Notes why a request was put off.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_off(&self, id: &str, reason: &str, detail: &str) -> Result<(), Fault> {
        let (reason, detail) = (reason.to_owned(), detail.to_owned());
        let kept = Kept { request: id.to_owned(), reason, detail, at_ms: self.host.now_ms() };
        let path = self.path("notes", id);
        sealed::write_lightly(&*self.disk, &path, &kept).map_err(|error| Fault::Disk { path, error })
    }

    /// How many processes wait for a request, those left out of which it is known that they
    /// are gone.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn awaited(&self, id: &str) -> Result<usize, Fault> {
        Ok(self.waiters(id)?.len())
    }

    /// The batch in flight: taken by a process that is not known to be gone.
    fn in_flight(&self) -> Option<Taken> {
        // A file that cannot be read names nobody, and its requests are still there.
        let taken = self.taken()?.ok()?;
        (self.host.liveness(&taken.owner) != Liveness::Gone).then_some(taken)
    }

    fn lock(&self) -> Result<Lease, Fault> {
        self.leases.acquire("queue", LOCK_WAIT).map_err(Fault::Lock)
    }

    fn path(&self, folder: &str, name: &str) -> PathBuf {
        self.dir.join(folder).join(name)
    }

    /// The names in a folder, sorted; those that are no UTF-8 are replaced in part, so that
    /// they are foreign, and not absent.
    fn names(&self, folder: &str) -> Result<Vec<String>, Fault> {
        let path = self.dir.join(folder);
        let names = self.disk.list(&path).map_err(|error| Fault::Disk { path, error })?;
        Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
    }

    fn remove(&self, folder: &str, name: &str) -> Result<(), Fault> {
        let path = self.path(folder, name);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::Disk { path, error }),
            _ => Ok(()),
        }
    }
}
