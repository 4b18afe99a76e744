//! What the disk said of files and directories when they were read: whoever finds the same
//! again need not read them again.
//!
//! This is git's own rule, with its own exception: a file that was written in the same tick
//! of the file system's clock as it was read may have been written once more since, and look
//! the same. So what is not older than the start of the run that read it, by more than a
//! tick, is not believed ("racy git").

use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHasher};

use super::column::{Column, Part, Row, put_bytes, u32_at, u64_at};
use crate::digest::Digest;

/// A time of the file system: seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub fn is_settled(&self, start: Time) -> bool {
        self.modified.max(self.changed) < start.settled()
    }
}

/// Files and directories, with what was in them: as they are kept, and what was learnt since.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    kept: Option<Kept>,
    learnt: FxHashMap<String, (Stat, Digest)>,
}

/// Rows by the hash of their path, in buckets of one or two.
#[derive(Clone, Debug)]
struct Kept {
    /// Where the rows of a bucket begin; one more than there are buckets.
    buckets: Column<u32>,
    rows: Column<StatRow>,
    words: Part,
}

#[derive(Clone, Copy, Debug)]
struct StatRow {
    start: u32,
    length: u32,
    stat: Stat,
    digest: Digest,
}

impl Row for StatRow {
    const SIZE: usize = 8 + 48 + 16;

    fn read(bytes: &[u8]) -> Self {
        let time = |at| Time { seconds: u64_at(bytes, at).cast_signed(), nanoseconds: u32_at(bytes, at + 8) };
        Self {
            start: u32_at(bytes, 0),
            length: u32_at(bytes, 4),
            stat: Stat {
                device: u64_at(bytes, 8),
                inode: u64_at(bytes, 16),
                size: u64_at(bytes, 24),
                modified: time(32),
                changed: time(44),
            },
            digest: Digest(bytes[56..72].try_into().expect("a row has as many bytes")),
        }
    }

    fn write(self, into: &mut Vec<u8>) {
        let Self { start, length, stat, digest } = self;
        into.extend(start.to_le_bytes());
        into.extend(length.to_le_bytes());
        [stat.device, stat.inode, stat.size].iter().for_each(|number| into.extend(number.to_le_bytes()));
        for time in [stat.modified, stat.changed] {
            into.extend(time.seconds.to_le_bytes());
            into.extend(time.nanoseconds.to_le_bytes());
        }
        into.extend(digest.0);
    }
}

fn bucket_of(path: &str, buckets: usize) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(path.as_bytes());
    usize::try_from(hasher.finish() % buckets.max(1) as u64).unwrap_or(0)
}

impl Kept {
    fn find(&self, path: &str) -> Option<StatRow> {
        let bucket = bucket_of(path, self.buckets.len().checked_sub(1)?);
        let (start, end) = (self.buckets.get(bucket)?, self.buckets.get(bucket + 1)?);
        let is_it = |row: &StatRow| self.path(row) == path.as_bytes();
        self.rows.range(start as usize..end as usize).find(is_it)
    }

    fn path(&self, row: &StatRow) -> &[u8] {
        let start = row.start as usize;
        self.words.bytes().get(start..start + row.length as usize).unwrap_or_default()
    }
}

impl Stats {
    /// What is in `path`, if it is in the state it was read in.
    pub(crate) fn digest(&self, path: &str, now: &Stat) -> Option<Digest> {
        if let Some((stat, digest)) = self.learnt.get(path) {
            return (stat == now).then_some(*digest);
        }
        let row = self.kept.as_ref()?.find(path)?;
        (row.stat == *now).then_some(row.digest)
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many files and directories are known.
    pub(crate) fn len(&self) -> usize {
        self.learnt.len() + self.kept.as_ref().map_or(0, |kept| kept.rows.len())
    }

    /// These, with what a run that began at `start` has read.
    pub(crate) fn with(&self, read: impl IntoIterator<Item = (String, Stat, Digest)>, start: Time) -> Self {
        let mut known = self.all();
        for (path, stat, digest) in read {
            if stat.is_settled(start) {
                known.insert(path, (stat, digest));
            } else {
                known.remove(&path);
            }
        }
        Self { kept: None, learnt: known }
    }

    /// Without what `is_there` does not know any more.
    pub(crate) fn cut_to(&mut self, is_there: impl Fn(&str) -> bool) {
        self.learnt = self.all();
        self.kept = None;
        self.learnt.retain(|path, _| is_there(path));
    }

    fn all(&self) -> FxHashMap<String, (Stat, Digest)> {
        let mut all = FxHashMap::default();
        if let Some(kept) = &self.kept {
            let named = |row: StatRow| {
                let path = std::str::from_utf8(kept.path(&row)).ok()?;
                Some((path.to_owned(), (row.stat, row.digest)))
            };
            all.extend(kept.rows.iter().filter_map(named));
        }
        all.extend(self.learnt.iter().map(|(path, known)| (path.clone(), *known)));
        all
    }

    /// `None` when they are too many to be worth keeping.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let all = self.all();
        let buckets = all.len().next_power_of_two();
        let mut sorted: Vec<(usize, &String, &(Stat, Digest))> =
            all.iter().map(|(path, known)| (bucket_of(path, buckets), path, known)).collect();
        sorted.sort_unstable_by_key(|(bucket, path, _)| (*bucket, *path));
        let number = |n: usize| u32::try_from(n).ok();
        let (mut words, mut rows, mut starts) = (Vec::new(), Vec::with_capacity(sorted.len()), Vec::new());
        for (bucket, path, (stat, digest)) in sorted {
            starts.resize(bucket + 1, number(rows.len())?);
            let (start, length) = (number(words.len())?, number(path.len())?);
            words.extend_from_slice(path.as_bytes());
            rows.push(StatRow { start, length, stat: *stat, digest: *digest });
        }
        starts.resize(buckets + 1, number(rows.len())?);
        let mut bytes = Vec::new();
        Column::Owned(starts).put(&mut bytes)?;
        Column::Owned(rows).put(&mut bytes)?;
        put_bytes(&mut bytes, &words)?;
        Some(bytes)
    }

    pub(super) fn decode(mut part: Part) -> Option<Self> {
        let kept =
            Kept { buckets: part.take_column()?, rows: part.take_column()?, words: part.take_bytes()? };
        part.bytes().is_empty().then(|| Self { kept: Some(kept), ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
        let stat = |n: u64| Stat { inode: n, size: n * 3, modified: at(-5, 9), ..Stat::default() };
        let paths: Vec<String> = (0..500).map(|n| format!("ä\n/{n}")).collect();
        let read =
            paths.iter().zip(0..).map(|(path, n)| (path.clone(), stat(n), Digest::of(path.as_bytes())));
        let stats = Stats::default().with(read, at(1000, 1));
        let kept = Stats::decode(Part::whole(Arc::new(stats.encode().unwrap()))).unwrap();
        assert_eq!((kept.len(), kept.all()), (500, stats.all()));
        for (path, n) in paths.iter().zip(0..) {
            assert_eq!(kept.digest(path, &stat(n)), Some(Digest::of(path.as_bytes())));
            assert_eq!(kept.digest(path, &stat(n + 1)), None);
        }
        assert_eq!(kept.digest("other", &stat(0)), None);
        let more = kept.with([("0".to_owned(), stat(1), Digest::of(b"0"))], at(1000, 1));
        assert_eq!(more.len(), 501);
        let none = Stats::decode(Part::whole(Arc::new(Stats::default().encode().unwrap()))).unwrap();
        assert!(none.is_empty() && none.digest("a", &stat(0)).is_none());
    }
}
