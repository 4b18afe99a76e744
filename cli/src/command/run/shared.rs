//! Results that are handed to whoever waits for the same request, and taken by them.

use serde::{Deserialize, Serialize};

use crate::answer::run::{CaseCounts, Denied, RunAnswer, TestResult};

/// One test file, as it is handed on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Handed {
    path: String,
    runner: String,
    project: String,
    outcome: String,
    duration_ms: Option<u64>,
    cases: (u32, u32, u32),
    errors: Vec<String>,
}

/// What there is to hand on of an answer.
pub(super) fn write(answer: &RunAnswer) -> String {
    let of = |result: &TestResult| Handed {
        path: result.path.clone(),
        runner: result.runner.to_owned(),
        project: result.project.clone(),
        outcome: result.outcome.to_owned(),
        duration_ms: result.duration_ms,
        cases: (result.cases.passed, result.cases.failed, result.cases.skipped),
        errors: result.errors.clone(),
    };
    let all: Vec<Handed> = answer.results.iter().map(of).collect();
    serde_json::to_string(&all).expect("results are plain data")
}

/// What was handed on; nothing when it cannot be understood, so that everything is run.
pub(super) fn read(text: &str) -> Vec<Handed> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Takes the result of the same test, if there is one. It is the word of another run: there
/// is no receipt behind it, and nothing was verified but what its sight holds.
pub(super) fn take(known: &[Handed], result: &mut TestResult, by: u32) {
    let is_same = |one: &&Handed| {
        (one.path.as_str(), one.runner.as_str(), one.project.as_str())
            == (result.path.as_str(), result.runner, result.project.as_str())
    };
    let Some(found) = known.iter().find(is_same) else { return };
    result.outcome = match found.outcome.as_str() {
        "passed" | "reused" => "passed",
        "failed" => "failed",
        _ => return,
    };
    let (passed, failed, skipped) = found.cases;
    result.cases = CaseCounts { passed, failed, skipped };
    result.duration_ms = found.duration_ms;
    result.errors.clone_from(&found.errors);
    let detail = format!(
        "process {by} ran it for the same request; sources, inputs, environment and platform are as they were"
    );
    result.denied.push(Denied::new("shared", detail));
}
