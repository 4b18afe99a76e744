//! The supervising process: it runs one command and reports how it ended.

use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, WaitStatus};

use super::capture::Capture;
use super::events::{self, Event, Order};
use super::memory::Memory;
use super::tree::{self, Member};
use super::{
    Exit, Interruption, NotRun, ProcessIdentity, Report, Request, Source, Stream, Verdict, identity,
};
use crate::lease::{Host as _, System};
use crate::redact::Redactor;

/// How often the command is looked at, at most and at least.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// How long the end of a tree is waited for after it was killed. A process in an
/// uninterruptible wait (a hung disk) does not die before.
const END: Duration = Duration::from_secs(5);

/// Serves one request from standard input and reports on standard output. Never call it
/// in a process that does anything else: it changes the whole process.
pub fn serve() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // There is nobody left to tell; the exit record says what is known.
        Err(_) => ExitCode::FAILURE,
    }
}

/// What others asked for while the command ran.
#[derive(Default)]
struct Asked {
    sources: Mutex<Vec<Source>>,
    signal: Arc<AtomicBool>,
}

impl Asked {
    fn add(&self, source: Source) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).push(source);
    }

    fn seen(&self) -> Vec<Source> {
        let mut seen = self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if self.signal.load(Ordering::Relaxed) {
            seen.push(Source::SupervisorSignal);
        }
        seen
    }
}

fn run() -> io::Result<()> {
    // A session of its own: no terminal, so no Ctrl-C and no prompt reaches the command.
    let _ = rustix::process::setsid();
    let asked = Arc::new(Asked::default());
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&asked.signal))?;
    }
    let identity = identity::own().ok_or(ErrorKind::Unsupported)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    let mut orders = BufReader::new(io::stdin());
    let Some(first) = events::line(&mut orders)? else { return Ok(()) };
    let Ok(request) = serde_json::from_str::<Request>(&first) else {
        return Err(ErrorKind::InvalidData.into());
    };
    say(&Event::Ready(identity.clone()))?;
    let order = events::line(&mut orders)?.and_then(|line| serde_json::from_str(&line).ok());
    let mut report = blank(&request, identity);
    if order == Some(Order::Go) {
        let listener = Arc::clone(&asked);
        std::thread::spawn(move || listen(&mut orders, &listener));
        supervise(&request, &asked, &mut report);
        keep(&request, &report)?;
    }
    // Without `go` nothing happened, and no record claims that something did.
    say(&Event::Ended(Box::new(report)))
}

fn blank(request: &Request, supervisor: ProcessIdentity) -> Report {
    Report {
        operation: request.operation.clone(),
        request: request.digest(),
        supervisor,
        command: None,
        verdict: Verdict::NotRun { cause: NotRun::OwnerGone },
        status: None,
        ended_ms: 0,
        stdout: Stream::default(),
        stderr: Stream::default(),
        duration_ms: 0,
        peak_tree_bytes: None,
        stragglers: 0,
        tree_ended: true,
        scratch_removed: true,
    }
}

fn say(event: &Event) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(events::encode(event).as_bytes())?;
    out.flush()
}

/// Reads orders until the owner is gone.
fn listen(orders: &mut impl io::BufRead, asked: &Asked) {
    while let Ok(Some(line)) = events::line(orders) {
        match serde_json::from_str(&line) {
            Ok(Order::Stop(source)) => asked.add(source),
            Ok(Order::Go) => {}
            // An owner that cannot be understood cannot be obeyed either.
            Err(_) => break,
        }
    }
    asked.add(Source::OwnerGone);
}

/// Makes the exit record durable: it is there whole, or not at all.
fn keep(request: &Request, report: &Report) -> io::Result<()> {
    let Some(path) = &request.record else { return Ok(()) };
    let dir = path.parent().ok_or(ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(dir)?;
    let draft = path.with_extension("draft");
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(events::encode(report).as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    std::fs::File::open(dir)?.sync_all()
}

fn supervise(request: &Request, asked: &Asked, report: &mut Report) {
    if let Err(cause) = scratch(&request.scratch) {
        report.verdict = Verdict::NotRun { cause };
        return;
    }
    match spawn(request) {
        Ok(child) => {
            let watch = Watch::new(request, asked, child);
            report.command = identity::of_child(watch.pid);
            if let Some(identity) = &report.command {
                // That the owner is gone is seen by the listener.
                let _ = say(&Event::Started(identity.clone()));
            }
            watch.run(report);
        }
        Err(cause) => {
            report.verdict = Verdict::NotRun { cause };
            report.ended_ms = System.now_ms();
        }
    }
    report.scratch_removed = remove(&request.scratch);
}

fn scratch(path: &Path) -> Result<(), NotRun> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path).map_err(|_| NotRun::NoScratch)
}

/// Removes the directory, also where the command took the right to do so away.
fn remove(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    if std::fs::remove_dir_all(path).is_ok() {
        return true;
    }
    let mut dirs = vec![path.to_owned()];
    while let Some(dir) = dirs.pop() {
        // Errors show when the removal is tried again.
        let _ = std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700));
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push(entry.path());
            }
        }
    }
    std::fs::remove_dir_all(path).is_ok() || std::fs::symlink_metadata(path).is_err()
}

fn spawn(request: &Request) -> Result<Child, NotRun> {
    if !std::fs::metadata(&request.cwd).is_ok_and(|meta| meta.is_dir()) {
        return Err(NotRun::NoDirectory);
    }
    let mut command = Command::new(&request.program);
    command
        .args(&request.arguments)
        .current_dir(&request.cwd)
        .env_clear()
        .envs(request.environment.iter().map(|(name, value)| (name, value)))
        .env("TMPDIR", &request.scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound if is_there(request) => NotRun::NoInterpreter,
        ErrorKind::NotFound => NotRun::ProgramMissing,
        ErrorKind::PermissionDenied => NotRun::NotExecutable,
        // `ENOEXEC`: neither a program nor a script that names one.
        _ if error.raw_os_error() == Some(8) => NotRun::NoInterpreter,
        _ => NotRun::SpawnRefused,
    })
}

/// Whether the program is a path to a file that is there.
fn is_there(request: &Request) -> bool {
    let program = Path::new(&request.program);
    program.components().count() > 1 && std::fs::metadata(request.cwd.join(program)).is_ok()
}

/// A command while it runs.
struct Watch<'a> {
    request: &'a Request,
    asked: &'a Asked,
    pid: u32,
    streams: [Capture; 2],
    begin: Instant,
    next_sample: Instant,
    peak: Option<u64>,
    /// How the command itself ended.
    status: Option<WaitStatus>,
    /// Everything that spoke for its end before it was gone.
    sources: Vec<Source>,
}

impl<'a> Watch<'a> {
    fn new(request: &'a Request, asked: &'a Asked, mut child: Child) -> Self {
        let begin = Instant::now();
        let streams = [
            Capture::start(child.stdout.take().map(Pipe::Out)),
            Capture::start(child.stderr.take().map(Pipe::Err)),
        ];
        Self {
            request,
            asked,
            pid: child.id(),
            streams,
            begin,
            next_sample: begin,
            peak: None,
            status: None,
            sources: Vec::new(),
        }
    }

    fn run(mut self, report: &mut Report) {
        let mut pause = PAUSES.0;
        loop {
            self.reap();
            if self.status.is_some() {
                break;
            }
            self.observe();
            if !self.sources.is_empty() {
                self.interrupt();
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
        report.duration_ms = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (stragglers, ended) = self.end_tree();
        report.stragglers = if self.sources.is_empty() { stragglers } else { 0 };
        report.tree_ended = ended;
        report.peak_tree_bytes = self.peak;
        report.verdict = self.verdict();
        report.status = self.status.and_then(|status| {
            let code = status.exit_status().map(crate::ledger::Exit::Code);
            code.or_else(|| status.terminating_signal().map(crate::ledger::Exit::Signal))
        });
        report.ended_ms = System.now_ms();
        let redactor = self.request.keep.redact.then(|| Redactor::knowing(&self.request.environment));
        let chars = self.request.keep.chars;
        let [stdout, stderr] = self.streams.map(|stream| stream.finish().stream(chars, redactor.as_ref()));
        (report.stdout, report.stderr) = (stdout, stderr);
    }

    fn verdict(&self) -> Verdict {
        if let Some(cause) = Interruption::of(self.sources.clone()) {
            return Verdict::Interrupted { cause };
        }
        let outside = Verdict::Interrupted { cause: Interruption::By { source: Source::Outside } };
        // Without a status (somebody else waited for it) nothing is known of its end.
        let Some(status) = self.status else { return outside };
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Verdict::Exit { exit: Exit::Code(code) },
            (None, Some(signal)) if is_fault(signal) => Verdict::Exit { exit: Exit::Fault(signal) },
            _ => outside,
        }
    }

    /// Waits for whatever has ended, the command and what became ours of its tree. Gives
    /// whether nothing is left.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if u32::try_from(pid.as_raw_nonzero().get()).ok() == Some(self.pid) {
                        self.status = Some(status);
                    }
                }
                Ok(None) => return false,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    /// Collects what speaks for ending the command.
    fn observe(&mut self) {
        self.sources.extend(self.asked.seen());
        if self.begin.elapsed() >= self.request.limits.deadline {
            self.sources.push(Source::Deadline);
        }
        let now = Instant::now();
        if now >= self.next_sample {
            let memory = self.sample();
            self.sources.extend(memory);
            // On a host with very many processes looking must not become the work.
            self.next_sample = now + self.request.limits.sample.max(now.elapsed() * 20);
        }
    }

    /// One look at the memory of the tree and the host.
    fn sample(&mut self) -> Option<Source> {
        let procfs = &self.request.procfs;
        let Some(members) = tree::below(procfs, std::process::id()) else { return Some(Source::NoTelemetry) };
        // The command was not waited for yet, so it must be seen.
        if !members.iter().any(|member| member.pid == self.pid) {
            return Some(Source::NoTelemetry);
        }
        let held: u64 = members.iter().filter_map(|member| tree::resident(procfs, member.pid)).sum();
        self.peak = self.peak.max(Some(held));
        let Some(memory) = Memory::now(procfs) else { return Some(Source::NoTelemetry) };
        let limits = &self.request.limits;
        if held > limits.tree_memory {
            Some(Source::TreeMemory)
        } else if memory.available < limits.host_reserve {
            Some(Source::HostMemory)
        } else {
            None
        }
    }

    /// Asks the tree to end and gives it the grace period, which memory does not allow.
    fn interrupt(&mut self) {
        let urgent = [Source::TreeMemory, Source::HostMemory];
        if self.sources.iter().any(|source| urgent.contains(source)) {
            return;
        }
        for member in self.members() {
            tree::signal(&self.request.procfs, member, Signal::TERM);
        }
        let until = Instant::now() + self.request.limits.grace;
        while self.status.is_none() && Instant::now() < until {
            std::thread::sleep(PAUSES.0 * 4);
            self.reap();
            // What comes now makes it uncertain who ended it.
            self.sources.extend(self.asked.seen());
        }
    }

    fn members(&self) -> Vec<Member> {
        // Where /proc cannot be read, the group is what is known.
        tree::below(&self.request.procfs, std::process::id())
            .or_else(|| tree::below(Path::new("/proc"), std::process::id()))
            .unwrap_or_default()
    }

    /// Kills what is left, until the kernel says that nothing is. Gives how many
    /// processes there were, and whether the end was seen.
    fn end_tree(&mut self) -> (u32, bool) {
        let mut killed = std::collections::BTreeSet::new();
        let until = Instant::now() + END;
        loop {
            if self.reap() {
                return (u32::try_from(killed.len()).unwrap_or(u32::MAX), true);
            }
            let alive: Vec<Member> = self.members().into_iter().filter(|member| !member.is_zombie).collect();
            // First everybody is stopped, so that nobody starts another meanwhile.
            for signal in [Signal::STOP, Signal::KILL] {
                for member in &alive {
                    tree::signal(&self.request.procfs, *member, signal);
                }
            }
            killed.extend(alive.iter().filter(|member| member.pid != self.pid).map(|member| member.pid));
            if let Some(group) = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw)
                && self.status.is_none()
            {
                // It was not waited for, so its number still names its group.
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
            if Instant::now() >= until {
                return (u32::try_from(killed.len()).unwrap_or(u32::MAX), false);
            }
            std::thread::sleep(PAUSES.0);
        }
    }
}

/// Signals that a program's own fault raises. Any other came from somebody.
fn is_fault(signal: i32) -> bool {
    [
        Signal::SEGV,
        Signal::ABORT,
        Signal::BUS,
        Signal::FPE,
        Signal::ILL,
        Signal::SYS,
        Signal::TRAP,
        Signal::PIPE,
        Signal::XCPU,
        Signal::XFSZ,
    ]
    .iter()
    .any(|fault| fault.as_raw() == signal)
}

/// Either pipe of a command.
enum Pipe {
    Out(std::process::ChildStdout),
    Err(std::process::ChildStderr),
}

impl io::Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Out(pipe) => pipe.read(buffer),
            Self::Err(pipe) => pipe.read(buffer),
        }
    }
}
