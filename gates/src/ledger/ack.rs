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
    /// What no sequence of writes and crashes leaves.
    Damaged,
}

/// Reads both slots.
pub(super) fn read(file: &dyn DiskFile, run: &RunId) -> io::Result<Acknowledged> {
    let mut slots = [Slot::Empty, Slot::Empty];
    for (at, slot) in [0, APART].into_iter().zip(&mut slots) {
        *slot = Slot::read(&crate::disk::read_from(file, at, SLOT)?, run);
    }
    Ok(match slots {
        [Slot::Empty | Slot::Torn, Slot::Empty | Slot::Torn] => Acknowledged::Nothing,
        // Slots are written in turn, each when the one before is durable.
        [Slot::Whole(one), Slot::Whole(other)] if one.sequence.abs_diff(other.sequence) == 1 => {
            Acknowledged::Upto(if one.sequence > other.sequence { one } else { other })
        }
        [Slot::Whole(_), Slot::Whole(_)] => Acknowledged::Damaged,
        [Slot::Whole(place), other] | [other, Slot::Whole(place)] => match other {
            // From the second acknowledgement on, both were written.
            Slot::Empty if place.sequence > 1 => Acknowledged::Damaged,
            _ => Acknowledged::Upto(place),
        },
    })
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

#[derive(Clone, Copy)]
enum Slot {
    /// Never written.
    Empty,
    /// Written in part, or damaged.
    Torn,
    Whole(Place),
}

impl Slot {
    fn read(bytes: &[u8], run: &RunId) -> Self {
        if bytes.iter().all(|&byte| byte == 0) {
            return Slot::Empty;
        }
        let Ok(bytes) = <&[u8; SLOT]>::try_from(bytes) else { return Slot::Torn };
        let (checked, digest) = bytes.split_at(CHECKED);
        if checked[..8] != MAGIC || digest != check(run, checked).bytes() {
            return Slot::Torn;
        }
        let number =
            |at: usize| u64::from_le_bytes(checked[at..at + 8].try_into().expect("eight bytes of the slot"));
        Slot::Whole(Place {
            sequence: number(8),
            end: number(16),
            chain: Digest::from_bytes(checked[24..].try_into().expect("32 bytes of the slot")),
        })
    }
}
