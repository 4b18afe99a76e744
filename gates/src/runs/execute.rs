//! One command of a runner under supervision, and what its report says.
//!
//! A run has a directory of its own below `.owed/runs/`: reporters, the report, Python's
//! byte code. An empty list of tests is never handed to a runner, which would run them all.
#![expect(clippy::disallowed_methods, reason = "this module writes into the directories of runs")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use owed_engine::outcome::{Ended, FileOutcome, judge};
use owed_engine::path;
use owed_engine::project::Project;
use owed_engine::runner::{Invocation, Reported, Reporting};

use super::environment::Environment;
use super::observed::{self, Loaded};
use super::toolchain::{Toolchain, Unavailable};
use crate::home;
use crate::supervise::{Exit, Interruption, Keep, Limits, Request, Stop, Supervisor, Verdict};

/// Tests of one batch; more run in the next one (requirement row C11).
const BATCH: usize = 1_000;

/// Characters of output that are kept of each stream.
const OUTPUT: usize = 400_000;

/// How commands are run.
#[derive(Debug)]
pub struct Runs<'a> {
    /// The project's root, absolute and without links.
    pub root: &'a Path,
    /// What children see.
    pub environment: &'a Environment,
    /// How a supervisor is started.
    pub supervisor: &'a Supervisor,
    /// How long one command may take.
    pub timeout: Duration,
    /// How many workers a runner may use.
    pub workers: Option<usize>,
    /// Resident bytes that what is started may hold.
    pub memory: u64,
    /// Bytes that must stay available on the host.
    pub reserve: u64,
    /// A person's words for the runner.
    pub arguments: &'a [String],
    /// A way to stop.
    pub stop: &'a Stop,
}

/// What one command came to.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Number of the suite.
    pub suite: usize,
    /// The command as a person would give it.
    pub invocation: Invocation,
    /// Its files, judged.
    pub files: Vec<FileOutcome>,
    /// What the test files loaded, by path, where the runner can tell.
    pub loaded: BTreeMap<String, Loaded>,
    /// How the process ended, in words.
    pub ended: String,
    /// Milliseconds from start to end.
    pub ms: u64,
    /// What it printed, bounded and without secrets.
    pub output: String,
}

/// Why nothing could be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRun {
    /// A program is missing.
    Unavailable(Unavailable),
    /// The directory of the run could not be made.
    NoDirectory(String),
    /// This runner writes no report.
    NoReport(&'static str),
}

/// The commands that run `tests` (numbers in [`Project::tests`], not empty) of one suite, with
/// the tests of each.
pub fn commands(project: &Project<'_>, suite: usize, tests: &[usize]) -> Vec<(Invocation, Vec<String>)> {
    let of = &project.suites[suite];
    let runner = project.plugins.runners[of.runner];
    let mut paths: Vec<&str> = tests.iter().map(|&test| project.test_path(project.tests[test])).collect();
    paths.sort_unstable();
    paths.dedup();
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let mut commands = Vec::new();
    for batch in paths.chunks(BATCH) {
        let mut together = runner.command(&of.project, batch);
        if together.len() == 1 {
            commands.extend(together.pop().map(|one| (one, owned(batch))));
            continue;
        }
        // Several commands do not say which test is whose: one for each test does.
        for path in batch {
            let alone = runner.command(&of.project, &[path]);
            commands.extend(alone.into_iter().map(|one| (one, owned(&[path]))));
        }
    }
    commands
}

/// Runs one command for `files`.
///
/// # Errors
/// When it was not started.
pub fn execute(
    project: &Project<'_>,
    suite: usize,
    (invocation, files): (Invocation, Vec<String>),
    runs: &Runs<'_>,
    number: usize,
) -> Result<Executed, NoRun> {
    let of = &project.suites[suite];
    let runner = project.plugins.runners[of.runner];
    let dir = directory(runs.root, number).map_err(|error| NoRun::NoDirectory(error.to_string()))?;
    let place = dir.to_string_lossy();
    let run = Reporting { dir: &place, workers: runs.workers, arguments: runs.arguments };
    let reported = runner.reported(invocation.clone(), &run);
    let reported = reported.ok_or(NoRun::NoReport(of.runner_name));
    let result = reported
        .and_then(|reported| in_directory(&dir, invocation, reported, files, runs, (suite, of.runner_name)));
    let _ = fs::remove_dir_all(&dir);
    result
}

fn in_directory(
    dir: &Path,
    invocation: Invocation,
    with_report: Reported,
    files: Vec<String>,
    runs: &Runs<'_>,
    (suite, runner): (usize, &'static str),
) -> Result<Executed, NoRun> {
    for (name, text) in &with_report.files {
        fs::write(dir.join(name), text).map_err(|error| NoRun::NoDirectory(error.to_string()))?;
    }
    let toolchain = Toolchain::new(runs.root, runs.environment);
    let argv = &with_report.invocation.argv;
    let (program, words) =
        toolchain.program(&with_report.invocation.cwd, argv).map_err(NoRun::Unavailable)?;
    let cwd = runs.root.join(&with_report.invocation.cwd);
    let mut request = Request::new(format!("run {runner}"), program.path, cwd, dir.join("tmp"));
    request.arguments = (program.before.iter().chain(&argv[words..])).map(OsString::from).collect();
    let mut environment = runs.environment.clone();
    if matches!(runner, "pytest" | "unittest") {
        // Byte code is found by time and size; a folder of this run holds none of others.
        environment = environment.with("PYTHONPYCACHEPREFIX", &dir.join("pycache").to_string_lossy());
    }
    request.environment = environment.pairs().map(|(n, v)| (n.into(), v.into())).collect();
    request.limits = Limits {
        deadline: runs.timeout,
        tree_memory: runs.memory,
        host_reserve: runs.reserve,
        ..Limits::default()
    };
    request.keep = Keep { chars: OUTPUT, redact: true };
    let ended = match runs.supervisor.prepare(&request) {
        Ok(prepared) => prepared.run(runs.stop, &mut |_| {}),
        Err(why) => {
            return Err(NoRun::Unavailable(Unavailable {
                what: format!("{runner} was not started: {}", why.word()),
                remedy: why.remedy().to_owned(),
            }));
        }
    };
    let (how, words, output, ms) = match &ended {
        Ok(report) => {
            let (how, words) = said(&report.verdict);
            (how, words, format!("{}{}", report.stdout.text, report.stderr.text), report.duration_ms)
        }
        Err(lost) => (Ended::Interrupted, lost.word().to_owned(), String::new(), 0),
    };
    let report = fs::read(dir.join(with_report.report)).ok();
    let relative = |path: &str| project_path(runs.root, path);
    let files = judge(&files, report.as_deref(), how, &relative);
    let loaded = observed::read(dir, &relative);
    Ok(Executed { suite, invocation, files, loaded, ended: words, ms, output })
}

fn said(verdict: &Verdict) -> (Ended, String) {
    match verdict {
        Verdict::Exit { exit: Exit::Code(code) } => (Ended::Exit(*code), format!("exit {code}")),
        Verdict::Exit { exit: Exit::Fault(signal) } => {
            (Ended::Exit(128 + signal), format!("signal {signal}"))
        }
        Verdict::Interrupted { cause } => {
            let sources = match cause {
                Interruption::By { source } => std::slice::from_ref(source),
                Interruption::Ambiguous { sources } => sources,
            };
            let words: Vec<&str> = sources.iter().map(|source| source.word()).collect();
            (Ended::Interrupted, format!("interrupted: {}", words.join(" or ")))
        }
        Verdict::NotRun { cause } => (Ended::Interrupted, format!("not run: {}", cause.word())),
    }
}

/// A path of a report as a project-relative one: links of the way to the root aside.
fn project_path(root: &Path, path: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let inside = Path::new(path).strip_prefix(root).ok().map(PathBuf::from).or_else(|| {
        let real = fs::canonicalize(path).ok()?;
        real.strip_prefix(root).ok().map(PathBuf::from)
    })?;
    path::join("", inside.to_str()?)
}

/// A directory for one command, new and empty.
fn directory(root: &Path, number: usize) -> io::Result<PathBuf> {
    let dir = home::own(root, "runs")?.join(format!("{}-{number}", std::process::id()));
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir(&dir)?;
    fs::canonicalize(dir)
}
