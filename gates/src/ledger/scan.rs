//! Reads the frames of a run against what was acknowledged. Used by the writer, who then
//! repairs what may be repaired, and by the reader, who repairs nothing.

use super::ack::Acknowledged;
use super::frame::{self, FORMAT, Place, Seen};
use super::history::History;
use super::records::Record;
use super::refusal::{Hold, Refusal};

/// How far the frames go.
#[derive(Debug)]
pub(super) struct Scanned {
    /// The last whole frame.
    pub(super) place: Place,
    /// Whether bytes follow that are not a frame and that nobody was told about.
    pub(super) torn: bool,
}

/// Takes in the frames that start at `from`; `bytes` is the rest of the file. Frames up to
/// `upto` are applied, all when it is `None`; the others are only checked to be whole.
pub(super) fn scan(
    from: Place,
    bytes: &[u8],
    acknowledged: Acknowledged,
    upto: Option<u64>,
    history: &mut History,
) -> Result<Scanned, Refusal> {
    let acknowledged = match acknowledged {
        Acknowledged::Upto(place) => Some(place),
        Acknowledged::Nothing => None,
        Acknowledged::Damaged => return Err(Refusal::Held(Hold::AcknowledgementLost)),
    };
    let known_end = acknowledged.map_or(0, |place| place.end);
    let mut place = from;
    let torn = loop {
        if acknowledged.is_some_and(|known| known.sequence == place.sequence && known != place) {
            return Err(Refusal::Held(Hold::Replaced { sequence: place.sequence }));
        }
        let offset = place.end;
        let at = usize::try_from(offset - from.end).expect("within the bytes that were read");
        let rest = &bytes[at..];
        match frame::decode(&place, rest) {
            Seen::End => break false,
            Seen::Newer(version) => {
                return Err(Refusal::Newer { found: u32::from(version), known: FORMAT });
            }
            Seen::Unchained(what) => return Err(Refusal::Held(Hold::Foreign { offset, what })),
            Seen::Torn(what) => {
                if offset < known_end || frame::any_whole_frame_after_start(rest) {
                    return Err(Refusal::Held(Hold::Corrupt { offset, what }));
                }
                break true;
            }
            Seen::Frame { kind, payload, place: next } => {
                take_in(kind, payload, (next.end - offset, next.sequence), upto, history)?;
                place = next;
            }
        }
    };
    match acknowledged {
        Some(known) if known.sequence > place.sequence => {
            Err(Refusal::Held(Hold::Cut { acknowledged: known.sequence, found: place.sequence }))
        }
        None if place.sequence > 1 => Err(Refusal::Held(Hold::AcknowledgementLost)),
        _ => Ok(Scanned { place, torn }),
    }
}

fn take_in(
    kind: u8,
    payload: &[u8],
    (bytes, sequence): (u64, u64),
    upto: Option<u64>,
    history: &mut History,
) -> Result<(), Refusal> {
    let record =
        Record::decode(kind, payload).map_err(|what| Refusal::Held(Hold::Malformed { sequence, what }))?;
    if let Record::Opened(opened) = &record
        && opened.format > FORMAT
    {
        return Err(Refusal::Newer { found: opened.format, known: FORMAT });
    }
    if upto.is_some_and(|upto| sequence > upto) {
        return Ok(());
    }
    history.apply(&record, bytes).map_err(|what| Refusal::Held(Hold::Forged { sequence, what }))
}
