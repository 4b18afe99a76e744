//! `owed doctor`: is everything here that `owed` needs, and what costs precision.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use owed_engine::change::{Change, ChangeKind};
use owed_engine::path;
use owed_engine::project::{Delta, Project, Reading, Suite};
use owed_engine::select::{SelectOptions, select};
use owed_engine::selection::{ReasonKind, Selection};

use crate::answer::doctor::{Cost, DoctorAnswer, Finding, RunnerFound, Tool};
use crate::answer::plan::directory;
use crate::answer::{self, all};
use crate::args::{Against, Format, Global};
use crate::config;
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render;
use crate::session::{Session, Trouble};
use crate::site::{Git, Site};

/// Answers.
pub(crate) fn run(global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let session = Session::open(global, &Against::default(), output)?;
    let tools = tools(&session.site);
    let project = session.read(Reading::Files);
    let selection = select(&project, &any_change(), &SelectOptions::default());
    let mut answer = DoctorAnswer {
        schema: "owed.doctor/1",
        repository: repository(&session.site),
        config: session.config.source.map(|file| config::section(file).to_owned()),
        projects: project.suites.iter().map(|suite| runner(&project, suite, &tools, &session.site)).collect(),
        files: selection.inventory.files,
        tests: selection.inventory.tests,
        costs: costs(&selection),
        not_checked: all(selection.not_checked),
        tools,
    };
    let mut problems = Vec::new();
    session.add_trouble(&Trouble::default(), &mut answer.not_checked, &mut problems);
    let findings = problems.into_iter().map(|problem| Finding {
        fine: false,
        detail: if problem.path.is_empty() {
            problem.detail
        } else {
            format!("{}: {}", problem.path, problem.detail)
        },
    });
    answer.repository.extend(findings);
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::doctor::doctor(&answer, output.view))?,
    }
    let missing = answer.tools.iter().any(|tool| tool.needed && tool.version.is_none());
    let broken = matches!(session.site.git, Git::Failed(_));
    Ok(if missing || broken { Exit::Unusable } else { Exit::Answered })
}

fn tools(site: &Site) -> Vec<Tool> {
    let version = |program: &str, argument: &str| {
        let text = host::run(program, [argument], &site.root).ok()?;
        let line = text.lines().next()?.trim();
        Some(
            line.trim_start_matches("git version ")
                .trim_start_matches("Python ")
                .trim_start_matches('v')
                .to_owned(),
        )
    };
    let in_repository = site.root.ancestors().any(|dir| host::exists(&dir.join(".git")));
    let tool =
        |name, argument, purpose, needed| Tool { name, version: version(name, argument), purpose, needed };
    vec![
        tool("git", "--version", "tells what changed", in_repository),
        tool("node", "--version", "runs vitest, jest, mocha and node:test; plans do not need it", false),
        tool("npm", "--version", "installs what those need; plans do not need it", false),
        tool("python3", "--version", "runs pytest and unittest; plans do not need it", false),
    ]
}

fn repository(site: &Site) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |fine, detail: String| findings.push(Finding { fine, detail });
    match &site.git {
        Git::None => say(
            false,
            "this is no git repository: name what changed (`owed plan PATH…`), or ask for all tests (`owed plan --all`)"
                .to_owned(),
        ),
        // The session says what went wrong.
        Git::Failed(_) => {}
        Git::Here(repository) => {
            match repository.commit_of("HEAD") {
                Ok(commit) => {
                    say(true, format!("git repository at commit {}", commit.get(..7).unwrap_or(&commit)))
                }
                Err(_) => say(false, "git repository without a commit: everything counts as new".to_owned()),
            }
            if repository.is_shallow() {
                let detail = "the clone is shallow, so an older --base may be missing; `git fetch --unshallow` \
                              completes it";
                say(false, detail.to_owned());
            }
            let sparse = host::run("git", ["config", "--get", "core.sparseCheckout"], &site.root);
            if sparse.is_ok_and(|value| value.trim() == "true") {
                let detail = "the checkout is sparse: files that are not checked out are not considered";
                say(false, detail.to_owned());
            }
        }
    }
    if !site.prefix.is_empty() {
        let detail = format!(
            "the project is {} of the repository; what lies outside of it, hoisted packages included, is not considered",
            site.prefix
        );
        say(true, detail);
    }
    findings
}

fn runner(project: &Project<'_>, suite: &Suite, tools: &[Tool], site: &Site) -> RunnerFound {
    let unsettled = suite.project.unsettled.iter().map(|why| {
        let place = if why.path.is_empty() { String::new() } else { format!("{}: ", why.path) };
        format!("{place}{} [{}]", why.detail, why.reason)
    });
    RunnerFound {
        runner: suite.runner_name,
        project: directory(suite.project.root.clone()),
        name: suite.project.name.clone(),
        tests: suite.project.tests.len(),
        settled: suite.project.unsettled.is_empty(),
        unsettled: unsettled.collect(),
        installed: installed(project, suite, tools, site),
    }
}

/// Whether the runner of a suite could be started; `None` when that was not looked for.
fn installed(project: &Project<'_>, suite: &Suite, tools: &[Tool], site: &Site) -> Option<bool> {
    let has = |name: &str| tools.iter().any(|tool| tool.name == name && tool.version.is_some());
    match suite.runner_name {
        "node:test" => Some(has("node")),
        "unittest" => Some(has("python3")),
        "pytest" => {
            let own = site.root.join(&suite.project.root).join(".venv/bin/python");
            let python = if host::is_file(&own) { own } else { Path::new("python3").to_owned() };
            let look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)";
            // Isolated: nothing of the project's own may run.
            python.to_str().map(|python| host::run(python, ["-I", "-c", look], &site.root).is_ok())
        }
        package => {
            let place = format!("{}/x", suite.project.root);
            let mut dirs = path::ancestors(place.trim_start_matches('/'));
            let found = dirs.any(|dir| {
                let modules = format!("{dir}/node_modules/{package}");
                project.tree.is_dir(modules.trim_start_matches('/'))
            });
            // Packages may be hoisted above a project that is part of a repository.
            if found || site.prefix.is_empty() { Some(found) } else { None }
        }
    }
}

/// A change of a file that nothing reads. Whatever it owes, every change owes.
fn any_change() -> Delta {
    let change = Change { path: ".owed/any-change".to_owned(), kind: ChangeKind::Modified };
    Delta { changes: vec![change], ..Delta::default() }
}

/// What makes tests owed by any change, by how many tests it concerns.
fn costs(selection: &Selection) -> Vec<Cost> {
    let mut tests_by_cause: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for widening in &selection.widened {
        let place = if widening.path.is_empty() { String::new() } else { format!("{}: ", widening.path) };
        let cause = format!("every plan widens, because {place}{}", widening.detail);
        tests_by_cause
            .entry(cause)
            .or_default()
            .extend(selection.tests.iter().map(|test| test.path.as_str()));
    }
    for test in &selection.tests {
        for reason in &test.reasons {
            let detail = reason.detail.as_deref().unwrap_or("for a reason that is not named");
            let cause = match reason.kind {
                ReasonKind::InputOpaque => {
                    format!("owed by any change ({}), because of {detail}", test.opacity.word())
                }
                ReasonKind::NotUnderstood if selection.widened.is_empty() => {
                    format!("owed by any change, because their project is not understood: {detail}")
                }
                _ => continue,
            };
            tests_by_cause.entry(cause).or_default().insert(&test.path);
        }
    }
    let mut costs: Vec<Cost> =
        tests_by_cause.into_iter().map(|(detail, tests)| Cost { tests: tests.len(), detail }).collect();
    costs.sort_by(|a, b| (Reverse(a.tests), &a.detail).cmp(&(Reverse(b.tests), &b.detail)));
    costs
}
