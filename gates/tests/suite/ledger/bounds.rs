//! What a run may hold.

use owed_gates::ledger::{
    Admission, CallId, Claim, Invalid, NotStartedReason, NotedRefusal, Options, Outcome, Output, Purpose,
    Refusal, Request, Stream, Timeout, capacity,
};
use owed_gates::state::CallState;

use super::{Project, call_id, completed, granted, intended, refusal, run_id, running};
use crate::simulation::real::{claim, outcome, request};

#[test]
fn a02_a_command_is_bounded_and_never_shortened() {
    let asked = |command: &str| {
        Request::new(call_id("a"), Purpose::Baseline, command, Timeout::Omitted, str::to_owned)
    };
    assert!(asked(&"é\n".repeat(8_000)).is_ok());
    let refused = |command: &str| asked(command).unwrap_err().rule;
    assert_eq!(refused(&"é\n".repeat(8_001)), "at most 16,000 characters");
    assert_eq!(refused(" \n"), "is not empty");
    assert_eq!(refused("true\0"), "has no NUL");
}

#[test]
fn a03_a_long_command_is_complete_after_a_restart() {
    let project = Project::new();
    let command = "printf '%s' \"quoted\" \\\n".repeat(600);
    assert!(command.chars().count() > 13_000);
    completed(&mut project.open(), "a", &command, 0);
    let call = project.call("a").unwrap();
    assert_eq!(call.request.command.text, command);
    assert!(!call.request.command.redacted);
}

#[test]
fn a36_a_redacted_command_keeps_its_identity_and_not_its_secret() {
    let project = Project::new();
    let mut run = project.open();
    let ask = |command: &str| {
        let redact = |text: &str| text.replace("hunter2", "[redacted]");
        Request::new(call_id("a"), Purpose::Baseline, command, Timeout::Omitted, redact).unwrap()
    };
    let Admission::New(permit) = run.begin(&ask("curl -H 'Cookie: hunter2'")).unwrap() else {
        panic!("it is new")
    };
    run.preflight_not_started(permit, NotStartedReason::Stopped).unwrap();
    assert!(!String::from_utf8_lossy(&std::fs::read(project.frames()).unwrap()).contains("hunter2"));
    let again = run.begin(&ask("curl -H 'Cookie: hunter2'")).unwrap();
    assert!(matches!(again, Admission::Replay(_)));
    assert_eq!(refusal(run.begin(&ask("curl -H 'Cookie: other'"))), Refusal::PayloadChanged);
}

#[test]
fn a27_the_thirty_third_receipt_is_refused_with_a_note_and_results_stay() {
    let project = Project::new();
    let mut run = project.open();
    for nth in 0..capacity::RECEIPTS {
        completed(&mut run, &format!("c{nth}"), &format!("command {nth}"), 0);
    }
    let full = Refusal::Capacity(NotedRefusal::ReceiptsFull);
    assert_eq!(refusal(run.begin(&request("more", "another"))), full);
    let snapshot = project.store.inspect(&run_id()).unwrap();
    let noted = snapshot.history.refused();
    assert_eq!((noted.len(), noted[0].call.as_str()), (1, "more"));
    assert!(snapshot.history.call(&call_id("more")).is_none());
    for nth in 0..capacity::RECEIPTS {
        let again = run.begin(&request(&format!("c{nth}"), &format!("command {nth}"))).unwrap();
        assert!(matches!(again, Admission::Replay(_)));
    }
}

#[test]
fn a27_notes_are_bounded_and_refusals_go_on() {
    let project = Project::new();
    let mut run = project.open();
    for nth in 0..capacity::RECEIPTS {
        completed(&mut run, &format!("c{nth}"), &format!("command {nth}"), 0);
    }
    for nth in 0..capacity::NOTES + 3 {
        let full = Refusal::Capacity(NotedRefusal::ReceiptsFull);
        assert_eq!(refusal(run.begin(&request(&format!("more {nth}"), "another"))), full);
    }
    assert_eq!(run.history().refused().len(), capacity::NOTES);
}

#[test]
fn a27_a_stream_keeps_four_thousand_characters() {
    let kept = Stream::clip(&"é".repeat(4_001), 8_002, false, false);
    assert_eq!((kept.text().chars().count(), kept.truncated(), kept.bytes()), (4_000, true, 8_002));
    assert!(!Stream::clip(&"é".repeat(4_000), 8_000, false, false).truncated());
}

#[test]
fn a28_a_clipped_output_is_partial_evidence_and_stays() {
    let project = Project::new();
    let mut run = project.open();
    let running = running(&mut run, "a", "true");
    let stdout = Stream::clip(&"x".repeat(5_000), 5_000, false, true);
    let output = Output { stdout: stdout.clone(), stderr: Stream::default() };
    run.complete(running, Outcome { output, ..outcome(0) }).unwrap();
    let saved = project.call("a").unwrap().command.unwrap().completed.unwrap().outcome.output;
    assert!(saved.partial());
    assert_eq!(saved.stdout, stdout);
    assert!(project.store.list(&Default::default()).unwrap().calls[0].partial);
}

#[test]
fn a29_room_is_reserved_before_execution_and_shrinks_at_completion() {
    let project = Project::new();
    let mut run = project.open();
    let mut waiting = Vec::new();
    let full = loop {
        let nth = waiting.len();
        match run.begin(&request(&format!("c{nth}"), &format!("command {nth}"))) {
            Ok(Admission::New(permit)) => waiting.push(permit),
            Ok(Admission::Replay(_)) => panic!("it is new"),
            Err(failure) => break refusal::<()>(Err(failure)),
        }
    };
    assert_eq!(full, Refusal::Capacity(NotedRefusal::BytesFull));
    assert!(waiting.len() >= 3, "{}", waiting.len());
    // Worst-case results of what was admitted fit.
    let worst = |most| Stream::clip(&"\u{1}".repeat(most), 4_000, false, false);
    for permit in waiting {
        let output = Output { stdout: worst(1_000), stderr: worst(1_000) };
        let fresh = run.complete_preflight(permit, Outcome { output, ..outcome(0) }).unwrap();
        let permit = run.intend(fresh, crate::simulation::real::observation()).unwrap();
        let running = run.start(permit, super::dead()).unwrap();
        let output = Output { stdout: worst(4_000), stderr: worst(4_000) };
        run.complete(running, Outcome { output, ..outcome(0) }).unwrap();
    }
    let again = run.begin(&request("c0", "command 0")).unwrap();
    assert!(matches!(again, Admission::Replay(_)));
}

#[test]
fn a29_thirty_two_small_receipts_fit() {
    let project = Project::new();
    let mut run = project.open();
    for nth in 0..capacity::RECEIPTS {
        let running = running(&mut run, &format!("c{nth}"), &format!("command {nth}"));
        let stdout = Stream::clip(&"line\n".repeat(200), 1_000, false, false);
        let output = Output { stdout, stderr: Stream::default() };
        run.complete(running, Outcome { output, ..outcome(0) }).unwrap();
    }
}

#[test]
fn a30_eviction_gives_up_outputs_and_keeps_tombstones() {
    let project = Project::new();
    let mut run = project.open();
    let running = running(&mut run, "first", "first");
    let stdout = Stream::clip("kept while there is room", 24, false, false);
    let output = Output { stdout, stderr: Stream::default() };
    run.complete(running, Outcome { output, ..outcome(5) }).unwrap();
    for nth in 0..capacity::ALIASES / 2 {
        let permit = intended(&mut run, &format!("c{nth}"), &format!("command {nth}"));
        run.not_started(permit, NotStartedReason::PolicyRefused).unwrap();
    }
    let call = project.call("first").unwrap();
    assert!(call.evicted);
    let saved = call.command.as_ref().unwrap().completed.as_ref().unwrap();
    assert_eq!((saved.outcome.output.stdout.text(), saved.outcome.exit), ("", outcome(5).exit));
    assert!(saved.outcome.output.partial());
    match run.begin(&request("first", "first")).unwrap() {
        Admission::Replay(replayed) => assert_eq!(*replayed, call),
        Admission::New(_) => panic!("a tombstone was repeated"),
    }
}

#[test]
fn a30_pending_aliases_are_never_evicted_and_a_newer_fence_lets_resolved_ones_go() {
    let project = Project::new();
    let mut run = project.open();
    drop(granted(&mut run, "pending", "pending"));
    for nth in 0..capacity::ALIASES / 2 - 1 {
        let permit = intended(&mut run, &format!("c{nth}"), &format!("command {nth}"));
        run.not_started(permit, NotStartedReason::PolicyRefused).unwrap();
    }
    let newer = Claim { fence: 2, ..claim() };
    let mut run = project.store.open(&run_id(), newer, Options::default()).unwrap();
    for nth in 0..20 {
        let permit = intended(&mut run, &format!("n{nth}"), &format!("newer {nth}"));
        run.not_started(permit, NotStartedReason::PolicyRefused).unwrap();
    }
    let evicted = run.history().calls().iter().filter(|call| call.evicted).count();
    assert_eq!(evicted, 0, "those of the older claim do not count any more");
    assert_eq!(project.call("pending").unwrap().state(), CallState::Pending);
    assert!(project.call("c0").is_some(), "and are still not repeated");
}

#[test]
fn a38_names_are_checked_before_anything_is_made() {
    use owed_gates::ledger::{Label, RunId};
    let rule = |answer: Result<(), Invalid>| answer.unwrap_err().what;
    for name in ["", ".", "..", "a/b", "a b", "é", &"x".repeat(65)] {
        assert_eq!(rule(RunId::new(name).map(|_| ())), "run id", "{name:?}");
    }
    for name in ["", "a\nb", "\u{7f}", &"x".repeat(1025)] {
        assert_eq!(rule(Label::new(name).map(|_| ())), "label", "{name:?}");
        assert_eq!(rule(CallId::new(name).map(|_| ())), "call id", "{name:?}");
    }
}
