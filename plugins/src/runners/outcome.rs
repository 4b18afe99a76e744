//! What the JavaScript runners say about projects: what is not known about one, what is
//! left out, what no project lists.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::path;
use owed_engine::problem::{Problem, Widening};
use owed_engine::resolve::Target;
use owed_engine::runner::{RunnerProject, SharedRole, View};

use super::claims::{self, Framework};
use super::config::value::Unknown;
use super::manifest::Packages;

/// Whether what runs the tests surely erases types without looking at them: no type
/// checker among the toolchain, and no transformer of the project's own.
pub(super) fn erases_types(project: &RunnerProject) -> bool {
    !project.shared.iter().any(|shared| match &shared.target {
        Target::Package(name) => {
            shared.role == SharedRole::Toolchain
                && matches!(name.as_str(), "npm:ts-jest" | "npm:ts-node" | "npm:ts-mocha" | "npm:typescript")
        }
        Target::File(_) => shared.role == SharedRole::Plugin,
        _ => false,
    })
}

/// The patterns of a project's tests are not known: there may be tests that no plan lists.
pub(super) fn patterns_unknown(runner: &str, config: Option<&str>) -> Widening {
    Widening {
        reason: "discovery-incomplete".to_owned(),
        path: config.unwrap_or_default().to_owned(),
        detail: format!(
            "the patterns of the test files of {runner} are computed, so there may be tests that are not known; \
             install the dependencies, or write the patterns as constants"
        ),
    }
}

/// Whether a directory of this name holds inputs of tests, not projects of their own.
pub(super) fn is_fixture(name: &str) -> bool {
    matches!(
        name,
        "fixtures" | "fixture" | "__fixtures__" | "testdata" | "test-data" | "__mocks__" | "templates"
    )
}

/// One problem for each directory of fixtures with configurations that were left out.
pub(super) fn fixtures(configs: &[String]) -> Vec<Problem> {
    let mut by_dir: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for config in configs {
        let mut dir = String::new();
        for segment in config.split('/') {
            if !dir.is_empty() {
                dir.push('/');
            }
            dir.push_str(segment);
            if is_fixture(segment) {
                break;
            }
        }
        by_dir.entry(dir).or_default().push(config);
    }
    by_dir
        .into_iter()
        .map(|(dir, configs)| Problem {
            code: "config-not-used".to_owned(),
            path: configs[0].to_owned(),
            line: None,
            detail: format!(
                "{} below `{dir}` lie among fixtures of a project above them, so no project was made of \
                 them; a script that names one with `--config` would make it one",
                match configs.len() {
                    1 => "1 configuration".to_owned(),
                    n => format!("{n} configurations"),
                }
            ),
        })
        .collect()
}

/// Whether a project has tests, or could have some that are not known.
pub(super) fn says_something(project: &RunnerProject) -> bool {
    !project.tests.is_empty() || !project.unsettled.is_empty()
}

/// What is not known about a project, as reasons to run all of its tests. `error` is why
/// its runner could not be asked; `None` when it was, and that did not settle it.
pub(super) fn unsettled(
    runner: &str,
    config: Option<&str>,
    unknown: &[Unknown],
    error: Option<&str>,
) -> Vec<Widening> {
    let mut widenings: Vec<Widening> = unknown
        .iter()
        .map(|one| {
            let path = if one.path.is_empty() { config.unwrap_or_default() } else { &one.path };
            let place = if one.line > 0 { format!(" (line {})", one.line) } else { String::new() };
            let (reason, why) = match error {
                Some(error) => {
                    let error = error.lines().next().unwrap_or_default();
                    let remedy = "Install the dependencies, or write this part as a constant";
                    ("config-not-loaded", format!("; {runner} could not be asked: {error}. {remedy}"))
                }
                None => ("config-not-understood", String::new()),
            };
            Widening {
                reason: reason.to_owned(),
                path: path.to_owned(),
                detail: format!("{}{place} is not known{why}", one.reason),
            }
        })
        .collect();
    widenings.sort();
    widenings.dedup();
    widenings
}

/// Test files that import the module of `runner` and that none of its `projects` lists,
/// one problem for each package that holds some.
pub(super) fn unlisted(
    view: &View<'_>,
    packages: &Packages,
    runner: &str,
    framework: Framework,
    projects: &[RunnerProject],
) -> Vec<Problem> {
    if view.names_only() {
        return Vec::new();
    }
    let listed: BTreeSet<&str> = projects.iter().flat_map(|p| &p.tests).map(|t| t.path.as_str()).collect();
    let mut by_package: BTreeMap<&str, Vec<(&str, u32)>> = BTreeMap::new();
    for file in view.tree.files() {
        let Some(facts) = (view.facts)(file).filter(|f| !f.tests.is_empty()) else { continue };
        let imported = claims::frameworks(facts).into_iter().find(|(f, _)| *f == framework);
        if let Some((_, line)) = imported
            && !listed.contains(file.as_str())
        {
            let package = packages.nearest(path::dirname(file)).map_or("", |p| p.dir.as_str());
            by_package.entry(package).or_default().push((file, line));
        }
    }
    by_package
        .into_values()
        .map(|files| Problem {
            code: "test-not-listed".to_owned(),
            path: files[0].0.to_owned(),
            line: Some(files[0].1),
            detail: format!(
                "defines tests for {runner}, and no project of {runner} lists it{}: no plan has it. \
                 Include it in a configuration, or name that configuration in a script",
                match files.len() {
                    1 => String::new(),
                    2 => " (nor 1 other file of its package)".to_owned(),
                    n => format!(" (nor {} other files of its package)", n - 1),
                }
            ),
        })
        .collect()
}
