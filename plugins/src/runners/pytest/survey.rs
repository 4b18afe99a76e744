//! Which files of a repository pytest runs, and which unittest does: each test file
//! belongs to one project of one of them.
//!
//! A file belongs to the nearest directory above it that configures pytest. Where none
//! does, it belongs to the nearest Python distribution, and pytest runs it when anything
//! says that pytest is used there: a declared dependency, a command in a script, a
//! `conftest.py`, an import, a test that is a bare function. Else unittest does.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::facts::TestKind;
use owed_engine::path;
use owed_engine::runner::View;

use super::collect::Rules;
use super::config::{Config, NAMES};
use crate::python::project::Layout;
use crate::python::project::commands::{Commands, Program};

/// What one repository holds for Python's runners.
pub(crate) struct Survey {
    /// Its distributions.
    pub(crate) layout: Layout,
    /// Its scripts' commands.
    pub(crate) commands: Commands,
    /// pytest's projects by directory, with their test files.
    pub(crate) pytest: BTreeMap<String, PytestProject>,
    /// Files that may be unittest's, by the directory of their distribution.
    pub(crate) unittest: BTreeMap<String, Vec<String>>,
}

/// One project of pytest.
pub(crate) struct PytestProject {
    /// Its configuration.
    pub(crate) config: Config,
    /// Its rules.
    pub(crate) rules: Rules,
    /// Its test modules and doctest texts, in order.
    pub(crate) tests: Vec<String>,
    /// Modules that are collected for their docstrings only.
    pub(crate) doctests: Vec<String>,
}

impl Survey {
    /// Looks at the whole inventory.
    pub(crate) fn new(view: &View<'_>) -> Self {
        let tree = view.tree;
        let layout = Layout::read(tree);
        let commands = Commands::read(tree);
        let extra = commands.paths(tree, Program::Pytest);
        let mut configs = configs(view, &commands);
        let mut bare: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in tree.files().iter().filter(|file| file.ends_with(".py")) {
            if nearest(&configs, file).is_none() {
                bare.entry(home(&layout, file)).or_default().push(file.clone());
            }
        }
        let mut unittest = BTreeMap::new();
        for (dir, files) in bare {
            if uses_pytest(view, &layout, &commands, &dir, &files) {
                configs.insert(dir.clone(), Config::bare(&dir));
            } else {
                unittest.insert(dir, files);
            }
        }
        let mut pytest: BTreeMap<String, PytestProject> = configs
            .into_iter()
            .map(|(dir, config)| {
                let rules = Rules::new(tree, &config, &extra);
                (dir, PytestProject { config, rules, tests: Vec::new(), doctests: Vec::new() })
            })
            .collect();
        assign(view, &mut pytest);
        Self { layout, commands, pytest, unittest }
    }
}

/// The pytest configurations, by directory.
fn configs(view: &View<'_>, commands: &Commands) -> BTreeMap<String, Config> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in view.tree.files() {
        let name = path::basename(file);
        if NAMES.contains(&name) {
            names.entry(path::dirname(file)).or_default().push(name);
        }
    }
    let mut configs: BTreeMap<String, Config> = names
        .into_iter()
        .filter_map(|(dir, names)| Some((dir.to_owned(), Config::read(view.tree, dir, &names)?)))
        .collect();
    for command in commands.found.iter().filter(|c| c.program == Program::Pytest) {
        let mut words = command.arguments.iter();
        while let Some(word) = words.next() {
            let file = match word.as_str() {
                "-c" | "--config-file" => words.next().map(String::as_str),
                word => word.strip_prefix("--config-file="),
            };
            let file = file.and_then(|file| path::join(&command.dir, file));
            if let Some(file) = file.filter(|file| view.tree.is_file(file))
                && !configs.contains_key(&command.dir)
                && let Some(config) = Config::read_file(view.tree, &command.dir, &file)
            {
                configs.insert(command.dir.clone(), config);
            }
        }
        if let Some(config) = configs.get_mut(&command.dir) {
            // What adds tests or inputs counts; what leaves tests out may be one of several runs.
            let mut told = Config::bare(&command.dir);
            told.options(&command.arguments);
            config.doctest_modules |= told.doctest_modules;
            config.doctest_globs.extend(told.doctest_globs.into_iter().skip(1));
            config.plugins.extend(told.plugins);
            config.settings = config.settings.take().or(told.settings);
        }
    }
    for (dir, module) in &commands.settings {
        if let Some(config) = configs.get_mut(dir) {
            config.settings.get_or_insert_with(|| module.clone());
        }
    }
    // A broken file among an outer project's test data is there to be broken.
    let outer: BTreeSet<String> = configs.keys().cloned().collect();
    configs.retain(|dir, config| {
        let above = path::ancestors(dir).filter(|_| !dir.is_empty()).find(|above| outer.contains(*above));
        config.broken.is_none() || !is_test_data(path::strip(dir, above.unwrap_or("")).unwrap_or(dir))
    });
    configs
}

/// Whether a directory, relative to the project around it, holds what tests read.
fn is_test_data(dir: &str) -> bool {
    dir.split('/').any(|segment| {
        matches!(
            segment,
            "tests" | "test" | "testing" | "fixtures" | "testdata" | "test_data" | "test-data" | "data"
        )
    })
}

fn nearest<'c, V>(configs: &'c BTreeMap<String, V>, file: &str) -> Option<&'c str> {
    path::ancestors(file).find_map(|dir| configs.get_key_value(dir)).map(|(dir, _)| dir.as_str())
}

/// The directory pytest or unittest is run from for a file without configuration.
fn home(layout: &Layout, file: &str) -> String {
    let distribution = layout.of(file);
    if distribution.fixture {
        let outer = layout.distributions.iter().filter(|d| !d.fixture && path::is_within(file, &d.dir));
        return outer.max_by_key(|d| d.dir.len()).map(|d| d.dir.clone()).unwrap_or_default();
    }
    distribution.dir.clone()
}

fn uses_pytest(view: &View<'_>, layout: &Layout, commands: &Commands, dir: &str, files: &[String]) -> bool {
    let imports = |file: &String, top: &str| {
        (view.facts)(file).is_some_and(|facts| {
            facts.imports.iter().any(|import| import.specifier.split('.').next() == Some(top))
        })
    };
    let seen = files.iter().any(|file| path::basename(file) == "conftest.py")
        || files.iter().any(|file| imports(file, "pytest") || imports(file, "_pytest"));
    if seen {
        return true;
    }
    let runs = |program| {
        commands
            .found
            .iter()
            .any(|c| c.program == program && (path::is_within(&c.dir, dir) || path::is_within(dir, &c.dir)))
    };
    if runs(Program::Unittest) && !runs(Program::Pytest) {
        return false;
    }
    let declared = layout
        .distributions
        .iter()
        .filter(|d| path::is_within(dir, &d.dir))
        .any(|d| d.declared.iter().any(|name| name == "pytest" || name.starts_with("pytest-")));
    declared || runs(Program::Pytest) || files.iter().any(|file| holds_functions(view, file))
}

/// Whether a test module by pytest's default names holds a test that is a bare function,
/// which unittest does not run.
fn holds_functions(view: &View<'_>, file: &str) -> bool {
    let name = path::basename(file);
    (name.starts_with("test_") || name.ends_with("_test.py"))
        && (view.facts)(file)
            .is_some_and(|facts| facts.tests.iter().any(|t| t.kind == TestKind::Case && t.name.len() == 1))
}

/// Gives each file to its project.
fn assign(view: &View<'_>, projects: &mut BTreeMap<String, PytestProject>) {
    let tree = view.tree;
    let mut tests: Vec<(String, String, bool)> = Vec::new();
    for file in tree.files() {
        let Some(dir) = nearest(projects, file) else { continue };
        let project = &projects[dir];
        let module = project.rules.is_test_module(file);
        let docstrings = !module && project.config.doctest_modules && file.ends_with(".py");
        let text = !module && project.rules.is_doctest_text(file);
        if !(module || docstrings || text) || !project.rules.reaches(file) {
            continue;
        }
        if !is_reached_from_outside(projects, dir, file) {
            continue;
        }
        if (docstrings || text) && tree.text_with(file, &[">>>"]).is_none() {
            continue;
        }
        tests.push((dir.to_owned(), file.clone(), docstrings));
    }
    for (dir, file, docstrings) in tests {
        let project = projects.get_mut(&dir).expect("the directory is a project's");
        if docstrings {
            project.doctests.push(file.clone());
        }
        project.tests.push(file);
    }
}

/// The projects around `dir` that would collect `file` as well, were pytest run from
/// there: nearest first.
pub(crate) fn outer<'p>(
    projects: &'p BTreeMap<String, PytestProject>,
    dir: &'p str,
    file: &'p str,
) -> impl Iterator<Item = (&'p str, &'p PytestProject)> {
    path::ancestors(dir)
        .filter_map(|above| projects.get_key_value(above))
        .filter(|(_, project)| project.rules.reaches(file) && project.rules.is_test_module(file))
        .map(|(above, project)| (above.as_str(), project))
}

/// A configuration among another project's test data (`tests/fixtures/x/pytest.ini`) is
/// data too, unless the outer project would collect its files itself.
fn is_reached_from_outside(projects: &BTreeMap<String, PytestProject>, dir: &str, file: &str) -> bool {
    let above = path::ancestors(dir).find_map(|above| projects.get_key_value(above));
    let Some((above, _)) = above.filter(|_| !dir.is_empty()) else { return true };
    let inner = path::strip(dir, above).unwrap_or(dir);
    !is_test_data(inner) || outer(projects, dir, file).next().is_some()
}
