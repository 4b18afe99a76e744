//! What changed between a base and the working tree, the index, or a commit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Repository;
use super::base::{Base, BaseInfo};
use super::before::Before;
use super::error::VcsError;
use super::flagged::{self, Found};
use super::index::{Flag, Mode};
use super::raw::{self, Record};
use super::status::FromHead;

use crate::change::{Change, ChangeKind};

/// The answer to [`Repository::changes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// What was compared with.
    pub base: BaseInfo,
    /// The commit that was judged; `None` for the working tree and the index.
    pub head: Option<String>,
    /// One entry a path, sorted by path. A submodule is listed itself (as modified),
    /// and its files are listed when they are known.
    pub changes: Vec<Change>,
    /// Submodules among the changes, sorted by path.
    pub submodules: Vec<SubmoduleChange>,
    /// Changed paths that are no UTF-8, lossily; sorted. They cannot be placed.
    pub undecodable: Vec<String>,
    /// Why renames could not be told from a deletion and an addition, if they could not
    /// (contents that this repository lacks, for example in a partial clone).
    pub without_renames: Option<String>,
    /// What the base held at each changed path.
    pub(super) before: BTreeMap<String, Before>,
}

/// A submodule that changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SubmoduleChange {
    /// Where it is mounted.
    pub path: String,
    /// Whether the changed files inside are listed; otherwise any of them may have changed.
    pub listed: bool,
}

/// Changes while they are put together.
#[derive(Debug, Default)]
pub(super) struct Collected {
    kinds: BTreeMap<String, ChangeKind>,
    before: BTreeMap<String, Before>,
    submodules: BTreeSet<SubmoduleChange>,
    undecodable: BTreeSet<String>,
    without_renames: Option<String>,
    /// Paths with conflicts whose kind is not known yet.
    unmerged: BTreeSet<String>,
}

/// Where a tree and the disk can differ.
enum Touched<'s> {
    /// Exactly so.
    Known(&'s [Record]),
    /// At these paths and nowhere else.
    At(BTreeSet<String>),
    /// That is not known, or they are many.
    Unknown,
}

/// The newer side of a comparison, inside of a submodule.
enum Side<'a> {
    Disk,
    /// The id of the commit; `None` when the submodule is gone.
    Commit(Option<&'a str>),
}

impl Repository {
    /// What changed since `base`.
    ///
    /// Untracked files count for the working tree only. Files that git was told not to
    /// look at (`assume-unchanged`, `skip-worktree`) are compared by their bytes; those
    /// that a sparse checkout leaves out are not deletions.
    ///
    /// # Errors
    /// When a revision is unknown or cut off, or git cannot be asked.
    pub fn changes(&self, base: &Base) -> Result<Changes, VcsError> {
        let (info, head, collected) = match base {
            Base::Worktree { rev } => {
                let (info, collected) = std::thread::scope(|scope| {
                    scope.spawn(|| self.observe());
                    let info = self.base_info(rev, self.head()?.as_deref())?;
                    let collected = self.against_disk(self.tree_of(&info))?;
                    Ok((info, collected))
                })?;
                (info, None, collected)
            }
            Base::Staged { rev } => {
                let info = self.base_info(rev, self.head()?.as_deref())?;
                let collected = self.between("--cached", self.tree_of(&info), None)?;
                (info, None, collected)
            }
            Base::Revision { rev, base } => {
                let head = self.commit_of(rev)?;
                let info = match base {
                    Some(base) => self.base_info(base, Some(&head))?,
                    None => self.parent_info(rev, &head)?,
                };
                let collected = self.between("", self.tree_of(&info), Some(&head))?;
                (info, Some(head), collected)
            }
        };
        let changes = collected.kinds.into_iter().map(|(path, kind)| Change { path, kind }).collect();
        Ok(Changes {
            base: info,
            head,
            changes,
            submodules: collected.submodules.into_iter().collect(),
            undecodable: collected.undecodable.into_iter().collect(),
            without_renames: collected.without_renames,
            before: collected.before,
        })
    }

    pub(super) fn tree_of<'a>(&self, info: &'a BaseInfo) -> &'a str {
        info.merge_base.as_deref().unwrap_or(self.empty_tree())
    }

    /// Everything that differs between `tree` and the disk.
    fn against_disk(&self, tree: &str) -> Result<Collected, VcsError> {
        let (mut collected, records) = match self.touched(tree)? {
            Touched::Known(records) => (Collected::default(), records.to_vec()),
            Touched::At(paths) if paths.is_empty() => Default::default(),
            Touched::At(paths) => {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                self.diff("diff-index", &[tree], &paths)?
            }
            Touched::Unknown => self.diff("diff-index", &[tree], &[])?,
        };
        // Then some may differ in their time stamps only.
        let unsure: Vec<String> = match collected.without_renames {
            Some(_) => records.iter().filter(|r| r.status == b'M').map(|r| r.path.clone()).collect(),
            None => Vec::new(),
        };
        for record in records {
            self.take(&mut collected, record, &|_| Side::Disk)?;
        }
        let unsure: Vec<&str> = unsure.iter().map(String::as_str).collect();
        for (path, found) in unsure.iter().zip(flagged::look_at(&self.git, &unsure)?) {
            collected.judge(path, found);
        }
        self.settle_unmerged(&mut collected)?;
        self.take_untracked(&mut collected)?;
        self.take_flagged(&mut collected)?;
        Ok(collected)
    }

    /// The paths at which `tree`, the index and the disk are not all the same: no other can be
    /// a difference between `tree` and the disk, or half of a rename. That the disk is like
    /// the index has been found out already, and to compare the index with a tree takes no
    /// look at the disk: together they spare git another look at every file.
    fn touched(&self, tree: &str) -> Result<Touched<'_>, VcsError> {
        const FEW: usize = 200;
        let few = |paths: BTreeSet<String>| match paths.len() <= FEW {
            true => Touched::At(paths),
            false => Touched::Unknown,
        };
        if let Some(status) = self.status() {
            if status.head.as_deref().unwrap_or(self.empty_tree()) == tree {
                return Ok(match &status.from_head {
                    FromHead::Exactly(records) => Touched::Known(records),
                    FromHead::At(paths) => few(paths.iter().cloned().collect()),
                });
            }
        } else {
            let index = self.index()?;
            // A submodule is looked into by the one command only.
            if !index.undecodable.is_empty() || index.entries.iter().any(|e| e.mode == Mode::Submodule) {
                return Ok(Touched::Unknown);
            }
        }
        let arguments = [&["--cached"], &raw::ARGUMENTS[..], &raw::NO_RENAMES, &[tree, "--"]].concat();
        let output = match self.git.ask("diff-index", &arguments) {
            Err(VcsError::Failed { .. }) => return Ok(Touched::Unknown),
            output => output?,
        };
        let (records, undecodable) = raw::parse(&output)?;
        let mut paths: BTreeSet<String> = self.dirty()?.records.keys().cloned().collect();
        paths.extend(records.into_iter().map(|record| record.path));
        Ok(if undecodable.is_empty() { few(paths) } else { Touched::Unknown })
    }

    /// Everything that differs between `tree` and the index, or the commit `head`.
    fn between(&self, option: &'static str, tree: &str, head: Option<&str>) -> Result<Collected, VcsError> {
        let option = (!option.is_empty()).then_some(option);
        let sides: Vec<&str> = option.into_iter().chain([tree]).chain(head).collect();
        let (mut collected, records) =
            self.diff(if head.is_some() { "diff-tree" } else { "diff-index" }, &sides, &[])?;
        for record in records {
            self.take(&mut collected, record, &|new| Side::Commit(new))?;
        }
        for path in std::mem::take(&mut collected.unmerged) {
            collected.kinds.entry(path).or_insert(ChangeKind::Modified);
        }
        Ok(collected)
    }

    /// The records of `git diff` between `sides` (at `paths` only, unless there are none), with
    /// renames if git can find them: for
    /// that it reads contents, which a partial or damaged repository may lack. The names
    /// of what differs need none, and `plainly` is the command that reads none for them.
    fn diff(
        &self,
        plainly: &'static str,
        sides: &[&str],
        paths: &[&str],
    ) -> Result<(Collected, Vec<Record>), VcsError> {
        let ask = |command, renames: &[&str]| {
            let arguments =
                [&raw::ARGUMENTS[..], renames, &[raw::WITH_SUBMODULES], sides, &["--"], paths].concat();
            self.git.ask(command, &arguments)
        };
        let mut collected = Collected::default();
        let output = match ask("diff", &raw::RENAMES) {
            Err(failed @ VcsError::Failed { .. }) => {
                let output = ask(plainly, &raw::NO_RENAMES).map_err(|_| failed.clone())?;
                collected.without_renames = Some(failed.sentence());
                output
            }
            output => output?,
        };
        let (records, undecodable) = raw::parse(&output)?;
        collected.undecodable.extend(undecodable);
        Ok((collected, records))
    }

    fn take(
        &self,
        collected: &mut Collected,
        record: Record,
        side: &dyn for<'a> Fn(Option<&'a str>) -> Side<'a>,
    ) -> Result<(), VcsError> {
        let Record { old_mode, new_mode, old_oid, new_oid, status, path, from } = record;
        if old_mode == Mode::Submodule || new_mode == Mode::Submodule {
            let old = (old_mode == Mode::Submodule).then_some(old_oid.as_str());
            let new = (new_mode == Mode::Submodule).then_some(new_oid.as_str());
            let listed = self.take_submodule(collected, &path, old, &side(new))?;
            collected.submodules.insert(SubmoduleChange { path: path.clone(), listed });
        }
        let before = Before { mode: old_mode, oid: old_oid, module: String::new() };
        let kind = match (status, from) {
            (b'A', _) => ChangeKind::Added,
            (b'D', _) => ChangeKind::Deleted,
            (b'T', _) => ChangeKind::TypeChanged,
            (b'R', Some(from)) => {
                collected.before.insert(from.clone(), before);
                collected.before.insert(path.clone(), Before::absent());
                collected.kinds.insert(path, ChangeKind::Renamed { from });
                return Ok(());
            }
            (b'U', _) => {
                // Listed once more where a side can be compared; that one knows the base.
                collected.unmerged.insert(path);
                return Ok(());
            }
            _ => ChangeKind::Modified,
        };
        collected.before.insert(path.clone(), before);
        collected.kinds.insert(path, kind);
        Ok(())
    }

    /// The files that changed inside of a submodule. Gives whether they are known.
    fn take_submodule(
        &self,
        collected: &mut Collected,
        path: &str,
        old: Option<&str>,
        new: &Side<'_>,
    ) -> Result<bool, VcsError> {
        // What git refuses inside is unknown content, not the end of the answer.
        let Ok(Some(inner)) = self.submodule(path) else { return Ok(false) };
        let is_known = |oid: &str| inner.commit_of(oid).is_ok();
        if !old.is_none_or(is_known) {
            return Ok(false);
        }
        let old = old.unwrap_or(inner.empty_tree());
        let changed = match new {
            Side::Disk => inner.against_disk(old),
            Side::Commit(new) if new.is_none_or(is_known) => {
                inner.between("", old, Some(new.unwrap_or(inner.empty_tree())))
            }
            Side::Commit(_) => return Ok(false),
        };
        let Ok(changed) = changed else { return Ok(false) };
        collected.mount(path, changed);
        Ok(true)
    }

    /// A path with conflicts of which no side could be compared is modified while
    /// something lies there.
    fn settle_unmerged(&self, collected: &mut Collected) -> Result<(), VcsError> {
        let unmerged = std::mem::take(&mut collected.unmerged);
        let paths: Vec<&str> =
            unmerged.iter().map(String::as_str).filter(|p| !collected.kinds.contains_key(*p)).collect();
        for (path, found) in paths.iter().zip(flagged::look_at(&self.git, &paths)?) {
            let kind = if found.is_some() { ChangeKind::Modified } else { ChangeKind::Deleted };
            collected.kinds.insert((*path).to_owned(), kind);
        }
        Ok(())
    }

    fn take_untracked(&self, collected: &mut Collected) -> Result<(), VcsError> {
        let untracked = self.untracked()?;
        collected.undecodable.extend(untracked.undecodable.iter().cloned());
        // No longer tracked, but there: whether it changed is told by its bytes.
        let (again, new): (Vec<&str>, Vec<&str>) = untracked
            .files
            .iter()
            .map(String::as_str)
            .partition(|path| collected.before.get(*path).is_some_and(|b| b.mode != Mode::Absent));
        for path in new {
            collected.kinds.entry(path.to_owned()).or_insert(ChangeKind::Untracked);
        }
        for (path, found) in again.iter().zip(flagged::look_at(&self.git, &again)?) {
            let renamed = collected.kinds.iter().find(|(_, kind)| is_from(kind, path));
            if let Some(to) = renamed.map(|(to, _)| to.clone()) {
                collected.kinds.insert(to, ChangeKind::Added);
            }
            collected.judge(path, found);
        }
        Ok(())
    }

    /// Compares with the base what git was told not to look at.
    fn take_flagged(&self, collected: &mut Collected) -> Result<(), VcsError> {
        if self.status().is_some() {
            return Ok(());
        }
        let entries = self.index()?.entries.iter().filter(|e| e.stage == 0);
        let (modules, files): (Vec<_>, Vec<_>) =
            entries.filter_map(|e| Some((e, e.flag?))).partition(|(entry, _)| entry.mode == Mode::Submodule);
        for (entry, _) in modules {
            let count = collected.kinds.len();
            let listed = self.take_submodule(collected, &entry.path, Some(&entry.oid), &Side::Disk)?;
            if collected.kinds.len() > count {
                collected.kinds.insert(entry.path.clone(), ChangeKind::Modified);
                collected.submodules.insert(SubmoduleChange { path: entry.path.clone(), listed });
            }
        }
        let paths: Vec<&str> = files.iter().map(|(entry, _)| entry.path.as_str()).collect();
        for ((entry, flag), found) in files.iter().zip(flagged::look_at(&self.git, &paths)?) {
            if found.is_none() && *flag == Flag::SkipWorktree {
                continue;
            }
            // Where git sees no difference, the base is what the index holds.
            let of_index = || Before { mode: entry.mode, oid: entry.oid.clone(), module: String::new() };
            collected.before.entry(entry.path.clone()).or_insert_with(of_index);
            if !matches!(collected.kinds.get(&entry.path), Some(ChangeKind::Renamed { .. })) {
                collected.judge(&entry.path, found);
            }
        }
        Ok(())
    }
}

impl Collected {
    /// Sets how `path` changed from what the base held to what was `found`.
    fn judge(&mut self, path: &str, found: Option<Found>) {
        let Some(before) = self.before.get(path) else { return };
        let found = found.filter(|f| f.mode != Mode::Absent);
        let kind = match found {
            None if before.mode == Mode::Absent => None,
            None => Some(ChangeKind::Deleted),
            Some(_) if before.mode == Mode::Absent => Some(ChangeKind::Added),
            Some(found) if found.mode == before.mode && found.oid.as_ref() == Some(&before.oid) => None,
            Some(found) if is_link(found.mode) != is_link(before.mode) => Some(ChangeKind::TypeChanged),
            Some(_) => Some(ChangeKind::Modified),
        };
        match kind {
            Some(kind) => self.kinds.insert(path.to_owned(), kind),
            None => self.kinds.remove(path),
        };
    }

    /// Takes over what changed in the submodule at `dir`.
    fn mount(&mut self, dir: &str, inner: Self) {
        let place = |path: &str| if path.is_empty() { dir.to_owned() } else { format!("{dir}/{path}") };
        for (path, kind) in inner.kinds {
            let kind = match kind {
                ChangeKind::Renamed { from } => ChangeKind::Renamed { from: place(&from) },
                kind => kind,
            };
            self.kinds.insert(place(&path), kind);
        }
        for (path, before) in inner.before {
            let before = Before { module: place(&before.module), ..before };
            self.before.insert(place(&path), before);
        }
        for module in inner.submodules {
            self.submodules.insert(SubmoduleChange { path: place(&module.path), listed: module.listed });
        }
        if self.without_renames.is_none() {
            self.without_renames = inner.without_renames;
        }
        self.undecodable.extend(inner.undecodable.iter().map(|path| place(path)));
    }
}

fn is_from(kind: &ChangeKind, path: &str) -> bool {
    matches!(kind, ChangeKind::Renamed { from } if from == path)
}

fn is_link(mode: Mode) -> bool {
    mode == Mode::Link
}
