//! `owed.doctor/1`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::NotCheckedFile;

/// Whether everything is here that `owed` needs, and what costs precision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.doctor/1")]
pub(crate) struct DoctorAnswer {
    /// `owed.doctor/1`.
    #[schemars(schema_with = "doctor_tag")]
    pub schema: &'static str,
    /// Programs, and whether they are here.
    pub tools: Vec<Tool>,
    /// What the repository is, one finding each.
    pub repository: Vec<Finding>,
    /// Where the configuration stands; null when there is none.
    pub config: Option<String>,
    /// The runner projects that were found.
    pub projects: Vec<RunnerFound>,
    /// How many files were considered.
    pub files: usize,
    /// How many test files there are.
    pub tests: usize,
    /// What costs precision, biggest first.
    pub costs: Vec<Cost>,
    /// Files that were not read or not parsed.
    pub not_checked: Vec<NotCheckedFile>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it says of its version; null when it cannot be started.
    pub version: Option<String>,
    /// What it is needed for.
    pub purpose: &'static str,
    /// Whether `owed` cannot work here without it.
    pub needed: bool,
}

/// Something about the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// Whether it is as it should be.
    pub fine: bool,
    /// One sentence.
    pub detail: String,
}

/// A runner project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RunnerFound {
    /// The runner's name.
    pub runner: &'static str,
    /// Its directory; `.` for the root.
    pub project: String,
    /// Its name when it has one.
    pub name: Option<String>,
    /// How many test files it has.
    pub tests: usize,
    /// Whether its configuration is understood.
    pub settled: bool,
    /// What is not understood of it.
    pub unsettled: Vec<String>,
    /// Whether the runner is installed; null when that cannot be told.
    pub installed: Option<bool>,
}

/// Something that makes plans larger than they need to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Cost {
    /// How many test files it concerns.
    pub tests: usize,
    /// One sentence, with what would lift it.
    pub detail: String,
}

fn doctor_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.doctor/1" })
}
