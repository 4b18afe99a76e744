//! The same identity again, and the same command under another one.

use std::time::Duration;

use owed_gates::check::{Command, DEFAULT_TIMEOUT, Session, State, Submission, Why};
use owed_gates::ledger::{NotStartedReason, Purpose, Refusal, UnknownReason};
use owed_gates::state::Phase;

use super::world::{COUNTS, World, call, sh};

/// Times out until `go` is there.
const SLOW: &str = "echo x >> count; test -f go || sleep 60";

#[test]
fn a12_exact_duplicate_returns_saved_result() {
    let world = World::new();
    let first = world.passes("a", "echo x >> count; cat a.txt");
    assert!(!first.is_replayed);
    // Edits, a restart, and not even a checkout any more: it is history, not a view.
    std::fs::write(world.path("a.txt"), "two\n").unwrap();
    std::fs::rename(world.path(".git"), world.path("git-is-away")).unwrap();
    let world = world.restarted();
    let before = world.state();
    for _ in 0..3 {
        let again = world.passes("a", "echo x >> count; cat a.txt");
        assert!(again.is_replayed);
        assert_eq!(again.receipt, first.receipt);
        assert_eq!(again.receipt.unwrap().output.unwrap().stdout.text(), "one\n");
    }
    assert_eq!((world.count(), world.state()), (1, before), "nothing ran, and no byte was written");
    // A command that failed is as much history as one that did not.
    let world = World::new();
    assert_eq!(world.run("f", "echo x >> count; exit 7").exit_code(), 1);
    let again = world.run("f", "echo x >> count; exit 7");
    assert!(again.is_replayed);
    assert_eq!((again.exit_code(), world.count()), (1, 1));
    assert_eq!(again.receipt.unwrap().exit, Some(owed_gates::ledger::Exit::Code(7)));
}

#[test]
fn a13_the_same_id_with_another_payload_is_refused() {
    let world = World::new();
    let first = sh(COUNTS);
    world.passes("a", COUNTS);
    let before = world.state();
    for (what, other) in [
        ("an explicit default timeout", Submission { timeout: Some(DEFAULT_TIMEOUT), ..first.clone() }),
        ("a purpose", Submission { purpose: Purpose::Baseline, ..first.clone() }),
        ("a command", sh("echo x  >> count")),
        (
            "the form",
            Submission { command: Command::Program(vec!["echo".into(), "x".into()]), ..first.clone() },
        ),
    ] {
        let answer = world.submit("a", &other, &Session::default());
        assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::PayloadChanged)), "{what}");
        assert_eq!((answer.exit_code(), world.count()), (2, 1));
    }
    assert_eq!(world.state(), before);
    // The other way round: explicit first, then left out.
    world.run_for("b", COUNTS, 600_000);
    assert_eq!(world.run("b", COUNTS).refusal, Some(Why::Ledger(Refusal::PayloadChanged)));
    // The same words for the shell and as arguments are two payloads as well.
    world.passes("c", "echo x");
    let words = Submission { command: Command::Program(vec!["echo".into(), "x".into()]), ..sh("") };
    let answer = world.submit("c", &words, &Session::default());
    assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::PayloadChanged)));
}

#[test]
fn a14_simultaneous_duplicates_execute_once() {
    let world = World::new();
    let command = "sleep 0.3; echo x >> count; echo done";
    let answers: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..6).map(|_| scope.spawn(|| world.run("a", command))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(world.count(), 1);
    assert_eq!(answers.iter().filter(|answer| !answer.is_replayed).count(), 1);
    for answer in &answers {
        assert_eq!(answer.exit_code(), 0, "{answer:#?}");
        assert_eq!(answer.receipt.as_ref().unwrap().output.as_ref().unwrap().stdout.text(), "done\n");
    }
}

#[test]
fn a16_unknown_is_never_repeated_and_its_command_is_suppressed_until_it_is_settled() {
    let world = World::new();
    let answer = world.run_for("a", SLOW, 300);
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::TimedOut)));
    assert_eq!((receipt.exit, world.count()), (None, 1));
    std::fs::write(world.path("go"), "").unwrap();
    let world = world.restarted();
    let same = world.run_for("a", SLOW, 300);
    let unresolved =
        Refusal::Unresolved { phase: Phase::Command, state: owed_gates::state::CallState::Unknown };
    assert_eq!(same.refusal, Some(Why::Ledger(unresolved)));
    assert_eq!((same.exit_code(), same.receipt.unwrap().state), (75, State::Unknown));
    for (id, ms) in [("b", 300), ("c", 60_000)] {
        let other = world.run_for(id, SLOW, ms);
        assert!(
            matches!(&other.refusal, Some(Why::Ledger(Refusal::Suppressed { by, .. })) if *by == call("a")),
            "{:?}",
            other.refusal
        );
        assert_eq!((other.exit_code(), other.record), (2, None));
    }
    assert_eq!(world.count(), 1, "nothing ran again");
    // Other commands go on, and every answer says that something is open.
    let other = world.passes("d", "true");
    assert_eq!(other.open, [call("a")]);

    let settled = world.with(|checks| checks.settle(&world.who, &call("a")).unwrap());
    assert_eq!((settled.phase, settled.receipt.state), (Phase::Command, State::Unknown));
    assert!(settled.receipt.is_settled, "what it did stays unknown");
    let same = world.run_for("a", SLOW, 300);
    assert_eq!(same.refusal.as_ref().unwrap().code(), "retired");
    assert_eq!((same.exit_code(), world.count()), (75, 1));
    let other = world.run_for("b", SLOW, 60_000);
    assert_eq!((other.exit_code(), world.count()), (0, 2), "under a new id it runs");
    assert!(other.open.is_empty());
}

#[test]
fn a17_commands_that_are_spelled_differently_are_different_commands() {
    let world = World::new();
    assert_eq!(world.run_for("a", SLOW, 300).receipt.unwrap().state, State::Unknown);
    std::fs::write(world.path("go"), "").unwrap();
    let spelled = SLOW.replace("test -f go", "test  -f go");
    assert_eq!((world.run("b", &spelled).exit_code(), world.count()), (0, 2));
}

#[test]
fn a18_preflight_and_command_have_identities_of_their_own() {
    let world = World::new();
    let answer = world.passes("a", "true");
    let call = answer.record.unwrap();
    let command = call.command.unwrap();
    let (first, second) = (call.preflight.started.unwrap(), command.started.unwrap());
    assert_eq!((first.phase, second.phase), (Phase::Preflight, Phase::Command));
    assert_ne!(first.process, second.process);
    // Each was written down before it ran, and the first one's result before the second.
    let saved = call.preflight.completed.unwrap();
    assert!(call.preflight.intended_ms <= first.at_ms && first.at_ms <= saved.at_ms);
    assert!(saved.at_ms <= command.intended_ms && command.intended_ms <= second.at_ms);
    assert_eq!(saved.outcome.exit, owed_gates::ledger::Exit::Code(0));
}

#[test]
fn a19_a_preflight_is_saved_before_it_is_read_and_a_bad_one_starts_nothing() {
    for (id, says) in [
        ("prose", "the tree is clean\n"),
        ("more", "{\"path\":\"PATH\",\"head\":null,\"fingerprint\":\"worktree1:0\",\"clean\":true}\n"),
        ("other", "{\"path\":\"/elsewhere\",\"head\":null,\"fingerprint\":\"worktree1:0\"}\n"),
        ("nothing", ""),
    ] {
        let mut world = World::new();
        let observer = world.path("observer");
        let says = says.replace("PATH", world.root().to_str().unwrap());
        std::fs::write(&observer, format!("#!/bin/sh\nprintf '%s' '{says}'\n")).unwrap();
        crate::supervise::executable(&observer);
        world.executor.observer.program = observer;
        world.executor.observer.arguments.clear();
        let answer = world.run("a", COUNTS);
        let receipt = answer.receipt.as_ref().unwrap();
        assert_eq!(
            (receipt.state, receipt.not_started),
            (State::NotStarted, Some(NotStartedReason::ObservationUnusable)),
            "{id}"
        );
        assert_eq!((answer.exit_code(), world.count()), (2, 0));
        let saved = answer.record.unwrap().preflight.completed.unwrap();
        assert_eq!(saved.outcome.output.stdout.text(), says, "{id}: as it was printed");
    }
    // One that fails, and one whose end is not known, start nothing either.
    let mut world = World::new();
    world.executor.observer.program = "/bin/false".into();
    assert_eq!(
        world.run("a", COUNTS).receipt.unwrap().not_started,
        Some(NotStartedReason::ObservationUnusable)
    );
    world.executor.observer.program = "/bin/sh".into();
    world.executor.observer.arguments = vec!["-c".into(), "kill -9 $$".into()];
    let answer = world.run("b", "echo y >> count");
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.phase, receipt.state), (Phase::Preflight, State::Unknown));
    assert_eq!(world.run("b", "echo y >> count").refusal.unwrap().code(), "unresolved");
    assert_eq!(world.run("c", "echo y >> count").refusal.unwrap().code(), "suppressed");
    assert_eq!(world.count(), 0);
}

#[test]
fn a40_a_restart_begins_with_what_is_recorded() {
    let world = World::new();
    world.passes("done", COUNTS);
    let world = world.restarted();
    assert!(world.passes("done", COUNTS).is_replayed);
    world.passes("new", COUNTS);
    assert_eq!(world.count(), 2, "a completed call permits new ones");
    assert_eq!(world.run_for("lost", SLOW, 300).receipt.unwrap().state, State::Unknown);
    let world = world.restarted();
    assert_eq!(world.run_for("again", SLOW, 300).refusal.unwrap().code(), "suppressed");
    let frames = world.path(".owed/ledger/run/frames");
    let mut bytes = std::fs::read(&frames).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&frames, bytes).unwrap();
    let world = world.restarted();
    let before = world.state();
    for id in ["done", "other"] {
        let answer = world.run(id, COUNTS);
        assert_eq!((answer.refusal.as_ref().unwrap().code(), answer.exit_code()), ("ledger_held", 2));
    }
    assert_eq!((world.count(), world.state()), (3, before), "an unreadable history stops everything");
}

#[test]
fn a44_a_verification_has_an_id_of_its_own_and_the_baseline_stays() {
    let world = World::new();
    let baseline = Submission { purpose: Purpose::Baseline, ..sh("grep -q two a.txt") };
    assert_eq!(world.submit("before", &baseline, &Session::default()).exit_code(), 1);
    std::fs::write(world.path("a.txt"), "two\n").unwrap();
    world.passes("after", "grep -q two a.txt");
    let listing = world.with(|checks| checks.list(&world.who).unwrap());
    let seen: Vec<_> = listing
        .calls
        .iter()
        .map(|(call, receipt)| (call.request.call.as_str(), call.request.purpose, receipt.exit_code()))
        .collect();
    assert_eq!(seen, [("before", Purpose::Baseline, 1), ("after", Purpose::Verification, 0)]);
    let [first, second] = [0, 1].map(|at| listing.calls[at].1.observed.clone().unwrap());
    assert_eq!(first.head, second.head);
    assert_ne!(first.fingerprint, second.fingerprint);
    assert!(Duration::from_secs(600) == DEFAULT_TIMEOUT);
}
