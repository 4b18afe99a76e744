//! What the system says of a file without opening it.

use std::fs::Metadata;
use std::path::Path;

use crate::cache::{Stat, Time};

/// Of what lies at `path`, links not followed.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn of(path: &Path) -> Option<Stat> {
    from(&std::fs::symlink_metadata(path).ok()?)
}

/// Of what `path` leads to, links followed.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn behind(path: &Path) -> Option<Stat> {
    from(&std::fs::metadata(path).ok()?)
}

/// `None` where the system tells too little to know a file again.
#[cfg(unix)]
pub(crate) fn from(metadata: &Metadata) -> Option<Stat> {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds, nanoseconds: i64| {
        Some(Time { seconds, nanoseconds: u32::try_from(nanoseconds).ok().filter(|n| *n < 1_000_000_000)? })
    };
    Some(Stat {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: time(metadata.mtime(), metadata.mtime_nsec())?,
        changed: time(metadata.ctime(), metadata.ctime_nsec())?,
    })
}

/// Without an inode and a time of change, size and time of writing are too little.
#[cfg(not(unix))]
pub(crate) fn from(_: &Metadata) -> Option<Stat> {
    None
}
