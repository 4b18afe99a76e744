//! A whole project as an immutable value: its tree, the facts of its sources, the
//! projects of its runners, and the resolved dependency graph.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rayon::prelude::*;

use crate::cache::snapshot::{RunnerSeen, Seen, Source};
use crate::cache::{Cache, Traced, TracedLoader, TracedTree};
use crate::change::Change;
use crate::closure;
use crate::digest::Digest;
use crate::graph::Graph;
use crate::language::Language;
use crate::problem::{NotChecked, Problem};
use crate::reader::Reader;
use crate::resolve::ResolveOptions;
use crate::runner::{ConfigLoader, Discovery, Runner, RunnerProject, View};
use crate::sources::Sources;
use crate::tree::Tree;
use crate::wires::Wires;

/// What `owed.toml` says, as far as the engine needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Files over this many bytes are not parsed. Default 5 MiB.
    pub file_size: u64,
    /// Globs of files to leave out of everything.
    pub exclude: Vec<String>,
    /// Globs of files that owe nothing unless a closure contains them; `None` = the default
    /// list of [`crate::place::INERT`]. An explicit list is the owner's word: such files
    /// do not even owe the input-opaque tests.
    pub inert: Option<Vec<String>>,
    /// `[[inputs]]`: tests that depend on files by declaration.
    pub inputs: Vec<DeclaredInput>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { file_size: 5 * 1024 * 1024, exclude: Vec::new(), inert: None, inputs: Vec::new() }
    }
}

/// One `[[inputs]]` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredInput {
    /// Globs of test files.
    pub tests: Vec<String>,
    /// Globs of files they depend on.
    pub files: Vec<String>,
}

/// How much is read of each source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Without declarations where that saves time: enough for selection by file.
    #[default]
    Files,
    /// With declarations.
    Declarations,
}

/// What changed, with the bytes of the base side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The changes, sorted by path.
    pub changes: Vec<Change>,
    /// Bytes at the base of every changed path that existed there (the old path for a
    /// rename). Needed for manifests and lock files; others may be left out.
    pub base: BTreeMap<String, Vec<u8>>,
    /// Changed paths that held a file at the base whose bytes cannot be had: if it is a
    /// manifest, what changed in it is not known.
    pub lost: BTreeSet<String>,
}

/// The plugins a project is read with.
#[derive(Clone, Copy)]
pub struct Plugins<'a> {
    /// Languages, in order.
    pub languages: &'a [&'a dyn Language],
    /// Runners, in order.
    pub runners: &'a [&'a dyn Runner],
}

impl<'a> Plugins<'a> {
    /// The language that reads `path`.
    pub fn language_of(&self, path: &str) -> Option<&'a dyn Language> {
        self.languages.iter().copied().find(|l| l.reads(path))
    }
}

/// A runner project, with the runner it belongs to and its resolution class.
#[derive(Debug)]
pub struct Suite {
    /// The runner's number in [`Plugins::runners`].
    pub runner: usize,
    /// The runner's name.
    pub runner_name: &'static str,
    /// The project as discovered.
    pub project: RunnerProject,
    /// Number of its resolution class.
    pub class: u32,
}

/// A test file of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestRef {
    /// Number of the suite in [`Project::suites`].
    pub suite: usize,
    /// Number of the test in its project.
    pub test: usize,
}

/// A project, read and resolved.
pub struct Project<'a> {
    /// Its files.
    pub tree: &'a dyn Tree,
    /// The plugins it was read with.
    pub plugins: Plugins<'a>,
    /// Its settings.
    pub settings: Settings,
    /// The inventory: every considered file, sorted, excluded ones left out.
    pub files: Cow<'a, [String]>,
    /// How its sources were read.
    pub reading: Reading,
    /// The facts of each source file that could be read, sorted by path; without
    /// declarations unless [`Project::reading`] says so.
    pub facts: Sources<'a>,
    /// The runner projects, in the order of runners, roots and configuration files.
    pub suites: Vec<Suite>,
    /// Every test file of every suite; test nodes of the graph are numbers in this list.
    pub tests: Vec<TestRef>,
    /// Resolution classes; the first is that of configuration files.
    pub classes: Vec<ResolveOptions>,
    /// Files that are followed besides those that tests reach, with the resolution of
    /// configuration files; to be set before [`Project::resolve`].
    pub followed: Vec<String>,
    /// The dependency graph.
    pub graph: Graph,
    /// Files that were not read or not parsed, sorted by path.
    pub not_checked: Vec<NotChecked>,
    /// What was not understood, sorted.
    pub problems: Vec<Problem>,
    /// What is looked at on the way, when it is to be kept.
    pub(crate) record: Option<Record<'a>>,
    /// Where facts of installed packages are kept.
    pub(crate) cache: Option<&'a Cache>,
}

/// What is looked at while a project is read.
pub(crate) struct Record<'a> {
    cache: &'a Cache,
    sources: Vec<Source>,
    runners: Vec<RunnerSeen>,
    reads: Vec<(String, Digest)>,
    /// Whether a resolver asked where the project lies.
    located: bool,
    wires: Vec<Wires>,
}

impl<'a> Project<'a> {
    /// Reads, discovers and resolves. The result is the same for any number of threads.
    pub fn load(
        tree: &'a dyn Tree,
        plugins: Plugins<'a>,
        settings: Settings,
        loader: &dyn ConfigLoader,
    ) -> Self {
        let mut project = Self::read(tree, plugins, settings, Reading::Files);
        project.discover(loader);
        project.resolve();
        project
    }

    /// The same with what earlier runs have kept, which spares time and changes no answer;
    /// and keeps what this one finds.
    pub fn load_with(
        tree: &'a dyn Tree,
        plugins: Plugins<'a>,
        settings: Settings,
        reading: Reading,
        loader: &dyn ConfigLoader,
        cache: &'a Cache,
    ) -> Self {
        if let Some(project) = Self::recall(tree, plugins, settings.clone(), reading, loader, cache) {
            return project;
        }
        let mut project = Self::read_with(tree, plugins, settings, reading, Some(cache));
        project.discover(loader);
        project.resolve();
        project.keep();
        project
    }

    /// The first step: reads all sources in parallel.
    pub fn read(tree: &'a dyn Tree, plugins: Plugins<'a>, settings: Settings, reading: Reading) -> Self {
        Self::read_with(tree, plugins, settings, reading, None)
    }

    /// The same; contents whose facts are in the cache are not parsed, and files that are
    /// known to hold such a content are not even read.
    pub fn read_with(
        tree: &'a dyn Tree,
        plugins: Plugins<'a>,
        settings: Settings,
        reading: Reading,
        cache: Option<&'a Cache>,
    ) -> Self {
        let files = considered(tree, &settings);
        let reader = Reader { tree, plugins, settings: settings.clone(), reading, cache };
        let (facts, sources) = reader.read_all(&files);
        let mut project = Self::new(tree, plugins, settings, reading, files, Sources::of(facts));
        project.not_checked = sources.iter().filter_map(Source::not_checked).collect();
        project.cache = cache;
        project.record = cache.map(|cache| Record {
            cache,
            sources,
            runners: Vec::new(),
            reads: Vec::new(),
            located: false,
            wires: Vec::new(),
        });
        project
    }

    pub(crate) fn new(
        tree: &'a dyn Tree,
        plugins: Plugins<'a>,
        settings: Settings,
        reading: Reading,
        files: Cow<'a, [String]>,
        facts: Sources<'a>,
    ) -> Self {
        Self {
            tree,
            plugins,
            settings,
            files,
            reading,
            facts,
            suites: Vec::new(),
            tests: Vec::new(),
            classes: vec![ResolveOptions::default()],
            followed: Vec::new(),
            graph: Graph::default(),
            not_checked: Vec::new(),
            problems: Vec::new(),
            record: None,
            cache: None,
        }
    }

    /// The last step: follows every closure from the tests outward.
    pub fn resolve(&mut self) {
        match self.record.take() {
            None => drop(closure::resolve(self, self.tree, false)),
            Some(mut record) => {
                let traced = TracedTree::new(self.tree);
                record.wires = closure::resolve(self, &traced, true);
                let traced = traced.finish();
                record.located = traced.located;
                record.reads = traced.into_reads();
                self.record = Some(record);
            }
        }
        self.problems.sort();
        self.problems.dedup();
    }

    /// The second step: asks the runners for their projects and tests.
    pub fn discover(&mut self, loader: &dyn ConfigLoader) {
        let is_kept = self.record.is_some();
        let runners = 0..self.plugins.runners.len();
        let found: Vec<RunnerSeen> = runners
            .into_par_iter()
            .map(|runner| {
                if is_kept {
                    return self.ask(runner, loader);
                }
                let lookup = |path: &str| self.facts.get(path);
                let view = View { tree: self.tree, facts: &lookup, loader, only: None };
                let discovery = self.plugins.runners[runner].discover(&view);
                RunnerSeen { discovery, ..RunnerSeen::default() }
            })
            .collect();
        if let Some(record) = &mut self.record {
            record.runners.clone_from(&found);
        }
        self.take_discoveries(found.into_iter().map(|seen| seen.discovery));
    }

    /// Asks a runner, and remembers what it looks at.
    pub(crate) fn ask(&self, runner: usize, loader: &dyn ConfigLoader) -> RunnerSeen {
        let (tree, loader) = (TracedTree::new(self.tree), TracedLoader::new(loader));
        let lookup = |path: &str| self.facts.get(path);
        let discovery = self.plugins.runners[runner].discover(&View {
            tree: &tree,
            facts: &lookup,
            loader: &loader,
            only: None,
        });
        let asked = loader.was_asked();
        let Traced { reads, lacks, codes, located } = tree.finish();
        RunnerSeen { reads, lacks, codes, asked, located, discovery }
    }

    /// Takes what the runners found, in their order.
    pub(crate) fn take_discoveries(&mut self, found: impl IntoIterator<Item = Discovery>) {
        let exclude = globs(&self.settings.exclude);
        for (number, discovery) in found.into_iter().enumerate() {
            self.problems.extend(discovery.problems);
            for mut project in discovery.projects {
                project.tests.retain(|t| !exclude.is_match(&t.path));
                let class = self.class_of(&project.resolve);
                let suite = self.suites.len();
                self.tests.extend((0..project.tests.len()).map(|test| TestRef { suite, test }));
                self.suites.push(Suite {
                    runner: number,
                    runner_name: self.plugins.runners[number].name(),
                    project,
                    class: u32::try_from(class).expect("there are fewer classes than runner projects"),
                });
            }
        }
    }

    /// Keeps the project for the next run, when it was read with a cache: new facts, and the
    /// whole of it where the tree can tell all that was looked at.
    pub fn keep(&mut self) {
        let Some(record) = self.record.take() else { return };
        let cache = record.cache;
        if let (Some(layout), Some(witness)) = (self.tree.layout(), self.tree.witness()) {
            let seen = Seen {
                setting: setting_of(self.plugins, &self.settings),
                layout,
                witness,
                root: root_of(self.tree),
                located: record.located,
                sources: record.sources,
                runners: record.runners,
                beyond: self
                    .facts
                    .beyond()
                    .filter_map(|path| {
                        let at = record.reads.binary_search_by(|(read, _)| read.as_str().cmp(path)).ok()?;
                        Some(record.reads[at].clone())
                    })
                    .collect(),
                reads: record.reads,
            };
            let mut wires = record.wires;
            wires.resize_with(self.graph.size().0, Wires::default);
            cache.keep_snapshot(self.reading, &seen, &self.graph, &wires);
        }
        cache.keep_facts();
    }

    /// The resolution class of these options: projects that differ only in where they lie
    /// share one, which then looks from each of their roots. That finds more than one of
    /// them would, never less, and a repository of fifty like packages is followed once.
    fn class_of(&mut self, options: &ResolveOptions) -> usize {
        let place_less =
            |o: &ResolveOptions| ResolveOptions { roots: Vec::new(), mock_roots: Vec::new(), ..o.clone() };
        let key = ResolveOptions { root: String::new(), ..place_less(options) };
        let known = (1..self.classes.len())
            .find(|&class| ResolveOptions { root: String::new(), ..place_less(&self.classes[class]) } == key);
        let class = known.unwrap_or_else(|| {
            self.classes.push(ResolveOptions { roots: Vec::new(), ..options.clone() });
            self.classes.len() - 1
        });
        let into = &mut self.classes[class];
        for (list, more) in [
            (&mut into.roots, std::slice::from_ref(&options.root)),
            (&mut into.mock_roots, options.mock_roots.as_slice()),
        ] {
            list.extend_from_slice(more);
            list.sort();
            list.dedup();
        }
        class
    }

    /// The suite of a test.
    pub fn suite(&self, test: TestRef) -> &Suite {
        &self.suites[test.suite]
    }

    /// The path of a test.
    pub fn test_path(&self, test: TestRef) -> &str {
        &self.suites[test.suite].project.tests[test.test].path
    }
}

/// Compiles globs; one that is not valid matches nothing (the configuration reader has
/// refused it before).
pub(crate) fn globs<S: AsRef<str>>(patterns: &[S]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        // `.eslintrc{,.*}` means the bare name, too.
        if let Ok(glob) = GlobBuilder::new(pattern.as_ref()).empty_alternates(true).build() {
            builder.add(glob);
        }
    }
    builder.build().unwrap_or_default()
}

/// Where the project lies.
pub(crate) fn root_of(tree: &dyn Tree) -> Digest {
    Digest::of(tree.root().as_os_str().as_encoded_bytes())
}

/// Everything besides the tree that a project is a value of.
pub(crate) fn setting_of(plugins: Plugins<'_>, settings: &Settings) -> Digest {
    let settings = format!("{settings:?}");
    let languages = plugins.languages.iter().flat_map(|l| [l.name(), l.reader_version()]);
    let runners = plugins.runners.iter().map(|r| r.name());
    let words = std::iter::once(settings.as_str()).chain(languages).chain(runners);
    Digest::of_parts(words.map(str::as_bytes))
}

/// The files of the tree that are not excluded.
pub(crate) fn considered<'t>(tree: &'t dyn Tree, settings: &Settings) -> Cow<'t, [String]> {
    if settings.exclude.is_empty() {
        return tree.files().into();
    }
    let exclude = globs(&settings.exclude);
    tree.files().iter().filter(|f| !exclude.is_match(f)).cloned().collect()
}
