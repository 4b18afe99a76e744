//! The packages of the repository itself, by name, found from manifests alone: nothing
//! needs to be installed.
//!
//! A package is a *member* when some `workspaces`, `pnpm-workspace.yaml` or `lerna.json`
//! names its directory. Every other manifest with a `name` is kept as well, because
//! `link:` and hand-made set-ups exist; only manifests that are data of tests (below
//! `fixtures` and the like) are left out unless they are members.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use owed_engine::path;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::super::manifest::yaml;
use super::jsonc;
use super::package::Package;
use super::view::View;

/// Directories whose manifests are data.
const DATA_DIRS: &[&str] = &[
    "fixtures",
    "fixture",
    "__fixtures__",
    "__testfixtures__",
    "testdata",
    "test-data",
    "__snapshots__",
    "__mocks__",
    "templates",
    "template",
    "node_modules",
];

/// One package of the repository.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its manifest.
    pub(super) package: Arc<Package>,
    /// Whether a workspace names it (the root always counts).
    pub(super) listed: bool,
}

/// All packages of the repository.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    by_name: FxHashMap<String, Vec<Member>>,
    by_dir: FxHashMap<String, ()>,
    /// Manifests that say which directories are packages.
    pub(super) definers: Vec<String>,
}

impl Workspace {
    /// The packages called `name`, sorted by directory.
    pub(super) fn named(&self, name: &str) -> &[Member] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether `dir` holds a named package.
    pub(super) fn is_package(&self, dir: &str) -> bool {
        self.by_dir.contains_key(dir)
    }
}

/// Whether a manifest at `file` is data rather than part of the project.
pub(super) fn is_data(file: &str) -> bool {
    path::dirname(file).split('/').any(|segment| DATA_DIRS.contains(&segment))
}

/// Finds all packages.
pub(super) fn discover(view: &View<'_>) -> Workspace {
    let mut workspace = Workspace::default();
    let mut packages = Vec::new();
    let mut data = Vec::new();
    let mut globs = Vec::new();
    for file in view.tree.files() {
        match path::basename(file) {
            "package.json" if is_data(file) => data.push(file.as_str()),
            "package.json" => {
                let package = read(view, file);
                let own = package.workspaces();
                if !own.is_empty() {
                    globs.push(Globs::new(&package.dir, own.into_iter()));
                    workspace.definers.push(file.clone());
                }
                packages.push(package);
            }
            "pnpm-workspace.yaml" if !is_data(file) => {
                let value = view.tree.text(file).and_then(|text| yaml::parse(&text).ok()).unwrap_or_default();
                globs.push(Globs::new(path::dirname(file), strings(value.get("packages"))));
                workspace.definers.push(file.clone());
            }
            "lerna.json" if !is_data(file) => {
                let value =
                    view.tree.text(file).and_then(|text| jsonc::parse(&text).ok()).unwrap_or_default();
                let listed: Vec<&str> = strings(value.get("packages")).collect();
                let listed = if listed.is_empty() { vec!["packages/*"] } else { listed };
                globs.push(Globs::new(path::dirname(file), listed.into_iter()));
                workspace.definers.push(file.clone());
            }
            _ => {}
        }
    }
    let listed = |dir: &str| dir.is_empty() || globs.iter().any(|globs| globs.matches(dir));
    packages.extend(data.into_iter().filter(|file| listed(path::dirname(file))).map(|file| read(view, file)));
    packages.sort_by(|a, b| a.dir.cmp(&b.dir));
    for package in packages {
        let Some(name) = package.string("name") else { continue };
        workspace.by_dir.insert(package.dir.clone(), ());
        let member = Member { listed: listed(&package.dir), package: Arc::clone(&package) };
        workspace.by_name.entry(name.to_owned()).or_default().push(member);
    }
    workspace
}

fn read(view: &View<'_>, file: &str) -> Arc<Package> {
    Arc::new(Package::parse(path::dirname(file), view.tree.text(file).as_deref()))
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The directory globs of one definer.
struct Globs {
    dir: String,
    include: Vec<GlobMatcher>,
    exclude: Vec<GlobMatcher>,
}

impl Globs {
    fn new<'s>(dir: &str, patterns: impl Iterator<Item = &'s str>) -> Self {
        let mut globs = Self { dir: dir.to_owned(), include: Vec::new(), exclude: Vec::new() };
        for pattern in patterns {
            let (into, pattern) = match pattern.strip_prefix('!') {
                Some(rest) => (&mut globs.exclude, rest),
                None => (&mut globs.include, pattern),
            };
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            // A pattern that is no glob leaves its packages to be found by name alone.
            into.extend(glob.ok().map(|glob| glob.compile_matcher()));
        }
        globs
    }

    fn matches(&self, dir: &str) -> bool {
        let Some(rest) = path::strip(dir, &self.dir) else { return false };
        self.include.iter().any(|glob| glob.is_match(rest))
            && !self.exclude.iter().any(|glob| glob.is_match(rest))
    }
}

#[cfg(test)]
mod tests {
    use owed_engine::tree::MemoryTree;

    use super::*;

    #[test]
    fn members_others_and_data() {
        let files = [
            ("package.json", r#"{"name": "root", "workspaces": ["packages/*", "!packages/out"]}"#),
            ("pnpm-workspace.yaml", "packages:\n  - 'fixtures/**'\n"),
            ("lerna.json", "{}"),
            ("packages/a/package.json", r#"{"name": "@o/a"}"#),
            ("packages/out/package.json", r#"{"name": "twice"}"#),
            ("packages/broken/package.json", "{"),
            ("other/package.json", r#"{"name": "twice"}"#),
            ("fixtures/f/package.json", r#"{"name": "f"}"#),
            ("test/fixtures/react/package.json", r#"{"name": "react"}"#),
        ];
        let tree = MemoryTree::new(files.map(|(p, t)| (p.to_owned(), t.as_bytes().to_vec())));
        let workspace = discover(&View::new(&tree));
        let named = |name: &str| -> Vec<(String, bool)> {
            workspace.named(name).iter().map(|m| (m.package.dir.clone(), m.listed)).collect()
        };
        assert_eq!(named("root"), [(String::new(), true)]);
        assert_eq!(named("@o/a"), [("packages/a".to_owned(), true)]);
        // lerna's default still lists it.
        assert_eq!(named("twice"), [("other".to_owned(), false), ("packages/out".to_owned(), true)]);
        assert_eq!(named("f"), [("fixtures/f".to_owned(), true)]);
        assert!(named("react").is_empty());
        assert_eq!(workspace.definers, ["lerna.json", "package.json", "pnpm-workspace.yaml"]);
    }
}
