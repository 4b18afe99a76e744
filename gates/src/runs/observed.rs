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

use globset::{GlobBuilder, GlobMatcher};
use owed_engine::path;
use owed_engine::receipt::{Dimension, Entry, Input, Marks, Members, Table};
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

/// The files that an entry names, and those that are in it by its listing.
fn named_by(entry: &Entry) -> (Vec<&str>, Option<(String, GlobMatcher)>) {
    match entry.dimension {
        // What a link leads to is looked at through it.
        Dimension::File => {
            let real = entry.seen.split_once(" -> ").map(|(_, real)| real);
            (std::iter::once(entry.name.as_str()).chain(real).collect(), None)
        }
        Dimension::Listing => match input_of(entry) {
            Some(Input::Below(listing)) => {
                let glob = GlobBuilder::new(&listing.glob).literal_separator(true).build().ok();
                (Vec::new(), glob.map(|glob| (listing.dir, glob.compile_matcher())))
            }
            _ => (Vec::new(), None),
        },
        _ => (Vec::new(), None),
    }
}

/// What tests loaded, beside the entries of a table that name it.
#[derive(Debug)]
pub struct Held<'o> {
    observations: &'o Observations,
    /// By number of a path: the entries that it is in.
    covers: Vec<Vec<u32>>,
    entries: usize,
}

impl Held<'_> {
    /// The first file that a test loaded and none of `members` names.
    pub fn first_undeclared(&self, key: &Key<'_>, members: &Members) -> Option<&str> {
        let one = self.observations.tests.get(&owned(key))?;
        let mut marks = Marks::new(self.entries);
        marks.set(members.numbers().iter().copied());
        let is_named = |path: &u32| self.covers[*path as usize].iter().any(|&entry| marks.has(entry));
        let first = one.loaded.numbers().iter().find(|path| !is_named(path))?;
        Some(&self.observations.paths[*first as usize])
    }
}

/// What of `loaded` is in none of a test's entries: the closure lacks it.
pub fn undeclared<'e>(
    entries: impl IntoIterator<Item = &'e Entry>,
    loaded: &BTreeSet<String>,
) -> Vec<String> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut below = Vec::new();
    for entry in entries {
        let (names, listing) = named_by(entry);
        named.extend(names);
        below.extend(listing);
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    types: bool,
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

/// Test, runner, runner project, its name, and whether types are checked.
type Owned = (String, String, String, Option<String>, bool);

fn owned(key: &Key<'_>) -> Owned {
    let owned = str::to_owned;
    (owned(key.test), owned(key.runner), owned(key.project), key.name.map(owned), key.types)
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
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// Whether what was kept is not what was written.
    pub damaged: bool,
    /// The paths that the tests below name by number, sorted.
    paths: Vec<String>,
    tests: BTreeMap<Owned, Observed>,
    /// What was noted since; it stands before the others.
    noted: BTreeMap<Owned, (Loaded, BTreeSet<String>)>,
}

/// What one test loaded, and what of it its closure lacks, by numbers of paths.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Observed {
    loaded: Members,
    whole: bool,
    undeclared: Members,
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
        let is_known = |members: &Members| {
            members.numbers().last().is_none_or(|last| (*last as usize) < stored.paths.len())
        };
        if !stored.paths.is_sorted() {
            return None;
        }
        let mut tests = BTreeMap::new();
        for test in stored.tests {
            if !is_known(&test.loaded) || !is_known(&test.undeclared) {
                return None;
            }
            let observed = Observed { loaded: test.loaded, whole: test.whole, undeclared: test.undeclared };
            tests.insert((test.test, test.runner, test.project, test.name, test.types), observed);
        }
        Some(Self { damaged: false, paths: stored.paths, tests, noted: BTreeMap::new() })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.noted.is_empty()
    }

    fn set(&self, members: &Members) -> BTreeSet<String> {
        members.numbers().iter().map(|&number| self.paths[number as usize].clone()).collect()
    }

    /// All of them, in words.
    fn all(&self) -> BTreeMap<Owned, (Loaded, BTreeSet<String>)> {
        let of = |one: &Observed| {
            (Loaded { files: self.set(&one.loaded), whole: one.whole }, self.set(&one.undeclared))
        };
        let mut all: BTreeMap<_, _> =
            self.tests.iter().map(|(owned, one)| (owned.clone(), of(one))).collect();
        all.extend(self.noted.iter().map(|(owned, noted)| (owned.clone(), noted.clone())));
        all
    }

    /// Notes what a test loaded just now, and what of it its closure lacks. When it did not
    /// pass it may have stopped half way, so that what was known stays known.
    pub fn note(&mut self, key: &Key<'_>, mut loaded: Loaded, undeclared: BTreeSet<String>, passed: bool) {
        let owned = owned(key);
        if !passed {
            match self.noted.get(&owned) {
                Some((before, _)) => loaded.files.extend(before.files.iter().cloned()),
                None => {
                    let before = self.tests.get(&owned).map(|one| self.set(&one.loaded));
                    loaded.files.extend(before.unwrap_or_default());
                }
            }
        }
        self.noted.insert(owned, (loaded, undeclared));
    }

    /// By loaded path, the tests that loaded it, for those of `paths` that any did.
    pub fn of_paths<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::new();
        for path in paths {
            let number = self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok();
            let number = number.and_then(|at| u32::try_from(at).ok());
            let has = |members: &Members| {
                number.is_some_and(|number| members.numbers().binary_search(&number).is_ok())
            };
            let kept =
                self.tests.iter().filter(|(owned, one)| !self.noted.contains_key(*owned) && has(&one.loaded));
            let noted = self.noted.iter().filter(|(_, (loaded, _))| loaded.files.contains(path));
            let tests: BTreeSet<String> = kept
                .map(|(owned, _)| owned)
                .chain(noted.map(|(owned, _)| owned))
                .map(|o| o.0.clone())
                .collect();
            if !tests.is_empty() {
                found.insert(path.to_owned(), tests);
            }
        }
        found
    }

    /// What tests loaded in earlier runs, and not what was noted since, ready to be held against
    /// their entries in `table`.
    pub fn held<'o>(&'o self, table: &Table) -> Held<'o> {
        let mut covers: Vec<Vec<u32>> = vec![Vec::new(); self.paths.len()];
        let place = |path: &str| self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok();
        for (number, entry) in (0_u32..).zip(table.entries()) {
            let (named, below) = named_by(entry);
            for at in named.into_iter().filter_map(place) {
                covers[at].push(number);
            }
            let Some((dir, glob)) = below else { continue };
            for (path, covers) in self.paths.iter().zip(&mut covers) {
                if path::strip(path, &dir).is_some_and(|rest| glob.is_match(rest)) {
                    covers.push(number);
                }
            }
        }
        Held { observations: self, covers, entries: table.entries().len() }
    }

    /// Tests whose closures are known not to be whole, sorted.
    pub fn findings(&self) -> Vec<Finding> {
        let all = self.all();
        let with_some = all.iter().filter(|(_, (_, undeclared))| !undeclared.is_empty());
        with_some
            .map(|((test, runner, project, ..), (_, undeclared))| Finding {
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
        self.noted.retain(|key, _| there.contains(key));
    }

    /// Writes them, in place of those that were there.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn keep(&self, root: &Path) -> io::Result<()> {
        let known = self.all();
        let all = known.values().flat_map(|(loaded, undeclared)| loaded.files.iter().chain(undeclared));
        let paths: Vec<String> = all.cloned().collect::<BTreeSet<String>>().into_iter().collect();
        let number = |path: &String| {
            let at = paths.binary_search(path).expect("it was put in above");
            u32::try_from(at).expect("there are fewer than four thousand million files")
        };
        let set = |files: &BTreeSet<String>| Members::new(files.iter().map(number).collect());
        let tests = known
            .iter()
            .map(|((test, runner, project, name, types), (loaded, undeclared))| Test {
                test: test.clone(),
                runner: runner.clone(),
                project: project.clone(),
                name: name.clone(),
                types: *types,
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
        // The same by number, for a test that has some of the entries.
        let dir = tempfile::tempdir().unwrap();
        let key = Key { test: "a.test.js", runner: "node:test", project: "", name: None, types: false };
        let mut all = Observations::default();
        all.note(&key, Loaded { files: loaded, whole: true }, BTreeSet::new(), true);
        all.keep(dir.path()).unwrap();
        let (all, table) = (Observations::of(dir.path()), Table::new(entries.to_vec()));
        let members =
            |of: &[&Entry]| Members::new(of.iter().filter_map(|entry| table.number(entry)).collect());
        let first = |of: &[&Entry]| all.held(&table).first_undeclared(&key, &members(of)).map(str::to_owned);
        let every: Vec<&Entry> = entries.iter().collect();
        assert_eq!(first(&every).as_deref(), Some("names/one.js"));
        assert_eq!(first(&[&entries[0], &entries[1], &entries[3]]).as_deref(), Some("names/one.js"));
        let other = Key { test: "b.test.js", ..key };
        assert_eq!(all.held(&table).first_undeclared(&other, &members(&every)), None);
    }

    #[test]
    fn observations_are_kept_and_only_add_when_a_test_fails() {
        let dir = tempfile::tempdir().unwrap();
        let key = Key { test: "a.test.js", runner: "node:test", project: "", name: None, types: false };
        let mut all = Observations::default();
        let of = |names: &[&str]| Loaded { files: set(names), whole: true };
        all.note(&key, of(&["a.js", "b.js"]), set(&[]), true);
        all.note(&key, of(&["c.js"]), set(&["c.js"]), false);
        all.keep(dir.path()).unwrap();
        let again = Observations::of(dir.path());
        let names = ["a.js", "b.js", "c.js", "d.js"];
        let by_path = |all: &Observations| all.of_paths(names).into_keys().collect::<Vec<_>>();
        assert_eq!(again.all(), all.all());
        assert_eq!(by_path(&again), ["a.js", "b.js", "c.js"]);
        assert_eq!(again.findings()[0].files, ["c.js"]);
        all.note(&key, of(&["d.js"]), set(&[]), true);
        assert_eq!(by_path(&all), ["d.js"]);

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
