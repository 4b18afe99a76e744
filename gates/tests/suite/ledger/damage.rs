//! Damaged, cut and torn files: what nobody was told about is recovered, the rest is held.

use std::sync::Arc;

use owed_gates::disk::{Disk, DiskFile, Mode, RealDisk};
use owed_gates::lease::System;
use owed_gates::ledger::{Failure, Hold, Options, Refusal, Store};
use owed_gates::state::CallState;

use super::{Project, call_id, completed, granted, intended, lost, refusal, run_id};
use crate::simulation::disk::SimDisk;
use crate::simulation::real::{claim, outcome, request};
use crate::simulation::world::{Faults, SimHost, World};

/// A run with a completed and an unknown call, and its two files.
fn written() -> (Project, Vec<u8>, Vec<u8>) {
    let project = Project::new();
    let mut run = project.open();
    completed(&mut run, "a", "one", 0);
    lost(&mut run, "b", "two");
    drop(run);
    let frames = std::fs::read(project.frames()).unwrap();
    let ack = std::fs::read(project.ack()).unwrap();
    (project, frames, ack)
}

/// What opening says; when it is held, reading says the same and no byte has changed.
fn opened(project: &Project) -> Result<u64, Hold> {
    let before = [std::fs::read(project.frames()), std::fs::read(project.ack())].map(Result::ok);
    match project.store.reopen(&run_id(), Options::default()) {
        Ok(run) => Ok(run.history().records()),
        Err(Failure::Refused(Refusal::Held(hold))) => {
            let after = [std::fs::read(project.frames()), std::fs::read(project.ack())].map(Result::ok);
            assert!(before == after, "no byte of history changed");
            assert!(matches!(project.store.inspect(&run_id()), Err(Refusal::Held(_))));
            Err(hold)
        }
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn acknowledged_frames_that_are_cut_anywhere_are_held() {
    let (project, frames, _) = written();
    for length in (0..frames.len()).step_by(5) {
        std::fs::write(project.frames(), &frames[..length]).unwrap();
        assert!(opened(&project).is_err(), "cut at {length}");
    }
    std::fs::write(project.frames(), &frames).unwrap();
    assert_eq!(opened(&project), Ok(12));
}

#[test]
fn nul_pages_and_flipped_bits_in_acknowledged_frames_are_held() {
    let (project, frames, _) = written();
    for at in (0..frames.len()).step_by(5) {
        let mut damaged = frames.clone();
        damaged[at] ^= 1 << (at / 5 % 8);
        std::fs::write(project.frames(), &damaged).unwrap();
        assert!(opened(&project).is_err(), "a bit at {at}");
    }
    for at in (0..frames.len()).step_by(97) {
        let mut damaged = frames.clone();
        damaged[at..].fill(0);
        std::fs::write(project.frames(), &damaged).unwrap();
        assert!(opened(&project).is_err(), "NULs from {at}");
    }
}

#[test]
fn a_torn_tail_of_any_length_that_nobody_was_told_about_is_cut_off() {
    let (project, frames, ack) = written();
    let mut run = project.open();
    completed(&mut run, "c", "three", 0);
    drop(run);
    let longer = std::fs::read(project.frames()).unwrap();
    let next = u32::from_le_bytes(longer[frames.len() + 8..][..4].try_into().unwrap()) as usize + 92;
    for torn in (1..next).step_by(7) {
        std::fs::write(project.frames(), &longer[..frames.len() + torn]).unwrap();
        std::fs::write(project.ack(), &ack).unwrap();
        let snapshot = project.store.inspect(&run_id()).unwrap();
        assert_eq!((snapshot.torn, snapshot.history.records()), (true, 12));
        assert_eq!(opened(&project), Ok(12), "torn after {torn} bytes");
        assert_eq!(std::fs::read(project.frames()).unwrap(), frames);
    }
    for nuls in [1, 60, 512, 4096] {
        let mut padded = frames.clone();
        padded.resize(frames.len() + nuls, 0);
        std::fs::write(project.frames(), &padded).unwrap();
        assert_eq!(opened(&project), Ok(12), "{nuls} NULs");
    }
}

#[test]
fn a31_a_whole_record_that_was_not_acknowledged_is_taken_in_and_grants_nothing() {
    let (project, frames, ack) = written();
    let mut run = project.open();
    drop(granted(&mut run, "c", "three"));
    drop(run);
    std::fs::write(project.ack(), &ack).unwrap();
    let snapshot = project.store.inspect(&run_id()).unwrap();
    assert_eq!((snapshot.unacknowledged, snapshot.history.records()), (1, 12));
    assert!(snapshot.history.call(&call_id("c")).is_none());
    let mut run = project.open();
    assert_eq!(run.history().call(&call_id("c")).unwrap().state(), CallState::Pending);
    assert!(run.begin(&request("c", "three")).is_err());
    assert!(std::fs::read(project.frames()).unwrap().len() > frames.len());
}

#[test]
fn whole_frames_behind_damage_are_no_torn_tail() {
    let (project, frames, ack) = written();
    let mut run = project.open();
    drop(granted(&mut run, "c", "three"));
    drop(granted(&mut run, "d", "four"));
    drop(run);
    let mut damaged = std::fs::read(project.frames()).unwrap();
    damaged[frames.len() + 70] ^= 1;
    std::fs::write(project.frames(), &damaged).unwrap();
    std::fs::write(project.ack(), &ack).unwrap();
    let offset = frames.len() as u64;
    assert!(matches!(opened(&project), Err(Hold::Corrupt { offset: at, .. }) if at == offset));
}

#[test]
fn without_the_second_place_nobody_can_say_that_nothing_was_cut() {
    let (project, _, ack) = written();
    std::fs::remove_file(project.ack()).unwrap();
    assert_eq!(opened(&project), Err(Hold::AcknowledgementLost));
    for damaged in [vec![], vec![0; ack.len()], ack[..4000].to_vec(), b"what".to_vec()] {
        std::fs::write(project.ack(), &damaged).unwrap();
        assert!(opened(&project).is_err(), "{} bytes", damaged.len());
    }
    // One damaged slot is what a crash leaves; the frames are all there.
    for at in (0..88).chain(4096..4184).step_by(5) {
        let mut damaged = ack.clone();
        damaged[at] ^= 4;
        std::fs::write(project.ack(), &damaged).unwrap();
        assert_eq!(opened(&project), Ok(12), "a bit at {at}");
    }
}

#[test]
fn a_second_place_that_went_back_in_time_does_not_hide_a_cut() {
    let (project, frames, _) = written();
    let mut run = project.open();
    completed(&mut run, "c", "three", 0);
    drop(run);
    std::fs::write(project.frames(), &frames).unwrap();
    assert_eq!(opened(&project), Err(Hold::Cut { acknowledged: 17, found: 12 }));
}

#[test]
fn a_frame_that_was_replaced_by_another_whole_one_is_held() {
    let (project, frames, ack) = written();
    let other = Project::new();
    let mut run = other.open();
    completed(&mut run, "a", "one", 1);
    lost(&mut run, "b", "two");
    drop(run);
    std::fs::copy(other.frames(), project.frames()).unwrap();
    assert!(matches!(opened(&project), Err(Hold::Replaced { sequence: 12 })));
    std::fs::write(project.frames(), frames).unwrap();
    std::fs::write(project.ack(), ack).unwrap();
    assert_eq!(opened(&project), Ok(12));
}

#[test]
fn a_full_disk_refuses_before_anything_starts_and_changes_no_history() {
    let world = World::new(1);
    let process = world.spawn();
    let disk = Arc::new(SimDisk { world: Arc::clone(&world), process });
    let host = Arc::new(SimHost { world: Arc::clone(&world), process });
    let store = Store::on("/p/.owed", disk, host);
    let mut run = store.open(&run_id(), claim(), Options::default()).unwrap();
    completed(&mut run, "a", "one", 0);
    let size = |world: &World| {
        let state = world.state();
        let inode = state.named("/p/.owed/ledger/run/frames".as_ref()).unwrap();
        state.inodes[inode].cache.len()
    };
    let before = size(&world);
    world.state().faults = Faults { full: 1, ..Faults::default() };
    assert_eq!(refusal(run.begin(&request("b", "two"))), Refusal::DiskFull);
    world.state().faults = Faults::default();
    assert_eq!(size(&world), before);
    // Nothing was uncertain, so the same handle goes on.
    completed(&mut run, "b", "two", 0);
}

#[test]
fn a31_a_failed_sync_poisons_the_handle_and_the_outcome_is_not_reported() {
    let world = World::new(2);
    let process = world.spawn();
    let disk = Arc::new(SimDisk { world: Arc::clone(&world), process });
    let host = Arc::new(SimHost { world: Arc::clone(&world), process });
    let store = Store::on("/p/.owed", disk, host);
    let mut run = store.open(&run_id(), claim(), Options::default()).unwrap();
    let permit = intended(&mut run, "a", "one");
    let running = run.start(permit, store.host().me()).unwrap();
    world.state().faults = Faults { sync: 1, ..Faults::default() };
    match run.complete(running, outcome(0)) {
        Err(Failure::Persistence(failure)) => assert!(failure.dispatched),
        other => panic!("{other:?}"),
    }
    world.state().faults = Faults::default();
    assert!(run.is_poisoned());
    assert_eq!(refusal(run.begin(&request("b", "two"))), Refusal::Poisoned);
}

/// A disk that cannot be written.
#[derive(Debug)]
struct ReadOnly;

impl Disk for ReadOnly {
    fn create_dir(&self, _: &std::path::Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn open(&self, path: &std::path::Path, mode: Mode) -> std::io::Result<Box<dyn DiskFile>> {
        match mode {
            Mode::Read => RealDisk.open(path, mode),
            Mode::Write | Mode::Create => Err(std::io::ErrorKind::ReadOnlyFilesystem.into()),
        }
    }

    fn rename(&self, _: &std::path::Path, _: &std::path::Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_dir(&self, path: &std::path::Path) -> std::io::Result<()> {
        RealDisk.sync_dir(path)
    }

    fn list(&self, path: &std::path::Path) -> std::io::Result<Vec<std::ffi::OsString>> {
        RealDisk.list(path)
    }

    fn remove(&self, _: &std::path::Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::ReadOnlyFilesystem.into())
    }
}

#[test]
fn a_read_only_disk_can_be_inspected_and_refuses_to_record() {
    let (project, _, _) = written();
    let store = Store::on(project.state(), Arc::new(ReadOnly), Arc::new(System));
    let refused = refusal(store.open(&run_id(), claim(), Options::default()));
    assert!(matches!(refused, Refusal::Unavailable { .. }), "{refused}");
    assert!(refused.permits_unrecorded());
    assert_eq!(store.inspect(&run_id()).unwrap().history.records(), 12);
}

#[test]
fn the_state_directory_keeps_itself_out_of_git() {
    let project = Project::new();
    project.open();
    assert_eq!(std::fs::read_to_string(project.state().join(".gitignore")).unwrap(), "*\n");
}

#[test]
fn what_a_process_left_before_it_wrote_anything_is_no_run() {
    let project = Project::new();
    std::fs::create_dir_all(project.frames().parent().unwrap()).unwrap();
    assert_eq!(project.store.runs().unwrap(), []);
    std::fs::write(project.frames(), b"").unwrap();
    let refused = refusal(project.store.reopen(&run_id(), Options::default()));
    assert_eq!(refused, Refusal::Absent);
    completed(&mut project.open(), "a", "one", 0);
}

#[test]
fn more_than_a_run_can_have_is_held_without_being_read() {
    let (project, frames, _) = written();
    let file = std::fs::File::options().write(true).open(project.frames()).unwrap();
    file.set_len(17 << 20).unwrap();
    assert_eq!(opened(&project), Err(Hold::TooLarge { bytes: 17 << 20 }));
    file.set_len(frames.len() as u64).unwrap();
    assert_eq!(opened(&project), Ok(12));
}
