//! What tests share, collected: manifests, configuration, setup files, packages.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::resolve::{Listing, Target};
use owed_engine::runner::{Load, Shared, SharedRole, TestFile, View};
use owed_engine::tree::Tree;

use super::config::{Reader, json};
use super::manifest::{Packages, chain};

/// A set of shared inputs under construction.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    set: BTreeSet<Shared>,
}

impl Inputs {
    /// Adds one.
    pub fn add(&mut self, target: Target, role: SharedRole, load: Load) {
        self.set.insert(Shared { target, role, load });
    }

    /// Adds a configuration file, run by plain node when it is code.
    pub fn config(&mut self, path: &str) {
        let load = match path::extension(path) {
            "json" | "jsonc" | "json5" | "yaml" | "yml" | "toml" | "opts" => Load::Content,
            _ if path::basename(path).starts_with('.') && path::extension(path).is_empty() => Load::Content,
            _ => Load::Config,
        };
        self.add(Target::File(path.to_owned()), SharedRole::Config, load);
    }

    /// Adds a file that is run with the project's own resolution.
    pub fn file(&mut self, path: &str, role: SharedRole) {
        self.add(Target::File(path.to_owned()), role, Load::Project);
    }

    /// Adds a file that is read as data.
    pub fn content(&mut self, path: &str, role: SharedRole) {
        self.add(Target::File(path.to_owned()), role, Load::Content);
    }

    /// Adds snapshots whose place is computed: every one below `root`, for every test.
    pub fn stray_snapshots(&mut self, tree: &dyn Tree, root: &str) {
        for file in path::below(tree.files(), root) {
            if path::extension(file) == "snap" {
                self.content(file, SharedRole::Snapshot);
            }
        }
        let listing = Listing { dir: root.to_owned(), glob: "**/*.snap".to_owned() };
        self.add(Target::Listing(listing), SharedRole::Snapshot, Load::Content);
    }

    /// Adds an npm package.
    pub fn package(&mut self, name: &str, role: SharedRole) {
        self.add(Target::Package(format!("npm:{name}")), role, Load::Content);
    }

    /// Adds what `specifier`, written for the directory `dir`, means: a file there, a file
    /// of a workspace package, or an installed package.
    pub fn module(&mut self, reader: &Reader<'_>, dir: &str, specifier: &str, role: SharedRole) {
        if matches!(specifier, "dotenv/config" | "dotenv-flow/config" | "dotenv-expand/config")
            && let Some(file) = path::join(dir, ".env")
        {
            self.content(&file, SharedRole::Env);
        }
        let here = specifier.starts_with(['.', '/']);
        let local = reader.inside(specifier, dir).and_then(|p| reader.existing(&p).or(here.then_some(p)));
        match local.or_else(|| reader.package_file(specifier)) {
            Some(file) => match file.rsplit_once("node_modules/") {
                Some((_, package)) => self.package(package_of(package), role),
                None => self.file(&file, role),
            },
            None => match specifier.rsplit_once("node_modules/") {
                Some((_, package)) => self.package(package_of(package), role),
                None => self.package(package_of(specifier), role),
            },
        }
    }

    /// Adds the nearest `package.json` and `tsconfig.json` of `dir`, and the root's.
    pub fn manifests(&mut self, tree: &dyn Tree, packages: &Packages, dir: &str) {
        for manifest in manifests_of(tree, packages, dir) {
            self.add(Target::Manifest(manifest), SharedRole::Manifest, Load::Content);
        }
    }

    /// All of them, sorted.
    pub fn finish(self) -> Vec<Shared> {
        self.set.into_iter().collect()
    }
}

/// The package of a specifier: `@a/b/c` gives `@a/b`.
pub fn package_of(specifier: &str) -> &str {
    super::config::package_and_rest(specifier).0
}

/// The manifests that decide how files in `dir` are read.
pub fn manifests_of(tree: &dyn Tree, packages: &Packages, dir: &str) -> BTreeSet<String> {
    let tsconfig = chain(dir).find_map(|d| tsconfig_in(tree, d));
    let mut found = extended(tree, tsconfig);
    for package in packages.nearest(dir).into_iter().chain(packages.at("")) {
        found.insert(beside(&package.dir, "package.json"));
    }
    found
}

fn beside(dir: &str, name: &str) -> String {
    path::join(dir, name).expect("a plain name below a directory")
}

fn tsconfig_in(tree: &dyn Tree, dir: &str) -> Option<String> {
    ["tsconfig.json", "jsconfig.json"].iter().map(|n| beside(dir, n)).find(|f| tree.is_file(f))
}

/// `tsconfig` and everything it extends that lies in the project.
fn extended(tree: &dyn Tree, tsconfig: Option<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next: Vec<String> = tsconfig.into_iter().collect();
    while let Some(file) = next.pop() {
        if !found.insert(file.clone()) || found.len() > 64 {
            continue;
        }
        let Some(text) = tree.text(&file) else { continue };
        let extends = json::parse(&text, &file).get("extends").strings();
        for base in extends.possible {
            if !base.starts_with('.') {
                continue;
            }
            let Some(target) = path::join(path::dirname(&file), &base) else { continue };
            let candidates = [target.clone(), format!("{target}.json"), beside(&target, "tsconfig.json")];
            next.extend(candidates.into_iter().find(|c| tree.is_file(c)));
        }
    }
    found
}

/// Gives each test its snapshot and the manifests that its project does not share.
pub struct PerTest<'a> {
    tree: &'a dyn Tree,
    /// Nobody asks what a test needs.
    names_only: bool,
    packages: &'a Packages,
    shared: BTreeSet<String>,
    by_dir: BTreeMap<String, Vec<String>>,
    /// The nearest `tsconfig.json` of each directory that was asked for.
    tsconfigs: BTreeMap<String, Option<String>>,
    extended: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> PerTest<'a> {
    /// For tests of a project whose root is `root`.
    pub fn new(view: &'a View<'_>, packages: &'a Packages, root: &str) -> Self {
        let (tree, names_only) = (view.tree, view.names_only());
        let shared = if names_only { BTreeSet::new() } else { manifests_of(tree, packages, root) };
        Self {
            tree,
            names_only,
            packages,
            shared,
            by_dir: BTreeMap::new(),
            tsconfigs: BTreeMap::new(),
            extended: BTreeMap::new(),
        }
    }

    fn tsconfig(&mut self, dir: &str) -> Option<String> {
        let mut asked = Vec::new();
        let mut found = None;
        for dir in chain(dir) {
            if let Some(known) = self.tsconfigs.get(dir) {
                found.clone_from(known);
                break;
            }
            asked.push(dir);
            found = tsconfig_in(self.tree, dir);
            if found.is_some() {
                break;
            }
        }
        for dir in asked {
            self.tsconfigs.insert(dir.to_owned(), found.clone());
        }
        found
    }

    fn manifests(&mut self, dir: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        if let Some(tsconfig) = self.tsconfig(dir) {
            let tree = self.tree;
            let all = self.extended.entry(tsconfig.clone()).or_insert_with(|| extended(tree, Some(tsconfig)));
            found.extend(all.iter().cloned());
        }
        found.extend(self.packages.nearest(dir).map(|p| beside(&p.dir, "package.json")));
        found.retain(|m| !self.shared.contains(m));
        found.into_iter().collect()
    }

    /// The test at `path`, with its snapshot when `snapshots` holds.
    pub fn test(&mut self, path: &str, snapshots: bool) -> TestFile {
        if self.names_only {
            return TestFile { path: path.to_owned(), shared: Vec::new(), also_source: false };
        }
        let dir = path::dirname(path);
        if !self.by_dir.contains_key(dir) {
            let own = self.manifests(dir);
            self.by_dir.insert(dir.to_owned(), own);
        }
        let mut inputs = Inputs::default();
        for manifest in self.by_dir.get(dir).into_iter().flatten() {
            inputs.add(Target::Manifest(manifest.clone()), SharedRole::Manifest, Load::Content);
        }
        if snapshots {
            let snapshot = format!("__snapshots__/{}.snap", path::basename(path));
            if let Some(snapshot) = path::join(dir, &snapshot) {
                inputs.content(&snapshot, SharedRole::Snapshot);
            }
        }
        TestFile { path: path.to_owned(), shared: inputs.finish(), also_source: false }
    }
}
