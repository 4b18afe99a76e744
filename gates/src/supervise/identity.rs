//! The identity of a process that was just made and may have ended already.

use std::path::Path;

use crate::lease::{Host as _, ProcessIdentity, System};

/// This process; `None` where the system does not say when it started, and so cannot tell
/// it from a later one.
pub(super) fn own() -> Option<ProcessIdentity> {
    Some(System.me()).filter(|me| me.start.is_some() && me.boot.is_some())
}

/// A child that was not waited for, so that its number is still its own even when it has
/// ended.
pub(super) fn of_child(pid: u32) -> Option<ProcessIdentity> {
    let start = Some(start_of(Path::new("/proc"), pid)?);
    Some(ProcessIdentity { pid, start, ..own()? })
}

pub(super) fn start_of(procfs: &Path, pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(procfs.join(pid.to_string()).join("stat")).ok()?;
    super::tree::Stat::parse(&stat).map(|stat| stat.start)
}
