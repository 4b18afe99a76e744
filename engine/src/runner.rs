//! The trait a test runner implements: which projects of a repository it runs, which
//! files are tests, and what all of them share. Discovery runs no test.

use serde::{Deserialize, Serialize};

use crate::facts::{FileFacts, Opaque, Span};
use crate::problem::{Problem, Widening};
use crate::resolve::{ResolveOptions, Target};
use crate::tree::Tree;

/// What a runner may ask while it looks for its projects.
pub struct View<'a> {
    /// The project's files.
    pub tree: &'a dyn Tree,
    /// Facts of a source file of the inventory, when it could be read. What an answer may
    /// depend on of them is [`visible_facts`].
    pub facts: &'a (dyn Fn(&str) -> Option<&'a FileFacts> + Sync),
    /// Loads executable configuration in a bounded child.
    pub loader: &'a dyn ConfigLoader,
    /// Says of which files it is asked whether they are tests, when nothing else is asked:
    /// then other files, problems and what tests share may be left out of the answer. What is
    /// not understood may not.
    pub only: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
}

impl View<'_> {
    /// Whether it is asked whether the file at `path` is a test.
    pub fn asks_about(&self, path: &str) -> bool {
        self.only.is_none_or(|only| only(path))
    }

    /// Whether nothing is asked but which files are tests.
    pub fn names_only(&self) -> bool {
        self.only.is_some()
    }
}

/// What discovery may depend on of a file's facts: everything but spans, digests, and the
/// lines of what is no import. Text that moves within a file changes nothing of it, so that
/// a runner need not be asked again.
pub fn visible_facts(facts: &FileFacts) -> FileFacts {
    let mut facts = facts.clone();
    facts.offered.clear();
    facts.clock = None;
    facts.listed = None;
    for import in &mut facts.imports {
        import.span = Span::default();
    }
    for effect in &mut facts.effects {
        (effect.span, effect.line) = (Span::default(), 0);
    }
    for test in &mut facts.tests {
        (test.span, test.line) = (Span::default(), 0);
    }
    for declaration in &mut facts.declarations {
        (declaration.span, declaration.line, declaration.digest) = (Span::default(), 0, [0; 16]);
    }
    for damage in &mut facts.damage {
        damage.span = Span::default();
    }
    facts
}

/// Runs a small program in the project's own interpreter, bounded in time, memory and
/// output. Implemented where processes may be started; tests may pass [`NoLoader`].
pub trait ConfigLoader: Sync {
    /// Runs `program` (source text) with the interpreter named `interpreter` (`node`,
    /// `python`) in the directory `cwd` (project-relative) with `arguments`, and gives
    /// what it printed on standard output.
    ///
    /// # Errors
    /// A sentence for a person: not installed, exited with code 1 and this message, took
    /// longer than the limit.
    fn load(&self, interpreter: &str, program: &str, cwd: &str, arguments: &[&str])
    -> Result<String, String>;
}

/// Refuses to start anything: static reading only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoader;

impl ConfigLoader for NoLoader {
    fn load(&self, _: &str, _: &str, _: &str, _: &[&str]) -> Result<String, String> {
        Err("executable configuration is not loaded here".to_owned())
    }
}

/// A test runner plugin.
pub trait Runner: Send + Sync {
    /// Its name in answers: `vitest`, `jest`, `node:test`, `mocha`, `pytest`, `unittest`.
    fn name(&self) -> &'static str;

    /// The packages it is made of (`npm:vitest`, `npm:@vitest/*`): they are in every
    /// identity as a whole, and not looked into.
    fn toolchain(&self) -> &'static [&'static str] {
        &[]
    }

    /// Finds its projects and their test files.
    fn discover(&self, view: &View<'_>) -> Discovery;

    /// The commands that run exactly `tests` (project-relative, not empty) of `project`.
    fn command(&self, project: &RunnerProject, tests: &[&str]) -> Vec<Invocation>;

    /// One of its commands, changed so that it also writes a report that
    /// [`crate::outcome::judge`] reads. `None` when the runner cannot: its runs are then no
    /// evidence.
    fn reported(&self, invocation: Invocation, run: &Reporting<'_>) -> Option<Reported> {
        let _ = (invocation, run);
        None
    }
}

/// One run that is to leave a report.
#[derive(Clone, Copy, Debug)]
pub struct Reporting<'a> {
    /// An absolute directory of this run alone.
    pub dir: &'a str,
    /// How many workers the runner may use; `None` leaves it to the runner. One without
    /// workers ignores it.
    pub workers: Option<usize>,
    /// A person's words for the runner.
    pub arguments: &'a [String],
    /// Whether coverage is to be left in the folder `coverage` of the directory, which is there.
    pub coverage: bool,
}

/// A command that writes a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The command.
    pub invocation: Invocation,
    /// Names and texts of files that must lie in the run's directory first.
    pub files: Vec<(&'static str, &'static str)>,
    /// The report's name in that directory.
    pub report: &'static str,
    /// Names in that directory of the files with coverage that the run leaves; none when it
    /// measures nothing.
    pub artifacts: Vec<&'static str>,
    /// Packages of which one has to be installed for coverage; none when nothing is needed.
    pub needs: &'static [&'static str],
}

/// What a runner found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// Its projects, sorted by root and then by configuration file.
    pub projects: Vec<RunnerProject>,
    /// What was not understood, but does not make the answer unsafe.
    pub problems: Vec<Problem>,
}

/// One configured project of a runner: a root, its options and its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerProject {
    /// Its directory, project-relative.
    pub root: String,
    /// Its name when it has one (a vitest project's `name`).
    pub name: Option<String>,
    /// How its files resolve imports.
    pub resolve: ResolveOptions,
    /// Its test files, sorted by path.
    pub tests: Vec<TestFile>,
    /// What every one of its tests depends on.
    pub shared: Vec<Shared>,
    /// Directory globs in which a new file would be a test or shared setup of this
    /// project (`**/conftest.py`, `__mocks__/**`); a file appearing there is placed.
    pub listings: Vec<crate::resolve::Listing>,
    /// What is not understood about it: its tests are owed by any change, and each says
    /// why. Prefer this to a problem whenever a test or an input could be missing.
    pub unsettled: Vec<Widening>,
    /// What its verdicts depend on by the way in which it runs tests (a random order, several
    /// processes), whatever they reach.
    pub effects: Vec<RunnerEffect>,
    /// Whether each test file runs in a process or thread of its own, by its configuration.
    /// Then no file sees what another has changed of the language and the platform, and a
    /// change is no more than code of the file that makes it.
    pub isolated: bool,
    /// Whether its tests are read by a type checker and never run. What they reach is a program
    /// of types: imports of types count, and what code would do does not.
    pub checked: bool,
}

/// Something about the way tests are run that lets a verdict differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunnerEffect {
    /// Why it cannot be named.
    pub reason: Opaque,
    /// What does it, as its configuration calls it: `pytest-randomly`, `sequence.shuffle`.
    pub operation: String,
    /// The file that says so, project-relative.
    pub path: String,
    /// What to do about it, one line.
    pub fix: String,
}

/// A test file of a runner project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFile {
    /// Project-relative path.
    pub path: String,
    /// What this one depends on besides its imports and the project's shared inputs
    /// (its conftest chain, a docblock's environment file, its snapshot).
    pub shared: Vec<Shared>,
    /// Whether it is source code of the project as well: its tests stand in docstrings or below
    /// the code that they test, or nothing but a pattern that takes in everything names it.
    pub also_source: bool,
}

/// Something tests depend on without importing it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shared {
    /// What.
    pub target: Target,
    /// In which role, for the answer.
    pub role: SharedRole,
    /// How it is loaded.
    pub load: Load,
}

/// The role of a shared input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedRole {
    /// Runner configuration.
    Config,
    /// A setup file.
    Setup,
    /// A global setup or teardown file.
    GlobalSetup,
    /// `conftest.py`.
    Conftest,
    /// A plugin, reporter, environment, transformer, resolver or serialiser.
    Plugin,
    /// `package.json`, `tsconfig.json`, `pyproject.toml`.
    Manifest,
    /// An environment file or name.
    Env,
    /// A snapshot file.
    Snapshot,
    /// The runner itself and its toolchain, as installed packages.
    Toolchain,
    /// A file that is type-checked together with the tests, and not run by them.
    Program,
}

/// How a shared input is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Read as data: only its own bytes count.
    Content,
    /// Run with the project's own resolution: its closure counts.
    Project,
    /// Run by plain node (or python) as configuration: its closure under default
    /// resolution counts.
    Config,
}

/// A command for a person, a script or a gate to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// Project-relative working directory (`""` for the root).
    pub cwd: String,
    /// Program and arguments.
    pub argv: Vec<String>,
}
