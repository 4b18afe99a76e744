//! `owed.opacity/1`.

use std::collections::BTreeMap;

use owed_engine::opacity::{
    FileOpacity, Held, Kind, OpacityReport, PinName, ReasonFor, ReasonHere, TestOpacity,
};
use owed_engine::problem::NotChecked;
use owed_engine::selection::Opacity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::plan::directory;
use super::{NotCheckedFile, ProblemSeen, all};

/// What each test depends on that is not a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.opacity/1")]
pub(crate) struct OpacityAnswer {
    /// `owed.opacity/1`.
    #[schemars(schema_with = "opacity_tag")]
    pub schema: &'static str,
    /// The tests, sorted by path, then by runner and runner project.
    pub tests: Vec<TestClass>,
    /// The sources, sorted by path, each with its own effects only.
    pub files: Vec<FileClass>,
    /// How many tests have which class, and what holds them back.
    pub summary: Summary,
    /// Files that were not read or not parsed.
    pub not_checked: Vec<NotCheckedFile>,
    /// What was not understood.
    pub problems: Vec<ProblemSeen>,
}

/// The class of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TestClass {
    /// Project-relative path.
    pub path: String,
    /// The runner's name.
    pub runner: &'static str,
    /// Directory of the runner project; `.` for the root.
    pub project: String,
    /// The worst of its reasons.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// Every input that joins its identity.
    pub pins: Vec<Pin>,
    /// One reason an operation, at its nearest place; worst first.
    pub reasons: Vec<Reason>,
}

/// The class of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileClass {
    /// Project-relative path.
    pub path: String,
    /// The worst of its own effects.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// The inputs that it names.
    pub pins: Vec<Pin>,
    /// Its own effects, in the order of the source.
    pub reasons: Vec<Reason>,
}

/// An input with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Pin {
    /// `env` and `named` have a name, `file` and `directory` a path, `listing` both.
    #[schemars(schema_with = "pin_words")]
    pub kind: &'static str,
    /// The environment name, the glob of a listing, or what else is named (`TZ`, `argv`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Project-relative path of the file or directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// One reason, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Reason {
    /// The class it gives.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// Why: `clock`, `random`, `eval` and so on; for an input with a name its kind.
    pub reason: &'static str,
    /// What is known of the reason besides, without an effect on the class: `loopback-only`
    /// for a network of which every host is literally this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'static str>,
    /// The operation, or the specifier.
    pub operation: String,
    /// Project-relative path.
    pub path: String,
    /// 1-based line; 0 where none exists.
    pub line: u32,
    /// 1-based column in bytes; 0 where none exists.
    pub column: u32,
    /// `import`: loading the file does it; `call`: using `declaration` does.
    #[schemars(schema_with = "when_words")]
    pub when: &'static str,
    /// The declaration whose use brings it about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declaration: Option<String>,
    /// From the test to the place, shortest; the file alone in `files`.
    pub chain: Vec<String>,
    /// Whether the way begins with what all tests of the runner project share.
    pub shared: bool,
    /// How many places with this operation are reached.
    pub places: usize,
    /// The smallest change that would lift it.
    pub fix: String,
}

/// What the tests have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Summary {
    /// How many tests have which class; all classes, best first.
    pub classes: Vec<ClassCount>,
    /// What holds tests back, by reason; the reason of most tests first.
    pub reasons: Vec<ReasonCost>,
    /// The same by place; the place that holds most tests back first.
    pub places: Vec<PlaceCost>,
    /// What runner configuration does that all tests of a project have in common: it is in
    /// every identity and lowers no class.
    pub common: Vec<Reason>,
}

/// How many tests have a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ClassCount {
    /// The class.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// How many tests.
    pub tests: usize,
}

/// What a reason costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReasonCost {
    /// The class it gives.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// Why.
    pub reason: &'static str,
    /// How many tests have this class and this reason for it.
    pub tests: usize,
    /// At how many places.
    pub places: usize,
    /// How many tests would have a better class if no such place were left.
    pub lifts: usize,
}

/// What a place costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PlaceCost {
    /// The class it gives.
    #[schemars(schema_with = "super::opacity_words")]
    pub class: &'static str,
    /// Why.
    pub reason: &'static str,
    /// The operation, or the specifier.
    pub operation: String,
    /// Project-relative path.
    pub path: String,
    /// 1-based line; 0 where none exists.
    pub line: u32,
    /// 1-based column in bytes; 0 where none exists.
    pub column: u32,
    /// How many tests have this class and this place among the reasons for it.
    pub tests: usize,
    /// How many tests would have which better class without it.
    pub becomes: Vec<ClassCount>,
    /// The smallest change that would lift it.
    pub fix: String,
}

impl OpacityAnswer {
    /// The answer to a report.
    pub(crate) fn new(report: OpacityReport, not_checked: Vec<NotChecked>) -> Self {
        let mut counts: BTreeMap<Opacity, usize> = BTreeMap::new();
        for class in [
            Opacity::Pure,
            Opacity::Pinned,
            Opacity::Bounded,
            Opacity::TimeOpaque,
            Opacity::Unknown,
            Opacity::InputOpaque,
        ] {
            counts.insert(class, 0);
        }
        for test in &report.tests {
            *counts.entry(test.class).or_default() += 1;
        }
        Self {
            schema: "owed.opacity/1",
            tests: all(report.tests),
            files: all(report.files),
            summary: Summary {
                classes: classes(&counts),
                reasons: all(report.reasons),
                places: all(report.held),
                common: all(report.common),
            },
            not_checked: all(not_checked),
            problems: all(report.problems),
        }
    }
}

fn classes(counts: &BTreeMap<Opacity, usize>) -> Vec<ClassCount> {
    counts.iter().map(|(class, tests)| ClassCount { class: class.word(), tests: *tests }).collect()
}

impl From<TestOpacity> for TestClass {
    fn from(test: TestOpacity) -> Self {
        Self {
            path: test.path,
            runner: test.runner,
            project: directory(test.project),
            class: test.class.word(),
            pins: all(test.pins),
            reasons: all(test.reasons),
        }
    }
}

impl From<FileOpacity> for FileClass {
    fn from(file: FileOpacity) -> Self {
        Self { path: file.path, class: file.class.word(), pins: all(file.pins), reasons: all(file.reasons) }
    }
}

impl From<PinName> for Pin {
    fn from(pin: PinName) -> Self {
        let kind = pin.word();
        let (name, path) = match pin {
            PinName::Env(name) | PinName::Named(name) => (Some(name), None),
            PinName::File(path) | PinName::Directory(path) => (None, Some(path)),
            PinName::Listing { dir, glob } => (Some(glob), Some(dir)),
        };
        Self { kind, name, path }
    }
}

impl From<ReasonHere> for Reason {
    fn from(place: ReasonHere) -> Self {
        Self {
            class: place.class.word(),
            reason: place.reason,
            label: place.label,
            operation: place.operation,
            line: place.line,
            column: place.column,
            when: if place.declaration.is_some() { "call" } else { "import" },
            declaration: place.declaration,
            chain: vec![place.path.clone()],
            path: place.path,
            shared: false,
            places: 1,
            fix: place.fix,
        }
    }
}

impl From<ReasonFor> for Reason {
    fn from(reason: ReasonFor) -> Self {
        let ReasonFor { place, places, chain, shared } = reason;
        Self { chain, shared, places, ..Self::from(place) }
    }
}

impl From<Kind> for ReasonCost {
    fn from(kind: Kind) -> Self {
        Self {
            class: kind.class.word(),
            reason: kind.reason,
            tests: kind.tests,
            places: kind.places,
            lifts: kind.lifted,
        }
    }
}

impl From<Held> for PlaceCost {
    fn from(held: Held) -> Self {
        let Held { place, tests, becomes } = held;
        Self {
            class: place.class.word(),
            reason: place.reason,
            operation: place.operation,
            path: place.path,
            line: place.line,
            column: place.column,
            tests,
            becomes: classes(&becomes),
            fix: place.fix,
        }
    }
}

fn opacity_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.opacity/1" })
}

fn pin_words(_: &mut SchemaGenerator) -> Schema {
    super::one_of(&["env", "file", "listing", "directory", "named"])
}

fn when_words(_: &mut SchemaGenerator) -> Schema {
    super::one_of(&["import", "call"])
}
