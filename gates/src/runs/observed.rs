//! What tests really loaded, as their runners say: by name, never by content.
//!
//! Reporters write a line a test file to `loaded.jsonl` beside their report (see
//! `plugins/src/runners/report/`). What a test loaded only ever adds: to the changes that owe
//! it, and to the reasons against a receipt. A file that was loaded and is in no closure shows
//! that the closure is not whole, and then no receipt may rest on it.
//!
//! What is kept, `.owed/observed`, is one sealed file for the whole project, written by whoever
//! is in the project's lane. One that is damaged is no observation at all, which is what there
//! was before it.
#![expect(clippy::disallowed_methods, reason = "this module keeps what tests loaded")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use globset::GlobBuilder;
use owed_engine::path;
use owed_engine::receipt::{Dimension, Entry, Input, Members, Table};
use serde::{Deserialize, Serialize};

use super::look::{input_of, is_absent};
use super::store::Key;
use crate::home;

/// The file that reporters write.
pub const REPORT: &str = "loaded.jsonl";

const SCHEMA: &str = "owed.observed/1";

/// More than this is no report of ours.
const MOST_BYTES: u64 = 512 << 20;

/// What one test file loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Project-relative paths, the test's own left out.
    pub files: BTreeSet<String>,
    /// Whether nothing can be missing from them.
    pub whole: bool,
}

#[derive(Deserialize)]
struct Line {
    file: String,
    #[serde(default)]
    loaded: Vec<String>,
    #[serde(default)]
    whole: bool,
}

/// What the reporters of one command wrote, by test; lines that are none are left out. `place`
/// turns a path of a report into a project-relative one.
pub fn read(dir: &Path, place: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, Loaded> {
    let mut found: BTreeMap<String, Loaded> = BTreeMap::new();
    let at = dir.join(REPORT);
    if !fs::metadata(&at).is_ok_and(|metadata| metadata.len() <= MOST_BYTES) {
        return found;
    }
    let text = fs::read(at).unwrap_or_default();
    let mut places: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut placed = |path: &str| -> Option<String> {
        if let Some(known) = places.get(path) {
            return known.clone();
        }
        let found = place(path).filter(|path| is_own(path));
        places.insert(path.to_owned(), found.clone());
        found
    };
    for line in text.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        let Some(test) = placed(&line.file) else { continue };
        let files: Vec<String> = line.loaded.iter().filter_map(|path| placed(path)).collect();
        let is_new = !found.contains_key(&test);
        let into = found.entry(test.clone()).or_default();
        into.files.extend(files.into_iter().filter(|file| *file != test));
        into.whole = line.whole && (is_new || into.whole);
    }
    found
}

/// Whether a path is the project's own: installed packages have identities of their own, and
/// what `owed` puts into a run is none of the project.
fn is_own(path: &str) -> bool {
    let foreign = ["node_modules", "site-packages", ".owed", ".git", "dist-packages"];
    !path.is_empty() && !path.split('/').any(|part| foreign.contains(&part))
}

/// What of `loaded` is in none of a test's entries: the closure lacks it.
pub fn undeclared<'e>(
    entries: impl IntoIterator<Item = &'e Entry>,
    loaded: &BTreeSet<String>,
) -> Vec<String> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut below = Vec::new();
    for entry in entries {
        match entry.dimension {
            Dimension::File => {
                named.insert(&entry.name);
                // What a link leads to is looked at through it.
                named.extend(entry.seen.split_once(" -> ").map(|(_, real)| real));
            }
            Dimension::Listing => {
                if let Some(Input::Below(listing)) = input_of(entry)
                    && let Ok(glob) = GlobBuilder::new(&listing.glob).literal_separator(true).build()
                {
                    below.push((listing.dir, glob.compile_matcher()));
                }
            }
            _ => {}
        }
    }
    let is_below = |file: &str| {
        below.iter().any(|(dir, glob)| path::strip(file, dir).is_some_and(|rest| glob.is_match(rest)))
    };
    loaded.iter().filter(|file| !named.contains(file.as_str()) && !is_below(file)).cloned().collect()
}

/// Those of `members` that are files which were loaded.
pub(super) fn members_of(table: &Table, members: &Members, loaded: &Loaded) -> Members {
    let is_loaded = |&&number: &&u32| {
        let entry = &table.entries()[number as usize];
        entry.dimension == Dimension::File && loaded.files.contains(&entry.name)
    };
    Members::new(members.numbers().iter().filter(is_loaded).copied().collect())
}

/// One test as it was last observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    test: String,
    runner: String,
    project: String,
    name: Option<String>,
    loaded: Members,
    whole: bool,
    undeclared: Members,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    paths: Vec<String>,
    tests: Vec<Test>,
    seal: String,
}

impl Stored {
    fn sealed(&self) -> String {
        let open = Self { seal: String::new(), ..self.clone() };
        let text = serde_json::to_string(&open).expect("observations are made of texts and numbers");
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

/// Test, runner, runner project and its name.
type Owned = (String, String, String, Option<String>);

fn owned(key: &Key<'_>) -> Owned {
    (key.test.to_owned(), key.runner.to_owned(), key.project.to_owned(), key.name.map(str::to_owned))
}

/// A test that loaded files which its closure lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The test file.
    pub test: String,
    /// The runner.
    pub runner: String,
    /// Directory of the runner project.
    pub project: String,
    /// What it loaded, and is not among its inputs.
    pub files: Vec<String>,
}

/// What every test loaded when it was last observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// Whether what was kept is not what was written.
    pub damaged: bool,
    tests: BTreeMap<Owned, (Loaded, BTreeSet<String>)>,
}

impl Observations {
    /// Those of the project at `root`; none when nothing was ever observed. When what is there
    /// is not what was written there are none either, and that is said.
    pub fn of(root: &Path) -> Self {
        match fs::read(root.join(".owed/observed")) {
            Ok(bytes) => Self::parse(&bytes).unwrap_or(Self { damaged: true, ..Self::default() }),
            Err(error) => Self { damaged: !is_absent(&error), ..Self::default() },
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let stored = serde_json::from_slice::<Stored>(bytes).ok()?;
        if stored.schema != SCHEMA || stored.seal != stored.sealed() {
            return None;
        }
        let set = |members: &Members| -> Option<BTreeSet<String>> {
            members.numbers().iter().map(|&number| stored.paths.get(number as usize).cloned()).collect()
        };
        let one = |test: &Test| {
            let key = (test.test.clone(), test.runner.clone(), test.project.clone(), test.name.clone());
            let loaded = Loaded { files: set(&test.loaded)?, whole: test.whole };
            Some((key, (loaded, set(&test.undeclared)?)))
        };
        Some(Self { tests: stored.tests.iter().map(one).collect::<Option<_>>()?, damaged: false })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// What a test loaded.
    pub fn loaded(&self, key: &Key<'_>) -> Option<&Loaded> {
        self.tests.get(&owned(key)).map(|(loaded, _)| loaded)
    }

    /// Notes what a test loaded just now, and what of it its closure lacks. When it did not
    /// pass it may have stopped half way, so that what was known stays known.
    pub fn note(&mut self, key: &Key<'_>, mut loaded: Loaded, undeclared: BTreeSet<String>, passed: bool) {
        let into = self.tests.entry(owned(key)).or_default();
        if !passed {
            loaded.files.extend(into.0.files.iter().cloned());
        }
        *into = (loaded, undeclared);
    }

    /// By loaded path, the tests that loaded it.
    pub fn by_path(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut paths: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for ((test, ..), (loaded, _)) in &self.tests {
            for file in &loaded.files {
                paths.entry(file.clone()).or_default().insert(test.clone());
            }
        }
        paths
    }

    /// Tests whose closures are known not to be whole, sorted.
    pub fn findings(&self) -> Vec<Finding> {
        let with_some = self.tests.iter().filter(|(_, (_, undeclared))| !undeclared.is_empty());
        with_some
            .map(|((test, runner, project, _), (_, undeclared))| Finding {
                test: test.clone(),
                runner: runner.clone(),
                project: project.clone(),
                files: undeclared.iter().cloned().collect(),
            })
            .collect()
    }

    /// Forgets tests that there are no more.
    pub fn keep_only<'k>(&mut self, keys: impl Iterator<Item = Key<'k>>) {
        let there: BTreeSet<Owned> = keys.map(|key| owned(&key)).collect();
        self.tests.retain(|key, _| there.contains(key));
    }

    /// Writes them, in place of those that were there.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn keep(&self, root: &Path) -> io::Result<()> {
        let all = self.tests.values().flat_map(|(loaded, undeclared)| loaded.files.iter().chain(undeclared));
        let paths: Vec<String> = all.cloned().collect::<BTreeSet<String>>().into_iter().collect();
        let number = |path: &String| {
            let at = paths.binary_search(path).expect("it was put in above");
            u32::try_from(at).expect("there are fewer than four thousand million files")
        };
        let set = |files: &BTreeSet<String>| Members::new(files.iter().map(number).collect());
        let tests = self
            .tests
            .iter()
            .map(|((test, runner, project, name), (loaded, undeclared))| Test {
                test: test.clone(),
                runner: runner.clone(),
                project: project.clone(),
                name: name.clone(),
                loaded: set(&loaded.files),
                whole: loaded.whole,
                undeclared: set(undeclared),
            })
            .collect();
        let mut stored =
            Stored { schema: SCHEMA.to_owned(), paths: paths.clone(), tests, seal: String::new() };
        stored.seal = stored.sealed();
        let home = home::own(root, "")?;
        let new = home.join(format!(".observed-{}", std::process::id()));
        let mut file = fs::File::create(&new)?;
        serde_json::to_writer(&mut file, &stored).map_err(io::Error::other)?;
        file.flush()?;
        file.sync_all()?;
        fs::rename(new, home.join("observed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_is_in_no_entry_is_undeclared() {
        let entries = [
            Entry::new(Dimension::File, "src/a.js", "file x"),
            Entry::new(Dimension::File, "link.js", "file x -> real.js"),
            Entry::new(Dimension::Listing, "pages: ** with contents", "x"),
            Entry::new(Dimension::Listing, "names: *", "x"),
            Entry::new(Dimension::Environment, "src/b.js", "x"),
        ];
        let loaded = set(&["src/a.js", "real.js", "pages/one.js", "names/one.js", "src/b.js"]);
        assert_eq!(undeclared(&entries, &loaded), ["names/one.js", "src/b.js"]);
    }

    #[test]
    fn observations_are_kept_and_only_add_when_a_test_fails() {
        let dir = tempfile::tempdir().unwrap();
        let key = Key { test: "a.test.js", runner: "node:test", project: "", name: None };
        let mut all = Observations::default();
        let of = |names: &[&str]| Loaded { files: set(names), whole: true };
        all.note(&key, of(&["a.js", "b.js"]), set(&[]), true);
        all.note(&key, of(&["c.js"]), set(&["c.js"]), false);
        all.keep(dir.path()).unwrap();
        let again = Observations::of(dir.path());
        assert_eq!(again, all);
        assert_eq!(again.by_path().keys().collect::<Vec<_>>(), ["a.js", "b.js", "c.js"]);
        assert_eq!(again.findings()[0].files, ["c.js"]);
        all.note(&key, of(&["d.js"]), set(&[]), true);
        assert_eq!(all.by_path().keys().collect::<Vec<_>>(), ["d.js"]);

        let at = dir.path().join(".owed/observed");
        let text = fs::read_to_string(&at).unwrap();
        for (from, to) in [("c.js", "x.js"), ("observed/1", "observed/2"), ("}", ""), ("\"0-2\"", "\"0-9\"")]
        {
            assert!(text.contains(from), "{from} in {text}");
            fs::write(&at, text.replace(from, to)).unwrap();
            let read = Observations::of(dir.path());
            assert!(read.is_empty() && read.damaged, "{from} -> {to}");
        }
    }

    #[test]
    fn only_files_of_the_project_count() {
        let dir = tempfile::tempdir().unwrap();
        let lines = "{\"file\":\"/p/a.test.js\",\"loaded\":[\"/p/a.js\",\"/p/node_modules/x/i.js\",\"/q/z.js\",\"/p/a.test.js\",\"/p/.owed/runs/1/r.mjs\"],\"whole\":true}\n{\"file\":\"/p/a.test.js\",\"loaded\":[\"/p/b.js\"]}\nnonsense\n{\"file\":\"/q/b.test.js\",\"loaded\":[\"/p/a.js\"]}\n";
        fs::write(dir.path().join(REPORT), lines).unwrap();
        let found = read(dir.path(), &|path| path.strip_prefix("/p/").map(str::to_owned));
        let want = Loaded { files: set(&["a.js", "b.js"]), whole: false };
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a.test.js".to_owned(), want)]);
    }
}
