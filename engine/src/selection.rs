//! The answer types of selection: which tests a change owes, and why. Plain values;
//! rendering them is the caller's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::problem::{NotChecked, Problem, Widening};

/// What a change owes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Nothing, some tests, or all of them.
    pub mode: Mode,
    /// Why all of them are owed (empty unless the mode is [`Mode::Widened`]).
    pub widened: Vec<Widening>,
    /// Each change, with its place and how many tests it owes; sorted by path.
    pub changes: Vec<PlacedChange>,
    /// The owed tests, sorted by path, then by runner and runner project.
    pub tests: Vec<OwedTest>,
    /// How many test files of the inventory are not owed.
    pub omitted: usize,
    /// What was looked at.
    pub inventory: Inventory,
    /// Files that were not read or not parsed, sorted by path.
    pub not_checked: Vec<NotChecked>,
    /// What was not understood, sorted.
    pub problems: Vec<Problem>,
}

/// How much is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing is owed.
    None,
    /// The listed tests are owed.
    Selective,
    /// Every test is owed, for the reasons in [`Selection::widened`].
    Widened,
}

/// A change and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedChange {
    /// The change.
    pub change: Change,
    /// What kind of file it is to this project.
    pub placed: Placed,
    /// How many test files are owed because of it (input-opaque tests, owed by any
    /// change, do not count).
    pub owes: usize,
}

/// What a changed file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placed {
    /// Read by a language.
    Source,
    /// A test file.
    Test,
    /// In a closure as data, or data that no closure reads.
    Data,
    /// Runner configuration, shared setup, a manifest.
    Config,
    /// A lock file.
    Lock,
    /// On the inert list, and in no closure.
    Inert,
    /// None of these: the plan widens.
    Unknown,
}

/// One owed test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedTest {
    /// Project-relative path.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project (`""` for the root).
    pub project: String,
    /// Why, strongest first; never empty. Long lists are cut to one reason a change.
    pub reasons: Vec<Reason>,
    /// Its class.
    pub opacity: Opacity,
}

/// One reason for which a test is owed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason {
    /// Which rule.
    pub kind: ReasonKind,
    /// The changed path, when one change is the cause.
    pub changed: Option<String>,
    /// From the test to the changed file, shortest; the test alone when it changed itself.
    pub chain: Vec<String>,
    /// More for a person: the absent candidate, the package, the operation and its line.
    pub detail: Option<String>,
}

/// The rules of selection, in the order in which they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonKind {
    /// The test file itself changed.
    Changed,
    /// A changed file is in its closure.
    Depends,
    /// A companion by name changed.
    Companion,
    /// Its snapshot changed.
    Snapshot,
    /// A declared input changed.
    Declared,
    /// An input observed in an earlier run changed.
    Observed,
    /// Shared setup or configuration changed.
    Shared,
    /// An installed package in its closure changed.
    Package,
    /// A file appeared (or vanished) that an import would now resolve to, or in a listing.
    Negative,
    /// Its inputs cannot be bounded, and something changed.
    InputOpaque,
    /// Its runner or project is not understood.
    NotUnderstood,
    /// The caller asked for it.
    Requested,
}

impl ReasonKind {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Depends => "depends",
            Self::Companion => "companion",
            Self::Snapshot => "snapshot",
            Self::Declared => "declared",
            Self::Observed => "observed",
            Self::Shared => "shared",
            Self::Package => "package",
            Self::Negative => "negative",
            Self::InputOpaque => "input-opaque",
            Self::NotUnderstood => "not-understood",
            Self::Requested => "requested",
        }
    }
}

impl Placed {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Test => "test",
            Self::Data => "data",
            Self::Config => "config",
            Self::Lock => "lock",
            Self::Inert => "inert",
            Self::Unknown => "unknown",
        }
    }
}

impl Mode {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Selective => "selective",
            Self::Widened => "widened",
        }
    }
}

/// The class of a test: the worst over its closure. Ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Opacity {
    /// The sources alone determine the verdict.
    Pure,
    /// So do the sources and inputs that can be named and hashed.
    Pinned,
    /// It reads below a constant directory.
    Bounded,
    /// The verdict may differ with no repository input changed.
    TimeOpaque,
    /// A file of its closure could not be read or parsed, or a first-party import leads nowhere.
    Unknown,
    /// The set of its repository inputs cannot be bounded.
    InputOpaque,
}

impl Opacity {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Pinned => "pinned",
            Self::Bounded => "bounded",
            Self::TimeOpaque => "time-opaque",
            Self::Unknown => "unknown",
            Self::InputOpaque => "input-opaque",
        }
    }
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Files considered: tracked, and untracked but not ignored, excluded ones left out.
    pub files: usize,
    /// Test files (a file that two runners claim counts once).
    pub tests: usize,
    /// Test files by runner name.
    pub by_runner: BTreeMap<&'static str, usize>,
}

/// The answer to "why is (or is not) this test owed".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// Project-relative path of the test.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project.
    pub project: String,
    /// Its class.
    pub opacity: Opacity,
    /// Every independent reason (chains that share no inner file are told apart by
    /// their first step); empty means it is not owed.
    pub reasons: Vec<Reason>,
    /// When there is none: the proof.
    pub absence: Option<Absence>,
}

/// Why a test is not owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// How many files its closure holds.
    pub closure: usize,
    /// How many of the changed files were looked for in it.
    pub changes: usize,
    /// For the nearest changed file: a file that both the test and an importer of the
    /// change reach, when there is one.
    pub nearest_common: Option<String>,
    /// Tests that do depend on the changed files, as a contrast (at most 5).
    pub others: Vec<String>,
}

/// A part of the dependency graph, for people and tools to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphView {
    /// Nodes, sorted by id.
    pub nodes: Vec<GraphNode>,
    /// Edges, sorted by their ends.
    pub edges: Vec<GraphEdge>,
}

/// A node of a [`GraphView`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphNode {
    /// Path, or `npm:lodash`, or `dir/**`.
    pub id: String,
    /// `test`, `source`, `data`, `absent`, `manifest`, `package`, `listing`, `env`.
    pub kind: &'static str,
}

/// An edge of a [`GraphView`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphEdge {
    /// Who depends.
    pub from: String,
    /// On what.
    pub to: String,
    /// `static`, `type-only`, `dynamic`, `require`, `mock`, `re-export`, `star`, `string-ref`,
    /// `script`, `computed`, `glob`, `data`, `shared`, `absent`, `consulted`.
    pub kind: &'static str,
    /// 1-based line in `from`, where one exists.
    pub line: Option<u32>,
}
