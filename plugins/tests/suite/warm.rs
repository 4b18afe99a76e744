//! A cache in memory, and random edits that it must not be fooled by.
//!
//! A project in two languages is edited at random: sources, manifests, runner configuration,
//! links, installed packages, files that come and go and come back. After each edit the
//! project that the cache recalls must be, in every part, the one that a run without a cache
//! reads. `OWED_STEPS=5000` makes the edits thorough; `OWED_SEED` starts elsewhere.

mod edits;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use owed_engine::cache::{Bytes, Cache, Storage};
use owed_engine::change::{Change, ChangeKind};
use owed_engine::facts::FileFacts;
use owed_engine::project::{Delta, Plugins, Project, Reading, Settings};
use owed_engine::runner::{NoLoader, View, visible_facts};
use owed_engine::select::{SelectOptions, select};
use owed_engine::tree::MemoryTree;
use rayon::prelude::*;

use crate::case::Case;
use crate::store;
use edits::{Random, State};

/// The files of a cache.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Kept {
    /// Opens the cache as one run does.
    pub(crate) fn open(&self) -> Cache {
        Cache::new(Box::new(self.clone()), "test")
    }
}

impl Storage for Kept {
    fn load(&self, name: &str) -> Option<Bytes> {
        Some(Arc::new(self.0.lock().unwrap().get(name)?.clone()))
    }

    fn store(&self, name: &str, bytes: &[u8]) -> bool {
        self.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        true
    }
}

fn plugins() -> Plugins<'static> {
    Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() }
}

/// All that can be seen of a project.
pub(crate) fn portrait(project: &Project<'_>) -> String {
    let mut text = String::new();
    for suite in &project.suites {
        let _ = writeln!(text, "suite {suite:?}");
    }
    let _ = writeln!(text, "classes {:?}", project.classes);
    let graph = &project.graph;
    for node in graph.nodes() {
        let _ = writeln!(text, "{} {:?}", node.index(), graph.key(node));
        for (to, edge) in graph.outgoing(node) {
            let _ = writeln!(text, "  -> {} {edge:?}", to.index());
        }
        for fact in graph.traits(node) {
            let _ = writeln!(text, "  is {fact:?}");
        }
        for (import, to) in graph.loads(node) {
            let _ = writeln!(text, "  import {import} is {}", to.index());
        }
        let _ = writeln!(text, "  resolution {}", graph.resolution_digest(node));
        if let Some(path) = graph.key(node).path() {
            let waiting: Vec<_> = graph.waiting_for(path).map(|(n, line)| (n.index(), line)).collect();
            let _ = writeln!(text, "  wanted by {waiting:?}");
        }
    }
    for (path, facts) in project.facts.iter() {
        let _ = writeln!(text, "facts of {path}: {facts:?}");
    }
    let _ = writeln!(text, "{:#?}\n{:#?}", project.problems, project.not_checked);
    text
}

/// The first lines that differ.
pub(crate) fn difference(cold: &str, warm: &str) -> String {
    let differing = cold.lines().zip(warm.lines()).enumerate().find(|(_, (a, b))| a != b);
    match differing {
        Some((at, (cold, warm))) => format!("line {at}\n  cold: {cold}\n  warm: {warm}"),
        None => format!("{} lines cold, {} lines warm", cold.lines().count(), warm.lines().count()),
    }
}

/// Edits one project `steps` times. Gives how often the cache could be used.
fn edit(seed: u64, steps: usize) -> usize {
    let mut random = Random::new(seed);
    let mut state = State::new(&mut random);
    let mut earlier = vec![state.clone()];
    let kept = Kept::default();
    let mut recalled = 0;
    for step in 0..steps {
        let before = state.clone();
        let what = if random.below(25) == 0 {
            state = earlier[random.below(earlier.len())].clone();
            "an earlier state".to_owned()
        } else {
            (0..=random.below(3)).map(|_| state.edit(&mut random)).collect::<Vec<_>>().join("; ")
        };
        if step % 10 == 0 {
            earlier.push(state.clone());
        }
        let tree = state.tree();
        let reading = if random.below(8) == 0 { Reading::Declarations } else { Reading::Files };
        let cache = kept.open();
        let settings = Settings::default;
        let as_it_was = Project::recall(&tree, plugins(), settings(), reading, &NoLoader, &cache);
        recalled += usize::from(as_it_was.is_some());
        let warm = as_it_was
            .unwrap_or_else(|| Project::load_with(&tree, plugins(), settings(), reading, &NoLoader, &cache));
        let mut cold = Project::read(&tree, plugins(), settings(), reading);
        cold.discover(&NoLoader);
        cold.resolve();
        let (cold_text, warm_text) = (portrait(&cold), portrait(&warm));
        assert!(
            cold_text == warm_text,
            "seed {seed}, step {step}, after {what}: {}",
            difference(&cold_text, &warm_text)
        );
        let delta = delta(&before, &state);
        let options = SelectOptions::default();
        assert_eq!(
            select(&cold, &delta, &options),
            select(&warm, &delta, &options),
            "seed {seed}, step {step}"
        );
    }
    recalled
}

fn delta(before: &State, after: &State) -> Delta {
    let mut delta = Delta::default();
    let paths = before.files.keys().chain(after.files.keys().filter(|p| !before.files.contains_key(*p)));
    for path in paths.filter(|path| !path.contains("node_modules/")) {
        let kind = match (before.files.get(path), after.files.get(path)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(_), Some(_)) => ChangeKind::Modified,
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
        };
        delta.changes.push(Change { path: path.clone(), kind });
        if let Some(bytes) = before.files.get(path) {
            delta.base.insert(path.clone(), bytes.clone());
        }
    }
    delta.changes.sort();
    delta
}

#[test]
fn random_edits_fool_no_cache() {
    let number = |name: &str| store::variable(name).and_then(|value| value.parse::<usize>().ok());
    let steps = number("OWED_STEPS").unwrap_or(160);
    let first = number("OWED_SEED").unwrap_or(1) as u64;
    const PROJECTS: u64 = 8;
    let each = steps.div_ceil(usize::try_from(PROJECTS).unwrap());
    let recalled: usize = (first..first + PROJECTS).into_par_iter().map(|seed| edit(seed, each)).sum();
    let all = each * usize::try_from(PROJECTS).unwrap();
    println!("{recalled} of {all} states were recalled");
    // Otherwise the test would say nothing about what it is for.
    assert!(recalled * 4 > all, "only {recalled} of {all} states were recalled");
}

#[test]
fn runners_depend_on_no_more_of_facts_than_they_may() {
    let mut asked = 0;
    for entry in store::cases() {
        let Ok(case) = Case::parse(&entry.text, entry.tree.clone()) else { continue };
        let links = case.links.iter();
        let tree =
            links.fold(MemoryTree::new(case.files.clone()), |tree, (from, to)| tree.with_link(from, to));
        let project = Project::read(&tree, plugins(), case.settings.clone(), Reading::Files);
        let visible: BTreeMap<&str, FileFacts> =
            project.facts.iter().map(|(path, facts)| (path, visible_facts(facts))).collect();
        for runner in owed_plugins::runners() {
            let all = |path: &str| project.facts.get(path);
            let some = |path: &str| visible.get(path);
            let with_all = runner.discover(&View { tree: &tree, facts: &all, loader: &NoLoader, only: None });
            let with_some =
                runner.discover(&View { tree: &tree, facts: &some, loader: &NoLoader, only: None });
            assert_eq!(with_all, with_some, "{} of corpus/{}", runner.name(), entry.name);
            asked += with_all.projects.len();
        }
    }
    assert!(asked > 300, "only {asked} runner projects were found");
}

/// A comment in a runner's configuration has nobody asked again; whatever else differs has.
#[test]
fn a_comment_in_a_configuration_changes_nothing() {
    let before = "export default { test: { include: [compute()] } }\n";
    let edits = [
        ("export default { test: { include: [compute()] } }\n", true),
        ("export default { test: { include: [compute()] } } // and why\n", true),
        ("export default { test: { include: [compute()] } }\n/* vitest, jest\n node:test */\n\n", true),
        ("export default { test: { include: [compute()] } /* }", false),
        ("// on a line before\nexport default { test: { include: [compute()] } }\n", false),
        ("/* */ export default { test: { include: [compute()] } }\n", false),
        ("export default { test: { include: [computed()] } }\n", false),
        ("export default { test: { include: ['// compute()'] } }\n", false),
    ];
    let code_of =
        |text: &str| plugins().language_of("vitest.config.ts").unwrap().code("vitest.config.ts", text);
    for (after, same) in edits {
        assert_eq!(code_of(before) == code_of(after), same, "{after}");
        let mut random = Random::new(3);
        let mut state = State::new(&mut random);
        let config = "vitest.config.ts".to_owned();
        state.files.insert(config.clone(), before.as_bytes().to_vec());
        let kept = Kept::default();
        let settings = Settings::default;
        Project::load_with(&state.tree(), plugins(), settings(), Reading::Files, &NoLoader, &kept.open());
        state.files.insert(config, after.as_bytes().to_vec());
        let (tree, cache) = (state.tree(), kept.open());
        let warm = Project::recall(&tree, plugins(), settings(), Reading::Files, &NoLoader, &cache);
        assert!(warm.is_some() || !same, "{after}");
        let mut cold = Project::read(&tree, plugins(), settings(), Reading::Files);
        cold.discover(&NoLoader);
        cold.resolve();
        if let Some(warm) = warm {
            assert_eq!(portrait(&warm), portrait(&cold), "{after}");
        }
    }
}

#[test]
fn what_is_damaged_or_of_another_version_is_made_anew() {
    let mut random = Random::new(7);
    let mut state = State::new(&mut random);
    let kept = Kept::default();
    let load = |state: &State, cache: &Cache| {
        let tree: MemoryTree = state.tree();
        portrait(&Project::load_with(&tree, plugins(), Settings::default(), Reading::Files, &NoLoader, cache))
    };
    load(&state, &kept.open());
    let body = "src/m0.ts".to_owned();
    state.files.insert(body, b"import { m1 } from './m1'\nexport const m0 = m1 + 1\n".to_vec());
    load(&state, &kept.open());
    let whole = kept.0.lock().unwrap().clone();
    for name in ["graph", "facts-recent"] {
        assert!(whole.contains_key(name), "{name} is not among {:?}", whole.keys());
    }
    assert!(whole.len() > 10, "facts are in several files");
    let cold = load(&state, &Kept::default().open());
    let mut ways = 0;
    for name in whole.keys() {
        let bytes = &whole[name];
        let flips = (0..4).map(|_| (random.below(bytes.len()), random.below(8)));
        let damaged = flips.map(|(at, bit)| {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            flipped
        });
        let cut = [0, 1, bytes.len() / 2, bytes.len() - 1].map(|len| bytes[..len].to_vec());
        for damaged in damaged.chain(cut) {
            *kept.0.lock().unwrap() = whole.clone();
            kept.0.lock().unwrap().insert(name.clone(), damaged);
            let cache = kept.open();
            assert_eq!(load(&state, &cache), cold, "{name}");
            ways += 1;
        }
    }
    assert!(ways > 20);
    *kept.0.lock().unwrap() = whole;
    let newer = Cache::new(Box::new(kept.clone()), "a newer version");
    assert_eq!(load(&state, &newer), cold);
    assert!(newer.notes().iter().any(|note| note.contains("another version")), "{:?}", newer.notes());
}
