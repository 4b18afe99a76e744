//! The working tree.
//!
//! The inventory answers for what belongs to the project without asking the disk; for
//! everything else (ignored files, `node_modules`) each directory is listed once. A
//! [`DiskTree`] is one observation: what was listed is not listed again. Make a new
//! one to look again.

use std::path::{Path, PathBuf};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

use super::follow::{Entries, Entry, Place, follow, follow_outside};
use super::inventory::Inventory;
use super::listing::Disk;
use super::names::Names;
use super::{DEFAULT_SIZE_LIMIT, read_file, read_file_as, stat};
use crate::cache::{Stat, Stats, Time};
use crate::digest::Digest;
use crate::path;
use crate::problem::Unchecked;
use crate::tree::{Kind, Tree, Witness};

/// A project's files as they lie on the disk.
#[derive(Debug)]
pub struct DiskTree {
    known: Known,
    /// Links of the inventory that lead nowhere, or in circles.
    broken: Vec<String>,
    /// Where directories that are not in the inventory lead.
    dirs: DashMap<String, Option<(Place, Kind)>, FxBuildHasher>,
    limit: u64,
    /// The digest of the inventory.
    layout: Digest,
    /// What earlier runs were told of files, so that those are not read again.
    stats: Stats,
    /// What this run was told of files that it read.
    read: DashMap<String, (Stat, Digest), FxBuildHasher>,
}

/// The inventory as a set, and the disk for what is not in it.
#[derive(Debug)]
struct Known {
    names: Names,
    disk: Disk,
}

impl DiskTree {
    /// The tree of `inventory` below the directory `root` (absolute).
    ///
    /// Links of the inventory that lead to a file are listed as files; those that
    /// lead to a directory or nowhere are not, since [`Tree::files`] lists files.
    pub fn new(root: &Path, inventory: Inventory) -> Self {
        let layout = layout_of(&inventory);
        let known = Known { names: Names::new(inventory.files, inventory.links), disk: Disk::new(root) };
        let mut tree = Self {
            known,
            broken: Vec::new(),
            dirs: DashMap::default(),
            limit: DEFAULT_SIZE_LIMIT,
            layout,
            stats: Stats::default(),
            read: DashMap::default(),
        };
        let mut to_files = Vec::new();
        for link in tree.known.names.links.clone() {
            match tree.kind(&link) {
                Some(Kind::File) => to_files.push(link),
                Some(Kind::Dir) => {}
                None => tree.broken.push(link),
            }
        }
        tree.known.names.add_files(to_files);
        tree
    }

    /// The same tree with another limit for the size of files, in bytes.
    #[must_use]
    pub fn with_size_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Links of the inventory that lead nowhere, or in circles; sorted.
    pub fn broken_links(&self) -> &[String] {
        &self.broken
    }

    /// The same tree, with what earlier runs were told of its files.
    #[must_use]
    pub fn with_stats(mut self, stats: Stats) -> Self {
        self.stats = stats;
        self
    }

    /// What is now known of its files, for the next run; `start` is a time of the file
    /// system before the first of them was read. `None` when nothing was learnt.
    pub fn stats(&self, start: Time) -> Option<Stats> {
        if self.read.is_empty() {
            return None;
        }
        // Times of another disk (a mounted folder) may be those of another clock.
        let device = stat::of(self.root())?.device;
        let files = self.read.iter().map(|file| (file.key().clone(), file.value().0, file.value().1));
        let dirs =
            self.known.disk.stats().into_iter().map(|(dir, stat, digest)| (as_dir(&dir), stat, digest));
        let here = files.chain(dirs).filter(|(_, stat, _)| stat.device == device);
        let mut stats = self.stats.with(here, start);
        // Installed files come and go; the list must not grow with them for ever.
        if stats.len() > 2 * self.known.names.len() + 20_000 {
            stats.cut_to(|path| self.known.names.get(path.trim_end_matches('/')).is_some());
        }
        Some(stats)
    }

    /// Directories that were asked about and that the system refused to list; sorted.
    /// What is in them was judged name by name, and [`Tree::list`] gave nothing.
    pub fn unlisted(&self) -> Vec<String> {
        self.known.disk.refused()
    }

    /// Where `path` leads and what is there.
    fn resolve(&self, path: &str) -> Option<(Place, Kind)> {
        match self.known.names.get(path) {
            Some(Entry::File) => return Some((Place::Inside(path.to_owned()), Kind::File)),
            Some(Entry::Dir) => return Some((Place::Inside(path.to_owned()), Kind::Dir)),
            Some(Entry::Link) | None => {}
        }
        let (dir, name) = (path::dirname(path), path::basename(path));
        let leaf = |place: &Place| match place {
            Place::Inside(real) => self.leaf(real, name),
            Place::Outside(real) => follow_outside(&self.known, real, name),
        };
        if self.known.names.get(dir) == Some(Entry::Dir) {
            return self.leaf(dir, name);
        }
        if let Some(parent) = self.dirs.get(dir) {
            return parent.as_ref().and_then(|(place, _)| leaf(place));
        }
        // Nothing below an absent directory exists, and no lock is held while links
        // are followed.
        let parent = follow(&self.known, "", dir).filter(|(_, kind)| *kind == Kind::Dir);
        let found = parent.as_ref().and_then(|(place, _)| leaf(place));
        self.dirs.insert(dir.to_owned(), parent);
        found
    }

    /// What `name` in the directory `real`, which is free of links, is. Most answers are
    /// that it is not there, and take one look-up.
    fn leaf(&self, real: &str, name: &str) -> Option<(Place, Kind)> {
        match self.known.disk.entry(real, name) {
            Some(Entry::File) => Some((Place::Inside(joined(real, name)), Kind::File)),
            Some(Entry::Dir) => Some((Place::Inside(joined(real, name)), Kind::Dir)),
            Some(Entry::Link) => follow(&self.known, real, name),
            // Gone since, or below a link to a part of the inventory.
            None if self.known.names.get(&joined(real, name)).is_some() => follow(&self.known, real, name),
            None => None,
        }
    }

    fn place(&self, place: &Place) -> PathBuf {
        match place {
            Place::Inside(path) => self.known.disk.absolute(path),
            Place::Outside(path) => path.clone(),
        }
    }
}

impl Tree for DiskTree {
    fn root(&self) -> &Path {
        self.known.disk.root()
    }

    fn files(&self) -> &[String] {
        &self.known.names.files
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        match self.known.names.get(path) {
            Some(Entry::File) => Some(Kind::File),
            Some(Entry::Dir) => Some(Kind::Dir),
            Some(Entry::Link) | None => self.resolve(path).map(|(_, kind)| kind),
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        if self.known.names.get(path) == Some(Entry::File) {
            return read_file(&self.known.disk.absolute(path), self.limit);
        }
        match self.resolve(path) {
            Some((place, Kind::File)) => read_file(&self.place(&place), self.limit),
            _ => Err(Unchecked::Unreadable),
        }
    }

    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        let place = match self.known.names.get(path) {
            Some(Entry::File) => self.known.disk.absolute(path),
            _ => match self.resolve(path) {
                Some((place, Kind::File)) => self.place(&place),
                _ => return Err(Unchecked::Unreadable),
            },
        };
        let (bytes, stat) = read_file_as(&place, self.limit)?;
        let digest = Digest::of(&bytes);
        if let Some(stat) = stat {
            self.read.insert(path.to_owned(), (stat, digest));
        }
        Ok((bytes, digest))
    }

    fn known_digest(&self, path: &str) -> Option<Digest> {
        if self.stats.is_empty() {
            return None;
        }
        // Whatever links lead to it, the file is told by its own number.
        let now = stat::behind(&self.known.disk.absolute(path))?;
        self.stats.digest(path, &now).filter(|_| now.size <= self.limit)
    }

    fn layout(&self) -> Option<Digest> {
        Some(self.layout)
    }

    fn witness(&self) -> Option<Witness> {
        self.known.disk.witness()
    }

    fn confirms(&self, witness: &Witness) -> bool {
        use rayon::prelude::*;
        let same_dir = |(dir, digest): &(String, Digest)| {
            let known = stat::of(&self.known.disk.absolute(dir));
            let known = known.and_then(|now| self.stats.digest(&as_dir(dir), &now));
            known.or_else(|| self.known.disk.listing_digest(dir)) == Some(*digest)
        };
        let same_link = |(link, target): &(String, String)| {
            self.known.disk.target(link).is_some_and(|now| now.to_str() == Some(target))
        };
        witness.links.iter().all(same_link) && witness.dirs.par_iter().with_min_len(64).all(same_dir)
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        match self.resolve(dir) {
            Some((Place::Inside(real), Kind::Dir)) => {
                let entries = self.known.disk.entries(&real).into_iter();
                let visible = entries.filter(|(name, _)| name != ".git");
                let kinds = visible.filter_map(|(name, entry)| {
                    let kind = match entry {
                        Entry::File => Kind::File,
                        Entry::Dir => Kind::Dir,
                        Entry::Link => follow(&self.known, &real, &name)?.1,
                    };
                    Some((name, kind))
                });
                kinds.collect()
            }
            Some((Place::Outside(real), Kind::Dir)) => list_outside(&self.known, &real),
            _ => Vec::new(),
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        match self.resolve(path)?.0 {
            Place::Inside(real) => Some(real),
            Place::Outside(_) => None,
        }
    }
}

/// What is in the directory `dir`, outside of the project. It is not kept: such a directory is
/// listed rarely.
pub(crate) fn list_outside(known: &impl Entries, dir: &Path) -> Vec<(String, Kind)> {
    known.left();
    let entries = Disk::new(dir).entries("").into_iter();
    entries.filter_map(|(name, _)| Some((name.clone(), follow_outside(known, dir, &name)?.1))).collect()
}

impl Entries for Known {
    fn entry(&self, dir: &str, name: &str) -> Option<Entry> {
        match self.names.get(&joined(dir, name)) {
            Some(entry) => Some(entry),
            None => self.disk.entry(dir, name),
        }
    }

    fn target(&self, path: &str) -> Option<PathBuf> {
        self.disk.target(path)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        self.disk.absolute(path)
    }

    fn relative(&self, path: &Path) -> Option<String> {
        self.disk.relative(path)
    }

    fn left(&self) {
        self.disk.leave();
    }
}

/// A directory in the list of what the system said of files.
fn as_dir(dir: &str) -> String {
    format!("{dir}/")
}

fn layout_of(inventory: &Inventory) -> Digest {
    let links = inventory.links.len().to_le_bytes();
    let names = inventory.links.iter().chain(&inventory.files).map(|path| path.as_bytes());
    Digest::of_parts(std::iter::once(&links[..]).chain(names))
}

/// `dir` and `name` as one path.
pub(crate) fn joined(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}
