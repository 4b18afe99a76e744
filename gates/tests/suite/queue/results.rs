//! What becomes of requests when a batch has ended, and whose result it is then.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use owed_gates::lease::lanes::Lanes;
use owed_gates::queue::{Look, Outcome, Poll, Priority, Queue, Reply, Seen, Sight, Stay, Terms, Turn, Wait};
use owed_gates::runs::environment::Environment;
use owed_gates::supervise::Stop;

use super::{again, child, full, ids, paths, project, submit, until};

fn environment(zone: &str) -> Environment {
    Environment::new([("TZ".to_owned(), zone.to_owned())])
}

fn sight(root: &Path, files: &[&str], zone: &str, platform: &str) -> Sight {
    let look = Look::at(root, files);
    Sight::of(&look, &Look::at(root, &["input"]), &environment(zone), &[platform.to_owned()]).unwrap()
}

fn outcome(full: bool, shared: Option<(Sight, String)>) -> Outcome {
    Outcome { verdict: "passed", full, coverage: false, shared }
}

#[test]
fn c09_a_result_is_anothers_only_with_source_inputs_environment_and_platform_as_they_were() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    std::fs::write(at.join("a"), "1").unwrap();
    std::fs::write(at.join("input"), "1").unwrap();
    let then = sight(at, &["a"], "UTC", "x");
    assert_eq!(then.first_difference(&sight(at, &["a"], "UTC", "x")), None);
    assert_eq!(then.first_difference(&sight(at, &["a"], "CET", "x")), Some("environment"));
    assert_eq!(then.first_difference(&sight(at, &["a"], "UTC", "y")), Some("platform"));
    assert_eq!(then.first_difference(&sight(at, &["a", "b"], "UTC", "x")), Some("source"));
    std::fs::write(at.join("input"), "1").unwrap();
    assert_eq!(then.first_difference(&sight(at, &["a"], "UTC", "x")), Some("inputs"));
    let then = sight(at, &["a"], "UTC", "x");
    // Edited and restored is written.
    std::fs::write(at.join("a"), "2").unwrap();
    std::fs::write(at.join("a"), "1").unwrap();
    assert_eq!(then.first_difference(&sight(at, &["a"], "UTC", "x")), Some("source"));
    let then = sight(at, &["a"], "UTC", "x");
    std::fs::remove_file(at.join("input")).unwrap();
    assert_eq!(then.first_difference(&sight(at, &["a"], "UTC", "x")), Some("inputs"));
}

#[test]
fn c09_a_file_from_the_future_makes_a_look_that_equals_nothing() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a"), "1").unwrap();
    let look = Look::at(root.path(), &["a"]);
    assert_eq!(look.first_written(root.path(), &paths(&["a"]).changes), None);
    // A moment ago: whoever writes now gets another time, because the look has waited.
    for n in 0..20 {
        std::fs::write(root.path().join("a"), n.to_string()).unwrap();
        let look = Look::at(root.path(), &["a"]);
        std::fs::write(root.path().join("a"), n.to_string()).unwrap();
        assert_eq!(look.first_written(root.path(), &paths(&["a"]).changes), Some("a"), "{n}");
    }
    // A path that was not looked at was not there, or it was written.
    assert_eq!(look.first_written(root.path(), &paths(&["absent"]).changes), None);
    std::fs::write(root.path().join("absent"), "1").unwrap();
    assert_eq!(look.first_written(root.path(), &paths(&["absent"]).changes), Some("absent"));
}

#[test]
fn c10_one_who_gives_up_waiting_cancels_nothing() {
    let name = "queue::results::c10_one_who_gives_up_waiting_cancels_nothing";
    if let Some((root, word)) = child() {
        let root = root.join("a");
        let queue = Queue::of(&root).unwrap();
        let lanes = Lanes::of(&root, None, Priority::Interactive);
        let ticket = submit(&queue, paths(&["a"]), Stay::Waits);
        let at_most = if word == "short" { Duration::from_millis(50) } else { Duration::from_secs(60) };
        let turn = queue.turn(Some(&ticket), &lanes, &Wait { at_most, stop: &Stop::default() });
        let said = match turn {
            Turn::Met(shared) => shared.answer,
            Turn::Deferred(why) => why.reason.to_owned(),
            other => panic!("{other:?}"),
        };
        std::fs::write(root.join(word), said).unwrap();
        return;
    }
    // The lane is held in another process: whoever is below this one would not wait for it.
    let (root, holder) = super::lanes::held("interactive");
    let project = root.path();
    let at = &project.join("a");
    let queue = Queue::of(at).unwrap();
    std::fs::write(at.join("a"), "1").unwrap();
    let own = submit(&queue, paths(&["a"]), Stay::Waits);
    let before = Look::at(at, &["a"]);
    let batch =
        queue.take(Some(&own.id), (&paths(&["a"]), &Terms::default()), Priority::Interactive).unwrap();
    let mut long = again(name, project, "long");
    until("the other one waits", || queue.awaited(&own.id).unwrap() == 2);
    assert!(again(name, project, "short").wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(at.join("short")).unwrap(), "busy-project");
    assert_eq!(ids(&queue), [own.id.clone()], "the request is still there, and so is its batch");
    assert_eq!(queue.taken().unwrap().unwrap().batch, batch.id);
    let shared = Some((sight(at, &["a"], "UTC", "x"), "the answer".to_owned()));
    let settled = queue.complete(&batch, &outcome(false, shared), &before).unwrap();
    assert_eq!(settled.discharged, [own.id.clone()]);
    assert!(long.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(at.join("long")).unwrap(), "the answer");
    super::lanes::end(project, holder);
}

#[test]
fn c09_whoever_edits_and_asks_while_it_runs_is_not_answered_by_that_run() {
    let (root, queue) = project();
    let at = root.path();
    std::fs::write(at.join("a"), "1").unwrap();
    let own = submit(&queue, paths(&["a"]), Stay::Waits);
    let before = Look::at(at, &["a"]);
    let take =
        || queue.take(Some(&own.id), (&paths(&["a"]), &Terms::default()), Priority::Interactive).unwrap();
    let batch = take();
    std::fs::write(at.join("a"), "2").unwrap();
    let hook = submit(&queue, paths(&["a"]), Stay::Leaves);
    assert_eq!((hook.joined, hook.id.as_str()), (true, own.id.as_str()));
    let settled = queue.complete(&batch, &outcome(false, None), &before).unwrap();
    assert_eq!(settled.discharged, Vec::<String>::new());
    assert_eq!(
        (settled.kept[0].reason.as_str(), settled.kept[0].detail.as_str()),
        ("stale", "a was written while the tests ran")
    );
    let settled = queue.complete(&take(), &outcome(false, None), &Look::at(at, &["a"])).unwrap();
    assert_eq!(settled.discharged, [own.id.clone()]);
    // A full request names no paths; once somebody else has joined it, every file counts.
    let whole = submit(&queue, full(), Stay::Waits);
    let before = Look::at(at, &["a"]);
    let take = || queue.take(Some(&whole.id), (&full(), &Terms::default()), Priority::Interactive).unwrap();
    let batch = take();
    std::fs::write(at.join("a"), "3").unwrap();
    let name = "queue::results::joins_in_a_process_of_its_own";
    assert!(again(name, at, "").wait().unwrap().success());
    let settled = queue.complete(&batch, &outcome(true, None), &before).unwrap();
    assert_eq!(settled.kept[0].reason, "stale");
    let settled = queue.complete(&take(), &outcome(true, None), &Look::at(at, &["a"])).unwrap();
    assert_eq!(settled.discharged, [whole.id.clone()]);
}

#[test]
fn joins_in_a_process_of_its_own() {
    let Some((root, _)) = child() else { return };
    assert!(submit(&Queue::of(&root).unwrap(), full(), Stay::Leaves).joined);
}

#[test]
fn c11_a_batch_without_a_verdict_keeps_its_requests_and_says_why() {
    let (_root, queue) = project();
    let own = submit(&queue, paths(&["a"]), Stay::Leaves);
    let batch = queue.take(None, (&paths(&["a"]), &Terms::default()), Priority::Interactive).unwrap();
    queue.put_back(&batch, "interrupted", "the lanes were not to be had again").unwrap();
    assert_eq!(ids(&queue), [own.id.clone()]);
    assert!(queue.taken().is_none());
    let last = queue.last().unwrap().unwrap();
    assert_eq!(
        (last.verdict.as_str(), last.job.requests.as_slice()),
        ("no-verdict", [own.id.clone()].as_slice())
    );
    assert_eq!(queue.note(&own.id).unwrap().reason, "interrupted");
    // What was tried is not tried again for ever.
    assert!(queue.next(None, &BTreeSet::from([own.id.clone()])).unwrap().is_none());
}

#[test]
fn d8_a_smaller_run_leaves_a_full_request_where_it_is() {
    let (root, queue) = project();
    let whole = submit(&queue, full(), Stay::Leaves);
    let some = submit(&queue, paths(&["a"]), Stay::Leaves);
    let mut asks = full();
    asks.absorb(&paths(&["a"]));
    let batch = queue.take(None, (&asks, &Terms::default()), Priority::Interactive).unwrap();
    let settled = queue.complete(&batch, &outcome(false, None), &Look::at(root.path(), &["a"])).unwrap();
    assert_eq!(settled.discharged, [some.id.clone()]);
    assert_eq!(
        (settled.kept[0].request.as_str(), settled.kept[0].reason.as_str()),
        (whole.id.as_str(), "not-full")
    );
}

#[test]
fn c21_three_missing_answers_are_tolerated_and_only_an_answer_says_that_a_job_has_changed() {
    let mut poll = Poll::of(Some("one".to_owned()));
    let gone = |n: u32| Reply::Unavailable(format!("reason {n}"));
    for n in 1..=3 {
        assert_eq!(poll.take(gone(n)), Seen::Same, "{n}");
    }
    assert_eq!(poll.take(Reply::Ready(Some("one".to_owned()))), Seen::Same);
    for n in 4..=6 {
        assert_eq!(poll.take(gone(n)), Seen::Same, "an answer has begun the count anew");
    }
    assert_eq!(poll.take(gone(7)), Seen::Lost("reason 4".to_owned()));
    assert_eq!(poll.take(Reply::Ready(Some("two".to_owned()))), Seen::Changed(Some("two".to_owned())));
    assert_eq!(poll.take(Reply::Ready(None)), Seen::Changed(None));
    assert_eq!(poll.take(Reply::Ready(None)), Seen::Same);
}
