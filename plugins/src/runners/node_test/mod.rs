//! node's own test runner: scripts that start it, and files that say by an import that
//! they are written for it. Also says which test files no runner here runs.

mod starts;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::language::Language as _;
use owed_engine::path;
use owed_engine::problem::Problem;
use owed_engine::resolve::ResolveOptions;
use owed_engine::runner::{
    Discovery, Invocation, Reported, Reporting, Runner, RunnerProject, SharedRole, View,
};

use super::claims::{self, Framework};
use super::config::Reader;
use super::config::value::Unknown;
use super::manifest::Packages;
use super::outcome::{patterns_unknown, unsettled};
use super::report;
use super::shared::{Inputs, PerTest, package_of};
use super::{compiled, flags};
use crate::javascript::JavaScript;
use starts::Start;

/// The runner of `node --test`.
#[derive(Clone, Copy, Debug)]
pub struct NodeTest;

impl Runner for NodeTest {
    fn name(&self) -> &'static str {
        "node:test"
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let packages = Packages::read(view.tree);
        let mut discovery = Discovery::default();
        let mut claimed: BTreeSet<String> = BTreeSet::new();
        for mut start in starts::all(&packages) {
            let outputs = compiled::outputs(view.tree, &packages, &start.dir);
            let (globs, output) = start.globs(view.tree, &outputs);
            start.flags = flags::with_output(&start.flags, output.as_ref());
            let project = project(view, &packages, &start, |file| globs.is_match(file));
            claimed.extend(project.tests.iter().map(|t| t.path.clone()));
            discovery.projects.push(project);
        }
        let survey = survey(view, &packages, &claimed);
        for (dir, files) in &survey.unclaimed {
            let typed = files.iter().any(|f| f.ends_with("ts") || f.ends_with("tsx"));
            let start = Start::without_script(&packages, dir, typed);
            discovery.projects.push(project(view, &packages, &start, |file| files.contains(file)));
        }
        discovery.problems = survey.problems;
        discovery.projects.retain(super::outcome::says_something);
        discovery.projects.sort_by(|a, b| (&a.root, &a.name).cmp(&(&b.root, &b.name)));
        discovery
    }

    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let (words, output) = flags::without_output(flags::words(project.name.as_deref()));
        let mut argv = Vec::new();
        // Another program than node stands first.
        if words.first().is_none_or(|w| w.starts_with('-')) {
            argv.push("node".to_owned());
        } else {
            argv.push("npx".to_owned());
        }
        argv.extend(words);
        argv.push("--test".to_owned());
        argv.extend(tests.iter().map(|t| flags::run_as(&project.root, t, output.as_ref())));
        vec![Invocation { cwd: project.root.clone(), argv }]
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        Some(report::node(invocation, run))
    }
}

struct Survey {
    /// Files for node's runner that no script starts, by package directory.
    unclaimed: BTreeMap<String, BTreeSet<String>>,
    problems: Vec<Problem>,
}

/// Looks at what the test files of the inventory import.
fn survey(view: &View<'_>, packages: &Packages, claimed: &BTreeSet<String>) -> Survey {
    let mut survey = Survey { unclaimed: BTreeMap::new(), problems: Vec::new() };
    for file in view.tree.files() {
        if is_cypress(file) {
            survey.problems.push(not_supported(file, None, "Cypress"));
            continue;
        }
        // Only what is for node's runner by an import is a test for it.
        if view.names_only()
            && !(view.asks_about(file)
                && JavaScript.reads(file)
                && view.tree.text_with(file, &["node:test"]).is_some())
        {
            continue;
        }
        let Some(facts) = (view.facts)(file) else { continue };
        // The cases of a broken file may be what is broken.
        if facts.tests.is_empty() && facts.damage.is_empty() {
            continue;
        }
        let found = claims::frameworks(facts);
        match found.first() {
            Some((Framework::Node, _)) if found.len() == 1 && !claimed.contains(file) => {
                let dir = packages.nearest(path::dirname(file)).map_or("", |p| p.dir.as_str());
                survey.unclaimed.entry(dir.to_owned()).or_default().insert(file.clone());
            }
            Some((Framework::Other(name), line)) => {
                survey.problems.push(not_supported(file, Some(*line), name));
            }
            _ => {}
        }
    }
    survey
}

fn is_cypress(file: &str) -> bool {
    let name = path::basename(file);
    [".cy.ts", ".cy.js", ".cy.tsx", ".cy.jsx"].iter().any(|e| name.ends_with(e))
}

fn not_supported(file: &str, line: Option<u32>, name: &str) -> Problem {
    Problem {
        code: "runner-not-supported".to_owned(),
        path: file.to_owned(),
        line,
        detail: format!(
            "a test for {name}, which no runner here runs: no plan lists it for {name}; run such tests by themselves"
        ),
    }
}

fn project(
    view: &View<'_>,
    packages: &Packages,
    start: &Start,
    is_test: impl Fn(&str) -> bool,
) -> RunnerProject {
    let reader = Reader::new(view.tree, packages, &start.dir);
    let mut shared = Inputs::default();
    shared.manifests(view.tree, packages, &start.dir);
    let mut tsconfig_paths = false;
    for module in &start.modules {
        tsconfig_paths |= matches!(package_of(module), "tsconfig-paths" | "tsx");
        let role = if module.starts_with('.') { SharedRole::Setup } else { SharedRole::Toolchain };
        shared.module(&reader, &start.dir, module, role);
    }
    for module in &start.reporters {
        shared.module(&reader, &start.dir, module, SharedRole::Plugin);
    }
    for module in &start.setups {
        shared.module(&reader, &start.dir, module, SharedRole::GlobalSetup);
    }
    for file in start.env_files.iter().filter_map(|f| path::join(&start.dir, f)) {
        shared.content(&file, SharedRole::Env);
    }
    let mut per_test = PerTest::new(view, packages, &start.dir);
    let mut tests = Vec::new();
    let base = start.base();
    for file in path::below(view.tree.files(), &base).iter().filter(|file| view.asks_about(file)) {
        let unclear = start.unclear && claims::defines_tests((view.facts)(file));
        if !(is_test(file) || unclear)
            || claims::belongs_elsewhere((view.facts)(file), Framework::Node, packages, path::dirname(file))
        {
            continue;
        }
        let mut test = per_test.test(file, false);
        let mut own = Inputs::default();
        // `t.assert.snapshot` writes beside the test.
        own.content(&format!("{file}.snapshot"), SharedRole::Snapshot);
        test.shared.extend(own.finish());
        test.shared.sort();
        tests.push(test);
    }
    let unknown: Vec<Unknown> = start
        .unclear
        .then(|| Unknown {
            reason: format!("what `{}` stands for in the script", start.patterns.join(" ")),
            path: path::join(&start.dir, "package.json").unwrap_or_default(),
            line: 0,
        })
        .into_iter()
        .collect();
    let mut unsettled = unsettled("node:test", None, &unknown, None);
    if start.unclear {
        let manifest = path::join(&start.dir, "package.json");
        unsettled.push(patterns_unknown("node:test", manifest.as_deref()));
    }
    let mut conditions = ["node", "node-addons", "module-sync"].map(str::to_owned).to_vec();
    conditions.splice(0..0, start.conditions.iter().cloned());
    RunnerProject {
        root: start.dir.clone(),
        name: flags::name(&start.flags),
        resolve: ResolveOptions {
            root: start.dir.clone(),
            conditions,
            main_fields: vec!["main".to_owned()],
            tsconfig_paths,
            ..ResolveOptions::default()
        },
        tests,
        shared: shared.finish(),
        listings: Vec::new(),
        unsettled,
        effects: Vec::new(),
        isolated: false,
        checked: false,
    }
}
