//! Where runs lie, and how one is opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::names::{CallId, Digest, RunId};
use super::refusal::{Failure, Hold, Refusal};
use super::run::Run;
use super::terms::Claim;
use crate::disk::{Disk, Mode, RealDisk};
use crate::lease::{Host, Lease, LeaseFailure, Leases, System};

/// How a run is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Refuse with [`Refusal::Absent`] when there is no such run, and make nothing.
    pub must_exist: bool,
    /// How long to wait while another process writes to the run.
    pub lock_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { must_exist: false, lock_wait: Duration::from_secs(30) }
    }
}

/// The ledger of one project: its state directory, with the disk and the host it is on.
#[derive(Clone, Debug)]
pub struct Store {
    state: PathBuf,
    disk: Arc<dyn Disk>,
    host: Arc<dyn Host>,
}

impl Store {
    /// The ledger in a state directory (`.owed` at the root of the project).
    #[must_use]
    pub fn at(state: impl Into<PathBuf>) -> Self {
        Self::on(state, Arc::new(RealDisk), Arc::new(System))
    }

    /// The same on another disk or host.
    #[must_use]
    pub fn on(state: impl Into<PathBuf>, disk: Arc<dyn Disk>, host: Arc<dyn Host>) -> Self {
        Self { state: state.into(), disk, host }
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The host, for who wants to identify a process as the ledger does.
    #[must_use]
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Opens a run to write in the name of `claim`, and makes it when there is none.
    ///
    /// # Errors
    /// [`Refusal`] when the run is held, newer, another's, or cannot be reached: then nothing
    /// was written. [`super::Persistence`] when making or claiming it failed half way.
    pub fn open(&self, run: &RunId, claim: Claim, options: Options) -> Result<Run, Failure> {
        Run::open(self.clone(), run, Some(claim), options)
    }

    /// Opens a run that exists without claiming it: to retire calls, not to start any.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn reopen(&self, run: &RunId, options: Options) -> Result<Run, Failure> {
        Run::open(self.clone(), run, None, Options { must_exist: true, ..options })
    }

    /// Takes the lease of one call: simultaneous duplicates wait here, and the second is then
    /// answered from the ledger. The run has been opened, so its directories exist.
    ///
    /// # Errors
    /// [`LeaseFailure`].
    pub fn call_lease(&self, run: &RunId, call: &CallId, wait: Duration) -> Result<Lease, LeaseFailure> {
        let parts = [run.as_str().as_bytes(), call.as_str().as_bytes()];
        let name = Digest::of("owed ledger 1: call lease", &parts).hex();
        self.leases().acquire(&format!("call-{}", &name[..32]), wait)
    }

    /// The leases of the project.
    #[must_use]
    pub fn leases(&self) -> Leases {
        let (disk, host) = (Arc::clone(&self.disk), Arc::clone(&self.host));
        Leases::on(self.state.join("leases"), disk, host)
    }

    /// All runs that either place knows, sorted. A run that only the second place knows is
    /// gone, and inspecting it says so. Names that are no run's are not the ledger's.
    ///
    /// # Errors
    /// When a directory cannot be listed, other than for not being there.
    pub fn runs(&self) -> Result<Vec<RunId>, Refusal> {
        let mut runs = Vec::new();
        for directory in [self.ledger(), self.acks()] {
            let names = match self.disk.list(&directory) {
                Ok(names) => names,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unavailable("list", &directory, &error)),
            };
            let named = names.into_iter().filter_map(|name| name.into_string().ok());
            runs.extend(named.filter_map(|name| RunId::new(name).ok()));
        }
        runs.sort();
        runs.dedup();
        // A directory alone is left by a process that ended before it wrote anything.
        runs.retain(|run| !matches!(self.exists(run), Ok(false)));
        Ok(runs)
    }

    fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    fn acks(&self) -> PathBuf {
        self.state.join("acks")
    }

    pub(super) fn frames_of(&self, run: &RunId) -> PathBuf {
        self.ledger().join(run.as_str()).join("frames")
    }

    pub(super) fn ack_of(&self, run: &RunId) -> PathBuf {
        self.acks().join(run.as_str())
    }

    /// The index, which may be deleted.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.state.join("cache").join("ledger.sqlite")
    }

    /// Whether the run exists; an error when the second place knows it and its frames are
    /// gone. The second place is asked first, because it is made last.
    pub(super) fn exists(&self, run: &RunId) -> Result<bool, Refusal> {
        let acknowledged = self.is_there(&self.ack_of(run))?;
        let frames = self.is_there(&self.frames_of(run))?;
        match (acknowledged, frames) {
            (true, false) => Err(Refusal::Held(Hold::Gone)),
            (_, there) => Ok(there),
        }
    }

    fn is_there(&self, path: &Path) -> Result<bool, Refusal> {
        match self.disk.open(path, Mode::Read) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unavailable("open", path, &error)),
        }
    }

    /// Makes the directories of a run, and the file that keeps the state out of git.
    pub(super) fn prepare(&self, run: &RunId) -> Result<(), Refusal> {
        let directory = self.ledger().join(run.as_str());
        for path in [&self.state, &self.ledger(), &directory, &self.acks()] {
            match self.disk.create_dir(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(unavailable("make", path, &error));
                }
                _ => {}
            }
        }
        let ignore = self.state.join(".gitignore");
        let written = self.disk.open(&ignore, Mode::Create).and_then(|file| {
            if file.size()? == 0 {
                file.write_at(0, b"*\n")?;
                file.sync()?;
            }
            Ok(())
        });
        written.map_err(|error| unavailable("write", &ignore, &error))
    }

    /// Makes the directory of a file, when it is not there.
    pub(super) fn make_directory_of(&self, path: &Path) -> io::Result<()> {
        match self.disk.create_dir(path.parent().unwrap_or(&self.state)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Makes the entries of a run's directories durable, from the project's root down. The
    /// directory of the second place is made when a power failure has taken it alone.
    pub(super) fn sync_directories(&self, run: &RunId) -> io::Result<()> {
        match self.disk.create_dir(&self.acks()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let root =
            self.state.parent().map(|root| if root.as_os_str().is_empty() { Path::new(".") } else { root });
        let directory = self.ledger().join(run.as_str());
        let below = [self.state.clone(), self.ledger(), directory];
        root.map(Path::to_path_buf).into_iter().chain(below).try_for_each(|path| self.disk.sync_dir(&path))
    }

    /// Makes the entries of the second place durable.
    pub(super) fn sync_acks(&self) -> io::Result<()> {
        self.disk.sync_dir(&self.acks())
    }
}

pub(super) fn unavailable(step: &'static str, path: &Path, error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::DiskFull,
        kind => Refusal::Unavailable { step, path: path.to_path_buf(), kind },
    }
}
