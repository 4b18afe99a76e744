//! A receipt for everything at once: every test file of a project passed in one run.
//!
//! It is worth more than the receipts of all the files together, because it also says that
//! these were all there are, and nothing was left out. So it is written only when every test
//! ran in that very call, none was reused, and each left a receipt of its own; and it is
//! looked for only when everything is asked for. A run of some tests never makes or uses one
//! (requirement rows B11, B22, D8).
//!
//! Its inputs must all lie inside: a test whose class is not pure or pinned, a runner project
//! that is not understood, a file that is an input and not of the inventory, and an untracked
//! file that some closure, listing or absent candidate names, each deny it by name.

use std::collections::BTreeSet;

use globset::GlobBuilder;
use owed_engine::path;
use owed_engine::project::Project;
use owed_engine::receipt::{Dimension, Entry, Identity, Input, Marks, Members, Table};

use super::identify::Identified;
use super::look::input_of;
use super::store::Key;

/// Under which name it is kept.
pub const KEY: Key<'static> = Key { test: "", runner: "", project: "", name: None, types: false };

/// Why there is no receipt of a full run. Closed, and ordered by importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FullDenial {
    /// Not every test was asked for, or words for the runners may have left cases out.
    Selected,
    /// There is no test.
    Empty,
    /// Receipts were contradicted, and nobody has acknowledged that.
    Tripped,
    /// A runner project is not understood, so that there may be more tests.
    NotUnderstood,
    /// The class of a test allows no reuse.
    Class,
    /// An input of a test could not be looked at.
    NotLookedAt,
    /// An input is no file of the inventory.
    OutsideInventory,
    /// An input, or what could become one, is not tracked.
    Untracked,
    /// Which files are tracked could not be told.
    TrackedUnknown,
    /// A test was reused instead of run.
    Reused,
    /// A test left no receipt.
    NotPassed,
    /// It could not be written.
    Unwritten,
}

impl FullDenial {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Empty => "empty",
            Self::Tripped => "tripped",
            Self::NotUnderstood => "not-understood",
            Self::Class => "class",
            Self::NotLookedAt => "not-looked-at",
            Self::OutsideInventory => "outside-inventory",
            Self::Untracked => "untracked",
            Self::TrackedUnknown => "tracked-unknown",
            Self::Reused => "reused",
            Self::NotPassed => "not-passed",
            Self::Unwritten => "unwritten",
        }
    }
}

/// Which files git does not know, as far as that matters.
#[derive(Clone, Debug)]
pub enum Untracked {
    /// These, of all files that are not ignored; none outside of git, where every file is of
    /// the inventory.
    Known(Vec<String>),
    /// It could not be told.
    Unknown(String),
}

/// The identity of everything at once.
#[derive(Clone, Debug)]
pub struct Full {
    /// All entries.
    pub table: Table,
    /// All of their numbers.
    pub members: Members,
    /// Their hash.
    pub identity: Identity,
}

/// The identity of a full run, from the identities of all tests.
///
/// # Errors
/// Every reason why a full run here is worth no receipt, each once with a detail for a person,
/// sorted.
pub fn full(
    project: &Project<'_>,
    identified: &Identified,
    untracked: &Untracked,
) -> Result<Full, Vec<(FullDenial, String)>> {
    let mut denied: Vec<(FullDenial, String)> = Vec::new();
    let mut deny = |why: FullDenial, detail: String| {
        if !denied.iter().any(|(known, _)| *known == why) {
            denied.push((why, detail));
        }
    };
    if project.tests.is_empty() {
        deny(FullDenial::Empty, "there is no test".to_owned());
    }
    for suite in &project.suites {
        if let Some(widening) = suite.project.unsettled.first() {
            deny(FullDenial::NotUnderstood, format!("{}: {}", suite.runner_name, widening.detail));
        }
    }
    // A file that defines tests and that nobody runs.
    if let Some(problem) = project.problems.iter().find(|problem| problem.code == "test-not-listed") {
        deny(FullDenial::NotUnderstood, format!("{}: {}", problem.path, problem.code));
    }
    let mut numbers = Marks::new(identified.table.entries().len());
    for number in 0..project.tests.len() {
        let path = project.test_path(project.tests[number]);
        match identified.tests.get(&number) {
            None => deny(FullDenial::Class, format!("{path}: its class allows no reuse")),
            Some(Err(why)) => deny(FullDenial::NotLookedAt, format!("{path}: {why}")),
            Some(Ok((members, _))) => numbers.set(members.numbers().iter().copied()),
        }
    }
    let entries: Vec<&Entry> =
        numbers.numbers().iter().map(|&number| &identified.table.entries()[number as usize]).collect();
    for entry in entries.iter().filter(|entry| entry.dimension == Dimension::File) {
        let is_there = entry.seen.starts_with("file");
        let leads_out = entry.seen.split_once(" -> ").is_some_and(|(_, to)| to.starts_with('/'));
        if leads_out || (is_there && project.files.binary_search(&entry.name).is_err()) {
            deny(FullDenial::OutsideInventory, entry.name.clone());
        }
    }
    match untracked {
        Untracked::Unknown(why) => deny(FullDenial::TrackedUnknown, why.clone()),
        Untracked::Known(files) => {
            if let Some(first) = that_matters(project, &entries, files) {
                deny(FullDenial::Untracked, first.to_owned());
            }
        }
    }
    if !denied.is_empty() {
        denied.sort();
        return Err(denied);
    }
    let mut all: Vec<Entry> = entries.into_iter().cloned().collect();
    all.push(inventory(project));
    let table = Table::new(all);
    let count = u32::try_from(table.entries().len()).expect("there are fewer entries than that");
    let members = Members::new((0..count).collect());
    let identity = table.identity(members.numbers());
    Ok(Full { table, members, identity })
}

/// Which tests there are, of which projects: one more or less is another full run.
pub fn inventory(project: &Project<'_>) -> Entry {
    let mut hasher = blake3::Hasher::new_derive_key("owed full run 1");
    for &reference in &project.tests {
        let suite = project.suite(reference);
        let name = suite.project.name.as_deref().unwrap_or("\0");
        let types = suite.project.checked.then_some("types");
        let parts = [project.test_path(reference), suite.runner_name, &suite.project.root, name];
        for part in parts.into_iter().chain(types) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    Entry::new(
        Dimension::Listing,
        "every test of every runner project",
        hasher.finalize().to_hex().to_string(),
    )
}

/// The first of these files that some closure, listing or absent candidate names.
fn that_matters<'f>(project: &Project<'_>, entries: &[&Entry], files: &'f [String]) -> Option<&'f str> {
    let named: BTreeSet<&str> = entries
        .iter()
        .filter(|entry| entry.dimension == Dimension::File)
        .map(|entry| entry.name.as_str())
        .collect();
    let listings: Vec<_> = entries
        .iter()
        .filter_map(|entry| match input_of(entry) {
            Some(Input::Listing(listing) | Input::Below(listing)) => {
                let glob = GlobBuilder::new(&listing.glob).literal_separator(true).build().ok()?;
                Some((listing.dir, glob.compile_matcher()))
            }
            _ => None,
        })
        .collect();
    let matters = |file: &&'f str| {
        named.contains(file)
            || project.graph.waiting_for(file).next().is_some()
            || listings
                .iter()
                .any(|(dir, glob)| path::strip(file, dir).is_some_and(|rest| glob.is_match(rest)))
    };
    files.iter().map(String::as_str).find(matters)
}
