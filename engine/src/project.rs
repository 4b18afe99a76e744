//! A whole project as an immutable value: its tree, the facts of its sources, the
//! projects of its runners, and the resolved dependency graph.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rayon::prelude::*;

use crate::change::Change;
use crate::closure;
use crate::facts::FileFacts;
use crate::graph::Graph;
use crate::language::{Language, SourceFile};
use crate::problem::{NotChecked, Problem, Unchecked};
use crate::resolve::ResolveOptions;
use crate::runner::{ConfigLoader, Runner, RunnerProject, View};
use crate::tree::Tree;

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
    pub files: Vec<String>,
    /// How its sources were read.
    pub reading: Reading,
    /// The facts of each source file that could be read, sorted by path; without
    /// declarations unless [`Project::reading`] says so.
    pub facts: BTreeMap<String, FileFacts>,
    /// The runner projects, in the order of runners, roots and configuration files.
    pub suites: Vec<Suite>,
    /// Every test file of every suite; test nodes of the graph are numbers in this list.
    pub tests: Vec<TestRef>,
    /// Resolution classes; the first is that of configuration files.
    pub classes: Vec<ResolveOptions>,
    /// The dependency graph.
    pub graph: Graph,
    /// Files that were not read or not parsed, sorted by path.
    pub not_checked: Vec<NotChecked>,
    /// What was not understood, sorted.
    pub problems: Vec<Problem>,
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

    /// The first step: reads all sources in parallel.
    pub fn read(tree: &'a dyn Tree, plugins: Plugins<'a>, settings: Settings, reading: Reading) -> Self {
        let exclude = globs(&settings.exclude);
        let files: Vec<String> = tree.files().iter().filter(|f| !exclude.is_match(f)).cloned().collect();
        let (facts, not_checked) = read_sources(tree, plugins, &settings, &files, reading);
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
            graph: Graph::default(),
            not_checked,
            problems: Vec::new(),
        }
    }

    /// The last step: follows every closure from the tests outward.
    pub fn resolve(&mut self) {
        closure::resolve(self);
        self.problems.sort();
        self.problems.dedup();
    }

    /// The second step: asks the runners for their projects and tests.
    pub fn discover(&mut self, loader: &dyn ConfigLoader) {
        let facts = &self.facts;
        let lookup = |path: &str| facts.get(path);
        let view = View { tree: self.tree, facts: &lookup, loader };
        let exclude = globs(&self.settings.exclude);
        let found: Vec<_> = self.plugins.runners.par_iter().map(|runner| runner.discover(&view)).collect();
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

fn read_sources(
    tree: &dyn Tree,
    plugins: Plugins<'_>,
    settings: &Settings,
    files: &[String],
    reading: Reading,
) -> (BTreeMap<String, FileFacts>, Vec<NotChecked>) {
    let read: Vec<(String, Option<FileFacts>, Option<NotChecked>)> = files
        .par_iter()
        .filter_map(|path| {
            let language = plugins.language_of(path)?;
            Some(match read_source(tree, language, settings, path, reading) {
                Ok(facts) => {
                    let unchecked = facts.damage.first().map(|damage| NotChecked {
                        path: path.clone(),
                        reason: if damage.cause == "depth" {
                            Unchecked::Depth
                        } else {
                            Unchecked::Unparsable
                        },
                        line: Some(damage.line),
                    });
                    (path.clone(), Some(facts), unchecked)
                }
                Err(reason) => {
                    (path.clone(), None, Some(NotChecked { path: path.clone(), reason, line: None }))
                }
            })
        })
        .collect();
    let mut facts = BTreeMap::new();
    let mut not_checked = Vec::new();
    for (path, found, unchecked) in read {
        not_checked.extend(unchecked);
        if let Some(found) = found {
            facts.insert(path, found);
        }
    }
    (facts, not_checked)
}

/// The bytes of one source file, as far as they can be text of its language.
pub(crate) fn source_bytes(
    tree: &dyn Tree,
    language: &dyn Language,
    settings: &Settings,
    path: &str,
) -> Result<Vec<u8>, Unchecked> {
    let bytes = tree.read(path)?;
    if bytes.len() as u64 > settings.file_size {
        return Err(Unchecked::TooLarge);
    }
    if bytes.iter().take(8192).any(|b| *b == 0) {
        return Err(Unchecked::Binary);
    }
    if !language.declares_encoding(&bytes) && std::str::from_utf8(&bytes).is_err() {
        return Err(Unchecked::NotUtf8);
    }
    Ok(bytes)
}

/// Reads one source file with its language.
pub(crate) fn read_source(
    tree: &dyn Tree,
    language: &dyn Language,
    settings: &Settings,
    path: &str,
    reading: Reading,
) -> Result<FileFacts, Unchecked> {
    let bytes = source_bytes(tree, language, settings, path)?;
    let file = SourceFile { path, bytes: &bytes };
    Ok(match reading {
        Reading::Files => language.read_without_declarations(file),
        Reading::Declarations => language.read(file),
    })
}
