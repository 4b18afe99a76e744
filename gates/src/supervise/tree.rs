//! The processes below one process, from `/proc`, and ending them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::lease::ProcessIdentity;

/// What `/proc/PID/stat` says that is needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    pub(super) start: u64,
    pub(super) is_zombie: bool,
}

impl Stat {
    /// Fields 3 to 6 and 22 of proc_pid_stat(5). The second, the name, may hold blanks
    /// and parentheses, so the others are counted from its last parenthesis.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let start = fields.nth(15)?.trim().parse().ok()?;
        Some(Self { parent, group, session, start, is_zombie: state == "Z" })
    }
}

/// One process of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) pid: u32,
    pub(super) start: u64,
    pub(super) is_zombie: bool,
}

/// All processes; `None` when the process file system cannot be read.
fn all(procfs: &Path) -> Option<BTreeMap<u32, Stat>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(procfs).ok()? {
        let name = entry.ok()?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // It may have ended since it was listed.
        let Ok(text) = std::fs::read_to_string(procfs.join(&name).join("stat")) else { continue };
        if let Some(stat) = Stat::parse(&text) {
            found.insert(pid, stat);
        }
    }
    Some(found)
}

/// The processes below `root`, itself not included; `None` when they cannot be listed:
/// then that there are none must not be believed.
pub(super) fn below(procfs: &Path, root: u32) -> Option<Vec<Member>> {
    let all = all(procfs)?;
    all.get(&root)?;
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, stat) in &all {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut members = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        for pid in children.get(&parent).into_iter().flatten() {
            if seen.insert(*pid) {
                let stat = all[pid];
                members.push(Member { pid: *pid, start: stat.start, is_zombie: stat.is_zombie });
                next.push(*pid);
            }
        }
    }
    members.sort_unstable_by_key(|member| member.pid);
    Some(members)
}

/// Resident bytes of one process: `VmRSS` of `/proc/PID/status`. `None` when it is gone.
/// Pages that several processes share are counted for each of them, so that a sum over
/// a tree may be more than it holds, and is never less.
pub(super) fn resident(procfs: &Path, pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(procfs.join(pid.to_string()).join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    // A zombie and a kernel thread have no memory and no such line.
    let kib = line.map_or(Some(0), |line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())?;
    Some(kib << 10)
}

/// Sends `signal` to a process, if it is still the one that was listed.
#[cfg(target_os = "linux")]
pub(super) fn signal(procfs: &Path, member: Member, signal: rustix::process::Signal) {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(pid) = i32::try_from(member.pid).ok().and_then(Pid::from_raw) else { return };
    // The descriptor pins the process; only then is its identity compared.
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if super::identity::start_of(procfs, member.pid) == Some(member.start) {
        // That it ended meanwhile is what was wanted.
        let _ = pidfd_send_signal(descriptor, signal);
    }
}

/// Without descriptors of processes nobody can be signalled without a doubt.
#[cfg(not(target_os = "linux"))]
pub(super) fn signal(_: &Path, _: Member, _: rustix::process::Signal) {}

/// Processes that still belong to a run whose supervisor is gone: those in the process
/// group or session that `leader` led, and those whose environment names `scratch` as
/// their temporary directory. Sorted; `None` when the system cannot be asked.
///
/// A process that left the group *and* cleared its environment is not found. The
/// environment of other users' processes cannot be read; they are not ours.
pub fn survivors(leader: Option<&ProcessIdentity>, scratch: &Path) -> Option<Vec<u32>> {
    Some(belonging(leader, scratch)?.into_iter().map(|member| member.pid).collect())
}

/// The same, as they can be signalled.
pub(super) fn belonging(leader: Option<&ProcessIdentity>, scratch: &Path) -> Option<Vec<Member>> {
    // While a process becomes another program its environment cannot be read for a moment,
    // so that one look is none.
    let mut found = BTreeMap::new();
    for look in 0..LOOKS {
        if look > 0 {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        found.extend(look_once(leader, scratch)?.into_iter().map(|member| (member.pid, member)));
    }
    Some(found.into_values().collect())
}

const LOOKS: u32 = 3;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(3);

fn look_once(leader: Option<&ProcessIdentity>, scratch: &Path) -> Option<Vec<Member>> {
    let procfs = Path::new("/proc");
    let mark = [b"TMPDIR=", scratch.as_os_str().as_bytes()].concat();
    let all = all(procfs)?;
    // Its number is not given again while its group has members, so that another process
    // of that number proves that the group was empty.
    let group =
        leader.filter(|leader| all.get(&leader.pid).is_none_or(|stat| Some(stat.start) == leader.start));
    let mut found = Vec::new();
    for (pid, stat) in all {
        if stat.is_zombie {
            continue;
        }
        let belongs = group.is_some_and(|leader| [stat.group, stat.session].contains(&leader.pid));
        if belongs || has(&procfs.join(pid.to_string()).join("environ"), &mark) {
            found.push(Member { pid, start: stat.start, is_zombie: false });
        }
    }
    Some(found)
}

fn has(environment: &Path, variable: &[u8]) -> bool {
    std::fs::File::open(environment)
        .and_then(|mut file| {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes)?;
            Ok(bytes.split(|byte| *byte == 0).any(|one| one == variable))
        })
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_and_parentheses_hide_nothing() {
        let text = "42 (a) b (c) R 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3";
        assert_eq!(
            Stat::parse(text),
            Some(Stat { parent: 7, group: 42, session: 40, start: 987_654, is_zombie: false })
        );
        assert_eq!(Stat::parse("42 (x"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn an_unreadable_proc_is_not_an_empty_one() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(below(empty.path(), std::process::id()), None);
        assert!(below(Path::new("/proc"), std::process::id()).is_some());
        assert_eq!(below(Path::new("/proc"), u32::MAX), None);
    }
}
