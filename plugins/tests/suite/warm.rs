//! A cache in memory, and random edits that it must not be fooled by.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use owed_engine::cache::{Cache, Storage};

/// The files of a cache.
#[derive(Clone, Default)]
pub(crate) struct Kept(pub(crate) Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Kept {
    /// Opens the cache as one run does.
    pub(crate) fn open(&self) -> Cache {
        Cache::new(Box::new(self.clone()), "test")
    }
}

impl Storage for Kept {
    fn load(&self, name: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn store(&self, name: &str, bytes: &[u8]) -> bool {
        self.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        true
    }
}
