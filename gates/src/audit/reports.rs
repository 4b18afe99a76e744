//! Machine reports of full runs, as runners write them. Which form a report has is told by
//! its content, never by its name:
//!
//! | form | made by |
//! | --- | --- |
//! | `owed.run/1` | `owed run --all --no-reuse --format json` |
//! | `owed` | the reporters that `owed` ships (`report.jsonl`) |
//! | `jest` | `vitest run --reporter=json`, `jest --json` |
//! | `mocha` | `mocha --reporter json` |
//! | `junit` | `pytest --junit-xml`, `vitest run --reporter=junit`, jest-junit, and others that name files |
//!
//! TAP and node's own JUnit report do not say which file a test that passed was in, so they
//! say nothing about which files ran: they are refused, not guessed at.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

/// A report, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Which form it has.
    pub form: &'static str,
    /// Files by the names that the report has for them, and whether something in each failed.
    pub files: BTreeMap<String, bool>,
    /// What failed without a file, sorted.
    pub without_file: BTreeSet<String>,
    /// Whether the run came to its end.
    pub is_whole: bool,
}

impl Report {
    fn new(form: &'static str) -> Self {
        Self { form, is_whole: true, ..Self::default() }
    }

    fn note(&mut self, file: &str, failed: bool) {
        *self.files.entry(file.to_owned()).or_default() |= failed;
    }
}

/// Why something is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportFault {
    /// There is no such file.
    Missing,
    /// It begins like one and is not.
    Malformed,
    /// It has none of the forms that are read.
    UnknownForm,
}

impl ReportFault {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "report-missing",
            Self::Malformed => "report-malformed",
            Self::UnknownForm => "unknown-format",
        }
    }

    /// For a person.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Missing => "there is no such file, or it cannot be read",
            Self::Malformed => "it is cut off, or not what it begins as",
            Self::UnknownForm => {
                "it is none of owed.run/1, owed's own reports, vitest's and jest's JSON, mocha's JSON, and \
                 JUnit XML that names files"
            }
        }
    }
}

/// Reads a report; `is_file` says which project-relative paths are files, for reports that
/// name modules and not files.
///
/// # Errors
/// Why it is none.
pub fn read(bytes: &[u8], is_file: &dyn Fn(&str) -> bool) -> Result<Report, ReportFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| ReportFault::UnknownForm)?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        return junit(text, is_file);
    }
    if !text.starts_with('{') {
        return Err(if text.is_empty() { ReportFault::Malformed } else { ReportFault::UnknownForm });
    }
    let first = text.lines().next().unwrap_or_default();
    if serde_json::from_str::<Value>(first).is_ok_and(|line| line.get("start").is_some()) {
        return own(text);
    }
    let value: Value = serde_json::from_str(text).map_err(|_| ReportFault::Malformed)?;
    match &value {
        value if value.get("schema").and_then(Value::as_str) == Some("owed.run/1") => run(value),
        value if value.get("testResults").is_some() => jest(value),
        value if value.get("stats").is_some() && value.get("failures").is_some() => mocha(value),
        _ => Err(ReportFault::UnknownForm),
    }
}

fn from<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, ReportFault> {
    T::deserialize(value).map_err(|_| ReportFault::Malformed)
}

/// `owed.run/1`. What was reused did not run, so it proves nothing here.
fn run(value: &Value) -> Result<Report, ReportFault> {
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Result>,
        no_verdict: Vec<Why>,
    }
    #[derive(Deserialize)]
    struct Result {
        path: String,
        outcome: String,
    }
    #[derive(Deserialize)]
    struct Why {
        reason: String,
    }
    let answer: Answer = from(value)?;
    let mut report = Report::new("owed.run/1");
    report.is_whole = answer.no_verdict.iter().all(|why| why.reason == "unmeasured");
    for result in answer.results {
        match result.outcome.as_str() {
            "passed" => report.note(&result.path, false),
            "failed" => report.note(&result.path, true),
            _ => report.is_whole = false,
        }
    }
    Ok(report)
}

/// Our reporters' lines.
fn own(text: &str) -> Result<Report, ReportFault> {
    #[derive(Deserialize)]
    struct File {
        file: String,
        #[serde(default)]
        failed: u64,
        #[serde(default)]
        errors: Vec<String>,
        state: Option<String>,
    }
    #[derive(Deserialize)]
    struct End {
        files: u64,
        interrupted: bool,
        #[serde(default)]
        errors: Vec<String>,
    }
    let mut report = Report::new("owed");
    report.is_whole = false;
    let mut lines = 0;
    for (number, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            // The last line may be half of one.
            return if number > 0 && !text.ends_with('\n') {
                Ok(report)
            } else {
                Err(ReportFault::Malformed)
            };
        };
        if value.get("start").is_some() {
            continue;
        }
        if let Some(end) = value.get("end") {
            let end: End = from(end)?;
            report.is_whole = !end.interrupted && end.files == lines;
            if !end.errors.is_empty() {
                report.without_file.insert("something outside of every file".to_owned());
            }
            continue;
        }
        let file: File = from(&value)?;
        lines += 1;
        let known = matches!(file.state.as_deref(), Some("pass" | "skip" | "todo"));
        report.note(&file.file, file.failed > 0 || !file.errors.is_empty() || !known);
    }
    Ok(report)
}

/// jest's form, which vitest writes as well.
fn jest(value: &Value) -> Result<Report, ReportFault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        test_results: Vec<File>,
        success: bool,
        #[serde(default)]
        was_interrupted: bool,
        #[serde(default)]
        run_exec_error: Value,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct File {
        name: String,
        status: String,
        #[serde(default)]
        assertion_results: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        status: String,
    }
    let answer: Answer = from(value)?;
    let mut report = Report::new("jest");
    report.is_whole = !answer.was_interrupted;
    for file in &answer.test_results {
        let failed = !matches!(file.status.as_str(), "passed" | "skipped" | "pending" | "todo" | "focused")
            || file.assertion_results.iter().any(|case| case.status == "failed");
        report.note(&file.name, failed);
    }
    if !answer.run_exec_error.is_null() || (!answer.success && report.files.values().all(|failed| !failed)) {
        report.without_file.insert("the run as a whole".to_owned());
    }
    Ok(report)
}

/// mocha's form.
fn mocha(value: &Value) -> Result<Report, ReportFault> {
    #[derive(Deserialize)]
    struct Answer {
        stats: Stats,
        #[serde(default)]
        tests: Vec<Case>,
        failures: Vec<Case>,
        #[serde(default)]
        pending: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Stats {
        failures: u64,
        end: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        #[serde(default)]
        full_title: String,
        file: Option<String>,
    }
    let answer: Answer = from(value)?;
    if answer.stats.failures != answer.failures.len() as u64 {
        return Err(ReportFault::Malformed);
    }
    let mut report = Report::new("mocha");
    report.is_whole = answer.stats.end.is_some();
    for case in answer.tests.iter().chain(&answer.pending) {
        match &case.file {
            Some(file) => report.note(file, false),
            None => report.is_whole = false,
        }
    }
    for case in &answer.failures {
        match &case.file {
            Some(file) => report.note(file, true),
            None => drop(report.without_file.insert(case.full_title.clone())),
        }
    }
    Ok(report)
}

/// JUnit XML. A case is in the file that it or its suite names, or in the module that its
/// class is in.
fn junit(text: &str, is_file: &dyn Fn(&str) -> bool) -> Result<Report, ReportFault> {
    let document = roxmltree::Document::parse(text).map_err(|_| ReportFault::Malformed)?;
    let top = document.root_element();
    if !matches!(top.tag_name().name(), "testsuites" | "testsuite") {
        return Err(ReportFault::UnknownForm);
    }
    let mut report = Report::new("junit");
    let mut nameless = 0_usize;
    for case in top.descendants().filter(|node| node.has_tag_name("testcase")) {
        let failed = case.children().any(|child| matches!(child.tag_name().name(), "failure" | "error"));
        match file_of(case, is_file) {
            Some(file) => report.note(&file, failed),
            None if failed => {
                report.without_file.insert(case.attribute("name").unwrap_or("a case").to_owned());
            }
            None => nameless += 1,
        }
    }
    if nameless > 0 && report.files.is_empty() {
        return Err(ReportFault::UnknownForm);
    }
    // Cases without a file may have been the only ones of theirs.
    report.is_whole = nameless == 0;
    Ok(report)
}

fn file_of(case: roxmltree::Node<'_, '_>, is_file: &dyn Fn(&str) -> bool) -> Option<String> {
    let suites = || case.ancestors().filter(|node| node.has_tag_name("testsuite"));
    let named = case.attribute("file").or_else(|| suites().find_map(|suite| suite.attribute("file")));
    if let Some(file) = named {
        return Some(file.to_owned());
    }
    let class = case.attribute("classname");
    let names = class.into_iter().chain(suites().filter_map(|suite| suite.attribute("name")));
    if let Some(path) = names.clone().find(|name| is_file(name) || name.starts_with('/')) {
        return Some(path.to_owned());
    }
    // `tests.test_a.TestX`, the longest part that is a module; a file that could not be
    // collected has it in its name.
    let dotted = class.filter(|c| !c.is_empty()).or_else(|| case.attribute("name"))?;
    let mut parts: Vec<&str> = dotted.split('.').collect();
    while !parts.is_empty() {
        let path = format!("{}.py", parts.join("/"));
        if is_file(&path) {
            return Some(path);
        }
        parts.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> String {
        let files = ["tests/test_a.py", "src/a.test.ts"];
        match read(text.as_bytes(), &|path| files.contains(&path)) {
            Err(fault) => fault.word().to_owned(),
            Ok(report) => {
                let files: Vec<String> = report
                    .files
                    .iter()
                    .map(|(f, bad)| format!("{f}{}", if *bad { " failed" } else { "" }))
                    .collect();
                let whole = if report.is_whole { "" } else { " cut" };
                let loose: Vec<String> = report.without_file.into_iter().collect();
                format!("{}{whole}: {} [{}]", report.form, files.join(", "), loose.join(", "))
            }
        }
    }

    #[test]
    fn each_form_is_told_by_its_content() {
        for (text, want) in [
            ("", "report-malformed"),
            ("TAP version 13\nok 1 - x\n", "unknown-format"),
            ("{}", "unknown-format"),
            ("[]", "unknown-format"),
            ("{\"testResults\": [", "report-malformed"),
            (
                "{\"schema\":\"owed.run/1\",\"no_verdict\":[],\"results\":[{\"path\":\"a\",\"outcome\":\"failed\"},{\"path\":\"b\",\"outcome\":\"passed\"}]}",
                "owed.run/1: a failed, b []",
            ),
            (
                "{\"schema\":\"owed.run/1\",\"no_verdict\":[],\"results\":[{\"path\":\"a\",\"outcome\":\"reused\"}]}",
                "owed.run/1 cut:  []",
            ),
            (
                "{\"start\":{}}\n{\"file\":\"/p/a\",\"passed\":1,\"state\":\"pass\"}\n{\"file\":\"/p/b\",\"state\":null}\n{\"end\":{\"files\":2,\"interrupted\":false}}\n",
                "owed: /p/a, /p/b failed []",
            ),
            ("{\"start\":{}}\n{\"file\":\"/p/a\",\"state\":\"pass\"}\n{\"en", "owed cut: /p/a []"),
            (
                "{\"success\":false,\"numTotalTestSuites\":2,\"testResults\":[{\"name\":\"/p/a\",\"status\":\"passed\",\"assertionResults\":[]},{\"name\":\"/p/b\",\"status\":\"failed\"}]}",
                "jest: /p/a, /p/b failed []",
            ),
            (
                "{\"success\":false,\"testResults\":[{\"name\":\"/p/a\",\"status\":\"passed\"}]}",
                "jest: /p/a [the run as a whole]",
            ),
            (
                "{\"stats\":{\"failures\":1,\"end\":\"x\"},\"tests\":[{\"file\":\"/p/a\",\"fullTitle\":\"t\"}],\"failures\":[{\"file\":\"/p/a\"}]}",
                "mocha: /p/a failed []",
            ),
            ("{\"stats\":{\"failures\":2,\"end\":\"x\"},\"failures\":[]}", "report-malformed"),
            (
                "<testsuites><testsuite name=\"pytest\"><testcase classname=\"tests.test_a.TestX\" name=\"t\"><failure/></testcase></testsuite></testsuites>",
                "junit: tests/test_a.py failed []",
            ),
            (
                "<testsuites><testsuite name=\"src/a.test.ts\"><testcase classname=\"src/a.test.ts\" name=\"t\"/></testsuite></testsuites>",
                "junit: src/a.test.ts []",
            ),
            ("<testsuites><testcase name=\"x\" classname=\"test\"/></testsuites>", "unknown-format"),
            (
                "<testsuite><testcase name=\"x\" file=\"b\"/><testcase name=\"y\" classname=\"q\"><error/></testcase></testsuite>",
                "junit: b [y]",
            ),
            ("<testsuites><testcase", "report-malformed"),
            ("<html/>", "unknown-format"),
        ] {
            assert_eq!(say(text), want, "{text}");
        }
    }
}
