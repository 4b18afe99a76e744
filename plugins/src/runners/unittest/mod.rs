//! unittest, and Django's `manage.py test` or `runtests.py`: the test files that pytest does not run, as
//! `python -m unittest` finds them by name, when they hold test cases. Which start
//! directories scripts name is read from the scripts' text.

use std::collections::BTreeMap;

use owed_engine::facts::{DeclarationKind, FileFacts, ImportKind};
use owed_engine::path;
use owed_engine::resolve::{Listing, Resolver, Target};
use owed_engine::runner::{
    Discovery, Invocation, Load, Reported, Reporting, Runner, RunnerProject, Shared, SharedRole, TestFile,
    View,
};

use super::pytest::collect::Patterns;
use super::pytest::shared::{hiding, import, manifests, resolve_options, told_options};
use super::pytest::survey::Survey;
use super::report;
use crate::python::project::commands::{Commands, Program};
use crate::python::project::names::is_identifier;
use crate::python::resolve::PythonResolver;

/// The unittest runner.
#[derive(Clone, Copy, Debug)]
pub struct Unittest;

/// Programs that set Django up and run its tests by label, in the order they are looked for.
const MANAGERS: &[(&str, &[&str])] =
    &[("manage.py", &["manage.py", "test"]), ("runtests.py", &["runtests.py"])];

impl Runner for Unittest {
    fn name(&self) -> &'static str {
        "unittest"
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let survey = Survey::new(view);
        let starts = Starts::read(view, &survey.commands);
        let managers = managers(view, &survey);
        let mut groups: BTreeMap<Place, Vec<String>> = BTreeMap::new();
        for (dir, files) in &survey.unittest {
            for file in files {
                if starts.names(file) && holds_tests((view.facts)(file)) {
                    groups.entry(place(view, &managers, &starts, dir, file)).or_default().push(file.clone());
                }
            }
        }
        let mut discovery = Discovery::default();
        for (place, tests) in groups {
            discovery.projects.push(project(view, &survey, &place, tests));
        }
        discovery
    }

    /// A project whose top-level directory is its root takes paths; another one is
    /// discovered file by file, so that its directory comes first on `sys.path`.
    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let root = project.root.as_str();
        let top = project.resolve.source_roots.first().map_or(root, String::as_str);
        let invocation = |words: Vec<String>| Invocation {
            cwd: root.to_owned(),
            argv: std::iter::once("python".to_owned()).chain(words).collect(),
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        if let Some((_, program)) =
            MANAGERS.iter().find(|(script, _)| project.name.as_deref() == Some(script))
        {
            let labels = tests.iter().map(|test| dotted(root, test));
            return vec![invocation(program.iter().map(|w| (*w).to_owned()).chain(labels).collect())];
        }
        let importable = |test: &&str| {
            path::strip(test.trim_end_matches(".py"), root).is_some_and(|t| t.split('/').all(is_identifier))
        };
        let (whole, single): (Vec<&str>, Vec<&str>) =
            tests.iter().partition(|test| top == root && importable(test));
        let mut commands = Vec::new();
        if !whole.is_empty() {
            let paths = whole.iter().map(|test| path::relative(root, test));
            commands.push(invocation(words("-m unittest").into_iter().chain(paths).collect()));
        }
        for test in single {
            let start = path::relative(root, path::dirname(test));
            let mut argv = words("-m unittest discover -s");
            argv.extend([start, "-t".to_owned(), path::relative(root, top)]);
            argv.extend(["-p".to_owned(), path::basename(test).to_owned()]);
            commands.push(invocation(argv));
        }
        commands
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        Some(report::unittest(invocation, run))
    }
}

/// The dotted name of a file, from `root`.
fn dotted(root: &str, file: &str) -> String {
    path::strip(file, root).unwrap_or(file).trim_end_matches(".py").replace('/', ".")
}

/// Where a group of tests runs: working directory, Django's program, top-level directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    root: String,
    manager: Option<&'static str>,
    top: String,
}

/// Start directories and patterns of `unittest discover` in scripts.
struct Starts {
    patterns: Patterns,
    /// Start directory to top-level directory.
    tops: BTreeMap<String, String>,
}

impl Starts {
    fn read(view: &View<'_>, commands: &Commands) -> Self {
        let mut patterns = vec!["test*.py".to_owned()];
        let mut tops = BTreeMap::new();
        for command in commands.found.iter().filter(|c| c.program == Program::Unittest) {
            let mut words = command.arguments.iter().map(String::as_str).peekable();
            let (mut start, mut top) = (None, None);
            let mut positional = Vec::new();
            if words.next_if_eq(&"discover").is_none() {
                continue;
            }
            while let Some(word) = words.next() {
                match word {
                    "-s" | "--start-directory" => start = words.next(),
                    "-t" | "--top-level-directory" => top = words.next(),
                    "-p" | "--pattern" => patterns.extend(words.next().map(str::to_owned)),
                    word if word.starts_with("--pattern=") => {
                        patterns.push(word["--pattern=".len()..].to_owned())
                    }
                    word if !word.starts_with('-') => positional.push(word),
                    _ => {}
                }
            }
            let start = start.or(positional.first().copied()).unwrap_or(".");
            if let Some(pattern) = positional.get(1) {
                patterns.push((*pattern).to_owned());
            }
            let place = |written: &str| {
                [command.dir.as_str(), ""]
                    .iter()
                    .filter_map(|base| path::join(base, written))
                    .find(|at| view.tree.is_dir(at))
            };
            if let Some(start) = place(start) {
                let top = top.and_then(place).unwrap_or_else(|| start.clone());
                tops.insert(start, top);
            }
        }
        Self { patterns: Patterns::new(patterns.iter().map(String::as_str)), tops }
    }

    fn names(&self, file: &str) -> bool {
        self.patterns.matches(file)
    }

    fn top(&self, file: &str) -> Option<&str> {
        let start = path::ancestors(file).find_map(|dir| self.tops.get(dir));
        start.map(String::as_str)
    }
}

/// Whether the facts show test cases, or are too incomplete to deny it.
fn holds_tests(facts: Option<&FileFacts>) -> bool {
    facts.is_none_or(|facts| {
        !facts.tests.is_empty()
            || !facts.damage.is_empty()
            || facts.declarations.iter().any(|d| {
                d.name == "load_tests" || (d.kind == DeclarationKind::Class && d.name.contains("Test"))
            })
    })
}

/// Directories whose tests Django runs, with the program that does.
fn managers(view: &View<'_>, survey: &Survey) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    for file in view.tree.files() {
        let dir = path::dirname(file);
        let Some((script, _)) = MANAGERS.iter().find(|(script, _)| path::basename(file) == *script) else {
            continue;
        };
        let known = match *script {
            "manage.py" => survey.layout.django.iter().any(|d| d == dir),
            _ => view.tree.text_with(file, &["django"]).is_some(),
        };
        if known && imports_django(view, survey, dir) {
            found.entry(dir.to_owned()).or_insert(*script);
        }
    }
    found
}

fn place(
    view: &View<'_>,
    managers: &BTreeMap<String, &'static str>,
    starts: &Starts,
    dir: &str,
    file: &str,
) -> Place {
    if let Some((root, script)) = path::ancestors(file).find_map(|at| managers.get_key_value(at)) {
        return Place { root: root.clone(), manager: Some(script), top: root.clone() };
    }
    // Without a script that says so: the directory from which its packages are named.
    let base = path::ancestors(file).find(|at| !view.tree.is_file(&package_file(at))).unwrap_or("");
    let top = starts.top(file).filter(|top| path::is_within(file, top)).unwrap_or(base);
    let top = if path::is_within(top, dir) { top } else { dir };
    Place { root: dir.to_owned(), manager: None, top: top.to_owned() }
}

fn package_file(dir: &str) -> String {
    if dir.is_empty() { "__init__.py".to_owned() } else { format!("{dir}/__init__.py") }
}

fn imports_django(view: &View<'_>, survey: &Survey, root: &str) -> bool {
    let mut files = survey.unittest.values().flatten().filter(|file| path::is_within(file, root));
    files.any(|file| {
        (view.facts)(file).is_some_and(|facts| {
            facts.imports.iter().any(|i| i.specifier == "django" || i.specifier.starts_with("django."))
        })
    })
}

fn project(view: &View<'_>, survey: &Survey, place: &Place, tests: Vec<String>) -> RunnerProject {
    // The top-level directory comes first on `sys.path`; `command` reads it from there.
    let top = path::relative(&place.root, &place.top);
    let resolve = if view.names_only() {
        told_options(survey, &place.root, &[top])
    } else {
        resolve_options(view, survey, &place.root, &[top])
    };
    let mut shared = manifests(&survey.layout, &place.root, None);
    shared.extend(hiding(view, &place.root, &resolve.source_roots));
    if let Some(script) = place.manager {
        let script = path::join(&place.root, script).expect("a name stays below its directory");
        let resolver = PythonResolver::new(view.tree, &resolve);
        let targets = settings(view, &script)
            .into_iter()
            .flat_map(|name| resolver.resolve(&script, &import(&name, ImportKind::StringRef)).targets);
        for target in targets.chain([Target::File(script.clone())]) {
            shared.push(Shared { target, role: SharedRole::Setup, load: Load::Project });
        }
    }
    shared.sort();
    shared.dedup();
    let tests = tests
        .into_iter()
        .map(|path| TestFile { shared: packages(view, &path), path, also_source: false })
        .collect();
    let name = match place.manager {
        Some(script) => Some(script.to_owned()),
        None => (place.top != place.root).then(|| path::relative(&place.root, &place.top)),
    };
    RunnerProject {
        root: place.root.clone(),
        name,
        resolve,
        tests,
        shared,
        listings: vec![Listing { dir: place.top.clone(), glob: "**/test*.py".to_owned() }],
        unsettled: Vec::new(),
        effects: Vec::new(),
        isolated: false,
        checked: false,
    }
}

/// The `__init__.py` of the packages a test is imported through, and the first that is
/// not there.
fn packages(view: &View<'_>, test: &str) -> Vec<Shared> {
    let mut shared = Vec::new();
    for dir in path::ancestors(test) {
        let init = package_file(dir);
        let there = view.tree.is_file(&init);
        shared.push(Shared { target: Target::File(init), role: SharedRole::Setup, load: Load::Project });
        if !there {
            break;
        }
    }
    shared
}

/// The settings modules that `manage.py` names.
fn settings(view: &View<'_>, manage: &str) -> Vec<String> {
    let text = view.tree.text(manage).unwrap_or_default();
    text.match_indices("DJANGO_SETTINGS_MODULE")
        .filter_map(|(at, word)| {
            let rest = text[at + word.len()..].trim_start_matches(['"', '\'']);
            let quote = rest.find(['"', '\''])?;
            let open = rest[quote..].chars().next()?;
            let value = rest[quote + 1..].split(open).next()?;
            value.split('.').all(is_identifier).then(|| value.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests;
