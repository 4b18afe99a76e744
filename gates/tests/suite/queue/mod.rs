//! The queue of requests, with real files and real processes.

mod lanes;
mod recovery;
mod requests;
mod results;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use owed_gates::disk::{Disk, DiskFile, Lock, Mode, RealDisk};
use owed_gates::lease::System;
use owed_gates::queue::{Asks, Kind, Priority, Queue, Request, Stay, Terms, Ticket};

/// Names the project for a test that runs itself again in a process of its own.
pub(crate) const CHILD: &str = "OWED_TEST_QUEUE";

/// A project with a queue.
pub(crate) fn project() -> (tempfile::TempDir, Queue) {
    let root = tempfile::tempdir().unwrap();
    let queue = Queue::of(root.path()).unwrap();
    (root, queue)
}

/// The same on a disk that does not wait for the platter, for tests with very many requests.
pub(crate) fn hasty(root: &Path) -> Queue {
    Queue::on(root, Arc::new(Hasty), Arc::new(System)).unwrap()
}

/// These paths were modified.
pub(crate) fn paths(paths: &[&str]) -> Asks {
    let changes = paths.iter().map(|path| ((*path).to_owned(), Kind::Modified)).collect();
    Asks { changes, ..Asks::default() }
}

/// Every test.
pub(crate) fn full() -> Asks {
    Asks { full: true, ..Asks::default() }
}

/// The same with coverage.
pub(crate) fn with_coverage(asks: Asks) -> Asks {
    Asks { coverage: true, ..asks }
}

pub(crate) fn submit(queue: &Queue, asks: Asks, stay: Stay) -> Ticket {
    queue.submit(asks, &Terms::default(), Priority::Interactive, stay).unwrap()
}

pub(crate) fn pending(queue: &Queue) -> Vec<Request> {
    let pending = queue.pending().unwrap();
    assert_eq!(pending.held, []);
    pending.requests
}

pub(crate) fn ids(queue: &Queue) -> Vec<String> {
    pending(queue).into_iter().map(|request| request.id).collect()
}

/// The lines of the log.
pub(crate) fn log(root: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(root.join(".owed/queue/log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs one test of this binary again, with `root` in [`CHILD`] and `word` in its environment.
pub(crate) fn again(test: &str, root: &Path, word: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, root)
        .env("OWED_TEST_WORD", word)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Where the test that runs again works, and its word.
pub(crate) fn child() -> Option<(std::path::PathBuf, String)> {
    let root = std::env::var_os(CHILD)?;
    Some((root.into(), std::env::var("OWED_TEST_WORD").unwrap()))
}

pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The real disk, but that nothing is synced.
#[derive(Debug)]
struct Hasty;

#[derive(Debug)]
struct HastyFile(Box<dyn DiskFile>);

impl Disk for Hasty {
    fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn open(&self, path: &Path, mode: Mode) -> std::io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(HastyFile(RealDisk.open(path, mode)?)))
    }

    fn sync_dir(&self, _: &Path) -> std::io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> std::io::Result<Vec<std::ffi::OsString>> {
        RealDisk.list(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.remove(path)
    }
}

impl DiskFile for HastyFile {
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_at(offset, bytes)
    }

    fn truncate(&self, size: u64) -> std::io::Result<()> {
        self.0.truncate(size)
    }

    fn reserve(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.0.reserve(offset, length)
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn try_lock(&self, lock: Lock) -> std::io::Result<bool> {
        self.0.try_lock(lock)
    }

    fn unlock(&self) -> std::io::Result<()> {
        self.0.unlock()
    }

    fn is_at(&self, path: &Path) -> std::io::Result<bool> {
        self.0.is_at(path)
    }

    fn modified_ms(&self) -> std::io::Result<u64> {
        self.0.modified_ms()
    }
}
