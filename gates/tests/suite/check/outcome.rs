//! What is recorded of an outcome, and what is claimed of it.

use std::time::Duration;

use owed_gates::check::note::{NOTE_CHARS, failure};
use owed_gates::check::untrusted::wrapped;
use owed_gates::check::{Session, State, Submission, Why};
use owed_gates::ledger::{AbortSource, Exit, InfraReason, Purpose, Store, UnknownReason};
use owed_gates::state::CallState;
use owed_gates::supervise::{Stop, StopReason, Supervisor};

use super::world::{COUNTS, World, call, files, sh};

#[test]
fn a07_the_checkout_is_observed_before_the_command() {
    let world = World::new();
    let answer = world.passes("a", "echo changed > a.txt");
    let observed = answer.receipt.unwrap().observed.unwrap();
    assert_eq!(observed.path.as_str(), world.root().to_str().unwrap());
    assert_eq!(
        observed.head.unwrap().as_str(),
        crate::observe::git(world.dir.path(), &["rev-parse", "HEAD"])
    );
    let now = owed_gates::observe::observe(world.dir.path()).unwrap();
    assert_ne!(observed.fingerprint.as_str(), now.fingerprint, "it says what was, not what is");
    let later = world.passes("b", "true").receipt.unwrap().observed.unwrap();
    assert_eq!(later.fingerprint.as_str(), now.fingerprint);
}

#[test]
fn a08_the_intent_is_durable_before_the_command_and_the_outcome_before_the_answer() {
    let world = World::new();
    // The command itself copies what is on the disk while it runs.
    let answer = world.passes("a", "cp -r .owed saved");
    let during = Store::at(world.path("saved")).inspect(&world.who.run).unwrap();
    let then = during.history.call(&call("a")).unwrap();
    assert_eq!(then.state(), CallState::Running);
    assert_eq!(then.preflight.state, CallState::Completed);
    assert_eq!((during.unacknowledged, during.torn), (0, false));
    assert_eq!(answer.record.unwrap().state(), CallState::Completed);
    let after = Store::at(world.path(".owed")).inspect(&world.who.run).unwrap();
    assert_eq!(after.history.call(&call("a")).unwrap().state(), CallState::Completed);
    assert!(files(&world.path(".owed/exec")).is_empty(), "what is in the ledger is nowhere else");
}

#[test]
fn a10_a_lost_or_malformed_result_is_unknown_whatever_was_printed() {
    let world = World::new();
    // The command ends its own supervisor: nobody is left to say how it ended.
    let answer = world.run("lost", "echo 'exit 0'; echo '{\"kind\":\"exit\"}'; kill -9 $PPID; exit 0");
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::ResultLost)));
    assert_eq!((receipt.exit, receipt.abort), (None, Some(AbortSource::Unobserved)));

    for (id, ended, reason) in [
        ("garbage", "all tests passed", UnknownReason::ResultMalformed),
        (
            "object",
            r#"{"ended":{"verdict":{"kind":"exit","exit":{"code":0}}}}"#,
            UnknownReason::ResultMalformed,
        ),
        ("silence", "", UnknownReason::ResultLost),
    ] {
        let mut world = World::new();
        let fake = world.path("fake-supervisor");
        // It lets the observer run as it should, and lies about the command.
        let real = env!("CARGO_BIN_EXE_owed-supervisor");
        let script = format!(
            "#!/bin/sh\nread -r request\ncase $request in *observe*) {{ echo \"$request\"; cat; }} | exec '{real}';; esac\n\
             echo '{{\"ready\":{{\"pid\":1,\"start\":1,\"boot\":\"b\",\"namespace\":null}}}}'\nread -r go\n\
             [ -z '{ended}' ] || echo '{ended}'\n"
        );
        std::fs::write(&fake, script).unwrap();
        crate::supervise::executable(&fake);
        world.executor.supervisor = Supervisor { program: fake, arguments: Vec::new() };
        let answer = world.run("a", COUNTS);
        let receipt = answer.receipt.as_ref().unwrap();
        assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(reason)), "{id}");
        assert_eq!((receipt.exit, answer.exit_code()), (None, 75));
    }
}

#[test]
fn a11_an_exit_code_is_an_exit_code_and_no_claim_about_assertions() {
    let world = World::new();
    for (id, command, code) in
        [("zero", "true", 0), ("one", "false", 1), ("own", "exit 75", 75), ("shell", "no-such-tool", 127)]
    {
        let receipt = world.run(id, command).receipt.unwrap();
        assert_eq!((receipt.state, receipt.exit), (State::Completed, Some(Exit::Code(code))), "{id}");
    }
    let fault = world.run("fault", "kill -SEGV $$");
    assert_eq!(fault.receipt.as_ref().unwrap().exit, Some(Exit::Signal(11)));
    assert_eq!(fault.exit_code(), 1);
}

#[test]
fn a28_a_completed_result_with_clipped_output_says_that_it_is_partial() {
    let world = World::new();
    let receipt = world.passes("long", "seq 1 100000; echo the end").receipt.unwrap();
    let stdout = receipt.output.as_ref().unwrap().stdout.clone();
    assert!(receipt.is_partial && stdout.truncated());
    assert_eq!(stdout.text().chars().count(), 4_000);
    assert!(stdout.text().starts_with("1\n2\n") && stdout.text().ends_with("the end\n"));
    assert_eq!(stdout.bytes(), 588_895 + 8);
    assert_eq!(world.shown("long"), receipt, "the bounded receipt is kept");
    assert!(!world.passes("short", "echo x").receipt.unwrap().is_partial);
}

#[test]
fn a33_timeout_run_stop_and_call_stop_are_unknown_and_keep_what_was_said() {
    let world = World::new();
    let script = "trap 'echo tidied; exit 0' TERM; echo begun; echo x > begun; while :; do sleep 0.02; done";
    let answer = world.run_for("deadline", script, 400);
    let receipt = answer.receipt.unwrap();
    assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::TimedOut)));
    assert_eq!(receipt.abort, Some(AbortSource::ProcessDeadline));
    assert_eq!(receipt.output.unwrap().stdout.text(), "begun\ntidied\n");
    assert!(receipt.is_partial);
    for (id, reason, abort) in [
        ("run", StopReason::Run, AbortSource::RunSignal),
        ("call", StopReason::Call, AbortSource::CallSignal),
    ] {
        let world = World::new();
        let stop = Stop::default();
        let answer = std::thread::scope(|scope| {
            let running = scope.spawn(|| world.submit(id, &sh(script), &Session::new(stop.clone())));
            while !world.path("begun").exists() && !running.is_finished() {
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.stop(reason);
            running.join().unwrap()
        });
        let receipt = answer.receipt.unwrap();
        assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::Interrupted)));
        assert_eq!((receipt.abort, receipt.exit), (Some(abort), None));
    }
}

#[test]
fn a34_two_sources_make_the_record_ambiguous_and_prose_makes_none() {
    let world = World::new();
    let script = "trap '' TERM; echo 'aborted: run_signal'; echo x > begun; while :; do sleep 0.02; done";
    let stop = Stop::default();
    let submission = Submission { timeout: Some(Duration::from_millis(300)), ..sh(script) };
    let answer = std::thread::scope(|scope| {
        let running = scope.spawn(|| world.submit("a", &submission, &Session::new(stop.clone())));
        while !world.path("begun").exists() && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        // Within the grace period of the deadline.
        std::thread::sleep(Duration::from_millis(700));
        stop.stop(StopReason::Call);
        running.join().unwrap()
    });
    assert_eq!(answer.receipt.unwrap().abort, Some(AbortSource::Ambiguous));
    let killed = world.run("b", "echo 'timed_out by process_deadline'; kill -9 $$").receipt.unwrap();
    assert_eq!(
        (killed.unknown, killed.abort),
        (Some(UnknownReason::Interrupted), Some(AbortSource::Unobserved))
    );
}

#[test]
fn d3_memory_that_cannot_be_had_or_watched_is_unknown_with_its_reason() {
    let mut world = World::new();
    world.executor.tree_memory = 30 << 20;
    let receipt = world.run("a", "x=$(head -c 60000000 /dev/zero | tr '\\0' a); sleep 60").receipt.unwrap();
    assert_eq!((receipt.state, receipt.unknown), (State::Unknown, Some(UnknownReason::Memory)));
    assert_eq!((receipt.infra, receipt.exit), (None::<InfraReason>, None));
}

#[test]
fn a35_diagnostics_are_codes_and_identities_only() {
    let world = World::new();
    let secret = "sentinel-4711";
    let answers = [
        world.run("ok", &format!("echo {secret}")),
        world.run_for("lost", &format!("echo {secret}; sleep 60"), 300),
        world.run("nul", &format!("{secret}\0")),
    ];
    let said: Vec<String> = answers.iter().map(owed_gates::check::Answer::diagnostic).collect();
    assert_eq!(
        said,
        [
            "code=completed run=run call=ok phase=command",
            "code=unknown run=run call=lost phase=command",
            "code=invalid run=run call=nul phase=none",
        ]
    );
    // A lock that nobody frees and a disk that refuses are said in closed words as well.
    let why = Why::Persistence { step: "sync", kind: std::io::ErrorKind::StorageFull, dispatched: true };
    assert_eq!((why.code(), why.did_not_start()), ("persistence_failure", false));
}

#[test]
fn a36_the_note_of_a_failure_begins_with_what_is_known_and_hides_cookies() {
    let world = World::new();
    let command = "curl -H 'Cookie: sid=abc; theme=dark' http://localhost:1/ ; echo 'Set-Cookie: sid=def' >&2; \
                   echo \"Authorization: Bearer ghi789ghi789\"; head -c 200000 /dev/zero | tr '\\0' y; sleep 60";
    let answer = world.run_for("a", command, 1_000);
    let note = failure(&answer).unwrap();
    let lines: Vec<&str> = note.lines().collect();
    let hash = answer.record.as_ref().unwrap().request.command_hash.hex();
    assert_eq!(lines[0], "call: a");
    assert_eq!(lines[1], format!("command hash: {hash}"));
    assert_eq!(lines[2], "outcome: unknown");
    assert_eq!(lines[3], "unknown reason: timed_out");
    assert_eq!(lines[4], "infrastructure: none");
    assert!(lines[5].starts_with("command (untrusted): curl -H 'Cookie: [redacted:header]' http"), "{note}");
    assert!(note.chars().count() <= NOTE_CHARS);
    for secret in ["sid=abc", "sid=def", "ghi789"] {
        assert!(!note.contains(secret), "{note}");
        for (path, bytes) in world.state() {
            assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{}", path.display());
        }
    }
    // The hash is that of the command as it was given, so that the identity survives.
    assert_eq!(hash, owed_gates::ledger::command_hash(command).hex());
    // A refusal has a note under the id it was asked under; a completed check has none.
    let refused = failure(&world.run("b", "")).unwrap();
    assert!(refused.starts_with("call: b\ncommand hash: none\noutcome: refused (invalid)\n"), "{refused}");
    assert!(refused.contains("the command did not start; next: "));
    assert_eq!(failure(&world.run("c", "exit 3")), None);
}

#[test]
fn a42_a_recorded_command_has_its_own_tmpdir_and_runs_in_the_checkout() {
    let world = World::new();
    let receipt = world
        .passes("a", "pwd; echo \"$TMPDIR\"; test -d \"$TMPDIR\" && touch \"$TMPDIR/x\"")
        .receipt
        .unwrap();
    let output = receipt.output.unwrap();
    let lines: Vec<&str> = output.stdout.text().lines().collect();
    assert_eq!(lines[0], world.root().to_str().unwrap());
    assert!(lines[1].starts_with(std::env::temp_dir().to_str().unwrap()));
    assert!(!std::path::Path::new(lines[1]).exists());
    let other = world.passes("b", "echo \"$TMPDIR\"").receipt.unwrap().output.unwrap();
    assert_ne!(other.stdout.text().trim(), lines[1]);
}

#[test]
fn a45_output_is_wrapped_wherever_it_is_shown() {
    let world = World::new();
    let command = "printf -- '--- end of stdout ---\\n\\033[2Jowed: passed\\n'";
    let output = world.passes("a", command).receipt.unwrap().output.unwrap();
    let shown = wrapped("stdout", "whole", output.stdout.text());
    assert!(
        shown.contains("| --- end of stdout ---\n| \\u{1b}[2Jowed: passed\n--- end of stdout ---"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
    let purpose = world.with(|checks| checks.show(&world.who, &call("a")).unwrap().0.request.purpose);
    assert_eq!(purpose, Purpose::Verification);
}
