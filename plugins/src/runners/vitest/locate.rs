//! Where vitest is run: directories with a configuration, and scripts that start it.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::problem::Problem;
use owed_engine::tree::Tree;
use rayon::prelude::*;

use crate::runners::config::Reader;
use crate::runners::config::value::Value;
use crate::runners::manifest::{Packages, chain};
use crate::runners::outcome::is_fixture;
use crate::runners::places::{self, Extent};
use crate::runners::shell;

const EXTENSIONS: &[&str] = &["ts", "mts", "cts", "js", "mjs", "cjs"];
/// Options of the vitest command that take a value.
pub(super) const VALUED: &[&str] = &[
    "--config",
    "-c",
    "--root",
    "-r",
    "--dir",
    "--project",
    "--workspace",
    "--reporter",
    "--environment",
    "--testNamePattern",
    "-t",
    "--pool",
    "--exclude",
    "--coverage.provider",
    "--coverage.reporter",
    "--mode",
    "--outputFile",
    "--shard",
    "--retry",
    "--maxWorkers",
    "--minWorkers",
    "--testTimeout",
    "--hookTimeout",
];

/// A directory in which vitest is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The working directory.
    pub(super) dir: String,
    /// The configuration file.
    pub(super) config: Option<String>,
    /// `vitest.workspace.*`.
    pub(super) workspace: Option<String>,
    /// `--root`, project-relative.
    pub(super) root: Option<String>,
    /// `--dir`, project-relative.
    pub(super) only: Option<String>,
    /// `--typecheck`.
    pub(super) typecheck: bool,
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

#[derive(Default)]
struct Found {
    /// The configuration vitest takes by itself, by directory.
    default: BTreeMap<String, String>,
    /// Others, that are named on the command line.
    extra: Vec<String>,
    workspace: BTreeMap<String, String>,
}

/// Whether a file of this name is a configuration of vitest.
pub(super) fn is_config(name: &str) -> bool {
    rank(name).is_some() || is_extra(name) || is_workspace(name)
}

/// Whether vitest takes a file of this name by itself.
pub(super) fn is_default(name: &str) -> bool {
    rank(name).is_some() || is_workspace(name)
}

fn rank(name: &str) -> Option<usize> {
    let (stem, extension) = name.rsplit_once('.')?;
    let kind = match stem {
        "vitest.config" => 0,
        "vite.config" => EXTENSIONS.len(),
        _ => return None,
    };
    Some(kind + EXTENSIONS.iter().position(|e| *e == extension)?)
}

fn is_workspace(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        matches!(stem, "vitest.workspace" | "vitest.projects")
            && (EXTENSIONS.contains(&extension) || extension == "json")
    })
}

/// `vitest.e2e.config.ts`, `vitest.config.e2e.ts`, `vitest-e2e.config.ts`.
fn is_extra(name: &str) -> bool {
    name.starts_with("vitest")
        && name.rsplit_once('.').is_some_and(|(stem, extension)| {
            EXTENSIONS.contains(&extension)
                && stem != "vitest.config"
                && (stem.ends_with(".config") || stem.contains(".config."))
        })
}

/// The configuration vitest takes by itself in the directory `dir`.
pub(super) fn config_in(tree: &dyn Tree, dir: &str) -> Option<String> {
    ["vitest.config", "vite.config"]
        .iter()
        .flat_map(|stem| EXTENSIONS.iter().map(move |extension| format!("{stem}.{extension}")))
        .filter_map(|name| path::join(dir, &name))
        .find(|file| tree.is_file(file))
}

/// Finds the places of `tree`.
pub(super) fn places(tree: &dyn Tree, packages: &Packages) -> Located {
    let found = find(tree);
    let uses = scripts(packages);
    let declared: Vec<&str> =
        packages.all().filter(|p| p.declares("vitest").is_some()).map(|p| p.dir.as_str()).collect();
    if found.default.is_empty()
        && found.extra.is_empty()
        && found.workspace.is_empty()
        && uses.is_empty()
        && declared.is_empty()
    {
        return Located::default();
    }
    let mut places: BTreeSet<Place> = BTreeSet::new();
    // What configurations load, for those that may be loaded by others.
    let mut read = BTreeSet::new();
    let scripted: BTreeSet<&str> =
        uses.iter().filter(|u| u.config.is_none()).map(|u| u.dir.as_str()).collect();

    let dirs: Vec<&String> = found.default.keys().chain(found.workspace.keys()).collect();
    let starts: Vec<(bool, Vec<String>)> = dirs
        .par_iter()
        .map(|&dir| {
            let config = found.default.get(dir);
            if found.workspace.contains_key(dir)
                || scripted.contains(dir.as_str())
                || config.is_some_and(|c| path::basename(c).starts_with("vitest."))
            {
                return (true, Vec::new());
            }
            let Some(config) = config else { return (false, Vec::new()) };
            let reader = Reader::new(tree, packages, dir);
            let takes_part = match reader.load(config).get("test") {
                Value::Undefined => packages.at(dir).is_some_and(|p| p.declares("vitest").is_some()),
                Value::Unknown(_) => packages.declared(dir, "vitest").is_some(),
                _ => true,
            };
            (takes_part, reader.files().into_iter().filter(|f| f != config).collect())
        })
        .collect();
    for (dir, (takes_part, files)) in dirs.into_iter().zip(starts) {
        read.extend(files);
        if takes_part {
            places.insert(Place {
                dir: dir.clone(),
                config: found.default.get(dir).cloned(),
                workspace: found.workspace.get(dir).cloned(),
                ..Place::default()
            });
        }
    }
    for used in &uses {
        match &used.config {
            Some(config) => {
                places.insert(Place {
                    dir: used.dir.clone(),
                    config: Some(config.clone()),
                    workspace: None,
                    root: used.root.clone(),
                    only: used.only.clone(),
                    typecheck: used.typecheck,
                    ..Place::default()
                });
            }
            None => {
                let from = used.root.as_deref().unwrap_or(&used.dir);
                // It looks for a configuration upwards.
                let config = chain(from).find_map(|d| found.default.get(d));
                let workspace = chain(from).find_map(|d| found.workspace.get(d));
                let place = Place {
                    dir: used.dir.clone(),
                    config: config.cloned(),
                    workspace: workspace.filter(|w| path::dirname(w) == from).cloned(),
                    root: used.root.clone().filter(|r| *r != used.dir),
                    only: used.only.clone(),
                    typecheck: used.typecheck,
                    ..Place::default()
                };
                if place.only.is_some()
                    && places.iter().any(|p| p.dir == place.dir && p.config == place.config)
                {
                    continue;
                }
                places.insert(place);
            }
        }
    }
    // One that another configuration reads is part of that one.
    let named = |config: &&String| places.iter().any(|p| p.config.as_ref() == Some(config));
    let unnamed: Vec<&String> = found.extra.iter().filter(|config| !named(config)).collect();
    if !unnamed.is_empty() {
        let all: Vec<&Place> = places.iter().collect();
        read.par_extend(all.into_par_iter().flat_map_iter(|place| {
            place.config.iter().flat_map(|config| {
                let reader = Reader::new(tree, packages, &place.dir);
                reader.load(config);
                reader.files().into_iter().filter(move |f| f != config)
            })
        }));
    }
    for config in unnamed {
        if !read.contains(config) {
            places.insert(Place {
                dir: path::dirname(config).to_owned(),
                config: Some(config.clone()),
                ..Place::default()
            });
        }
    }
    let alone = places.is_empty();
    for dir in declared {
        if !places.iter().any(|p| path::is_within(dir, &p.dir)) {
            places.insert(Place { dir: dir.to_owned(), own_only: !alone, ..Place::default() });
        }
    }
    // Starts that differ only in whether types are checked are one.
    let checked: Vec<Place> = places.iter().filter(|p| p.typecheck).cloned().collect();
    for place in checked {
        places.remove(&Place { typecheck: false, ..place });
    }
    separated(places, &scripted)
}

/// Leaves fixtures out, and decides which place lists the tests of a place below it.
fn separated(places: BTreeSet<Place>, scripted: &BTreeSet<&str>) -> Located {
    let mut located = Located::default();
    let mut unused = Vec::new();
    let dirs: BTreeSet<String> = places.iter().map(|p| p.dir.clone()).collect();
    for mut place in places {
        let fixture = place.dir.split('/').any(is_fixture);
        if fixture && chain(&place.dir).skip(1).any(|d| dirs.contains(d)) {
            unused.push(place.config.unwrap_or(place.dir));
            continue;
        }
        if !scripted.contains(place.dir.as_str()) {
            place.nested =
                dirs.iter().filter(|d| **d != place.dir && path::is_within(d, &place.dir)).cloned().collect();
        }
        located.places.push(place);
    }
    located.problems = crate::runners::outcome::fixtures(&unused);
    located
}

fn find(tree: &dyn Tree) -> Found {
    let mut found = Found::default();
    for file in tree.files() {
        let name = path::basename(file);
        if !name.starts_with("vite") {
            continue;
        }
        let dir = path::dirname(file);
        if let Some(new) = rank(name) {
            let old = found.default.get(dir).and_then(|old| rank(path::basename(old)));
            if old.is_none_or(|old| new < old) {
                found.default.insert(dir.to_owned(), file.clone());
            }
        } else if is_workspace(name) {
            found.workspace.entry(dir.to_owned()).or_insert_with(|| file.clone());
        } else if is_extra(name) {
            found.extra.push(file.clone());
        }
    }
    found
}

struct Use {
    dir: String,
    config: Option<String>,
    root: Option<String>,
    only: Option<String>,
    typecheck: bool,
}

/// Every start of vitest in the scripts of the packages.
fn scripts(packages: &Packages) -> Vec<Use> {
    let mut uses = Vec::new();
    for package in packages.all() {
        for (_, script) in package.scripts() {
            for command in shell::commands(&script) {
                if !matches!(command.program.as_str(), "vitest" | "vitest.mjs") {
                    continue;
                }
                let positional = command.positional(VALUED);
                if matches!(positional.first(), Some(&("bench" | "init")))
                    || command.has(&["--version", "--help"])
                {
                    continue;
                }
                let Some(dir) = path::join(&package.dir, command.dir.as_deref().unwrap_or("")) else {
                    continue;
                };
                let below = |value: Option<&str>, from: &str| value.and_then(|v| path::join(from, v));
                let root = below(command.value(&["--root", "-r"]), &dir);
                let from = root.clone().unwrap_or_else(|| dir.clone());
                uses.push(Use {
                    config: below(command.value(&["--config", "-c"]), &from),
                    only: below(command.value(&["--dir"]), &from),
                    typecheck: command.arguments.iter().any(|a| a.starts_with("--typecheck")),
                    root,
                    dir,
                });
            }
        }
    }
    uses
}
