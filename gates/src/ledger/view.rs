//! Looking at a run without writing a byte: for terminal inspection, lookups and listing.

use super::ack::{self, Acknowledged};
use super::call::Call;
use super::capacity;
use super::frame::Place;
use super::history::History;
use super::names::{CallId, Digest, Label, RunId};
use super::refusal::{Hold, Refusal};
use super::scan::{Scanned, scan};
use super::store::{Options, Store, unavailable};
use crate::disk::{Lock, Mode, read_from};

/// What a run's acknowledged records say.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The acknowledged records. One that was not acknowledged grants nothing, so it is not
    /// in here: the next writer takes it in.
    pub history: History,
    /// How many whole records follow that were not acknowledged.
    pub unacknowledged: u64,
    /// Whether a torn record follows that nobody was told about.
    pub torn: bool,
    /// Digest of the last acknowledged frame: equal digests are equal histories.
    pub head: Digest,
}

/// Who asks for a saved result. All of it has to be as it was recorded.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The identity.
    pub call: CallId,
    /// The run's owner.
    pub owner: Label,
    /// The owner's unit.
    pub unit: Option<Label>,
    /// The thread.
    pub thread: Label,
    /// The workspace's incarnation.
    pub workspace: Label,
    /// Digest of the command ([`super::command_hash`]).
    pub command_hash: Digest,
}

impl History {
    /// Finds a call by everything it was recorded with. Never dispatches anything, and gives
    /// whatever state the call is in.
    ///
    /// # Errors
    /// [`Refusal::NoSuchCall`] and [`Refusal::LookupMismatch`].
    pub fn lookup(&self, asked: &Lookup) -> Result<&Call, Refusal> {
        let call = self.call(&asked.call).ok_or(Refusal::NoSuchCall)?;
        let claim = self.claim_of(call).ok_or(Refusal::LookupMismatch)?;
        let same = claim.owner == asked.owner
            && claim.unit == asked.unit
            && claim.thread == asked.thread
            && claim.workspace == asked.workspace
            && call.request.command_hash == asked.command_hash;
        if same { Ok(call) } else { Err(Refusal::LookupMismatch) }
    }
}

impl Store {
    /// Reads a run as far as it was acknowledged. Works on a read-only disk.
    ///
    /// # Errors
    /// [`Refusal::Absent`], [`Refusal::Held`], [`Refusal::Newer`], [`Refusal::Busy`] and
    /// [`Refusal::Unavailable`].
    pub fn inspect(&self, run: &RunId) -> Result<Snapshot, Refusal> {
        if !self.exists(run)? {
            return Err(Refusal::Absent);
        }
        let path = self.frames_of(run);
        let fail = |step, error: std::io::Error| unavailable(step, &path, &error);
        let frames = self.disk().open(&path, Mode::Read).map_err(|error| fail("open", error))?;
        let wait = Options::default().lock_wait;
        match crate::lease::wait_for_lock(&*frames, Lock::Shared, self.host(), wait) {
            Ok(true) => {}
            Ok(false) => return Err(Refusal::Busy),
            Err(error) => return Err(fail("lock", error)),
        }
        let acknowledged = self.acknowledged(run)?.unwrap_or(Acknowledged::Nothing);
        let size = frames.size().map_err(|error| fail("measure", error))?;
        if size > capacity::READ_BYTES {
            return Err(Refusal::Held(Hold::TooLarge { bytes: size }));
        }
        let bytes =
            read_from(&*frames, 0, capacity::READ_BYTES as usize).map_err(|error| fail("read", error))?;
        let start = Place::start(run);
        let known = match acknowledged {
            Acknowledged::Upto(place) => place,
            Acknowledged::Nothing | Acknowledged::Damaged => start,
        };
        let mut history = History::new(run.clone());
        let Scanned { place, torn } = scan(start, &bytes, acknowledged, Some(known.sequence), &mut history)?;
        let unacknowledged = place.sequence - known.sequence;
        Ok(Snapshot { history, unacknowledged, torn, head: known.chain })
    }

    /// Digest of the last acknowledged frame as hexadecimal digits, or a word when there is none.
    pub(super) fn acknowledged_head(&self, run: &RunId) -> String {
        match self.acknowledged(run) {
            Ok(Some(Acknowledged::Upto(place))) => place.chain.hex(),
            Ok(Some(Acknowledged::Damaged)) => "damaged".to_owned(),
            Ok(Some(Acknowledged::Nothing) | None) => "nothing".to_owned(),
            Err(refusal) => refusal.code().to_owned(),
        }
    }

    /// What the second place says; `None` when it has no file.
    fn acknowledged(&self, run: &RunId) -> Result<Option<Acknowledged>, Refusal> {
        let path = self.ack_of(run);
        match self.disk().open(&path, Mode::Read) {
            Ok(file) => ack::read(&*file, run).map(Some).map_err(|error| unavailable("read", &path, &error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable("open", &path, &error)),
        }
    }
}
