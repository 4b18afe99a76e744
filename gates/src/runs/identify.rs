//! The identity of each test, from its inputs as they are now.

use std::collections::BTreeMap;
use std::path::Path;

use owed_engine::opacity::PinName;
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry, Identity, Input, Members, Table, inputs};

use super::environment::Environment;
use super::look::{Look, Stamps};
use super::store;
use super::toolchain::Toolchain;

/// What all runs of one call have in common.
#[derive(Debug)]
pub struct Context<'a> {
    /// The project's root, absolute and without links.
    pub root: &'a Path,
    /// What the children see.
    pub environment: &'a Environment,
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
    let python = toolchain.python().ok();
    let site_packages = python.as_deref().and_then(|python| toolchain.site_packages(python));
    let look = Look::new(context.root, &project.files, context.environment, site_packages.as_deref());
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
        let own = programs
            .entry(reference.suite)
            .or_insert_with(|| programs_of(project, reference.suite, &toolchain));
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

fn programs_of(project: &Project<'_>, suite: usize, toolchain: &Toolchain<'_>) -> Result<Vec<Entry>, String> {
    let suite = &project.suites[suite];
    let Some(first) = suite.project.tests.first() else { return Ok(Vec::new()) };
    let runner = project.plugins.runners[suite.runner];
    let mut entries = Vec::new();
    for command in runner.command(&suite.project, &[&first.path]) {
        let (program, _) = toolchain
            .program(&command.cwd, &command.argv)
            .map_err(|missing| format!("{}; {}", missing.what, missing.remedy))?;
        entries.extend(toolchain.entries(&program)?);
    }
    Ok(entries)
}
