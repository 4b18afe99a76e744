//! Which distribution depends on which: from lock files, and from the records of what is
//! installed. Edges of both sides of a change are kept; closing follows them upward.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::tree::Tree;

use super::locks;
use crate::python::project::names::{normalise, requirement_name};

/// Normalised name to the names that depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Graph {
    known: BTreeSet<String>,
    dependents: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    /// Says that `dependent` needs `name`.
    pub(super) fn add(&mut self, dependent: &str, name: &str) {
        self.dependents.entry(name.to_owned()).or_default().insert(dependent.to_owned());
    }

    /// Says that all dependents of `name` are in the graph.
    pub(super) fn know(&mut self, name: &str) {
        self.known.insert(name.to_owned());
    }

    /// Whether all dependents of each of `names` are in the graph.
    pub(super) fn knows(&self, names: &BTreeSet<String>) -> bool {
        names.is_subset(&self.known)
    }

    /// Adds the edges of `other`.
    pub(super) fn merge(&mut self, other: Self) {
        self.known.extend(other.known);
        for (name, dependents) in other.dependents {
            self.dependents.entry(name).or_default().extend(dependents);
        }
    }

    /// `names` and everything that depends on them.
    pub(super) fn close(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut closed = names.clone();
        let mut open: Vec<&String> = names.iter().collect();
        while let Some(name) = open.pop() {
            for dependent in self.dependents.get(name).into_iter().flatten() {
                if closed.insert(dependent.clone()) {
                    open.push(dependent);
                }
            }
        }
        closed
    }

    /// The graph of the lock files in `dir` and above it.
    pub(super) fn of_locks(tree: &dyn Tree, dir: &str) -> Self {
        let mut graph = Self::default();
        let inside = if dir.is_empty() { "x".to_owned() } else { format!("{dir}/x") };
        for at in path::ancestors(&inside) {
            for (name, lock) in locks::NAMES {
                let file = if at.is_empty() { (*name).to_owned() } else { format!("{at}/{name}") };
                if tree.is_file(&file)
                    && let Some(text) = tree.text(&file)
                    && let Ok(read) = locks::read(&text, *lock)
                {
                    graph.merge(read.graph);
                }
            }
        }
        graph
    }

    /// The graph of what is installed in a virtual environment of the project.
    pub(super) fn of_installed(tree: &dyn Tree, dir: &str) -> Self {
        let mut graph = Self::default();
        for record in records(tree, dir) {
            let Some(text) = tree.text(&format!("{record}/METADATA")) else { continue };
            let headers = text.split("\n\n").next().unwrap_or("");
            let field = |name: &str| {
                headers.lines().filter_map(|line| line.strip_prefix(name)).map(str::trim).collect::<Vec<_>>()
            };
            let Some(own) = field("Name:").first().map(|name| normalise(name)) else { continue };
            graph.know(&own);
            for needed in field("Requires-Dist:").into_iter().filter_map(requirement_name) {
                graph.add(&own, &needed);
            }
        }
        graph
    }
}

/// The `*.dist-info` directories of the virtual environments in `dir` and at the root.
fn records(tree: &dyn Tree, dir: &str) -> Vec<String> {
    let mut records = Vec::new();
    let mut dirs = vec![dir];
    if !dir.is_empty() {
        dirs.push("");
    }
    for dir in dirs {
        for environment in [".venv", "venv", "env"] {
            let lib = if dir.is_empty() {
                format!("{environment}/lib")
            } else {
                format!("{dir}/{environment}/lib")
            };
            for (python, _) in tree.list(&lib).into_iter().filter(|(name, _)| name.starts_with("python")) {
                let site = format!("{lib}/{python}/site-packages");
                let found = tree.list(&site).into_iter().filter(|(name, _)| name.ends_with(".dist-info"));
                records.extend(found.map(|(name, _)| format!("{site}/{name}")));
            }
        }
    }
    records
}

/// Which top-level modules installed distributions brought.
pub(super) struct InstalledNames {
    modules: BTreeMap<String, BTreeSet<String>>,
}

impl InstalledNames {
    pub(super) fn new(tree: &dyn Tree, dir: &str) -> Self {
        let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for record in records(tree, dir) {
            // `Foo_Bar-1.0.dist-info`
            let stem = path::basename(&record).trim_end_matches(".dist-info");
            let name = normalise(stem.rsplit_once('-').map_or(stem, |(name, _)| name));
            let found = modules.entry(name).or_default();
            if let Some(text) = tree.text(&format!("{record}/top_level.txt")) {
                found.extend(text.lines().map(|l| l.trim().split('/').next().unwrap_or("").to_owned()));
            } else if let Some(text) = tree.text(&format!("{record}/RECORD")) {
                found.extend(text.lines().filter_map(top_level));
            }
            found.remove("");
        }
        Self { modules }
    }

    pub(super) fn imports_of(&self, name: &str) -> impl Iterator<Item = String> {
        self.modules.get(name).into_iter().flatten().cloned()
    }
}

/// The top-level module a line of `RECORD` (`pkg/mod.py,hash,size`) belongs to.
fn top_level(line: &str) -> Option<String> {
    let file = line.split(',').next()?;
    let loads = [".py", ".so", ".pyd"].iter().any(|ending| file.ends_with(ending));
    let top = file.split('/').next()?;
    let top = top.split('.').next()?;
    (loads && !top.is_empty() && !file.starts_with("..")).then(|| top.to_owned())
}
