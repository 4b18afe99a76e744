//! pytest: its projects, tests and shared inputs, read from configuration and facts. No
//! plugin is run; a hook that changes what is collected leaves the project unsettled.

pub(crate) mod collect;
pub(crate) mod config;
pub(crate) mod shared;
pub(crate) mod survey;

use owed_engine::path;
use owed_engine::problem::{Problem, Widening};
use owed_engine::resolve::Listing;
use owed_engine::runner::{
    Discovery, Invocation, Reported, Reporting, Runner, RunnerProject, TestFile, View,
};

use self::config::Config;
use self::survey::{PytestProject, Survey};
use crate::python::resolve::PythonResolver;
use crate::runners::report;

/// The pytest runner.
#[derive(Clone, Copy, Debug)]
pub struct Pytest;

impl Runner for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn toolchain(&self) -> &'static [&'static str] {
        &["pypi:pytest", "pypi:_pytest", "pypi:pluggy", "pypi:iniconfig"]
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let survey = Survey::new(view);
        let mut discovery = Discovery { problems: unreadable(&survey), ..Discovery::default() };
        for (dir, project) in &survey.pytest {
            let (found, problems) = discover_project(view, &survey, dir, project);
            if !found.tests.is_empty() || !found.unsettled.is_empty() {
                discovery.projects.push(found);
            }
            discovery.problems.extend(problems);
        }
        discovery
    }

    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let mut argv: Vec<String> = ["python", "-m", "pytest"].map(str::to_owned).into();
        argv.extend(tests.iter().map(|test| path::relative(&project.root, test)));
        vec![Invocation { cwd: project.root.clone(), argv }]
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        Some(report::pytest(invocation, run))
    }
}

/// Manifests that could not be read: their source roots and dependencies are not known,
/// conventions stand in for them.
fn unreadable(survey: &Survey) -> Vec<Problem> {
    let layout = &survey.layout;
    let broken = layout.broken.iter().filter(|(path, _)| !layout.of(path).fixture);
    broken
        .map(|(path, reason)| Problem {
            code: "manifest-unreadable".to_owned(),
            path: path.clone(),
            line: None,
            detail: format!("{reason}; source roots and dependencies are taken from conventions instead"),
        })
        .collect()
}

/// Hooks with which a conftest decides itself what is a test file.
const COLLECTION_HOOKS: &[&str] = &[
    "pytest_collect_file",
    "pytest_collect_directory",
    "pytest_pycollect_makemodule",
    "pytest_ignore_collect",
];

fn discover_project(
    view: &View<'_>,
    survey: &Survey,
    dir: &str,
    project: &PytestProject,
) -> (RunnerProject, Vec<Problem>) {
    let config = &project.config;
    let mut problems = Vec::new();
    // Whoever asks for names resolves nothing but plugins, and those that are found without
    // what sources add to the path are the same with it.
    let told = shared::told_options(survey, dir, &config.pythonpath);
    let is_told = view.names_only()
        && shared::modules(&survey.layout, config, &PythonResolver::new(view.tree, &told)).1.is_empty();
    let resolve = if is_told { told } else { shared::resolve_options(view, survey, dir, &config.pythonpath) };
    let resolver = PythonResolver::new(view.tree, &resolve);
    let mut common = shared::manifests(&survey.layout, dir, Some(config));
    common.extend(shared::toolchain(&survey.layout, &survey.commands.python_path, config));
    common.extend(shared::hiding(view, dir, &resolve.source_roots));
    let (modules, lost) = shared::modules(&survey.layout, config, &resolver);
    let plugins: Vec<String> = modules
        .iter()
        .filter_map(|s| match &s.target {
            owed_engine::resolve::Target::File(file) => Some(file.clone()),
            _ => None,
        })
        .collect();
    common.extend(modules);
    common.sort();
    common.dedup();
    for name in lost {
        problems.push(Problem {
            code: "plugin-not-found".to_owned(),
            path: config.file.clone().unwrap_or_default(),
            line: None,
            detail: format!(
                "pytest is told to load `{name}`, which is not in this repository; its inputs are not known"
            ),
        });
    }
    let tests = project
        .tests
        .iter()
        .map(|test| {
            // Run from a project around this one, the test has that one's conftests too.
            let outer = survey::outer(&survey.pytest, dir, test);
            let around: Vec<&Config> = outer.map(|(_, project)| &project.config).collect();
            let root = around.last().map_or(dir, |config| config.dir.as_str());
            let mut own = shared::of_test(view, root, test);
            own.extend(around.iter().filter_map(|config| shared::in_force(config)));
            let documents = project.doctests.binary_search(test).is_ok();
            if !test.ends_with(".py") || documents {
                own.extend(shared::of_doctest(view, test, &resolver));
            }
            // `python_files = *.py` names every module.
            let has_tests = (view.facts)(test).is_some_and(|facts| !facts.tests.is_empty());
            TestFile { path: test.clone(), shared: own, also_source: documents || !has_tests }
        })
        .collect();
    let found = RunnerProject {
        root: dir.to_owned(),
        name: None,
        resolve,
        tests,
        shared: common,
        listings: listings(project),
        unsettled: unsettled(view, dir, project, &plugins),
        effects: shared::effects(view.tree, &survey.layout, config),
        isolated: false,
        checked: false,
    };
    (found, problems)
}

/// Where a new file would be a test or a conftest.
fn listings(project: &PytestProject) -> Vec<Listing> {
    let config = &project.config;
    let mut listings = vec![Listing { dir: config.dir.clone(), glob: "**/conftest.py".to_owned() }];
    for start in &project.rules.starts {
        if start.ends_with(".py") {
            continue;
        }
        for pattern in config.python_files.iter().chain(&config.doctest_globs) {
            listings.push(Listing {
                dir: start.clone(),
                glob: format!("**/{}", pattern.trim_start_matches('/')),
            });
        }
    }
    listings.sort();
    listings.dedup();
    listings
}

fn unsettled(view: &View<'_>, dir: &str, project: &PytestProject, plugins: &[String]) -> Vec<Widening> {
    let mut found = Vec::new();
    if let Some((file, reason)) = &project.config.broken {
        found.push(Widening {
            reason: "config-unreadable".to_owned(),
            path: file.clone(),
            detail: format!(
                "pytest's configuration cannot be read ({reason}); correct it to narrow the plan"
            ),
        });
    }
    let conftests =
        path::below(view.tree.files(), dir).iter().filter(|file| path::basename(file) == "conftest.py");
    for file in conftests.chain(plugins) {
        let Some(facts) = (view.facts)(file) else { continue };
        for hook in facts.declarations.iter().filter(|d| COLLECTION_HOOKS.contains(&d.name.as_str())) {
            found.push(Widening {
                reason: "collection-hook".to_owned(),
                path: file.clone(),
                detail: format!(
                    "`{}` decides at run time which files are tests; without it the tests can be listed from their names",
                    hook.name
                ),
            });
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests;
