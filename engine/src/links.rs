//! Where symbolic links lead. What is read through a link has two names, and a change
//! carries only the real one; an input is therefore recorded under both.

use std::ops::Range;

use rayon::prelude::*;

use crate::path;
use crate::tree::Tree;

/// The links of a project that lead to files of it.
pub(crate) struct Links {
    /// A link of the inventory and the file it leads to; sorted.
    files: Vec<(String, String)>,
}

impl Links {
    /// Looks at every file of the inventory once.
    pub(crate) fn new(tree: &dyn Tree) -> Self {
        let led = |file: &String| {
            let real = tree.real(file)?;
            (real != *file).then(|| (file.clone(), real))
        };
        Self { files: tree.files().par_iter().filter_map(led).collect() }
    }

    /// Whether the inventory holds no link at all, as most do.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files that links at or below `dir` lead to.
    pub(crate) fn below(&self, dir: &str) -> impl Iterator<Item = &str> {
        let range = if dir.is_empty() {
            Range { start: 0, end: self.files.len() }
        } else {
            let start = self.files.partition_point(|(link, _)| link.as_str() < dir);
            let inside = self.files[start..].iter().take_while(|(link, _)| link.starts_with(dir)).count();
            Range { start, end: start + inside }
        };
        let inside = self.files[range].iter().filter(move |(link, _)| path::is_within(link, dir));
        inside.map(|(_, real)| real.as_str())
    }
}

/// The other name of `path` when there is a link on the way to it; also for a path that
/// does not exist, in a directory that does.
pub(crate) fn other_name(tree: &dyn Tree, path: &str) -> Option<String> {
    for dir in std::iter::once(path).chain(path::ancestors(path)) {
        if let Some(real) = tree.real(dir) {
            if real == dir {
                return None;
            }
            let name = path::join(&real, path::strip(path, dir).unwrap_or(""))?;
            return (name != path).then_some(name);
        }
    }
    None
}
