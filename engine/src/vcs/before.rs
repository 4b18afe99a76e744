//! What the base of a comparison held.

use std::collections::{BTreeMap, BTreeSet};

use super::blobs::{Blob, Blobs};
use super::changes::Changes;
use super::error::VcsError;
use super::index::Mode;
use super::run::Git;
use super::{Repository, objects};
use crate::path;

/// What the base held at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) mode: Mode,
    pub(super) oid: String,
    /// The submodule whose repository holds it; `""` for the project's own.
    pub(super) module: String,
}

impl Before {
    pub(super) fn absent() -> Self {
        Self { mode: Mode::Absent, oid: String::new(), module: String::new() }
    }
}

/// What the base held at a path, as far as it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtBase {
    /// No file.
    Nothing,
    /// These bytes, as stored (without filters). A link is the path it holds.
    Bytes(Vec<u8>),
    /// A file whose content this repository lacks: a partial clone, or a damaged one.
    Lost,
}

impl Repository {
    /// What each of `paths` held in the base of `changes`.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn base_bytes(&self, changes: &Changes, paths: &[&str]) -> Result<Vec<AtBase>, VcsError> {
        let unchanged: Vec<&str> =
            paths.iter().copied().filter(|p| !changes.before.contains_key(*p)).collect();
        let looked_up = self.stored(self.tree_of(&changes.base), &unchanged)?;
        let mut wanted: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (at, path) in paths.iter().enumerate() {
            let stored = changes.before.get(*path).or_else(|| looked_up.get(*path));
            if let Some(Before { mode, oid, module }) = stored
                && !matches!(mode, Mode::Absent | Mode::Submodule)
            {
                wanted.entry(module).or_default().push((at, oid));
            }
        }
        let mut bytes = vec![AtBase::Nothing; paths.len()];
        for (module, wanted) in wanted {
            let git = match module {
                "" => self.git.clone(),
                module => Git::at(&self.root().join(module)).foreign(),
            };
            let oids: Vec<&str> = wanted.iter().map(|(_, oid)| *oid).collect();
            for ((at, _), blob) in wanted.iter().zip(Blobs::of(git).read_all(&oids, u64::MAX)?) {
                bytes[*at] = match blob {
                    Blob::Bytes(found) => AtBase::Bytes(found),
                    Blob::Missing | Blob::TooLarge => AtBase::Lost,
                };
            }
        }
        Ok(bytes)
    }

    /// What `tree` holds at `paths`, those in submodules included.
    fn stored(&self, tree: &str, paths: &[&str]) -> Result<BTreeMap<String, Before>, VcsError> {
        let before = |mode, oid| Before { mode, oid, module: String::new() };
        let found = objects::entries_at(&self.git, tree, paths)?;
        let mut stored: BTreeMap<String, Before> =
            found.into_iter().map(|(path, (mode, oid))| (path, before(mode, oid))).collect();
        let missing: Vec<&str> = paths.iter().copied().filter(|p| !stored.contains_key(*p)).collect();
        let dirs: BTreeSet<&str> =
            missing.iter().flat_map(|p| path::ancestors(p)).filter(|d| !d.is_empty()).collect();
        let dirs: Vec<&str> = dirs.into_iter().collect();
        for (dir, (mode, oid)) in objects::entries_at(&self.git, tree, &dirs)? {
            let Some(inner) = (mode == Mode::Submodule).then(|| self.submodule(&dir)).transpose()?.flatten()
            else {
                continue;
            };
            let inside: Vec<&str> = missing.iter().filter_map(|p| path::strip(p, &dir)).collect();
            for (rest, before) in inner.stored(&oid, &inside)? {
                let module = path::join(&dir, &before.module).unwrap_or_default();
                stored.insert(format!("{dir}/{rest}"), Before { module, ..before });
            }
        }
        Ok(stored)
    }
}
