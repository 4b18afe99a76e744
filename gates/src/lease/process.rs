//! Who a process is, and whether it still lives.
//!
//! A PID alone says nothing: it is given out again. A [`ProcessIdentity`] is the PID with
//! the start time that the kernel keeps for it, the boot it belongs to, and the PID
//! namespace it is counted in. [`Host::liveness`] answers `Unknown` when it cannot tell; it
//! never guesses "gone".

#![expect(clippy::disallowed_methods, reason = "the one door of the gates to the process table")]

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// One process of one boot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// The PID, in its namespace.
    pub pid: u32,
    /// Start time in clock ticks since boot (`/proc/PID/stat`, field 22); `null` where the
    /// platform has none that we read.
    pub start: Option<u64>,
    /// The boot (`/proc/sys/kernel/random/boot_id`); `null` likewise.
    pub boot: Option<String>,
    /// The PID namespace (`/proc/self/ns/pid`); `null` likewise.
    pub namespace: Option<String>,
}

/// Whether a process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The very process runs.
    Alive,
    /// There is no such process any more: the PID is free, belongs to a process that started
    /// at another time, is a zombie, or was of an earlier boot.
    Gone,
    /// It cannot be told.
    Unknown,
}

/// The parts of the host that a test replaces: the process table and the clock.
pub trait Host: Send + Sync + Debug {
    /// This process.
    fn me(&self) -> ProcessIdentity;

    /// The process that has a PID now, in our namespace; `None` when there is none or it
    /// has ended.
    fn identify(&self, pid: u32) -> Option<ProcessIdentity>;

    /// Whether a process lives.
    fn liveness(&self, process: &ProcessIdentity) -> Liveness;

    /// Milliseconds since 1970 by the wall clock. Only kept to be shown, and to age locks
    /// that have no identity; nothing is ordered by it.
    fn now_ms(&self) -> u64;

    /// Waits, while another process has what we need.
    fn pause(&self, time: Duration);
}

/// The host we run on.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Host for System {
    fn me(&self) -> ProcessIdentity {
        let pid = std::process::id();
        self.identify(pid).unwrap_or(ProcessIdentity { pid, start: None, boot: None, namespace: None })
    }

    fn identify(&self, pid: u32) -> Option<ProcessIdentity> {
        match look(pid) {
            Look::Runs(start) => {
                Some(ProcessIdentity { pid, start: Some(start), boot: boot(), namespace: namespace() })
            }
            Look::Nothing | Look::CannotTell => None,
        }
    }

    fn liveness(&self, process: &ProcessIdentity) -> Liveness {
        let (Some(start), Some(boot_then)) = (process.start, &process.boot) else {
            return Liveness::Unknown;
        };
        let Some(boot_now) = boot() else { return Liveness::Unknown };
        if *boot_then != boot_now {
            return Liveness::Gone;
        }
        if process.namespace.is_none() || process.namespace != namespace() {
            return Liveness::Unknown;
        }
        match look(process.pid) {
            Look::Runs(now) if now == start => Liveness::Alive,
            Look::Runs(_) | Look::Nothing => Liveness::Gone,
            Look::CannotTell => Liveness::Unknown,
        }
    }

    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// The processes above this one, its parent first, as far as the system shows them.
pub fn ancestors() -> Vec<ProcessIdentity> {
    let mut above = Vec::new();
    let mut at = std::process::id();
    // No chain of parents is longer, and none has a circle but by a race.
    for _ in 0..1_000 {
        match parent(at) {
            Some(parent) if parent > 0 => {
                above.extend(System.identify(parent));
                at = parent;
            }
            _ => break,
        }
    }
    above
}

#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    std::str::from_utf8(stat.get(after..)?).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn parent(_pid: u32) -> Option<u32> {
    None
}

/// A number that nobody else will have: the seed that the system gives to hash tables.
pub(crate) fn nonce() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

enum Look {
    /// A process that runs, with its start time.
    Runs(u64),
    /// No process, or a zombie.
    Nothing,
    /// The platform or its permissions do not say.
    CannotTell,
}

#[cfg(target_os = "linux")]
fn look(pid: u32) -> Look {
    match std::fs::read(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat_fields(&stat).map_or(Look::CannotTell, |(state, start)| match state {
            b'Z' | b'X' | b'x' => Look::Nothing,
            _ => Look::Runs(start),
        }),
        // With `hidepid` the processes of others look absent: only our own entry proves that
        // /proc is there, and `kill(pid, 0)` that the PID is free.
        Err(_) => {
            let raw = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
            match raw.map(rustix::process::test_kill_process) {
                Some(Err(rustix::io::Errno::SRCH)) => Look::Nothing,
                _ => Look::CannotTell,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn look(_pid: u32) -> Look {
    Look::CannotTell
}

/// State and start time of `/proc/PID/stat`. The name of the command (field 2) is in
/// parentheses and may hold spaces and parentheses, so fields are counted from the last `)`:
/// the state is field 3, the start time field 22 (proc(5)).
#[cfg(any(target_os = "linux", test))]
fn stat_fields(stat: &[u8]) -> Option<(u8, u64)> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let rest = std::str::from_utf8(stat.get(after..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((state, start))
}

#[cfg(target_os = "linux")]
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = id.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

#[cfg(not(target_os = "linux"))]
fn boot() -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
fn namespace() -> Option<String> {
    std::fs::read_link("/proc/self/ns/pid").ok()?.into_os_string().into_string().ok()
}

#[cfg(not(target_os = "linux"))]
fn namespace() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::stat_fields;

    #[test]
    fn the_name_of_a_command_may_hold_parentheses_and_spaces() {
        let stat = b"42 (a) R 1 (b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2\n";
        assert_eq!(stat_fields(stat), Some((b'S', 987_654)));
    }

    #[test]
    fn a_cut_line_is_not_a_process() {
        assert_eq!(stat_fields(b"42 (a) S 1 42"), None);
        assert_eq!(stat_fields(b""), None);
    }
}
