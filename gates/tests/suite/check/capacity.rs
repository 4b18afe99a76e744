//! Room: receipts, bytes, aliases.

use owed_gates::check::note::{NOTE_CHARS, failure};
use owed_gates::check::{Session, State, Submission, Why};
use owed_gates::ledger::capacity::{AGGREGATE_BYTES, ALIASES, RECEIPTS};
use owed_gates::ledger::{Failure, NotedRefusal, Purpose, Refusal};

use super::world::{COUNTS, Filler, World, call, sh};

#[test]
fn a27_the_33rd_receipt_is_refused_before_anything_runs_with_a_note_and_the_others_are_kept() {
    let world = World::new();
    world.passes("first", "echo x >> count; echo said");
    let mut filler = Filler::new(&world);
    for n in 1..RECEIPTS {
        filler.completes(&format!("c{n}"), &format!("true {n}"), "x").unwrap();
    }
    assert_eq!(RECEIPTS, 32);
    let command = "echo x >> count; curl -H 'Cookie: a=b' localhost";
    let answer = world.run("one-more", command);
    assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::Capacity(NotedRefusal::ReceiptsFull))));
    assert_eq!((answer.exit_code(), world.count()), (75, 1));
    assert!(answer.refusal.as_ref().unwrap().did_not_start());
    // The note stands in the run under the id that was asked for, and the one that is
    // handed on is bounded and without secrets.
    let listing = world.with(|checks| checks.list(&world.who).unwrap());
    assert_eq!(listing.refused, [(call("one-more"), NotedRefusal::ReceiptsFull)]);
    let note = failure(&answer).unwrap();
    assert!(
        note.starts_with("call: one-more\n")
            && note.contains("receipts_full")
            && note.chars().count() <= NOTE_CHARS
    );
    assert!(!note.contains("a=b"));
    // Saved results stay, and so does what suppresses.
    let again = world.passes("first", "echo x >> count; echo said");
    assert!(again.is_replayed);
    assert_eq!(again.receipt.unwrap().output.unwrap().stdout.text(), "said\n");
    assert_eq!(world.with(|checks| checks.show(&world.who, &call("c31")).unwrap().1.state), State::Completed);
    // Another run has room.
    let mut world = world;
    world.who.run = owed_gates::ledger::RunId::new("next").unwrap();
    world.passes("one-more", "true");
}

#[test]
fn a29_room_is_taken_before_anything_runs_and_the_aggregate_stays_in_its_bound() {
    let world = World::new();
    world.passes("small", COUNTS);
    assert_eq!(world.run_for("lost", "test -f go || sleep 60", 200).receipt.unwrap().state, State::Unknown);
    let mut filler = Filler::new(&world);
    let mut filled = 0;
    // Every character of the output is six bytes in a record.
    let said = "\u{1}".repeat(4_000);
    let refused = loop {
        let command = format!("true {filled:02} {}", "y".repeat(15_900));
        match filler.completes(&format!("c{filled}"), &command, &said) {
            Ok(()) => filled += 1,
            Err(failure) => break failure,
        }
    };
    assert!(matches!(refused, Failure::Refused(Refusal::Capacity(NotedRefusal::BytesFull))), "{refused}");
    assert!((3..=8).contains(&filled), "{filled} calls of 40 KB and the reservation of one more");
    assert_eq!(AGGREGATE_BYTES, 256 << 10);
    let size = std::fs::metadata(world.path(".owed/ledger/run/frames")).unwrap().len();
    assert!(size <= AGGREGATE_BYTES, "{size}");
    let long = format!("{COUNTS} #{}", "y".repeat(15_900));
    let answer = world.run("long", &long);
    assert_eq!(answer.refusal, Some(Why::Ledger(Refusal::Capacity(NotedRefusal::BytesFull))));
    assert_eq!((answer.record, world.count()), (None, 1));
    // Earlier identities and suppression are as they were.
    assert!(world.passes("small", COUNTS).is_replayed);
    assert_eq!(world.run_for("again", "test -f go || sleep 60", 200).refusal.unwrap().code(), "suppressed");
    // Thirty-two small receipts fit, since a reservation shrinks to what was needed.
    let world = World::new();
    let mut filler = Filler::new(&world);
    for n in 0..RECEIPTS {
        filler.completes(&format!("c{n}"), &format!("true {n}"), "fine\n").unwrap();
    }
}

#[test]
fn a30_beyond_64_aliases_outputs_go_and_tombstones_and_pending_evidence_stay() {
    let mut world = World::new();
    assert_eq!(ALIASES, 64);
    assert_eq!(world.run_for("lost", "test -f go || sleep 60", 200).receipt.unwrap().state, State::Unknown);
    let mut filler = Filler::new(&world);
    for n in 0..28 {
        filler.completes(&format!("c{n}"), &format!("true {n}"), &format!("said {n}")).unwrap();
    }
    for n in 0..12 {
        filler.declines(&format!("d{n}"), &format!("false {n}")).unwrap();
    }
    let show = |world: &World, id: &str| world.with(|checks| checks.show(&world.who, &call(id)).unwrap());
    let (first, last) = (show(&world, "c0").1, show(&world, "c27").1);
    assert!(first.is_evicted && first.output.as_ref().unwrap().stdout.text().is_empty());
    assert!(first.output.as_ref().unwrap().partial(), "and says that it is not all");
    assert!(!last.is_evicted && last.output.unwrap().stdout.text() == "said 27");
    // It is still never repeated: the same identity gives its exit, and runs nothing.
    let same = Submission { purpose: Purpose::Baseline, ..sh("true 0") };
    let again = world.submit("c0", &same, &Session::default());
    assert_eq!(again.refusal.map(|why| why.code()), Some("payload_changed"), "the filler submits no form");
    assert_eq!((first.state, first.exit_code()), (State::Completed, 0));
    let lost = show(&world, "lost").1;
    assert!(!lost.is_evicted && lost.state == State::Unknown, "pending evidence is never given up");
    assert_eq!(world.run_for("x", "test -f go || sleep 60", 200).refusal.unwrap().code(), "suppressed");

    // A strictly newer owner begins with room of its own: nothing more is given up for it.
    let before = world.with(|checks| checks.list(&world.who).unwrap().calls);
    let evicted = |calls: &[(owed_gates::ledger::Call, owed_gates::check::Receipt)]| {
        calls.iter().filter(|(_, receipt)| receipt.is_evicted).count()
    };
    world.who.fence += 1;
    let mut filler = Filler::new(&world);
    for n in 0..10 {
        filler.declines(&format!("e{n}"), &format!("newer {n}")).unwrap();
    }
    let after = world.with(|checks| checks.list(&world.who).unwrap().calls);
    assert_eq!(evicted(&after), evicted(&before));
    assert_eq!(after.len(), before.len() + 10, "identities of the older owner are still there");
}
