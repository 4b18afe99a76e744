//! Lost replies, lost acknowledgements, forged records, and settling.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use owed_gates::check::{Session, State, Why};
use owed_gates::disk::{Disk, DiskFile, Lock, Mode, RealDisk};
use owed_gates::ledger::{Admission, Exit, Options, Outcome, Output, Refusal, Request, Store, UnknownReason};
use owed_gates::state::{CallState, Phase};

use super::world::{COUNTS, Ended, World, call, claim, ended_store, label, sh};

/// A request as [`World::run`] makes it: taken from one that was made elsewhere.
fn request(id: &str, command: &str) -> Request {
    World::new().run(id, command).record.unwrap().request
}

#[test]
fn a20_a_retained_preflight_can_be_looked_at_and_starts_nothing() {
    let world = World::new();
    let request = request("a", "echo x");
    let store = ended_store(&world.path(".owed"));
    let mut run = store.open(&world.who.run, claim(&world), Options::default()).unwrap();
    let Admission::New(permit) = run.begin(&request).unwrap() else { panic!("it is new") };
    let saved = Outcome { exit: Exit::Code(0), output: Output::default(), supervisor: None };
    let fresh = run.complete_preflight(permit, saved).unwrap();
    drop((fresh, run));

    let answer = world.run("a", "echo x");
    assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::MetadataRevalidationRequired)));
    let record = answer.record.unwrap();
    assert_eq!((record.preflight.state, record.command), (CallState::Completed, None));
    assert_eq!(world.shown("a").state, State::NotStarted);
    // A new id observes the checkout again.
    assert_eq!(world.passes("b", "echo x").receipt.unwrap().output.unwrap().stdout.text(), "x\n");
}

/// Takes the ledger away at the end of its own command, so that the outcome cannot be
/// recorded; the supervisor has it.
const LOSES_ITS_REPLY: &str = "echo x >> count; echo done; mv .owed/ledger/run/frames .owed/away";

/// A world whose first call lost its reply, whose owner has ended, and whose ledger is back.
fn after_a_lost_reply() -> World {
    let mut world = World::new();
    let ended = ended_store(&world.path(".owed"));
    let good = std::mem::replace(&mut world.store, ended);
    let answer = world.run("a", LOSES_ITS_REPLY);
    assert!(
        matches!(answer.refusal, Some(Why::Persistence { dispatched: true, .. })),
        "{:?}",
        answer.refusal
    );
    assert_eq!((answer.exit_code(), world.count()), (75, 1));
    assert!(!answer.refusal.unwrap().permits_unrecorded());
    std::fs::rename(world.path(".owed/away"), world.path(".owed/ledger/run/frames")).unwrap();
    world.store = good;
    world
}

#[test]
fn a21_a_lost_reply_is_recovered_if_all_it_is_bound_to_is_the_same_and_nothing_runs() {
    let world = after_a_lost_reply();
    assert_eq!(world.shown("a").state, State::Unknown);
    assert_eq!(world.shown("a").unknown, Some(UnknownReason::OwnerLost));
    let answer = world.run("a", LOSES_ITS_REPLY);
    assert_eq!((answer.exit_code(), world.count()), (0, 1), "{:?}", answer.refusal);
    assert!(answer.is_recovered && answer.is_replayed);
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.state, receipt.exit), (State::Completed, Some(Exit::Code(0))));
    assert_eq!(receipt.output.unwrap().stdout.text(), "done\n");
    let again = world.run("a", LOSES_ITS_REPLY);
    assert!(again.is_replayed && !again.is_recovered);

    // Another owner, thread, command or checkout gets nothing, and changes nothing.
    for (what, code) in
        [("owner", "identity_mismatch"), ("thread", "identity_mismatch"), ("command", "payload_changed")]
    {
        let mut world = after_a_lost_reply();
        let before = world.state();
        let command = if what == "command" { "true" } else { LOSES_ITS_REPLY };
        match what {
            "owner" => world.who.owner = label("other"),
            "thread" => world.who.thread = label("other"),
            _ => {}
        }
        let answer = world.run("a", command);
        assert_eq!(answer.refusal.unwrap().code(), code, "{what}");
        assert_eq!((world.count(), world.state()), (1, before), "{what}");
    }
    let world = after_a_lost_reply();
    let before = world.state();
    std::fs::rename(world.path(".git"), world.path("git-is-away")).unwrap();
    crate::observe::git(world.dir.path(), &["init", "-q"]);
    let answer = world.run("a", LOSES_ITS_REPLY);
    assert_eq!(answer.refusal.unwrap().code(), "lookup_mismatch", "another incarnation of the checkout");
    assert_eq!((world.count(), world.state()), (1, before));
}

#[test]
fn a22_looking_needs_no_resuming_and_settling_needs_a_proof_and_takes_exactly_one() {
    let world = World::new();
    let slow = "test -f go || sleep 60";
    for id in ["a", "b"] {
        let unknown = world.run_for(id, &format!("{slow} #{id}"), 200);
        assert_eq!(unknown.receipt.unwrap().state, State::Unknown);
    }
    let before = world.state();
    let shown = world.with(|checks| checks.show(&world.who, &call("a")).unwrap());
    assert_eq!(shown.1.state, State::Unknown);
    assert_eq!(world.with(|checks| checks.list(&world.who).unwrap().calls.len()), 2);
    assert_eq!(world.state(), before, "looking writes nothing");

    let settled = world.with(|checks| checks.settle(&world.who, &call("a")).unwrap());
    assert!(settled.receipt.is_settled);
    assert!(!world.shown("b").is_settled, "only the one that was named");
    let why = |id: &str| world.with(|checks| checks.settle(&world.who, &call(id)).unwrap_err());
    assert_eq!(why("a"), Why::Ledger(Refusal::NothingToSettle));
    assert_eq!(why("nothing"), Why::Ledger(Refusal::NoSuchCall));

    // Settling by another owner's hand is refused, and looking across threads as well.
    let mut other = world.who.clone();
    other.owner = label("other");
    assert_eq!(world.with(|checks| checks.settle(&other, &call("b")).unwrap_err()), Why::Identity("owner"));
    other.thread = label("other");
    assert_eq!(world.with(|checks| checks.show(&other, &call("b")).unwrap_err()), Why::Identity("thread"));

    // While it runs there is no proof, and settling does not end it.
    let stop = owed_gates::supervise::Stop::default();
    let running = format!("echo $$ > pid; {slow} #c");
    std::thread::scope(|scope| {
        let one = scope.spawn(|| world.submit("c", &sh(&running), &Session::new(stop.clone())));
        while !world.path("pid").exists() && !one.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let why = world.with(|checks| {
            // Nothing is waited for that is not ending.
            checks.settle(&world.who, &call("c")).unwrap_err()
        });
        assert!(
            matches!(why, Why::Ledger(Refusal::InProgress { .. } | Refusal::StillRuns { .. })),
            "{why:?}"
        );
        let pid = std::fs::read_to_string(world.path("pid")).unwrap();
        assert!(crate::supervise::runs(pid.trim()));
        stop.stop(owed_gates::supervise::StopReason::Call);
        one.join().unwrap();
    });
}

#[test]
fn a23_missing_damaged_foreign_and_interrupted_evidence_stays_held() {
    let exit = |world: &World| {
        let dir = world.path(".owed/exec/run");
        let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|kind| kind == "exit"));
        files.pop().unwrap()
    };
    for (what, change) in [
        ("missing", Box::new(|file: &Path| std::fs::remove_file(file).unwrap()) as Box<dyn Fn(&Path)>),
        (
            "cut",
            Box::new(|file: &Path| {
                let text = std::fs::read_to_string(file).unwrap();
                std::fs::write(file, &text[..text.len() / 2]).unwrap();
            }),
        ),
        (
            "of another request",
            Box::new(|file: &Path| {
                let text = std::fs::read_to_string(file).unwrap();
                let at = text.find("\"request\":\"").unwrap() + 11;
                std::fs::write(file, format!("{}0000{}", &text[..at], &text[at + 4..])).unwrap();
            }),
        ),
        (
            "with a field that nobody writes",
            Box::new(|file: &Path| {
                let text = std::fs::read_to_string(file).unwrap();
                std::fs::write(file, text.replacen('{', "{\"passed\":true,", 1)).unwrap();
            }),
        ),
    ] {
        let world = after_a_lost_reply();
        change(&exit(&world));
        let answer = world.run("a", LOSES_ITS_REPLY);
        assert_eq!(answer.refusal.as_ref().unwrap().code(), "unresolved", "{what}");
        assert_eq!((answer.exit_code(), world.count()), (75, 1), "{what}");
        assert_eq!(answer.receipt.unwrap().state, State::Unknown, "{what}");
    }
    // A pending intent whose owner is gone and that nothing was let go for is held, too;
    // that nothing was let go is a proof for settling, and for nothing else.
    let world = World::new();
    let store = ended_store(&world.path(".owed"));
    let mut run = store.open(&world.who.run, claim(&world), Options::default()).unwrap();
    let pending = request("a", "echo x");
    let Admission::New(permit) = run.begin(&pending).unwrap() else { panic!("it is new") };
    drop((permit, run));
    assert_eq!(world.run("a", "echo x").refusal.unwrap().code(), "unresolved");
    assert_eq!(world.run("b", "echo x").refusal.unwrap().code(), "suppressed");
    let settled = world.with(|checks| checks.settle(&world.who, &call("a")).unwrap());
    assert_eq!(settled.phase, Phase::Preflight);
    world.passes("b", "echo x");
}

/// A disk whose nth sync of an acknowledgement fails.
#[derive(Debug)]
struct LosesAcks {
    left: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct LossyFile {
    file: Box<dyn DiskFile>,
    left: Arc<AtomicUsize>,
}

impl Disk for LosesAcks {
    fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn open(&self, path: &Path, mode: Mode) -> std::io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, mode)?;
        let is_ack = path.parent().is_some_and(|dir| dir.ends_with("acks"));
        let left = Arc::clone(&self.left);
        Ok(if is_ack { Box::new(LossyFile { file, left }) } else { file })
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.sync_dir(path)
    }

    fn list(&self, path: &Path) -> std::io::Result<Vec<std::ffi::OsString>> {
        RealDisk.list(path)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.remove(path)
    }
}

impl LossyFile {
    fn fails(&self) -> std::io::Result<()> {
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(1) => Err(std::io::Error::other("the acknowledgement is lost")),
            _ => Ok(()),
        }
    }
}

impl DiskFile for LossyFile {
    fn size(&self) -> std::io::Result<u64> {
        self.file.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write_at(offset, bytes)
    }

    fn truncate(&self, size: u64) -> std::io::Result<()> {
        self.file.truncate(size)
    }

    fn reserve(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.file.reserve(offset, length)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.fails()?;
        self.file.sync()
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.fails()?;
        self.file.sync_data()
    }

    fn try_lock(&self, lock: Lock) -> std::io::Result<bool> {
        self.file.try_lock(lock)
    }

    fn unlock(&self) -> std::io::Result<()> {
        self.file.unlock()
    }

    fn is_at(&self, path: &Path) -> std::io::Result<bool> {
        self.file.is_at(path)
    }

    fn modified_ms(&self) -> std::io::Result<u64> {
        self.file.modified_ms()
    }
}

#[test]
fn a31_a_lost_acknowledgement_grants_neither_dispatch_nor_completion_and_is_never_made_good_by_a_replay() {
    let mut failed = 0;
    for nth in 1.. {
        let mut world = World::new();
        let left = Arc::new(AtomicUsize::new(nth));
        let lossy = Arc::new(LosesAcks { left: Arc::clone(&left) });
        let lossy = Store::on(world.path(".owed"), lossy, Arc::new(Ended));
        let good = std::mem::replace(&mut world.store, lossy);
        let answer = world.run("a", COUNTS);
        if left.load(Ordering::SeqCst) > 0 {
            assert_eq!((answer.exit_code(), world.count()), (0, 1), "no acknowledgement was lost");
            break;
        }
        failed += 1;
        assert_ne!(answer.exit_code(), 0, "{nth}: no success without an acknowledged outcome");
        let why = answer.refusal.as_ref().unwrap_or_else(|| panic!("{nth}: {answer:#?}"));
        if why.did_not_start() {
            assert_eq!(world.count(), 0, "{nth}: {why:?}");
        } else {
            assert!(!why.permits_unrecorded());
            assert_eq!(world.count(), 1, "{nth}: {why:?}");
        }
        let ran = world.count();
        world.store = good;
        // Whatever is on the disk now, the same id does not run the command twice, and a
        // success is one that the supervisor or the ledger has whole.
        let again = world.run("a", COUNTS);
        if again.record.is_some() && (again.is_replayed || again.refusal.is_some()) {
            assert_eq!(world.count(), ran, "{nth}: {again:#?}");
        } else {
            assert_eq!((ran, world.count()), (0, 1), "{nth}: nothing had been recorded of it");
        }
    }
    assert!(failed >= 6, "only {failed} acknowledgements");
}

#[test]
fn a37_forged_foreign_duplicate_and_malformed_records_are_held() {
    let world = World::new();
    world.passes("a", COUNTS);
    world.passes("b", "true");
    let frames = world.path(".owed/ledger/run/frames");
    let good = std::fs::read(&frames).unwrap();
    let other = World::new();
    other.passes("a", COUNTS);
    let foreign = std::fs::read(other.path(".owed/ledger/run/frames")).unwrap();
    let text = String::from_utf8_lossy(&good);
    let exit = text.find("\"exit\":{\"code\":0}").unwrap();
    let mut forged = good.clone();
    forged[exit + 15] = b'1';
    let middle = good.windows(4).rposition(|window| window == b"owf1").unwrap();
    for (what, bytes) in [
        ("another exit code", forged),
        ("another run's frames", foreign),
        ("its last record twice", [&good[..], &good[middle..]].concat()),
        ("a cut record", good[..middle + 10].to_vec()),
        ("nothing", Vec::new()),
    ] {
        std::fs::write(&frames, &bytes).unwrap();
        let answer = world.run("a", COUNTS);
        assert_eq!(answer.refusal.unwrap().code(), "ledger_held", "{what}");
        assert_eq!((answer.record, world.count()), (None, 1), "{what}: nothing is made up");
        assert_eq!(std::fs::read(&frames).unwrap(), bytes, "{what}: and nothing repaired");
        assert_eq!(world.run("c", "true").refusal.unwrap().code(), "ledger_held", "{what}");
    }
    std::fs::write(&frames, &good).unwrap();
    assert!(world.passes("a", COUNTS).is_replayed);
}

#[test]
fn a24_a_later_write_that_fails_fails_closed() {
    let world = after_a_lost_reply();
    let answer = world.run("b", LOSES_ITS_REPLY);
    assert_eq!(answer.refusal.unwrap().code(), "suppressed");
    assert_eq!(world.count(), 1);
}
