//! The identity of each test, from its inputs as they are now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use owed_engine::opacity::PinName;
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry, Identity, Input, Members, Table, inputs};

use super::environment::Environment;
use super::look::{Look, Stamps};
use super::packages::Packages;
use super::startup::{Startup, is_python};
use super::store;
use super::toolchain::Toolchain;

/// What all runs of one call have in common.
#[derive(Debug)]
pub struct Context<'a> {
    /// The project's root, absolute and without links.
    pub root: &'a Path,
    /// What the children see.
    pub environment: &'a Environment,
    /// A person's words for the runners.
    pub arguments: &'a [String],
    /// Entries that hold for every test: the version of `owed` and its readers, the owner's
    /// policy, what was asked on the command line.
    pub common: Vec<Entry>,
}

/// A test that may be reused if its inputs are equal.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its number in [`Project::tests`].
    pub number: usize,
    /// The inputs with names that its class rests on.
    pub pins: Vec<PinName>,
}

/// The identities of some tests.
#[derive(Debug, Default)]
pub struct Identified {
    /// All entries of all of them.
    pub table: Table,
    /// By number of the test: its entries and identity, or what could not be looked at.
    pub tests: BTreeMap<usize, Result<(Members, Identity), String>>,
    /// When the files were last written, as the file system says.
    pub stamps: BTreeMap<usize, Stamps>,
}

impl Identified {
    /// The identity of a test.
    pub fn identity(&self, number: usize) -> Option<Identity> {
        self.tests.get(&number)?.as_ref().ok().map(|(_, identity)| *identity)
    }
}

/// Looks at the inputs of the tests asked about.
pub fn identify(project: &Project<'_>, asked: &[Asked], context: &Context<'_>) -> Identified {
    let toolchain = Toolchain::new(context.root, context.environment);
    let runs_python = |test: &Asked| is_python(project.suite(project.tests[test.number]).runner_name);
    let python = asked.iter().any(runs_python).then(|| toolchain.python().ok()).flatten();
    let sites = python.map(|python| toolchain.sites(&python, context.root));
    let known = sites.as_ref().and_then(|sites| sites.as_deref().ok());
    let look = Look::new(context.root, &project.files, context.environment, known);
    let numbers: Vec<usize> = asked.iter().map(|test| test.number).collect();
    let pins = asked.iter().map(|test| (test.number, test.pins.clone())).collect();
    let inputs = inputs(project, &numbers, &pins);
    let seen = look.at(&inputs.all);
    let mut common = context.common.clone();
    common.push(Entry::new(
        Dimension::Platform,
        "system",
        format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    ));
    common.extend(context.environment.entries());
    let mut found: Vec<(usize, Result<Vec<Entry>, String>)> = Vec::with_capacity(asked.len());
    let mut programs: BTreeMap<usize, Result<Vec<Entry>, String>> = BTreeMap::new();
    for (at, test) in asked.iter().enumerate() {
        let reference = project.tests[test.number];
        let own = programs.entry(reference.suite).or_insert_with(|| {
            standing_of(project, reference.suite, &toolchain, context, (sites.as_ref(), look.packages()))
        });
        let own = own.clone().and_then(|programs| {
            let mut entries = common.clone();
            entries.extend(programs);
            entries.push(command(project, test.number));
            for &input in &inputs.of[at] {
                entries.extend(seen[input as usize].clone()?);
            }
            Ok(entries)
        });
        found.push((test.number, own));
    }
    let all: Vec<Entry> = found.iter().filter_map(|(_, own)| own.as_ref().ok()).flatten().cloned().collect();
    let table = Table::new(all);
    let tests = found
        .into_iter()
        .map(|(number, own)| {
            let own = own.map(|entries| {
                let members = store::members(&table, &entries);
                let identity = table.identity(members.numbers());
                (members, identity)
            });
            (number, own)
        })
        .collect();
    let stamps = asked
        .iter()
        .enumerate()
        .map(|(at, test)| {
            let files = inputs.of[at].iter().map(|&input| &inputs.all[input as usize]);
            (test.number, look.stamps(files.filter(|input| matches!(input, Input::File(_)))))
        })
        .collect();
    Identified { table, tests, stamps }
}

/// The command that would run this test alone: what a run of several has in common with it.
fn command(project: &Project<'_>, number: usize) -> Entry {
    let reference = project.tests[number];
    let suite = project.suite(reference);
    let runner = project.plugins.runners[suite.runner];
    let commands = runner.command(&suite.project, &[project.test_path(reference)]);
    let mut text = String::new();
    for command in commands {
        text.push_str(&serde_json::to_string(&command).expect("a command is made of texts"));
    }
    Entry::new(Dimension::Command, suite.runner_name, blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// What all tests of a suite have in common besides their inputs: its programs, and what
/// these load by themselves.
fn standing_of(
    project: &Project<'_>,
    suite: usize,
    toolchain: &Toolchain<'_>,
    context: &Context<'_>,
    (sites, packages): (Option<&Result<Vec<PathBuf>, String>>, &Packages<'_>),
) -> Result<Vec<Entry>, String> {
    let suite = &project.suites[suite];
    let Some(first) = suite.project.tests.first() else { return Ok(Vec::new()) };
    let runner = project.plugins.runners[suite.runner];
    let startup =
        Startup { root: context.root, environment: context.environment, arguments: context.arguments };
    startup.refused(suite.runner_name)?;
    let mut entries = Vec::new();
    for command in runner.command(&suite.project, &[&first.path]) {
        let (program, _) = toolchain
            .program(&command.cwd, &command.argv)
            .map_err(|missing| format!("{}; {}", missing.what, missing.remedy))?;
        let cwd = context.root.join(&command.cwd);
        entries.extend(toolchain.entries(&program, &cwd)?);
        let roots = &suite.project.resolve.source_roots;
        entries.extend(startup.module_path(suite.runner_name, &command.cwd, roots)?);
        if let (true, Some(sites)) = (is_python(suite.runner_name), sites) {
            for dir in sites.as_ref().map_err(Clone::clone)? {
                entries.extend(startup.site(dir, packages)?);
            }
        }
    }
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}
