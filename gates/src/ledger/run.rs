//! One open run: the lock, catching up with other processes, and appending.
//!
//! Every step takes the run's lock, reads what others have written, checks the step against
//! all of it, and only then writes. The steps themselves are in [`steps`](super::steps).

use std::io;
use std::path::PathBuf;

use super::ack::{self, Acknowledged};
use super::capacity;
use super::frame::{self, FORMAT, Place};
use super::history::History;
use super::names::RunId;
use super::records::{Claimed, Opened, Record};
use super::refusal::{Failure, Hold, Persistence, Refusal};
use super::scan::{Scanned, scan};
use super::store::{Options, Store, unavailable};
use super::terms::Claim;
use crate::disk::{DiskFile, Lock, Mode, read_from};
use crate::lease::wait_for_lock;

/// A run that is open for writing. Several handles, in one process or in many, may be open
/// at once: each sees what the others have written before it writes.
#[derive(Debug)]
pub struct Run {
    pub(super) store: Store,
    pub(super) history: History,
    /// In whose name calls are made; `None` when it was reopened only to retire some.
    pub(super) claim: Option<Claim>,
    pub(super) frames: Box<dyn DiskFile>,
    path: PathBuf,
    ack: Option<Box<dyn DiskFile>>,
    pub(super) place: Place,
    acknowledged: u64,
    options: Options,
    /// A sync or an acknowledgement failed: this handle does not know what is durable, and
    /// asking the kernel again would not tell.
    poisoned: bool,
}

/// Whether the command had been let go before a step: decides what a failure means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    BeforeDispatch,
    AfterDispatch,
}

impl Run {
    pub(super) fn open(
        store: Store,
        run: &RunId,
        claim: Option<Claim>,
        options: Options,
    ) -> Result<Self, Failure> {
        if !store.exists(run)? {
            if options.must_exist {
                return Err(Refusal::Absent.into());
            }
            store.prepare(run)?;
        }
        let path = store.frames_of(run);
        let mode = if options.must_exist { Mode::Write } else { Mode::Create };
        let frames = store.disk().open(&path, mode).map_err(|error| unavailable("open", &path, &error))?;
        let mut opened = Self {
            history: History::new(run.clone()),
            place: Place::start(run),
            acknowledged: 0,
            ack: None,
            poisoned: false,
            claim: None,
            store,
            frames,
            path,
            options,
        };
        opened.locked(When::BeforeDispatch, |opened| opened.enter(claim))?;
        Ok(opened)
    }

    /// Opens and claims under the lock.
    fn enter(&mut self, claim: Option<Claim>) -> Result<(), Failure> {
        if self.place.sequence == 0 {
            let run = self.history.run().clone();
            let opened = Opened { format: FORMAT, run, at_ms: self.now_ms() };
            self.append(Record::Opened(opened), When::BeforeDispatch)?;
        }
        let Some(claim) = claim else { return Ok(()) };
        if self.history.claim() != Some(&claim) {
            self.history.check_claim(&claim).map_err(Refusal::Claim)?;
            let process = self.store.host().me();
            let claimed = Claimed { claim: claim.clone(), process, at_ms: self.now_ms() };
            self.append(Record::Claimed(claimed), When::BeforeDispatch)?;
        }
        self.claim = Some(claim);
        Ok(())
    }

    /// What the run's records say, as of this handle's last step.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Whether an earlier failure left it uncertain what is durable: then every step is
    /// refused, and the run has to be opened again.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Reads what other processes have written since, and gives what the records say now.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn catch_up(&mut self) -> Result<&History, Failure> {
        self.locked(When::BeforeDispatch, |_| Ok(()))?;
        Ok(&self.history)
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.store.host().now_ms()
    }

    /// Does some work under the run's lock, after catching up.
    pub(super) fn locked<T>(
        &mut self,
        when: When,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let answer = self.lock().and_then(|()| {
            let answer = self.refresh().and_then(|()| work(self));
            if self.frames.unlock().is_err() {
                // Another process would wait for a lock that only the end of this handle frees.
                self.poisoned = true;
            }
            answer
        });
        match (when, answer) {
            (When::AfterDispatch, Err(Failure::Refused(refusal))) => {
                Err(self.failed("record the outcome in", io::Error::other(refusal.to_string()), when))
            }
            (_, answer) => answer,
        }
    }

    fn lock(&mut self) -> Result<(), Failure> {
        if self.poisoned {
            return Err(Refusal::Poisoned.into());
        }
        let (host, wait) = (self.store.host(), self.options.lock_wait);
        match wait_for_lock(&*self.frames, Lock::Exclusive, host, wait) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::Busy.into()),
            Err(error) => Err(unavailable("lock", &self.path, &error).into()),
        }
    }

    /// Catches up with what is on disk, and repairs what nobody was told about.
    fn refresh(&mut self) -> Result<(), Failure> {
        let fail = |step, path: &PathBuf, error: io::Error| unavailable(step, path, &error);
        if !self.frames.is_at(&self.path).map_err(|error| fail("find", &self.path, error))? {
            return Err(Refusal::Held(Hold::Gone).into());
        }
        let acknowledged = self.read_ack()?;
        let size = self.frames.size().map_err(|error| fail("measure", &self.path, error))?;
        let nothing_new = self.acknowledged == self.place.sequence && size == self.place.end;
        if nothing_new && acknowledged == Acknowledged::Upto(self.place) {
            return Ok(());
        }
        if size > capacity::READ_BYTES {
            return Err(Refusal::Held(Hold::TooLarge { bytes: size }).into());
        }
        if size < self.place.end {
            let found = self.place.sequence.saturating_sub(1);
            let acknowledged = self.place.sequence;
            return Err(Refusal::Held(Hold::Cut { acknowledged, found }).into());
        }
        let bytes = read_from(&*self.frames, self.place.end, capacity::READ_BYTES as usize)
            .map_err(|error| fail("read", &self.path, error))?;
        let Scanned { place, torn } = scan(self.place, &bytes, acknowledged, None, &mut self.history)?;
        self.place = place;
        if place.sequence == 0 && self.ack.is_some() {
            // The second place is made after the first frame is durable.
            return Err(Refusal::Held(Hold::Gone).into());
        }
        if place.sequence == 0 && self.options.must_exist {
            return Err(Refusal::Absent.into());
        }
        self.repair(acknowledged, torn)
    }

    fn read_ack(&mut self) -> Result<Acknowledged, Failure> {
        let run = self.history.run();
        let path = self.store.ack_of(run);
        if self.ack.is_none() {
            match self.store.disk().open(&path, Mode::Write) {
                Ok(file) => self.ack = Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unavailable("open", &path, &error).into()),
            }
        }
        let Some(file) = &self.ack else { return Ok(Acknowledged::Nothing) };
        if !file.is_at(&path).map_err(|error| unavailable("find", &path, &error))? {
            return Err(Refusal::Held(Hold::AcknowledgementLost).into());
        }
        ack::read(&**file, run).map_err(|error| unavailable("read", &path, &error).into())
    }

    /// Cuts off a torn tail, and makes durable what this handle has not seen become durable.
    /// It is written again, because a sync that failed in another process leaves pages that
    /// look clean and are not on disk.
    fn repair(&mut self, acknowledged: Acknowledged, torn: bool) -> Result<(), Failure> {
        let start = Place::start(self.history.run());
        let known = match acknowledged {
            Acknowledged::Upto(place) => place,
            Acknowledged::Nothing | Acknowledged::Damaged => start,
        };
        if torn {
            self.frames
                .truncate(self.place.end)
                .map_err(|error| unavailable("cut the torn tail of", &self.path, &error))?;
        }
        if known != start {
            // Who acknowledged this may have failed to make it durable, and was not believed.
            self.acknowledge(&known, When::BeforeDispatch)?;
        }
        if self.place == known {
            return Ok(());
        }
        let length = usize::try_from(self.place.end - known.end).expect("bounded by READ_BYTES");
        let written = read_from(&*self.frames, known.end, length)
            .and_then(|bytes| write_all(&*self.frames, known.end, &bytes));
        if let Err(error) = written {
            return Err(self.poison("write again", error, When::BeforeDispatch));
        }
        self.make_durable(When::BeforeDispatch)
    }

    /// Appends one record: one write, the sync of the file, then the acknowledgement. The
    /// caller holds the lock and has caught up.
    pub(super) fn append(&mut self, record: Record, when: When) -> Result<(), Failure> {
        self.history.check(&record).map_err(Refusal::Illegal)?;
        let (bytes, place) = frame::encode(&self.place, record.kind(), &record.encode());
        if let Err(error) = write_all(&*self.frames, self.place.end, &bytes) {
            if self.frames.truncate(self.place.end).is_err() {
                self.poisoned = true;
            }
            return Err(match (when, unavailable("write", &self.path, &error)) {
                (When::BeforeDispatch, refusal) if !self.poisoned => refusal.into(),
                _ => self.failed("write", error, when),
            });
        }
        let length = place.end - self.place.end;
        self.place = place;
        self.history.apply(&record, length).expect("it was checked under the same lock");
        self.make_durable(when)
    }

    /// Syncs the frames and acknowledges the last one.
    fn make_durable(&mut self, when: When) -> Result<(), Failure> {
        if let Err(error) = self.frames.sync() {
            return Err(self.poison("sync", error, when));
        }
        let place = self.place;
        self.acknowledge(&place, when)
    }

    /// Makes an acknowledgement durable. Whoever is the first to go beyond the first record
    /// also makes the directories durable, before and after: the process that made them may
    /// have ended before it could, and the second place must never outlive the frames.
    fn acknowledge(&mut self, place: &Place, when: When) -> Result<(), Failure> {
        let young = self.acknowledged <= 1;
        let acknowledged = self
            .prepare_ack(young)
            .and_then(|()| {
                let file = self.ack.as_deref().expect("it was made in the line above");
                ack::write(file, self.history.run(), place)
            })
            .and_then(|()| if young { self.store.sync_acks() } else { Ok(()) });
        if let Err(error) = acknowledged {
            return Err(self.poison("acknowledge", error, when));
        }
        self.acknowledged = place.sequence;
        Ok(())
    }

    fn prepare_ack(&mut self, young: bool) -> io::Result<()> {
        let run = self.history.run();
        if young {
            self.store.sync_directories(run)?;
        }
        if self.ack.is_none() {
            let path = self.store.ack_of(run);
            self.ack = Some(self.store.disk().open(&path, Mode::Create)?);
        }
        Ok(())
    }

    fn poison(&mut self, step: &'static str, error: io::Error, when: When) -> Failure {
        self.poisoned = true;
        self.failed(step, error, when)
    }

    fn failed(&self, step: &'static str, error: io::Error, when: When) -> Failure {
        let dispatched = when == When::AfterDispatch;
        Failure::Persistence(Persistence { step, path: self.path.clone(), error, dispatched })
    }
}

/// One write, whole or not at all: what a short write leaves is for the caller to cut.
fn write_all(file: &dyn DiskFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
    if file.write_at(offset, bytes)? == bytes.len() {
        Ok(())
    } else {
        // A regular file is written short only when there is no more room.
        Err(io::Error::new(io::ErrorKind::StorageFull, "the write was short"))
    }
}
