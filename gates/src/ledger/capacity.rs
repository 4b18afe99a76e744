//! The bounds of a run, and what counts against them.
//!
//! Room is taken before anything is executed: an intent reserves what the rest of its call
//! can take at worst, so a result is never refused for want of room. At completion the
//! reservation shrinks to what the records really take.

use super::call::{Call, PhaseRecord};
use super::history::History;
use super::records::Request;
use super::terms::NotedRefusal;
use super::text::{PREFLIGHT_STREAM_CHARS, STREAM_CHARS, Stream};
use crate::lease::{Host, Liveness};
use crate::state::CallState;

/// Commands of one run that were dispatched or may have been (behaviour A27).
pub const RECEIPTS: usize = 32;

/// Bytes of all receipts of a run, reservations included (behaviour A29).
pub const AGGREGATE_BYTES: u64 = 256 << 10;

/// Phases of one thread whose outputs are kept (behaviour A30). A run belongs to one thread.
pub const ALIASES: usize = 64;

/// Notes about refusals that a run keeps. The refusal after these is not noted any more, but
/// still given.
pub const NOTES: usize = 64;

/// Bytes of a run's file after which it takes no new calls. Results of calls that were
/// admitted are still taken.
pub const RUN_BYTES: u64 = 8 << 20;

/// Bytes of a run's file beyond which it is not read: nothing that was admitted comes near.
pub(super) const READ_BYTES: u64 = 16 << 20;

/// The longest escape of JSON: `\u0000` for one character.
const ESCAPED: usize = 6;

/// Room for the records of a call besides command and outputs: labels and observation at
/// their bounds, identities, digests, frames.
const FIXED: usize = 12 << 10;

/// What the rest of a call can take at worst, its request excluded.
pub(super) fn reservation() -> u32 {
    let streams = 2 * ESCAPED * (STREAM_CHARS + PREFLIGHT_STREAM_CHARS);
    u32::try_from(streams + FIXED).expect("a few tens of thousands")
}

/// What the command's own text takes at worst.
pub(super) fn worst_case(request: &Request) -> u64 {
    // It is written once, and is known.
    serde_json::to_string(&request.command.text).map_or(u64::MAX, |text| text.len() as u64)
}

/// How many receipts a run has: commands that were dispatched or may have been.
pub(super) fn receipts(history: &History) -> usize {
    history
        .calls()
        .into_iter()
        .filter(|call| call.command.as_ref().is_some_and(|command| command.state != CallState::NotStarted))
        .count()
}

/// Why a request has no room, if so.
pub(super) fn refuses(history: &History, request: &Request, host: &dyn Host) -> Option<NotedRefusal> {
    let coming = history
        .calls()
        .into_iter()
        .filter(|call| call.preflight.state.is_unresolved() || waits(call, host))
        .count();
    if receipts(history) + coming >= RECEIPTS {
        return Some(NotedRefusal::ReceiptsFull);
    }
    let taken: u64 = history.calls().into_iter().map(|call| takes(call, host)).sum();
    if taken + u64::from(reservation()) + worst_case(request) > AGGREGATE_BYTES {
        return Some(NotedRefusal::BytesFull);
    }
    None
}

/// Whether the call's process may still go on from its preflight to its command.
fn waits(call: &Call, host: &dyn Host) -> bool {
    let alive = |process| host.liveness(process) != Liveness::Gone;
    call.awaits_command() && call.preflight.dispatcher.as_ref().is_some_and(alive)
}

/// What a call takes of the aggregate: its records, or while it goes on what was reserved.
fn takes(call: &Call, host: &dyn Host) -> u64 {
    let goes_on = matches!(call.state(), CallState::Pending | CallState::Running) || waits(call, host);
    if goes_on { call.bytes + call.reserved } else { call.bytes }
}

/// Phases whose outputs are kept and that count: those of the current claim, and unresolved
/// ones of any. A strictly newer fence lets resolved ones of older claims go.
pub(super) fn aliases(history: &History) -> usize {
    let fence = history.claim().map(|claim| claim.fence);
    history
        .calls()
        .into_iter()
        .filter(|call| !call.evicted && (Some(call.fence) == fence || call.unresolved().is_some()))
        .map(|call| 1 + usize::from(call.command.is_some()))
        .sum()
}

/// The call whose outputs are given up first: the oldest that is resolved and counts.
pub(super) fn next_to_evict<'a>(history: &'a History, host: &dyn Host) -> Option<&'a Call> {
    let fence = history.claim().map(|claim| claim.fence);
    history
        .calls()
        .into_iter()
        .find(|call| !call.evicted && Some(call.fence) == fence && evictable(call) && !waits(call, host))
}

/// Whether nothing of a call is still to come.
pub(super) fn evictable(call: &Call) -> bool {
    call.unresolved().is_none()
}

/// Gives up the outputs of a call. Identity, states, exits and reasons stay.
pub(super) fn strip(call: &mut Call) {
    let mut kept = call.bytes;
    let phases: [Option<&mut PhaseRecord>; 2] = [Some(&mut call.preflight), call.command.as_mut()];
    for phase in phases.into_iter().flatten() {
        let completed = phase.completed.as_mut().map(|record| &mut record.outcome.output);
        let unknown = phase.unknown.as_mut().map(|record| &mut record.output);
        for output in [completed, unknown].into_iter().flatten() {
            for stream in [&mut output.stdout, &mut output.stderr] {
                let escaped = serde_json::to_string(stream.text()).map_or(0, |text| text.len() as u64);
                kept = kept.saturating_sub(escaped);
                *stream = Stream::clip("", stream.bytes(), true, stream.lossy());
            }
        }
    }
    call.bytes = kept;
    call.evicted = true;
}
