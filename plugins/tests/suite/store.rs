//! Where the cases lie. The only module of this binary that touches the disk and the
//! environment; it knows nothing of what a case says.

#![allow(clippy::disallowed_methods, reason = "the harness reads its own cases and switches")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders that hold cases of selection.
const FOLDERS: &[&str] =
    &["select", "javascript", "python", "runners", "manifests", "effects", "opacity", "bad"];

/// One case as found on disk.
pub(crate) struct Entry {
    /// Its path below `corpus/`; for a case with a `tree/`, the folder.
    pub(crate) name: String,
    /// The Markdown.
    pub(crate) text: String,
    /// The files beside it that Markdown cannot hold.
    pub(crate) tree: BTreeMap<String, Vec<u8>>,
    file: PathBuf,
}

/// An environment name of the harness.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The folders that hold cases of checks.
pub(crate) const CHECKS: &[&str] = &["check", "ratchet", "repeated"];

/// Every case of selection, sorted by path.
pub(crate) fn cases() -> Vec<Entry> {
    cases_in(FOLDERS)
}

/// Every case in `folders` below `corpus/`, sorted by path.
pub(crate) fn cases_in(folders: &[&str]) -> Vec<Entry> {
    let root = root();
    let mut entries = Vec::new();
    for folder in folders {
        walk(&root.join(folder), &root, &mut entries);
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// The files of snippets of a language, by name.
pub(crate) fn snippets(language: &str) -> Vec<(String, String)> {
    let dir = root().join("operations").join(language);
    let markdown = children(&dir).into_iter().filter(|path| path.extension().is_some_and(|e| e == "md"));
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_str().expect("paths of cases are UTF-8");
        (format!("operations/{language}/{name}"), fs::read_to_string(&path).unwrap())
    };
    markdown.map(read).collect()
}

/// Replaces the Markdown of a case.
pub(crate) fn rewrite(entry: &Entry, text: &str) {
    fs::write(&entry.file, text).unwrap();
}

/// The rows of `corpus/INDEX.md`: `| 12 | a.md, b.md | …`.
pub(crate) fn index() -> Vec<(u32, String)> {
    index_of("INDEX.md")
}

/// The rows of a table of reports and their cases.
pub(crate) fn index_of(file: &str) -> Vec<(u32, String)> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let number = cells.next()?.parse().ok()?;
        Some((number, cells.next()?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn walk(dir: &Path, root: &Path, entries: &mut Vec<Entry>) {
    let name = |path: &Path| {
        let relative = path.strip_prefix(root).unwrap();
        relative.to_str().expect("paths of cases are UTF-8").replace('\\', "/")
    };
    let case = dir.join("case.md");
    if case.is_file() {
        let mut tree = BTreeMap::new();
        collect(&dir.join("tree"), &dir.join("tree"), &mut tree);
        let text = fs::read_to_string(&case).unwrap();
        entries.push(Entry { name: name(dir), text, tree, file: case });
        return;
    }
    for path in children(dir) {
        if path.is_dir() {
            walk(&path, root, entries);
        } else if path.extension().is_some_and(|e| e == "md") {
            let text = fs::read_to_string(&path).unwrap();
            entries.push(Entry { name: name(&path), text, tree: BTreeMap::new(), file: path });
        }
    }
}

fn collect(dir: &Path, root: &Path, tree: &mut BTreeMap<String, Vec<u8>>) {
    for path in children(dir) {
        if path.is_dir() {
            collect(&path, root, tree);
        } else {
            let relative = path.strip_prefix(root).unwrap().to_str().expect("UTF-8").replace('\\', "/");
            tree.insert(relative, fs::read(&path).unwrap());
        }
    }
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
