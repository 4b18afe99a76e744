//! The door to files: every call that the ledger, the leases and the queue make of the operating
//! system, one method each, so that a test can put a fault behind any of them.
//!
//! The trait is about durability, not convenience: a write is one system call and may be
//! short, a sync may fail, a lock belongs to an open file. It does not retry and does not
//! hide anything.

use std::ffi::OsString;
use std::fmt::Debug;
use std::io;
use std::path::Path;

mod real;

pub use real::RealDisk;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For reading; it has to exist.
    Read,
    /// For reading and writing; it has to exist.
    Write,
    /// For reading and writing; it is made when it is not there. Never truncated.
    Create,
}

/// Which lock of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Beside other shared locks.
    Shared,
    /// Alone.
    Exclusive,
}

/// A file system.
pub trait Disk: Send + Sync + Debug {
    /// Makes one directory.
    ///
    /// # Errors
    /// As the operating system says, `AlreadyExists` included.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Opens a file.
    ///
    /// # Errors
    /// As the operating system says.
    fn open(&self, path: &Path, mode: Mode) -> io::Result<Box<dyn DiskFile>>;

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// As the operating system says.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// As the operating system says.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;

    /// Gives a file another name in the same directory, at once: whoever looks sees the old
    /// state or the new one. A file of that name is replaced. The directory is to be synced.
    ///
    /// # Errors
    /// As the operating system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. The ledger never does; the index, which can be rebuilt, may.
    ///
    /// # Errors
    /// As the operating system says.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// An open file. Its lock is gone when it is dropped.
pub trait DiskFile: Send + Debug {
    /// Size in bytes.
    ///
    /// # Errors
    /// As the operating system says.
    fn size(&self) -> io::Result<u64>;

    /// Reads at an offset; 0 is the end of the file.
    ///
    /// # Errors
    /// As the operating system says.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// One write at an offset. It may be short.
    ///
    /// # Errors
    /// As the operating system says, a full disk included.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts or extends the file.
    ///
    /// # Errors
    /// As the operating system says.
    fn truncate(&self, size: u64) -> io::Result<()>;

    /// Reserves room without changing the size. Does nothing where the file system cannot.
    ///
    /// # Errors
    /// A full disk.
    fn reserve(&self, offset: u64, length: u64) -> io::Result<()>;

    /// `fsync`: contents and size.
    ///
    /// # Errors
    /// After an error it is not known what is durable, and asking again does not tell: the
    /// kernel reports a failed write-back once.
    fn sync(&self) -> io::Result<()>;

    /// `fdatasync`: contents, and the size when it is needed to read them.
    ///
    /// # Errors
    /// As for [`DiskFile::sync`].
    fn sync_data(&self) -> io::Result<()>;

    /// Takes the lock of this open file (`flock`) when it is free.
    ///
    /// # Errors
    /// As the operating system says, when it cannot lock at all.
    fn try_lock(&self, lock: Lock) -> io::Result<bool>;

    /// Gives the lock back.
    ///
    /// # Errors
    /// As the operating system says.
    fn unlock(&self) -> io::Result<()>;

    /// Whether `path` still names this very file.
    ///
    /// # Errors
    /// As the operating system says, except that an absent file is `false`.
    fn is_at(&self, path: &Path) -> io::Result<bool>;

    /// When it was last written, in milliseconds since 1970.
    ///
    /// # Errors
    /// As the operating system says.
    fn modified_ms(&self) -> io::Result<u64>;
}

/// Reads from an offset up to the end, but at most `limit` bytes.
///
/// # Errors
/// As the operating system says.
pub fn read_from(file: &dyn DiskFile, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
    let there = usize::try_from(file.size()?.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; there.min(limit)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(offset + filled as u64, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
