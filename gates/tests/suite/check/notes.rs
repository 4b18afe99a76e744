//! Phase notes with verifications, suggestions, and receipts of others.

use owed_gates::check::{Checkpoint, CheckpointFault, Kept, Session, Submission, Why, notes, suggest};
use owed_gates::ledger::Purpose;

use super::world::{COUNTS, World, sh};

fn checkpoint(goal: &str) -> Checkpoint {
    Checkpoint {
        phase: "build".to_owned(),
        goal: goal.to_owned(),
        decisions: vec!["one file a rule".to_owned()],
        rejected: vec!["a table".to_owned()],
        completed: vec!["the reader".to_owned()],
        unproven: vec!["large inputs".to_owned()],
        next: "the writer".to_owned(),
    }
}

fn with(goal: &str, command: &str) -> Submission {
    Submission { checkpoint: Some(checkpoint(goal)), ..sh(command) }
}

#[test]
fn a43_notes_are_replaced_by_a_new_verification_with_exit_code_0_and_by_nothing_else() {
    let mut world = World::new();
    let current = |world: &World| notes::current(world.store.state(), &world.who.run).unwrap();
    let submit =
        |world: &World, id: &str, submission: &Submission| world.submit(id, submission, &Session::default());
    assert_eq!(current(&world), None);

    let first = submit(&world, "a", &with("first", "echo x >> count"));
    assert_eq!(first.notes, Kept::Written(1));
    let (_, kept) = current(&world).unwrap();
    assert_eq!(kept.reported, checkpoint("first"));
    // The evidence of the process stands apart from what was reported.
    let observed = first.receipt.unwrap().observed.unwrap();
    assert_eq!(kept.observed.call, "a");
    assert_eq!(kept.observed.head.as_deref(), Some(observed.head.unwrap().as_str()));
    assert_eq!(kept.observed.fingerprint, observed.fingerprint.as_str());
    assert_eq!(kept.observed.command_hash, owed_gates::ledger::command_hash("echo x >> count"));

    let second = submit(&world, "b", &with("second", "echo y >> count"));
    assert_eq!(second.notes, Kept::Written(2));
    // A replay, a failure, an unknown end and a refusal keep what is there.
    assert_eq!(submit(&world, "a", &with("first", "echo x >> count")).notes, Kept::NotReplaced);
    assert_eq!(submit(&world, "c", &with("failed", "exit 1")).notes, Kept::NotReplaced);
    let slow =
        Submission { timeout: Some(std::time::Duration::from_millis(200)), ..with("lost", "sleep 60") };
    assert_eq!(submit(&world, "d", &slow).notes, Kept::NotReplaced);
    let baseline = Submission { purpose: Purpose::Baseline, ..with("no", COUNTS) };
    assert_eq!(submit(&world, "e", &baseline).refusal, Some(Why::CheckpointWithBaseline));
    assert_eq!(current(&world).unwrap().1.reported.goal, "second");
    assert_eq!(world.count(), 2);
    // The one before is still there.
    assert!(world.path(".owed/notes/run/000001.json").exists());

    // Another checkpoint under the same id is another payload.
    assert_eq!(
        submit(&world, "b", &with("third", "echo y >> count")).refusal.unwrap().code(),
        "payload_changed"
    );
    // A newer owner's notes are not replaced by an older owner's check.
    world.who.fence = 2;
    assert_eq!(submit(&world, "f", &with("newer", "true")).notes, Kept::Written(3));
    world.who.fence = 1;
    assert_eq!(submit(&world, "g", &with("older", "true 1")).refusal.unwrap().code(), "claim_refused");
    assert_eq!(current(&world).unwrap().1.reported.goal, "newer");

    // Notes that cannot be written are unknown, and the check is not run again for them.
    world.who.fence = 2;
    std::fs::remove_dir_all(world.path(".owed/notes")).unwrap();
    std::fs::write(world.path(".owed/notes"), "").unwrap();
    let lost = submit(&world, "h", &with("lost", "echo z >> count"));
    assert_eq!((lost.notes, lost.exit_code()), (Kept::Unknown, 0));
    assert_eq!(submit(&world, "h", &with("lost", "echo z >> count")).notes, Kept::NotReplaced);
    assert_eq!(world.count(), 3);
}

#[test]
fn a43_a_checkpoint_has_bounds_and_holds_no_secrets() {
    let world = World::new();
    let refused = |change: &dyn Fn(&mut Checkpoint)| {
        let mut checkpoint = checkpoint("g");
        change(&mut checkpoint);
        let submission = Submission { checkpoint: Some(checkpoint), ..sh(COUNTS) };
        world.submit("a", &submission, &Session::default()).refusal
    };
    let fault = |fault| Some(Why::Checkpoint(fault));
    assert_eq!(refused(&|c| c.goal = " ".to_owned()), fault(CheckpointFault::Empty("goal")));
    assert_eq!(refused(&|c| c.next = "x".repeat(2_001)), fault(CheckpointFault::TooLong("next")));
    assert_eq!(
        refused(&|c| c.decisions = vec!["x".to_owned(); 33]),
        fault(CheckpointFault::TooMany("decisions"))
    );
    assert_eq!(refused(&|c| c.completed = vec!["x".repeat(1_900); 9]), fault(CheckpointFault::TooLarge));
    assert_eq!(world.count(), 0);
    assert!(!world.path(".owed").exists());
    let kept = world.submit("a", &with("deploy with API_TOKEN=s3cret", COUNTS), &Session::default());
    assert_eq!(kept.notes, Kept::Written(1));
    let text = std::fs::read_to_string(world.path(".owed/notes/run/000001.json")).unwrap();
    assert!(text.contains("API_TOKEN=[redacted:secret]") && !text.contains("s3cret"), "{text}");
    for bad in [
        "{}",
        "[]",
        "{\"phase\":\"p\",\"goal\":\"g\",\"decisions\":[],\"rejected\":[],\"completed\":[],\"unproven\":[],\"next\":\"n\",\"exit_code\":0}",
    ] {
        assert!(Checkpoint::from_json(bad).is_err(), "{bad}");
    }
}

#[test]
fn a46_a_suggestion_is_bounded_by_the_package_and_a_missing_check_is_named() {
    let files = [
        ("package.json", r#"{"scripts":{"test":"vitest run"}}"#),
        ("pnpm-lock.yaml", ""),
        ("a/package.json", r#"{"scripts":{"test":"vitest --watch","test:unit":"vitest run"}}"#),
        ("b/package.json", r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#),
        ("c/pyproject.toml", ""),
        ("d/Cargo.toml", ""),
        ("docs/mkdocs.yml", ""),
        ("it's/go.mod", ""),
    ];
    let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
    let commands = |changed: &[&str]| {
        let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
        suggest(&read, &changed).into_iter().map(|one| (one.package, one.command)).collect::<Vec<_>>()
    };
    let some = |package: &str, command: &str| (package.to_owned(), Some(command.to_owned()));
    assert_eq!(commands(&["a/x.ts", "a/y/z.ts"]), [some("a", "cd a && pnpm run test:unit")]);
    assert_eq!(commands(&["b/x.ts"]), [("b".to_owned(), None)]);
    assert_eq!(
        commands(&["c/x.py", "d/src/x.rs", "it's/x.go", "a/README.md"]),
        [
            ("a".to_owned(), None),
            some("c", "cd c && python -m pytest"),
            some("d", "cd d && cargo test"),
            some("it's", r"cd 'it'\''s' && go test ./..."),
        ]
    );
    assert_eq!(commands(&["x.ts"]), [some("", "owed run x.ts")], "never the whole suite");
    assert_eq!(
        commands(&["x.ts", "README.md"]),
        [some("", "owed run x.ts")],
        "code decides where both change"
    );
    assert_eq!(commands(&["README.md"]), [("".to_owned(), None)]);
    assert_eq!(commands(&[]), []);
    let none = suggest(&|_| None, &["src/x.c".to_owned()]);
    assert_eq!(
        (none[0].command.clone(), none[0].reason.as_str()),
        (None, "no manifest around these files names a test")
    );
    // A tool that is missing is told from an assertion that failed by the kind of the end.
    let world = World::new();
    let words = vec!["no-such-runner".to_owned()];
    let submission = Submission { command: owed_gates::check::Command::Program(words), ..sh("") };
    let missing = world.submit("a", &submission, &Session::default());
    assert_eq!(missing.not_run, Some(owed_gates::supervise::NotRun::ProgramMissing));
    assert_eq!(world.run("b", "exit 1").not_run, None);
}

#[test]
fn a47_receipts_of_others_can_be_looked_at_and_stay_held() {
    use owed_gates::check::legacy::{HeldFor, NotLegacy, read};
    let text = r#"[
      {"callId":"a","runId":"r","unit":"","command":"npm test","exitCode":0},
      {"callId":"b","runId":"r","command":"curl -H 'Cookie: sid=1' x","exitCode":0,"output":{"stdout":"ok"}},
      {"id":"c","command":"true"},
      {"command":"no identity"},
      7
    ]"#;
    let file = read(text).unwrap();
    let held: Vec<_> = file.receipts.iter().map(|one| (one.call.as_str(), one.held)).collect();
    assert_eq!(held, [("a", HeldFor::EmptyUnit), ("b", HeldFor::OtherFormat), ("c", HeldFor::NoOwner)]);
    assert_eq!(file.passed_over, 2, "an identity that is absent is not made up");
    assert_eq!(file.receipts[1].fields["command"], "curl -H 'Cookie: [redacted:header]' x");
    assert_eq!(read("{\"id\":\"x\"}\n{\"id\":\"y\"}\n").unwrap().receipts.len(), 2);
    assert_eq!(read("passed: 3"), Err(NotLegacy));
    assert_eq!(read("3"), Err(NotLegacy));
    // One that claims success replays nothing and stands in nobody's way.
    let world = World::new();
    std::fs::write(world.path("old.json"), text).unwrap();
    assert!(!world.passes("a", COUNTS).is_replayed);
    assert_eq!(std::fs::read_to_string(world.path("old.json")).unwrap(), text);
}
