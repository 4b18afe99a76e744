//! The one door to the disk.
//!
//! [`DiskTree`] is the working tree. (The index and commits are
//! [`crate::vcs::ObjectTree`]; both are [`crate::tree::Tree`]s, so nothing right of here
//! knows which one it was asked about.) What belongs to the project is an
//! [`Inventory`], which comes from git ([`crate::vcs`]) or, outside of git, from [`walk`].
//!
//! What this module refuses to do: it parses no source, decides nothing about what a
//! file means, writes nothing, and never turns "could not read" into "is not there"
//! without saying so ([`Inventory::not_checked`], [`DiskTree::unlisted`]).

mod disk;
mod follow;
mod inventory;
mod listing;
mod names;
mod stat;
mod walk;

pub use disk::DiskTree;
pub use inventory::{Inventory, Submodule, is_installed};
pub use walk::walk;

pub(crate) use disk::{joined, list_outside};
pub(crate) use follow::{Entries, Entry, Place, follow};
pub(crate) use listing::Disk;

use std::io::Read;
use std::path::Path;

use crate::cache::Stat;
use crate::problem::Unchecked;

/// The largest file that is read when nothing else is configured: 5 MiB. Sources are
/// far smaller; what is larger is generated, bundled or data.
pub const DEFAULT_SIZE_LIMIT: u64 = 5 * 1024 * 1024;

/// How far into a file a NUL byte makes it binary; the same window git looks at.
const BINARY_WINDOW: usize = 8 * 1024;

/// The text in `bytes`.
///
/// # Errors
/// [`Unchecked::Binary`] when there is a NUL byte in the first 8 KiB,
/// [`Unchecked::NotUtf8`] when the bytes are no UTF-8. A byte order mark is text.
pub fn text_of(bytes: &[u8]) -> Result<&str, Unchecked> {
    let window = &bytes[..bytes.len().min(BINARY_WINDOW)];
    if window.contains(&0) {
        return Err(Unchecked::Binary);
    }
    std::str::from_utf8(bytes).map_err(|_| Unchecked::NotUtf8)
}

/// The state of what lies at `path`, links not followed; `None` when nothing does, or the
/// system tells too little.
pub(crate) fn state_of(path: &Path) -> Option<Stat> {
    stat::of(path)
}

/// The state of what `path` leads to.
pub(crate) fn state_behind(path: &Path) -> Option<Stat> {
    stat::behind(path)
}

/// Reads the regular file at `path` up to `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Unchecked> {
    read_file_as(path, limit).map(|(bytes, _)| bytes)
}

/// The same, with the state it was in all the while; without when it changed meanwhile.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn read_file_as(path: &Path, limit: u64) -> Result<(Vec<u8>, Option<Stat>), Unchecked> {
    let mut file = std::fs::File::open(path).map_err(|_| Unchecked::Unreadable)?;
    let metadata = file.metadata().map_err(|_| Unchecked::Unreadable)?;
    if !metadata.is_file() {
        return Err(Unchecked::Unreadable);
    }
    if metadata.len() > limit {
        return Err(Unchecked::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // One byte more than allowed: a file that grows while it is read is too large, not cut.
    let mut reader = (&mut file).take(limit.saturating_add(1));
    reader.read_to_end(&mut bytes).map_err(|_| Unchecked::Unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Unchecked::TooLarge);
    }
    let (before, after) = (stat::from(&metadata), file.metadata().ok().as_ref().and_then(stat::from));
    Ok((bytes, before.filter(|before| Some(*before) == after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_without_an_early_nul() {
        assert_eq!(text_of("grün\r\n".as_bytes()), Ok("grün\r\n"));
        assert_eq!(text_of(b"\xef\xbb\xbfx"), Ok("\u{feff}x"));
        assert_eq!(text_of(b"a\0b"), Err(Unchecked::Binary));
        assert_eq!(text_of(b"caf\xe9"), Err(Unchecked::NotUtf8));
        let mut late = vec![b'x'; BINARY_WINDOW];
        late.push(0);
        assert!(text_of(&late).is_ok(), "a NUL after the window is a character like any other");
        assert_eq!(text_of(b""), Ok(""));
    }

    #[test]
    fn the_limit_is_inclusive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        #[expect(clippy::disallowed_methods)]
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read_file(&path, 5).as_deref(), Ok(&b"12345"[..]));
        assert_eq!(read_file(&path, 4), Err(Unchecked::TooLarge));
        assert_eq!(read_file(dir.path(), 5), Err(Unchecked::Unreadable));
        assert_eq!(read_file(&dir.path().join("g"), 5), Err(Unchecked::Unreadable));
    }
}
