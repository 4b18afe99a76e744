//! Which process is meant: a number alone is given again.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A process as the operating system tells it from every other one.
///
/// A PID is reused; a PID with the time it started is not, within one boot; and the boot
/// id tells one boot from the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// The number.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
}

/// What the operating system says of a [`ProcessIdentity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// That very process is there (a zombie counts: it was not waited for).
    Alive,
    /// It is not: another boot, no such number, or the number of a later process.
    Gone,
    /// The system could not be asked. This proves nothing.
    Unknown,
}

impl ProcessIdentity {
    /// The identity of the process `pid` now; `None` when there is none, or when the
    /// system does not say.
    pub fn of(pid: u32) -> Option<Self> {
        let start = start_of(Path::new("/proc"), pid)?;
        Some(Self { pid, start, boot: boot()? })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whether it is still there.
    pub fn presence(&self) -> Presence {
        let Some(boot) = boot() else { return Presence::Unknown };
        if boot != self.boot {
            return Presence::Gone;
        }
        match std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
            Ok(stat) => match super::tree::Stat::parse(&stat) {
                Some(stat) if stat.start == self.start => Presence::Alive,
                Some(_) => Presence::Gone,
                None => Presence::Unknown,
            },
            // Only with a /proc that shows us ourselves is absence a word.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && is_told() => Presence::Gone,
            Err(error) if error.raw_os_error() == Some(NO_SUCH_PROCESS) => Presence::Gone,
            Err(_) => Presence::Unknown,
        }
    }
}

/// `ESRCH`: the process ended while its file was being read.
const NO_SUCH_PROCESS: i32 = 3;

/// Whether `/proc` is mounted and shows processes at all.
fn is_told() -> bool {
    start_of(Path::new("/proc"), std::process::id()).is_some()
}

pub(super) fn start_of(procfs: &Path, pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(procfs.join(pid.to_string()).join("stat")).ok()?;
    super::tree::Stat::parse(&stat).map(|stat| stat.start)
}

fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}
