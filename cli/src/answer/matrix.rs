//! `owed.matrix/1`: owed tests as jobs of a CI matrix.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{NotCheckedFile, plan::TestOwed};

/// A CI matrix. `include` has the form that GitHub's `strategy.matrix` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.matrix/1")]
pub(crate) struct MatrixAnswer {
    /// `owed.matrix/1`.
    #[schemars(schema_with = "matrix_tag")]
    pub schema: &'static str,
    /// How much is owed (see `owed.plan/1`).
    #[schemars(schema_with = "super::plan::mode_words")]
    pub mode: &'static str,
    /// The jobs; never an empty one, and no job at all when nothing is owed.
    pub include: Vec<Job>,
    /// Files that were not read or not parsed.
    pub not_checked: Vec<NotCheckedFile>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Job {
    /// 1-based number.
    pub shard: usize,
    /// How many jobs there are.
    pub of: usize,
    /// Its test files, by project-relative path.
    pub tests: Vec<String>,
    /// The commands that run exactly them.
    pub run: Vec<Command>,
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Command {
    /// The runner's name.
    pub runner: &'static str,
    /// Working directory, relative to the project root; `.` for the root itself.
    pub cwd: String,
    /// Program and arguments.
    pub argv: Vec<String>,
}

/// Cuts `tests` into at most `jobs` runs of neighbours whose sizes differ by at most one.
/// Neighbours share a runner project, so each job sets up few of them; and one test
/// more moves each border by at most one.
pub(crate) fn shards(tests: &[TestOwed], jobs: usize) -> Vec<&[TestOwed]> {
    let jobs = jobs.min(tests.len());
    let border = |job: usize| job * tests.len() / jobs.max(1);
    (0..jobs).map(|job| &tests[border(job)..border(job + 1)]).collect()
}

fn matrix_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.matrix/1" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::plan::ReceiptStatus;

    #[test]
    fn shards_are_even_and_none_is_empty() {
        let test = |n: usize| TestOwed {
            path: format!("{n}.test.ts"),
            runner: "vitest",
            project: ".".to_owned(),
            reasons: Vec::new(),
            opacity: "pure",
            receipt: ReceiptStatus { status: "none", reason: "no-ledger", detail: None },
            estimate_ms: None,
        };
        for (tests, jobs, sizes) in
            [(0, 3, &[][..]), (2, 3, &[1, 1]), (7, 3, &[2, 2, 3]), (9, 3, &[3, 3, 3]), (5, 1, &[5])]
        {
            let tests: Vec<TestOwed> = (0..tests).map(test).collect();
            let cut: Vec<usize> = shards(&tests, jobs).iter().map(|shard| shard.len()).collect();
            assert_eq!(cut, sizes);
        }
    }
}
