//! Leases, with real files and real processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use owed_gates::disk::{Disk, DiskFile, Mode, RealDisk};
use owed_gates::lease::{
    Holder, Host as _, LEGACY_MS, Lease, LeaseFailure, Leases, Liveness, ProcessIdentity, System,
};

const CHILD: &str = "OWED_TEST_LEASE";

fn leases(root: &Path) -> Leases {
    // Neither of the two directories exists before the first lease.
    Leases::at(root.join("state/leases"))
}

fn take(root: &Path) -> Result<Lease, Holder> {
    leases(root).acquire("heavy", Duration::ZERO).map_err(|failure| match failure {
        LeaseFailure::Held(holder) => holder,
        other => panic!("{other}"),
    })
}

/// A file without a lock, as a process leaves it, and its age.
fn left(root: &Path, content: &[u8], modified: SystemTime) {
    std::fs::create_dir_all(root.join("state/leases")).unwrap();
    let path = root.join("state/leases/heavy");
    std::fs::write(&path, content).unwrap();
    std::fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

fn named(process: &ProcessIdentity) -> Vec<u8> {
    let process = serde_json::to_string(process).unwrap();
    format!(r#"{{"process":{process},"at_ms":1}}"#).into_bytes()
}

#[test]
fn a_lease_is_held_while_it_is_and_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let lease = take(root.path()).unwrap();
    assert_eq!(take(root.path()).unwrap_err(), Holder::Locked(Some(System.me())));
    assert_eq!(leases(root.path()).holder("heavy").unwrap(), Some(System.me()));
    drop(lease);
    assert_eq!(std::fs::read_dir(root.path().join("state/leases")).unwrap().count(), 0);
    take(root.path()).unwrap();
}

#[test]
fn c15_a_live_owner_holds_even_where_its_lock_is_not_seen() {
    let root = tempfile::tempdir().unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let process = System.identify(child.id()).unwrap();
    left(root.path(), &named(&process), SystemTime::UNIX_EPOCH);
    assert_eq!(take(root.path()).unwrap_err(), Holder::Process(process.clone()));
    child.kill().unwrap();
    // A zombie has ended, and so has a process that nobody remembers.
    while System.liveness(&process) == Liveness::Alive {
        std::thread::yield_now();
    }
    drop(take(root.path()).unwrap());
    child.wait().unwrap();
    left(root.path(), &named(&process), SystemTime::now());
    take(root.path()).unwrap();
}

#[test]
fn c15_a_reused_pid_never_holds() {
    let root = tempfile::tempdir().unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let process = System.identify(child.id()).unwrap();
    for other in [
        ProcessIdentity { start: process.start.map(|start| start - 1), ..process.clone() },
        ProcessIdentity { boot: Some("another boot".to_owned()), ..process },
    ] {
        assert_eq!(System.liveness(&other), Liveness::Gone);
        left(root.path(), &named(&other), SystemTime::now());
        drop(take(root.path()).unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn c15_a_lock_without_an_identity_holds_for_a_day() {
    let root = tempfile::tempdir().unwrap();
    let day = Duration::from_millis(LEGACY_MS);
    let minute = Duration::from_secs(60);
    for content in [&b"4711\n"[..], b"{}", br#"{"pid":4711}"#] {
        left(root.path(), content, SystemTime::now() - day + minute);
        let holder = take(root.path()).unwrap_err();
        assert!(matches!(holder, Holder::Legacy { age_ms: Some(age) } if age < LEGACY_MS), "{holder:?}");
        left(root.path(), content, SystemTime::now() - day - minute);
        drop(take(root.path()).unwrap());
        // The clock was set back: nobody can say that it is old.
        left(root.path(), content, SystemTime::now() + day);
        assert_eq!(take(root.path()).unwrap_err(), Holder::Legacy { age_ms: None });
    }
}

#[test]
fn an_identity_that_a_crash_has_cut_holds_nothing() {
    let root = tempfile::tempdir().unwrap();
    let whole = named(&System.me());
    for length in 0..whole.len() {
        left(root.path(), &whole[..length], SystemTime::now());
        drop(take(root.path()).unwrap());
    }
    left(root.path(), &[0; 4096], SystemTime::now());
    take(root.path()).unwrap();
}

#[test]
fn a_name_is_a_plain_file_name() {
    let root = tempfile::tempdir().unwrap();
    for name in ["", ".", "..", "a/b", "\0"] {
        let refused = leases(root.path()).acquire(name, Duration::ZERO);
        assert!(matches!(refused, Err(LeaseFailure::Name)), "{name:?}");
    }
}

#[test]
fn one_process_at_a_time_and_a_killed_one_lets_go() {
    if let Some(root) = std::env::var_os(CHILD) {
        let root = Path::new(&root);
        for _ in 0..40 {
            let lease = leases(root).acquire("heavy", Duration::from_secs(60)).unwrap();
            // Alone, or this exists already.
            std::fs::create_dir(root.join("inside")).unwrap();
            std::fs::remove_dir(root.join("inside")).unwrap();
            drop(lease);
        }
        let _lease = leases(root).acquire("heavy", Duration::from_secs(60)).unwrap();
        std::process::abort();
    }
    let root = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..6)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "lease::one_process_at_a_time_and_a_killed_one_lets_go"])
                .env(CHILD, root.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        // Each ends while it holds the lease, which the next one gets all the same.
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(6));
    }
    take(root.path()).unwrap();
}

#[test]
fn a_lease_whose_file_was_removed_by_hand_does_not_remove_the_next_ones() {
    let root = tempfile::tempdir().unwrap();
    let first = take(root.path()).unwrap();
    std::fs::remove_file(first.path()).unwrap();
    let second = take(root.path()).unwrap();
    drop(first);
    assert!(second.path().exists());
    assert!(take(root.path()).is_err());
}

/// A disk on which the holder of a lease is done, and removes its file, just after we have
/// opened it.
#[derive(Debug, Default)]
struct RemovedOnce(std::sync::atomic::AtomicBool);

impl Disk for RemovedOnce {
    fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn open(&self, path: &Path, mode: Mode) -> std::io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, mode)?;
        if !self.0.swap(true, std::sync::atomic::Ordering::Relaxed) {
            RealDisk.remove(path)?;
        }
        Ok(file)
    }

    fn sync_dir(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.sync_dir(path)
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

#[test]
fn a_lock_on_a_file_that_was_removed_meanwhile_is_no_lease() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("state/leases")).unwrap();
    let directory = root.path().join("state/leases");
    let leases = Leases::on(directory, Arc::new(RemovedOnce::default()), Arc::new(System));
    let lease = leases.acquire("heavy", Duration::from_secs(5)).unwrap();
    assert!(lease.path().exists());
    assert!(take(root.path()).is_err());
}
