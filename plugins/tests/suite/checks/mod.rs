//! Cases of checks: `corpus/check`, `corpus/ratchet` and `corpus/repeated`, each asked with
//! one thread and four, with the files in both orders, and twice.
//!
//! `CHECKS=substring` runs only the cases whose path holds the substring; `UPDATE_CORPUS=1`
//! rewrites answers as for the other cases.

mod answer;
mod case;
mod change;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::store;
use case::Case;

#[test]
fn checks() {
    let filter = store::variable("CHECKS").unwrap_or_default();
    let update = store::variable("UPDATE_CORPUS").is_some_and(|v| v == "1");
    assert!(
        !(update && store::variable("CI").is_some_and(|v| !v.is_empty() && v != "false")),
        "UPDATE_CORPUS is refused under CI: answers are accepted by a person who reads the diff"
    );
    let pools = answer::Pools::new();
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut ran = 0;
    for entry in store::cases_in(store::CHECKS) {
        let case = match Case::parse(&entry.text, entry.tree.clone()) {
            Ok(case) => case,
            Err(message) => {
                failures.push((entry.name, format!("the case cannot be read: {message}")));
                continue;
            }
        };
        if let Some(other) = titles.insert(case.title.clone(), entry.name.clone()) {
            failures.push((entry.name.clone(), format!("has the same title as {other}")));
        }
        if !entry.name.contains(&filter) {
            continue;
        }
        ran += 1;
        match answer::ask(&case, &pools) {
            Err(message) => failures.push((entry.name, message)),
            Ok(answer) => {
                let mut text = String::new();
                for (block, lines) in case.blocks.iter().map(|block| (block, answer.block(&block.part))) {
                    if block.lines != lines {
                        let _ = writeln!(
                            text,
                            "{}:\n  expected\n{}  found\n{}",
                            block.part,
                            list(&block.lines),
                            list(&lines)
                        );
                    }
                }
                if update && !text.is_empty() {
                    match case::rewrite(&case, &entry.text, &answer) {
                        Ok(new) => {
                            store::rewrite(&entry, &new);
                            continue;
                        }
                        Err(refusal) => text += &refusal,
                    }
                }
                if !text.is_empty() {
                    failures
                        .push((entry.name, format!("# {}\n{text}-- the whole answer\n{answer}", case.title)));
                }
            }
        }
    }
    println!("{ran} cases of checks, {} failed", failures.len());
    assert!(ran > 0, "no case has {filter:?} in its path");
    let mut text = String::new();
    for (name, message) in &failures {
        let _ = writeln!(text, "\n==== corpus/{name}\n{}", message.trim_end());
    }
    assert!(failures.is_empty(), "{text}\n{} of {ran} cases failed", failures.len());
}

fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return "    none\n".to_owned();
    }
    lines.iter().map(|line| format!("    {line}\n")).collect()
}

#[test]
fn every_case_that_the_index_names_is_there() {
    let cases: Vec<String> = store::cases_in(store::CHECKS).into_iter().map(|entry| entry.name).collect();
    let rows = store::index_of("CHECKS.md");
    assert!(rows.len() > 40, "{} rows", rows.len());
    for (row, names) in rows.iter().filter(|(_, names)| !names.starts_with("elsewhere: ")) {
        for name in names.split(',').map(|name| name.trim().trim_matches('`')) {
            assert!(cases.iter().any(|case| case == name), "row {row} names {name:?}, which is no case");
        }
    }
}
