//! Test runners, one module each, and what the JavaScript ones share: reading of
//! configuration ([`config`]), of manifests and scripts, of globs.

pub mod babel;
pub mod claims;
pub mod compiled;
pub mod config;
pub mod flags;
pub mod glob;
pub mod jest;
pub mod manifest;
pub mod mocha;
pub mod node_test;
pub mod pytest;
pub mod regex;
pub mod shared;
pub mod shell;
pub mod unittest;
pub mod vitest;

use std::collections::BTreeMap;

use owed_engine::problem::{Problem, Widening};

use config::value::Unknown;
use owed_engine::path;
use owed_engine::runner::{RunnerProject, View};
use owed_engine::tree::Tree;

/// Whether a directory of this name holds inputs of tests, not projects of their own.
fn is_fixture(name: &str) -> bool {
    matches!(
        name,
        "fixtures" | "fixture" | "__fixtures__" | "testdata" | "test-data" | "__mocks__" | "templates"
    )
}

/// One problem for each directory of fixtures with configurations that were left out.
fn fixtures(configs: &[String]) -> Vec<Problem> {
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
fn says_something(project: &RunnerProject) -> bool {
    !project.tests.is_empty() || !project.unsettled.is_empty()
}

/// The part of the sorted `files` that lies below the directory `dir`.
fn below<'a>(files: &'a [String], dir: &str) -> &'a [String] {
    if dir.is_empty() {
        return files;
    }
    let prefix = format!("{dir}/");
    let start = files.partition_point(|f| f.as_str() < prefix.as_str());
    let len = files[start..].partition_point(|f| f.starts_with(&prefix));
    &files[start..start + len]
}

/// What is not known about a project, as reasons to run all of its tests. `error` is why
/// its runner could not be asked; `None` when it was, and that did not settle it.
fn unsettled(runner: &str, config: Option<&str>, unknown: &[Unknown], error: Option<&str>) -> Vec<Widening> {
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

/// Whether the npm package `name` is installed for the directory `dir`.
fn installed(tree: &dyn Tree, dir: &str, name: &str) -> Result<(), String> {
    let there = manifest::chain(dir)
        .filter_map(|d| path::join(d, &format!("node_modules/{name}/package.json")))
        .any(|m| tree.is_file(&m));
    if there { Ok(()) } else { Err("it is not installed".to_owned()) }
}

/// Runs `program` in a bounded child in `cwd` and gives its answer: the last line that
/// starts as an answer does, because configurations print, too.
fn ask(
    view: &View<'_>,
    program: &str,
    cwd: &str,
    request: &serde_json::Value,
) -> Result<serde_json::Value, String> {
    let output = view.loader.load("node", program, cwd, &[&request.to_string()])?;
    let answer = output.lines().rev().find(|l| l.starts_with("{\"owed\":")).ok_or("it gave no answer")?;
    let answer: serde_json::Value = serde_json::from_str(answer).map_err(|e| e.to_string())?;
    match answer.get("error").and_then(serde_json::Value::as_str) {
        // No path of this machine leaves the program.
        Some(error) => Err(error.replace(&config::root_of(view.tree), ".")),
        None => Ok(answer),
    }
}
