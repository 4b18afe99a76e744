//! The index for listing.

use owed_gates::ledger::{Filter, Purpose, RunId, command_hash};
use owed_gates::state::CallState;

use super::{Project, completed, lost, run_id};
use crate::simulation::real::claim;

fn filled() -> Project {
    let project = Project::new();
    let mut run = project.open();
    completed(&mut run, "z", "one", 3);
    lost(&mut run, "a", "two");
    let other = RunId::new("other").unwrap();
    let mut run = project.store.open(&other, claim(), Default::default()).unwrap();
    completed(&mut run, "a", "one", 0);
    project
}

#[test]
fn a_listing_is_ordered_and_can_be_asked() {
    let project = filled();
    let listed = |filter: &Filter| -> Vec<(String, CallState)> {
        let listing = project.store.list(filter).unwrap();
        assert!(listing.held.is_empty());
        listing.calls.iter().map(|row| (format!("{} {}", row.run, row.call), row.state)).collect()
    };
    let (done, unknown) = (CallState::Completed, CallState::Unknown);
    let all = [("other a".to_owned(), done), ("run z".to_owned(), done), ("run a".to_owned(), unknown)];
    assert_eq!(listed(&Filter::default()), all);
    assert_eq!(listed(&Filter { run: Some(run_id()), ..Filter::default() }), all[1..]);
    assert_eq!(listed(&Filter { unresolved: true, ..Filter::default() }), all[2..]);
    let command_hash = Some(command_hash("one"));
    assert_eq!(listed(&Filter { command_hash, ..Filter::default() }), all[..2]);
    assert_eq!(listed(&Filter { purpose: Some(Purpose::Baseline), ..Filter::default() }), []);
}

#[test]
fn deleting_or_damaging_the_index_loses_nothing() {
    let project = filled();
    let whole = project.store.list(&Filter::default()).unwrap();
    let index = project.store.index();
    std::fs::remove_file(&index).unwrap();
    assert_eq!(project.store.list(&Filter::default()).unwrap(), whole);
    let good = std::fs::read(&index).unwrap();
    for damaged in [
        &b"not a database, and long enough to be looked at as if it were one"[..],
        &good[..good.len() / 2],
        &[],
    ] {
        std::fs::write(&index, damaged).unwrap();
        assert_eq!(project.store.list(&Filter::default()).unwrap(), whole);
    }
    // Where it cannot be made at all, it is made in memory.
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(project.store.list(&Filter::default()).unwrap(), whole);
}

#[test]
fn the_index_follows_the_frames() {
    let project = filled();
    assert_eq!(project.store.list(&Filter::default()).unwrap().calls.len(), 3);
    completed(&mut project.open(), "more", "three", 0);
    assert_eq!(project.store.list(&Filter::default()).unwrap().calls.len(), 4);
}

#[test]
fn a_held_run_is_named_in_the_listing_and_not_empty() {
    let project = filled();
    project.store.list(&Filter::default()).unwrap();
    let mut frames = std::fs::read(project.frames()).unwrap();
    frames.truncate(frames.len() - 1);
    std::fs::write(project.frames(), frames).unwrap();
    let listing = project.store.list(&Filter::default()).unwrap();
    assert_eq!(listing.calls.len(), 1);
    assert_eq!(listing.held.len(), 1);
    assert_eq!(listing.held[0].run, run_id());
    assert!(listing.held[0].why.contains("held"), "{}", listing.held[0].why);
    std::fs::remove_dir_all(project.state().join("ledger")).unwrap();
    assert_eq!(project.store.list(&Filter::default()).unwrap().held.len(), 2);
}

#[test]
fn a_listing_of_a_project_without_state_makes_none() {
    let project = Project::new();
    assert!(project.store.list(&Filter::default()).unwrap().calls.is_empty());
    assert!(!project.state().exists());
}

#[test]
fn an_index_that_another_process_writes_is_left_alone() {
    let project = filled();
    let whole = project.store.list(&Filter::default()).unwrap();
    let other = rusqlite::Connection::open(project.store.index()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(project.store.list(&Filter::default()).unwrap(), whole);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(project.store.list(&Filter::default()).unwrap(), whole);
}
