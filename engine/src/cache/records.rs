//! Records by key, in sixteen files by the first four bits of the key: a run that needs a
//! few reads a few, and writes only those that gained a record.
//!
//! A run that recalls a project needs the facts of the few sources that changed, before and
//! after, and so does the next one: these are also kept in one small file, which is looked
//! into first.
//!
//! A file is `count`, then `count` times key (16 bytes), offset and length (4 bytes each),
//! sorted by key, then the records. Nothing is decoded before it is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Cache;
use super::frame::Opened;
use crate::digest::Digest;

const SHARDS: usize = 16;
const ROW: usize = 24;

/// The size of one file beyond which records that this run did not use are dropped. Sixteen
/// of them are 128 MiB: the facts of about 100,000 files.
const LARGE: usize = 8 << 20;

/// How many records the file of recent ones holds before it begins anew.
const RECENT: usize = 1024;
const RECENT_NAME: &str = "facts-recent";

/// All records: those of the files, and new ones.
#[derive(Default)]
pub(super) struct Records {
    shards: [Shard; SHARDS],
    recent: OnceLock<Option<Opened>>,
    /// What a recall used that is not among the recent ones; `None` when none goes on.
    used: Mutex<Option<BTreeMap<Digest, Vec<u8>>>>,
}

#[derive(Default)]
struct Shard {
    kept: OnceLock<Option<Opened>>,
    new: Mutex<BTreeMap<Digest, Vec<u8>>>,
    /// What this run found in the file.
    hits: Mutex<BTreeSet<Digest>>,
}

impl Records {
    pub(super) fn get(&self, cache: &Cache, key: Digest) -> Option<Vec<u8>> {
        let recent = self.recent.get_or_init(|| cache.load(RECENT_NAME));
        if let Some(found) = recent.as_deref().and_then(|bytes| find(bytes, key)) {
            return Some(found.to_vec());
        }
        let found = self.get_from_shard(cache, key)?;
        self.use_recently(key, &found);
        Some(found)
    }

    fn get_from_shard(&self, cache: &Cache, key: Digest) -> Option<Vec<u8>> {
        let number = number_of(key);
        let shard = &self.shards[number];
        let kept = shard.kept.get_or_init(|| cache.load(&name_of(number)));
        if let Some(found) = kept.as_deref().and_then(|bytes| find(bytes, key)) {
            shard.hits.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
            return Some(found.to_vec());
        }
        let new = shard.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.get(&key).cloned()
    }

    /// From now on, what is used is recent.
    pub(super) fn begin_recall(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Some(BTreeMap::new());
    }

    /// Ends that, and keeps what was used, if it is asked for.
    pub(super) fn end_recall(&self, cache: &Cache, keep: bool) {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(used) = used.filter(|used| keep && !used.is_empty()) else { return };
        let before = self.recent.get().and_then(Option::as_deref).map(rows).unwrap_or_default();
        let mut all: BTreeMap<Digest, &[u8]> = BTreeMap::new();
        if before.len() + used.len() <= RECENT {
            all.extend(before);
        }
        all.extend(used.iter().map(|(key, record)| (*key, record.as_slice())));
        cache.store(RECENT_NAME, &written(&all));
    }

    fn use_recently(&self, key: Digest, record: &[u8]) {
        if let Some(used) = &mut *self.used.lock().unwrap_or_else(PoisonError::into_inner) {
            used.insert(key, record.to_vec());
        }
    }

    pub(super) fn put(&self, key: Digest, record: Vec<u8>) {
        self.use_recently(key, &record);
        let shard = &self.shards[number_of(key)];
        shard.new.lock().unwrap_or_else(PoisonError::into_inner).insert(key, record);
    }

    /// Writes the files that gained records, together with what another process has put
    /// there in the meantime. Of two that write in the same moment, one loses its records:
    /// they are made anew when they are needed.
    pub(super) fn keep(&self, cache: &Cache) {
        for (number, shard) in self.shards.iter().enumerate() {
            let new = std::mem::take(&mut *shard.new.lock().unwrap_or_else(PoisonError::into_inner));
            if new.is_empty() {
                continue;
            }
            let now = cache.load(&name_of(number));
            let now = now.as_deref().map(rows).unwrap_or_default();
            let hits = shard.hits.lock().unwrap_or_else(PoisonError::into_inner);
            cache.store(&name_of(number), &written(&together(now, &new, &hits, LARGE)));
        }
    }
}

/// The records of a file and new ones; beyond `most` bytes only those that were used.
fn together<'r>(
    now: Vec<(Digest, &'r [u8])>,
    new: &'r BTreeMap<Digest, Vec<u8>>,
    hits: &BTreeSet<Digest>,
    most: usize,
) -> BTreeMap<Digest, &'r [u8]> {
    let mut all: BTreeMap<Digest, &[u8]> = now.into_iter().collect();
    all.extend(new.iter().map(|(key, record)| (*key, record.as_slice())));
    if all.values().map(|record| record.len() + ROW).sum::<usize>() > most {
        all.retain(|key, _| hits.contains(key) || new.contains_key(key));
    }
    all
}

fn number_of(key: Digest) -> usize {
    usize::from(key.0[0] >> 4)
}

fn name_of(number: usize) -> String {
    format!("facts-{number:x}")
}

fn number_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(four)).ok()
}

fn row(bytes: &[u8], index: usize) -> Option<(Digest, &[u8])> {
    let at = 4 + index * ROW;
    let key = Digest(bytes.get(at..at + 16)?.try_into().ok()?);
    let (start, len) = (number_at(bytes, at + 16)?, number_at(bytes, at + 20)?);
    Some((key, bytes.get(start..start.checked_add(len)?)?))
}

fn find(bytes: &[u8], key: Digest) -> Option<&[u8]> {
    let (mut low, mut high) = (0, number_at(bytes, 0)?);
    while low < high {
        let middle = low + (high - low) / 2;
        let (found, record) = row(bytes, middle)?;
        match found.cmp(&key) {
            std::cmp::Ordering::Equal => return Some(record),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

fn rows(bytes: &[u8]) -> Vec<(Digest, &[u8])> {
    let count = number_at(bytes, 0).unwrap_or(0);
    (0..count).map_while(|index| row(bytes, index)).collect()
}

fn written(records: &BTreeMap<Digest, &[u8]>) -> Vec<u8> {
    let number = |n: usize| u32::try_from(n).expect("a file of records stays far below 4 GiB").to_le_bytes();
    let mut bytes = Vec::new();
    bytes.extend(number(records.len()));
    let mut start = 4 + records.len() * ROW;
    for (key, record) in records {
        bytes.extend(key.0);
        bytes.extend(number(start));
        bytes.extend(number(record.len()));
        start += record.len();
    }
    for record in records.values() {
        bytes.extend_from_slice(record);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_loses_what_was_not_used() {
        let key = |n: u32| Digest::of(&n.to_le_bytes());
        let now = || (0..10).map(|n| (key(n), &b"0123456789"[..])).collect();
        let new = BTreeMap::from([(key(20), b"new".to_vec())]);
        let hits = BTreeSet::from([key(3), key(7)]);
        assert_eq!(together(now(), &new, &hits, 1000).len(), 11);
        let kept: BTreeSet<Digest> = together(now(), &new, &hits, 100).into_keys().collect();
        assert_eq!(kept, BTreeSet::from([key(3), key(7), key(20)]));
    }

    #[test]
    fn what_is_written_is_found() {
        let keys: Vec<Digest> = (0u32..100).map(|n| Digest::of(&n.to_le_bytes())).collect();
        let texts: Vec<String> = (0..100).map(|n| "x".repeat(n)).collect();
        let records = keys.iter().copied().zip(texts.iter().map(|t| t.as_bytes())).collect();
        let bytes = written(&records);
        for (key, text) in keys.iter().zip(&texts) {
            assert_eq!(find(&bytes, *key), Some(text.as_bytes()));
        }
        assert_eq!(find(&bytes, Digest::of(b"other")), None);
        assert_eq!(rows(&bytes).len(), 100);
        assert_eq!(find(&bytes[..7], keys[0]), None, "what is cut is not there");
    }
}
