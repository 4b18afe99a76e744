//! Where jest is run: directories with a configuration, and scripts that start it.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::problem::Problem;
use owed_engine::tree::Tree;

use crate::runners::config::value::Value;
use crate::runners::manifest::{Packages, chain};
use crate::runners::outcome::is_fixture;
use crate::runners::places::{self, Extent};
use crate::runners::shell;

const EXTENSIONS: &[&str] = &["js", "ts", "mts", "cts", "mjs", "cjs", "json"];
const VALUED: &[&str] = &[
    "--config",
    "-c",
    "--rootDir",
    "--roots",
    "--testPathPattern",
    "--testPathPatterns",
    "-t",
    "--testNamePattern",
    "--maxWorkers",
    "-w",
    "--reporters",
    "--env",
    "--testEnvironment",
    "--coverageReporters",
    "--outputFile",
    "--selectProjects",
    "--shard",
    "--testTimeout",
    "--coverageDirectory",
    "--seed",
];

/// How jest is started there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Starter {
    /// `jest`.
    #[default]
    Jest,
    /// `react-scripts test` and its relatives, which bring their own configuration.
    ReactScripts,
}

/// A directory in which jest is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The working directory.
    pub(super) dir: String,
    /// The configuration: a file, or a `package.json` with a `jest` key.
    pub(super) config: Option<String>,
    /// What starts it.
    pub(super) starter: Starter,
    /// `--rootDir`, project-relative.
    pub(super) root: Option<String>,
    /// Directories of `NODE_PATH`, project-relative.
    pub(super) module_paths: Vec<String>,
    /// Modules that node loads first.
    pub(super) preloaded: Vec<String>,
    /// Whether it is started with [`shell::VM_MODULES`].
    pub(super) vm_modules: bool,
    /// `--projects`, as written.
    pub(super) projects: Vec<String>,
    /// Whether nothing but a dependency makes it a place: then only files of its own
    /// package are its tests.
    pub(super) own_only: bool,
    /// Places below it that list their own tests.
    pub(super) nested: Vec<String>,
}

impl places::Place for Place {
    fn extent(&self) -> Extent<'_> {
        Extent { dir: &self.dir, own_only: self.own_only, nested: &self.nested }
    }
}

/// All places.
#[derive(Debug, Default)]
pub(super) struct Located {
    pub(super) places: Vec<Place>,
    pub(super) problems: Vec<Problem>,
}

/// Whether jest takes a configuration file of this name by itself.
pub(super) fn is_default(name: &str) -> bool {
    name == "package.json"
        || name.strip_prefix("jest.config.").is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// Whether a file of this name is a configuration of jest (`jest.config.ts`,
/// `jest.e2e.config.js`, `jest.config.unit.js`, `jest-e2e.json`).
pub(super) fn is_config(name: &str) -> bool {
    is_default(name) || is_extra(name)
}

fn is_extra(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    EXTENSIONS.contains(&extension)
        && name.starts_with("jest")
        && (stem.ends_with(".config") || stem.contains(".config.") || stem == "jest-e2e")
}

/// The configuration jest takes by itself in the directory `dir`.
pub(super) fn config_in(tree: &dyn Tree, packages: &Packages, dir: &str) -> Option<String> {
    let file = EXTENSIONS
        .iter()
        .filter_map(|extension| path::join(dir, &format!("jest.config.{extension}")))
        .find(|file| tree.is_file(file));
    file.or_else(|| {
        let package = packages.at(dir)?;
        (package.value.get("jest") != Value::Undefined).then(|| path::join(dir, "package.json")).flatten()
    })
}

/// Finds the places of `tree`.
pub(super) fn places(tree: &dyn Tree, packages: &Packages) -> Located {
    let mut default: BTreeMap<String, String> = BTreeMap::new();
    let mut extra = Vec::new();
    for file in tree.files() {
        let name = path::basename(file);
        if !name.starts_with("jest") {
            continue;
        }
        let dir = path::dirname(file);
        if is_default(name) {
            if let Some(config) = config_in(tree, packages, dir) {
                default.insert(dir.to_owned(), config);
            }
        } else if is_extra(name) {
            extra.push(file.clone());
        }
    }
    for package in packages.all() {
        // A string names a file; anything else is the configuration.
        match package.value.get("jest") {
            Value::Undefined => {}
            Value::String(file) => {
                if let Some(config) = path::join(&package.dir, &file).filter(|f| tree.is_file(f)) {
                    default.insert(package.dir.clone(), config);
                }
            }
            _ => {
                if let Some(config) = config_in(tree, packages, &package.dir) {
                    default.insert(package.dir.clone(), config);
                }
            }
        }
    }
    let (mut places, scripted) = scripts(packages, &default);
    let configured: BTreeSet<String> = places.iter().filter_map(|p| p.config.clone()).collect();
    for (dir, config) in &default {
        if !places.iter().any(|p| {
            p.dir == *dir && (p.config.as_ref() == Some(config) || p.starter == Starter::ReactScripts)
        }) {
            places.insert(Place { dir: dir.clone(), config: Some(config.clone()), ..Place::default() });
        }
    }
    for config in extra {
        if !configured.contains(&config) && !is_base(&config) {
            places.insert(Place {
                dir: path::dirname(&config).to_owned(),
                config: Some(config),
                ..Place::default()
            });
        }
    }
    let alone = places.is_empty();
    for package in packages.all().filter(|p| p.declares("jest").is_some()) {
        if !places.iter().any(|p| path::is_within(&package.dir, &p.dir)) {
            places.insert(Place { dir: package.dir.clone(), own_only: !alone, ..Place::default() });
        }
    }
    separated(places, &scripted)
}

/// Whether a configuration is made to be imported by others.
fn is_base(config: &str) -> bool {
    let name = path::basename(config);
    ["base", "shared", "common", "preset"].iter().any(|word| name.contains(word))
}

fn separated(places: BTreeSet<Place>, scripted: &BTreeSet<String>) -> Located {
    let mut located = Located::default();
    let mut unused = Vec::new();
    let dirs: BTreeSet<String> = places.iter().map(|p| p.dir.clone()).collect();
    for mut place in places {
        let fixture = place.dir.split('/').any(is_fixture);
        if fixture && chain(&place.dir).skip(1).any(|d| dirs.contains(d)) {
            unused.push(place.config.unwrap_or(place.dir));
            continue;
        }
        if !scripted.contains(&place.dir) {
            let below = dirs.iter().filter(|d| **d != place.dir && path::is_within(d, &place.dir));
            place.nested = below.cloned().collect();
        }
        located.places.push(place);
    }
    located.problems = crate::runners::outcome::fixtures(&unused);
    located
}

/// Every start of jest in the scripts, and the directories in which it is started
/// without naming a configuration.
fn scripts(packages: &Packages, default: &BTreeMap<String, String>) -> (BTreeSet<Place>, BTreeSet<String>) {
    let mut places = BTreeSet::new();
    let mut scripted = BTreeSet::new();
    for package in packages.all() {
        for (_, script) in package.scripts() {
            for command in shell::commands(&script) {
                let tests = command.positional(VALUED).first() == Some(&"test");
                let starter = match command.program.as_str() {
                    "jest" | "jest.js" => Starter::Jest,
                    "react-scripts" | "react-app-rewired" | "craco" | "react-scripts-ts" if tests => {
                        Starter::ReactScripts
                    }
                    _ => continue,
                };
                let Some(dir) = path::join(&package.dir, command.dir.as_deref().unwrap_or("")) else {
                    continue;
                };
                let config = command.value(&["--config", "-c"]).and_then(|c| path::join(&dir, c));
                // Without one it looks upwards, and stops at the first `package.json`.
                let found = || {
                    chain(&dir)
                        .find(|d| default.contains_key(*d) || packages.at(d).is_some())
                        .and_then(|d| default.get(d).cloned())
                };
                if config.is_none() {
                    scripted.insert(dir.clone());
                }
                let projects = match command.arguments.iter().position(|a| a == "--projects") {
                    Some(at) => command.arguments[at + 1..]
                        .iter()
                        .take_while(|a| !a.starts_with('-'))
                        .cloned()
                        .collect(),
                    None => Vec::new(),
                };
                places.insert(Place {
                    config: config.or_else(found),
                    starter,
                    root: command.value(&["--rootDir"]).and_then(|r| path::join(&dir, r)),
                    projects,
                    module_paths: shell::node_path(&command, &dir),
                    preloaded: command.preloaded(),
                    vm_modules: command.set("NODE_OPTIONS").is_some_and(|v| v.contains(shell::VM_MODULES)),
                    dir,
                    ..Place::default()
                });
            }
        }
    }
    (places, scripted)
}
