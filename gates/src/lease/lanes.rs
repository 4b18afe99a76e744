//! Lanes: which heavy work may go on at the same time.
//!
//! - *The project's lane*: one piece of heavy work for each project (its canonical root)
//!   across all processes. Other projects are independent.
//! - *The host's background lane*: one piece of background work for each user of the host,
//!   whatever its project, and only while no foreground work is going on. Foreground work
//!   does not queue for it: it announces itself ([`Lanes::announce`]), which closes the lane
//!   and asks whoever is in it to leave ([`Lanes::is_wanted`]).
//!
//! Announcements and lanes are leases, so that the kernel takes them back however a process
//! ends. Work that is started *inside* of work in a lane (a test that runs this program)
//! never waits for it, which would never end: in the project's lane it is put off, and of the
//! host's lane it needs no second place, because its memory is watched with that of the
//! outer one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Holder, Host as _, Lease, LeaseFailure, Leases, ProcessIdentity, System, ancestors, nonce};
use crate::disk::RealDisk;
use crate::home;
use crate::queue::Priority;

/// The name of the project's lane.
const PROJECT: &str = "project";
/// The name of the host's lane.
const BACKGROUND: &str = "background";
/// How the names of announcements begin.
const FOREGROUND: &str = "foreground-";

/// How long background work waits for its lane.
pub const BACKGROUND_WAIT: Duration = Duration::from_secs(120);
/// How long background work may take, waiting not counted.
pub const BACKGROUND_TIME: Duration = Duration::from_secs(600);

/// The lanes that one piece of work needs.
#[derive(Clone, Debug)]
pub struct Lanes {
    project: Leases,
    /// The directory of the host's lane; `None` where there is no directory for the user's
    /// state.
    host: Option<(PathBuf, Leases)>,
    priority: Priority,
}

/// Why a lane was not entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Other work for this project.
    Project(Option<u32>),
    /// This work was started by work in the project's lane.
    Nested(u32),
    /// Other background work on this host.
    Background(Option<u32>),
    /// Foreground work on this host.
    Foreground,
    /// Background work needs a place for the user's state, and there is none.
    NoState,
    /// A lane cannot be looked at.
    Unavailable(String),
}

impl Busy {
    /// The word in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Project(_) => "busy-project",
            Self::Nested(_) => "nested",
            Self::Background(_) => "busy-background",
            Self::Foreground => "foreground-first",
            Self::NoState => "no-state-directory",
            Self::Unavailable(_) => "lanes-unavailable",
        }
    }

    /// Whether waiting may help.
    pub fn may_pass(&self) -> bool {
        !matches!(self, Self::Nested(_) | Self::NoState)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |f: &mut fmt::Formatter<'_>, pid: &Option<u32>| match pid {
            Some(pid) => write!(f, " (process {pid} by its lease)"),
            None => Ok(()),
        };
        match self {
            Self::Project(pid) => {
                write!(f, "other work for this project has the lane")?;
                by(f, pid)
            }
            Self::Nested(pid) => {
                write!(f, "it was started by work for this project (process {pid}), which would wait for it")
            }
            Self::Background(pid) => {
                write!(f, "other background work has the lane of this host")?;
                by(f, pid)
            }
            Self::Foreground => write!(f, "foreground work is going on, which goes first"),
            Self::NoState => write!(
                f,
                "there is no directory for the user's state, which background work of several projects needs; \
                 set XDG_STATE_HOME or HOME"
            ),
            Self::Unavailable(why) => write!(f, "{why}"),
        }
    }
}

/// Foreground work that goes on. Dropped, it is over.
#[derive(Debug)]
pub struct Announcement {
    _lease: Lease,
}

/// A place in the lanes. Dropped, they are free.
#[derive(Debug)]
pub struct Place {
    _project: Lease,
    _background: Option<Lease>,
}

impl Lanes {
    /// The lanes for work of this priority in the project at `root` (canonical). `state` is
    /// where the user's state is kept on this host.
    pub fn of(root: &Path, state: Option<&Path>, priority: Priority) -> Self {
        let on = |dir: PathBuf| Leases::on(dir, Arc::new(RealDisk), Arc::new(System));
        let host = state.and_then(|state| home::of_user(state).ok()).map(|dir| {
            let dir = dir.join("lanes");
            (dir.clone(), on(dir))
        });
        Self { project: on(root.join(".owed/leases")), host, priority }
    }

    /// Says that foreground work begins, which closes the host's background lane; nothing for
    /// background work, and `None` where that cannot be said: then background work does not
    /// know of it, and goes on beside it.
    pub fn announce(&self) -> Option<Announcement> {
        let (_, leases) = self.host.as_ref().filter(|_| self.priority == Priority::Interactive)?;
        let name = format!("{FOREGROUND}{}-{:016x}", std::process::id(), nonce());
        let lease = leases.acquire(&name, Duration::from_secs(1)).ok()?;
        Some(Announcement { _lease: lease })
    }

    /// Enters, if that is possible now.
    ///
    /// # Errors
    /// Who or what is in the way.
    pub fn enter(&self) -> Result<Place, Busy> {
        let background = match self.priority {
            Priority::Interactive => None,
            Priority::Background => self.enter_background()?,
        };
        match self.project.acquire(PROJECT, Duration::ZERO) {
            Ok(project) => {
                // Who announced itself meanwhile goes first.
                if self.priority == Priority::Background && self.is_wanted() {
                    return Err(Busy::Foreground);
                }
                Ok(Place { _project: project, _background: background })
            }
            Err(LeaseFailure::Held(holder)) => match named(&holder) {
                Some(process) if ancestors().contains(process) => Err(Busy::Nested(process.pid)),
                process => Err(Busy::Project(process.map(|process| process.pid))),
            },
            Err(other) => Err(Busy::Unavailable(other.to_string())),
        }
    }

    /// Whether somebody seems to be in the project's lane; only entering tells for sure.
    pub fn is_taken(&self) -> bool {
        self.project.holder(PROJECT).is_ok_and(|holder| holder.is_some())
    }

    fn enter_background(&self) -> Result<Option<Lease>, Busy> {
        let (_, leases) = self.host.as_ref().ok_or(Busy::NoState)?;
        if self.is_wanted() {
            return Err(Busy::Foreground);
        }
        match leases.acquire(BACKGROUND, Duration::ZERO) {
            Ok(lease) => Ok(Some(lease)),
            Err(LeaseFailure::Held(holder)) => match named(&holder) {
                Some(process) if ancestors().contains(process) => Ok(None),
                process => Err(Busy::Background(process.map(|process| process.pid))),
            },
            Err(other) => Err(Busy::Unavailable(other.to_string())),
        }
    }

    /// Whether foreground work goes on, for which background work has to make room. Work that
    /// this process belongs to itself does not count.
    pub fn is_wanted(&self) -> bool {
        let Some((dir, leases)) = &self.host else { return false };
        let names = crate::disk::Disk::list(&RealDisk, dir).unwrap_or_default();
        let mut above: Option<Vec<ProcessIdentity>> = None;
        for name in names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with(FOREGROUND))
        {
            match leases.acquire(name, Duration::ZERO) {
                // Nobody held it: its process is gone, and now its file is, too.
                Ok(lease) => drop(lease),
                Err(LeaseFailure::Held(holder)) => {
                    let above = above.get_or_insert_with(|| [ancestors(), vec![System.me()]].concat());
                    if named(&holder).is_none_or(|process| !above.contains(process)) {
                        return true;
                    }
                }
                Err(_) => return true,
            }
        }
        false
    }
}

/// The process that a holder is known to be.
fn named(holder: &Holder) -> Option<&ProcessIdentity> {
    match holder {
        Holder::Process(process) | Holder::Locked(Some(process)) => Some(process),
        Holder::Locked(None) | Holder::Legacy { .. } => None,
    }
}
