//! Code Climate's issues, as GitLab reads them in its code quality report.

use serde_json::{Value, json};

use crate::answer::check::CheckAnswer;
use crate::render::count;

/// The issues: findings, files that were not checked, and what each rule left out.
pub(crate) fn issues(answer: &CheckAnswer) -> Value {
    let mut list = Vec::new();
    for file in &answer.files.not_checked {
        list.push(issue(&Issue {
            check: "not-checked",
            category: "Bug Risk",
            severity: "critical",
            description: format!("NOT CHECKED ({}): {}", file.reason, super::reason(file.reason)),
            key: format!("{}\u{1f}{}", file.path, file.reason),
            place: place(&file.path, file.line.unwrap_or(1), file.line.unwrap_or(1)),
            others: Vec::new(),
        }));
    }
    for function in answer.functions.iter().filter(|function| function.over) {
        let passes = function.debt.as_ref().is_some_and(|debt| debt.passes);
        list.push(issue(&Issue {
            check: "function-tokens",
            category: "Complexity",
            severity: if passes { "info" } else { "major" },
            description: super::sentence(function),
            key: format!("{}\u{1f}{}\u{1f}{}", function.path, function.name, function.nth),
            place: place(&function.path, function.start_line, function.end_line),
            others: Vec::new(),
        }));
    }
    for group in &answer.repeated {
        let mut places = group.members.iter().map(|one| place(&one.path, one.start_line, one.end_line));
        let Some(first) = places.next() else { continue };
        list.push(issue(&Issue {
            check: "repeated-implementation",
            category: "Duplication",
            severity: if group.status == "new" { "minor" } else { "info" },
            description: super::group_sentence(group),
            // Equal digests may stand in several files when each is looked at alone.
            key: format!("{}\u{1f}{}", group.id, group.members[0].path),
            place: first,
            others: places.collect(),
        }));
    }
    for rule in &answer.files.excluded {
        list.push(issue(&Issue {
            check: "excluded",
            category: "Clarity",
            severity: "info",
            description: format!("{} excluded by the rule `{}`", count(rule.count, "file"), rule.rule),
            key: rule.rule.to_owned(),
            place: place(".", 1, 1),
            others: Vec::new(),
        }));
    }
    list.push(issue(&Issue {
        check: "checked",
        category: "Clarity",
        severity: "info",
        description: format!("{} checked", count(answer.files.checked, "file")),
        key: String::new(),
        place: place(".", 1, 1),
        others: Vec::new(),
    }));
    Value::Array(list)
}

struct Issue {
    check: &'static str,
    category: &'static str,
    severity: &'static str,
    description: String,
    /// What makes it the same issue in the next run.
    key: String,
    place: Value,
    others: Vec<Value>,
}

fn issue(issue: &Issue) -> Value {
    let mut value = json!({
        "type": "issue",
        "check_name": issue.check,
        "description": issue.description,
        "categories": [issue.category],
        "severity": issue.severity,
        "fingerprint": fingerprint(&[issue.check, &issue.key]),
        "location": issue.place,
    });
    if !issue.others.is_empty() {
        value["other_locations"] = Value::Array(issue.others.clone());
    }
    value
}

fn place(path: &str, begin: u32, end: u32) -> Value {
    json!({ "path": path, "lines": { "begin": begin, "end": end } })
}

/// 32 hexadecimal digits, as the format expects: FNV-1a of 128 bits.
fn fingerprint(parts: &[&str]) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in parts.join("\u{1e}").bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    }
    format!("{hash:032x}")
}
