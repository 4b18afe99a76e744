//! SARIF 2.1.0 (OASIS). Files that were NOT CHECKED and rules that excluded files are
//! notifications of the invocation, which is not successful when something was not checked:
//! a run that could not look must not read as one that found nothing.

use serde_json::{Value, json};

use crate::answer::check::{CheckAnswer, FunctionSeen, GroupSeen};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The log of one run.
pub(crate) fn log(answer: &CheckAnswer) -> Value {
    let functions = answer.functions.iter().filter(|function| function.over).map(function);
    let groups = answer.repeated.iter().map(group);
    let results: Vec<Value> = functions.chain(groups).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "owed",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
                "notifications": [
                    { "id": "not-checked", "shortDescription": { "text": "A file in scope was not checked" } },
                    { "id": "excluded", "shortDescription": { "text": "A rule left files out" } },
                    { "id": "problem", "shortDescription": { "text": "Something was not understood" } },
                ],
            } },
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": answer.files.not_checked.is_empty(),
                "toolExecutionNotifications": notifications(answer),
            }],
            "results": results,
        }],
    })
}

fn rules() -> Value {
    json!([
        {
            "id": "function-tokens",
            "shortDescription": { "text": "A function is over its cap of tokens" },
            "help": { "text": "Split it along its own steps, or record the debt with `owed check --update-debt`." },
        },
        {
            "id": "repeated-implementation",
            "shortDescription": { "text": "An implementation is written more than once" },
            "help": { "text": "Share it when the contracts are the same; otherwise say why with a comment \
                               `owed: allow repeated — REASON`." },
        },
    ])
}

fn notifications(answer: &CheckAnswer) -> Vec<Value> {
    let mut list = Vec::new();
    for file in &answer.files.not_checked {
        let mut place = json!({ "artifactLocation": { "uri": uri(&file.path) } });
        if let Some(line) = file.line {
            place["region"] = json!({ "startLine": line });
        }
        list.push(json!({
            "descriptor": { "id": "not-checked" },
            "level": "error",
            "message": { "text": format!("NOT CHECKED: {} ({}): {}", file.path, file.reason, super::reason(file.reason)) },
            "locations": [{ "physicalLocation": place }],
        }));
    }
    for rule in &answer.files.excluded {
        list.push(json!({
            "descriptor": { "id": "excluded" },
            "level": "note",
            "message": { "text": format!("{} excluded by the rule `{}`", crate::render::count(rule.count, "file"), rule.rule) },
        }));
    }
    list.push(json!({
        "descriptor": { "id": "excluded" },
        "level": "note",
        "message": { "text": format!("{} checked", crate::render::count(answer.files.checked, "file")) },
    }));
    for problem in &answer.problems {
        list.push(json!({
            "descriptor": { "id": "problem" },
            "level": "warning",
            "message": { "text": format!("{}: {}", problem.code, problem.detail) },
        }));
    }
    list
}

fn function(function: &FunctionSeen) -> Value {
    let passes = function.debt.as_ref().is_some_and(|debt| debt.passes);
    json!({
        "ruleId": "function-tokens",
        "level": if passes { "note" } else { "error" },
        "message": { "text": super::sentence(function) },
        "locations": [location(&function.path, &function.name, function.start_line, function.end_line)],
        "partialFingerprints": {
            "function/v1": format!("{}\u{1f}{}\u{1f}{}", function.path, function.name, function.nth),
        },
        "properties": {
            "own": function.tokens.own,
            "total": function.tokens.total,
            "cap": function.cap,
            "status": function.debt.as_ref().map(|debt| debt.status),
            "cyclomatic": function.complexity.cyclomatic,
            "cognitive": function.complexity.cognitive,
        },
    })
}

fn group(group: &GroupSeen) -> Value {
    let places: Vec<Value> = group
        .members
        .iter()
        .map(|member| location(&member.path, &member.name, member.start_line, member.end_line))
        .collect();
    let related: Vec<Value> = places
        .iter()
        .skip(1)
        .zip(&group.members[1..])
        .map(|(place, member)| {
            let mut place = place.clone();
            place["message"] = json!({ "text": member.name });
            place
        })
        .collect();
    json!({
        "ruleId": "repeated-implementation",
        "level": "note",
        "baselineState": if group.status == "known" { "unchanged" } else { "new" },
        "message": { "text": super::group_sentence(group) },
        "locations": [places[0]],
        "relatedLocations": related,
        "partialFingerprints": { "group/v1": group.id },
        "properties": { "tier": group.tier, "statements": group.statements, "literals": group.literals },
    })
}

fn location(path: &str, name: &str, start: u32, end: u32) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(path) },
            "region": { "startLine": start, "endLine": end },
        },
        "logicalLocations": [{ "fullyQualifiedName": name, "kind": "function" }],
    })
}

/// A project-relative path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
