//! What must stay true of this repository itself, read from its files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the engine may be built from. It knows no grammar, no runner and no plugin, and
/// starts nothing but git: a new line here is the change to argue about.
const ENGINE_IS_BUILT_FROM: &[&str] = &[
    "blake3",
    "dashmap",
    "globset",
    "hashbrown",
    "ignore",
    "memchr",
    "pathfinding",
    "petgraph",
    "postcard",
    "rayon",
    "rustc-hash",
    "rustix",
    "serde",
    "serde_json",
    "tempfile",
    "toml",
    "twox-hash",
];

/// The only modules that may touch files, processes, the environment and the clock.
const DOORS: &[&str] = &[
    "engine/src/read/",
    "engine/src/vcs/",
    "gates/src/",
    "cli/build.rs",
    "cli/src/host.rs",
    "cli/src/child/",
    "benches/src/",
];

const BEHIND_DOORS: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::os::unix::net",
    "Command::new",
    "File::open",
    "SystemTime",
    "Instant::now",
    "disallowed_methods",
];

const LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of the repository as it is committed, with its path.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = root();
    let mut files = Vec::new();
    let mut dirs = vec![root.clone()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !matches!(name.as_str(), ".git" | ".owed" | "target" | "node_modules") {
                dirs.push(entry.path());
            } else if kind.is_file() && name != ".git" {
                let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                files.push((path, fs::read(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    assert!(files.len() > 300, "only {} files were found", files.len());
    files
}

/// Every module, as text.
fn modules() -> Vec<(String, String)> {
    let rust = files().into_iter().filter(|(path, _)| path.ends_with(".rs"));
    rust.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

/// The modules that are product, without their tests and comments.
fn product() -> Vec<(String, String)> {
    let is_test = |path: &str| {
        path.ends_with("/tests.rs") || path.contains("/tests/") || path.starts_with("benches/benches/")
    };
    let without_tests = |text: &str| {
        let end = text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(text.len());
        let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let modules = modules().into_iter().filter(|(path, _)| !is_test(path));
    modules.map(|(path, text)| (path, without_tests(&text))).collect()
}

fn manifest(path: &str) -> toml::Table {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

/// The names in every table of dependencies of a crate, those of targets included.
fn dependencies(table: &toml::Table) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            names.extend(inner.keys().cloned());
        } else {
            names.extend(dependencies(inner));
        }
    }
    names
}

const CRATES: [&str; 5] = ["engine", "plugins", "gates", "cli", "benches"];

#[test]
fn the_engine_knows_no_grammar_and_no_plugin() {
    let names = dependencies(&manifest("engine/Cargo.toml"));
    let allowed: BTreeSet<String> = ENGINE_IS_BUILT_FROM.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, allowed, "engine/Cargo.toml and the list of this test differ");
    let plugins = dependencies(&manifest("plugins/Cargo.toml"));
    assert!(!plugins.contains("owed"), "plugins know the engine only");
}

#[test]
fn every_dependency_is_argued_for() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    let named: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split([',', ' ', '(', ')']))
        .collect();
    for dir in CRATES {
        for name in dependencies(&manifest(&format!("{dir}/Cargo.toml"))) {
            let ours = name.starts_with("owed");
            assert!(
                ours || named.contains(name.as_str()),
                "ARCHITECTURE.md does not say why {dir} needs {name}"
            );
        }
    }
}

#[test]
fn every_crate_keeps_the_lints_of_the_workspace() {
    for dir in CRATES {
        assert_eq!(
            manifest(&format!("{dir}/Cargo.toml"))["lints"]["workspace"].as_bool(),
            Some(true),
            "{dir}"
        );
    }
}

#[test]
fn files_processes_environment_and_clock_are_behind_the_doors() {
    let mut found = Vec::new();
    for (path, text) in product() {
        if DOORS.iter().any(|door| path.starts_with(door)) {
            continue;
        }
        found
            .extend(BEHIND_DOORS.iter().filter(|word| has_path(&text, word)).map(|w| format!("{path}: {w}")));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Whether a text names a path of Rust: `setSystemTime` of JavaScript is none.
fn has_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn nothing_unwraps_outside_of_tests() {
    let mut found = Vec::new();
    for (path, text) in product() {
        let silenced = text.contains("clippy::unwrap_used");
        if silenced || text.contains(".unwrap()") || text.contains(".unwrap_err()") {
            found.push(path);
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_module_says_what_it_is_and_is_short() {
    let mut found = Vec::new();
    for (path, text) in modules() {
        if !text.starts_with("//!") {
            found.push(format!("{path} does not start with `//!`"));
        }
        let lines = text.lines().count();
        if lines > LINES {
            found.push(format!("{path} has {lines} lines; split it by idea"));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    // Put together here, so that this file does not hold them.
    let places = ["work", "root", "home", "tmp", "Users"].map(|dir| format!("/{dir}/"));
    let mut found = Vec::new();
    for (path, bytes) in files() {
        let text = String::from_utf8_lossy(&bytes);
        for (at, line) in text.lines().enumerate() {
            let is_absolute = |place: &String| {
                line.match_indices(place.as_str()).any(|(i, _)| {
                    let before = line[..i].chars().next_back();
                    before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '*')))
                })
            };
            if places.iter().any(is_absolute) {
                found.push(format!("{path}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
