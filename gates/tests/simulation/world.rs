//! The machine: files with what is cached and what is durable, processes, and the clock.
//!
//! Processes run as threads, but only one at a time: whose turn it is, is drawn from the
//! seed before every call that the ledger makes of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use fastrand::Rng;
use owed_gates::disk::Lock;
use owed_gates::lease::{Host, Liveness, ProcessIdentity};

/// What a device writes at once.
pub(crate) const SECTOR: usize = 512;

/// What goes wrong, each as one in so many calls; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// A write finds the disk full, after some of its bytes.
    pub(crate) full: usize,
    /// A sync fails: what was dirty looks clean, and is on disk or not.
    pub(crate) sync: usize,
    /// Any other call fails.
    pub(crate) other: usize,
    /// The process is killed at the call.
    pub(crate) kill: usize,
    /// The power fails at the call.
    pub(crate) power: usize,
    /// The clock jumps.
    pub(crate) clock: usize,
    /// One fault at exactly the call of this number, counted from the first.
    pub(crate) at: Option<(u64, Fault)>,
    /// Deliberately wrong machine, to see that the invariants notice.
    pub(crate) broken: Broken,
}

/// A fault at a chosen call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The process is killed.
    Kill,
    /// The power fails.
    Power,
    /// The call fails, a sync as syncs do.
    Fail,
}

/// A machine that lies. The ledger cannot hold its word on one, so a run that finds nothing
/// says that the harness is blind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It does not lie.
    #[default]
    Nothing,
    /// Syncs succeed and do nothing.
    SyncLies,
    /// The lock is given to everybody.
    LockLies,
    /// The second place is never written.
    AckLies,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inode {
    /// What a read gives.
    pub(crate) cache: Vec<u8>,
    /// What is on disk.
    pub(crate) durable: Vec<u8>,
    /// Sectors that the next sync writes.
    dirty: BTreeSet<usize>,
    modified_ms: u64,
    /// Who has it locked: open file, process.
    locks: Vec<(u64, usize, Lock)>,
}

/// A process of the machine: one that runs the ledger, or a child of one.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) identity: ProcessIdentity,
    pub(crate) alive: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) rng: Rng,
    pub(crate) faults: Faults,
    pub(crate) inodes: Vec<Inode>,
    /// Names of files, as processes see them and as they are on disk.
    pub(crate) names: BTreeMap<PathBuf, usize>,
    pub(crate) durable_names: BTreeMap<PathBuf, usize>,
    /// Names of directories, likewise.
    pub(crate) directories: BTreeSet<PathBuf>,
    pub(crate) durable_directories: BTreeSet<PathBuf>,
    pub(crate) processes: Vec<Process>,
    boot: u64,
    ticks: u64,
    pub(crate) clock_ms: u64,
    /// Processes that run now, and whose turn it is.
    running: BTreeSet<usize>,
    turn: Option<usize>,
    /// Calls made, faults put in, power failures.
    pub(crate) calls: u64,
    pub(crate) faults_put_in: u64,
    pub(crate) power_failures: u64,
    next_handle: u64,
}

/// The machine, shared by its processes.
#[derive(Debug)]
pub(crate) struct World {
    state: Mutex<State>,
    turned: Condvar,
}

/// The error of every call of a process that was killed.
pub(crate) fn killed() -> io::Error {
    io::Error::other("killed")
}

impl World {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        let state = State {
            rng: Rng::with_seed(seed),
            faults: Faults::default(),
            inodes: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            directories: BTreeSet::from([PathBuf::from("/p")]),
            durable_directories: BTreeSet::from([PathBuf::from("/p")]),
            processes: Vec::new(),
            boot: 1,
            ticks: 100,
            clock_ms: 1_700_000_000_000,
            running: BTreeSet::new(),
            turn: None,
            calls: 0,
            faults_put_in: 0,
            power_failures: 0,
            next_handle: 0,
        };
        Arc::new(Self { state: Mutex::new(state), turned: Condvar::new() })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no process of the simulation panics while it has the machine")
    }

    /// Makes a process. PIDs come from a small pool, so that they are given out again.
    pub(crate) fn spawn(&self) -> usize {
        let mut state = self.state();
        let taken: BTreeSet<u32> =
            state.processes.iter().filter(|process| process.alive).map(|it| it.identity.pid).collect();
        let pid = (10..).find(|pid| !taken.contains(pid)).expect("there are more PIDs than processes");
        state.ticks += 1;
        let identity = ProcessIdentity {
            pid,
            start: Some(state.ticks),
            boot: Some(format!("boot-{}", state.boot)),
            namespace: Some("pid:[1]".to_owned()),
        };
        state.processes.push(Process { identity, alive: true });
        state.processes.len() - 1
    }

    /// Lets the given processes run against each other, each in a thread, until all have
    /// ended.
    pub(crate) fn run(self: &Arc<Self>, work: Vec<(usize, Box<dyn FnOnce() + Send>)>) {
        {
            let mut state = self.state();
            state.running = work.iter().map(|(process, _)| *process).collect();
            state.draw_turn();
        }
        if work.len() == 1 {
            for (process, work) in work {
                work();
                self.ended(process);
            }
            return;
        }
        std::thread::scope(|scope| {
            for (process, work) in work {
                scope.spawn(move || {
                    drop(self.wait_for_turn(process, self.state()));
                    work();
                    self.ended(process);
                });
            }
        });
    }

    fn ended(&self, process: usize) {
        let mut state = self.state();
        state.running.remove(&process);
        state.end(process);
        state.turn = None;
        state.draw_turn();
        self.turned.notify_all();
    }

    /// Gives the turn away and waits until it comes back.
    pub(crate) fn turn(&self, process: usize) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if state.running.len() > 1 {
            state.draw_turn();
            self.turned.notify_all();
        }
        self.wait_for_turn(process, state)
    }

    fn wait_for_turn<'a>(
        &'a self,
        process: usize,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        while state.running.len() > 1 && state.turn != Some(process) {
            state = self.turned.wait(state).expect("no process panics while it has the machine");
        }
        state
    }

    /// The start of every call of the machine: a turn, and what may go wrong at any of them.
    pub(crate) fn enter(&self, process: usize) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.turn(process);
        state.calls += 1;
        if !state.processes[process].alive {
            return Err(killed());
        }
        let faults = state.faults;
        let chosen = faults.at.filter(|(nth, _)| *nth == state.calls).map(|(_, fault)| fault);
        match chosen {
            Some(Fault::Kill) => {
                state.end(process);
                return Err(killed());
            }
            Some(Fault::Power) => {
                state.fail_power();
                return Err(killed());
            }
            Some(Fault::Fail) => return Err(io::Error::from_raw_os_error(5)),
            None => {}
        }
        if state.happens(faults.power) {
            state.fail_power();
            return Err(killed());
        }
        if state.happens(faults.kill) {
            state.end(process);
            return Err(killed());
        }
        if state.happens(faults.clock) {
            state.jump();
        }
        if state.happens(faults.other) {
            return Err(io::Error::from_raw_os_error(5));
        }
        Ok(state)
    }
}

impl State {
    fn draw_turn(&mut self) {
        let nth = if self.running.is_empty() { 0 } else { self.rng.usize(..self.running.len()) };
        self.turn = self.running.iter().nth(nth).copied();
    }

    pub(crate) fn happens(&mut self, one_in: usize) -> bool {
        let happens = one_in > 0 && self.rng.usize(..one_in) == 0;
        self.faults_put_in += u64::from(happens);
        happens
    }

    fn jump(&mut self) {
        let far = self.rng.u64(..1000 * 60 * 60 * 72);
        self.clock_ms = if self.rng.bool() { self.clock_ms + far } else { self.clock_ms.saturating_sub(far) };
    }

    /// Ends a process: its locks are free, what it wrote stays in the cache.
    pub(crate) fn end(&mut self, process: usize) {
        self.processes[process].alive = false;
        for inode in &mut self.inodes {
            inode.locks.retain(|(_, owner, _)| *owner != process);
        }
    }

    /// The power fails: everything ends, and of what was not synced anything may be lost.
    pub(crate) fn fail_power(&mut self) {
        self.power_failures += 1;
        for process in 0..self.processes.len() {
            self.end(process);
        }
        self.boot += 1;
        self.ticks = 100;
        let mut rng = self.rng.fork();
        for inode in &mut self.inodes {
            inode.lose_power(&mut rng);
        }
        let survives = |rng: &mut Rng| rng.bool();
        let directories: BTreeSet<PathBuf> = self
            .directories
            .union(&self.durable_directories)
            .filter(|path| self.durable_directories.contains(*path) || survives(&mut rng))
            .cloned()
            .collect();
        let rooted = |path: &Path| {
            path.ancestors().skip(1).take_while(|it| it.starts_with("/p")).all(|it| directories.contains(it))
        };
        let mut names = BTreeMap::new();
        let all: BTreeSet<&PathBuf> = self.names.keys().chain(self.durable_names.keys()).collect();
        for path in all {
            let (seen, durable) = (self.names.get(path), self.durable_names.get(path));
            let kept = if seen == durable || survives(&mut rng) { seen } else { durable };
            if let Some(inode) = kept.filter(|_| rooted(path)) {
                names.insert(path.clone(), *inode);
            }
        }
        self.directories = directories.iter().filter(|path| rooted(path)).cloned().collect();
        self.durable_directories = self.directories.clone();
        self.durable_names = names.clone();
        self.names = names;
    }

    pub(crate) fn new_handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    pub(crate) fn named(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Inode {
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8], now_ms: u64) {
        let end = offset + bytes.len();
        if self.cache.len() < end {
            self.cache.resize(end, 0);
        }
        self.cache[offset..end].copy_from_slice(bytes);
        self.dirty.extend(offset / SECTOR..end.div_ceil(SECTOR));
        self.modified_ms = now_ms;
    }

    pub(crate) fn resize(&mut self, size: usize, now_ms: u64) {
        let first = self.cache.len().min(size) / SECTOR;
        self.cache.resize(size, 0);
        self.dirty.extend(first..size.div_ceil(SECTOR));
        self.dirty.retain(|sector| sector * SECTOR < size);
        self.modified_ms = now_ms;
    }

    pub(crate) fn modified_ms(&self) -> u64 {
        self.modified_ms
    }

    pub(crate) fn set_modified_ms(&mut self, now_ms: u64) {
        self.modified_ms = now_ms;
    }

    /// Writes back what is dirty. Pages that look clean are not written, whatever is on disk.
    pub(crate) fn sync(&mut self) {
        self.durable.resize(self.cache.len(), 0);
        for sector in std::mem::take(&mut self.dirty) {
            self.copy(sector);
        }
    }

    /// A write-back that fails: some of it is on disk, and all of it looks clean. The cache
    /// keeps what was written, or is read again from the disk.
    pub(crate) fn fail_sync(&mut self, rng: &mut Rng) {
        if rng.bool() {
            self.durable.resize(self.cache.len(), 0);
        }
        for sector in std::mem::take(&mut self.dirty) {
            if rng.u8(..4) == 0 && sector * SECTOR < self.durable.len() {
                self.copy(sector);
            } else if rng.u8(..8) == 0 {
                self.read_again(sector);
            }
        }
    }

    fn copy(&mut self, sector: usize) {
        let (from, to) = (sector * SECTOR, ((sector + 1) * SECTOR).min(self.cache.len()));
        if from < to {
            let to = to.min(self.durable.len());
            self.durable[from..to].copy_from_slice(&self.cache[from..to]);
        }
    }

    fn read_again(&mut self, sector: usize) {
        let (from, to) = (sector * SECTOR, ((sector + 1) * SECTOR).min(self.cache.len()));
        for at in from..to {
            self.cache[at] = self.durable.get(at).copied().unwrap_or(0);
        }
    }

    /// Of what was not synced, each sector and the size may be lost, and one may be torn.
    fn lose_power(&mut self, rng: &mut Rng) {
        let sizes = [self.durable.len(), self.cache.len()];
        let size = match rng.u8(..4) {
            0 => rng.usize(sizes[0].min(sizes[1])..=sizes[0].max(sizes[1])),
            1 => sizes[0],
            _ => sizes[1],
        };
        let mut left = self.durable.clone();
        left.resize(size, 0);
        let all = rng.bool();
        for &sector in &self.dirty {
            let from = sector * SECTOR;
            let mut to = ((sector + 1) * SECTOR).min(self.cache.len()).min(size);
            if !all && rng.u8(..2) == 0 {
                continue;
            }
            if rng.u8(..8) == 0 && from < to {
                to = rng.usize(from..to);
            }
            if from < to {
                left[from..to].copy_from_slice(&self.cache[from..to]);
            }
        }
        self.cache.clone_from(&left);
        self.durable = left;
        self.dirty.clear();
        self.locks.clear();
    }

    pub(crate) fn try_lock(&mut self, handle: u64, process: usize, lock: Lock) -> bool {
        let free = self
            .locks
            .iter()
            .all(|(other, _, taken)| *other == handle || (*taken == Lock::Shared && lock == Lock::Shared));
        if free {
            self.unlock(handle);
            self.locks.push((handle, process, lock));
        }
        free
    }

    pub(crate) fn unlock(&mut self, handle: u64) {
        self.locks.retain(|(other, _, _)| *other != handle);
    }
}

/// The machine as one of its processes sees it.
#[derive(Clone, Debug)]
pub(crate) struct SimHost {
    pub(crate) world: Arc<World>,
    pub(crate) process: usize,
}

impl Host for SimHost {
    fn me(&self) -> ProcessIdentity {
        self.world.state().processes[self.process].identity.clone()
    }

    fn identify(&self, pid: u32) -> Option<ProcessIdentity> {
        let state = self.world.state();
        let mut alive = state.processes.iter().filter(|process| process.alive);
        alive.find(|process| process.identity.pid == pid).map(|process| process.identity.clone())
    }

    fn liveness(&self, asked: &ProcessIdentity) -> Liveness {
        let state = self.world.state();
        let mut alive = state.processes.iter().filter(|process| process.alive);
        if alive.any(|process| process.identity == *asked) { Liveness::Alive } else { Liveness::Gone }
    }

    fn now_ms(&self) -> u64 {
        let mut state = self.world.state();
        state.clock_ms += 1;
        state.clock_ms
    }

    fn pause(&self, time: Duration) {
        let mut state = self.world.turn(self.process);
        state.clock_ms += time.as_millis() as u64;
    }
}
