//! One schedule: several lives of a project, each with one to three processes that run calls
//! against each other while the machine fails; then a look at what is left.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use fastrand::Rng;
use owed_gates::ledger::{
    Admission, CallId, Claim, Exit, ExitRecord, Failure, Label, Loss, NotStartedReason, Observation, Options,
    Outcome, Output, Purpose, Refusal, Request, Run, RunId, Store, Stream, Timeout, UnknownReason,
};
use owed_gates::state::{CallState, CommandPermit, FreshPreflight, Phase, RunningCommand};

use super::disk::SimDisk;
use super::faults::damage;
use super::truth::Truth;
use super::world::{Broken, Faults, SimHost, World};

/// What one schedule did, and what it found wrong.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) violations: Vec<String>,
    pub(crate) calls: u64,
    pub(crate) faults: u64,
    pub(crate) power_failures: u64,
    pub(crate) dispatches: u64,
    pub(crate) replays: u64,
    pub(crate) suppressed: u64,
    pub(crate) settled: u64,
    pub(crate) damaged: u64,
    pub(crate) held: u64,
}

impl Report {
    /// Adds the counts of another schedule.
    pub(crate) fn add(&mut self, other: &Report) {
        self.calls += other.calls;
        self.faults += other.faults;
        self.power_failures += other.power_failures;
        self.dispatches += other.dispatches;
        self.replays += other.replays;
        self.suppressed += other.suppressed;
        self.settled += other.settled;
        self.damaged += other.damaged;
        self.held += other.held;
    }
}

type Shared = Arc<Mutex<Truth>>;

/// Runs the schedule of a seed.
pub(crate) fn schedule(seed: u64, broken: Broken) -> Report {
    let world = World::new(seed);
    let truth: Shared = Arc::default();
    let mut rng = Rng::with_seed(seed ^ 0x6c65_6467_6572);
    let profile = profile(&mut rng, broken);
    let mut damaged = None;
    let mut fence = 1;
    for life in 0..rng.usize(2..6) {
        world.state().faults = profile;
        fence += u64::from(rng.u8(..4) == 0);
        let processes = [1, 1, 1, 1, 1, 2, 2, 2, 3, 3][rng.usize(..10)];
        let work = (0..processes)
            .map(|_| {
                let process = world.spawn();
                let actor = Actor {
                    world: Arc::clone(&world),
                    truth: Arc::clone(&truth),
                    process,
                    fence: fence.saturating_sub(u64::from(rng.u8(..8) == 0)).max(1),
                    rng: rng.fork(),
                };
                let work: Box<dyn FnOnce() + Send> = Box::new(move || actor.live());
                (process, work)
            })
            .collect();
        world.run(work);
        // Children may outlive who started them, but not for ever.
        let mut state = world.state();
        for process in 0..state.processes.len() {
            if state.rng.bool() {
                state.end(process);
            }
        }
        drop(state);
        world.state().faults = Faults { broken, ..Faults::default() };
        if rng.u8(..3) == 0 {
            world.state().fail_power();
        }
        if damaged.is_none() && life > 0 && rng.u8(..4) == 0 {
            damaged = damage(&world, "r0", "r1");
            lock(&truth).corrupted = damaged.is_some();
        }
        if rng.u8(..6) == 0 {
            old_lock(&world, &mut rng);
        }
        look(&world, &truth, damaged.as_deref());
    }
    let (state, truth) = (world.state(), lock(&truth));
    Report {
        violations: truth.violations.clone(),
        calls: state.calls,
        faults: state.faults_put_in,
        power_failures: state.power_failures,
        dispatches: truth.dispatches,
        replays: truth.replays,
        suppressed: truth.suppressed,
        settled: truth.settled,
        damaged: u64::from(damaged.is_some()),
        held: truth.held,
    }
}

fn profile(rng: &mut Rng, broken: Broken) -> Faults {
    let mut one_in = |often: usize| if rng.bool() { rng.usize(often..often * 20) } else { 0 };
    Faults {
        full: one_in(10),
        sync: one_in(10),
        other: one_in(60),
        kill: one_in(30),
        power: one_in(60),
        clock: one_in(10),
        at: None,
        broken,
    }
}

/// A lock of an older tool, without an identity.
fn old_lock(world: &World, rng: &mut Rng) {
    use std::path::PathBuf;
    let mut state = world.state();
    let directory = PathBuf::from("/p/.owed/leases");
    if state.directories.contains(&directory) {
        let mut inode = super::world::Inode::default();
        let age = rng.u64(..1000 * 60 * 60 * 48);
        let written = state.clock_ms.saturating_sub(age);
        inode.write(0, b"4711\n", written);
        state.inodes.push(inode);
        let inode = state.inodes.len() - 1;
        state.names.insert(directory.join("heavy"), inode);
    }
}

/// Looks at every run with a machine that does not fail: reading changes no byte, and opening
/// either gives everything that was acknowledged, or leaves every byte as it is.
fn look(world: &Arc<World>, truth: &Shared, damaged: Option<&str>) {
    let process = world.spawn();
    let store = store(world, process);
    for name in ["r0", "r1"] {
        let run = RunId::new(name).expect("a plain name");
        let before = bytes_of(world, name);
        let read = store.inspect(&run);
        // A damaged acknowledgement looks like one that was torn while it was made: then the
        // reader says that a record is not acknowledged, and the writer takes it in.
        let named = lock(truth).corrupted && read.as_ref().is_ok_and(|read| read.unacknowledged > 0);
        if !named {
            judge(truth, "reading", name, read.map(|snapshot| snapshot.history), damaged);
        }
        if before != bytes_of(world, name) {
            lock(truth).violation("reading changed a byte".to_owned());
        }
        let opened = store.reopen(&run, Options::default());
        let held = opened.is_err();
        let history = opened.map(|run| run.history().clone()).map_err(|failure| match failure {
            Failure::Refused(refusal) => refusal,
            Failure::Persistence(failure) => {
                lock(truth).violation(format!("a machine that does not fail: {failure}"));
                Refusal::Poisoned
            }
        });
        judge(truth, "opening", name, history, damaged);
        if held && before != bytes_of(world, name) {
            lock(truth).violation("a run that is held was changed".to_owned());
        }
    }
    world.state().end(process);
}

fn judge(
    truth: &Shared,
    how: &str,
    run: &str,
    history: Result<owed_gates::ledger::History, Refusal>,
    damaged: Option<&str>,
) {
    let mut truth = lock(truth);
    let before = truth.violations.len();
    match history {
        Ok(history) => truth.holds(run, &history),
        Err(Refusal::Absent) if !truth.records.contains_key(run) => {}
        Err(Refusal::Held(_) | Refusal::Newer { .. }) if truth.corrupted && run == "r0" => {
            truth.held += 1;
        }
        Err(refusal) => truth.violation(format!("{run}: {refusal}")),
    }
    for violation in &mut truth.violations[before..] {
        violation.push_str(&format!(" ({how} {run}, damage: {damaged:?})"));
    }
}

fn bytes_of(world: &World, run: &str) -> Vec<Option<Vec<u8>>> {
    let state = world.state();
    [format!("/p/.owed/ledger/{run}/frames"), format!("/p/.owed/acks/{run}")]
        .iter()
        .map(|path| {
            let inode = state.named(path.as_ref()).ok()?;
            Some(state.inodes[inode].cache.clone())
        })
        .collect()
}

fn store(world: &Arc<World>, process: usize) -> Store {
    let disk = SimDisk { world: Arc::clone(world), process };
    let host = SimHost { world: Arc::clone(world), process };
    Store::on("/p/.owed", Arc::new(disk), Arc::new(host))
}

fn lock(truth: &Shared) -> MutexGuard<'_, Truth> {
    truth.lock().expect("no process of the simulation panics while it has the truth")
}

fn label(text: &str) -> Label {
    Label::new(text).expect("a plain label")
}

/// One process of the simulation: opens a run, and makes calls until it has enough or dies.
struct Actor {
    world: Arc<World>,
    truth: Shared,
    process: usize,
    fence: u64,
    rng: Rng,
}

impl Actor {
    fn live(mut self) {
        let store = store(&self.world, self.process);
        let name = if self.rng.u8(..5) == 0 { "r1" } else { "r0" };
        let id = RunId::new(name).expect("a plain name");
        for _ in 0..self.rng.usize(1..4) {
            let claim = Claim {
                owner: label(&format!("owner {}", self.fence)),
                unit: None,
                thread: label("thread"),
                workspace: label("workspace"),
                resource: label("resource"),
                fence: self.fence,
            };
            let options =
                Options { must_exist: false, lock_wait: Duration::from_millis(self.rng.u64(1..50)) };
            let mut run = match store.open(&id, claim, options) {
                Ok(run) => run,
                Err(failure) => {
                    self.failed(name, &failure);
                    continue;
                }
            };
            self.acknowledged(name, &mut run);
            let _ = run.lose_abandoned().map_err(|failure| self.failed(name, &failure));
            for _ in 0..self.rng.usize(1..6) {
                match self.rng.u8(..10) {
                    0 => self.settle(name, &mut run),
                    1 | 2 => self.hold_the_lease(&store, &mut run),
                    _ => self.call(name, &store, &mut run),
                }
                self.acknowledged(name, &mut run);
                if !self.alive() {
                    return;
                }
            }
        }
    }

    fn alive(&self) -> bool {
        self.world.state().processes[self.process].alive
    }

    /// What a handle has caught up with, it has also made durable or found so.
    fn acknowledged(&mut self, name: &str, run: &mut Run) {
        let Ok(history) = run.catch_up() else { return };
        let records = history.records();
        let mut truth = lock(&self.truth);
        let known = truth.records.entry(name.to_owned()).or_default();
        *known = records.max(*known);
    }

    fn failed(&self, name: &str, failure: &Failure) {
        let mut truth = lock(&self.truth);
        if let Failure::Refused(refusal) = failure {
            let excused = truth.corrupted && name == "r0";
            match refusal {
                Refusal::Held(_) | Refusal::Newer { .. } if !excused => {
                    truth.violation(format!("{name} is held without any damage: {refusal}"));
                }
                Refusal::Suppressed { .. } | Refusal::Unresolved { .. } => truth.suppressed += 1,
                _ => {}
            }
        }
    }

    fn request(&mut self) -> Request {
        let call = CallId::new(format!("c{}", self.rng.u8(..24))).expect("a plain id");
        let command = format!("check {}", self.rng.u8(..5));
        let timeout = match self.rng.u8(..6) {
            0 => Timeout::Explicit(NonZeroU64::MIN),
            _ => Timeout::Omitted,
        };
        Request::new(call, Purpose::Baseline, &command, timeout, str::to_owned).expect("a short command")
    }

    fn call(&mut self, name: &str, store: &Store, run: &mut Run) {
        let request = self.request();
        let id = RunId::new(name).expect("a plain name");
        let wait = Duration::from_millis(self.rng.u64(..10));
        let lease = if self.rng.bool() { store.call_lease(&id, &request.call, wait).ok() } else { None };
        let permit = match run.begin(&request) {
            Ok(Admission::New(permit)) => permit,
            Ok(Admission::Replay(call)) => {
                lock(&self.truth).replayed(name, &call, request.payload_hash);
                return;
            }
            Err(failure) => return self.failed(name, &failure),
        };
        let (call, half) = (request.call.clone(), Phase::Preflight);
        lock(&self.truth).granted(name, &call, request.payload_hash, request.command_hash);
        if self.rng.u8(..10) == 0 {
            lock(&self.truth).attempt(name, &call, half, CallState::NotStarted);
            let answer = run.preflight_not_started(permit, NotStartedReason::Stopped);
            return self.noted(name, &call, half, CallState::NotStarted, answer);
        }
        lock(&self.truth).dispatch(name, &call, half);
        match self.rng.u8(..12) {
            0 => {}
            1 => {
                lock(&self.truth).attempt(name, &call, half, CallState::Unknown);
                let answer = run.lose_preflight(permit, Loss::of(UnknownReason::ResultLost));
                self.noted(name, &call, half, CallState::Unknown, answer);
            }
            _ => {
                let outcome = self.outcome(name, &call, half, 300);
                let answer = run.complete_preflight(permit, outcome);
                if let Some(fresh) = self.noted_with(name, &call, half, CallState::Completed, answer) {
                    self.command(name, run, &call, fresh);
                }
            }
        }
        drop(lease);
    }

    fn command(&mut self, name: &str, run: &mut Run, call: &CallId, fresh: FreshPreflight) {
        let half = Phase::Command;
        if self.rng.u8(..12) == 0 {
            lock(&self.truth).attempt(name, call, half, CallState::NotStarted);
            let answer = run.decline(fresh, NotStartedReason::PolicyRefused);
            return self.noted(name, call, half, CallState::NotStarted, answer);
        }
        let observation =
            Observation { path: label("/checkout"), head: None, fingerprint: label("fingerprint") };
        lock(&self.truth).attempt(name, call, half, CallState::NotStarted);
        let answer = run.intend(fresh, observation);
        let Some(permit) = self.noted_with(name, call, half, CallState::Pending, answer) else { return };
        match self.rng.u8(..14) {
            0 => {}
            1 => {
                let answer = run.not_started(permit, NotStartedReason::PolicyRefused);
                self.noted(name, call, half, CallState::NotStarted, answer);
            }
            2 => {
                lock(&self.truth).dispatch(name, call, half);
                lock(&self.truth).attempt(name, call, half, CallState::Unknown);
                let answer = run.lose_dispatch(permit, Loss::of(UnknownReason::DispatchUncertain));
                self.noted(name, call, half, CallState::Unknown, answer);
            }
            _ => self.start(name, run, call, permit),
        }
    }

    fn start(&mut self, name: &str, run: &mut Run, call: &CallId, permit: CommandPermit) {
        let half = Phase::Command;
        let child = self.world.spawn();
        let identity = self.world.state().processes[child].identity.clone();
        lock(&self.truth).half(name, call, half).child = Some(child);
        let answer = run.start(permit, identity);
        let Some(running) = self.noted_with(name, call, half, CallState::Running, answer) else {
            // It waits to be let go, and is ended instead.
            self.world.state().end(child);
            return;
        };
        lock(&self.truth).dispatch(name, call, half);
        self.finish(name, run, call, running, child);
    }

    fn finish(&mut self, name: &str, run: &mut Run, call: &CallId, running: RunningCommand, child: usize) {
        let half = Phase::Command;
        match self.rng.u8(..10) {
            // This process forgets it while it runs.
            0 => {}
            1 => {
                lock(&self.truth).attempt(name, call, half, CallState::Unknown);
                let answer = run.lose(running, Loss::of(UnknownReason::TimedOut)).map(|_| ());
                self.noted(name, call, half, CallState::Unknown, answer);
            }
            _ => {
                self.world.state().end(child);
                let outcome = self.outcome(name, call, half, 4000);
                let answer = run.complete(running, outcome.clone());
                let saved = self.noted_with(name, call, half, CallState::Completed, answer);
                let exit = saved
                    .and_then(|call| call.command)
                    .and_then(|command| command.completed)
                    .map(|completed| completed.outcome);
                if exit.is_some_and(|exit| exit != outcome) {
                    lock(&self.truth).violation("another outcome than the one given".to_owned());
                }
            }
        }
    }

    /// An outcome as an executor gives it, remembered before it is told.
    fn outcome(&mut self, name: &str, call: &CallId, phase: Phase, most: usize) -> Outcome {
        let code = self.rng.i32(0..1000);
        let mut truth = lock(&self.truth);
        let half = truth.half(name, call, phase);
        half.exits.push(code);
        half.attempted.push(CallState::Completed);
        drop(truth);
        let length = if self.rng.u8(..8) == 0 { self.rng.usize(..most) } else { self.rng.usize(..40) };
        let stdout = Stream::clip(&"\u{1}".repeat(length), length as u64, false, false);
        let stderr = Stream::default();
        Outcome { exit: Exit::Code(code), output: Output { stdout, stderr }, supervisor: None }
    }

    fn settle(&mut self, name: &str, run: &mut Run) {
        let open: Vec<CallId> =
            run.history().unresolved().iter().map(|call| call.request.call.clone()).collect();
        if open.is_empty() {
            return;
        }
        let call = open[self.rng.usize(..open.len())].clone();
        let record = run.history().call(&call).expect("it is one of its calls");
        let (phase, half) = record.unresolved().expect("it is unresolved");
        let exit = half.started.as_ref().filter(|_| self.rng.bool()).map(|started| {
            let process = started.process.clone();
            ExitRecord { process, exit: Exit::Code(0), at_ms: 0 }
        });
        let known = lock(&self.truth).calls.contains_key(&(name.to_owned(), call.clone()));
        if known {
            lock(&self.truth).attempt(name, &call, phase, CallState::Settled);
        }
        match run.settle(&call, exit) {
            Ok(settled) => {
                let child = if known { lock(&self.truth).half(name, &call, settled).child } else { None };
                let runs = child.is_some_and(|child| self.world.state().processes[child].alive);
                let mut truth = lock(&self.truth);
                truth.settled += 1;
                if runs {
                    truth.violation(format!("{call} was settled while it ran"));
                }
                if known {
                    truth.acknowledge(name, &call, settled, CallState::Settled);
                }
            }
            Err(failure) => self.failed(name, &failure),
        }
    }

    /// At most one live process has a lease.
    fn hold_the_lease(&mut self, store: &Store, run: &mut Run) {
        for _ in 0..self.rng.usize(1..4) {
            let wait = Duration::from_millis(self.rng.u64(..30));
            let Ok(lease) = store.leases().acquire("heavy", wait) else { continue };
            let before = lock(&self.truth).holder.replace(self.process);
            let other = before.filter(|other| *other != self.process);
            if other.is_some_and(|other| self.world.state().processes[other].alive) {
                lock(&self.truth).violation("two live processes hold one lease".to_owned());
            }
            if self.rng.bool() {
                let _ = run.catch_up();
            } else {
                let _ = store.leases().holder("heavy");
            }
            let mut truth = lock(&self.truth);
            if truth.holder == Some(self.process) {
                truth.holder = None;
            }
            drop(truth);
            drop(lease);
        }
    }

    fn noted(&self, name: &str, call: &CallId, phase: Phase, state: CallState, answer: Result<(), Failure>) {
        self.noted_with(name, call, phase, state, answer);
    }

    fn noted_with<T>(
        &self,
        name: &str,
        call: &CallId,
        phase: Phase,
        state: CallState,
        answer: Result<T, Failure>,
    ) -> Option<T> {
        match answer {
            Ok(value) => {
                lock(&self.truth).acknowledge(name, call, phase, state);
                Some(value)
            }
            Err(failure) => {
                self.failed(name, &failure);
                None
            }
        }
    }
}
