//! What may be the input that nobody knew of, when a test failed with the inputs it had
//! passed with. These are traces, not proofs: the list is empty when nothing can be seen to
//! differ, and it may name what has nothing to do with it.
#![expect(clippy::disallowed_methods, reason = "this module looks for files that were written since")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use owed_engine::receipt::{Dimension, Entry, Receipt};

use super::trip::Missing;
use crate::runs::observed::{Loaded, undeclared};

/// More entries than this are not looked at.
const MOST_SEEN: usize = 50_000;

/// More than this are not named.
const MOST_NAMED: usize = 20;

/// Names of directories in which nothing is of the project itself.
const FOREIGN: &[&str] = &[".git", ".hg", ".owed", ".svn", ".venv", "__pycache__", "node_modules", "venv"];

/// The traces, sorted. `entries` are the inputs of the test, which both runs had; `file` is
/// where its receipt lies, and `loaded` what it loaded now.
pub fn missing(
    root: &Path,
    (receipt, file): (&Receipt, &Path),
    entries: &[&Entry],
    loaded: Option<&Loaded>,
) -> Vec<Missing> {
    let mut found = Vec::new();
    let mut say = |kind: &str, names: Vec<String>| {
        found.extend(names.into_iter().map(|name| Missing { kind: kind.to_owned(), name }));
    };
    if let Some(loaded) = loaded {
        say("undeclared", undeclared(entries.iter().copied(), &loaded.files));
        // The receipt names entries by their numbers among all of its own.
        let then: Option<BTreeSet<&str>> = receipt.observed.as_ref().and_then(|observed| {
            let at = |number: &u32| receipt.members.numbers().binary_search(number).ok();
            let name = |number: &u32| entries.get(at(number)?).map(|entry| entry.name.as_str());
            observed.numbers().iter().map(name).collect()
        });
        if let Some(then) = then {
            let files: BTreeSet<&str> = loaded.files.iter().map(String::as_str).collect();
            let known: BTreeSet<&str> =
                entries.iter().filter(|e| e.dimension == Dimension::File).map(|e| e.name.as_str()).collect();
            let of = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| -> Vec<String> {
                one.difference(other).filter(|f| known.contains(*f)).map(|f| (*f).to_owned()).collect()
            };
            say("loaded", of(&files, &then));
            if loaded.whole {
                say("not-loaded", of(&then, &files));
            }
        }
    }
    say("written-since", written_since(root, file, entries));
    found.sort();
    found.dedup();
    found
}

/// Files that were written after the receipt and are no inputs.
fn written_since(root: &Path, receipt: &Path, entries: &[&Entry]) -> Vec<String> {
    let Ok(then) = fs::metadata(receipt).map(|m| (m.mtime(), m.mtime_nsec())) else { return Vec::new() };
    let inputs: BTreeSet<&str> =
        entries.iter().filter(|e| e.dimension == Dimension::File).map(|e| e.name.as_str()).collect();
    let mut found = Vec::new();
    let mut seen = 0;
    let mut open = vec![String::new()];
    while let Some(dir) = open.pop() {
        let Ok(list) = fs::read_dir(root.join(&dir)) else { continue };
        for entry in list.flatten() {
            seen += 1;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if FOREIGN.contains(&name.as_str()) || seen > MOST_SEEN {
                continue;
            }
            let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                open.push(path);
            } else if (metadata.mtime(), metadata.mtime_nsec()) > then && !inputs.contains(path.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MOST_NAMED);
    found
}
