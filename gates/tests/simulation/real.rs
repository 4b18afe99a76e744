//! The same invariants with the real disk, real processes and `kill -9`.
//!
//! A child appends calls to a run and says on its standard output what it dispatches, before
//! it does, and what was acknowledged, after. Its parent kills it at a random moment, and in
//! the end compares the run with what all children said.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use owed_gates::ledger::{
    Admission, CallId, Claim, Exit, Failure, Label, Loss, Observation, Options, Outcome, Output, Purpose,
    Refusal, Request, RunId, Store, Timeout, UnknownReason,
};
use owed_gates::state::{CallState, Phase};

fn label(text: &str) -> Label {
    Label::new(text).expect("a plain label")
}

pub(crate) fn claim() -> Claim {
    Claim {
        owner: label("owner"),
        unit: None,
        thread: label("thread"),
        workspace: label("workspace"),
        resource: label("resource"),
        fence: 1,
    }
}

pub(crate) fn request(call: &str, command: &str) -> Request {
    let call = CallId::new(call).expect("a plain id");
    Request::new(call, Purpose::Verification, command, Timeout::Omitted, str::to_owned)
        .expect("a short command")
}

pub(crate) fn outcome(code: i32) -> Outcome {
    Outcome { exit: Exit::Code(code), output: Output::default(), supervisor: None }
}

pub(crate) fn observation() -> Observation {
    Observation { path: label("/checkout"), head: None, fingerprint: label("f") }
}

/// One line, in one write: what a killed process had said is there.
fn say(line: &str) {
    let line = format!("{line}\n");
    let mut out = std::io::stdout().lock();
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::abort();
    }
}

/// Appends one call from intent to outcome; says what it does.
///
/// # Errors
/// What the ledger said.
pub(crate) fn one_call(
    store: &Store,
    run: &RunId,
    name: &str,
    code: i32,
    say: &dyn Fn(&str),
) -> Result<CallState, Failure> {
    let mut run = store.open(run, claim(), Options::default())?;
    let permit = match run.begin(&request(name, &format!("command of {name}")))? {
        Admission::New(permit) => permit,
        Admission::Replay(call) => return Ok(call.state()),
    };
    say(&format!("dispatch {name} preflight"));
    let fresh = run.complete_preflight(permit, outcome(0))?;
    let permit = run.intend(fresh, observation())?;
    let running = run.start(permit, store.host().me())?;
    say(&format!("dispatch {name} command"));
    if code % 7 == 0 {
        run.lose(running, Loss::of(UnknownReason::TimedOut))?;
        say(&format!("unknown {name} 0"));
        return Ok(CallState::Unknown);
    }
    run.complete(running, outcome(code))?;
    say(&format!("completed {name} {code}"));
    Ok(CallState::Completed)
}

/// What a child does until it is killed.
pub(crate) fn child(state: &Path, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    let store = Store::at(state);
    say("ready");
    loop {
        // A few runs that everybody meets in, and new ones, so that it never has nothing to do.
        let run = if rng.bool() { rng.u32(..50) } else { rng.u32(..1 << 30) };
        let run = RunId::new(format!("k{run}")).expect("a plain name");
        let name = format!("c{}", rng.u8(..8));
        let code = rng.i32(1..100);
        match one_call(&store, &run, &name, code, &|line| say(&format!("{run} {line}"))) {
            Ok(_) => {}
            Err(Failure::Refused(Refusal::Held(hold))) => say(&format!("{run} held {hold}")),
            Err(_) => {}
        }
    }
}

/// What killing showed.
#[derive(Debug, Default)]
pub(crate) struct Killed {
    pub(crate) kills: u64,
    pub(crate) dispatched: u64,
    pub(crate) acknowledged: u64,
    pub(crate) violations: Vec<String>,
}

/// Starts two children at a time and kills them, `times` over; `command` makes a child of the
/// given seed.
pub(crate) fn kill_nine(
    state: &Path,
    times: u64,
    seed: u64,
    command: &dyn Fn(u64) -> Command,
) -> std::io::Result<Killed> {
    let mut rng = Rng::with_seed(seed);
    let mut killed = Killed::default();
    let mut said = Vec::new();
    for _ in 0..times {
        let mut children = Vec::new();
        for _ in 0..2 {
            let mut command = command(rng.u64(..));
            children.push(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
        }
        let mut heard = Vec::new();
        for child in &mut children {
            // It works when it says so; a test runner has its own lines before. Then it is
            // killed after it has said something of a random length, and a little later.
            let stdout = child.stdout.as_mut().expect("it is piped");
            let (mut text, mut byte) = (Vec::new(), [0]);
            while !text.ends_with(b"ready\n") {
                stdout.read_exact(&mut byte)?;
                text.extend(byte);
            }
            let mut more = vec![0; rng.usize(..400)];
            stdout.read_exact(&mut more)?;
            text.clear();
            text.extend(more);
            heard.push(text);
        }
        std::thread::sleep(Duration::from_micros(rng.u64(..3_000)));
        for child in &mut children {
            child.kill()?;
        }
        for (mut child, mut text) in children.into_iter().zip(heard) {
            child.stdout.take().expect("it is piped").read_to_end(&mut text)?;
            child.wait()?;
            killed.kills += 1;
            said.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
        }
    }
    compare(state, &said, &mut killed);
    Ok(killed)
}

fn compare(state: &Path, said: &[String], killed: &mut Killed) {
    let store = Store::at(state);
    let mut dispatches: BTreeMap<String, u32> = BTreeMap::new();
    for line in said {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [run, "dispatch", call, phase] => {
                killed.dispatched += 1;
                let times = dispatches.entry(format!("{run} {call} {phase}")).or_default();
                *times += 1;
                if *times > 1 {
                    killed.violations.push(format!("{line}: twice"));
                }
            }
            [run, "completed" | "unknown", call, code] => {
                killed.acknowledged += 1;
                if let Some(wrong) = lost(&store, run, call, words[1], code) {
                    killed.violations.push(format!("{line}: {wrong}"));
                }
            }
            [_, "held", ..] => killed.violations.push(line.clone()),
            _ => {}
        }
    }
    for run in store.runs().unwrap_or_default() {
        if let Err(refusal) = store.inspect(&run) {
            killed.violations.push(format!("{run}: {refusal}"));
        }
    }
}

/// Why an acknowledged outcome is not what the ledger says, if so.
fn lost(store: &Store, run: &str, call: &str, state: &str, code: &str) -> Option<String> {
    let run = RunId::new(run).ok()?;
    let snapshot = match store.inspect(&run) {
        Ok(snapshot) => snapshot,
        Err(refusal) => return Some(refusal.to_string()),
    };
    let Some(call) = snapshot.history.call(&CallId::new(call).ok()?) else {
        return Some("the call is gone".to_owned());
    };
    let half = call.phase(Phase::Command);
    let completed = half.and_then(|half| half.completed.as_ref()).map(|record| record.outcome.exit);
    let same = match state {
        "completed" => completed == code.parse().ok().map(Exit::Code),
        _ => call.state() == CallState::Unknown,
    };
    (!same).then(|| format!("it is {:?} with {completed:?}", call.state()))
}
