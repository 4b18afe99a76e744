//! Running one phase of a call under a supervisor, and what is left on the disk of it.
//!
//! ```text
//! .owed/exec/RUN/KEY.dispatch   which request was let go, and its temporary directory;
//!                               durable before the word is given
//! .owed/exec/RUN/KEY.started    which process runs it; a help for `settle`, not needed
//! .owed/exec/RUN/KEY.exit       the supervisor's exit record, durable at the end
//! ```
//!
//! They are gone once the outcome is in the ledger. Until then they are what a lost reply
//! is recovered from, and what `settle` looks at. They are bound to the request by its
//! digest: a record of another request is not believed.
#![expect(clippy::disallowed_methods, reason = "the files of a phase that is not resolved")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::session::Allowance;
use crate::lease::{Host as _, ProcessIdentity, System};
use crate::ledger::{
    AbortSource, CallId, Digest, ExitRecord, InfraReason, Loss, Outcome, Output, RunId, Stream, UnknownReason,
};
use crate::state::Phase;
use crate::supervise::{
    Ended, Interruption, Keep, Limits, Lost, NotRun, Prepared, RESERVE, Report, Request, Source, Supervisor,
    Verdict, Weight, survivors,
};

/// What runs commands: a supervisor, and an observer of checkouts that it runs as well.
#[derive(Clone, Debug)]
pub struct Executor {
    /// How a supervisor is started.
    pub supervisor: Supervisor,
    /// A program that prints the observation of the directory given as its last argument
    /// ([`super::print_observation`]).
    pub observer: Supervisor,
    /// The environment of commands, exactly.
    pub environment: Vec<(OsString, OsString)>,
    /// Where temporary directories of commands are made.
    pub scratch: PathBuf,
    /// What a command's tree may hold in memory.
    pub tree_memory: u64,
    /// What must stay free on the host.
    pub host_reserve: u64,
    /// What must be free on the host, the reserve not counted, before a command starts.
    pub admission: u64,
}

impl Executor {
    /// One with the limits of heavy work.
    #[must_use]
    pub fn new(
        supervisor: Supervisor,
        observer: Supervisor,
        environment: Vec<(OsString, OsString)>,
        scratch: PathBuf,
    ) -> Self {
        Self {
            supervisor,
            observer,
            environment,
            scratch,
            tree_memory: Weight::Heavy.tree_memory(),
            host_reserve: RESERVE,
            admission: Weight::Heavy.admission(),
        }
    }
}

/// What is executed in a phase.
pub(super) struct Job<'a> {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) checkout: &'a Path,
    pub(super) allowance: Allowance,
    pub(super) keep: Keep,
}

/// The files of one phase of one call.
#[derive(Clone, Debug)]
pub(super) struct Place {
    directory: PathBuf,
    key: String,
}

/// What was let go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dispatched {
    operation: String,
    request: String,
    pub(super) scratch: PathBuf,
    pub(super) supervisor: ProcessIdentity,
}

impl Place {
    pub(super) fn of(state: &Path, run: &RunId, call: &CallId, phase: Phase) -> Self {
        let parts = [run.as_str(), call.as_str(), phase.word()].map(str::as_bytes);
        let key = Digest::of("owed check 1: phase", &parts).hex();
        Self { directory: state.join("exec").join(run.as_str()), key }
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.directory.join(format!("{}.{kind}", &self.key[..32]))
    }

    /// A supervisor that waits for the word, with everything durable that is needed to
    /// find out later what became of it.
    pub(super) fn prepare(&self, executor: &Executor, job: Job<'_>) -> Result<Prepared, Unprepared> {
        let scratch = executor.scratch.join(format!("owed-{}", &self.mark()[..16]));
        let mut request = Request::new(&self.key, job.program, job.checkout.to_owned(), scratch);
        request.arguments = job.arguments;
        request.environment.clone_from(&executor.environment);
        request.limits = Limits {
            deadline: job.allowance.time,
            tree_memory: executor.tree_memory,
            host_reserve: executor.host_reserve,
            ..Limits::default()
        };
        request.keep = job.keep;
        request.record = Some(self.file("exit"));
        let prepared = executor.supervisor.prepare(&request).map_err(Unprepared::NotRun)?;
        let dispatched = Dispatched {
            operation: request.operation.clone(),
            request: request.digest(),
            scratch: request.scratch,
            supervisor: prepared.identity().clone(),
        };
        self.write("dispatch", &dispatched).map_err(|error| Unprepared::Disk(error.kind()))?;
        Ok(prepared)
    }

    /// A name that no other run of a process has, here or for another project.
    fn mark(&self) -> String {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let count = RUNS.fetch_add(1, Ordering::Relaxed);
        let me = serde_json::to_vec(&System.me()).unwrap_or_default();
        let parts: [&[u8]; 3] = [self.key.as_bytes(), &me, &count.to_le_bytes()];
        Digest::of("owed check 1: scratch", &parts).hex()
    }

    /// Notes which process runs it. It only helps: what is not there is not needed.
    pub(super) fn started(&self, process: &ProcessIdentity) {
        let text = serde_json::to_string(process).unwrap_or_default();
        drop(fs::write(self.file("started"), text));
    }

    fn write(&self, kind: &str, value: &impl Serialize) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let (path, draft) = (self.file(kind), self.file("draft"));
        let mut file = fs::File::create(&draft)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        fs::File::open(&self.directory)?.sync_all()
    }

    fn read<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        serde_json::from_str(&fs::read_to_string(self.file(kind)).ok()?).ok()
    }

    /// What was let go; `None` when nothing was, or when it cannot be read.
    pub(super) fn dispatched(&self) -> Option<Dispatched> {
        self.read::<Dispatched>("dispatch").filter(|dispatched| dispatched.operation == self.key)
    }

    /// The exit record, if it is of the very request that was let go.
    pub(super) fn report(&self) -> Option<Report> {
        let dispatched = self.dispatched()?;
        let report = Report::load(&self.file("exit"), &self.key, &dispatched.request).ok()?;
        (report.supervisor == dispatched.supervisor).then_some(report)
    }

    /// Processes of the phase that still run, although its supervisor is gone; `None`
    /// when that cannot be told.
    pub(super) fn survivors(&self) -> Option<Vec<u32>> {
        let dispatched = self.dispatched()?;
        let report = self.report();
        let leader = report.and_then(|report| report.command).or_else(|| self.read("started"));
        survivors(leader.as_ref(), &dispatched.scratch)
    }

    /// Forgets the phase: its outcome is in the ledger.
    pub(super) fn forget(&self) {
        if let Some(dispatched) = self.dispatched() {
            // The supervisor has removed it, unless it was killed.
            drop(fs::remove_dir_all(dispatched.scratch));
        }
        for kind in ["dispatch", "started", "exit", "draft"] {
            drop(fs::remove_file(self.file(kind)));
        }
    }
}

/// Why nothing was prepared.
pub(super) enum Unprepared {
    /// There is no supervisor.
    NotRun(NotRun),
    /// What has to be durable is not.
    Disk(ErrorKind),
}

/// What a report says in the words of the ledger.
pub(super) enum Seen {
    Outcome(Outcome),
    Loss(Loss),
    NotSpawned(NotRun),
}

/// Reads an end. Only types decide: no output is looked at.
pub(super) fn judge(ended: Ended, phase: Phase, is_clipped: bool) -> Seen {
    let report = match ended {
        Ok(report) => report,
        Err(lost) => return Seen::Loss(lost_reply(lost)),
    };
    let output = output(&report, phase);
    let supervisor = exit_record(&report);
    let loss = |reason, abort, infra| {
        Seen::Loss(Loss { reason, abort, infra, output: output.clone(), supervisor: supervisor.clone() })
    };
    match &report.verdict {
        Verdict::NotRun { cause } => Seen::NotSpawned(*cause),
        // What is left of its tree may still change the checkout.
        _ if !report.tree_ended => {
            loss(UnknownReason::Interrupted, AbortSource::Unobserved, Some(InfraReason::Kill))
        }
        Verdict::Exit { .. } => match report.status {
            Some(exit) => {
                Seen::Outcome(Outcome { exit, output: output.clone(), supervisor: supervisor.clone() })
            }
            None => loss(UnknownReason::ResultMalformed, AbortSource::Unobserved, Some(InfraReason::Wait)),
        },
        Verdict::Interrupted { cause: Interruption::Ambiguous { .. } } => {
            loss(UnknownReason::Interrupted, AbortSource::Ambiguous, None)
        }
        Verdict::Interrupted { cause: Interruption::By { source } } => match source {
            Source::Deadline if is_clipped => loss(UnknownReason::TimedOut, AbortSource::RunDeadline, None),
            Source::Deadline => loss(UnknownReason::TimedOut, AbortSource::ProcessDeadline, None),
            Source::RunStop => loss(UnknownReason::Interrupted, AbortSource::RunSignal, None),
            Source::CallStop => loss(UnknownReason::Interrupted, AbortSource::CallSignal, None),
            Source::OwnerGone => loss(UnknownReason::OwnerLost, AbortSource::Unobserved, None),
            Source::SupervisorSignal | Source::Outside => {
                loss(UnknownReason::Interrupted, AbortSource::Unobserved, None)
            }
            Source::TreeMemory | Source::HostMemory => {
                loss(UnknownReason::Memory, AbortSource::Unobserved, None)
            }
            Source::NoTelemetry => {
                loss(UnknownReason::Memory, AbortSource::Unobserved, Some(InfraReason::Telemetry))
            }
        },
    }
}

fn lost_reply(lost: Lost) -> Loss {
    Loss::of(match lost {
        Lost::SupervisorGone | Lost::Silent => UnknownReason::ResultLost,
        Lost::Malformed | Lost::Foreign => UnknownReason::ResultMalformed,
    })
}

/// The supervisor's record in the ledger's words, if it saw the end. The process is the
/// supervisor's: it is what the ledger knows since before the command was let go.
pub(super) fn exit_record(report: &Report) -> Option<ExitRecord> {
    let exit = report.status.filter(|_| report.tree_ended)?;
    Some(ExitRecord { process: report.supervisor.clone(), exit, at_ms: report.ended_ms })
}

fn output(report: &Report, phase: Phase) -> Output {
    let stream = |stream: &crate::supervise::Stream| match phase {
        Phase::Preflight => {
            Stream::clip_preflight(&stream.text, stream.bytes, stream.truncated, stream.lossy)
        }
        Phase::Command => Stream::clip(&stream.text, stream.bytes, stream.truncated, stream.lossy),
    };
    Output { stdout: stream(&report.stdout), stderr: stream(&report.stderr) }
}
