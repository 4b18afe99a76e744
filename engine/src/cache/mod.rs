//! What is kept between runs: the facts of contents that were read before, and the
//! resolved graph of a project as it was last seen.
//!
//! A few files, each of which may be missing, damaged or of another version at any time;
//! then it is made anew, and [`Cache::notes`] says so:
//!
//! | file | holds | keyed by |
//! | --- | --- | --- |
//! | `facts-0` … `facts-f`, `facts-recent` | facts, one record a content | digest of the content, the file's name, language and reader version |
//! | `graph…` | one project, read and resolved ([`snapshot`]) | everything that was looked at to make it |
//! | `objects` | digests of contents ([`objects`]) | git's id of the blob |
//! | `stat` | what the disk said of each file that was read ([`stats`]) | path; means nothing elsewhere |
//!
//! `facts` and `graph` hold no absolute path and no time, so that another checkout, or a
//! CI machine that restores them, can use them. `stat` only spares reading: whoever has no
//! use for it reads each file and hashes it.
//!
//! **An answer never depends on it.** Whatever is taken from here was put in as the value of
//! a function of its key, by a program whose sources have the same fingerprint.
//!
//! What this module refuses to do: it touches no disk ([`Storage`] is given by the caller),
//! and it keeps nothing that a child process said.

pub(crate) mod column;
mod contents;
mod frame;
mod objects;
mod records;
pub(crate) mod snapshot;
mod stats;
mod trace;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

pub use column::Bytes;
pub use objects::Objects;
pub use stats::{Stat, Stats, Time};

pub(crate) use contents::{Content, key_of};
pub(crate) use trace::{Traced, TracedLoader, TracedTree};

use crate::digest::Digest;
use crate::graph::Graph;
use crate::project::Reading;
use crate::wires::Wires;
use frame::Opened;
use records::Records;
use snapshot::{Seen, Snapshot};

/// Where the files of a cache lie: a directory, or a map in memory.
pub trait Storage: Send + Sync {
    /// The bytes of a file; `None` when it is not there or cannot be read. They stay what they
    /// are as long as they are held, whatever becomes of the file.
    fn load(&self, name: &str) -> Option<Bytes>;

    /// Replaces a file, so that whoever reads at the same time sees the old bytes or the
    /// new ones. Whether it could be written.
    fn store(&self, name: &str, bytes: &[u8]) -> bool;
}

/// A snapshot that was opened before anybody knew whether it can be used.
pub(crate) struct Ahead {
    pub(crate) reading: Reading,
    pub(crate) snapshot: Snapshot,
    /// What is known of the content at each of [`Seen::looked_at`].
    pub(crate) known: Vec<Option<Digest>>,
}

/// A cache in use by one run.
pub struct Cache {
    storage: Box<dyn Storage>,
    fingerprint: Digest,
    /// Which snapshots are meant: those of the working tree, or of objects.
    of_objects: bool,
    records: Records,
    stats: OnceLock<Stats>,
    ahead: Mutex<Option<Ahead>>,
    notes: Mutex<Vec<String>>,
    hits: AtomicUsize,
    misses: AtomicUsize,
}

impl Cache {
    /// The cache in `storage`, as far as a program of this fingerprint can use it. The
    /// fingerprint changes whenever the program may say something else about equal inputs.
    pub fn new(storage: Box<dyn Storage>, fingerprint: &str) -> Self {
        Self {
            storage,
            fingerprint: Digest::of(fingerprint.as_bytes()),
            of_objects: false,
            records: Records::default(),
            stats: OnceLock::new(),
            ahead: Mutex::default(),
            notes: Mutex::default(),
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        }
    }

    /// The same for a project that is judged by the index or a commit: its snapshot does not
    /// push out the one of the working tree.
    #[must_use]
    pub fn for_objects(mut self) -> Self {
        self.of_objects = true;
        self
    }

    /// How many contents had their facts here, and how many were read.
    pub fn hits_and_misses(&self) -> (usize, usize) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// What was found damaged, or made by another version, in words; sorted.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        notes.sort();
        notes.dedup();
        notes
    }

    /// What the disk said of files the last time.
    pub fn stats(&self) -> Stats {
        let load = || self.load("stat").and_then(|file| Stats::decode(file.first()?)).unwrap_or_default();
        self.stats.get_or_init(load).clone()
    }

    /// Keeps what the disk says now, when that is worth it.
    pub fn keep_stats(&self, stats: &Stats) {
        if let Some(bytes) = stats.encode() {
            self.store("stat", &bytes);
        }
    }

    /// The digests of blobs that were read before.
    pub fn objects(&self) -> Objects {
        self.load("objects").and_then(|bytes| Objects::decode(&bytes)).unwrap_or_default()
    }

    /// Keeps them.
    pub fn keep_objects(&self, objects: &Objects) {
        self.store("objects", &objects.encode());
    }

    /// Begins to look after what a recall uses.
    pub(crate) fn begin_recall(&self) {
        self.records.begin_recall();
    }

    /// Ends it; `keep` says that the next run will need the same.
    pub(crate) fn end_recall(&self, keep: bool) {
        self.records.end_recall(self, keep);
    }

    /// Writes the facts that are new.
    pub fn keep_facts(&self) {
        self.records.keep(self);
    }

    pub(crate) fn content(&self, key: Digest) -> Option<Content> {
        let found = self.records.get(self, key).and_then(|bytes| Content::decode(&bytes));
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    pub(crate) fn keep_content(&self, key: Digest, content: &Content) {
        if let Some(bytes) = content.encode() {
            self.records.put(key, bytes);
        }
    }

    pub(crate) fn snapshot(&self, reading: Reading) -> Option<Snapshot> {
        let name = self.snapshot_name(reading);
        let file = self.load(name)?;
        let snapshot = Snapshot::decode(file);
        if snapshot.is_none() {
            self.note(name, "is damaged");
        }
        snapshot
    }

    /// Keeps a snapshot that was opened ahead.
    pub(crate) fn put_ahead(&self, ahead: Ahead) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(ahead);
    }

    /// The snapshot of this reading that was opened ahead, if one was.
    pub(crate) fn take_ahead(&self, reading: Reading) -> Option<Ahead> {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
        ahead.filter(|ahead| ahead.reading == reading)
    }

    pub(crate) fn keep_snapshot(&self, reading: Reading, seen: &Seen, graph: &Graph, wires: &[Wires]) {
        if let Some(sections) = snapshot::encode(seen, graph, wires) {
            let sections: Vec<&[u8]> = sections.iter().map(Vec::as_slice).collect();
            self.store_sections(self.snapshot_name(reading), &sections);
        }
    }

    /// A question that needs declarations does not push out what one without them keeps.
    fn snapshot_name(&self, reading: Reading) -> &'static str {
        match (reading, self.of_objects) {
            (Reading::Files, false) => "graph",
            (Reading::Declarations, false) => "graph-declarations",
            (Reading::Files, true) => "graph-objects",
            (Reading::Declarations, true) => "graph-objects-declarations",
        }
    }

    /// The payload of a file that is whole and of our version.
    fn load(&self, name: &str) -> Option<Opened> {
        let bytes = self.storage.load(name)?;
        match frame::open(bytes, self.fingerprint) {
            Ok(payload) => Some(payload),
            Err(why) => {
                self.note(name, why);
                None
            }
        }
    }

    fn store(&self, name: &str, payload: &[u8]) -> bool {
        self.store_sections(name, &[payload])
    }

    fn store_sections(&self, name: &str, sections: &[&[u8]]) -> bool {
        self.storage.store(name, &frame::seal(sections, self.fingerprint))
    }

    fn note(&self, name: &str, why: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(format!("cache file {name} {why}, and is made anew"));
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}
