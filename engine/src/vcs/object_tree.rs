//! The index or a commit as a tree.
//!
//! What is judged comes from the object store and from nowhere else. Only what no
//! commit ever holds (ignored directories: `node_modules`, `.venv`) is read from the
//! disk, since tests would not load without it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dashmap::DashMap;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::VcsError;
use super::blobs::{Blob, Blobs};
use crate::cache::Objects;
use crate::digest::Digest;
use crate::path;
use crate::problem::Unchecked;
use crate::read::{DEFAULT_SIZE_LIMIT, Disk, Entries, Entry, Inventory, Place};
use crate::read::{follow, joined, list_outside, read_file};
use crate::tree::{Kind, Tree, Witness};

/// What an object tree holds at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObjectEntry {
    /// A regular file.
    File {
        /// The id of its blob.
        oid: String,
        /// Which repository holds it.
        module: usize,
    },
    /// A symbolic link.
    Link {
        /// The id of the blob that holds its target.
        oid: String,
        /// Which repository holds it.
        module: usize,
    },
    /// A directory that must be there even if nothing is in it (a submodule).
    Dir,
}

impl ObjectEntry {
    fn blob(&self) -> Option<&str> {
        match self {
            Self::File { oid, .. } | Self::Link { oid, .. } => Some(oid),
            Self::Dir => None,
        }
    }
}

/// A project's files as the index or a commit holds them.
#[derive(Debug)]
pub struct ObjectTree {
    known: Known,
    inventory: Inventory,
    files: Vec<String>,
    /// Contents that were read ahead or are read again, by blob id.
    contents: DashMap<String, Result<Arc<[u8]>, Unchecked>, FxBuildHasher>,
    limit: u64,
    /// Digests of blobs that earlier runs have read.
    digests: Objects,
    /// Those that this run has read.
    read: DashMap<String, Digest, FxBuildHasher>,
}

#[derive(Debug)]
struct Known {
    /// Objects by path; in order, so that a directory is a range.
    objects: BTreeMap<String, ObjectEntry>,
    /// Every directory that leads to an object or to a place on the disk.
    dirs: FxHashMap<String, ()>,
    targets: FxHashMap<String, PathBuf>,
    blobs: Vec<Blobs>,
    /// Files and directories that are read from the disk, with all below; sorted.
    on_disk: Vec<String>,
    disk: Disk,
}

impl ObjectTree {
    pub(super) fn new(
        root: &Path,
        objects: BTreeMap<String, ObjectEntry>,
        blobs: Vec<Blobs>,
        on_disk: Vec<String>,
        inventory: Inventory,
    ) -> Self {
        let mut dirs = FxHashMap::default();
        dirs.insert(String::new(), ());
        let empty = objects.iter().filter(|(_, entry)| **entry == ObjectEntry::Dir).map(|(path, _)| path);
        dirs.extend(empty.map(|path| (path.clone(), ())));
        for path in objects.keys().chain(&on_disk) {
            for dir in path::ancestors(path) {
                if dirs.insert(dir.to_owned(), ()).is_some() {
                    break;
                }
            }
        }
        let disk = Disk::new(root);
        let known = Known { objects, dirs, targets: FxHashMap::default(), blobs, on_disk, disk };
        let contents = DashMap::default();
        let mut tree = Self {
            known,
            inventory,
            files: Vec::new(),
            contents,
            limit: DEFAULT_SIZE_LIMIT,
            digests: Objects::default(),
            read: DashMap::default(),
        };
        tree.read_links();
        let files = tree.known.objects.iter().filter(|(path, entry)| match entry {
            ObjectEntry::File { .. } => true,
            ObjectEntry::Link { .. } => tree.kind(path) == Some(Kind::File),
            ObjectEntry::Dir => false,
        });
        tree.files = files.map(|(path, _)| path.clone()).collect();
        tree
    }

    /// The same tree with another limit for the size of files, in bytes. For use before
    /// anything is read.
    #[must_use]
    pub fn with_size_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self.contents.clear();
        self
    }

    /// The same tree, with digests of blobs that earlier runs have read.
    #[must_use]
    pub fn with_digests(mut self, digests: Objects) -> Self {
        self.digests = digests;
        self
    }

    /// What is now known of blobs, for the next run; `None` when nothing was learnt.
    pub fn digests(&self) -> Option<Objects> {
        if self.read.is_empty() {
            return None;
        }
        let used: FxHashSet<&str> = self.known.objects.values().filter_map(ObjectEntry::blob).collect();
        let read = self.read.iter().map(|blob| (blob.key().clone(), *blob.value()));
        // A few branches fit, not a history.
        Some(self.digests.with(read, 4 * used.len() + 20_000, |id| used.contains(id)))
    }

    /// Whether the bytes at `path` must be read to know their digest.
    pub fn is_unknown(&self, path: &str) -> bool {
        self.known_digest(path).is_none()
    }

    /// Submodules, and what could not be named or listed.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Reads the contents of `paths` ahead, many at once; for many files this is ten
    /// times as fast as reading them one by one.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn prefetch(&self, paths: &[&str]) -> Result<(), VcsError> {
        let mut wanted: Vec<(usize, &str)> = paths
            .iter()
            .filter_map(|path| match self.known.objects.get(*path)? {
                ObjectEntry::File { oid, module } => Some((*module, oid.as_str())),
                ObjectEntry::Link { .. } | ObjectEntry::Dir => None,
            })
            .filter(|(_, oid)| !self.contents.contains_key(*oid))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        // Git unpacks on one core; each part is a git process of its own.
        let part = wanted.len().div_ceil(rayon::current_num_threads()).max(256);
        let parts: Vec<&[(usize, &str)]> =
            wanted.chunk_by(|a, b| a.0 == b.0).flat_map(|of_module| of_module.chunks(part)).collect();
        parts.par_iter().try_for_each(|part| {
            let oids: Vec<&str> = part.iter().map(|(_, oid)| *oid).collect();
            let blobs = self.known.blobs[part[0].0].read_all(&oids, self.limit)?;
            for (oid, blob) in oids.into_iter().zip(blobs) {
                self.contents.insert(oid.to_owned(), content(blob));
            }
            Ok(())
        })
    }

    fn read_links(&mut self) {
        let links = self.known.objects.iter().filter_map(|(path, entry)| match entry {
            ObjectEntry::Link { oid, module } => Some((*module, oid.as_str(), path)),
            ObjectEntry::File { .. } | ObjectEntry::Dir => None,
        });
        let mut links: Vec<(usize, &str, &String)> = links.collect();
        links.sort_unstable();
        let mut targets = FxHashMap::default();
        let mut unread = Vec::new();
        for of_module in links.chunk_by(|a, b| a.0 == b.0) {
            let oids: Vec<&str> = of_module.iter().map(|(_, oid, _)| *oid).collect();
            match self.known.blobs[of_module[0].0].read_all(&oids, self.limit) {
                Ok(blobs) => {
                    for ((_, _, path), blob) in of_module.iter().zip(blobs) {
                        match blob {
                            Blob::Bytes(bytes) => {
                                let target = String::from_utf8_lossy(&bytes).into_owned();
                                targets.insert((*path).clone(), PathBuf::from(target));
                            }
                            Blob::TooLarge | Blob::Missing => unread.push((*path).clone()),
                        }
                    }
                }
                Err(_) => unread.extend(of_module.iter().map(|(_, _, path)| (*path).clone())),
            }
        }
        self.known.targets = targets;
        for path in unread {
            self.inventory.refuse(path);
        }
        self.inventory = std::mem::take(&mut self.inventory).sorted();
    }

    fn resolve(&self, path: &str) -> Option<(Place, Kind)> {
        follow(&self.known, "", path)
    }

    fn read_object(&self, path: &str) -> Option<Result<Vec<u8>, Unchecked>> {
        let ObjectEntry::File { oid, module } = self.known.objects.get(path)? else { return None };
        if let Some(known) = self.contents.get(oid) {
            return Some(known.as_ref().map(|bytes| bytes.to_vec()).map_err(|reason| *reason));
        }
        let read = self.known.blobs[*module].read(oid, self.limit);
        Some(match read {
            Ok(Blob::Bytes(bytes)) => Ok(bytes),
            Ok(Blob::TooLarge) => Err(Unchecked::TooLarge),
            Ok(Blob::Missing) | Err(_) => Err(Unchecked::Unreadable),
        })
    }
}

impl Tree for ObjectTree {
    fn root(&self) -> &Path {
        self.known.disk.root()
    }

    fn files(&self) -> &[String] {
        &self.files
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        match self.known.objects.get(path) {
            Some(ObjectEntry::File { .. }) => Some(Kind::File),
            _ if self.known.dirs.contains_key(path) => Some(Kind::Dir),
            _ => self.resolve(path).map(|(_, kind)| kind),
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        if let Some(read) = self.read_object(path) {
            return read;
        }
        match self.resolve(path) {
            Some((Place::Inside(real), Kind::File)) => self
                .read_object(&real)
                .unwrap_or_else(|| read_file(&self.known.disk.absolute(&real), self.limit)),
            Some((Place::Outside(real), Kind::File)) => read_file(&real, self.limit),
            _ => Err(Unchecked::Unreadable),
        }
    }

    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        let bytes = self.read(path)?;
        let digest = Digest::of(&bytes);
        if let Some(ObjectEntry::File { oid, .. }) = self.known.objects.get(path) {
            self.read.insert(oid.clone(), digest);
        }
        Ok((bytes, digest))
    }

    fn known_digest(&self, path: &str) -> Option<Digest> {
        match self.known.objects.get(path)? {
            ObjectEntry::File { oid, .. } => self.digests.digest(oid),
            ObjectEntry::Link { .. } | ObjectEntry::Dir => None,
        }
    }

    fn layout(&self) -> Option<Digest> {
        let kind = |path: &String, entry: &ObjectEntry| match entry {
            ObjectEntry::File { .. } => "file".to_owned(),
            ObjectEntry::Link { .. } => format!("link {:?}", self.known.targets.get(path)),
            ObjectEntry::Dir => "dir".to_owned(),
        };
        let objects = self.known.objects.iter().flat_map(|(path, entry)| [path.clone(), kind(path, entry)]);
        let parts: Vec<String> = objects.chain(self.known.on_disk.iter().cloned()).collect();
        let count = self.known.objects.len().to_le_bytes();
        Some(Digest::of_parts(std::iter::once(&count[..]).chain(parts.iter().map(|part| part.as_bytes()))))
    }

    fn witness(&self) -> Option<Witness> {
        self.known.disk.witness()
    }

    fn confirms(&self, witness: &Witness) -> bool {
        let disk = &self.known.disk;
        let same_dir = |(dir, digest): &(String, Digest)| disk.listing_digest(dir) == Some(*digest);
        let same_link = |(link, target): &(String, String)| {
            disk.target(link).is_some_and(|now| now.to_str() == Some(target))
        };
        witness.links.iter().all(same_link) && witness.dirs.par_iter().all(same_dir)
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        match self.resolve(dir) {
            Some((Place::Inside(real), Kind::Dir)) => {
                let names = self.known.names(&real).into_iter();
                let kinds = names.filter_map(|name| {
                    let kind = self.kind(&joined(&real, &name))?;
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

impl Known {
    /// Whether `path` is read from the disk.
    fn is_on_disk(&self, path: &str) -> bool {
        let is_place = |path: &str| self.on_disk.binary_search_by(|p| p.as_str().cmp(path)).is_ok();
        is_place(path) || path::ancestors(path).any(is_place)
    }

    /// The names in the directory `dir`, sorted.
    fn names(&self, dir: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let below = self.objects.range(prefix.clone()..).map(|(path, _)| path);
        for path in below.take_while(|path| path.starts_with(&prefix)) {
            let rest = &path[prefix.len()..];
            let name = rest.split('/').next().unwrap_or(rest);
            if names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
        }
        let on_disk = self.disk.entries(dir).into_iter().map(|(name, _)| name);
        names.extend(on_disk.filter(|name| {
            let path = joined(dir, name);
            self.dirs.contains_key(&path) || self.is_on_disk(&path)
        }));
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Entries for Known {
    fn entry(&self, dir: &str, name: &str) -> Option<Entry> {
        let path = joined(dir, name);
        match self.objects.get(&path) {
            Some(ObjectEntry::File { .. }) => return Some(Entry::File),
            Some(ObjectEntry::Link { .. }) => return Some(Entry::Link),
            Some(ObjectEntry::Dir) => return Some(Entry::Dir),
            None => {}
        }
        if self.dirs.contains_key(&path) {
            return Some(Entry::Dir);
        }
        if self.is_on_disk(&path) { self.disk.entry(dir, name) } else { None }
    }

    fn target(&self, path: &str) -> Option<PathBuf> {
        match self.objects.get(path) {
            Some(_) => self.targets.get(path).cloned(),
            None => self.disk.target(path),
        }
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

fn content(blob: Blob) -> Result<Arc<[u8]>, Unchecked> {
    match blob {
        Blob::Bytes(bytes) => Ok(bytes.into()),
        Blob::TooLarge => Err(Unchecked::TooLarge),
        Blob::Missing => Err(Unchecked::Unreadable),
    }
}
