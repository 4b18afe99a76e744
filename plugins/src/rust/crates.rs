//! The crates of a project, from its `Cargo.toml` files: where each starts, and what its
//! dependencies are called in it.

use std::collections::BTreeMap;

use owed_engine::path;
use owed_engine::tree::Tree;
use toml::{Table, Value};

/// One `[package]`.
#[derive(Debug)]
pub(super) struct Crate {
    /// Its directory.
    pub(super) dir: String,
    /// What others call it.
    pub(super) name: String,
    /// The file its library starts with.
    pub(super) library: String,
    /// What it depends on, by the name in its sources.
    dependencies: BTreeMap<String, Dependency>,
}

/// A dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dependency {
    /// In this directory.
    Path(String),
    /// As the workspace says.
    Workspace(String),
    /// From a registry or elsewhere, by its package's name.
    Package(String),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Crates {
    by_dir: BTreeMap<String, Crate>,
    /// `[workspace.dependencies]` by directory.
    shared: BTreeMap<String, BTreeMap<String, Dependency>>,
    /// Manifests that cannot be read.
    pub(super) broken: Vec<String>,
}

const MANIFEST: &str = "Cargo.toml";

impl Crates {
    pub(super) fn read(tree: &dyn Tree) -> Self {
        let mut crates = Self::default();
        for file in tree.files().iter().filter(|file| path::basename(file) == MANIFEST) {
            let table = tree.text(file).and_then(|text| text.parse::<Table>().ok());
            let Some(table) = table else {
                crates.broken.push(file.clone());
                continue;
            };
            let dir = path::dirname(file).to_owned();
            if let Some(workspace) = table.get("workspace").and_then(Value::as_table) {
                crates.shared.insert(dir.clone(), dependencies(&dir, workspace));
            }
            if let Some(package) = table.get("package").and_then(Value::as_table) {
                crates.by_dir.insert(dir.clone(), Crate::new(&dir, package, &table));
            }
        }
        crates
    }

    /// The crate that a file belongs to: the nearest above it.
    pub(super) fn of(&self, file: &str) -> Option<&Crate> {
        path::ancestors(file).find_map(|dir| self.by_dir.get(dir))
    }

    /// The crate in a directory.
    fn at(&self, dir: &str) -> Option<&Crate> {
        self.by_dir.get(dir)
    }

    /// What `name` is in the sources of `of`: a crate of the project, or a package.
    pub(super) fn meant(&self, of: &Crate, name: &str) -> Option<Result<&Crate, String>> {
        let dependency = match of.dependencies.get(name)? {
            Dependency::Workspace(name) => {
                let shared = std::iter::once(of.dir.as_str())
                    .chain(path::ancestors(&of.dir))
                    .find_map(|dir| self.shared.get(dir)?.get(name));
                shared.cloned().unwrap_or_else(|| Dependency::Package(name.clone()))
            }
            other => other.clone(),
        };
        Some(match dependency {
            Dependency::Path(dir) => match self.at(&dir) {
                Some(found) => Ok(found),
                None => Err(name.to_owned()),
            },
            Dependency::Package(package) | Dependency::Workspace(package) => Err(package),
        })
    }
}

impl Crate {
    fn new(dir: &str, package: &Table, whole: &Table) -> Self {
        let library = whole.get("lib").and_then(Value::as_table);
        let said = |key: &str| library.and_then(|library| library.get(key)).and_then(Value::as_str);
        let name = said("name").or_else(|| package.get("name").and_then(Value::as_str)).unwrap_or_default();
        let start = said("path").unwrap_or("src/lib.rs");
        let mut all = dependencies(dir, whole);
        let targets = whole.get("target").and_then(Value::as_table);
        for target in targets.into_iter().flat_map(|targets| targets.values()).filter_map(Value::as_table) {
            all.extend(dependencies(dir, target));
        }
        Self {
            dir: dir.to_owned(),
            name: name.replace('-', "_"),
            library: path::join(dir, start).unwrap_or_else(|| start.to_owned()),
            dependencies: all,
        }
    }
}

fn dependencies(dir: &str, table: &Table) -> BTreeMap<String, Dependency> {
    let mut all = BTreeMap::new();
    for kind in ["dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies"] {
        let Some(list) = table.get(kind).and_then(Value::as_table) else { continue };
        for (name, value) in list {
            let said = |key: &str| value.get(key).and_then(Value::as_str);
            let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
            let dependency = match said("path") {
                _ if shared => Dependency::Workspace(name.replace('-', "_")),
                Some(path) => match path::join(dir, path) {
                    Some(path) => Dependency::Path(path),
                    None => Dependency::Package(name.clone()),
                },
                None => Dependency::Package(said("package").unwrap_or(name).to_owned()),
            };
            all.insert(name.replace('-', "_"), dependency);
        }
    }
    all
}
