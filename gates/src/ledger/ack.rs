//! The second place: how far a run was acknowledged.
//!
//! A record is acknowledged when its frame is durable *and* that fact is durable here, in a
//! file of its own in a directory of its own. So a tail that was cut after it was
//! acknowledged is seen (the ledger is held), and so is a whole run that is gone; a tail
//! that was torn before it was acknowledged is known to be nobody's loss.
//!
//! The file has two slots in different pages, written in turn, so that a torn write costs at
//! most the acknowledgement that was being made.

use std::io;

use super::frame::Place;
use super::names::{Digest, RunId};
use crate::disk::DiskFile;

const MAGIC: [u8; 8] = *b"owa1\0\0\0\0";
const CHECKED: usize = 56;
const SLOT: usize = CHECKED + 32;
/// Distance of the slots: a page, which is the most that a device tears at once.
const APART: u64 = 4096;

/// What the second place says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acknowledged {
    /// No slot was ever whole.
    Nothing,
    /// The newest whole slot.
    Upto(Place),
}

/// Reads both slots.
pub(super) fn read(file: &dyn DiskFile, run: &RunId) -> io::Result<Acknowledged> {
    let mut newest: Option<Place> = None;
    for at in [0, APART] {
        let place = slot(&crate::disk::read_from(file, at, SLOT)?, run);
        if place.is_some_and(|place| newest.is_none_or(|other| other.sequence < place.sequence)) {
            newest = place;
        }
    }
    Ok(newest.map_or(Acknowledged::Nothing, Acknowledged::Upto))
}

/// Makes an acknowledgement durable.
pub(super) fn write(file: &dyn DiskFile, run: &RunId, place: &Place) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(SLOT);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&place.sequence.to_le_bytes());
    bytes.extend_from_slice(&place.end.to_le_bytes());
    bytes.extend_from_slice(place.chain.bytes());
    let check = check(run, &bytes);
    bytes.extend_from_slice(check.bytes());
    let written = file.write_at((place.sequence % 2) * APART, &bytes)?;
    if written != bytes.len() {
        return Err(io::Error::new(io::ErrorKind::WriteZero, "the write was short"));
    }
    file.sync_data()
}

fn check(run: &RunId, checked: &[u8]) -> Digest {
    Digest::of("owed ledger 1: acknowledgement", &[run.as_str().as_bytes(), checked])
}

fn slot(bytes: &[u8], run: &RunId) -> Option<Place> {
    let bytes: &[u8; SLOT] = bytes.try_into().ok()?;
    let (checked, digest) = bytes.split_at(CHECKED);
    if checked[..8] != MAGIC || digest != check(run, checked).bytes() {
        return None;
    }
    let number =
        |at: usize| u64::from_le_bytes(checked[at..at + 8].try_into().expect("eight bytes of the slot"));
    Some(Place {
        sequence: number(8),
        end: number(16),
        chain: Digest::from_bytes(checked[24..].try_into().expect("32 bytes of the slot")),
    })
}
