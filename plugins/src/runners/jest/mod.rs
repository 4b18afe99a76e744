//! jest: where it is configured, its projects, their tests and what these share.
//!
//! A configuration that can be read without running it is; otherwise the project's own
//! jest resolves it in a child ([`child`]). What neither settles is said for each
//! project, and its tests are owed by any change.

mod child;
mod inputs;
mod locate;
mod matcher;
mod mocks;
mod options;
mod presets;
mod projects;
mod resolution;
#[cfg(test)]
mod tests;

use owed_engine::path;
use owed_engine::resolve::Target;
use owed_engine::runner::{
    Discovery, Invocation, Load, Reported, Reporting, Runner, RunnerProject, Shared, SharedRole, View,
};
use owed_engine::tree::Tree;
use rayon::prelude::*;

use super::claims::{self, Framework};
use super::config::Reader;
use super::config::value::{Entry, Object, Value};
use super::manifest::{self, Packages};
use super::outcome::unsettled;
use super::places;
use super::report;
use super::shared::PerTest;
use super::shell::VM_MODULES;
use options::Draft;
use projects::{Context, Source};

/// The jest runner.
#[derive(Clone, Copy, Debug)]
pub struct Jest;

impl Runner for Jest {
    fn name(&self) -> &'static str {
        "jest"
    }

    fn toolchain(&self) -> &'static [&'static str] {
        &["npm:jest", "npm:jest-*", "npm:@jest/*", "npm:babel-jest", "npm:ts-jest", "npm:expect"]
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let packages = Packages::read(view.tree);
        let located = locate::places(view.tree, &packages);
        let places = &located.places;
        let of: Vec<Vec<Source>> =
            places.par_iter().map(|place| projects::of(&context(view.tree, &packages, place))).collect();
        let listed =
            |number: usize| (0..places.len()).filter(|&other| lists(&of[number], &places[other])).collect();
        let read = |number: usize| {
            drafts(view, &packages, &places[number], &of[number])
                .into_iter()
                .map(|draft| finish(view, &packages, draft))
                .collect()
        };
        places::projects(view, &packages, ("jest", Framework::Jest), (places, located.problems), listed, read)
    }

    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let configs: Vec<&str> = project
            .shared
            .iter()
            .filter_map(|s| match (&s.target, s.role) {
                (Target::File(file), SharedRole::Config) if locate::is_config(path::basename(file)) => {
                    Some(file.as_str())
                }
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
        let react = project.shared.iter().any(|s| {
            s.role == SharedRole::Toolchain && s.target == Target::Package("npm:react-scripts".to_owned())
        });
        let modules = Target::Env("NODE_OPTIONS".to_owned());
        let modules = project.shared.iter().any(|s| s.role == SharedRole::Env && s.target == modules);
        let program: &[&str] =
            if react { &["npx", "react-scripts", "test", "--watchAll=false"] } else { &["npx", "jest"] };
        let mut argv: Vec<String> = Vec::new();
        if modules {
            argv.extend(["env".to_owned(), format!("NODE_OPTIONS={VM_MODULES}")]);
        }
        argv.extend(program.iter().map(|s| (*s).to_owned()));
        let mut here = configs.iter().filter(|c| outermost.is_none_or(|dir| path::dirname(c) == dir));
        if let Some(first) = here.next()
            && !react
            && !std::iter::once(first).chain(here).any(|c| locate::is_default(path::basename(c)))
        {
            argv.extend(["--config".to_owned(), path::relative(cwd, first)]);
        }
        if let Some(name) = &project.name {
            argv.extend(["--selectProjects".to_owned(), name.clone()]);
        }
        argv.push("--runTestsByPath".to_owned());
        argv.extend(tests.iter().map(|t| path::relative(cwd, t)));
        vec![Invocation { cwd: cwd.to_owned(), argv }]
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        Some(report::jest(invocation, run))
    }
}

/// Whether one of the `sources` of another place is this place.
fn lists(sources: &[Source], place: &locate::Place) -> bool {
    sources.iter().filter(|s| s.listed).any(|source| match &place.config {
        Some(config) => source.config.as_ref() == Some(config) && source.configs.len() > 1,
        None => source.dir == place.dir,
    })
}

fn context<'a>(tree: &'a dyn Tree, packages: &'a Packages, place: &'a locate::Place) -> Context<'a> {
    let major = manifest::major(tree, packages, &place.dir, "jest");
    let mut reader = Reader::new(tree, packages, &place.dir);
    reader.environment("NODE_ENV", Value::String("test".to_owned()));
    let default = |key: &str, items: &[&str]| {
        let list = items.iter().map(|s| Value::String((*s).to_owned())).collect();
        Entry::Key(key.to_owned(), Value::Array(list))
    };
    let defaults = Value::Object(Object(vec![
        default("testPathIgnorePatterns", &["/node_modules/"]),
        default(
            "moduleFileExtensions",
            &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node"],
        ),
        default("moduleDirectories", &["node_modules"]),
    ]));
    reader.know("jest-config", "defaults", defaults);
    for (module, adds) in presets::wrappers() {
        reader.know_wrapper(module, adds);
    }
    for module in ["@nx/jest/preset", "@nrwl/jest/preset"] {
        for name in ["default", "nxPreset"] {
            reader.know(module, name, presets::preset(module).unwrap_or_default());
        }
    }
    // Nx lists every project that has a configuration.
    let all = Value::Array(vec![Value::String("<rootDir>/*/**/jest.config.*".to_owned())]);
    for (module, name) in [
        ("@nx/jest", "getJestProjects"),
        ("@nx/jest", "getJestProjectsAsync"),
        ("@nrwl/jest", "getJestProjects"),
    ] {
        reader.know_call(module, name, all.clone());
    }
    Context { tree, packages, reader, place, major }
}

/// The projects of one place, settled as far as possible.
fn drafts(view: &View<'_>, packages: &Packages, place: &locate::Place, sources: &[Source]) -> Vec<Draft> {
    let context = context(view.tree, packages, place);
    let mut drafts: Vec<Draft> = sources.iter().map(|s| options::draft(&context, s)).collect();
    if drafts.iter().all(|d| d.unknown.is_empty()) {
        return drafts;
    }
    let error = match child::load(view, place) {
        Ok(loaded) => {
            let loaded: Vec<Source> =
                loaded.into_iter().map(|one| projects::resolved(&context, sources, one)).collect();
            drafts = loaded.iter().map(|s| options::draft(&context, s)).collect();
            None
        }
        Err(error) => Some(error),
    };
    for draft in &mut drafts {
        draft.project.unsettled =
            unsettled("jest", draft.config.as_deref(), &draft.unknown, error.as_deref());
    }
    drafts
}

/// Lists the tests of a settled project, and the mocks it loads by itself.
fn finish(view: &View<'_>, packages: &Packages, draft: Draft) -> RunnerProject {
    let Draft { mut project, matcher, snapshots, root, config, .. } = draft;
    if matcher.anything() {
        project.unsettled.push(super::outcome::patterns_unknown("jest", config.as_deref()));
    }
    let mut per_test = PerTest::new(view, packages, &root);
    let mut mocks = Vec::new();
    for dir in &matcher.roots {
        for file in path::below(view.tree.files(), dir) {
            if file.contains("__mocks__/") {
                mocks.push(file);
            }
            if !view.asks_about(file) || !matcher.may_match(view, file) {
                continue;
            }
            if claims::belongs_elsewhere((view.facts)(file), Framework::Jest, packages, path::dirname(file)) {
                continue;
            }
            let mut test = per_test.test(file, snapshots);
            if !view.names_only() {
                inputs::docblock(view.tree, packages, &root, file, &mut test);
            }
            project.tests.push(test);
        }
    }
    for mock in mocks::of_packages(view.tree, packages, &mocks) {
        project.shared.push(Shared {
            target: Target::File(mock.to_owned()),
            role: SharedRole::Setup,
            load: Load::Project,
        });
    }
    // One that appears or vanishes counts for every test: an installed package that is not
    // read here may import what it mocks.
    for listing in &project.listings {
        if listing.glob.contains("__mocks__") {
            let target = Target::Listing(listing.clone());
            project.shared.push(Shared { target, role: SharedRole::Setup, load: Load::Content });
        }
    }
    project.shared.sort();
    project.shared.dedup();
    project.tests.sort_by(|a, b| a.path.cmp(&b.path));
    project
}
