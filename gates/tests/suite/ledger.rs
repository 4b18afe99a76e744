//! The ledger, on a real disk and on a simulated machine.

use crate::simulation::driver::schedule;
use crate::simulation::world::Broken;

/// Seeded schedules in an ordinary run; `ledger-torture` in `benches` runs more.
const SCHEDULES: u64 = 2_000;

#[test]
fn two_thousand_schedules_of_faults_break_no_invariant() {
    let mut wrong = Vec::new();
    for seed in 0..SCHEDULES {
        let report = schedule(seed, Broken::Nothing);
        if !report.violations.is_empty() {
            wrong.push(format!("seed {seed}: {:#?}", report.violations));
        }
    }
    assert!(wrong.is_empty(), "{} of {SCHEDULES}:\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
}
