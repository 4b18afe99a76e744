//! What `owed run` is put together from: classes, environment, standing entries.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::opacity::{PinName, opacity};
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry};
use owed_engine::selection::Opacity;
use owed_gates::runs::environment::Environment;
use owed_gates::runs::store::Key;
use owed_gates::supervise::Supervisor;

use crate::args::Run;
use crate::host;
use crate::session::Session;

/// The class of a test, with what it rests on.
#[derive(Clone, Debug)]
pub(in crate::command) struct Class {
    /// The worst of its reasons.
    pub(in crate::command) opacity: Opacity,
    /// The inputs with names.
    pub(in crate::command) pins: Vec<PinName>,
    /// The first reason, for a person; empty when there is none.
    pub(in crate::command) cause: String,
}

/// By number of the test: its class, for the tests at `paths`; for others it is not known.
pub(in crate::command) fn classes(project: &Project<'_>, paths: &[String]) -> Vec<Class> {
    // No path means all to the engine.
    let report = if paths.is_empty() { None } else { Some(opacity(project, paths)) };
    let mut by_key = BTreeMap::new();
    for test in report.into_iter().flat_map(|report| report.tests) {
        let cause = test.reasons.first().map_or_else(String::new, |first| {
            let place = &first.place;
            format!(
                "{}: {}:{} {} ({})",
                test.class.word(),
                place.path,
                place.line,
                place.operation,
                place.reason
            )
        });
        let class = Class { opacity: test.class, pins: test.pins, cause };
        by_key.insert((test.path, test.runner, test.project), class);
    }
    project
        .tests
        .iter()
        .map(|&test| {
            let suite = project.suite(test);
            let key = (project.test_path(test).to_owned(), suite.runner_name, suite.project.root.clone());
            by_key.get(&key).cloned().unwrap_or_else(|| Class {
                opacity: Opacity::Unknown,
                pins: Vec::new(),
                cause: "its class is not known".to_owned(),
            })
        })
        .collect()
}

/// The numbers of the tests that are called the same: one, unless two runner projects have all in
/// common that names them; then in the order in which they were discovered.
pub(in crate::command) fn places<'p>(project: &'p Project<'_>) -> BTreeMap<Key<'p>, Vec<usize>> {
    let mut places: BTreeMap<Key<'p>, Vec<usize>> = BTreeMap::new();
    for number in 0..project.tests.len() {
        places.entry(key(project, number)).or_default().push(number);
    }
    places
}

/// Which test of which runner project.
pub(in crate::command) fn key<'p>(project: &'p Project<'_>, number: usize) -> Key<'p> {
    let reference = project.tests[number];
    let suite = project.suite(reference);
    Key {
        test: project.test_path(reference),
        runner: suite.runner_name,
        project: &suite.project.root,
        name: suite.project.name.as_deref(),
        types: suite.project.checked,
    }
}

/// The environment names that some test is known to read.
pub(in crate::command) fn pinned<'c>(classes: impl Iterator<Item = &'c Class>) -> BTreeSet<String> {
    let name = |pin: &PinName| match pin {
        PinName::Env(name) | PinName::Named(name) => Some(name.clone()),
        _ => None,
    };
    classes.flat_map(|class| class.pins.iter().filter_map(name)).collect()
}

/// What children see. Python's hashes are the same in every run that leaves them open.
pub(in crate::command) fn environment(strict: Option<&BTreeSet<String>>) -> Environment {
    let environment = Environment::new(host::environment());
    let environment = match environment.get("PYTHONHASHSEED") {
        Some(_) => environment,
        None => environment.with("PYTHONHASHSEED", "0"),
    };
    environment.for_child(strict)
}

/// Entries that hold for every test: `owed` itself, its readers, the owner's policy, and what
/// was asked on the command line.
pub(in crate::command) fn standing(session: &Session, args: &Run) -> Vec<Entry> {
    let hash = |text: &str| owed_gates::runs::look::digest(text.as_bytes());
    let mut entries = vec![
        Entry::new(Dimension::Engine, "owed", env!("OWED_FINGERPRINT")),
        Entry::new(Dimension::Policy, "settings", hash(&format!("{:?}", session.config.settings))),
        Entry::new(Dimension::Command, "arguments", hash(&format!("{:?}", args.runner_arguments))),
        Entry::new(Dimension::Command, "timeout", format!("{:?}", args.timeout)),
        Entry::new(Dimension::Command, "workers", format!("{:?}", args.workers)),
        Entry::new(Dimension::Command, "strict environment", args.env_strict.to_string()),
    ];
    if args.coverage {
        entries.push(Entry::new(Dimension::Command, "coverage", "true"));
    }
    for language in owed_plugins::selecting() {
        entries.push(Entry::new(Dimension::Engine, language.name(), language.reader_version()));
    }
    entries
}

/// The supervisor: this program, once more.
pub(in crate::command) fn supervisor() -> anyhow::Result<Supervisor> {
    Ok(Supervisor { program: host::current_exe()?, arguments: vec![crate::SUPERVISE.into()] })
}
