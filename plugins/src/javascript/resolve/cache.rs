//! A map from strings that many threads fill and read at once.
//!
//! It holds only values that are a function of their key, so that which thread came
//! first cannot be seen in any answer.

use std::hash::{Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHasher};

const SHARDS: usize = 32;

/// A concurrent memo keyed by strings.
#[derive(Debug)]
pub(super) struct Memo<V> {
    shards: [RwLock<FxHashMap<Box<str>, V>>; SHARDS],
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| RwLock::default()) }
    }
}

impl<V: Clone> Memo<V> {
    /// The value for `key`, made by `make` when it is not known yet. `make` runs outside
    /// the lock, so that it may ask the same memo.
    pub(super) fn get(&self, key: &str, make: impl FnOnce() -> V) -> V {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        // FxHash mixes upwards: its high bits are the good ones, and the table uses the low.
        let shard = &self.shards[(hasher.finish() >> 59) as usize % SHARDS];
        if let Some(value) = shard.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return value.clone();
        }
        let value = make();
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        shard.entry(key.into()).or_insert(value).clone()
    }
}
