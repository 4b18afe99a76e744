//! What the manifests of a repository say about its Python: which distributions it
//! holds, where their modules lie (source roots), what they depend on, which modules are
//! native or written by the build. Manifests are read, never run; what is not literal
//! is left to the conventions (`src/`, the project directory itself).

mod builds;
pub(crate) mod commands;
pub(crate) mod ini;
pub(crate) mod literal;
pub(crate) mod names;
pub(crate) mod requirements;
mod roots;

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::resolve::Alias;
use owed_engine::tree::Tree;

use self::ini::Ini;
use self::literal::{Module, Value};
use self::requirements::{PIPFILE, PYPROJECT, Requirements, RequirementsFile};

/// One Python distribution of the repository: a directory with a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distribution {
    /// Its directory.
    pub(crate) dir: String,
    /// Its name, normalised.
    pub(crate) name: Option<String>,
    /// Its manifests that exist.
    pub(crate) manifests: Vec<String>,
    /// Directories its top-level modules lie in, in order; its own is always the last.
    pub(crate) roots: Vec<String>,
    /// Packages whose directory has another name.
    pub(crate) aliases: Vec<Alias>,
    /// Normalised names of all distributions it declares, whatever for.
    pub(crate) declared: BTreeSet<String>,
    /// Modules it registers as pytest plugins.
    pub(crate) pytest_plugins: BTreeSet<String>,
    /// Files its build writes from version control (`_version.py`).
    pub(crate) generated: BTreeSet<String>,
    /// Native modules it names.
    pub(crate) native_modules: BTreeSet<String>,
    /// Whether its build makes native modules at all.
    pub(crate) native: bool,
    /// Whether it lies among another distribution's test data or examples: its modules
    /// are nobody else's.
    pub(crate) fixture: bool,
}

/// The Python distributions of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Sorted by directory; the first is the project root's, manifest or not.
    pub(crate) distributions: Vec<Distribution>,
    /// Directories with a `manage.py`.
    pub(crate) django: Vec<String>,
    /// Source roots that pants is told of.
    pub(crate) pants: Vec<String>,
    /// Manifests that could not be read, with the reason.
    pub(crate) broken: BTreeMap<String, String>,
}

/// Whether the inventory has a Python file below `dir`.
pub(crate) fn has_python(files: &[String], dir: &str) -> bool {
    path::below(files, dir).iter().any(|file| file.ends_with(".py"))
}

const DATA_DIRS: &[&str] = &[
    "tests",
    "test",
    "testing",
    "fixtures",
    "fixture",
    "testdata",
    "test_data",
    "test-data",
    "data",
    "examples",
    "example",
    "samples",
    "templates",
    "template",
    "docs",
    "doc",
    "benchmarks",
    "benches",
    "resources",
    "vendor",
    "_vendor",
    "third_party",
    "corpus",
    "demos",
    "cookiecutter",
];

impl Layout {
    /// Reads all manifests of `tree`.
    pub(crate) fn read(tree: &dyn Tree) -> Self {
        let mut layout = Self::default();
        let mut dirs: BTreeMap<&str, Vec<&str>> = BTreeMap::from([("", Vec::new())]);
        let mut django = BTreeSet::new();
        for file in tree.files() {
            match path::basename(file) {
                "pyproject.toml" | "setup.py" | "setup.cfg" | "hatch.toml" | "pixi.toml" | "uv.toml"
                | "tox.toml" => dirs.entry(path::dirname(file)).or_default().push(file),
                "manage.py" => {
                    django.insert(path::dirname(file).to_owned());
                }
                _ => {}
            }
        }
        let mut members = BTreeSet::new();
        for (dir, manifests) in &dirs {
            let mut reader = roots::Reader::new(tree, dir);
            for manifest in manifests {
                reader.manifest(manifest, &mut layout.broken);
            }
            reader.nearby_requirements();
            let (distribution, globs) = reader.finish();
            members.extend(globs.iter().flat_map(|glob| expand(glob, dirs.keys().copied())));
            layout.distributions.push(distribution);
        }
        for at in 0..layout.distributions.len() {
            let dir = layout.distributions[at].dir.clone();
            let outer = layout.distributions.iter().filter(|d| d.dir != dir && !d.manifests.is_empty());
            let data = outer
                .filter_map(|d| path::strip(&dir, &d.dir))
                .any(|inner| inner.split('/').any(|segment| DATA_DIRS.contains(&segment)));
            layout.distributions[at].fixture = data && !members.contains(&dir);
        }
        layout.django = django
            .into_iter()
            .filter(|dir| !dir.split('/').any(|segment| DATA_DIRS.contains(&segment)))
            .collect();
        layout.pants = pants_roots(tree);
        layout
    }

    /// The distribution that `path` belongs to: the nearest above it.
    pub(crate) fn of(&self, path: &str) -> &Distribution {
        self.distributions
            .iter()
            .rev()
            .filter(|d| path::is_within(path, &d.dir))
            .max_by_key(|d| d.dir.len())
            .expect("the root's distribution holds every path")
    }

    /// Source roots and aliases for what lies in `dir`: those of its own distribution, of
    /// those around it, and then of all others that are no test data.
    pub(crate) fn roots_for(&self, dir: &str) -> (Vec<String>, Vec<Alias>) {
        let mut around: Vec<&Distribution> =
            self.distributions.iter().filter(|d| path::is_within(dir, &d.dir)).collect();
        around.sort_by_key(|d| std::cmp::Reverse(d.dir.len()));
        let others = self.distributions.iter().filter(|d| !path::is_within(dir, &d.dir) && !d.fixture);
        let mut roots: Vec<String> = Vec::new();
        let mut aliases: Vec<Alias> = Vec::new();
        for distribution in around.into_iter().chain(others) {
            for root in &distribution.roots {
                if !roots.contains(root) {
                    roots.push(root.clone());
                }
            }
            for alias in &distribution.aliases {
                if !aliases.contains(alias) {
                    aliases.push(alias.clone());
                }
            }
        }
        for root in self.django.iter().chain(&self.pants) {
            if !roots.contains(root) {
                roots.push(root.clone());
            }
        }
        (roots, aliases)
    }

    /// The top-level modules of everything any distribution declares.
    pub(crate) fn declared_imports(&self) -> BTreeSet<String> {
        let declared: BTreeSet<&String> = self.distributions.iter().flat_map(|d| &d.declared).collect();
        declared.into_iter().flat_map(|name| names::imports_of(name)).collect()
    }
}

/// The directories with Python that `root_patterns` of `pants.toml` name: `/x` from the
/// project root, `x/y` anywhere.
fn pants_roots(tree: &dyn Tree) -> Vec<String> {
    let Some(root) = tree.text("pants.toml").and_then(|text| text.parse::<toml::Table>().ok()) else {
        return Vec::new();
    };
    let mut globs = globset::GlobSetBuilder::new();
    requirements::visit(&root, &["source", "root_patterns"], &mut |value| {
        for pattern in value.as_array().into_iter().flatten().filter_map(toml::Value::as_str) {
            let glob = match pattern.strip_prefix('/') {
                Some(anchored) => anchored.to_owned(),
                None => format!("**/{pattern}"),
            };
            if let Ok(glob) = globset::GlobBuilder::new(&glob).literal_separator(true).build() {
                globs.add(glob);
            }
        }
    });
    let Ok(globs) = globs.build() else { return Vec::new() };
    let python = tree.files().iter().filter(|file| file.ends_with(".py"));
    let dirs: BTreeSet<&str> = python.flat_map(|file| path::ancestors(file)).collect();
    dirs.into_iter().filter(|dir| globs.is_match(dir)).map(str::to_owned).collect()
}

/// Directories of `dirs` that a workspace glob (`packages/*`) names.
fn expand<'d>(glob: &str, dirs: impl Iterator<Item = &'d str>) -> Vec<String> {
    let Ok(matcher) = globset::GlobBuilder::new(glob).literal_separator(true).build() else {
        return Vec::new();
    };
    let matcher = matcher.compile_matcher();
    dirs.filter(|dir| matcher.is_match(dir)).map(str::to_owned).collect()
}
