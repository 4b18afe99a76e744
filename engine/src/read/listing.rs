//! One directory of the disk, listed once and kept.
//!
//! A resolver asks for twenty names that are not there for each one that is. One
//! listing answers all of them, and for every importer of the directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::follow::Entry;
use super::stat;
use crate::cache::Stat;
use crate::digest::Digest;
use crate::tree::Witness;

/// The directory of this program's own state.
const OWN: &str = ".owed";

/// The disk below a root: listings, each made at most once.
#[derive(Debug)]
pub(crate) struct Disk {
    /// As given; what sources and tools see.
    root: PathBuf,
    /// With links followed: where absolute link targets are compared.
    real_root: PathBuf,
    listings: DashMap<String, Arc<Listing>, FxBuildHasher>,
    /// Links that were followed, and where they point.
    links: DashMap<String, Option<PathBuf>, FxBuildHasher>,
    /// Whether something outside of the root was asked about.
    left: AtomicBool,
}

#[derive(Debug)]
enum Listing {
    /// Entries sorted by name. Sockets, pipes, devices and names that are no UTF-8
    /// are not entries: none of them can be a module.
    Entries {
        list: Vec<(Box<str>, Entry)>,
        /// What the system said of the directory before it was listed.
        stat: Option<Stat>,
    },
    /// The system refused to list it, but may let single names through.
    Refused,
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        let real_root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Self {
            root: root.to_owned(),
            real_root,
            listings: DashMap::default(),
            links: DashMap::default(),
            left: AtomicBool::new(false),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    /// `path` relative to the root, when it lies below it and can be named.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let rest = path.strip_prefix(&self.real_root).or_else(|_| path.strip_prefix(&self.root)).ok()?;
        Some(rest.to_str()?.trim_end_matches('/').to_owned())
    }

    /// The entry `name` of the directory `dir`, which must be free of links.
    pub(crate) fn entry(&self, dir: &str, name: &str) -> Option<Entry> {
        match &*self.listing(dir) {
            Listing::Entries { list: entries, .. } => {
                let at = entries.binary_search_by(|(n, _)| (**n).cmp(name)).ok()?;
                Some(entries[at].1)
            }
            Listing::Refused => {
                let metadata = std::fs::symlink_metadata(self.absolute(dir).join(name)).ok()?;
                Entry::of(metadata.file_type())
            }
        }
    }

    /// Names and entries of `dir`, which must be free of links; sorted by name.
    pub(crate) fn entries(&self, dir: &str) -> Vec<(String, Entry)> {
        match &*self.listing(dir) {
            Listing::Entries { list, .. } => list.iter().map(|(n, e)| (n.to_string(), *e)).collect(),
            Listing::Refused => Vec::new(),
        }
    }

    /// Where the link `path` points, as written.
    pub(crate) fn target(&self, path: &str) -> Option<PathBuf> {
        if let Some(known) = self.links.get(path) {
            return known.clone();
        }
        let target = std::fs::read_link(self.absolute(path)).ok();
        self.links.entry(path.to_owned()).or_insert(target).clone()
    }

    /// Notes that something outside of the root was asked about.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// The directories that were listed and the links that were followed; `None` when one
    /// could not be, or when something outside was asked about.
    pub(crate) fn witness(&self) -> Option<Witness> {
        if self.left.load(Ordering::Relaxed) {
            return None;
        }
        let dirs = self.listings.iter().map(|l| Some((l.key().clone(), l.value().digest()?)));
        let mut dirs = dirs.collect::<Option<Vec<_>>>()?;
        let links =
            self.links.iter().map(|l| Some((l.key().clone(), l.value().as_ref()?.to_str()?.to_owned())));
        let mut links = links.collect::<Option<Vec<_>>>()?;
        dirs.sort_unstable();
        links.sort_unstable();
        Some(Witness { dirs, links })
    }

    /// What the system says of the directories that were listed, each asked before it was
    /// listed.
    pub(crate) fn stats(&self) -> Vec<(String, Stat, Digest)> {
        let known = self.listings.iter();
        let stats = known.filter_map(|l| match &**l.value() {
            Listing::Entries { stat, .. } => Some((l.key().clone(), (*stat)?, l.value().digest()?)),
            Listing::Refused => None,
        });
        stats.collect()
    }

    /// The digest of the listing of `dir`.
    pub(crate) fn listing_digest(&self, dir: &str) -> Option<Digest> {
        self.listing(dir).digest()
    }

    /// The directories asked about so far that the system refused to list; sorted.
    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.listings.iter().filter(|l| matches!(**l.value(), Listing::Refused));
        let mut refused: Vec<String> = refused.map(|l| l.key().clone()).collect();
        refused.sort_unstable();
        refused
    }

    fn listing(&self, dir: &str) -> Arc<Listing> {
        if let Some(known) = self.listings.get(dir) {
            return Arc::clone(&known);
        }
        // Read outside the lock: two threads may list the same directory, none waits
        // for the disk. The first one to finish is kept, so all see one answer.
        let made = Arc::new(read_listing(&self.absolute(dir)));
        Arc::clone(&self.listings.entry(dir.to_owned()).or_insert(made))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn read_listing(dir: &Path) -> Listing {
    let stat = stat::of(dir);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    Listing::Entries { list: Vec::new(), stat: None }
                }
                _ => Listing::Refused,
            };
        }
    };
    let mut found = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else { return Listing::Refused };
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        // What is kept in there is nobody's input, and must not look like a change.
        if name == OWN {
            continue;
        }
        if let Some(kind) = Entry::of(kind) {
            found.push((name.into_boxed_str(), kind));
        }
    }
    found.sort_unstable();
    Listing::Entries { list: found, stat }
}

impl Listing {
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Entries { list, .. } => {
                let kind = |entry: Entry| match entry {
                    Entry::File => &b"f"[..],
                    Entry::Dir => b"d",
                    Entry::Link => b"l",
                };
                Some(Digest::of_parts(list.iter().flat_map(|(name, entry)| [name.as_bytes(), kind(*entry)])))
            }
            Self::Refused => None,
        }
    }
}
