//! mocha: its configuration files and the scripts that start it, their tests and what
//! these share. Every start with other options is a project of its own.

mod options;
mod starts;
#[cfg(test)]
mod tests;

use owed_engine::path;
use owed_engine::resolve::ResolveOptions;
use owed_engine::runner::{
    Discovery, Invocation, Reported, Reporting, Runner, RunnerProject, SharedRole, View,
};

use super::claims::{self, Framework};
use super::config::Reader;
use super::config::value::Value;
use super::manifest::Packages;
use super::outcome::{patterns_unknown, unsettled};
use super::report;
use super::shared::{Inputs, PerTest, package_of};
use super::{child, compiled, flags};
use options::Options;
use starts::Start;

const PROGRAM: &str = include_str!("../scripts/mocha.mjs");

/// The mocha runner.
#[derive(Clone, Copy, Debug)]
pub struct Mocha;

impl Runner for Mocha {
    fn name(&self) -> &'static str {
        "mocha"
    }

    fn toolchain(&self) -> &'static [&'static str] {
        &["npm:mocha"]
    }

    fn discover(&self, view: &View<'_>) -> Discovery {
        let packages = Packages::read(view.tree);
        let mut discovery = Discovery::default();
        for start in starts::all(view.tree, &packages) {
            discovery.projects.push(project(view, &packages, &start));
        }
        discovery.projects.retain(super::outcome::says_something);
        discovery.projects.sort_by(|a, b| (&a.root, &a.name).cmp(&(&b.root, &b.name)));
        discovery
    }

    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation> {
        let mut argv = vec!["npx".to_owned()];
        let (words, output) = flags::without_output(flags::words(project.name.as_deref()));
        // A wrapper that starts mocha stands first.
        if words.first().is_none_or(|w| w.starts_with('-')) {
            argv.push("mocha".to_owned());
        }
        argv.extend(words);
        argv.extend(tests.iter().map(|t| flags::run_as(&project.root, t, output.as_ref())));
        vec![Invocation { cwd: project.root.clone(), argv }]
    }

    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        let words = invocation.argv.iter().position(|word| word == "mocha").map_or(1, |at| at + 1);
        Some(report::mocha(invocation, run, words))
    }
}

fn project(view: &View<'_>, packages: &Packages, start: &Start) -> RunnerProject {
    let reader = Reader::new(view.tree, packages, &start.dir);
    let mut value = match &start.config {
        Some(config) => {
            let value = reader.load(config);
            if path::basename(config) == "package.json" { value.get("mocha") } else { value }
        }
        None => Value::Undefined,
    };
    if path::basename(start.config.as_deref().unwrap_or_default()) == "mocha.opts" {
        value = Value::Undefined;
    }
    let mut options = Options::read(&reader, start, &value);
    let mut error = None;
    if !options.unknown.is_empty() {
        match load(view, start) {
            Ok(loaded) => options = Options::read(&reader, start, &loaded),
            Err(said) => error = Some(said),
        }
    }

    let outputs = compiled::outputs(view.tree, packages, &start.dir);
    let (matcher, output) = options.matcher(view.tree, &start.dir, &outputs);
    let mut shared = Inputs::default();
    if let Some(config) = start.config.as_ref().filter(|c| path::basename(c) != "package.json") {
        shared.config(config);
    }
    shared.manifests(view.tree, packages, &start.dir);
    shared.package("mocha", SharedRole::Toolchain);
    let mut tsconfig_paths = false;
    for module in &options.requires {
        tsconfig_paths |=
            matches!(package_of(module), "tsconfig-paths" | "tsx" | "esbuild-register" | "@swc-node");
        let role = if module.starts_with('.') { SharedRole::Setup } else { SharedRole::Toolchain };
        shared.module(&reader, &start.dir, module, role);
    }
    for file in &options.files {
        let compiled = path::join(&start.dir, file)
            .map(|f| compiled::sources(view.tree, &outputs, &f))
            .unwrap_or_default()
            .into_iter()
            .find_map(|(source, _)| reader.existing(source.strip_suffix(".[jt]s?(x)")?));
        match compiled {
            Some(source) => shared.file(&source, SharedRole::Setup),
            None => shared.module(&reader, &start.dir, &dotted(file), SharedRole::Setup),
        }
    }
    for module in options.plugins.iter().filter(|m| m.starts_with('.')) {
        shared.module(&reader, &start.dir, module, SharedRole::Plugin);
    }

    let mut per_test = PerTest::new(view, packages, &start.dir);
    let mut tests = Vec::new();
    for file in path::below(view.tree.files(), matcher.base()).iter().filter(|file| view.asks_about(file)) {
        let unclear = matcher.anything && claims::defines_tests((view.facts)(file));
        if !(matcher.is_match(file) || unclear) {
            continue;
        }
        if claims::belongs_elsewhere((view.facts)(file), Framework::Mocha, packages, path::dirname(file)) {
            continue;
        }
        tests.push(per_test.test(file, false));
    }
    let config = start.config.as_deref();
    let mut unsettled = unsettled("mocha", config, &options.unknown, error.as_deref());
    if matcher.anything {
        unsettled.push(patterns_unknown("mocha", config));
    }
    RunnerProject {
        root: start.dir.clone(),
        name: flags::name(&flags::with_output(&start.flags, output.as_ref())),
        resolve: ResolveOptions {
            root: start.dir.clone(),
            conditions: ["node", "node-addons"].map(str::to_owned).to_vec(),
            main_fields: vec!["main".to_owned()],
            module_paths: start.module_paths.clone(),
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

fn dotted(file: &str) -> String {
    if file.starts_with(['.', '/']) { file.to_owned() } else { format!("./{file}") }
}

/// The options as mocha itself reads them from its files.
fn load(view: &View<'_>, start: &Start) -> Result<Value, String> {
    child::installed(view.tree, &start.dir, "mocha")?;
    let request = serde_json::json!({
        "owed": "mocha",
        "config": start.config.as_ref().map(|c| path::relative(&start.dir, c)),
    });
    let answer = child::ask(view, PROGRAM, &start.dir, &request)?;
    answer.get("options").map(super::config::json::from_json).ok_or_else(|| "it gave no options".to_owned())
}
