//! The inventory of a directory that is no git repository.
//!
//! `.gitignore` files below the root are honoured (an unpacked archive keeps them);
//! those above it, the user's own, and `.ignore` files are not: the answer depends on
//! the project alone, and `.ignore` speaks to search tools, not to tests.

use std::path::Path;
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

use super::inventory::{Inventory, is_installed};

/// Walks `root` in parallel.
pub fn walk(root: &Path) -> Inventory {
    let found = Mutex::new(Inventory::default());
    let walker = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| {
            let is_dir = entry.file_type().is_some_and(|t| t.is_dir());
            entry.depth() == 0
                || !(entry.file_name().to_str().is_some_and(is_installed)
                    && (is_dir || is_git_file(entry.file_name()))
                    || is_dir && is_virtual_environment(entry.path()))
        })
        .build_parallel();
    walker.run(|| {
        let mut local = Collected { into: &found, inventory: Inventory::default() };
        Box::new(move |entry| {
            local.take(root, entry);
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).sorted()
}

/// A linked worktree or a submodule has a file in the place of the `.git` directory.
fn is_git_file(name: &std::ffi::OsStr) -> bool {
    name == ".git"
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn is_virtual_environment(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join("pyvenv.cfg")).is_ok()
}

/// What one thread found; handed over when the thread ends, so that threads do not
/// wait for each other at every file.
struct Collected<'a> {
    into: &'a Mutex<Inventory>,
    inventory: Inventory,
}

impl Collected<'_> {
    fn take(&mut self, root: &Path, entry: Result<ignore::DirEntry, ignore::Error>) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = failed_path(&error).and_then(|p| p.strip_prefix(root).ok());
                self.inventory.refuse(path.map_or_else(String::new, |p| p.to_string_lossy().into_owned()));
                return;
            }
        };
        // An ignore file with a broken line still counts with its other lines.
        let Some(kind) = entry.file_type() else { return };
        let Ok(relative) = entry.path().strip_prefix(root) else { return };
        match relative.to_str() {
            Some("") => {}
            Some(path) if kind.is_symlink() => self.inventory.links.push(path.to_owned()),
            Some(path) if kind.is_file() => self.inventory.files.push(path.to_owned()),
            Some(_) => {}
            None => self.inventory.refuse(relative.to_string_lossy().into_owned()),
        }
    }
}

impl Drop for Collected<'_> {
    fn drop(&mut self) {
        let mut into = self.into.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        into.files.append(&mut self.inventory.files);
        into.links.append(&mut self.inventory.links);
        into.not_checked.append(&mut self.inventory.not_checked);
    }
}

fn failed_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => failed_path(err),
        _ => None,
    }
}
