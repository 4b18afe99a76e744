//! Where the cache lies: `.owed/cache` in the project's root. A directory that cannot be
//! written is a cache that stays empty.
//!
//! Files are mapped, so that a large project costs what is looked at in it. That is sound
//! because they are only ever replaced as a whole: a run goes on reading the file that it
//! opened. A program that overwrites one in place while it is read breaks that.

use std::path::{Path, PathBuf};

use owed_engine::cache::{Bytes, Cache, Storage, Time};

use crate::host;

struct Directory(PathBuf);

/// Names everything that decides what this build says about equal inputs.
const FINGERPRINT: &str = env!("OWED_FINGERPRINT");

/// The cache of the project at `root`, and the time it was opened at, before anything was
/// read, as its file system tells it; `None` when nothing can be written there.
pub(crate) fn open(root: &Path, of_objects: bool) -> Option<(Cache, Time)> {
    let path = owed_gates::home::own(root, "cache").ok()?;
    let opened = host::tick(&path.join("tick")).ok()?;
    let cache = Cache::new(Box::new(Directory(path)), FINGERPRINT);
    Some((if of_objects { cache.for_objects() } else { cache }, opened))
}

impl Storage for Directory {
    fn load(&self, name: &str) -> Option<Bytes> {
        host::map(&self.0.join(name)).ok()
    }

    fn store(&self, name: &str, bytes: &[u8]) -> bool {
        host::replace(&self.0.join(name), bytes).is_ok()
    }
}
