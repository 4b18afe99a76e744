//! One frame: how a record lies in the file.
//!
//! ```text
//!  0  4  "owf1"
//!  4  1  version of the format
//!  5  1  type of the record
//!  6  2  zero
//!  8  4  length of the payload, little endian
//! 12  8  sequence number, from 1, little endian
//! 20 32  digest of the frame before (of the run's name for the first)
//! 52  8  check of the bytes before: the first 8 bytes of their BLAKE3
//! 60  n  payload: the record as JSON
//!  …  32 digest: BLAKE3 of everything before, and what the next frame is chained to
//! ```
//!
//! The header has a check of its own so that a damaged length is told apart from a frame
//! that was cut. This module reads bytes and judges nothing: whether a tear may be recovered
//! is decided by who knows what was acknowledged.

use super::names::{Digest, RunId};

/// The version that this code writes and the newest that it reads.
pub const FORMAT: u32 = 1;

const VERSION: u8 = 1;
const MAGIC: [u8; 4] = *b"owf1";
const CHECKED: usize = 52;
/// Bytes before the payload.
pub(super) const HEADER: usize = 60;
/// Bytes around the payload.
pub(super) const OVERHEAD: usize = HEADER + 32;
/// The longest payload: a command whose every character is escaped, and two streams likewise,
/// are less than half of this.
pub(super) const MAX_PAYLOAD: usize = 512 << 10;

/// What the first frame of a run is chained to: frames of another run do not fit.
pub(super) fn genesis(run: &RunId) -> Digest {
    Digest::of("owed ledger 1: run", &[run.as_str().as_bytes()])
}

/// The place of a frame in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Sequence number of the last frame; 0 before the first.
    pub(super) sequence: u64,
    /// Where that frame ends.
    pub(super) end: u64,
    /// Its digest.
    pub(super) chain: Digest,
}

impl Place {
    pub(super) fn start(run: &RunId) -> Self {
        Self { sequence: 0, end: 0, chain: genesis(run) }
    }
}

/// The bytes of the frame that follows `after`, and its place.
pub(super) fn encode(after: &Place, kind: u8, payload: &[u8]) -> (Vec<u8>, Place) {
    let length = u32::try_from(payload.len()).expect("payloads are bounded by MAX_PAYLOAD");
    let sequence = after.sequence + 1;
    let mut bytes = Vec::with_capacity(OVERHEAD + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[VERSION, kind, 0, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(after.chain.bytes());
    let check = header_check(&bytes);
    bytes.extend_from_slice(&check);
    bytes.extend_from_slice(payload);
    let chain = digest(&bytes);
    bytes.extend_from_slice(chain.bytes());
    let end = after.end + bytes.len() as u64;
    (bytes, Place { sequence, end, chain })
}

fn header_check(checked: &[u8]) -> [u8; 8] {
    let digest = Digest::of("owed ledger 1: header", &[checked]);
    digest.bytes()[..8].try_into().expect("a digest has 32 bytes")
}

fn digest(frame: &[u8]) -> Digest {
    Digest::of("owed ledger 1: frame", &[frame])
}

/// What lies at a place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen<'a> {
    /// The end of the file.
    End,
    /// A whole frame that follows the one before.
    Frame { kind: u8, payload: &'a [u8], place: Place },
    /// Bytes that are not a whole frame.
    Torn(&'static str),
    /// A whole frame, but not the one that follows.
    Unchained(&'static str),
    /// A whole header of a newer version.
    Newer(u8),
}

/// Reads the frame after `after`; `bytes` start where that one ends.
pub(super) fn decode<'a>(after: &Place, bytes: &'a [u8]) -> Seen<'a> {
    if bytes.is_empty() {
        return Seen::End;
    }
    let whole = match whole(bytes) {
        Ok(whole) => whole,
        Err(Broken::Torn(what)) => return Seen::Torn(what),
        Err(Broken::Newer(version)) => return Seen::Newer(version),
    };
    if whole.sequence != after.sequence + 1 {
        return Seen::Unchained("its sequence number is not the next");
    }
    if whole.before != *after.chain.bytes() {
        return Seen::Unchained("it is chained to another frame or another run");
    }
    let end = after.end + (OVERHEAD + whole.payload.len()) as u64;
    let place = Place { sequence: whole.sequence, end, chain: whole.digest };
    Seen::Frame { kind: whole.kind, payload: whole.payload, place }
}

/// Whether any whole frame starts after the first byte: then the bytes before it are not a
/// torn tail, because a frame is only written when the one before was acknowledged.
pub(super) fn any_whole_frame_after_start(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, &MAGIC)
        .filter(|&at| at > 0)
        .any(|at| !matches!(whole(&bytes[at..]), Err(Broken::Torn(_))))
}

struct Whole<'a> {
    kind: u8,
    sequence: u64,
    before: [u8; 32],
    payload: &'a [u8],
    digest: Digest,
}

enum Broken {
    Torn(&'static str),
    Newer(u8),
}

fn whole(bytes: &[u8]) -> Result<Whole<'_>, Broken> {
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        return Err(Broken::Torn("the header is cut"));
    };
    if header[..4] != MAGIC || header[CHECKED..] != header_check(&header[..CHECKED]) {
        return Err(Broken::Torn("the header is damaged"));
    }
    if header[4] > VERSION {
        return Err(Broken::Newer(header[4]));
    }
    let number =
        |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes of the header"));
    let length = number(8) as usize;
    if header[4] != VERSION || header[6..8] != [0, 0] || length > MAX_PAYLOAD {
        return Err(Broken::Torn("the header is not one that is written"));
    }
    let Some(frame) = bytes.get(..OVERHEAD + length) else {
        return Err(Broken::Torn("the payload is cut"));
    };
    let (content, trailer) = frame.split_at(HEADER + length);
    let digest = digest(content);
    if trailer != digest.bytes() {
        return Err(Broken::Torn("the digest does not fit"));
    }
    Ok(Whole {
        kind: header[5],
        sequence: u64::from(number(12)) | u64::from(number(16)) << 32,
        before: header[20..CHECKED].try_into().expect("32 bytes of the header"),
        payload: &content[HEADER..],
        digest,
    })
}
