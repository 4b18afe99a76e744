//! A repository, its ledger, and checks on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use owed_gates::check::{Answer, Checks, Command, Executor, Identity, Session, Submission};
use owed_gates::disk::{Disk, RealDisk};
use owed_gates::lease::{Host, Liveness, ProcessIdentity, System};
use owed_gates::ledger::{
    Admission, CallId, Claim, Exit, Failure, Label, NotStartedReason, Observation, Options, Outcome, Output,
    Purpose, Request, Run, RunId, Store, Stream, Timeout,
};
use owed_gates::policy::{Permissive, PolicySource, Rules};
use owed_gates::state::FreshPreflight;
use owed_gates::supervise::Supervisor;

use crate::observe::repository;

/// A repository with one commit and a state directory that git ignores.
pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    pub(super) store: Store,
    pub(super) executor: Executor,
    pub(super) policy: Box<dyn PolicySource + Sync>,
    pub(super) who: Identity,
    pub(super) must_exist: bool,
}

pub(super) fn label(text: &str) -> Label {
    Label::new(text).unwrap()
}

pub(super) fn call(text: &str) -> CallId {
    CallId::new(text).unwrap()
}

pub(super) fn identity() -> Identity {
    Identity {
        run: RunId::new("run").unwrap(),
        owner: label("owner"),
        unit: None,
        thread: label("thread"),
        resource: label("resource"),
        fence: 1,
    }
}

pub(super) fn observer() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_owed-supervisor").into(), arguments: vec!["observe".into()] }
}

impl World {
    pub(super) fn new() -> Self {
        let dir = repository();
        let mut environment: Vec<_> = ["PATH", "HOME"]
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)))
            .collect();
        environment.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
        let mut executor =
            Executor::new(crate::supervise::supervisor(), observer(), environment, std::env::temp_dir());
        // A busy machine is not what these tests are about.
        (executor.host_reserve, executor.admission) = (0, 0);
        let store = Store::at(dir.path().join(".owed"));
        Self { dir, store, executor, policy: Box::new(Permissive), who: identity(), must_exist: false }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(Checks<'_>) -> T) -> T {
        let checkout = self.root();
        work(Checks {
            store: &self.store,
            executor: &self.executor,
            policy: &*self.policy,
            checkout: &checkout,
            must_exist: self.must_exist,
        })
    }

    pub(super) fn submit(&self, id: &str, submission: &Submission, session: &Session) -> Answer {
        self.with(|checks| checks.run(&self.who, &call(id), submission, session))
    }

    /// A verification of the shell's that completes with exit code 0.
    #[track_caller]
    pub(super) fn passes(&self, id: &str, command: &str) -> Answer {
        let answer = self.run(id, command);
        assert_eq!(answer.exit_code(), 0, "{answer:#?}");
        answer
    }

    /// A verification of the shell's.
    pub(super) fn run(&self, id: &str, command: &str) -> Answer {
        self.submit(id, &sh(command), &Session::default())
    }

    /// The same, with a timeout in milliseconds.
    pub(super) fn run_for(&self, id: &str, command: &str, ms: u64) -> Answer {
        let submission = Submission { timeout: Some(Duration::from_millis(ms)), ..sh(command) };
        self.submit(id, &submission, &Session::default())
    }

    /// Another process with the same files.
    pub(super) fn restarted(self) -> Self {
        Self { store: Store::at(self.dir.path().join(".owed")), ..self }
    }

    /// How often a command that appends a line to `count` was executed.
    pub(super) fn count(&self) -> usize {
        std::fs::read_to_string(self.path("count")).map_or(0, |text| text.lines().count())
    }

    /// Every file of the state directory with its bytes, except what may be rebuilt.
    pub(super) fn state(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(&self.path(".owed"))
    }

    /// The record, as somebody who only looks sees it.
    pub(super) fn shown(&self, id: &str) -> owed_gates::check::Receipt {
        self.with(|checks| checks.show(&self.who, &call(id)).unwrap().1)
    }
}

pub(super) fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                found.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.retain(|(path, _)| !path.to_string_lossy().contains("/cache/"));
    found.sort();
    found
}

/// A verification of the shell's.
pub(super) fn sh(command: &str) -> Submission {
    Submission {
        purpose: Purpose::Verification,
        command: Command::Shell(command.to_owned()),
        timeout: None,
        checkpoint: None,
    }
}

/// Appends a line to `count`, outside of what git looks at.
pub(super) const COUNTS: &str = "echo x >> count";

/// A policy that denies from its nth question on, or does something else then.
pub(super) struct From<F: Fn() -> bool> {
    asked: AtomicUsize,
    nth: usize,
    denies: F,
}

impl<F: Fn() -> bool> From<F> {
    /// `then` gives whether the command is denied.
    pub(super) fn nth(nth: usize, denies: F) -> Self {
        Self { asked: AtomicUsize::new(0), nth, denies }
    }
}

impl<F: Fn() -> bool> PolicySource for From<F> {
    fn rules(&self) -> Result<Rules, String> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        if asked >= self.nth && (self.denies)() {
            Err("denied in between".to_owned())
        } else {
            Ok(Rules::default())
        }
    }
}

/// A host on which this process is one that has ended: what it leaves pending is
/// abandoned in the eyes of every other host.
#[derive(Debug)]
pub(super) struct Ended;

impl Host for Ended {
    fn me(&self) -> ProcessIdentity {
        let me = System.me();
        ProcessIdentity { start: me.start.map(|start| start + 1), ..me }
    }

    fn identify(&self, pid: u32) -> Option<ProcessIdentity> {
        System.identify(pid)
    }

    fn liveness(&self, process: &ProcessIdentity) -> Liveness {
        System.liveness(process)
    }

    fn now_ms(&self) -> u64 {
        System.now_ms()
    }

    fn pause(&self, time: Duration) {
        System.pause(time);
    }
}

/// A store whose writer is a process that has ended.
pub(super) fn ended_store(state: &Path) -> Store {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    Store::on(state, disk, Arc::new(Ended))
}

/// The claim under which [`World::run`] writes.
pub(super) fn claim(world: &World) -> Claim {
    let who = world.who.clone();
    Claim {
        owner: who.owner,
        unit: who.unit,
        thread: who.thread,
        workspace: Label::new(owed_gates::observe::incarnation(world.dir.path()).unwrap()).unwrap(),
        resource: who.resource,
        fence: who.fence,
    }
}

/// A call as a caller of the ledger makes it, without processes: for tests that need many.
pub(super) struct Filler {
    pub(super) run: Run,
}

impl Filler {
    pub(super) fn new(world: &World) -> Self {
        Self { run: world.store.open(&world.who.run, claim(world), Options::default()).unwrap() }
    }

    fn fresh(&mut self, id: &str, command: &str) -> Result<FreshPreflight, Failure> {
        let request =
            Request::new(call(id), Purpose::Baseline, command, Timeout::Omitted, str::to_owned).unwrap();
        match self.run.begin(&request)? {
            Admission::New(permit) => self.run.complete_preflight(permit, outcome("")),
            Admission::Replay(_) => panic!("{id} is new"),
        }
    }

    /// A call that completes with exit code 0 and prints `said`.
    pub(super) fn completes(&mut self, id: &str, command: &str, said: &str) -> Result<(), Failure> {
        let fresh = self.fresh(id, command)?;
        let observation = Observation { path: label("/repo"), head: None, fingerprint: label("worktree1:0") };
        let permit = self.run.intend(fresh, observation)?;
        let running = self.run.start(permit, System.me())?;
        self.run.complete(running, outcome(said)).map(drop)
    }

    /// A call whose command is declined after its preflight.
    pub(super) fn declines(&mut self, id: &str, command: &str) -> Result<(), Failure> {
        let fresh = self.fresh(id, command)?;
        self.run.decline(fresh, NotStartedReason::Stopped)
    }
}

fn outcome(said: &str) -> Outcome {
    let stdout = Stream::clip(said, said.len() as u64, false, false);
    Outcome { exit: Exit::Code(0), output: Output { stdout, stderr: Stream::default() }, supervisor: None }
}
