//! The identity of each test, from its inputs as they are now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use owed_engine::opacity::PinName;
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry, Identity, Input, Marks, Members, Table, inputs};

use rayon::prelude::*;

use super::digests::Digests;
use super::environment::Environment;
use super::look::{Look, Seen, Stamp};
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
    /// Files that were read before.
    pub digests: &'a Digests,
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
    /// The files among the inputs of all of them, sorted, each with when it was last written.
    files: Vec<(String, Stamp)>,
    /// By number of the test: which of the files are its own.
    own: BTreeMap<usize, Vec<u32>>,
}

impl Identified {
    /// The identity of a test.
    pub fn identity(&self, number: usize) -> Option<Identity> {
        self.tests.get(&number)?.as_ref().ok().map(|(_, identity)| *identity)
    }

    /// The first file of test `number` that was written between this look and `after`.
    pub fn written(&self, number: usize, after: &Self) -> Option<&str> {
        let differs = |(path, stamp): &&(String, Stamp)| {
            let there = after.files.binary_search_by(|(other, _)| other.cmp(path));
            !there.is_ok_and(|at| after.files[at].1 == *stamp)
        };
        let own = self.own.get(&number)?.iter().map(|&at| &self.files[at as usize]);
        own.into_iter().find(|file| differs(file)).map(|(path, _)| path.as_str())
    }
}

/// Looks at the inputs of the tests asked about.
pub fn identify(project: &Project<'_>, asked: &[Asked], context: &Context<'_>) -> Identified {
    let toolchain = Toolchain::new(context.root, context.environment);
    let runs_python = |test: &Asked| is_python(project.suite(project.tests[test.number]).runner_name);
    let python = asked.iter().any(runs_python).then(|| toolchain.python().ok()).flatten();
    let sites = python.map(|python| toolchain.sites(&python, context.root));
    let known = sites.as_ref().and_then(|sites| sites.as_deref().ok());
    let look = Look::new(context.root, &project.files, context.environment, (known, context.digests));
    let numbers: Vec<usize> = asked.iter().map(|test| test.number).collect();
    let pins = asked.iter().map(|test| (test.number, test.pins.clone())).collect();
    let inputs = inputs(project, &numbers, &pins);
    let looked = look.at(&inputs.all);
    let seen: Vec<&Result<Vec<Entry>, String>> = looked.iter().map(|seen| &seen.entries).collect();
    let mut common = context.common.clone();
    common.push(Entry::new(
        Dimension::Platform,
        "system",
        format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    ));
    common.extend(context.environment.entries());
    let mut standing: BTreeMap<usize, Result<Vec<Entry>, String>> = BTreeMap::new();
    for test in asked {
        let suite = project.tests[test.number].suite;
        standing.entry(suite).or_insert_with(|| {
            standing_of(project, suite, &toolchain, context, (sites.as_ref(), look.packages()))
        });
    }
    let commands: Vec<Entry> = asked.iter().map(|test| command(project, test.number)).collect();
    // Each entry stands once in the table, whichever tests have it.
    let parts = seen.iter().copied().chain(standing.values()).filter_map(|part| part.as_ref().ok()).flatten();
    let table = Table::new(common.iter().chain(&commands).chain(parts).cloned().collect());
    let numbers_of = |entries: &[Entry]| store::members(&table, entries).numbers().to_vec();
    let common = numbers_of(&common);
    let seen: Vec<Result<Vec<u32>, String>> =
        seen.iter().map(|part| Ok(numbers_of(part.as_ref().map_err(Clone::clone)?))).collect();
    let standing: BTreeMap<usize, Result<Vec<u32>, String>> = standing
        .iter()
        .map(|(suite, part)| (*suite, part.as_ref().map(|entries| numbers_of(entries)).map_err(Clone::clone)))
        .collect();
    let one = |at: usize| -> Result<(Members, Identity), String> {
        let test = &asked[at];
        let mut own = Marks::new(table.entries().len());
        own.set(common.iter().copied());
        let standing = standing[&project.tests[test.number].suite].as_ref().map_err(Clone::clone)?;
        own.set(standing.iter().copied());
        own.set(table.number(&commands[at]));
        for &input in &inputs.of[at] {
            own.set(seen[input as usize].as_ref().map_err(Clone::clone)?.iter().copied());
        }
        let members = Members::from(&own);
        let identity = table.identity(members.numbers());
        Ok((members, identity))
    };
    let found: Vec<Result<(Members, Identity), String>> = (0..asked.len()).into_par_iter().map(one).collect();
    let tests = asked.iter().map(|test| test.number).zip(found).collect();
    let files = stamped(&inputs.all, &looked);
    let mine = |of: Vec<u32>| of.into_iter().filter(|&at| (at as usize) < files.len()).collect();
    let own = asked.iter().map(|test| test.number).zip(inputs.of.into_iter().map(mine)).collect();
    Identified { table, tests, files, own }
}

/// The files among the inputs, which come before all others.
fn stamped(inputs: &[Input], looked: &[Seen]) -> Vec<(String, Stamp)> {
    let file = |(input, seen): (&Input, &Seen)| match input {
        Input::File(path) => Some((path.clone(), seen.stamp)),
        _ => None,
    };
    inputs.iter().zip(looked).map_while(file).collect()
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
    let startup = Startup {
        root: context.root,
        environment: context.environment,
        arguments: context.arguments,
        digests: context.digests,
    };
    startup.refused(suite.runner_name)?;
    let mut entries = Vec::new();
    for command in runner.command(&suite.project, &[&first.path]) {
        let (program, _) = toolchain
            .program(&command.cwd, &command.argv)
            .map_err(|missing| format!("{}; {}", missing.what, missing.remedy))?;
        let cwd = context.root.join(&command.cwd);
        entries.extend(toolchain.entries(&program, &cwd, context.digests)?);
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
