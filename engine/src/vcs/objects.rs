//! Trees of the index and of commits, from the object store.

use std::collections::BTreeMap;

use super::Repository;
use super::blobs::Blobs;
use super::error::VcsError;
use super::index::Mode;
use super::object_tree::{ObjectEntry, ObjectTree};
use super::run::{Git, fields, utf8};
use crate::path;
use crate::read::{Inventory, Submodule};

/// The empty blob: what the index holds for a file that is only intended to be added.
const EMPTY_BLOB_SHA1: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
const EMPTY_BLOB_SHA256: &str = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";

/// As many names as are asked for one by one; for more, the whole tree is listed.
const FEW: usize = 200;

#[derive(Default)]
struct Parts {
    entries: BTreeMap<String, ObjectEntry>,
    blobs: Vec<Blobs>,
    inventory: Inventory,
    /// Ignored and installed places.
    on_disk: Vec<String>,
}

impl Repository {
    /// The index as a tree: what would be committed now. An unstaged change and an
    /// untracked file do not exist in it; ignored files are read from the disk.
    ///
    /// A path with conflicts holds our side; a file only intended to be added is absent.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn staged_tree(&self) -> Result<ObjectTree, VcsError> {
        let installed = self.installed_or_ignored();
        let index = self.index()?;
        let mut parts = Parts::default();
        let module = parts.module(Blobs::of(self.git.clone()));
        for lossy in &index.undecodable {
            parts.inventory.refuse(lossy.clone());
        }
        let mut stages: BTreeMap<&str, u8> = BTreeMap::new();
        for entry in &index.entries {
            if entry.stage == 1 || self.is_intended(&entry.path, &entry.oid)? {
                continue;
            }
            // Stages come in order: ours (2) before theirs (3).
            if *stages.entry(&entry.path).or_insert(entry.stage) == entry.stage {
                parts.take(self, &entry.path, "", entry.mode, &entry.oid, module);
            }
        }
        parts.on_disk.extend(installed?);
        Ok(parts.finish(self))
    }

    /// The commit `rev` as a tree. Ignored files, as the working tree ignores them, are
    /// read from the disk; nothing else of the working tree exists in it.
    ///
    /// # Errors
    /// When the revision is unknown, or git cannot be asked.
    pub fn revision_tree(&self, rev: &str) -> Result<ObjectTree, VcsError> {
        let commit = self.commit_of(rev)?;
        let (installed, listed) = std::thread::scope(|scope| {
            let installed = scope.spawn(|| self.installed_or_ignored());
            let listed = tree_entries(&self.git, &["-r", &commit]);
            (installed.join(), listed)
        });
        let installed = installed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let mut parts = Parts { on_disk: installed, ..Parts::default() };
        parts.commit(self, "", listed?);
        Ok(parts.finish(self))
    }

    /// Whether the index holds `path` only as a promise. The index alone does not say;
    /// the difference between it and the disk does: such a file is new there.
    fn is_intended(&self, path: &str, oid: &str) -> Result<bool, VcsError> {
        if oid != EMPTY_BLOB_SHA1 && oid != EMPTY_BLOB_SHA256 {
            return Ok(false);
        }
        Ok(self.dirty()?.records.get(path).is_some_and(|r| r.old_mode == Mode::Absent))
    }

    /// Directories and files that no tree of objects holds and that tests see all the
    /// same: what git ignores, and what is installed without being ignored.
    fn installed_or_ignored(&self) -> Result<Vec<String>, VcsError> {
        let (ignored, untracked) = std::thread::scope(|scope| {
            let untracked = scope.spawn(|| self.untracked());
            let arguments =
                ["--others", "--ignored", "--exclude-standard", "--directory", "-z", "--full-name"];
            let ignored = self.git.ask("ls-files", &arguments);
            (ignored, untracked.join())
        });
        let untracked = untracked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let ignored = ignored?;
        let ignored = fields(&ignored).filter_map(|f| utf8(f).ok());
        let mut places: Vec<String> = ignored.map(|path| path.trim_end_matches('/').to_owned()).collect();
        places.extend(untracked.installed.iter().chain(&untracked.embedded).cloned());
        Ok(places)
    }
}

impl Parts {
    fn module(&mut self, blobs: Blobs) -> usize {
        self.blobs.push(blobs);
        self.blobs.len() - 1
    }

    /// Takes the entries of a commit mounted at `dir`.
    fn commit(&mut self, repository: &Repository, dir: &str, listed: Listed) {
        let module = self.module(Blobs::of(repository.git.clone()));
        for lossy in listed.undecodable {
            self.inventory.refuse(place(dir, &lossy));
        }
        for (path, mode, oid) in listed.entries {
            self.take(repository, &path, dir, mode, &oid, module);
        }
    }

    fn take(&mut self, repository: &Repository, path: &str, dir: &str, mode: Mode, oid: &str, module: usize) {
        let placed = place(dir, path);
        let entry = match mode {
            Mode::Regular | Mode::Executable => ObjectEntry::File { oid: oid.to_owned(), module },
            Mode::Link => ObjectEntry::Link { oid: oid.to_owned(), module },
            Mode::Absent => return,
            Mode::Submodule => {
                self.submodule(repository, path, &placed, oid);
                return;
            }
        };
        self.entries.insert(placed, entry);
    }

    /// A submodule is judged by the commit that is recorded for it, if it is at hand.
    fn submodule(&mut self, outer: &Repository, path: &str, placed: &str, oid: &str) {
        self.entries.insert(placed.to_owned(), ObjectEntry::Dir);
        let listed = outer.submodule(path).ok().flatten().and_then(|inner| {
            let listed = tree_entries(&inner.git, &["-r", oid]).ok()?;
            let on_disk = inner.installed_or_ignored().ok()?;
            Some((inner, listed, on_disk))
        });
        let is_listed = listed.is_some();
        match listed {
            Some((inner, listed, on_disk)) => {
                self.on_disk.extend(on_disk.iter().map(|path| place(placed, path)));
                self.commit(&inner, placed, listed);
            }
            None => self.inventory.refuse(placed.to_owned()),
        }
        self.inventory.submodules.push(Submodule { path: placed.to_owned(), listed: is_listed });
    }

    fn finish(mut self, repository: &Repository) -> ObjectTree {
        self.on_disk.sort_unstable();
        ObjectTree::new(repository.root(), self.entries, self.blobs, self.on_disk, self.inventory)
    }
}

/// A tree as git lists it.
struct Listed {
    entries: Vec<(String, Mode, String)>,
    undecodable: Vec<String>,
}

/// Modes and ids of `paths` in `tree`; those that are not there are left out.
pub(super) fn entries_at(
    git: &Git,
    tree: &str,
    paths: &[&str],
) -> Result<BTreeMap<String, (Mode, String)>, VcsError> {
    // The empty path is the tree itself.
    let paths: Vec<&str> = paths.iter().copied().filter(|path| !path.is_empty()).collect();
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let few = [&[tree, "--"], &paths[..]].concat();
    let listed =
        if paths.len() <= FEW { tree_entries(git, &few)? } else { tree_entries(git, &["-r", tree])? };
    Ok(listed.entries.into_iter().map(|(path, mode, oid)| (path, (mode, oid))).collect())
}

fn tree_entries(git: &Git, arguments: &[&str]) -> Result<Listed, VcsError> {
    let output = git.ask("ls-tree", &[&["-z", "--full-tree"], arguments].concat())?;
    let mut listed = Listed { entries: Vec::new(), undecodable: Vec::new() };
    for field in fields(&output) {
        let (head, path) = split_entry(field).ok_or_else(|| VcsError::Unexpected {
            command: "ls-tree".to_owned(),
            detail: String::from_utf8_lossy(field).into_owned(),
        })?;
        // A directory, when a path that was asked for is one.
        let Some((mode, oid)) = head else { continue };
        match utf8(path) {
            Ok(path) => listed.entries.push((path, mode, oid)),
            Err(lossy) => listed.undecodable.push(lossy),
        }
    }
    Ok(listed)
}

/// `MODE SP TYPE SP OID TAB PATH`; no head for a directory.
#[expect(clippy::type_complexity, reason = "read once, right above")]
fn split_entry(field: &[u8]) -> Option<(Option<(Mode, String)>, &[u8])> {
    let tab = field.iter().position(|b| *b == b'\t')?;
    let (head, path) = (&field[..tab], &field[tab + 1..]);
    let mut head = head.split(|b| *b == b' ');
    let (mode, kind, oid) = (head.next()?, head.next()?, head.next()?);
    if kind == b"tree" {
        return Some((None, path));
    }
    Some((Some((Mode::parse(mode)?, std::str::from_utf8(oid).ok()?.to_owned())), path))
}

fn place(dir: &str, path: &str) -> String {
    match dir {
        "" => path.to_owned(),
        dir => path::join(dir, path).unwrap_or_else(|| path.to_owned()),
    }
}
