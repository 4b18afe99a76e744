//! Lanes between real processes.

use std::path::Path;
use std::time::Duration;

use owed_gates::lease::lanes::{BACKGROUND_TIME, BACKGROUND_WAIT, Busy, Lanes};
use owed_gates::queue::{Priority, Queue, Stay, Turn, Wait};
use owed_gates::supervise::Stop;

use super::{again, child, paths, submit, until};

fn lanes(root: &Path, state: &Path, priority: Priority) -> Lanes {
    Lanes::of(root, Some(state), priority)
}

/// Holds the lanes of the project `a` for its word's priority until `go` is there.
#[test]
fn holds_in_a_process_of_its_own() {
    let Some((root, word)) = child() else { return };
    let priority = if word == "background" { Priority::Background } else { Priority::Interactive };
    let lanes = lanes(&root.join("a"), &root.join("state"), priority);
    let announced = lanes.announce();
    let _place = lanes.enter().unwrap();
    std::fs::write(root.join("holds"), "").unwrap();
    until("go", || root.join("go").exists() || (priority == Priority::Background && lanes.is_wanted()));
    std::fs::write(root.join("left"), if lanes.is_wanted() { "made room" } else { "done" }).unwrap();
    drop(announced);
}

pub(super) fn held(word: &str) -> (tempfile::TempDir, std::process::Child) {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b", "state"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
    }
    let child = again("queue::lanes::holds_in_a_process_of_its_own", root.path(), word);
    until("the other process is in", || root.path().join("holds").exists());
    (root, child)
}

pub(super) fn end(root: &Path, mut child: std::process::Child) -> String {
    std::fs::write(root.join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    std::fs::read_to_string(root.join("left")).unwrap()
}

#[test]
fn c16_one_heavy_run_a_project_whatever_way_leads_to_it_and_others_are_independent() {
    let (root, child) = held("interactive");
    let at = root.path();
    let state = at.join("state");
    let pid = Some(child.id());
    assert_eq!(lanes(&at.join("a"), &state, Priority::Interactive).enter().unwrap_err(), Busy::Project(pid));
    // Callers give the canonical root; a link leads to the same lane all the same.
    std::os::unix::fs::symlink(at.join("a"), at.join("link")).unwrap();
    assert_eq!(
        lanes(&at.join("link"), &state, Priority::Interactive).enter().unwrap_err(),
        Busy::Project(pid)
    );
    drop(lanes(&at.join("b"), &state, Priority::Interactive).enter().unwrap());
    assert_eq!(end(at, child), "done");
    drop(lanes(&at.join("a"), &state, Priority::Interactive).enter().unwrap());
}

#[test]
fn c16_a_killed_holder_holds_nothing() {
    let (root, mut child) = held("interactive");
    child.kill().unwrap();
    child.wait().unwrap();
    let lanes = lanes(&root.path().join("a"), &root.path().join("state"), Priority::Background);
    assert!(!lanes.is_wanted(), "its announcement went with it");
    drop(lanes.enter().unwrap());
}

/// Waits for the lanes as somebody in the foreground does.
#[test]
fn waits_in_a_process_of_its_own() {
    let Some((root, _)) = child() else { return };
    let lanes = lanes(&root.join("a"), &root.join("state"), Priority::Interactive);
    let _announced = lanes.announce().unwrap();
    let queue = Queue::of(&root.join("a")).unwrap();
    let wait = Wait { at_most: Duration::from_secs(60), stop: &Stop::default() };
    assert!(matches!(queue.turn(None, &lanes, &wait), Turn::Ours(_)));
}

#[test]
fn c12_background_work_never_blocks_an_interactive_waiter() {
    let (root, child) = held("background");
    let at = root.path();
    std::fs::create_dir_all(at.join("a/.owed/queue")).unwrap();
    let queue = Queue::of(&at.join("a")).unwrap();
    let ticket = submit(&queue, paths(&["x"]), Stay::Waits);
    let lanes = lanes(&at.join("a"), &at.join("state"), Priority::Interactive);
    let wait = Wait { at_most: Duration::ZERO, stop: &Stop::default() };
    assert!(matches!(queue.turn(Some(&ticket), &lanes, &wait), Turn::Deferred(_)));
    // It is told by the announcement alone, and leaves.
    assert!(again("queue::lanes::waits_in_a_process_of_its_own", at, "").wait().unwrap().success());
    assert_eq!(end(at, child), "made room");
}

#[test]
fn c17_one_background_run_a_host_and_none_beside_foreground_work() {
    let (root, child) = held("background");
    let at = root.path();
    let state = at.join("state");
    let elsewhere = lanes(&at.join("b"), &state, Priority::Background);
    assert_eq!(elsewhere.enter().unwrap_err(), Busy::Background(Some(child.id())));
    assert_eq!(end(at, child), "done");
    drop(elsewhere.enter().unwrap());
    let (root, child) = held("interactive");
    let at = root.path();
    let elsewhere = lanes(&at.join("b"), &at.join("state"), Priority::Background);
    assert_eq!(elsewhere.enter().unwrap_err(), Busy::Foreground);
    assert!(Busy::Foreground.may_pass());
    assert_eq!(end(at, child), "done");
    drop(elsewhere.enter().unwrap());
    // Without a place that all projects share, nobody could know of each other.
    let nowhere = Lanes::of(&at.join("b"), None, Priority::Background);
    assert_eq!(nowhere.enter().unwrap_err(), Busy::NoState);
    drop(Lanes::of(&at.join("b"), None, Priority::Interactive).enter().unwrap());
    assert_eq!((BACKGROUND_WAIT, BACKGROUND_TIME), (Duration::from_secs(120), Duration::from_secs(600)));
}

/// Tries from inside of work that has the lanes.
#[test]
fn tries_in_a_process_below() {
    let Some((root, word)) = child() else { return };
    let lanes = |project: &str, priority| lanes(&root.join(project), &root.join("state"), priority);
    let said = match word.as_str() {
        "same" => lanes("a", Priority::Background).enter(),
        _ => lanes("b", Priority::Background).enter(),
    };
    std::fs::write(root.join(word), said.map_or_else(|busy| busy.word().to_owned(), |_| "in".to_owned()))
        .unwrap();
}

#[test]
fn d4_work_inside_of_work_takes_no_second_lane_and_never_waits_for_its_own() {
    let root = tempfile::tempdir().unwrap();
    for name in ["a", "b", "state"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
    }
    let at = root.path();
    let outer = lanes(&at.join("a"), &at.join("state"), Priority::Background).enter().unwrap();
    for (word, said) in [("same", "nested"), ("other", "in")] {
        assert!(again("queue::lanes::tries_in_a_process_below", at, word).wait().unwrap().success());
        assert_eq!(std::fs::read_to_string(at.join(word)).unwrap(), said);
    }
    drop(outer);
}

#[test]
fn c13_whoever_does_not_wait_is_put_off_at_once_and_whoever_waits_does_so_within_its_time() {
    let (root, child) = held("interactive");
    let at = root.path();
    std::fs::create_dir_all(at.join("a/.owed/queue")).unwrap();
    let queue = Queue::of(&at.join("a")).unwrap();
    let ticket = submit(&queue, paths(&["x"]), Stay::Leaves);
    let lanes = lanes(&at.join("a"), &at.join("state"), Priority::Interactive);
    for at_most in [Duration::ZERO, Duration::from_millis(30)] {
        let turn = queue.turn(Some(&ticket), &lanes, &Wait { at_most, stop: &Stop::default() });
        let Turn::Deferred(why) = turn else { panic!("{turn:?}") };
        assert_eq!(why.reason, "busy-project");
        assert!(why.detail.contains(&child.id().to_string()), "{}", why.detail);
    }
    assert_eq!(queue.pending().unwrap().requests.len(), 1);
    end(at, child);
}
