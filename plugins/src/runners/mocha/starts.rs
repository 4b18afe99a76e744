//! Where and how mocha is started.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::tree::Tree;

use crate::runners::config::value::Value;
use crate::runners::manifest::{Packages, chain};
use crate::runners::outcome::is_fixture;
use crate::runners::shell::{self, Command};

const CONFIGS: &[&str] = &[
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.mjs",
    ".mocharc.yaml",
    ".mocharc.yml",
    ".mocharc.jsonc",
    ".mocharc.json",
];

/// Options that take a value.
pub(super) const VALUED: &[&str] = &[
    "--require",
    "-r",
    "--import",
    "--file",
    "--spec",
    "--extension",
    "--ignore",
    "--exclude",
    "--config",
    "--package",
    "--reporter",
    "-R",
    "--reporter-option",
    "--reporter-options",
    "-O",
    "--timeout",
    "-t",
    "--timeouts",
    "--ui",
    "-u",
    "--grep",
    "-g",
    "--fgrep",
    "-f",
    "--slow",
    "-s",
    "--retries",
    "--jobs",
    "-j",
    "--loader",
    "--experimental-loader",
    "--node-option",
    "-n",
    "--project",
    "-p",
    "--global",
    "--globals",
    "--opts",
];

/// One way in which mocha is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start {
    /// The working directory.
    pub(super) dir: String,
    /// The configuration file it reads.
    pub(super) config: Option<String>,
    /// What goes back into the command.
    pub(super) flags: Vec<String>,
    /// `--require` and `--import`.
    pub(super) requires: Vec<String>,
    /// `--file`.
    pub(super) files: Vec<String>,
    /// Files, directories and globs.
    pub(super) specs: Vec<String>,
    /// `--ignore`.
    pub(super) ignores: Vec<String>,
    /// `--extension`.
    pub(super) extensions: Vec<String>,
    /// `--recursive`.
    pub(super) recursive: bool,
    /// Directories of `NODE_PATH`, project-relative.
    pub(super) module_paths: Vec<String>,
    /// Reporters and interfaces.
    pub(super) plugins: Vec<String>,
}

/// Every start, sorted.
pub(super) fn all(tree: &dyn Tree, packages: &Packages) -> BTreeSet<Start> {
    let mut starts = BTreeSet::new();
    for package in packages.running() {
        for (_, script) in package.scripts() {
            for command in shell::commands(&script) {
                starts.extend(start(tree, packages, &package.dir, &command));
            }
        }
    }
    let mut configured: BTreeSet<&str> = BTreeSet::new();
    for file in tree.files() {
        if file.split('/').any(is_fixture) {
            continue;
        }
        let name = path::basename(file);
        if CONFIGS.contains(&name) || (name == "mocha.opts" && path::basename(path::dirname(file)) == "test")
        {
            configured.insert(if name == "mocha.opts" {
                path::dirname(path::dirname(file))
            } else {
                path::dirname(file)
            });
        }
    }
    configured.extend(
        packages.running().filter(|p| p.value.get("mocha") != Value::Undefined).map(|p| p.dir.as_str()),
    );
    for dir in configured {
        let config = config_of(tree, packages, dir);
        let used = starts.iter().any(|s| s.config == config || path::is_within(&s.dir, dir));
        if !used {
            let mut start = Start { dir: dir.to_owned(), config, ..Start::default() };
            opts(tree, &mut start);
            starts.insert(start);
        }
    }
    if starts.is_empty() {
        let declaring = packages.running().filter(|p| p.declares("mocha").is_some());
        starts.extend(declaring.map(|p| Start { dir: p.dir.clone(), ..Start::default() }));
    }
    joined(starts)
}

/// Starts that differ only in what they run are one.
fn joined(starts: BTreeSet<Start>) -> BTreeSet<Start> {
    let mut joined: Vec<Start> = Vec::new();
    for start in starts {
        let same = joined.iter_mut().find(|other| {
            let bare = |s: &Start| Start { specs: Vec::new(), recursive: false, ..s.clone() };
            // Without a pattern it runs the default, which the other's patterns replace.
            other.specs.is_empty() == start.specs.is_empty() && bare(other) == bare(&start)
        });
        match same {
            Some(other) => {
                other.specs.extend(start.specs);
                other.specs.sort();
                other.specs.dedup();
                other.recursive |= start.recursive;
            }
            None => joined.push(start),
        }
    }
    joined.into_iter().collect()
}

/// The configuration mocha takes by itself when started in `dir`: the nearest upwards.
fn config_of(tree: &dyn Tree, packages: &Packages, dir: &str) -> Option<String> {
    let file = chain(dir)
        .find_map(|d| CONFIGS.iter().filter_map(|name| path::join(d, name)).find(|file| tree.is_file(file)));
    let opts = || path::join(dir, "test/mocha.opts").filter(|f| tree.is_file(f));
    let manifest = || {
        let package = packages.nearest(dir)?;
        (package.value.get("mocha") != Value::Undefined)
            .then(|| path::join(&package.dir, "package.json"))
            .flatten()
    };
    file.or_else(manifest).or_else(opts)
}

fn start(tree: &dyn Tree, packages: &Packages, dir: &str, command: &Command) -> Option<Start> {
    let wrapper = match command.program.as_str() {
        "mocha" | "_mocha" | "mocha.js" => None,
        "ts-mocha" | "electron-mocha" | "mochapack" | "mocha-webpack" => Some(command.program.clone()),
        _ => return None,
    };
    let dir = path::join(dir, command.dir.as_deref().unwrap_or(""))?;
    let own = |names: &[&str]| command.values(names).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let given = command.value(&["--config"]).and_then(|c| path::join(&dir, c));
    let given = given.or_else(|| command.value(&["--opts"]).and_then(|c| path::join(&dir, c)));
    let mut start = Start {
        config: given.clone().or_else(|| config_of(tree, packages, &dir)),
        requires: own(&["--require", "-r", "--import", "--loader", "--experimental-loader"]),
        files: own(&["--file"]),
        specs: command.positional(VALUED).into_iter().map(str::to_owned).collect(),
        ignores: own(&["--ignore", "--exclude"]),
        extensions: own(&["--extension", "--extensions"]),
        recursive: command.has(&["--recursive"]),
        plugins: own(&["--reporter", "-R", "--ui", "-u"])
            .into_iter()
            .filter(|p| p.starts_with('.'))
            .collect(),
        module_paths: shell::node_path(command, &dir),
        flags: kept(command, given.is_some()),
        dir,
    };
    start.specs.extend(own(&["--spec"]));
    start.flags.splice(0..0, wrapper);
    start.requires.extend(command.preloaded());
    start.requires.extend(match command.program.as_str() {
        "ts-mocha" => vec!["ts-mocha".to_owned(), "ts-node".to_owned()],
        _ => Vec::new(),
    });
    opts(tree, &mut start);
    Some(start)
}

/// The options of a script that decide how its tests run, in a stable order.
fn kept(command: &Command, config: bool) -> Vec<String> {
    let mut kept = Vec::new();
    let options: [(&str, &[&str]); 9] = [
        ("--config", &["--config", "--opts"]),
        ("--require", &["--require", "-r"]),
        ("--import", &["--import"]),
        ("--loader", &["--loader", "--experimental-loader"]),
        ("--file", &["--file"]),
        ("--ui", &["--ui", "-u"]),
        ("--timeout", &["--timeout", "-t", "--timeouts"]),
        ("--extension", &["--extension", "--extensions"]),
        ("-p", &["-p", "--project"]),
    ];
    for (name, names) in options {
        if name == "--config" && !config {
            continue;
        }
        for value in command.values(names) {
            kept.extend([name.to_owned(), value.to_owned()]);
        }
    }
    if command.has(&["--exit"]) {
        kept.push("--exit".to_owned());
    }
    kept
}

/// Adds what a `mocha.opts` file says, which is a command line.
fn opts(tree: &dyn Tree, start: &mut Start) {
    let Some(file) = start.config.clone().filter(|c| c.ends_with(".opts")) else { return };
    let Some(text) = tree.text(&file) else { return };
    let arguments: Vec<String> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| shell::split(line).into_iter().flatten())
        .collect();
    let command = Command { program: "mocha".to_owned(), arguments, ..Command::default() };
    let own = |names: &[&str]| command.values(names).into_iter().map(str::to_owned).collect::<Vec<_>>();
    start.requires.extend(own(&["--require", "-r"]));
    start.files.extend(own(&["--file"]));
    start.specs.extend(command.positional(VALUED).into_iter().map(str::to_owned));
    start.ignores.extend(own(&["--ignore", "--exclude"]));
    start.extensions.extend(own(&["--extension"]));
    start.recursive |= command.has(&["--recursive"]);
}
