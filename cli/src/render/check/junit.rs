//! JUnit XML, for gates that only understand test reports: one case a function over its
//! cap, one a file that was not checked, one a rule that left files out.

use std::fmt::Write as _;

use crate::answer::check::CheckAnswer;
use crate::render::count;

struct Case {
    class: String,
    name: String,
    /// `<failure>`, `<error>` or `<skipped>` with its message; `None` is a pass.
    result: Option<(&'static str, String)>,
}

/// The report. New groups fail only when they gate.
pub(crate) fn report(answer: &CheckAnswer, repeated_gates: bool) -> String {
    let mut cases = Vec::new();
    for file in &answer.files.not_checked {
        let line = file.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        cases.push(Case {
            class: file.path.clone(),
            name: format!("NOT CHECKED ({})", file.reason),
            result: Some(("error", format!("{}{line}", super::reason(file.reason)))),
        });
    }
    for function in answer.functions.iter().filter(|function| function.over) {
        let passes = function.debt.as_ref().is_some_and(|debt| debt.passes);
        cases.push(Case {
            class: function.path.clone(),
            name: format!("{} (line {})", function.name, function.start_line),
            result: (!passes).then(|| ("failure", super::sentence(function))),
        });
    }
    for group in &answer.repeated {
        let fails = repeated_gates && group.tier == "claim" && group.status == "new";
        cases.push(Case {
            class: group.members[0].path.clone(),
            name: format!("repeated: {} (line {})", group.members[0].name, group.members[0].start_line),
            result: fails.then(|| ("failure", super::group_sentence(group))),
        });
    }
    for rule in &answer.files.excluded {
        let text = format!("{} excluded by the rule `{}`", count(rule.count, "file"), rule.rule);
        cases.push(Case {
            class: "excluded".to_owned(),
            name: rule.rule.to_owned(),
            result: Some(("skipped", text)),
        });
    }
    cases.push(Case {
        class: "checked".to_owned(),
        name: format!("{} checked", count(answer.files.checked, "file")),
        result: None,
    });
    let of = |kind: &str| {
        cases.iter().filter(|case| case.result.as_ref().is_some_and(|(result, _)| *result == kind)).count()
    };
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        cases.len(),
        of("failure"),
        of("error"),
        of("skipped")
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"owed check\" {counts}>\n"
    );
    for case in &cases {
        let _ = write!(out, "    <testcase classname=\"{}\" name=\"{}\"", xml(&case.class), xml(&case.name));
        match &case.result {
            None => out.push_str("/>\n"),
            Some((result, message)) => {
                let _ = writeln!(out, "><{result} message=\"{}\"/></testcase>", xml(message));
            }
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Text of an attribute. What XML 1.0 cannot hold at all becomes U+FFFD.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
