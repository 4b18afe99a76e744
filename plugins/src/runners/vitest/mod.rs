//! vitest: where it is configured, its projects, their tests and what these share.
//!
//! A configuration that can be read without running it is; otherwise the project's own
//! vitest resolves it in a child ([`child`]). What neither settles is said for each
//! project, and its tests are owed by any change.

mod child;
mod inputs;
mod isolation;
mod locate;
mod matcher;
mod options;
mod plugins;
mod projects;
mod resolution;
#[cfg(test)]
mod tests;
mod types;

use std::sync::{Mutex, PoisonError};

use owed_engine::path;
use owed_engine::resolve::Target;
use owed_engine::runner::{
    Discovery, Invocation, Reported, Reporting, Runner, RunnerProject, SharedRole, TestFile, View,
};
use owed_engine::tree::Tree;

use super::claims::{self, Framework};
use super::config::Reader;
use super::config::value::{Entry, Object, Unknown, Value};
use super::manifest::{self, Packages};
use super::outcome::unsettled;
use super::places;
use super::report;
use super::shared::PerTest;
use options::{Context, Draft};
use projects::Source;

/// The vitest runner.
#[derive(Clone, Copy, Debug)]
pub struct Vitest;

impl Runner for Vitest {
    fn name(&self) -> &'static str {
        "vitest"
    }

    fn toolchain(&self) -> &'static [&'static str] {
        &["npm:vitest", "npm:@vitest/*", "npm:vite", "npm:vite-node", "npm:@types/*"]
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let packages = Packages::read(view.tree);
        let located = locate::places(view.tree, &packages);
        let places = &located.places;
        // What a place says is asked twice: whom it lists, and then what its projects are.
        let tree = view.tree;
        let started: Vec<Mutex<Option<Started<'_>>>> = places.iter().map(|_| Mutex::default()).collect();
        let listed = |number: usize| {
            let new = start(tree, &packages, &places[number]);
            let numbers = (0..places.len()).filter(|&other| lists(&new.sources, &places[other])).collect();
            *started[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
            numbers
        };
        let read = |number: usize| {
            let known = started[number].lock().unwrap_or_else(PoisonError::into_inner).take();
            let known = known.unwrap_or_else(|| start(tree, &packages, &places[number]));
            drafts(view, known).into_iter().flat_map(|draft| finish(view, &packages, draft)).collect()
        };
        places::projects(
            view,
            &packages,
            ("vitest", Framework::Vitest),
            (places, located.problems),
            listed,
            read,
        )
    }

    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let configs: Vec<&str> = project
            .shared
            .iter()
            .filter(|s| s.role == SharedRole::Config)
            .filter_map(|s| match &s.target {
                Target::File(file) if locate::is_config(path::basename(file)) => Some(file.as_str()),
                _ => None,
            })
            .collect();
        // One of several projects is run from where they are listed.
        let outermost = configs
            .iter()
            .map(|c| path::dirname(c))
            .filter(|dir| project.name.is_some() && path::is_within(&project.root, dir))
            .min_by_key(|dir| dir.len());
        let cwd = outermost.unwrap_or(&project.root);
        let mut argv: Vec<String> = ["npx", "vitest", "run"].map(str::to_owned).to_vec();
        let mut here = configs.iter().filter(|c| outermost.is_none_or(|dir| path::dirname(c) == dir));
        if let Some(first) = here.next()
            && !std::iter::once(first).chain(here).any(|c| locate::is_default(path::basename(c)))
        {
            argv.extend(["--config".to_owned(), path::relative(cwd, first)]);
        }
        if let Some(name) = &project.name {
            argv.extend(["--project".to_owned(), name.clone()]);
        }
        // Checked types may be asked for on the command line only; it does no harm twice.
        if project.checked {
            argv.push("--typecheck".to_owned());
        }
        argv.extend(tests.iter().map(|t| path::relative(cwd, t)));
        vec![Invocation { cwd: cwd.to_owned(), argv }]
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        Some(report::vitest(invocation, run))
    }
}

/// Whether one of the `sources` of another place is this place.
fn lists(sources: &[Source], place: &locate::Place) -> bool {
    let own = place.config.as_deref().filter(|c| !locate::is_default(path::basename(c)));
    sources.iter().filter(|s| s.listed).any(|source| match own {
        Some(config) => source.config.as_deref() == Some(config),
        None => source.dir == place.dir && place.workspace.is_none(),
    })
}

fn context<'a>(tree: &'a dyn Tree, packages: &'a Packages, place: &'a locate::Place) -> Context<'a> {
    let major = manifest::major(tree, packages, &place.dir, "vitest");
    Context { tree, packages, reader: reader(tree, packages, &place.dir, major), place, major }
}

/// A place whose projects are known, with the reader that has read them.
struct Started<'a> {
    context: Context<'a>,
    sources: Vec<Source>,
    unknown: Vec<Unknown>,
}

fn start<'a>(tree: &'a dyn Tree, packages: &'a Packages, place: &'a locate::Place) -> Started<'a> {
    let context = context(tree, packages, place);
    let (sources, unknown) = projects::of(&context);
    Started { context, sources, unknown }
}

/// The projects of one place, settled as far as possible.
fn drafts(view: &View<'_>, started: Started<'_>) -> Vec<Draft> {
    let Started { context, sources, mut unknown } = started;
    let mut drafts: Vec<Draft> = sources.iter().map(|s| options::draft(&context, s, false)).collect();
    let is_known = |d: &Draft| d.unknown.is_empty() && d.matcher.checker.unknown.is_empty();
    if unknown.is_empty() && drafts.iter().all(is_known) {
        return drafts;
    }
    let error = match child::load(view, context.place) {
        Ok(loaded) => {
            let loaded: Vec<Source> =
                loaded.into_iter().map(|one| projects::resolved(&context, &sources, one)).collect();
            drafts = loaded.iter().map(|s| options::draft(&context, s, true)).collect();
            unknown.clear();
            None
        }
        Err(error) => Some(error),
    };
    for draft in &mut drafts {
        draft.unknown.extend(unknown.iter().cloned());
        draft.project.unsettled =
            unsettled("vitest", draft.config.as_deref(), &draft.unknown, error.as_deref());
        draft.matcher.checker.unsettled =
            unsettled("vitest", draft.config.as_deref(), &draft.matcher.checker.unknown, error.as_deref());
    }
    drafts
}

/// Lists the tests of a settled project: those it runs, and those whose types it checks,
/// which depend on other things.
fn finish(view: &View<'_>, packages: &Packages, draft: Draft) -> Vec<RunnerProject> {
    let Draft { mut project, matcher, snapshots, config, .. } = draft;
    if matcher.anything() {
        project.unsettled.push(super::outcome::patterns_unknown("vitest", config.as_deref()));
    }
    let root = project.root.clone();
    let mut per_test = PerTest::new(view, packages, &project.root);
    let mut checked: Vec<TestFile> = Vec::new();
    for file in path::below(view.tree.files(), &matcher.base).iter().filter(|file| view.asks_about(file)) {
        let claim = matcher.claims(view, file);
        if !(claim.runs || claim.checked) {
            continue;
        }
        let dir = path::dirname(file);
        if claims::belongs_elsewhere((view.facts)(file), Framework::Vitest, packages, dir) {
            continue;
        }
        if claim.checked {
            checked.push(TestFile { path: file.clone(), ..TestFile::default() });
        }
        if !claim.runs {
            continue;
        }
        let mut test = per_test.test(file, snapshots);
        test.also_source = matcher.is_in_source(file);
        if !view.names_only() {
            inputs::docblock(view.tree, packages, &root, file, &mut test);
        }
        project.tests.push(test);
    }
    let types = (!checked.is_empty())
        .then(|| types::project(view.tree, packages, &project, &matcher.checker, config.as_deref(), checked));
    std::iter::once(project).chain(types).collect()
}

/// A reader that knows what vitest gives a configuration.
fn reader<'a>(tree: &'a dyn Tree, packages: &'a Packages, cwd: &str, major: Option<u32>) -> Reader<'a> {
    let mut reader = Reader::new(tree, packages, cwd);
    let string = |s: &str| Value::String(s.to_owned());
    let list = |items: &[&str]| Value::Array(items.iter().map(|s| string(s)).collect());
    let object = |entries: Vec<(&str, Value)>| {
        Value::Object(Object(entries.into_iter().map(|(k, v)| Entry::Key(k.to_owned(), v)).collect()))
    };
    let defaults = object(vec![
        ("include", list(matcher::INCLUDE)),
        ("exclude", list(matcher::exclude(major))),
        ("root", string(&reader.absolute(cwd))),
    ]);
    for (name, value) in [
        ("defaultInclude", list(matcher::INCLUDE)),
        ("defaultExclude", list(matcher::exclude(major))),
        ("configDefaults", defaults),
    ] {
        reader.know("vitest/config", name, value);
    }
    for (module, name, value) in plugins::helpers() {
        reader.know_call(module, name, value);
    }
    for name in ["VITEST", "TEST"] {
        reader.environment(name, string("true"));
    }
    reader.environment("NODE_ENV", string("test"));
    reader.call_with(object(vec![
        ("mode", string("test")),
        ("command", string("serve")),
        ("isSsrBuild", Value::Bool(false)),
        ("isPreview", Value::Bool(false)),
    ]));
    reader
}
