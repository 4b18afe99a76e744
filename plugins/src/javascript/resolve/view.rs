//! The tree as the resolver asks it: one listing a directory instead of one question a
//! candidate, and real paths remembered.
//!
//! `node_modules` is never listed, only asked by name: it may hold thousands of entries.

use std::sync::Arc;

use owed_engine::path;
use owed_engine::tree::{Kind, Tree};

use super::cache::Memo;

/// A tree with a memory.
pub(super) struct View<'a> {
    /// The tree itself.
    pub(super) tree: &'a dyn Tree,
    dirs: Memo<Arc<Dir>>,
    reals: Memo<Option<Arc<str>>>,
}

/// The direct entries of one directory; none when it does not exist.
#[derive(Debug, Default)]
pub(super) struct Dir {
    entries: Vec<(String, Kind)>,
}

impl<'a> View<'a> {
    pub(super) fn new(tree: &'a dyn Tree) -> Self {
        Self { tree, dirs: Memo::default(), reals: Memo::default() }
    }

    /// The entries of `dir`.
    pub(super) fn dir(&self, dir: &str) -> Arc<Dir> {
        self.dirs.get(dir, || {
            let mut entries = self.tree.list(dir);
            entries.sort_unstable();
            Arc::new(Dir { entries })
        })
    }

    /// What is at `path`, from the listing of its directory.
    pub(super) fn kind(&self, path: &str) -> Option<Kind> {
        if path.is_empty() {
            return Some(Kind::Dir);
        }
        if path::basename(path::dirname(path)) == "node_modules" {
            return self.tree.kind(path);
        }
        self.dir(path::dirname(path)).kind(path::basename(path))
    }

    /// Whether `path` is a file.
    pub(super) fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Some(Kind::File)
    }

    /// Whether `path` is a directory.
    pub(super) fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Some(Kind::Dir)
    }

    /// `path` with links followed; `None` when that leads out of the project.
    pub(super) fn real(&self, path: &str) -> Option<Arc<str>> {
        self.reals.get(path, || self.tree.real(path).map(Arc::from))
    }

    /// Whether `path` is in the inventory (tracked, or new and not ignored).
    pub(super) fn in_inventory(&self, path: &str) -> bool {
        self.tree.files().binary_search_by(|file| file.as_str().cmp(path)).is_ok()
    }

    /// The inventory at and below `dir`.
    pub(super) fn below(&self, dir: &str) -> &'a [String] {
        let files = self.tree.files();
        if dir.is_empty() {
            return files;
        }
        let key = |file: &String| file.bytes().cmp(dir.bytes().chain(*b"/"));
        let start = files.partition_point(|file| key(file).is_lt());
        let len = files[start..].partition_point(|file| path::is_within(file, dir));
        &files[start..start + len]
    }
}

impl Dir {
    /// What the entry `name` is.
    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        let at = self.entries.binary_search_by(|(entry, _)| entry.as_str().cmp(name)).ok()?;
        Some(self.entries[at].1)
    }

    /// The entries named `base` and something after a dot, without `base`: `.ts`, `.d.ts`.
    pub(super) fn extensions_of<'d>(&'d self, base: &'d str) -> impl Iterator<Item = (&'d str, Kind)> {
        let before = |name: &str| name.bytes().cmp(base.bytes().chain(*b".")).is_lt();
        let start = self.entries.partition_point(|(name, _)| before(name));
        self.entries[start..].iter().map_while(move |(name, kind)| {
            let rest = name.strip_prefix(base)?;
            rest.starts_with('.').then_some((rest, *kind))
        })
    }

    /// All entries.
    pub(super) fn entries(&self) -> &[(String, Kind)] {
        &self.entries
    }
}
