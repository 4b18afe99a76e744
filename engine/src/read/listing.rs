//! One directory of the disk, listed once and kept.
//!
//! A resolver asks for twenty names that are not there for each one that is. One
//! listing answers all of them, and for every importer of the directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::follow::Entry;

/// The disk below a root: listings, each made at most once.
#[derive(Debug)]
pub(crate) struct Disk {
    /// As given; what sources and tools see.
    root: PathBuf,
    /// With links followed: where absolute link targets are compared.
    real_root: PathBuf,
    listings: DashMap<String, Arc<Listing>, FxBuildHasher>,
}

#[derive(Debug)]
enum Listing {
    /// Entries sorted by name. Sockets, pipes, devices and names that are no UTF-8
    /// are not entries: none of them can be a module.
    Entries(Vec<(Box<str>, Entry)>),
    /// The system refused to list it, but may let single names through.
    Refused,
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
impl Disk {
    pub(crate) fn new(root: &Path) -> Self {
        let real_root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Self { root: root.to_owned(), real_root, listings: DashMap::default() }
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
            Listing::Entries(entries) => {
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
            Listing::Entries(entries) => entries.iter().map(|(n, e)| (n.to_string(), *e)).collect(),
            Listing::Refused => Vec::new(),
        }
    }

    /// Where the link `path` points, as written.
    pub(crate) fn target(&self, path: &str) -> Option<PathBuf> {
        std::fs::read_link(self.absolute(path)).ok()
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
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    Listing::Entries(Vec::new())
                }
                _ => Listing::Refused,
            };
        }
    };
    let mut found = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else { return Listing::Refused };
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        if let Some(kind) = Entry::of(kind) {
            found.push((name.into_boxed_str(), kind));
        }
    }
    found.sort_unstable();
    Listing::Entries(found)
}
