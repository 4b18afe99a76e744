//! Seeded schedules on the simulated machine.

use crate::simulation::driver::{Report, schedule};
use crate::simulation::world::Broken;

/// Seeded schedules in an ordinary run; `ledger-torture` in `benches` runs more.
const SCHEDULES: u64 = 2_000;

/// Runs schedules on two threads; gives what was found wrong.
fn schedules(seeds: std::ops::Range<u64>, broken: Broken) -> (Vec<String>, Report) {
    let middle = seeds.start + (seeds.end - seeds.start) / 2;
    let halves = [seeds.start..middle, middle..seeds.end];
    let mut wrong = Vec::new();
    let mut total = Report::default();
    std::thread::scope(|scope| {
        let halves = halves.map(|half| {
            scope.spawn(move || half.map(|seed| (seed, schedule(seed, broken))).collect::<Vec<_>>())
        });
        for half in halves {
            for (seed, report) in half.join().expect("a schedule does not panic") {
                if !report.violations.is_empty() {
                    wrong.push(format!("seed {seed}: {:#?}", report.violations));
                }
                total.add(&report);
            }
        }
    });
    (wrong, total)
}

#[test]
fn two_thousand_schedules_of_faults_break_no_invariant() {
    let (wrong, total) = schedules(0..SCHEDULES, Broken::Nothing);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
    // The schedules went where the invariants are.
    assert!(total.dispatches > SCHEDULES, "{total:?}");
    for reached in [total.replays, total.suppressed, total.settled, total.power_failures, total.held] {
        assert!(reached > SCHEDULES / 20, "{total:?}");
    }
}

/// A harness that finds nothing on a machine that lies would be blind.
#[test]
fn a_machine_that_lies_is_found_out() {
    for broken in [Broken::SyncLies, Broken::LockLies, Broken::AckLies] {
        let (wrong, _) = schedules(0..60, broken);
        assert!(!wrong.is_empty(), "{broken:?} was not noticed");
    }
}
