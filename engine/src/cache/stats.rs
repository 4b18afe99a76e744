//! What the disk said of files and directories when they were read: whoever finds the same
//! again need not read them again.
//!
//! This is git's own rule, with its own exception: a file that was written in the same tick
//! of the file system's clock as it was read may have been written once more since, and look
//! the same. So what is not older than the start of the run that read it, by more than a
//! tick, is not believed ("racy git").

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// A time of the file system: seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time {
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds below a second.
    pub nanoseconds: u32,
}

impl Time {
    /// The latest time that is surely over at `self`. Clocks of kernels tick every 1 to
    /// 10 ms; a file system that keeps whole seconds is known by its times, and may keep even
    /// ones only.
    fn settled(self) -> Self {
        const TICKS: u32 = 50_000_000;
        match self.nanoseconds {
            0 => Self { seconds: self.seconds - 3, nanoseconds: 0 },
            n if n >= TICKS => Self { nanoseconds: n - TICKS, ..self },
            n => Self { seconds: self.seconds - 1, nanoseconds: n + 1_000_000_000 - TICKS },
        }
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// The device it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When its bytes changed.
    pub modified: Time,
    /// When anything about it changed.
    pub changed: Time,
}

impl Stat {
    /// Whether the file was surely not written after `start`, unless its times say so.
    fn is_settled(&self, start: Time) -> bool {
        self.modified.max(self.changed) < start.settled()
    }
}

/// Files and directories, with what was in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    known: FxHashMap<String, (Stat, Digest)>,
}

impl Stats {
    /// What is in `path`, if it is in the state it was read in.
    pub(crate) fn digest(&self, path: &str, now: &Stat) -> Option<Digest> {
        self.known.get(path).filter(|(stat, _)| stat == now).map(|(_, digest)| *digest)
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many files and directories are known.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// These, with what a run that began at `start` has read.
    pub(crate) fn with(&self, read: impl IntoIterator<Item = (String, Stat, Digest)>, start: Time) -> Self {
        let mut known = self.known.clone();
        for (path, stat, digest) in read {
            if stat.is_settled(start) {
                known.insert(path, (stat, digest));
            } else {
                known.remove(&path);
            }
        }
        Self { known }
    }

    /// Without what `is_there` does not know any more.
    pub(crate) fn cut_to(&mut self, is_there: impl Fn(&str) -> bool) {
        self.known.retain(|path, _| is_there(path));
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut rows: Vec<(&String, &(Stat, Digest))> = self.known.iter().collect();
        rows.sort_unstable_by_key(|(path, _)| *path);
        postcard::to_allocvec(&rows).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rows: Vec<(String, (Stat, Digest))> = postcard::from_bytes(bytes).ok()?;
        Some(Self { known: rows.into_iter().collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanoseconds: u32) -> Time {
        Time { seconds, nanoseconds }
    }

    #[test]
    fn what_was_written_in_the_same_tick_is_not_believed() {
        let start = at(100, 500_000_000);
        let stat = |time| Stat { inode: 1, modified: time, changed: time, ..Stat::default() };
        for (time, believed) in [
            (at(99, 0), true),
            (at(100, 449_000_000), true),
            (at(100, 460_000_000), false),
            (at(100, 500_000_000), false),
            (at(101, 0), false),
        ] {
            let stats = Stats::default().with([("a".to_owned(), stat(time), Digest::of(b"a"))], start);
            assert_eq!(stats.digest("a", &stat(time)).is_some(), believed, "{time:?}");
        }
        let touched = Stat { changed: at(100, 600_000_000), ..stat(at(10, 1)) };
        let stats = Stats::default().with([("a".to_owned(), touched, Digest::of(b"a"))], start);
        assert!(stats.digest("a", &touched).is_none(), "its time was set back after it was written");
    }

    #[test]
    fn a_file_system_of_whole_seconds_needs_more_of_them() {
        assert_eq!(at(100, 0).settled(), at(97, 0));
        assert_eq!(at(100, 10).settled(), at(99, 950_000_010));
    }

    #[test]
    fn they_survive_being_written() {
        let stat = Stat { inode: 7, ..Stat::default() };
        let stats = Stats::default().with([("ä\n".to_owned(), stat, Digest::of(b"a"))], at(1000, 1));
        assert_eq!(Stats::decode(&stats.encode()), Some(stats));
    }
}
