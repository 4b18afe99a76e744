//! What a runner's report says about each test file, and which of it a receipt may rest on.
//!
//! All runners write one format (`plugins/src/runners/report/`): a `start` line, a line a
//! test file, an `end` line, each one JSON object. Terminal text is never a verdict, and
//! neither is an exit code alone: a file passes when the report is whole, the process ended
//! by itself with 0, and the file's own line says so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Numbers of cases of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cases {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
    /// Skipped, pending or to be done.
    pub skipped: u32,
}

/// What happened to one test file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Its line says that nothing failed, in a whole report.
    Passed,
    /// A case or the file itself failed.
    Failed,
    /// Its run was cut off.
    Interrupted,
    /// It was asked for and there is no line about it.
    NotRun,
}

/// Why a file that was run gets no receipt. Closed, and ordered by importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoReceipt {
    /// It failed.
    Failed,
    /// Its run was cut off.
    Interrupted,
    /// There is no report.
    ReportMissing,
    /// The report has no end.
    ReportTruncated,
    /// The report is not one.
    ReportMalformed,
    /// The report has no line about it.
    NotReported,
    /// The process ended with a failure that no file owns.
    ExitStatus,
    /// Something failed outside every file.
    UnhandledError,
    /// It holds no case.
    Empty,
    /// Every case was skipped.
    AllSkipped,
    /// A case neither passed nor failed.
    Unfinished,
    /// A case passed only when it was tried again.
    Retried,
    /// A snapshot was written, so that the next run has another input.
    SnapshotWritten,
    /// Cases ran in workers whose inputs are not told apart.
    Unmeasured,
    /// It loaded a file that is none of its known inputs.
    ClosureIncomplete,
}

impl NoReceipt {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::ReportMissing => "report-missing",
            Self::ReportTruncated => "report-truncated",
            Self::ReportMalformed => "report-malformed",
            Self::NotReported => "not-reported",
            Self::ExitStatus => "exit-status",
            Self::UnhandledError => "unhandled-error",
            Self::Empty => "empty",
            Self::AllSkipped => "all-skipped",
            Self::Unfinished => "unfinished",
            Self::Retried => "retried",
            Self::SnapshotWritten => "snapshot-written",
            Self::Unmeasured => "unmeasured",
            Self::ClosureIncomplete => "closure-incomplete",
        }
    }
}

/// One file of one invocation, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// Project-relative path.
    pub path: String,
    /// What happened.
    pub outcome: Outcome,
    /// Why there can be no receipt, sorted; empty when there can.
    pub no_receipt: Vec<NoReceipt>,
    /// Its cases.
    pub cases: Cases,
    /// Milliseconds by the runner's own clock.
    pub ms: Option<u64>,
    /// What the runner said, first lines first.
    pub errors: Vec<String>,
}

/// How the process of an invocation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// It was stopped: deadline, memory, signal.
    Interrupted,
}

/// A line about a file, as reporters write it. `pending` cases neither passed nor failed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FileLine {
    file: Option<String>,
    passed: u32,
    failed: u32,
    skipped: u32,
    pending: u32,
    retried: u32,
    snapshots: u32,
    ms: u64,
    state: Option<String>,
    errors: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct EndLine {
    files: u32,
    interrupted: bool,
    snapshots: u32,
    errors: Vec<String>,
    unmeasured: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Start {
        #[expect(dead_code, reason = "only its presence counts")]
        start: serde::de::IgnoredAny,
    },
    End {
        end: EndLine,
    },
    File(FileLine),
}

/// A whole or partial report.
#[derive(Debug, Default)]
struct Report {
    files: Vec<FileLine>,
    end: Option<EndLine>,
    fault: Option<NoReceipt>,
}

/// Judges the files `asked` of one invocation by its report (`None` when there is none) and
/// by how its process ended. `place` turns a path of the report into a project-relative one.
/// The answer has exactly the files `asked`, sorted.
pub fn judge(
    asked: &[String],
    report: Option<&[u8]>,
    ended: Ended,
    place: &dyn Fn(&str) -> Option<String>,
) -> Vec<FileOutcome> {
    let report = read(report);
    let mut lines: BTreeMap<String, Vec<&FileLine>> = BTreeMap::new();
    for line in &report.files {
        if let Some(path) = line.file.as_deref().and_then(place) {
            lines.entry(path).or_default().push(line);
        }
    }
    let end = report.end.clone().unwrap_or_default();
    let interrupted = ended == Ended::Interrupted || end.interrupted;
    let any_failed = report.files.iter().any(is_failed);
    let mut common = Vec::new();
    common.extend(report.fault);
    if interrupted {
        common.push(NoReceipt::Interrupted);
    }
    if !end.errors.is_empty() {
        common.push(NoReceipt::UnhandledError);
    }
    if matches!(ended, Ended::Exit(code) if code != 0) && !any_failed {
        common.push(NoReceipt::ExitStatus);
    }
    if !end.unmeasured.is_empty() {
        common.push(NoReceipt::Unmeasured);
    }
    let by_file: u32 = report.files.iter().map(|line| line.snapshots).sum();
    if end.snapshots > by_file {
        common.push(NoReceipt::SnapshotWritten);
    }
    let mut asked = asked.to_vec();
    asked.sort();
    asked.dedup();
    asked.into_iter().map(|path| judge_file(lines.get(&path), path, &common, interrupted, &end)).collect()
}

fn judge_file(
    lines: Option<&Vec<&FileLine>>,
    path: String,
    common: &[NoReceipt],
    interrupted: bool,
    end: &EndLine,
) -> FileOutcome {
    let mut no_receipt = common.to_vec();
    let mut out = FileOutcome {
        path,
        outcome: if interrupted { Outcome::Interrupted } else { Outcome::NotRun },
        no_receipt: Vec::new(),
        cases: Cases::default(),
        ms: None,
        errors: Vec::new(),
    };
    let Some(lines) = lines else {
        if !interrupted {
            no_receipt.push(NoReceipt::NotReported);
        }
        out.errors.clone_from(&end.errors);
        out.no_receipt = tidy(no_receipt);
        return out;
    };
    // One file may run in several projects, or as a test and as a type test.
    let mut finished = true;
    for line in lines {
        out.cases.passed += line.passed;
        out.cases.failed += line.failed;
        out.cases.skipped += line.skipped;
        out.ms = Some(out.ms.unwrap_or(0) + line.ms);
        out.errors.extend(line.errors.iter().cloned());
        let all = line.passed + line.failed + line.skipped + line.pending;
        let checks = [
            (is_failed(line), NoReceipt::Failed),
            (line.pending > 0, NoReceipt::Unfinished),
            (line.retried > 0, NoReceipt::Retried),
            (line.snapshots > 0, NoReceipt::SnapshotWritten),
            (all == 0, NoReceipt::Empty),
            (all > 0 && line.skipped == all, NoReceipt::AllSkipped),
        ];
        no_receipt.extend(checks.into_iter().filter(|(holds, _)| *holds).map(|(_, why)| why));
        finished &= line.pending == 0;
    }
    let cut = common.iter().any(|why| {
        matches!(why, NoReceipt::ReportMissing | NoReceipt::ReportTruncated | NoReceipt::ReportMalformed)
    });
    out.outcome = if no_receipt.contains(&NoReceipt::Failed) {
        Outcome::Failed
    } else if interrupted || cut || !finished {
        Outcome::Interrupted
    } else if no_receipt.contains(&NoReceipt::ExitStatus) || no_receipt.contains(&NoReceipt::UnhandledError) {
        // Nothing in the file failed, and the run did.
        out.errors.extend(end.errors.iter().cloned());
        Outcome::Failed
    } else {
        Outcome::Passed
    };
    out.no_receipt = tidy(no_receipt);
    out
}

fn tidy(mut list: Vec<NoReceipt>) -> Vec<NoReceipt> {
    list.sort_unstable();
    list.dedup();
    list
}

fn is_failed(line: &FileLine) -> bool {
    let known = matches!(line.state.as_deref(), Some("pass" | "skip" | "todo"));
    line.failed > 0 || !line.errors.is_empty() || !known
}

fn read(bytes: Option<&[u8]>) -> Report {
    let mut report = Report::default();
    let Some(bytes) = bytes else {
        report.fault = Some(NoReceipt::ReportMissing);
        return report;
    };
    let mut started = false;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(Line::Start { .. }) if !started => started = true,
            Ok(Line::End { end }) if started && report.end.is_none() => report.end = Some(end),
            Ok(Line::File(file)) if started && report.end.is_none() && file.file.is_some() => {
                report.files.push(file);
            }
            // The last line may be half of one; anything else is no report of ours.
            Err(_) if !bytes.ends_with(b"\n") && bytes.ends_with(line) => {}
            _ => {
                report.fault = Some(NoReceipt::ReportMalformed);
                return report;
            }
        }
    }
    report.fault = match &report.end {
        None => Some(NoReceipt::ReportTruncated),
        Some(end) if end.files as usize != report.files.len() => Some(NoReceipt::ReportMalformed),
        Some(_) => None,
    };
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "{\"start\": {\"runner\": \"x\"}}\n";

    fn file(rest: &str) -> String {
        format!("{{\"file\": \"/p/a\"{rest}}}\n")
    }

    fn say(report: Option<&str>, ended: Ended) -> String {
        let place = |path: &str| path.strip_prefix("/p/").map(str::to_owned);
        let judged = judge(&["a".to_owned()], report.map(str::as_bytes), ended, &place);
        let [one] = judged.as_slice() else { panic!("{judged:?}") };
        let words: Vec<&str> = one.no_receipt.iter().map(|why| why.word()).collect();
        format!("{:?} {}", one.outcome, words.join(" ")).trim_end().to_owned()
    }

    #[test]
    fn only_a_whole_report_of_a_run_that_passed_is_a_pass() {
        let end = "{\"end\": {\"files\": 1}}\n";
        let pass = file(", \"passed\": 2, \"state\": \"pass\"");
        let whole = |line: &str| format!("{START}{line}{end}");
        for (report, code, want) in [
            (Some(whole(&pass)), 0, "Passed"),
            (Some(whole(&pass)), 1, "Failed exit-status"),
            (None, 0, "NotRun report-missing not-reported"),
            (Some(String::new()), 0, "NotRun report-truncated not-reported"),
            (Some(format!("{START}{pass}")), 0, "Interrupted report-truncated"),
            (Some(format!("{START}{pass}{{\"end\": {{\"fi")), 0, "Interrupted report-truncated"),
            (Some(format!("{START}{pass}nonsense\n{end}")), 0, "Interrupted report-malformed"),
            (Some(format!("{pass}{end}")), 0, "NotRun report-malformed not-reported"),
            (Some(format!("{START}{end}")), 0, "NotRun report-malformed not-reported"),
            (Some(format!("{START}{}", end.replace('1', "0"))), 0, "NotRun not-reported"),
            (Some(whole(&file(", \"passed\": 1, \"failed\": 1, \"state\": \"fail\""))), 0, "Failed failed"),
            (Some(whole(&file(", \"passed\": 1"))), 0, "Failed failed"),
            (Some(whole(&file(", \"state\": \"pass\""))), 0, "Passed empty"),
            (Some(whole(&file(", \"skipped\": 3, \"state\": \"skip\""))), 0, "Passed all-skipped"),
            (Some(whole(&file(", \"passed\": 1, \"retried\": 1, \"state\": \"pass\""))), 0, "Passed retried"),
            (
                Some(whole(&file(", \"passed\": 1, \"pending\": 1, \"state\": \"pass\""))),
                0,
                "Interrupted unfinished",
            ),
            (
                Some(format!("{START}{pass}{{\"end\": {{\"files\": 1, \"snapshots\": 1}}}}\n")),
                0,
                "Passed snapshot-written",
            ),
            (
                Some(format!("{START}{pass}{{\"end\": {{\"files\": 1, \"errors\": [\"x\"]}}}}\n")),
                1,
                "Failed exit-status unhandled-error",
            ),
            (
                Some(format!("{START}{pass}{{\"end\": {{\"files\": 1, \"unmeasured\": [\"xdist\"]}}}}\n")),
                0,
                "Passed unmeasured",
            ),
        ] {
            assert_eq!(say(report.as_deref(), Ended::Exit(code)), want, "{report:?} {code}");
        }
        assert_eq!(say(Some(&whole(&pass)), Ended::Interrupted), "Interrupted interrupted");
    }
}
