//! What is let in: submissions, limits, policies, budgets, identities, capabilities.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use owed_gates::check::dispatch::DISPATCH_CHARS;
use owed_gates::check::{Checkpoint, Command, LONGEST_TIMEOUT, Session, State, Submission, Why};
use owed_gates::ledger::{CallId, Invalid, Label, NotStartedReason, Purpose, Refusal, UnknownReason};
use owed_gates::policy::{Denied, PolicyFile};
use owed_gates::state::{Next, REFUSALS_IN_A_ROW, Recovery};
use owed_gates::supervise::{Stop, StopReason, Supervisor};

use super::world::{COUNTS, From, World, call, label, sh};

#[test]
fn a01_only_purpose_command_timeout_and_checkpoint_are_taken() {
    let good = r#"{"purpose":"baseline","command":"true"}"#;
    let submission = Submission::from_json(good).unwrap();
    assert_eq!(submission.purpose, Purpose::Baseline);
    assert_eq!(submission.command, Command::Shell("true".to_owned()));
    assert_eq!(submission.timeout, None);
    let timed =
        Submission::from_json(r#"{"purpose":"verification","command":"true","timeout_ms":90000}"#).unwrap();
    assert_eq!(timed.timeout, Some(Duration::from_secs(90)));
    for (field, value) in [
        ("exit_code", "0"),
        ("result", "\"passed\""),
        ("run", "\"other\""),
        ("workspace", "\"/elsewhere\""),
        ("stdout", "\"ok\""),
        ("timeout", "5"),
    ] {
        let more = good.replacen('{', &format!("{{\"{field}\":{value},"), 1);
        match Submission::from_json(&more) {
            Err(why @ Why::Submission(_)) => {
                assert!(why.to_string().contains(field), "{why}");
                assert_eq!(why.code(), "submission_invalid");
                assert!(why.did_not_start());
            }
            other => panic!("{field}: {other:?}"),
        }
    }
    for bad in [
        r#"{"purpose":"baseline"}"#,
        r#"{"purpose":"approval","command":"true"}"#,
        r#"{"purpose":"baseline","command":"true","timeout_ms":null}"#,
        r#"{"purpose":"baseline","command":"true","timeout_ms":0}"#,
        r#"{"purpose":"baseline","command":"true","timeout_ms":-5}"#,
        r#"{"purpose":"baseline","command":"true","command":"false"}"#,
        r#"["baseline","true"]"#,
        "",
    ] {
        assert!(matches!(Submission::from_json(bad), Err(Why::Submission(_))), "{bad}");
    }
    // The parser's words never quote a value.
    let secret = Submission::from_json(r#"{"purpose":"hunter2","command":"true"}"#).unwrap_err();
    assert!(!secret.to_string().contains("hunter2"), "{secret}");
}

#[test]
fn a02_commands_end_at_16_000_characters_and_dispatches_at_64_000() {
    let world = World::new();
    let longest = format!("true #{}", "ü".repeat(15_994));
    assert_eq!(longest.chars().count(), 16_000);
    let answer = world.run("longest", &longest);
    assert_eq!(answer.exit_code(), 0, "{:?}", answer.refusal);
    assert_eq!(answer.record.unwrap().request.command.text, longest, "the receipt holds all of it");

    let before = world.state();
    for (id, command) in [("longer", format!("{longest}x")), ("lines", "true\n".repeat(3_201))] {
        let answer = world.run(id, &command);
        assert!(
            matches!(&answer.refusal, Some(Why::Ledger(Refusal::Invalid(Invalid { what: "command", .. })))),
            "{:?}",
            answer.refusal
        );
        assert_eq!((answer.exit_code(), answer.record), (2, None));
    }
    let words = Submission { command: Command::Program(vec!["echo".into(), "'".repeat(15_900)]), ..sh("") };
    let answer = world.submit("quotes", &words, &Session::default());
    assert!(
        matches!(answer.refusal, Some(Why::Ledger(Refusal::Invalid(_)))),
        "63,600 characters when quoted"
    );
    assert_eq!(world.state(), before, "no byte of history changed");
    let nul = world.run("nul", "echo a\0b");
    assert!(matches!(nul.refusal, Some(Why::Ledger(Refusal::Invalid(Invalid { rule: "has no NUL", .. })))));
    for empty in ["", " \n\t"] {
        assert_eq!(world.run("empty", empty).refusal.unwrap().code(), "invalid");
    }
    assert_eq!(world.state(), before);
}

#[test]
fn a03_a_long_command_of_many_lines_is_kept_whole_and_read_after_a_restart() {
    let world = World::new();
    let command = format!("set -e\n{}{COUNTS}\n", "echo 'a line of a script' > line\n".repeat(300));
    assert!(command.len() > 9_000);
    world.passes("a", &command);
    let world = world.restarted();
    let (record, receipt) = world.with(|checks| checks.show(&world.who, &call("a")).unwrap());
    assert_eq!(record.request.command.text, command);
    assert_eq!(receipt.state, State::Completed);
    world.passes("a", &command);
    assert_eq!(world.count(), 1, "it was read, not run");
}

#[test]
fn a04_the_compact_form_keeps_every_character_and_the_hash_of_what_fits_stays() {
    use std::path::Path;
    // 16,000 characters, nearly all quotes: 64,000 and more in the original form.
    let quotes = format!("printf %s \"{}\"", "'".repeat(15_988));
    assert_eq!(quotes.chars().count(), 16_000);
    let long_path = format!("/{}", "long directory's name/".repeat(40));
    for checkout in ["/repo", &long_path] {
        let dispatch = Command::Shell(quotes.clone()).dispatch(Path::new(checkout)).unwrap();
        assert!(dispatch.text.chars().count() <= DISPATCH_CHARS);
        assert_eq!(dispatch.arguments, ["-c", dispatch.text.as_str()]);
    }
    // What fits is in the original form, by its definition and not by ours.
    let small = Command::Shell("echo 'a'".to_owned()).dispatch(Path::new("/re'po")).unwrap();
    assert_eq!(small.text, r"cd '/re'\''po' && exec /bin/sh -c 'echo '\''a'\'''");
    let pinned = owed_gates::ledger::Digest::of("owed check 1: operation", &[small.text.as_bytes()]);
    assert_eq!(small.hash(), pinned);

    // Executed, both give what was meant, at a short and at a long path.
    let nasty = r#"printf '%s|' 'a$b`c"d\e' "it's" 'x  y' "\$HOME" '!'"#;
    let meant = "a$b`c\"d\\e|it's|x  y|$HOME|!|";
    for depth in [0, 8] {
        let mut world = World::new();
        if depth > 0 {
            let deep = world.path(&"a directory's name/".repeat(depth));
            std::fs::create_dir_all(&deep).unwrap();
            crate::observe::git(&deep, &["init", "-q"]);
            world.who.run = owed_gates::ledger::RunId::new("deep").unwrap();
            let answer = owed_gates::check::Checks {
                store: &world.store,
                executor: &world.executor,
                policy: &*world.policy,
                checkout: &deep.canonicalize().unwrap(),
                must_exist: false,
            }
            .run(&world.who, &call("deep"), &sh(nasty), &Session::default());
            assert_eq!(answer.receipt.unwrap().output.unwrap().stdout.text(), meant);
            continue;
        }
        assert_eq!(world.run("plain", nasty).receipt.unwrap().output.unwrap().stdout.text(), meant);
        let padded = format!("{nasty} # {}", "'".repeat(16_000 - nasty.len() - 3));
        let original = format!("'{}'", padded.replace('\'', r"'\''"));
        assert!(original.chars().count() > 63_000);
        assert_eq!(world.run("padded", &padded).receipt.unwrap().output.unwrap().stdout.text(), meant);
        let counted = world.run("counted", &format!("{quotes} | wc -c"));
        assert_eq!(counted.refusal.unwrap().code(), "invalid", "over 16,000 characters");
        let quotes = format!("printf %s \"{}\"|wc -c", "'".repeat(15_982));
        let counted = world.run("fits", &quotes);
        assert_eq!(counted.receipt.unwrap().output.unwrap().stdout.text().trim(), "15982");
    }
}

#[test]
fn a05_the_policy_is_asked_before_the_intent_and_again_before_the_dispatch() {
    let mut world = World::new();
    std::fs::write(
        world.path("owed.toml"),
        "[[policy.record.deny]]\npattern = 'count'\nreason = 'not today'\n",
    )
    .unwrap();
    world.policy = Box::new(PolicyFile(world.path("owed.toml")));
    let answer = world.run("a", COUNTS);
    assert_eq!(answer.refusal, Some(Why::Policy(Denied::Rule { reason: "not today".to_owned() })));
    assert_eq!((answer.exit_code(), answer.record), (2, None));
    assert!(!world.path(".owed").exists(), "nothing was written");

    // The rule comes while the checkout is being looked at, and once more at the last moment.
    for nth in [2, 3, 4] {
        let mut world = World::new();
        world.policy = Box::new(From::nth(nth, || true));
        let answer = world.run("a", COUNTS);
        let receipt = answer.receipt.as_ref().unwrap();
        assert_eq!(
            (receipt.state, receipt.not_started),
            (State::NotStarted, Some(NotStartedReason::PolicyRefused)),
            "{nth}"
        );
        assert_eq!((world.count(), answer.exit_code()), (0, 2));
    }
    let mut world = World::new();
    std::fs::write(world.path("owed.toml"), "[policy.record]\nnonsense = 1\n").unwrap();
    world.policy = Box::new(PolicyFile(world.path("owed.toml")));
    assert_eq!(world.run("a", COUNTS).refusal.unwrap().code(), "policy_unreadable");
    assert_eq!(world.count(), 0);
}

#[test]
fn a06_a_timeout_is_clipped_by_the_budget_and_a_session_only_narrows() {
    let session = Session::default().narrowed(Duration::from_secs(5)).narrowed(Duration::from_secs(500));
    assert!(session.left().unwrap() <= Duration::from_secs(5));
    assert!(session.allows(Duration::from_secs(60)).is_clipped);
    let allowance = session.allows(Duration::from_secs(1));
    assert_eq!((allowance.time, allowance.is_clipped), (Duration::from_secs(1), false));
    assert_eq!(Session::default().left(), None);

    let world = World::new();
    let submission = Submission { timeout: Some(Duration::from_secs(600)), ..sh("echo begun; sleep 60") };
    let answer = world.submit("a", &submission, &Session::default().narrowed(Duration::from_secs(2)));
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::TimedOut)));
    assert_eq!(
        receipt.abort,
        Some(owed_gates::ledger::AbortSource::RunDeadline),
        "the run's end, not its own"
    );
    let spent = world.submit("b", &sh(COUNTS), &Session::default().narrowed(Duration::ZERO));
    assert_eq!((spent.refusal, spent.record), (Some(Why::BudgetExhausted), None));
    for timeout in [Duration::ZERO, LONGEST_TIMEOUT + Duration::from_millis(1)] {
        let submission = Submission { timeout: Some(timeout), ..sh(COUNTS) };
        assert_eq!(world.submit("c", &submission, &Session::default()).refusal, Some(Why::Timeout));
    }
    assert_eq!(world.count(), 0);
}

#[test]
fn a09_a_stop_between_intent_and_dispatch_is_not_started_and_nothing_else() {
    let mut world = World::new();
    let stop = Stop::default();
    let stops = stop.clone();
    world.policy = Box::new(From::nth(3, move || {
        stops.stop(StopReason::Run);
        false
    }));
    let answer = world.submit("a", &sh(COUNTS), &Session::new(stop));
    let receipt = answer.receipt.as_ref().unwrap();
    assert_eq!((receipt.state, receipt.not_started), (State::NotStarted, Some(NotStartedReason::Stopped)));
    assert_eq!((receipt.unknown, receipt.exit), (None, None), "neither unknown nor completed");
    assert_eq!((answer.exit_code(), world.count()), (75, 0), "no verdict, and no failure of a task");
    assert!(answer.open.is_empty());

    let mut world = World::new();
    world.policy = Box::new(From::nth(2, || {
        std::thread::sleep(Duration::from_millis(1_100));
        false
    }));
    let answer = world.submit("a", &sh(COUNTS), &Session::default().narrowed(Duration::from_secs(1)));
    assert_eq!(answer.receipt.unwrap().not_started, Some(NotStartedReason::BudgetExhausted));
    assert_eq!(world.count(), 0);
}

#[test]
fn a15_what_did_not_start_may_be_tried_under_a_new_id() {
    let mut world = World::new();
    let denies = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&denies);
    world.policy = Box::new(From::nth(2, move || asked.load(Ordering::SeqCst)));
    assert_eq!(world.run("a", COUNTS).receipt.unwrap().state, State::NotStarted);
    denies.store(false, Ordering::SeqCst);
    let same = world.run("a", COUNTS);
    assert!(same.is_replayed, "the same id keeps its history");
    assert_eq!((same.receipt.unwrap().state, world.count()), (State::NotStarted, 0));
    world.passes("b", COUNTS);
    assert_eq!(world.count(), 1);
}

#[test]
fn a_command_that_cannot_be_made_to_start_did_not_start() {
    let world = World::new();
    let program = |words: &[&str]| Submission {
        command: Command::Program(words.iter().map(|word| (*word).to_owned()).collect()),
        ..sh("")
    };
    let missing = program(&["no-such-program-here", "a b"]);
    let answer = world.submit("a", &missing, &Session::default());
    let receipt = answer.receipt.as_ref().unwrap();
    assert_eq!(
        (receipt.state, receipt.not_started),
        (State::NotStarted, Some(NotStartedReason::SpawnFailed))
    );
    assert_eq!(answer.not_run.unwrap().word(), "program-missing");
    assert_eq!(answer.exit_code(), 2);
    // Arguments are executed as they are, blanks and all.
    let counted = world.submit("b", &program(&["printf", "%s|", "a b", "$HOME", ""]), &Session::default());
    assert_eq!(counted.receipt.unwrap().output.unwrap().stdout.text(), "a b|$HOME||");
    assert_eq!(counted.record.unwrap().request.command.text, "printf '%s|' 'a b' '$HOME' ''");
}

#[test]
fn a24_an_absent_ledger_refuses_before_anything_when_it_has_to_exist() {
    let mut world = World::new();
    world.must_exist = true;
    let answer = world.run("a", COUNTS);
    assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::Absent)));
    assert!(answer.refusal.unwrap().did_not_start());
    assert!(!world.path(".owed").exists() && world.count() == 0);
    // Where there was one, its absence is no absence.
    world.must_exist = false;
    world.passes("a", COUNTS);
    std::fs::remove_dir_all(world.path(".owed/ledger")).unwrap();
    let answer = world.run("b", COUNTS);
    assert_eq!(answer.refusal.unwrap().code(), "ledger_held");
    assert_eq!(world.count(), 1);
}

#[test]
fn a25_what_is_uncertain_comes_before_what_is_missing() {
    let world = World::new();
    let slow = "test -f go || sleep 60";
    assert_eq!(world.run_for("a", slow, 200).receipt.unwrap().state, State::Unknown);
    std::fs::rename(world.path(".git"), world.path("git-is-away")).unwrap();
    assert_eq!(world.run("b", COUNTS).refusal.unwrap().code(), "no_checkout");
    for (id, code) in [("a", "unresolved"), ("b", "suppressed")] {
        let why = world.run_for(id, slow, 200).refusal.unwrap();
        assert_eq!(why.code(), code);
        assert!(!why.permits_unrecorded());
    }
    // So does a policy that would refuse, and a host that could run nothing.
    let mut world = world;
    world.policy = Box::new(From::nth(1, || true));
    world.executor.supervisor = Supervisor { program: "/nowhere".into(), arguments: Vec::new() };
    assert_eq!(world.run_for("a", slow, 200).refusal.unwrap().code(), "unresolved");
}

#[test]
fn a26_only_a_missing_capability_permits_an_unrecorded_run() {
    let mut world = World::new();
    std::fs::rename(world.path(".git"), world.path("git-is-away")).unwrap();
    let why = world.run("a", COUNTS).refusal.unwrap();
    assert_eq!(why, Why::NoCheckout);
    assert!(why.permits_unrecorded() && why.did_not_start());
    assert!(!world.path(".owed").exists(), "it touched nothing");
    std::fs::rename(world.path("git-is-away"), world.path(".git")).unwrap();
    world.policy = Box::new(From::nth(1, || true));
    assert!(!world.run("a", COUNTS).refusal.unwrap().permits_unrecorded());
    for why in [
        Why::BudgetExhausted,
        Why::Stopped(StopReason::Run),
        Why::Ledger(Refusal::PayloadChanged),
        Why::Ledger(Refusal::DiskFull),
        Why::Persistence { step: "sync", kind: std::io::ErrorKind::StorageFull, dispatched: true },
        Why::Persistence { step: "sync", kind: std::io::ErrorKind::StorageFull, dispatched: false },
    ] {
        assert!(!why.permits_unrecorded(), "{why:?}");
        assert!(!why.remedy().is_empty() && !why.remedy().contains('\n'));
    }
}

#[test]
fn a32_the_preflight_has_an_allowance_of_its_own() {
    let mut world = World::new();
    let slow = world.path("slow-observer");
    let binary = env!("CARGO_BIN_EXE_owed-supervisor");
    std::fs::write(&slow, format!("#!/bin/sh\nsleep 0.6\nexec '{binary}' observe \"$1\"\n")).unwrap();
    crate::supervise::executable(&slow);
    world.executor.observer = Supervisor { program: slow, arguments: Vec::new() };
    let answer = world.run_for("a", COUNTS, 400);
    assert_eq!((answer.exit_code(), world.count()), (0, 1), "a timeout shorter than the preflight took");
    // Both end with the run.
    let answer = world.submit("b", &sh("echo b"), &Session::default().narrowed(Duration::from_millis(300)));
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.phase, receipt.state), (owed_gates::state::Phase::Preflight, State::Unknown));
    assert_eq!(receipt.unknown, Some(UnknownReason::TimedOut));
}

#[test]
fn a38_a_receipt_is_bound_to_an_owner_and_a_foreign_one_changes_no_byte() {
    assert!(Label::new("").is_err(), "an empty owner, unit or thread is none");
    assert!(CallId::new("").is_err() && owed_gates::ledger::RunId::new("").is_err());
    let mut world = World::new();
    world.who.unit = Some(label("unit"));
    world.passes("a", COUNTS);
    let before = world.state();
    let mine = world.who.clone();
    for (what, change) in [
        (
            "owner",
            Box::new(|who: &mut owed_gates::check::Identity| who.owner = label("other"))
                as Box<dyn Fn(&mut _)>,
        ),
        ("unit", Box::new(|who: &mut owed_gates::check::Identity| who.unit = Some(label("other")))),
        ("unit", Box::new(|who: &mut owed_gates::check::Identity| who.unit = None)),
        ("thread", Box::new(|who: &mut owed_gates::check::Identity| who.thread = label("other"))),
    ] {
        world.who = mine.clone();
        change(&mut world.who);
        let saved = world.run("a", COUNTS);
        assert_eq!(saved.refusal, Some(Why::Identity(what)));
        assert_eq!(saved.record, None, "what belongs to another is not shown");
        let new = world.run("b", COUNTS);
        assert_eq!(new.refusal.unwrap().code(), "claim_refused", "{what}");
        assert_eq!((new.record, world.count()), (None, 1));
        assert_eq!(world.state(), before, "{what}");
    }
}

#[test]
fn a39_another_resource_refuses_before_anything_changes_and_the_same_goes_on() {
    let mut world = World::new();
    world.passes("a", COUNTS);
    let before = world.state();
    world.who.fence = 2;
    world.who.resource = label("resource ");
    let answer = world.run("b", COUNTS);
    assert_eq!(answer.refusal.unwrap().code(), "claim_refused", "compared byte by byte");
    assert_eq!((world.state(), world.count()), (before, 1));
    world.who.resource = label("resource");
    world.passes("b", COUNTS);
    assert_eq!(world.count(), 2, "a newer owner of the same");
    world.who.fence = 1;
    assert_eq!(
        world.run("c", COUNTS).refusal.unwrap().code(),
        "claim_refused",
        "the older one is fenced off"
    );
}

#[test]
fn a41_an_aborted_session_starts_nothing_and_interrupts_an_observation_without_completing_it() {
    let stop = Stop::default();
    stop.stop(StopReason::Call);
    let mut world = World::new();
    let answer = world.submit("a", &sh(COUNTS), &Session::new(stop));
    assert_eq!(answer.refusal, Some(Why::Stopped(StopReason::Call)));
    assert!(!world.path(".owed").exists());

    let slow = world.path("slow-observer");
    std::fs::write(&slow, format!("#!/bin/sh\necho x > '{}'\nsleep 60\n", world.path("observing").display()))
        .unwrap();
    crate::supervise::executable(&slow);
    world.executor.observer = Supervisor { program: slow, arguments: Vec::new() };
    let stop = Stop::default();
    let answer = std::thread::scope(|scope| {
        let running = scope.spawn(|| world.submit("b", &sh(COUNTS), &Session::new(stop.clone())));
        while !world.path("observing").exists() && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        stop.stop(StopReason::Call);
        running.join().unwrap()
    });
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.phase, receipt.state), (owed_gates::state::Phase::Preflight, State::Unknown));
    assert_eq!(receipt.abort, Some(owed_gates::ledger::AbortSource::CallSignal));
    assert_eq!((receipt.exit, world.count()), (None, 0));
}

#[test]
fn a48_refusals_may_be_corrected_until_they_repeat_and_uncertainty_stops_at_once() {
    let world = World::new();
    let mut recovery = Recovery::default();
    for _ in 1..REFUSALS_IN_A_ROW {
        assert!(world.run("a", "").refusal.unwrap().did_not_start());
        assert_eq!(recovery.refused(), Next::Continue);
    }
    assert_eq!(recovery.refused(), Next::StopRepeatedRefusals);
    // The corrected command runs under the very id that was refused.
    world.passes("a", COUNTS);
    assert_eq!(recovery.answered(), Next::Continue);
    assert_eq!(world.run_for("b", "sleep 60", 200).receipt.unwrap().state, State::Unknown);
    assert_eq!(recovery.uncertain(), Next::StopUncertain);
    assert_eq!(recovery.answered(), Next::StopUncertain, "until it is settled");
}

#[test]
fn too_little_memory_is_no_verdict_and_nothing_is_written() {
    let mut world = World::new();
    world.executor.admission = u64::MAX;
    let answer = world.run("a", COUNTS);
    assert_eq!((answer.refusal.as_ref().unwrap().code(), answer.exit_code()), ("memory_low", 75));
    assert!(!world.path(".owed").exists());
}

#[test]
fn a_checkpoint_belongs_to_what_was_submitted_and_to_a_verification() {
    let checkpoint = Checkpoint {
        phase: "p".into(),
        goal: "g".into(),
        decisions: vec![],
        rejected: vec![],
        completed: vec![],
        unproven: vec![],
        next: "n".into(),
    };
    let world = World::new();
    let submission =
        Submission { purpose: Purpose::Baseline, checkpoint: Some(checkpoint.clone()), ..sh(COUNTS) };
    let answer = world.submit("a", &submission, &Session::default());
    assert_eq!(answer.refusal, Some(Why::CheckpointWithBaseline));
    let text = format!(
        r#"{{"purpose":"baseline","command":"true","checkpoint":{}}}"#,
        serde_json::to_string(&checkpoint).unwrap()
    );
    assert_eq!(Submission::from_json(&text), Err(Why::CheckpointWithBaseline));
    assert_eq!(world.count(), 0);
}
