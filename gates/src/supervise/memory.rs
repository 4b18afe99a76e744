//! The memory of the host: what is left, what may be started, how many workers fit.
//!
//! Only absolute amounts decide. A share of the whole would turn a machine of nominally
//! 8 GiB, of which the system sees 7.6, away from work that fits it.

use std::path::Path;
use std::time::Duration;

/// 2^30 bytes.
pub const GIB: u64 = 1 << 30;

/// What must stay available for everything else on the host.
pub const RESERVE: u64 = GIB / 2;

/// How heavy a piece of work is, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Reading and planning.
    Light,
    /// Running tests, and any command that nobody has measured.
    Heavy,
}

impl Weight {
    /// Resident bytes its tree may hold.
    pub fn tree_memory(self) -> u64 {
        match self {
            Self::Light => GIB,
            Self::Heavy => 4 * GIB,
        }
    }

    /// Bytes that must be available before it starts, the reserve not counted.
    pub fn admission(self) -> u64 {
        match self {
            Self::Light => GIB / 2,
            Self::Heavy => 2 * GIB,
        }
    }

    /// How long it may wait for its place.
    pub fn patience(self) -> Duration {
        match self {
            Self::Light => Duration::from_secs(5),
            Self::Heavy => Duration::from_secs(600),
        }
    }
}

/// The heap of a child that only adapts a tool to us, in MiB. It gets one worker.
pub const ADAPTER_HEAP: u32 = 768;

/// The host's memory at one moment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// What a new process can have without swapping; of the control group where that is
    /// less.
    pub available: u64,
}

/// Work was put off, with what would admit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// What is available; `None` when the system does not say.
    pub available: Option<u64>,
    /// What must be.
    pub needed: u64,
}

impl Memory {
    /// Now; `None` when the system does not say, which is no reason to believe in plenty.
    pub fn now(procfs: &Path) -> Option<Self> {
        let memory = Self::parse(&std::fs::read_to_string(procfs.join("meminfo")).ok()?)?;
        let groups = std::fs::read_to_string(procfs.join("self/cgroup")).unwrap_or_default();
        let room =
            group_room(&groups, Path::new("/sys/fs/cgroup"), &|path| std::fs::read_to_string(path).ok());
        Some(Self { available: memory.available.min(room.unwrap_or(u64::MAX)), ..memory })
    }

    /// From the text of `/proc/meminfo`.
    pub fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kib << 10)
        };
        Some(Self { total: value("MemTotal")?, available: value("MemAvailable")? })
    }

    /// Whether work of this weight may start.
    ///
    /// # Errors
    /// When less is available than it needs and the reserve.
    pub fn admit(this: Option<Self>, weight: Weight, reserve: u64) -> Result<(), Deferred> {
        let needed = weight.admission().saturating_add(reserve);
        match this {
            Some(memory) if memory.available >= needed => Ok(()),
            memory => Err(Deferred { available: memory.map(|memory| memory.available), needed }),
        }
    }
}

/// What the control groups of this process leave, the tightest of them; `None` when none
/// limits memory. Both versions are read: `memory.max` and `memory.current`, and
/// `memory.limit_in_bytes` and `memory.usage_in_bytes`. Page cache that can be dropped
/// (`inactive_file`) counts as room.
fn group_room(groups: &str, mount: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut room: Option<u64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (base, limit, usage) = match controllers {
            "" => (mount.to_owned(), "memory.max", "memory.current"),
            list if list.split(',').any(|one| one == "memory") => {
                (mount.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        for dir in Path::new(group.trim_start_matches('/')).ancestors() {
            let dir = base.join(dir);
            let number = |name: &str| read(&dir.join(name))?.trim().parse::<u64>().ok();
            let (Some(limit), Some(usage)) = (number(limit), number(usage)) else { continue };
            let stat = read(&dir.join("memory.stat")).unwrap_or_default();
            let droppable = stat
                .lines()
                .find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok())
                .unwrap_or(0);
            let left = limit.saturating_sub(usage.saturating_sub(droppable));
            room = Some(room.map_or(left, |room| room.min(left)));
        }
    }
    room
}

/// How many workers fit: at least one, no more than there are idle processors, and no
/// more than the memory above the reserve holds.
///
/// `load` is the load average of the last minute, `each` what one worker takes in bytes.
pub fn workers(processors: usize, load: f64, memory: Memory, each: u64, reserve: u64) -> usize {
    // A load that is no number says nothing about idle processors.
    let busy = if load.is_finite() && load > 0.0 { load.round() as usize } else { 0 };
    let idle = processors.saturating_sub(busy);
    let room = memory.available.saturating_sub(reserve) / each.max(1);
    idle.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
}

/// Resident bytes of this process: what reading and planning have taken, which counts with
/// what is run. `None` when the system does not say.
pub fn own() -> Option<u64> {
    super::tree::resident(Path::new("/proc"), std::process::id()).filter(|bytes| *bytes > 0)
}

/// [`workers`] with what the host says now; one when it says nothing. To be asked again
/// right before the work starts.
pub fn workers_now(each: u64, reserve: u64) -> usize {
    let procfs = Path::new("/proc");
    let load = std::fs::read_to_string(procfs.join("loadavg")).ok();
    let load = load.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match (load, Memory::now(procfs)) {
        (Some(load), Some(memory)) => workers(processors, load, memory, each, reserve),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_control_group_counts() {
        let files = |path: &Path| {
            let text = match path.to_str()? {
                "m/a/b/memory.max" => "max",
                "m/a/b/memory.current" => "100",
                "m/a/memory.max" => "1000",
                "m/a/memory.current" => "900",
                "m/a/memory.stat" => "anon 1\ninactive_file 300\n",
                "m/memory/x/memory.limit_in_bytes" => "5000",
                "m/memory/x/memory.usage_in_bytes" => "0",
                _ => return None,
            };
            Some(text.to_owned())
        };
        let room = |groups| group_room(groups, Path::new("m"), &files);
        assert_eq!(room("0::/a/b\n"), Some(400));
        assert_eq!(room("4:memory:/x\n0::/\n"), Some(5000));
        assert_eq!(room("4:cpu,memory:/x\n0::/a/b\n"), Some(400));
        assert_eq!(room("1:cpu:/\n"), None);
    }
}
