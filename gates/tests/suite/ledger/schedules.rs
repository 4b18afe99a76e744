//! Seeded schedules on the simulated machine.

use std::sync::Arc;

use owed_gates::ledger::{Admission, Exit, Failure, Options, Store};
use owed_gates::state::CallState;

use super::{call_id, run_id};
use crate::simulation::disk::SimDisk;
use crate::simulation::driver::{Report, schedule};
use crate::simulation::real::{claim, observation, outcome, request};
use crate::simulation::world::{Broken, Fault, Faults, SimHost, World};

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

/// One call from nothing to its outcome; gives the last state that was acknowledged, and
/// whether its command was let go.
fn whole_call(store: &Store) -> (Option<CallState>, bool) {
    let mut seen = (None, false);
    let mut steps = || -> Result<(), Failure> {
        let mut run = store.open(&run_id(), claim(), Options::default())?;
        let Admission::New(permit) = run.begin(&request("a", "true"))? else { return Ok(()) };
        seen.0 = Some(CallState::Pending);
        let fresh = run.complete_preflight(permit, outcome(0))?;
        let permit = run.intend(fresh, observation())?;
        let running = run.start(permit, store.host().me())?;
        seen = (Some(CallState::Running), true);
        run.complete(running, outcome(5))?;
        seen.0 = Some(CallState::Completed);
        Ok(())
    };
    // What it was refused for is not the question, but what holds afterwards.
    let _ = steps();
    seen
}

#[test]
fn a08_a_fault_at_each_single_call_of_the_machine_loses_and_repeats_nothing() {
    for fault in [Fault::Kill, Fault::Power, Fault::Fail] {
        let mut nth = 0;
        loop {
            nth += 1;
            let world = World::new(nth);
            let life = |world: &Arc<World>| {
                let process = world.spawn();
                let disk = SimDisk { world: Arc::clone(world), process };
                let host = SimHost { world: Arc::clone(world), process };
                (process, Store::on("/p/.owed", Arc::new(disk), Arc::new(host)))
            };
            world.state().faults = Faults { at: Some((nth, fault)), ..Faults::default() };
            let (process, store) = life(&world);
            let (acknowledged, dispatched) = whole_call(&store);
            if world.state().calls < nth {
                assert_eq!(acknowledged, Some(CallState::Completed));
                break;
            }
            world.state().faults = Faults::default();
            world.state().end(process);
            let (_, store) = life(&world);
            let context = format!("{fault:?} at call {nth}: {acknowledged:?}, {dispatched}");
            let mut run = store.open(&run_id(), claim(), Options::default()).expect(&context);
            let there = run.history().call(&call_id("a")).map(|call| call.state());
            assert!(there >= acknowledged, "{context}: {there:?} is there");
            run.lose_abandoned().expect(&context);
            match run.begin(&request("a", "true")) {
                Ok(Admission::New(_)) => assert!(there.is_none() && !dispatched, "{context}"),
                Ok(Admission::Replay(call)) => {
                    let completed = call.command.and_then(|command| command.completed);
                    let exit = completed.map(|completed| completed.outcome.exit);
                    assert!(dispatched && exit == Some(Exit::Code(5)), "{context}: {exit:?}");
                }
                Err(failure) => {
                    assert!(acknowledged != Some(CallState::Completed), "{context}: {failure}");
                }
            }
        }
        assert!(nth > 60, "{fault:?}: only {nth} calls");
    }
}
