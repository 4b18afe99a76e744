//! What the tests of a run loaded: kept for later plans, and held against their closures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use owed_engine::outcome::{NoReceipt, Outcome};
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry, Input, inputs};
use owed_engine::selection::Opacity;
use owed_gates::runs::execute::Executed;
use owed_gates::runs::identify::Identified;
use owed_gates::runs::observed::{Loaded, Observations, undeclared};

use super::{Item, parts};
use crate::answer::run::Denied;
use crate::command::paid::beyond;

/// Denies receipts to tests that loaded what is not among their inputs, and notes what each
/// loaded. A test whose class says that its inputs are not bounded contradicts nothing.
pub(super) fn observe(
    project: &Project<'_>,
    items: &mut [Item],
    executed: &mut [Executed],
    before: &Identified,
    observations: &mut Observations,
) {
    let closures = closures(project, items, executed, before);
    for item in items.iter_mut().filter(|item| item.run) {
        let suite = project.tests[item.number].suite;
        for done in executed.iter_mut().filter(|done| done.suite == suite) {
            let Some(loaded) = done.loaded.get(&item.result.path) else { continue };
            let file = done.files.iter_mut().find(|file| file.path == item.result.path);
            let passed = file.as_ref().is_some_and(|file| file.outcome == Outcome::Passed);
            let beyond_closure: BTreeSet<String> = match closures.get(&item.number) {
                Some(entries) => undeclared(entries, &loaded.files).into_iter().collect(),
                None => BTreeSet::new(),
            };
            if let Some(first) = beyond_closure.first() {
                item.result.denied.push(Denied::new("closure-incomplete", beyond(first)));
                if let Some(file) = file {
                    file.no_receipt.push(NoReceipt::ClosureIncomplete);
                }
            }
            observations.note(&parts::key(project, item.number), loaded.clone(), beyond_closure, passed);
        }
    }
}

/// By number of the test: the files and listings among its inputs.
fn closures(
    project: &Project<'_>,
    items: &[Item],
    executed: &[Executed],
    before: &Identified,
) -> BTreeMap<usize, Vec<Entry>> {
    let mut closures = BTreeMap::new();
    let mut unnamed = Vec::new();
    let is_observed = |path: &str| executed.iter().any(|done| done.loaded.contains_key(path));
    for item in items.iter().filter(|item| item.run && is_observed(&item.result.path)) {
        match before.tests.get(&item.number) {
            Some(Ok((members, _))) => {
                let entries = before.table.of(members.numbers()).unwrap_or_default();
                closures.insert(item.number, entries.into_iter().cloned().collect());
            }
            _ if item.class.opacity < Opacity::Unknown => unnamed.push(item),
            _ => {}
        }
    }
    let numbers: Vec<usize> = unnamed.iter().map(|item| item.number).collect();
    let pins = unnamed.iter().map(|item| (item.number, item.class.pins.clone())).collect();
    let of = inputs(project, &numbers, &pins);
    for (at, number) in numbers.into_iter().enumerate() {
        let entry = |&input: &u32| match &of.all[input as usize] {
            Input::File(path) => Some(Entry::new(Dimension::File, path, "")),
            Input::Below(listing) => {
                let dir = if listing.dir.is_empty() { "." } else { &listing.dir };
                Some(Entry::new(Dimension::Listing, format!("{dir}: {} with contents", listing.glob), ""))
            }
            _ => None,
        };
        closures.insert(number, of.of[at].iter().filter_map(entry).collect());
    }
    closures
}

/// What one test of the run loaded.
pub(super) fn loaded<'e>(executed: &'e [Executed], suite: usize, path: &str) -> Option<&'e Loaded> {
    executed.iter().filter(|done| done.suite == suite).find_map(|done| done.loaded.get(path))
}

/// Keeps them; a project in which they cannot be written is told so, and goes on without.
pub(super) fn keep(
    (project, root): (&Project<'_>, &Path),
    mut observations: Observations,
    output: &crate::output::Output,
) {
    observations.keep_only((0..project.tests.len()).map(|number| parts::key(project, number)));
    if let Err(error) = observations.keep(root) {
        output.aside(&format!("what the tests loaded could not be kept: {error}"));
    }
}
