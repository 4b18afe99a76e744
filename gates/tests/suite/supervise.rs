//! Supervised processes as they behave: real shells, real signals, real memory.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use owed_gates::lease::{Host as _, Liveness, System};
use owed_gates::supervise::{
    ADAPTER_HEAP, Exit, GIB, Interruption, Lost, Memory, NoRecord, NotRun, RESERVE, Report, Request, Scope,
    Shortfall, Source, Standing, Stop, StopReason, Supervisor, Verdict, Weight, discharges, survivors,
    workers, workers_now,
};

/// The supervisor of this crate.
pub(crate) fn supervisor() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_owed-supervisor").into(), arguments: Vec::new() }
}

/// A place for runs.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A shell script with an ordinary environment and limits that this test machine,
    /// however busy, does not meet.
    fn sh(&self, script: &str) -> Request {
        let mut request = Request::new("op", "/bin/sh", self.dir.path().to_owned(), self.path("scratch"));
        request.arguments = vec!["-c".into(), script.into()];
        request.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        request.limits.deadline = Duration::from_secs(60);
        request.limits.host_reserve = 0;
        request.record = Some(self.path("exit.json"));
        request
    }

    fn run(&self, request: &Request) -> Report {
        run(request, &Stop::default()).unwrap()
    }

    fn wrote(&self, name: &str) -> String {
        let file = self.path(name);
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match std::fs::read_to_string(&file) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => assert!(Instant::now() < until, "{name} was not written"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn run(request: &Request, stop: &Stop) -> Result<Report, Lost> {
    supervisor().prepare(request).unwrap().run(stop, &mut |_| {})
}

fn code(code: i32) -> Verdict {
    Verdict::Exit { exit: Exit::Code(code) }
}

fn interrupted(source: Source) -> Verdict {
    Verdict::Interrupted { cause: Interruption::By { source } }
}

/// Whether the process of this number runs (a zombie does not).
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn a_command_gives_its_code_and_its_output() {
    let place = Place::new();
    let report = place.run(&place.sh("echo out; echo err >&2; exit 3"));
    assert_eq!(report.verdict, code(3));
    assert_eq!((report.stdout.text.as_str(), report.stderr.text.as_str()), ("out\n", "err\n"));
    assert!(report.tree_ended && report.scratch_removed && !report.stdout.truncated && !report.stdout.lossy);
    assert_eq!(report.stragglers, 0);
}

#[test]
fn d1_a_childs_own_75_is_a_verdict_and_partial_output_is_none() {
    let place = Place::new();
    let report = place.run(&place.sh("exit 75"));
    assert_eq!(report.verdict, code(75));
    assert_eq!(Standing::of(&Ok(report)).exit_code(), 1, "its own 75 is a failure, not our deferral");
    let mut request = place.sh("echo 3 passed; sleep 60");
    request.limits.deadline = Duration::from_millis(300);
    let report = place.run(&request);
    assert_eq!(report.stdout.text, "3 passed\n");
    assert_eq!(report.verdict, interrupted(Source::Deadline));
    assert_eq!(Standing::of(&Ok(report)).exit_code(), 75, "what it printed makes no verdict");
}

#[test]
fn d2_the_record_beside_a_run_says_not_run_interrupted_or_exit_and_its_absence_fails_the_gate() {
    let place = Place::new();
    let request = place.sh("exit 0");
    let file = place.path("exit.json");
    let load = |request: &Request| Report::load(&file, "op", &request.digest());
    let missing = Standing::of(&load(&request));
    assert_eq!(missing, Standing::NoRecord(NoRecord::Missing));
    assert_eq!((missing.exit_code(), missing.reuse_denied_reason()), (1, Some("record-missing")));

    place.run(&request);
    let passed = Standing::of(&load(&request));
    assert_eq!((passed, passed.exit_code(), passed.reuse_denied_reason()), (Standing::Passed, 0, None));

    // The record of one request is none of another's.
    let mut other = request.clone();
    other.limits.deadline += Duration::from_secs(1);
    assert_eq!(load(&other), Err(NoRecord::Foreign));
    assert_eq!(Report::load(&file, "other", &request.digest()), Err(NoRecord::Foreign));

    let mut absent = place.sh("");
    absent.program = "no-such-program-here".into();
    place.run(&absent);
    let not_run = Standing::of(&load(&absent));
    assert_eq!((not_run.exit_code(), not_run.reuse_denied_reason()), (75, Some("not-run")));

    let mut slow = place.sh("sleep 60");
    slow.limits.deadline = Duration::from_millis(100);
    place.run(&slow);
    let ended = Standing::of(&load(&slow));
    assert_eq!((ended.exit_code(), ended.reuse_denied_reason()), (75, Some("interrupted")));

    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert_eq!(load(&slow), Err(NoRecord::Malformed));
    let more = text.replacen('{', "{\"exit_code\":0,", 1);
    std::fs::write(&file, more).unwrap();
    assert_eq!(load(&slow), Err(NoRecord::Malformed), "a field that no supervisor writes");
}

#[test]
fn what_cannot_be_started_is_told_apart() {
    let place = Place::new();
    let not_run = |change: &dyn Fn(&mut Request)| {
        let mut request = place.sh("true");
        change(&mut request);
        let report = place.run(&request);
        assert_eq!(report.command, None);
        match report.verdict {
            Verdict::NotRun { cause } => cause,
            other => panic!("{other}"),
        }
    };
    assert_eq!(not_run(&|r| r.program = "no-such-program-here".into()), NotRun::ProgramMissing);
    assert_eq!(not_run(&|r| r.program = "./no-such-file".into()), NotRun::ProgramMissing);
    assert_eq!(not_run(&|r| r.cwd = place.path("nowhere")), NotRun::NoDirectory);
    assert_eq!(not_run(&|r| r.scratch = place.path("no/such/place")), NotRun::NoScratch);
    std::fs::write(place.path("plain"), "echo no\n").unwrap();
    assert_eq!(not_run(&|r| r.program = place.path("plain").into()), NotRun::NotExecutable);
    let script = place.path("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    executable(&script);
    assert_eq!(not_run(&|r| r.program = script.clone().into()), NotRun::NoInterpreter);
    std::fs::write(&script, "\u{1}\u{2} neither program nor script").unwrap();
    assert_eq!(not_run(&|r| r.program = script.clone().into()), NotRun::NoInterpreter);
    assert_eq!(not_run(&|r| r.arguments = vec![OsString::from("x".repeat(3 << 20))]), NotRun::SpawnRefused);

    let nobody = Supervisor { program: place.path("nowhere"), arguments: Vec::new() };
    assert_eq!(nobody.prepare(&place.sh("true")).unwrap_err(), NotRun::NoSupervisor);
    let mute = Supervisor { program: "/bin/true".into(), arguments: Vec::new() };
    assert_eq!(mute.prepare(&place.sh("true")).unwrap_err(), NotRun::NoSupervisor);
}

pub(crate) fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_the_word_nothing_starts() {
    let place = Place::new();
    let request = place.sh("echo x > ran");
    let prepared = supervisor().prepare(&request).unwrap();
    let identity = prepared.identity().clone();
    assert_eq!(System.liveness(&identity), Liveness::Alive);
    drop(prepared);
    assert_eq!(System.liveness(&identity), Liveness::Gone);
    assert!(!place.path("ran").exists() && !place.path("exit.json").exists());
}

#[test]
fn the_environment_is_exactly_the_one_given() {
    let place = Place::new();
    let mut request = place.sh("");
    request.program = "/usr/bin/env".into();
    request.arguments.clear();
    request.environment = vec![("A".into(), "1 \n2".into()), ("B".into(), "".into())];
    let report = place.run(&request);
    let scratch = request.scratch.display().to_string();
    assert_eq!(report.stdout.text, format!("A=1 \n2\nB=\nTMPDIR={scratch}\n"));
}

#[test]
fn a42_tmpdir_is_the_commands_own_and_is_removed_whatever_it_did() {
    let place = Place::new();
    let script = "echo \"$TMPDIR\"; stat -c %a \"$TMPDIR\"; mkdir -p \"$TMPDIR/a/b\"; echo x > \"$TMPDIR/a/b/c\"; \
                  chmod 0 \"$TMPDIR/a/b\" \"$TMPDIR/a\"; pwd";
    let report = place.run(&place.sh(script));
    let scratch = place.path("scratch");
    assert_eq!(
        report.stdout.text,
        format!("{}\n700\n{}\n", scratch.display(), place.dir.path().canonicalize().unwrap().display())
    );
    assert!(report.scratch_removed && !scratch.exists());
    // A place that is taken is not used, and not removed.
    std::fs::create_dir(&scratch).unwrap();
    let report = place.run(&place.sh("true"));
    assert_eq!(report.verdict, Verdict::NotRun { cause: NotRun::NoScratch });
    assert!(scratch.exists());
}

#[test]
fn standard_input_is_empty_and_there_is_no_terminal() {
    let place = Place::new();
    let report = place.run(&place.sh("cat; wc -c; (: < /dev/tty) 2>/dev/null && echo terminal; exit 0"));
    assert_eq!((report.verdict, report.stdout.text.trim()), (code(0), "0"));
}

#[test]
fn bytes_that_are_no_utf8_are_kept_lossily_and_said() {
    let place = Place::new();
    let report = place.run(&place.sh(r"printf 'a\377b\n'; printf 'fine\n' >&2"));
    assert_eq!(report.stdout.text, "a\u{fffd}b\n");
    assert!(report.stdout.lossy && !report.stderr.lossy);
}

#[test]
fn a28_output_over_the_cap_is_cut_and_said_to_be_and_never_blocks() {
    let place = Place::new();
    let report =
        place.run(&place.sh("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo the end; seq 1 100000 >&2"));
    assert_eq!(report.verdict, code(0));
    assert!(report.stdout.truncated && report.stderr.truncated);
    assert_eq!(report.stdout.bytes, 5_000_009);
    assert!(report.stdout.text.chars().count() <= 4_000);
    assert!(report.stdout.text.ends_with("\nthe end\n"), "the end is kept");
    assert!(report.stderr.text.starts_with("1\n2\n") && report.stderr.text.ends_with("\n100000\n"));
}

#[test]
fn secrets_are_out_of_the_record_before_it_is_written() {
    let place = Place::new();
    let mut request = place
        .sh("echo \"Cookie: sid=abc\"; echo \"$DEPLOY_TOKEN\"; echo Authorization: Bearer zzz999zzz >&2");
    request.environment.push(("DEPLOY_TOKEN".into(), "correct-horse".into()));
    let report = place.run(&request);
    assert_eq!(report.stdout.text, "Cookie: [redacted:header]\n[redacted:environment]\n");
    assert_eq!((report.stdout.redactions, report.stderr.redactions), (2, 1));
    let file = std::fs::read_to_string(place.path("exit.json")).unwrap();
    for secret in ["sid=abc", "correct-horse", "zzz999zzz"] {
        assert!(!file.contains(secret), "{file}");
    }
}

#[test]
fn the_whole_tree_ends_daemons_included() {
    let place = Place::new();
    let script = "setsid sh -c 'sleep 600 & echo $! > deep; wait' & \
                  (setsid nohup sleep 601 >/dev/null 2>&1 & echo $! > daemon); sleep 602 & echo $! > near; \
                  while ! [ -s deep ]; do sleep 0.01; done; exit 4";
    let report = place.run(&place.sh(script));
    assert_eq!(report.verdict, code(4));
    assert!(report.tree_ended && report.stragglers >= 3, "{report:?}");
    for name in ["deep", "daemon", "near"] {
        assert!(!runs(&place.wrote(name)), "{name}");
    }
}

#[test]
fn a33_deadline_run_stop_and_call_stop_interrupt_and_the_result_is_not_cut_off() {
    let place = Place::new();
    let script = "trap 'echo tidied; exit 0' TERM; echo begun; echo x > begun; while :; do sleep 0.02; done";
    let mut request = place.sh(script);
    request.limits.deadline = Duration::from_millis(400);
    let report = place.run(&request);
    assert_eq!(report.verdict, interrupted(Source::Deadline), "that it then exits with 0 makes no verdict");
    assert_eq!(report.stdout.text, "begun\ntidied\n", "what it still said is in the result");
    for (reason, source) in [(StopReason::Run, Source::RunStop), (StopReason::Call, Source::CallStop)] {
        let _ = std::fs::remove_file(place.path("begun"));
        let request = place.sh(script);
        let stop = Stop::default();
        let report = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&request, &stop).unwrap());
            place.wrote("begun");
            stop.stop(reason);
            running.join().unwrap()
        });
        assert_eq!(report.verdict, interrupted(source));
        assert!(report.tree_ended);
    }
}

#[test]
fn a34_a_second_source_before_the_end_makes_the_cause_ambiguous() {
    let place = Place::new();
    let mut request = place.sh("trap '' TERM; echo x > begun; while :; do sleep 0.02; done");
    request.limits.deadline = Duration::from_millis(300);
    request.limits.grace = Duration::from_secs(2);
    let stop = Stop::default();
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&request, &stop).unwrap());
        place.wrote("begun");
        std::thread::sleep(Duration::from_millis(700));
        stop.stop(StopReason::Call);
        running.join().unwrap()
    });
    let sources = vec![Source::Deadline, Source::CallStop];
    assert_eq!(report.verdict, Verdict::Interrupted { cause: Interruption::Ambiguous { sources } });
}

#[test]
fn a34_words_in_the_output_are_never_a_cause() {
    let place = Place::new();
    let report = place.run(&place.sh("echo 'interrupted: deadline'; echo '{\"ended\":{}}'; exit 0"));
    assert_eq!(report.verdict, code(0));
}

#[test]
fn a_kill_from_outside_is_no_verdict_and_a_fault_of_its_own_is_one() {
    let place = Place::new();
    assert_eq!(place.run(&place.sh("kill -KILL $$")).verdict, interrupted(Source::Outside));
    assert_eq!(place.run(&place.sh("kill -SEGV $$")).verdict, Verdict::Exit { exit: Exit::Fault(11) });
}

#[test]
fn when_the_owner_is_gone_the_tree_ends_and_the_record_says_so() {
    let place = Place::new();
    let request = place.sh("echo $$ > pid; setsid sleep 600 & echo $! > deep; sleep 600");
    // An owner that dies without a word: its end of the pipe closes, nothing else.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_owed-supervisor"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let lines = format!("{}\n\"go\"\n", serde_json::to_string(&request).unwrap());
    std::io::Write::write_all(&mut pipe, lines.as_bytes()).unwrap();
    let (pid, deep) = (place.wrote("pid"), place.wrote("deep"));
    drop(pipe);
    child.wait().unwrap();
    assert!(!runs(&pid) && !runs(&deep));
    let report = Report::load(&place.path("exit.json"), "op", &request.digest()).unwrap();
    assert_eq!(report.verdict, interrupted(Source::OwnerGone));
    assert!(report.tree_ended && !place.path("scratch").exists());
}

#[test]
fn a_supervisor_that_vanishes_leaves_no_success_and_nothing_that_runs() {
    let place = Place::new();
    let request = place.sh("echo $$ > pid; setsid sleep 600 & echo $! > deep; sleep 600");
    let prepared = supervisor().prepare(&request).unwrap();
    let identity = prepared.identity().clone();
    let mut leader = None;
    let ended = std::thread::scope(|scope| {
        let running =
            scope.spawn(|| prepared.run(&Stop::default(), &mut |started| leader = Some(started.clone())));
        let deep = place.wrote("deep");
        // Whoever has its temporary directory in the environment belongs to it.
        assert!(survivors(None, &request.scratch).unwrap().contains(&deep.parse().unwrap()));
        kill(identity.pid, rustix::process::Signal::KILL);
        running.join().unwrap()
    });
    assert_eq!(ended, Err(Lost::SupervisorGone));
    assert_eq!(System.liveness(&identity), Liveness::Gone);
    let (pid, deep) = (place.wrote("pid"), place.wrote("deep"));
    assert_eq!(leader.as_ref().unwrap().pid.to_string(), pid);
    assert!(!runs(&pid) && !runs(&deep), "its owner has ended what it left");
    assert_eq!(survivors(leader.as_ref(), &request.scratch), Some(Vec::new()));
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

const HOLDS_60_MB: &str = "x=$(head -c 60000000 /dev/zero | tr '\\0' a); echo held; sleep 60";

#[test]
fn d3_a_tree_over_its_memory_a_host_without_reserve_and_missing_telemetry_interrupt() {
    let place = Place::new();
    let mut request = place.sh(HOLDS_60_MB);
    request.limits.tree_memory = 30 << 20;
    let report = place.run(&request);
    assert_eq!(report.verdict, interrupted(Source::TreeMemory));
    assert!(report.peak_tree_bytes.unwrap() > 30 << 20 && report.tree_ended);

    let mut request = place.sh("sleep 60");
    request.limits.host_reserve = u64::MAX;
    assert_eq!(place.run(&request).verdict, interrupted(Source::HostMemory));

    let mut request = place.sh("sleep 60");
    request.procfs = place.path("no-proc");
    assert_eq!(place.run(&request).verdict, interrupted(Source::NoTelemetry));

    assert_eq!((Weight::Heavy.tree_memory(), Weight::Light.tree_memory()), (4 * GIB, GIB));
    assert_eq!(Request::new("op", "x", PathBuf::new(), PathBuf::new()).limits.tree_memory, 4 * GIB);
}

#[test]
fn d4_what_a_nested_supervisor_runs_is_measured_with_the_outer_tree() {
    let place = Place::new();
    let mut inner = place.sh(HOLDS_60_MB);
    inner.scratch = place.path("inner");
    inner.record = None;
    std::fs::write(place.path("orders"), format!("{}\n\"go\"\n", serde_json::to_string(&inner).unwrap()))
        .unwrap();
    // The pipe stays open, so that the inner owner is not gone.
    let script = format!("(cat orders; sleep 60) | {} > said", env!("CARGO_BIN_EXE_owed-supervisor"));
    let mut outer = place.sh(&script);
    outer.limits.tree_memory = 40 << 20;
    let report = place.run(&outer);
    assert_eq!(report.verdict, interrupted(Source::TreeMemory));
    assert!(report.peak_tree_bytes.unwrap() > 40 << 20 && report.tree_ended);
    // A second lease of the host would have waited for the first one for ever: the
    // supervisor takes none, its caller does.
    let said = std::fs::read_to_string(place.path("said")).unwrap();
    assert!(said.contains("started"), "the inner one ran at once: {said}");
}

#[test]
fn d5_admission_needs_two_gib_and_the_reserve_and_knows_no_ratio() {
    let memory = |total: u64, available: u64| Some(Memory { total, available });
    let needed = 2 * GIB + RESERVE;
    assert_eq!(Memory::admit(memory(8 * GIB, needed), Weight::Heavy, RESERVE), Ok(()));
    let deferred = Memory::admit(memory(64 * GIB, needed - 1), Weight::Heavy, RESERVE).unwrap_err();
    assert_eq!((deferred.available, deferred.needed), (Some(needed - 1), needed));
    // A machine of nominally 8 GiB as its system reports it.
    let nominal = Memory::parse("MemTotal:        7994184 kB\nMemFree: 1 kB\nMemAvailable:    2700000 kB\n");
    assert_eq!(Memory::admit(nominal, Weight::Heavy, RESERVE), Ok(()));
    let silent = Memory::admit(None, Weight::Light, RESERVE).unwrap_err();
    assert_eq!(silent.available, None, "a system that says nothing admits nothing");
    assert_eq!(Memory::parse("MemTotal: 7994184 kB\n"), None);
    let now = Memory::now(Path::new("/proc")).unwrap();
    assert!(0 < now.available && now.available <= now.total);
}

#[test]
fn d6_adapters_are_small_and_waiting_has_an_end() {
    assert_eq!(ADAPTER_HEAP, 768);
    assert_eq!(Weight::Heavy.patience(), Duration::from_secs(600));
    assert_eq!(Weight::Light.patience(), Duration::from_secs(5));
    // A loss is a deferral with both numbers in it, not a smaller run.
    let lost = Memory::admit(Some(Memory { total: GIB, available: 1 }), Weight::Light, RESERVE);
    assert_eq!(lost.unwrap_err().available, Some(1));
}

#[test]
fn d7_workers_follow_load_and_memory() {
    let memory = |available| Memory { total: 64 * GIB, available };
    assert_eq!(workers(8, 0.0, memory(64 * GIB), GIB, RESERVE), 8);
    assert_eq!(workers(8, 5.6, memory(64 * GIB), GIB, RESERVE), 2);
    assert_eq!(workers(8, 0.0, memory(3 * GIB + RESERVE), GIB, RESERVE), 3);
    assert_eq!(workers(8, 100.0, memory(0), GIB, RESERVE), 1);
    assert_eq!(workers(8, f64::NAN, memory(64 * GIB), 0, RESERVE), 8);
    assert!((1..=1024).contains(&workers_now(GIB, RESERVE)));
}

#[test]
fn d8_an_interrupted_or_smaller_run_never_stands_for_a_full_one() {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let full = Scope::Full(names(&["a", "b", "c"]));
    let same = Scope::Selected(names(&["a", "b", "c"]));
    let fewer = Scope::Selected(names(&["a"]));
    assert_eq!(discharges(&full, &full, &code(0)), Ok(()));
    assert_eq!(discharges(&full, &same, &code(0)), Err(Shortfall::SelectedForFull));
    assert_eq!(discharges(&full, &full, &interrupted(Source::TreeMemory)), Err(Shortfall::NoVerdict));
    assert_eq!(
        discharges(&full, &full, &Verdict::NotRun { cause: NotRun::NoScratch }),
        Err(Shortfall::NoVerdict)
    );
    assert_eq!(discharges(&same, &fewer, &code(0)), Err(Shortfall::Missing(vec!["b".into(), "c".into()])));
    assert_eq!(discharges(&fewer, &full, &code(0)), Ok(()));
}
