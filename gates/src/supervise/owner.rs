//! The owner's side: starting a supervisor, giving the word, and waiting for its answer.

use std::ffi::OsString;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::events::{self, Event, Order};
use super::{NotRun, ProcessIdentity, Report, Request, Source, tree};

/// How a supervisor is started: a binary that calls [`super::serve`].
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The binary.
    pub program: PathBuf,
    /// The arguments that make it a supervisor.
    pub arguments: Vec<OsString>,
}

/// Why a run is to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The run as a whole.
    Run,
    /// This call only.
    Call,
}

/// A way to stop a run from another thread or a signal handler. Once stopped it stays so;
/// when both were asked for, the run counts.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    run: Arc<AtomicBool>,
    call: Arc<AtomicBool>,
}

impl Stop {
    /// Stops.
    pub fn stop(&self, reason: StopReason) {
        match reason {
            StopReason::Run => self.run.store(true, Ordering::SeqCst),
            StopReason::Call => self.call.store(true, Ordering::SeqCst),
        }
    }

    /// Whether and why.
    pub fn reason(&self) -> Option<StopReason> {
        if self.run.load(Ordering::SeqCst) {
            Some(StopReason::Run)
        } else {
            self.call.load(Ordering::SeqCst).then_some(StopReason::Call)
        }
    }

    /// From now on `SIGTERM`, `SIGINT` and `SIGHUP` to this process stop the call. The
    /// same signal once more ends this process as it would have without this, which ends
    /// the command as well, but leaves nobody to record it.
    ///
    /// # Errors
    /// When the system does not take the handlers.
    pub fn on_signals(&self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&self.call))?;
            signal_hook::flag::register(signal, Arc::clone(&self.call))?;
        }
        Ok(())
    }
}

/// The command may have run, and nothing is known of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// The supervisor ended without a report.
    SupervisorGone,
    /// It said something that is no event.
    Malformed,
    /// Its report belongs to another operation.
    Foreign,
    /// It did not answer in time, and was killed.
    Silent,
}

impl Lost {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::SupervisorGone => "supervisor-gone",
            Self::Malformed => "malformed-report",
            Self::Foreign => "foreign-report",
            Self::Silent => "supervisor-silent",
        }
    }
}

/// What came of a run.
pub type Ended = Result<Report, Lost>;

/// How long a supervisor may take to be ready.
const READY: Duration = Duration::from_secs(30);

/// How long, after the deadline of the command, its grace and the killing, the report is
/// waited for. The deadline of a process must not cut off its own result.
const MARGIN: Duration = Duration::from_secs(20);

/// How long the end of what a lost supervisor left is waited for.
const ORPHANS: Duration = Duration::from_secs(5);

/// How often a stop is looked for.
const TICK: Duration = Duration::from_millis(10);

/// A supervisor that waits for the word. Dropped, it ends and nothing was started.
#[derive(Debug)]
pub struct Prepared {
    child: Child,
    orders: Option<ChildStdin>,
    events: Receiver<Result<Event, Lost>>,
    identity: ProcessIdentity,
    operation: String,
    digest: String,
    scratch: PathBuf,
    patience: Duration,
}

impl Supervisor {
    /// Starts a supervisor and hands it the request. Nothing of the command runs yet.
    ///
    /// # Errors
    /// When there is no supervisor to be had.
    pub fn prepare(&self, request: &Request) -> Result<Prepared, NotRun> {
        if !cfg!(target_os = "linux") {
            return Err(NotRun::UnsupportedPlatform);
        }
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| NotRun::NoSupervisor)?;
        let mut orders = child.stdin.take();
        let events = receive(child.stdout.take());
        let line = request.encoded() + "\n";
        let written = orders.as_mut().is_some_and(|pipe| pipe.write_all(line.as_bytes()).is_ok());
        let ready = written.then(|| events.recv_timeout(READY));
        let limits = &request.limits;
        let prepared = |identity| Prepared {
            child,
            orders,
            events,
            identity,
            operation: request.operation.clone(),
            digest: request.digest(),
            scratch: request.scratch.clone(),
            patience: limits.deadline.saturating_add(limits.grace).saturating_add(MARGIN),
        };
        match ready {
            Some(Ok(Ok(Event::Ready(identity)))) => Ok(prepared(identity)),
            _ => {
                // Ends it by dropping.
                drop(prepared(ProcessIdentity { pid: 0, start: None, boot: None, namespace: None }));
                Err(NotRun::NoSupervisor)
            }
        }
    }
}

impl Prepared {
    /// The supervisor.
    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// Gives the word and waits for the end. `started` is told once which process runs
    /// the command; what it does must not take long. When the supervisor is lost, what it
    /// left of the tree is ended as far as it can be found ([`super::survivors`]).
    ///
    /// # Errors
    /// When nothing is known of the end: never a success.
    pub fn run(mut self, stop: &Stop, started: &mut dyn FnMut(&ProcessIdentity)) -> Ended {
        let mut leader = None;
        let ended = self.follow(stop, &mut |process| {
            leader = Some(process.clone());
            started(process);
        });
        if ended.is_err() {
            self.end();
            end_orphans(leader.as_ref(), &self.scratch);
        }
        ended
    }

    fn follow(&mut self, stop: &Stop, started: &mut dyn FnMut(&ProcessIdentity)) -> Ended {
        self.order(Order::Go)?;
        let until = Instant::now().checked_add(self.patience);
        let mut is_told = false;
        loop {
            match self.events.recv_timeout(TICK) {
                Ok(Ok(Event::Started(identity))) => started(&identity),
                Ok(Ok(Event::Ended(report))) => {
                    let ours = report.operation == self.operation && report.request == self.digest;
                    return if ours { Ok(*report) } else { Err(Lost::Foreign) };
                }
                Ok(Ok(Event::Ready(_))) => return Err(Lost::Malformed),
                Ok(Err(lost)) => return Err(lost),
                Err(RecvTimeoutError::Disconnected) => return Err(Lost::SupervisorGone),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(reason) = stop.reason().filter(|_| !is_told) {
                is_told = true;
                let source = match reason {
                    StopReason::Run => Source::RunStop,
                    StopReason::Call => Source::CallStop,
                };
                // If it is gone, the events say so.
                let _ = self.order(Order::Stop(source));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Err(Lost::Silent);
            }
        }
    }

    fn order(&mut self, order: Order) -> Result<(), Lost> {
        let pipe = self.orders.as_mut().ok_or(Lost::SupervisorGone)?;
        pipe.write_all(events::encode(&order).as_bytes()).map_err(|_| Lost::SupervisorGone)
    }
}

impl Prepared {
    /// Ends the supervisor, which ends what it runs.
    fn end(&mut self) {
        // Without an owner it ends the tree and itself.
        drop(self.orders.take());
        let until = Instant::now() + MARGIN;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.end();
    }
}

/// Ends what a supervisor left that was killed itself. Only what certainly belongs to the
/// run: its group, its session, and whoever has its temporary directory in the environment.
fn end_orphans(leader: Option<&ProcessIdentity>, scratch: &Path) {
    let procfs = Path::new("/proc");
    let until = Instant::now() + ORPHANS;
    while Instant::now() < until {
        let left = tree::belonging(leader, scratch).unwrap_or_default();
        if left.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for member in &left {
                tree::signal(procfs, *member, signal);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn receive(pipe: Option<std::process::ChildStdout>) -> Receiver<Result<Event, Lost>> {
    let (sender, events) = channel();
    std::thread::spawn(move || {
        let Some(pipe) = pipe else { return };
        let mut lines = BufReader::new(pipe);
        loop {
            let event = match events::line(&mut lines) {
                Ok(None) => return,
                Ok(Some(line)) => serde_json::from_str(&line).map_err(|_| Lost::Malformed),
                Err(_) => Err(Lost::SupervisorGone),
            };
            let is_last = !matches!(event, Ok(Event::Ready(_) | Event::Started(_)));
            if sender.send(event).is_err() || is_last {
                return;
            }
        }
    });
    events
}
