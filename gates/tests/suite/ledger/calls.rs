//! Calls from intent to outcome, and what is refused on the way.

use std::num::NonZeroU64;

use owed_gates::lease::{Host as _, System};
use owed_gates::ledger::{
    Admission, Claim, ClaimRefusal, EndProof, Exit, ExitRecord, Hold, Label, Lookup, Loss, NotStartedReason,
    Options, Purpose, Refusal, Request, RunId, Timeout, UnknownReason, command_hash,
};
use owed_gates::state::{CallState, Illegal, Next, Phase, Recovery, Step, step};

use super::{Project, call_id, completed, dead, granted, intended, lost, refusal, run_id, running};
use crate::simulation::real::{claim, observation, outcome, request};

#[test]
fn a08_intent_is_durable_before_dispatch_and_outcome_before_success() {
    let project = Project::new();
    let mut run = project.open();
    let permit = granted(&mut run, "a", "true");
    assert_eq!(project.call("a").unwrap().state(), CallState::Pending);
    let fresh = run.complete_preflight(permit, outcome(0)).unwrap();
    assert_eq!(project.call("a").unwrap().preflight.state, CallState::Completed);
    let permit = run.intend(fresh, observation()).unwrap();
    assert_eq!(project.call("a").unwrap().command.unwrap().state, CallState::Pending);
    let running = run.start(permit, dead()).unwrap();
    let seen = project.call("a").unwrap().command.unwrap();
    assert_eq!(seen.started.unwrap().process, dead());
    run.complete(running, outcome(3)).unwrap();
    let seen = project.call("a").unwrap().command.unwrap();
    assert_eq!(seen.completed.unwrap().outcome.exit, Exit::Code(3));
}

#[test]
fn a08_what_dies_between_intent_and_outcome_is_pending() {
    let project = Project::new();
    drop(running(&mut project.open(), "a", "true"));
    assert_eq!(project.call("a").unwrap().state().word(), "pending");
}

#[test]
fn a07_the_observation_is_recorded_with_the_intent() {
    let project = Project::new();
    drop(intended(&mut project.open(), "a", "true"));
    let command = project.call("a").unwrap().command.unwrap();
    assert_eq!(command.observation.unwrap(), observation());
}

#[test]
fn a09_a_refusal_before_dispatch_is_not_started_and_neither_unknown_nor_completed() {
    let project = Project::new();
    let mut run = project.open();
    let permit = intended(&mut run, "after the intent", "one");
    run.not_started(permit, NotStartedReason::PolicyRefused).unwrap();
    let permit = granted(&mut run, "after the preflight", "two");
    let fresh = run.complete_preflight(permit, outcome(0)).unwrap();
    run.decline(fresh, NotStartedReason::BudgetExhausted).unwrap();
    let permit = granted(&mut run, "before the preflight", "three");
    run.preflight_not_started(permit, NotStartedReason::Stopped).unwrap();
    for name in ["after the intent", "after the preflight", "before the preflight"] {
        assert_eq!(project.call(name).unwrap().state(), CallState::NotStarted, "{name}");
    }
    assert!(run.history().unresolved().is_empty());
}

#[test]
fn a12_an_exact_duplicate_gets_the_saved_result_after_a_restart() {
    let project = Project::new();
    let saved = completed(&mut project.open(), "a", "true", 7);
    match project.open().begin(&request("a", "true")).unwrap() {
        Admission::Replay(call) => assert_eq!(*call, saved),
        Admission::New(_) => panic!("it was granted again"),
    }
}

#[test]
fn a13_the_same_id_with_another_payload_is_refused() {
    let project = Project::new();
    let mut run = project.open();
    completed(&mut run, "a", "true", 0);
    let before = std::fs::read(project.frames()).unwrap();
    let asked = |purpose, command: &str, timeout| {
        Request::new(call_id("a"), purpose, command, timeout, str::to_owned).unwrap()
    };
    let explicit = Timeout::Explicit(NonZeroU64::new(600_000).unwrap());
    for changed in [
        asked(Purpose::Verification, "true ", Timeout::Omitted),
        asked(Purpose::Baseline, "true", Timeout::Omitted),
        asked(Purpose::Verification, "true", explicit),
    ] {
        assert_eq!(refusal(run.begin(&changed)), Refusal::PayloadChanged);
    }
    assert_eq!(std::fs::read(project.frames()).unwrap(), before);
}

#[test]
fn a15_not_started_may_be_retried_under_a_new_id() {
    let project = Project::new();
    let mut run = project.open();
    let permit = intended(&mut run, "a", "true");
    run.not_started(permit, NotStartedReason::BudgetExhausted).unwrap();
    match run.begin(&request("a", "true")).unwrap() {
        Admission::Replay(call) => assert_eq!(call.state(), CallState::NotStarted),
        Admission::New(_) => panic!("the old id was granted again"),
    }
    completed(&mut run, "b", "true", 0);
}

#[test]
fn a16_unknown_is_never_replayed_and_suppresses_its_command_under_a_new_id() {
    let project = Project::new();
    lost(&mut project.open(), "a", "true");
    let mut run = project.open();
    let state = CallState::Unknown;
    let same = refusal(run.begin(&request("a", "true")));
    assert_eq!(same, Refusal::Unresolved { phase: Phase::Command, state });
    let other = refusal(run.begin(&request("b", "true")));
    assert_eq!(other, Refusal::Suppressed { by: call_id("a"), phase: Phase::Command, state });
    // Other commands go on, and the run still says that one is open.
    completed(&mut run, "c", "true # spelled otherwise", 0);
    assert_eq!(run.history().unresolved().len(), 1);
}

#[test]
fn a16_a_pending_call_of_a_live_process_is_in_progress() {
    let project = Project::new();
    let mut run = project.open();
    drop(intended(&mut run, "a", "true"));
    let process = System.me();
    assert_eq!(refusal(run.begin(&request("a", "true"))), Refusal::InProgress { process });
    assert!(matches!(refusal(run.begin(&request("b", "true"))), Refusal::Suppressed { .. }));
}

#[test]
fn a18_preflight_and_command_have_records_of_their_own() {
    let project = Project::new();
    let mut run = project.open();
    let opened = run.history().records();
    completed(&mut run, "a", "true", 0);
    // Intent and result of the preflight; intent, process and result of the command.
    assert_eq!(run.history().records() - opened, 5);
}

#[test]
fn a19_an_unresolved_preflight_blocks_its_command() {
    let project = Project::new();
    let mut run = project.open();
    let permit = granted(&mut run, "a", "true");
    run.lose_preflight(permit, Loss::of(UnknownReason::ResultLost)).unwrap();
    let (phase, state) = (Phase::Preflight, CallState::Unknown);
    assert_eq!(refusal(run.begin(&request("a", "true"))), Refusal::Unresolved { phase, state });
    let suppressed = Refusal::Suppressed { by: call_id("a"), phase, state };
    assert_eq!(refusal(run.begin(&request("b", "true"))), suppressed);
}

#[test]
fn a20_a_restored_preflight_cannot_start_the_command() {
    let project = Project::new();
    let (store, host) = other_life(&project);
    let mut run = store.open(&run_id(), claim(), Options::default()).unwrap();
    let permit = granted(&mut run, "a", "true");
    drop(run.complete_preflight(permit, outcome(0)).unwrap());
    host.end();
    let refused = refusal(project.open().begin(&request("a", "true")));
    assert_eq!(refused, Refusal::MetadataRevalidationRequired);
    completed(&mut project.open(), "b", "true", 0);
}

#[test]
fn a21_a_lookup_needs_owner_thread_workspace_and_command() {
    let project = Project::new();
    completed(&mut project.open(), "a", "true", 4);
    let history = project.store.inspect(&run_id()).unwrap().history;
    let Claim { owner, unit, thread, workspace, .. } = claim();
    let command_hash = command_hash("true");
    let asked = Lookup { call: call_id("a"), owner, unit, thread, workspace, command_hash };
    assert_eq!(history.lookup(&asked).unwrap().state(), CallState::Completed);
    let other = Label::new("other").unwrap();
    for wrong in [
        Lookup { owner: other.clone(), ..asked.clone() },
        Lookup { unit: Some(other.clone()), ..asked.clone() },
        Lookup { thread: other.clone(), ..asked.clone() },
        Lookup { workspace: other, ..asked.clone() },
        Lookup { command_hash: owed_gates::ledger::command_hash("false"), ..asked.clone() },
    ] {
        assert_eq!(history.lookup(&wrong).unwrap_err(), Refusal::LookupMismatch);
    }
    let absent = Lookup { call: call_id("b"), ..asked };
    assert_eq!(history.lookup(&absent).unwrap_err(), Refusal::NoSuchCall);
}

#[test]
fn a22_settling_needs_the_word_that_the_process_has_ended() {
    let project = Project::new();
    let mut run = project.open();
    let alive = System.me();
    let permit = intended(&mut run, "lives", "one");
    let running = run.start(permit, alive.clone()).unwrap();
    run.lose(running, Loss::of(UnknownReason::Interrupted)).unwrap();
    lost(&mut run, "ended", "two");
    let mut run = project.store.reopen(&run_id(), Options::default()).unwrap();
    let refused = refusal(run.settle(&call_id("lives"), None));
    assert_eq!(refused, Refusal::StillRuns { process: alive.clone() });
    let foreign = ExitRecord { process: alive, exit: Exit::Code(0), at_ms: 1 };
    assert_eq!(refusal(run.settle(&call_id("ended"), Some(foreign))), Refusal::ForeignProof);
    assert_eq!(run.settle(&call_id("ended"), None).unwrap(), Phase::Command);
    let settled = project.call("ended").unwrap().command.unwrap().settled.unwrap();
    assert_eq!(settled.proof, EndProof::ProcessGone(dead()));
    // Exactly that one is retired; it is never repeated, and its command is free.
    assert_eq!(refusal(run.settle(&call_id("ended"), None)), Refusal::NothingToSettle);
    let mut run = project.open();
    let phase = Phase::Command;
    assert_eq!(refusal(run.begin(&request("ended", "two"))), Refusal::Retired { phase });
    completed(&mut run, "again", "two", 0);
    assert!(matches!(refusal(run.begin(&request("x", "one"))), Refusal::Suppressed { .. }));
}

#[test]
fn a22_settling_is_refused_while_the_dispatcher_may_still_record_the_outcome() {
    let project = Project::new();
    let mut run = project.open();
    drop(running(&mut run, "a", "true"));
    let process = System.me();
    assert_eq!(refusal(run.settle(&call_id("a"), None)), Refusal::InProgress { process });
}

#[test]
fn a23_what_a_dead_process_left_pending_is_unknown_and_held_until_it_is_settled() {
    let project = Project::new();
    let (store, host) = other_life(&project);
    let mut run = store.open(&run_id(), claim(), Options::default()).unwrap();
    drop(granted(&mut run, "a", "true"));
    host.end();
    let mut run = project.open();
    assert_eq!(run.lose_abandoned().unwrap(), [call_id("a")]);
    assert_eq!(run.lose_abandoned().unwrap(), []);
    let unknown = project.call("a").unwrap().preflight.unknown.unwrap();
    assert_eq!(unknown.reason, UnknownReason::OwnerLost);
    assert!(matches!(refusal(run.begin(&request("b", "true"))), Refusal::Suppressed { .. }));
    run.settle(&call_id("a"), None).unwrap();
    completed(&mut run, "b", "true", 0);
}

#[test]
fn a24_an_absent_run_is_refused_when_it_must_exist_and_nothing_is_made() {
    let project = Project::new();
    let options = Options { must_exist: true, ..Options::default() };
    let refused = refusal(project.store.open(&run_id(), claim(), options));
    assert_eq!(refused, Refusal::Absent);
    assert!(refused.permits_unrecorded());
    assert_eq!(project.store.inspect(&run_id()).unwrap_err(), Refusal::Absent);
    assert_eq!(std::fs::read_dir(project.root.path()).unwrap().count(), 0);
}

#[test]
fn a24_a_run_that_is_gone_where_there_was_one_is_held() {
    let project = Project::new();
    completed(&mut project.open(), "a", "true", 0);
    std::fs::remove_dir_all(project.state().join("ledger")).unwrap();
    let gone = Refusal::Held(Hold::Gone);
    assert!(!gone.permits_unrecorded());
    assert_eq!(refusal(project.store.open(&run_id(), claim(), Options::default())), gone);
    assert_eq!(project.store.inspect(&run_id()).unwrap_err(), gone);
    assert_eq!(project.store.runs().unwrap(), [run_id()]);
    // Another run is another fault domain.
    let other = RunId::new("other").unwrap();
    project.store.open(&other, claim(), Options::default()).unwrap();
    assert_eq!(refusal(project.store.open(&run_id(), claim(), Options::default())), gone);
}

#[test]
fn a39_a_claim_keeps_thread_and_resource_and_only_a_newer_fence_takes_over() {
    let project = Project::new();
    completed(&mut project.open(), "a", "true", 0);
    let before = std::fs::read(project.frames()).unwrap();
    let other = Label::new("other").unwrap();
    let newer = Claim { fence: 2, ..claim() };
    for (wrong, why) in [
        (Claim { thread: other.clone(), ..newer.clone() }, ClaimRefusal::OtherThread),
        (Claim { resource: other.clone(), ..newer.clone() }, ClaimRefusal::OtherResource),
        (Claim { fence: 0, ..claim() }, ClaimRefusal::OlderFence),
        (Claim { owner: other.clone(), ..claim() }, ClaimRefusal::SameFenceOtherOwner),
    ] {
        let refused = refusal(project.store.open(&run_id(), wrong, Options::default()));
        assert_eq!(refused, Refusal::Claim(why));
    }
    assert_eq!(std::fs::read(project.frames()).unwrap(), before);
    let mut old = project.open();
    let waiting = intended(&mut old, "b", "two");
    let owner = other;
    project.store.open(&run_id(), Claim { owner, ..newer }, Options::default()).unwrap();
    // The older owner starts nothing any more; what it had not let go did not start.
    assert_eq!(refusal(old.begin(&request("c", "three"))), Refusal::Fenced);
    assert_eq!(refusal(old.start(waiting, dead())), Refusal::Fenced);
    let reason = project.call("b").unwrap().command.unwrap().not_started.unwrap().reason;
    assert_eq!(reason, NotStartedReason::Fenced);
}

#[test]
fn a40_a_restart_replays_completed_calls_admits_new_ones_and_blocks_unknown_ones() {
    let project = Project::new();
    completed(&mut project.open(), "done", "one", 0);
    lost(&mut project.open(), "lost", "two");
    let mut run = project.open();
    assert!(matches!(run.begin(&request("done", "one")).unwrap(), Admission::Replay(_)));
    assert!(matches!(refusal(run.begin(&request("lost", "two"))), Refusal::Unresolved { .. }));
    completed(&mut run, "new", "three", 0);
}

#[test]
fn a44_a_verification_has_its_own_id_and_the_baseline_stays() {
    let project = Project::new();
    let mut run = project.open();
    let asked = Request::new(call_id("before"), Purpose::Baseline, "true", Timeout::Omitted, str::to_owned);
    let Admission::New(permit) = run.begin(&asked.unwrap()).unwrap() else { panic!("it is new") };
    let fresh = run.complete_preflight(permit, outcome(0)).unwrap();
    let permit = run.intend(fresh, observation()).unwrap();
    let running = run.start(permit, dead()).unwrap();
    run.complete(running, outcome(1)).unwrap();
    completed(&mut run, "after", "true", 0);
    let purposes: Vec<Purpose> = run.history().calls().iter().map(|call| call.request.purpose).collect();
    assert_eq!(purposes, [Purpose::Baseline, Purpose::Verification]);
}

#[test]
fn a48_refusals_may_be_corrected_but_not_for_ever_and_uncertainty_stops_at_once() {
    let mut recovery = Recovery::default();
    assert_eq!(recovery.refused(), Next::Continue);
    assert_eq!(recovery.refused(), Next::Continue);
    assert_eq!(recovery.answered(), Next::Continue);
    assert_eq!([recovery.refused(), recovery.refused()], [Next::Continue; 2]);
    assert_eq!(recovery.refused(), Next::StopRepeatedRefusals);
    let mut recovery = Recovery::default();
    assert_eq!(recovery.uncertain(), Next::StopUncertain);
    assert_eq!(recovery.answered(), Next::StopUncertain);
}

#[test]
fn every_pair_that_is_no_arrow_is_illegal() {
    use CallState as S;
    let states = [
        None,
        Some(S::Pending),
        Some(S::Running),
        Some(S::Completed),
        Some(S::NotStarted),
        Some(S::Unknown),
        Some(S::Settled),
    ];
    let steps =
        [Step::Intend, Step::Start, Step::Complete, Step::NotStart, Step::NotSpawn, Step::Lose, Step::Settle];
    let mut arrows = Vec::new();
    for from in states {
        for asked in steps {
            match step(Phase::Command, from, asked) {
                Ok(to) => arrows.push((from.map_or("", S::word), asked, to)),
                Err(illegal) => assert_eq!(illegal, Illegal { from, step: asked, phase: Phase::Command }),
            }
        }
    }
    let expected = [
        ("", Step::Intend, S::Pending),
        ("", Step::NotStart, S::NotStarted),
        ("pending", Step::Start, S::Running),
        ("pending", Step::NotStart, S::NotStarted),
        ("pending", Step::Lose, S::Unknown),
        ("pending", Step::Settle, S::Settled),
        ("pending", Step::Complete, S::Completed),
        ("pending", Step::NotSpawn, S::NotStarted),
        ("pending", Step::Lose, S::Unknown),
        ("pending", Step::Settle, S::Settled),
        ("unknown", Step::Settle, S::Settled),
    ];
    assert_eq!(arrows, expected);
    // A preflight may be answered without a child, and cannot be declined before its intent.
    assert_eq!(step(Phase::Preflight, Some(S::Pending), Step::Complete), Ok(S::Completed));
    assert!(step(Phase::Preflight, None, Step::NotStart).is_err());
}

/// A store that writes in the name of a process which ends when it is told to.
fn other_life(project: &Project) -> (owed_gates::ledger::Store, std::sync::Arc<Mortal>) {
    let host = std::sync::Arc::new(Mortal);
    let disk = std::sync::Arc::new(owed_gates::disk::RealDisk);
    (owed_gates::ledger::Store::on(project.state(), disk, host.clone()), host)
}

/// A host that is a process which has ended by the time anybody else looks.
#[derive(Debug)]
struct Mortal;

impl Mortal {
    /// Nothing to do: for everybody else it never lived.
    fn end(&self) {}
}

impl owed_gates::lease::Host for Mortal {
    fn me(&self) -> owed_gates::lease::ProcessIdentity {
        dead()
    }

    fn identify(&self, pid: u32) -> Option<owed_gates::lease::ProcessIdentity> {
        System.identify(pid)
    }

    fn liveness(&self, process: &owed_gates::lease::ProcessIdentity) -> owed_gates::lease::Liveness {
        System.liveness(process)
    }

    fn now_ms(&self) -> u64 {
        System.now_ms()
    }

    fn pause(&self, time: std::time::Duration) {
        System.pause(time);
    }
}
