//! The names of an inventory, to be asked what each is.
//!
//! Whoever resolves a project asks a million times, and wants a table; whoever only compares
//! it with the last run asks a few times, and the table would take longer than everything
//! else. So it is made after the first few questions.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::follow::Entry;
use crate::path;

/// How many questions are answered by searching the lists.
const FEW: usize = 200;

/// Files and links, and the directories that they lie in.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Sorted; after [`Names::add_files`], links that lead to files are among them.
    pub(super) files: Vec<String>,
    /// Sorted.
    pub(super) links: Vec<String>,
    table: OnceLock<FxHashMap<Box<str>, Entry>>,
    asked: AtomicUsize,
}

impl Names {
    pub(super) fn new(mut files: Vec<String>, mut links: Vec<String>) -> Self {
        for list in [&mut files, &mut links] {
            if !list.is_sorted() {
                list.sort_unstable();
            }
            list.dedup();
        }
        Self { files, links, ..Self::default() }
    }

    /// Adds links that lead to files to the list of files; they stay links.
    pub(super) fn add_files(&mut self, links: Vec<String>) {
        if !links.is_empty() {
            self.files.extend(links);
            self.files.sort_unstable();
            self.files.dedup();
        }
    }

    /// How many there are, directories not counted.
    pub(super) fn len(&self) -> usize {
        self.files.len() + self.links.len()
    }

    /// What is at `path`, links not followed; `None` where nothing of the inventory is.
    pub(super) fn get(&self, path: &str) -> Option<Entry> {
        if self.table.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < FEW {
            return self.search(path);
        }
        self.table.get_or_init(|| self.tabled()).get(path).copied()
    }

    fn search(&self, path: &str) -> Option<Entry> {
        let holds = |list: &[String]| list.binary_search_by(|name| name.as_str().cmp(path)).is_ok();
        if holds(&self.links) {
            return Some(Entry::Link);
        }
        if holds(&self.files) {
            return Some(Entry::File);
        }
        let below = format!("{path}/");
        let leads = |list: &[String]| {
            let at = list.partition_point(|name| name.as_str() < below.as_str());
            list.get(at).is_some_and(|name| name.starts_with(&below))
        };
        (path.is_empty() || leads(&self.files) || leads(&self.links)).then_some(Entry::Dir)
    }

    fn tabled(&self) -> FxHashMap<Box<str>, Entry> {
        let mut table: FxHashMap<Box<str>, Entry> = FxHashMap::default();
        table.reserve(self.len() + self.len() / 4);
        let mut last = "";
        for name in self.files.iter().chain(&self.links) {
            let dir = path::dirname(name);
            // Neighbours lie in one directory.
            if dir == last {
                continue;
            }
            last = dir;
            for dir in path::ancestors(name) {
                if table.insert(dir.into(), Entry::Dir).is_some() {
                    break;
                }
            }
        }
        table.insert("".into(), Entry::Dir);
        table.extend(self.files.iter().map(|file| (file.as_str().into(), Entry::File)));
        table.extend(self.links.iter().map(|link| (link.as_str().into(), Entry::Link)));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_and_the_table_say_the_same() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mut names =
            Names::new(list(&["a/b/c.ts", "a/b.ts", "z", "a-/x", "ä/ö"]), list(&["l", "a/k", "d/e/l"]));
        names.add_files(list(&["l"]));
        let table = names.tabled();
        for path in [
            "", "a", "a/b", "a/b/c.ts", "a/b.ts", "a-", "a-/x", "l", "a/k", "d", "d/e", "z", "y", "a/", "ä",
            "c",
        ] {
            assert_eq!(names.search(path), table.get(path).copied(), "{path}");
        }
        assert_eq!(names.search("l"), Some(Entry::Link));
        assert_eq!(names.search("d/e"), Some(Entry::Dir));
    }
}
