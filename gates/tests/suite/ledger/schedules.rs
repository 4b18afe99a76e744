//! Seeded schedules on the simulated machine.

use crate::simulation::driver::{Report, schedule};
use crate::simulation::single::fault_at_each_call;
use crate::simulation::world::{Broken, Fault};

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

#[test]
fn a08_a_fault_at_each_single_call_of_the_machine_loses_and_repeats_nothing() {
    for fault in [Fault::Kill, Fault::Power, Fault::Fail] {
        let calls = fault_at_each_call(fault).unwrap();
        assert!(calls > 60, "{fault:?}: only {calls} calls");
    }
}

#[test]
fn a_seed_is_always_the_same_schedule() {
    for seed in 0..100 {
        let [first, second] = [0; 2].map(|_| format!("{:?}", schedule(seed, Broken::Nothing)));
        assert_eq!(first, second, "seed {seed}");
    }
}
