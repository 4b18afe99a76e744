//! What this process is at work on. Another process can be asked of the operating system;
//! this one lives in any case, and only it can say whether it still means to go on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::ledger::{CallId, RunId};

/// A call, for this process.
pub(super) type Key = (PathBuf, RunId, CallId);

/// The calls that this process is at work on, or is about to be, each with how often.
static AT_WORK: Mutex<BTreeMap<Key, usize>> = Mutex::new(BTreeMap::new());

/// A call is in [`AT_WORK`] while this lives.
pub(super) struct AtWork(Key);

impl AtWork {
    pub(super) fn on(key: Key) -> Self {
        *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).entry(key.clone()).or_default() += 1;
        Self(key)
    }

    pub(super) fn is_on(key: &Key) -> bool {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut calls = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = calls.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.0);
            }
        }
    }
}
