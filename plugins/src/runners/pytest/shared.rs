//! What pytest's tests share without importing it: configuration, conftests, packages'
//! `__init__.py`, plugins, settings.

use std::collections::BTreeSet;

use owed_engine::facts::{
    EffectClass, Import, ImportKind, LoadMode, Names, Opaque, PathBase, Presence, Span,
};
use owed_engine::path;
use owed_engine::resolve::{Listing, ResolveOptions, Resolver, Target, UnknownImport};
use owed_engine::runner::{Load, RunnerEffect, Shared, SharedRole, View};
use owed_engine::tree::Tree;

use super::config::{Config, NAMES};
use super::survey::Survey;
use crate::python::project::Layout;
use crate::python::project::names::{imports_of, is_pytest_plugin, stdlib};
use crate::python::resolve::{PythonResolver, environments};

/// A file of the project, run with the project's own resolution.
fn run(file: String, role: SharedRole) -> Shared {
    Shared { target: Target::File(file), role, load: Load::Project }
}

/// An input read as data.
pub(crate) fn data(target: Target, role: SharedRole) -> Shared {
    Shared { target, role, load: Load::Content }
}

/// How the imports of a project in `dir` resolve: what pytest is told, then what the
/// manifests say, scripts' `PYTHONPATH`, and what sources add to `sys.path`, which takes
/// reading all of them.
pub(crate) fn resolve_options(
    view: &View<'_>,
    survey: &Survey,
    dir: &str,
    pythonpath: &[String],
) -> ResolveOptions {
    let mut options = told_options(survey, dir, pythonpath);
    for root in added_paths(view, dir) {
        if !options.source_roots.contains(&root) {
            options.source_roots.push(root);
        }
    }
    options
}

/// The same without what sources add, which comes last.
pub(crate) fn told_options(survey: &Survey, dir: &str, pythonpath: &[String]) -> ResolveOptions {
    let mut roots: Vec<String> = Vec::new();
    let (manifests, aliases) = survey.layout.roots_for(dir);
    let told = pythonpath.iter().filter_map(|written| path::join(dir, written.trim_end_matches('/')));
    let scripts = survey.commands.python_path.iter().cloned();
    for root in told.chain(manifests).chain(scripts) {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    ResolveOptions {
        root: dir.to_owned(),
        aliases,
        source_roots: roots,
        // `TYPE_CHECKING` is false when tests run.
        types_erased: true,
        ..ResolveOptions::default()
    }
}

/// Directories that files of the project, or conftests above it, add to `sys.path`.
fn added_paths(view: &View<'_>, dir: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in view.tree.files().iter().filter(|file| file.ends_with(".py")) {
        if !path::is_within(file, dir) && !path::is_within(dir, path::dirname(file)) {
            continue;
        }
        for effect in (view.facts)(file).iter().flat_map(|facts| &facts.effects) {
            if effect.operation != "sys.path" {
                continue;
            }
            if let EffectClass::Bounded(expression) = &effect.class {
                let base = match expression.base {
                    PathBase::Module => path::dirname(file),
                    PathBase::Cwd => dir,
                    PathBase::Absolute => continue,
                };
                found.extend(path::join(base, &expression.path).filter(|added| view.tree.is_dir(added)));
            }
        }
    }
    found.into_iter().collect()
}

/// The configuration file in force.
pub(crate) fn in_force(config: &Config) -> Option<Shared> {
    let file = config.file.clone()?;
    Some(data(Target::Manifest(file), SharedRole::Config))
}

/// The manifests and configuration files that decide how tests of `dir` run: that in
/// force, those that would come before it, and the manifests of the distributions around.
pub(crate) fn manifests(layout: &Layout, dir: &str, config: Option<&Config>) -> Vec<Shared> {
    let mut shared = Vec::new();
    if let Some(config) = config {
        let in_force = config.file.as_deref();
        shared.extend(self::in_force(config));
        for name in NAMES {
            let candidate = path::join(dir, name).expect("a name stays below its directory");
            if in_force == Some(candidate.as_str()) {
                break;
            }
            shared.push(data(Target::Manifest(candidate), SharedRole::Config));
        }
    }
    for distribution in layout.distributions.iter().filter(|d| path::is_within(dir, &d.dir)) {
        for manifest in &distribution.manifests {
            shared.push(data(Target::Manifest(manifest.clone()), SharedRole::Manifest));
        }
    }
    let version = path::join(dir, ".python-version").expect("a name stays below its directory");
    shared.push(data(Target::Manifest(version), SharedRole::Manifest));
    shared
}

/// Modules that hide one of the standard library from the runner itself: what lies in the
/// working directory (`dir`) and in the source roots comes before it on `sys.path`. One that
/// appears there is another run for every test; one that is there is run by every test.
pub(crate) fn hiding(view: &View<'_>, dir: &str, roots: &[String]) -> Vec<Shared> {
    // `test` is a common name of a folder, and no runner imports the standard one.
    let names: Vec<&str> = stdlib().filter(|name| !name.starts_with('_') && *name != "test").collect();
    let glob = format!("{{{}}}{{.py,.so,.*.so,.pyc,/__init__.py}}", names.join(","));
    let dirs: BTreeSet<&str> = roots.iter().map(String::as_str).chain([dir]).collect();
    let mut shared = Vec::new();
    for dir in dirs {
        let listing = Listing { dir: dir.to_owned(), glob: glob.clone() };
        shared.push(data(Target::Listing(listing), SharedRole::Setup));
        for name in &names {
            let files = [format!("{name}.py"), format!("{name}/__init__.py")];
            let files = files.iter().filter_map(|file| path::join(dir, file));
            shared.extend(
                files.filter(|file| view.tree.is_file(file)).map(|file| run(file, SharedRole::Setup)),
            );
        }
    }
    shared
}

/// pytest and its plugins as installed packages, the environment names it reads, and what
/// Python loads by itself.
pub(crate) fn toolchain(layout: &Layout, python_path: &[String], config: &Config) -> Vec<Shared> {
    let dir = config.dir.as_str();
    let mut packages = BTreeSet::from(["pytest".to_owned(), "_pytest".to_owned(), "pluggy".to_owned()]);
    let around = |d: &&crate::python::project::Distribution| {
        path::is_within(dir, &d.dir) || (path::is_within(&d.dir, dir) && !d.fixture)
    };
    for distribution in layout.distributions.iter().filter(around) {
        for name in distribution.declared.iter().filter(|name| is_pytest_plugin(name)) {
            packages.extend(imports_of(name));
        }
    }
    let mut shared: Vec<Shared> = packages
        .into_iter()
        .map(|name| data(Target::Package(format!("pypi:{name}")), SharedRole::Toolchain))
        .collect();
    for name in ["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"] {
        shared.push(data(Target::Env(name.to_owned()), SharedRole::Env));
    }
    for file in ["sitecustomize.py", "usercustomize.py"] {
        // Python itself imports these from `PYTHONPATH`.
        let places = python_path.iter().filter_map(|dir| path::join(dir, file));
        shared.extend(places.map(|file| run(file, SharedRole::Setup)));
    }
    for file in &config.env_files {
        shared.extend(path::join(dir, file).map(|file| data(Target::File(file), SharedRole::Env)));
    }
    shared
}

/// Plugins and options that let verdicts differ from one run to the next: a random order, a
/// seed from the clock, several processes. An option is looked for in `addopts`, a plugin
/// among the declared dependencies and the distributions of the project's environments.
pub(crate) fn effects(tree: &dyn Tree, layout: &Layout, config: &Config) -> Vec<RunnerEffect> {
    let has = |distribution: &str| has_plugin(tree, layout, config, distribution);
    let option = |names: &[&str]| option(&config.words, names);
    let seeded = |name| option(&[name]).is_some_and(|seed| seed.parse::<u64>().is_ok());
    let path = config.file.clone().unwrap_or_default();
    let mut found = Vec::new();
    let mut add = |reason, operation: &str, fix: &str| {
        let (operation, fix, path) = (operation.to_owned(), fix.to_owned(), path.clone());
        found.push(RunnerEffect { reason, operation, path, fix });
    };
    if has("pytest-randomly") && !seeded("--randomly-seed") {
        add(Opaque::Random, "pytest-randomly", "add `-p no:randomly` or `--randomly-seed=1` to addopts");
    }
    let shuffles = option(&["--random-order", "--random-order-bucket"]).is_some();
    if shuffles && !seeded("--random-order-seed") {
        add(Opaque::Random, "pytest-random-order", "add `--random-order-seed=1` to addopts");
    }
    if option(&["--random", "--random-seed"]).is_some() && has("pytest-random") {
        add(Opaque::Random, "pytest-random", "take `--random` out of addopts");
    }
    let joined = config.words.iter().find_map(|word| word.strip_prefix("-n").filter(|n| !n.is_empty()));
    let workers = option(&["-n", "--numprocesses", "--dist"]).or(joined);
    let alone = |workers: &str| matches!(workers.trim_start_matches('='), "0" | "no");
    if !config.without.iter().any(|plugin| plugin == "xdist") && workers.is_some_and(|w| !alone(w)) {
        add(Opaque::Concurrency, "pytest-xdist", "take `-n` out of addopts, and give it where it is wanted");
    }
    found
}

/// The value of the first of these options that is given.
fn option<'w>(words: &'w [String], names: &[&str]) -> Option<&'w str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let next = || words.get(at + 1).map_or("", String::as_str);
        names.contains(&name).then(|| if value.is_empty() { next() } else { value })
    })
}

/// Whether pytest loads a plugin by itself: it is declared or installed, and not kept out.
fn has_plugin(tree: &dyn Tree, layout: &Layout, config: &Config, distribution: &str) -> bool {
    let short = distribution.strip_prefix("pytest-").unwrap_or(distribution).replace('-', "_");
    let module = distribution.replace('-', "_");
    if config.without.iter().any(|plugin| *plugin == short || *plugin == module) {
        return false;
    }
    let dir = config.dir.as_str();
    let around = |d: &&crate::python::project::Distribution| {
        path::is_within(dir, &d.dir) || (path::is_within(&d.dir, dir) && !d.fixture)
    };
    layout.distributions.iter().filter(around).any(|d| d.declared.contains(distribution))
        || config.plugins.iter().any(|plugin| *plugin == short || *plugin == module)
        || environments(tree, [dir, ""]).iter().any(|site| tree.is_dir(&format!("{site}/{module}")))
}

/// First-party modules that every run loads: `-p` plugins, the distribution's own pytest
/// plugins, Django's settings. Says which of them were named and not found.
pub(crate) fn modules(
    layout: &Layout,
    config: &Config,
    resolver: &PythonResolver<'_>,
) -> (Vec<Shared>, Vec<String>) {
    let dir = config.dir.as_str();
    let from = path::join(dir, "conftest.py").expect("a name stays below its directory");
    let (mut shared, mut lost) = (Vec::new(), Vec::new());
    let installed = layout.distributions.iter().filter(|d| !d.fixture).filter(|d| {
        path::is_within(dir, &d.dir)
            || d.name.as_ref().is_some_and(|name| layout.of(&from).declared.contains(name))
    });
    let own = installed.flat_map(|d| d.pytest_plugins.iter().cloned());
    let named = config.plugins.iter().cloned().chain(own).map(|name| (name, SharedRole::Plugin));
    let settings = config.settings.iter().cloned().map(|name| (name, SharedRole::Setup));
    for (name, role) in named.chain(settings) {
        let found = resolver.resolve(&from, &import(&name, ImportKind::Static));
        if found.unknown == Some(UnknownImport::Unresolved) {
            lost.push(name);
        }
        for target in found.targets {
            let load = if matches!(target, Target::File(_)) { Load::Project } else { Load::Content };
            shared.push(Shared { target, role, load });
        }
        for absent in found.absent {
            shared.push(run(absent, role));
        }
    }
    (shared, lost)
}

/// An import as a configuration makes it.
pub(crate) fn import(specifier: &str, kind: ImportKind) -> Import {
    Import {
        specifier: specifier.to_owned(),
        kind,
        mode: LoadMode::Esm,
        presence: Presence::Required,
        names: Names::Effects,
        line: 0,
        span: Span::default(),
    }
}

/// What the test file itself brings: the conftests from its directory up to `root`,
/// there or not, the `__init__.py` of the packages it is imported through, and the
/// configuration files that would make a nearer rootdir.
pub(crate) fn of_test(view: &View<'_>, root: &str, test: &str) -> Vec<Shared> {
    let mut shared = Vec::new();
    let mut chained = true;
    for dir in path::ancestors(test) {
        let inside = path::is_within(dir, root);
        let at = |name: &str| if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        let init = at("__init__.py");
        let package = view.tree.is_file(&init);
        if inside {
            shared.push(run(at("conftest.py"), SharedRole::Conftest));
            if dir != root {
                for name in ["pytest.toml", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"] {
                    shared.push(data(Target::Manifest(at(name)), SharedRole::Config));
                }
            }
        } else if !chained {
            break;
        }
        // The first directory without `__init__.py` ends the package; one that appears
        // there renames the module.
        if package || chained {
            shared.push(run(init, SharedRole::Setup));
        }
        chained &= package;
    }
    shared.retain(|s| s.target != Target::File(test.to_owned()));
    shared
}

/// What the examples in a text or in docstrings import.
pub(crate) fn of_doctest(view: &View<'_>, file: &str, resolver: &PythonResolver<'_>) -> Vec<Shared> {
    let Some(text) = view.tree.text(file) else { return Vec::new() };
    let mut shared = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let Some(code) = line.strip_prefix(">>>").or_else(|| line.strip_prefix("...")) else { continue };
        for import in written_imports(code.trim()) {
            let found = resolver.resolve(file, &import);
            for target in found.targets {
                let load = if matches!(target, Target::File(_)) { Load::Project } else { Load::Content };
                shared.push(Shared { target, role: SharedRole::Setup, load });
            }
            shared.extend(found.absent.into_iter().map(|path| run(path, SharedRole::Setup)));
        }
    }
    shared.sort();
    shared.dedup();
    shared
}

/// The imports of one line of code (`import a, b as c`, `from a import b, c`).
fn written_imports(code: &str) -> Vec<Import> {
    let names = |list: &str| -> Vec<String> {
        let list = list.trim_matches(['(', ')', '\\', ' ']);
        let each = list.split(',').map(|part| part.split_whitespace().next().unwrap_or("").to_owned());
        each.filter(|name| !name.is_empty()).collect()
    };
    if let Some(rest) = code.strip_prefix("import ") {
        let rest = rest.split(';').next().unwrap_or(rest);
        return names(rest).iter().map(|name| import(name, ImportKind::Static)).collect();
    }
    let Some((module, list)) = code.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) else {
        return Vec::new();
    };
    let mut found = import(module.trim(), ImportKind::Static);
    let taken = names(list.split(';').next().unwrap_or(list));
    if taken.iter().any(|name| name == "*") {
        found.kind = ImportKind::Star;
    } else {
        let named = |name: String| owed_engine::facts::Name { imported: name.clone(), local: name };
        found.names = Names::List(taken.into_iter().map(named).collect());
    }
    vec![found]
}
