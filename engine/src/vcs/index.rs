//! The working tree as git sees it: the index, what differs from it on the disk, and
//! what is untracked. From these the inventory is made.

use std::collections::BTreeSet;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Repository;
use super::error::VcsError;
use super::raw::{self, Record};
use super::run::{Git, fields, utf8};
use crate::path;
use crate::read::{Inventory, Submodule, is_installed};

/// The mode of an entry, as git writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// Nothing is there.
    Absent,
    Regular,
    Executable,
    Link,
    Submodule,
}

impl Mode {
    pub(crate) fn parse(octal: &[u8]) -> Option<Self> {
        match octal {
            b"000000" => Some(Self::Absent),
            b"120000" => Some(Self::Link),
            b"160000" => Some(Self::Submodule),
            b"100755" => Some(Self::Executable),
            // Very old repositories hold 100664.
            [b'1', b'0', b'0', ..] => Some(Self::Regular),
            _ => None,
        }
    }
}

/// One entry of the index.
#[derive(Clone, Debug)]
pub(crate) struct IndexEntry {
    pub(crate) path: String,
    pub(crate) mode: Mode,
    pub(crate) oid: String,
    /// 0, or 1 to 3 while a merge is not resolved.
    pub(crate) stage: u8,
    /// `assume-unchanged` or `skip-worktree`: git does not look at the disk.
    pub(crate) flag: Option<Flag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    AssumeUnchanged,
    SkipWorktree,
}

/// The index, in its own order (by bytes of the path).
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) entries: Vec<IndexEntry>,
    pub(crate) undecodable: Vec<String>,
}

/// Untracked paths that are not ignored and not installed, sorted.
#[derive(Debug)]
pub(crate) struct Untracked {
    pub(crate) files: Vec<String>,
    /// Repositories of their own, without the trailing slash.
    pub(crate) embedded: Vec<String>,
    /// Untracked directories that were left out because of what they are.
    pub(crate) installed: Vec<String>,
    pub(crate) undecodable: Vec<String>,
}

/// How tracked paths differ on the disk from the index; where line endings do, some may not.
#[derive(Debug)]
pub(crate) struct Dirty {
    pub(crate) records: FxHashMap<String, Record>,
}

pub(super) fn read_index(git: &Git) -> Result<Index, VcsError> {
    let output = git.ask("ls-files", &["-s", "-v", "-z", "--full-name"])?;
    let mut index = Index { entries: Vec::new(), undecodable: Vec::new() };
    for field in fields(&output) {
        let entry = parse_entry(field).ok_or_else(|| VcsError::Unexpected {
            command: "ls-files".to_owned(),
            detail: String::from_utf8_lossy(field).into_owned(),
        })?;
        match entry {
            Ok(entry) => index.entries.push(entry),
            Err(lossy) => index.undecodable.push(lossy),
        }
    }
    index.undecodable.dedup();
    Ok(index)
}

/// `TAG SP MODE SP OID SP STAGE TAB PATH`
fn parse_entry(field: &[u8]) -> Option<Result<IndexEntry, String>> {
    let tab = field.iter().position(|b| *b == b'\t')?;
    let (head, path) = (&field[..tab], &field[tab + 1..]);
    let mut head = head.split(|b| *b == b' ');
    let tag = *head.next()?.first()?;
    let mode = Mode::parse(head.next()?)?;
    let oid = std::str::from_utf8(head.next()?).ok()?.to_owned();
    let stage = head.next()?.first()?.checked_sub(b'0')?;
    let flag = match tag {
        b'S' | b's' => Some(Flag::SkipWorktree),
        tag if tag.is_ascii_lowercase() => Some(Flag::AssumeUnchanged),
        _ => None,
    };
    Some(utf8(path).map(|path| IndexEntry { path, mode, oid, stage, flag }))
}

pub(super) fn read_untracked(git: &Git) -> Result<Untracked, VcsError> {
    let output = git.ask("ls-files", &["--others", "--exclude-standard", "-z", "--full-name"])?;
    Ok(untracked_of(fields(&output)))
}

/// What these paths are; a repository of its own ends with a slash.
pub(super) fn untracked_of<'b>(found: impl Iterator<Item = &'b [u8]>) -> Untracked {
    let mut untracked =
        Untracked { files: Vec::new(), embedded: Vec::new(), installed: Vec::new(), undecodable: Vec::new() };
    let mut paths = Vec::new();
    for field in found {
        match utf8(field) {
            Ok(path) => paths.push(path),
            Err(lossy) => untracked.undecodable.push(lossy),
        }
    }
    let environments: BTreeSet<String> = paths
        .iter()
        .filter(|p| path::basename(p) == "pyvenv.cfg" && p.contains('/'))
        .map(|p| path::dirname(p).to_owned())
        .collect();
    let mut installed = BTreeSet::new();
    for found in paths {
        if let Some(dir) = installed_dir(&found, &environments) {
            installed.insert(dir.to_owned());
        } else if let Some(dir) = found.strip_suffix('/') {
            untracked.embedded.push(dir.to_owned());
        } else {
            untracked.files.push(found);
        }
    }
    untracked.files.sort_unstable();
    untracked.embedded.sort_unstable();
    untracked.installed = installed.into_iter().collect();
    untracked
}

/// The outermost directory on the way to `file` that holds installed things.
fn installed_dir<'a>(file: &'a str, environments: &BTreeSet<String>) -> Option<&'a str> {
    let mut end = 0;
    while let Some(at) = file[end..].find('/') {
        let dir = &file[..end + at];
        if is_installed(path::basename(dir)) || environments.contains(dir) {
            return Some(dir);
        }
        end += at + 1;
    }
    None
}

pub(super) fn read_dirty(git: &Git) -> Result<Dirty, VcsError> {
    let arguments = [&raw::ARGUMENTS[..], &["--no-renames", raw::WITHOUT_SUBMODULES]].concat();
    let output = match git.ask("diff", &arguments) {
        // To see that only a time stamp differs, it reads contents, which a partial
        // repository may lack. Without reading them, such a file counts as dirty.
        Err(failed @ VcsError::Failed { .. }) => git.ask("diff-files", &arguments).map_err(|_| failed)?,
        output => output?,
    };
    let (records, _) = raw::parse(&output)?;
    let mut by_path: FxHashMap<String, Record> = FxHashMap::default();
    for record in records {
        // An unmerged path is listed twice: as such, and against the side in the tree.
        let known = by_path.entry(record.path.clone()).or_insert_with(|| record.clone());
        if record.status == b'D' {
            *known = record;
        }
    }
    Ok(Dirty { records: by_path })
}

pub(super) fn inventory(repository: &Repository) -> Result<Inventory, VcsError> {
    repository.observe();
    let (untracked, dirty) = (repository.untracked()?, repository.dirty()?);
    let mut inventory = Inventory { embedded: untracked.embedded.clone(), ..Inventory::default() };
    let mut unsure: Vec<&str> = untracked.files.iter().map(String::as_str).collect();
    if let Some(status) = repository.status() {
        inventory.files.reserve(status.tracked.len() + unsure.len());
        for (path, mode) in &status.tracked {
            let status = if dirty.records.is_empty() { None } else { dirty.records.get(path) };
            match status.map(|record| record.status) {
                Some(b'D') => {}
                None if *mode != Mode::Link => inventory.files.push(path.clone()),
                _ => unsure.push(path),
            }
        }
        take_unsure(repository, &mut inventory, &unsure);
        return Ok(inventory.sorted());
    }
    let index = repository.index()?;
    for lossy in index.undecodable.iter().chain(&untracked.undecodable) {
        inventory.refuse(lossy.clone());
    }
    let mut submodules = Vec::new();
    for entry in &index.entries {
        let record = dirty.records.get(&entry.path);
        if entry.mode == Mode::Submodule {
            submodules.push(entry.path.as_str());
        } else if entry.mode == Mode::Link || entry.flag.is_some() || entry.stage > 0 {
            unsure.push(&entry.path);
        } else {
            match record.map(|r| r.status) {
                None => inventory.files.push(entry.path.clone()),
                Some(b'D') => {}
                Some(_) => unsure.push(&entry.path),
            }
        }
    }
    take_unsure(repository, &mut inventory, &unsure);
    let listed: Vec<(&str, Option<Inventory>)> =
        submodules.par_iter().map(|path| (*path, files_of_submodule(repository, path))).collect();
    for (path, inner) in listed {
        inventory.submodules.push(Submodule { path: path.to_owned(), listed: inner.is_some() });
        match inner {
            Some(inner) => mount(&mut inventory, path, inner),
            None => inventory.refuse(path.to_owned()),
        }
    }
    Ok(inventory.sorted())
}

/// What is not known to be a regular file is looked at: a few in most repositories, all of
/// them in a sparse checkout.
fn take_unsure(repository: &Repository, inventory: &mut Inventory, unsure: &[&str]) {
    let seen: Vec<Option<(bool, &str)>> =
        unsure.par_iter().map(|path| look(repository, path).map(|is_link| (is_link, *path))).collect();
    for (is_link, path) in seen.into_iter().flatten() {
        let list = if is_link { &mut inventory.links } else { &mut inventory.files };
        list.push(path.to_owned());
    }
}

/// Whether the file at `path` is a link; `None` when there is no file.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn look(repository: &Repository, path: &str) -> Option<bool> {
    let kind = std::fs::symlink_metadata(repository.root().join(path)).ok()?.file_type();
    (kind.is_file() || kind.is_symlink()).then(|| kind.is_symlink())
}

/// A submodule that cannot be asked is a directory of unknown content, and said to be.
fn files_of_submodule(repository: &Repository, path: &str) -> Option<Inventory> {
    repository.submodule(path).ok()??.files().ok()
}

fn mount(outer: &mut Inventory, dir: &str, inner: Inventory) {
    let place = |path: &String| format!("{dir}/{path}");
    outer.files.extend(inner.files.iter().map(place));
    outer.links.extend(inner.links.iter().map(place));
    outer.embedded.extend(inner.embedded.iter().map(place));
    let submodules = inner.submodules.iter();
    outer.submodules.extend(submodules.map(|s| Submodule { path: place(&s.path), listed: s.listed }));
    for refused in &inner.not_checked {
        outer.refuse(place(&refused.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_index_are_read() {
        let oid = "0123456789012345678901234567890123456789";
        let line = |tag: &str, mode: &str, stage: u8, path: &str| {
            parse_entry(format!("{tag} {mode} {oid} {stage}\t{path}").as_bytes()).unwrap().unwrap()
        };
        let plain = line("H", "100644", 0, "Einkäufe/a b.ts");
        assert_eq!((plain.path.as_str(), plain.mode, plain.flag), ("Einkäufe/a b.ts", Mode::Regular, None));
        assert_eq!(line("h", "100755", 0, "x").flag, Some(Flag::AssumeUnchanged));
        assert_eq!(line("S", "120000", 0, "x").flag, Some(Flag::SkipWorktree));
        assert_eq!(line("M", "100644", 3, "tab\tin\nname").stage, 3);
        assert!(parse_entry(b"nonsense").is_none());
    }

    #[test]
    fn installed_things_are_known_by_directory() {
        let environments = BTreeSet::from(["tools/env".to_owned()]);
        let of = |p| installed_dir(p, &environments);
        assert_eq!(of("a/node_modules/b/c.js"), Some("a/node_modules"));
        assert_eq!(of("tools/env/bin/python"), Some("tools/env"));
        assert_eq!(of("node_modules"), None, "a file of that name is a file");
        assert_eq!(of("src/a.ts"), None);
    }
}
