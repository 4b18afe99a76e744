//! Tortures the ledger: seeded schedules on a simulated machine with a fault behind every
//! call, real processes that are killed with `kill -9`, and the time of an append beside the
//! disk's own sync, measured in turn. Progress goes to stderr, the result to stdout; exit 1
//! when an invariant broke.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program: it has a clock, makes processes and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use owed_gates::disk::{Disk as _, Mode, RealDisk};
use owed_gates::ledger::{RunId, Store};

#[path = "../../../gates/tests/simulation/mod.rs"]
mod simulation;

use simulation::driver::{Report, schedule};
use simulation::real::{child, kill_nine};
use simulation::single::fault_at_each_call;
use simulation::world::{Broken, Fault};

/// Tortures the ledger.
#[derive(Parser)]
struct Args {
    /// How many seeded schedules.
    #[arg(long, default_value_t = 100_000)]
    schedules: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many times two real processes are killed.
    #[arg(long, default_value_t = 200)]
    kills: u64,
    /// How many appends are timed.
    #[arg(long, default_value_t = 4_000)]
    appends: usize,
    /// Where real files are written; its file system is what is measured.
    #[arg(long, default_value = "target/ledger-torture")]
    dir: PathBuf,
    /// Let the simulated machine lie, to see that the invariants notice.
    #[arg(long, value_enum)]
    lie: Option<Lie>,
    /// Used for the processes that are killed.
    #[arg(long, hide = true)]
    child: Option<u64>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Lie {
    Sync,
    Lock,
    Ack,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(seed) = args.child {
        child(&args.dir, seed);
        return Ok(ExitCode::SUCCESS);
    }
    let started = Instant::now();
    let dir = args.dir.join(format!("run-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut broken = one_at_a_time();
    broken += simulated(&args);
    broken += killed(&args, &dir)?;
    timed(&args, &dir)?;
    std::fs::remove_dir_all(&dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    println!("wall clock: {:.0} s", started.elapsed().as_secs_f64());
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One fault at each call of one whole call. Gives how many kinds of fault broke something.
fn one_at_a_time() -> u64 {
    let mut broken = 0;
    for fault in [Fault::Kill, Fault::Power, Fault::Fail] {
        match fault_at_each_call(fault) {
            Ok(calls) => println!("one fault ({fault:?}) at each of {calls} calls: nothing broke"),
            Err(what) => {
                broken += 1;
                println!("one fault ({fault:?}) at each call: {what}");
            }
        }
    }
    broken
}

/// The schedules, on as many threads as there are cores. Gives how many broke an invariant.
fn simulated(args: &Args) -> u64 {
    let lie = match args.lie {
        None => Broken::Nothing,
        Some(Lie::Sync) => Broken::SyncLies,
        Some(Lie::Lock) => Broken::LockLies,
        Some(Lie::Ack) => Broken::AckLies,
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, started) = (AtomicU64::new(0), Instant::now());
    let mut total = Report::default();
    let mut wrong: Vec<(u64, Vec<String>)> = Vec::new();
    std::thread::scope(|scope| {
        let worker = || {
            let (mut total, mut wrong) = (Report::default(), Vec::new());
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                if nth >= args.schedules {
                    return (total, wrong);
                }
                if nth > 0 && nth.is_multiple_of(10_000) {
                    eprintln!("{nth} schedules, {:.0} s", started.elapsed().as_secs_f64());
                }
                let seed = args.seed + nth;
                let report = schedule(seed, lie);
                total.add(&report);
                if !report.violations.is_empty() {
                    wrong.push((seed, report.violations));
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            let (some, more) = worker.join().expect("a schedule does not panic");
            total.add(&some);
            wrong.extend(more);
        }
    });
    wrong.sort();
    println!("schedules: {} from seed {}", args.schedules, args.seed);
    println!("  calls of the machine: {}, faults put in: {}", total.calls, total.faults);
    println!("  power failures: {}, files damaged: {}", total.power_failures, total.damaged);
    println!("  dispatches: {}, replays: {}", total.dispatches, total.replays);
    println!("  refused as unresolved: {}, settled: {}", total.suppressed, total.settled);
    println!("  looks at a damaged run that were held: {}", total.held);
    println!("  schedules that broke an invariant: {}", wrong.len());
    for (seed, violations) in wrong.iter().take(10) {
        let first = violations.first().map_or("", String::as_str);
        println!("    seed {seed}: {first} ({} in all)", violations.len());
    }
    wrong.len() as u64
}

/// Real processes, killed. Gives how many invariants broke.
fn killed(args: &Args, dir: &Path) -> anyhow::Result<u64> {
    let state = dir.join("killed").join(".owed");
    std::fs::create_dir_all(dir.join("killed"))?;
    let program = std::env::current_exe()?;
    let command = |seed: u64| {
        let mut command = Command::new(&program);
        command.arg("--dir").arg(&state).arg("--child").arg(seed.to_string());
        command
    };
    let killed = kill_nine(&state, args.kills, args.seed, &command)?;
    println!("processes killed with SIGKILL: {}", killed.kills);
    println!("  dispatches: {}, outcomes acknowledged: {}", killed.dispatched, killed.acknowledged);
    println!("  violations: {}", killed.violations.len());
    for violation in killed.violations.iter().take(10) {
        println!("    {violation}");
    }
    Ok(killed.violations.len() as u64)
}

/// Times one acknowledged record (an outcome, from an open run) against one bare append with
/// its sync, and against two bare writes with theirs, which is what a record needs: all on
/// the same disk, in turn.
fn timed(args: &Args, dir: &Path) -> anyhow::Result<()> {
    let state = dir.join("timed").join(".owed");
    std::fs::create_dir_all(dir.join("timed"))?;
    let store = Store::at(&state);
    let bare = RealDisk.open(&dir.join("bare"), Mode::Create)?;
    let beside = RealDisk.open(&dir.join("beside"), Mode::Create)?;
    beside.write_at(0, &[0; 8192])?;
    beside.sync()?;
    let (mut one, mut two, mut append) = (Vec::new(), Vec::new(), Vec::new());
    let payload = [b'x'; 500];
    let mut offset = 0;
    for nth in 0..args.appends {
        let started = Instant::now();
        bare.write_at(offset, &payload)?;
        bare.sync()?;
        one.push(started.elapsed());
        beside.write_at((nth as u64 % 2) * 4096, &payload[..88])?;
        beside.sync_data()?;
        two.push(started.elapsed());
        offset += payload.len() as u64;
        append.push(one_append(&store, nth)?);
    }
    println!("append, {} samples each, in turn:", args.appends);
    println!("  a bare write and its fsync:         {}", quantiles(&mut one));
    println!("  the same, and one to a second file: {}", quantiles(&mut two));
    println!("  one acknowledged record:            {}", quantiles(&mut append));
    Ok(())
}

/// The time of one outcome. It takes two syncs: of the frame, and of the place that remembers
/// that it was acknowledged.
fn one_append(store: &Store, nth: usize) -> anyhow::Result<Duration> {
    use owed_gates::ledger::{Admission, Options};
    use simulation::real::{claim, observation, outcome, request};
    let run = RunId::new(format!("t{}", nth / 32)).context("a plain name")?;
    let mut run = store.open(&run, claim(), Options::default())?;
    let name = format!("c{nth}");
    let asked = request(&name, &format!("command {nth}"));
    let Admission::New(permit) = run.begin(&asked)? else { anyhow::bail!("{name} is new") };
    let fresh = run.complete_preflight(permit, outcome(0))?;
    let permit = run.intend(fresh, observation())?;
    let running = run.start(permit, store.host().me())?;
    let started = Instant::now();
    run.complete(running, outcome(0))?;
    Ok(started.elapsed())
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: f64| {
        let nth = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
        times.get(nth).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    format!("p50 {:.3} ms, p90 {:.3} ms, p99 {:.3} ms, most {:.3} ms", at(0.5), at(0.9), at(0.99), at(1.0))
}
