//! The ledger, on a real disk and on a simulated machine.

mod bounds;
mod calls;
mod damage;
mod index;
mod processes;
mod records;
mod schedules;

use std::path::Path;

use owed_gates::ledger::{
    Admission, Call, CallId, Failure, Loss, Options, Refusal, Run, RunId, Store, UnknownReason,
};
use owed_gates::state::{CommandPermit, PreflightPermit, RunningCommand};

use crate::simulation::real::{claim, observation, outcome, request};

/// A project of its own for one test.
struct Project {
    root: tempfile::TempDir,
    store: Store,
}

impl Project {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(root.path().join(".owed"));
        Self { root, store }
    }

    fn state(&self) -> &Path {
        self.store.state()
    }

    fn open(&self) -> Run {
        self.store.open(&run_id(), claim(), Options::default()).unwrap()
    }

    fn frames(&self) -> std::path::PathBuf {
        self.state().join("ledger/run/frames")
    }

    fn ack(&self) -> std::path::PathBuf {
        self.state().join("acks/run")
    }

    fn call(&self, name: &str) -> Option<Call> {
        self.store.inspect(&run_id()).unwrap().history.call(&call_id(name)).cloned()
    }
}

fn run_id() -> RunId {
    RunId::new("run").unwrap()
}

fn call_id(name: &str) -> CallId {
    CallId::new(name).unwrap()
}

fn granted(run: &mut Run, name: &str, command: &str) -> PreflightPermit {
    match run.begin(&request(name, command)).unwrap() {
        Admission::New(permit) => permit,
        Admission::Replay(call) => panic!("{name} is replayed as {:?}", call.state()),
    }
}

fn intended(run: &mut Run, name: &str, command: &str) -> CommandPermit {
    let permit = granted(run, name, command);
    let fresh = run.complete_preflight(permit, outcome(0)).unwrap();
    run.intend(fresh, observation()).unwrap()
}

fn running(run: &mut Run, name: &str, command: &str) -> RunningCommand {
    let permit = intended(run, name, command);
    run.start(permit, dead()).unwrap()
}

fn completed(run: &mut Run, name: &str, command: &str, code: i32) -> Call {
    let running = running(run, name, command);
    run.complete(running, outcome(code)).unwrap()
}

fn lost(run: &mut Run, name: &str, command: &str) -> Call {
    let running = running(run, name, command);
    run.lose(running, Loss::of(UnknownReason::TimedOut)).unwrap()
}

/// A process that has ended: our own PID, with another start.
fn dead() -> owed_gates::lease::ProcessIdentity {
    use owed_gates::lease::Host as _;
    let me = owed_gates::lease::System.me();
    owed_gates::lease::ProcessIdentity { start: Some(1), ..me }
}

/// The code of a refusal; a persistence failure is another answer.
fn refusal<T>(answer: Result<T, Failure>) -> Refusal {
    match answer {
        Ok(_) => panic!("it was not refused"),
        Err(Failure::Refused(refusal)) => refusal,
        Err(failure) => panic!("{failure}"),
    }
}
