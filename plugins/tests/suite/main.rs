//! The integration tests of the plugins: every case of `corpus/` is asked of the engine
//! with the real languages and runners, and compared with the answer written in it.
//!
//! `CORPUS=substring` runs only the cases whose path holds the substring.
//! `UPDATE_CORPUS=1` rewrites result blocks (never under CI, and never across `none`).

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod alike;
mod answer;
mod case;
mod checks;
mod compare;
mod effects;
mod functions;
mod grammar;
mod opacity;
mod render;
mod store;
mod warm;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use answer::Pools;
use case::Case;

/// What became of one case.
enum Outcome {
    Right,
    KnownWrong(String),
    Failed(String),
}

#[test]
fn corpus() {
    let filter = store::variable("CORPUS").unwrap_or_default();
    let update = store::variable("UPDATE_CORPUS").is_some_and(|v| v == "1");
    assert!(
        !(update && store::variable("CI").is_some_and(|v| !v.is_empty() && v != "false")),
        "UPDATE_CORPUS is refused under CI: answers are accepted by a person who reads the diff"
    );
    let pools = Pools::new();
    let mut failures = Vec::new();
    let mut known_wrong = Vec::new();
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    let mut cases = Vec::new();
    for entry in store::cases() {
        match Case::parse(&entry.text, entry.tree.clone()) {
            Err(message) => failures.push((entry.name, format!("the case cannot be read: {message}"))),
            Ok(case) => {
                if let Some(other) = titles.insert(case.title.clone(), entry.name.clone()) {
                    failures.push((entry.name.clone(), format!("has the same title as {other}")));
                }
                if entry.name.contains(&filter) {
                    cases.push((case, entry));
                }
            }
        }
    }
    let ran = cases.len();
    let outcomes = judge_all(&cases, &pools, update);
    for ((_, entry), outcome) in cases.into_iter().zip(outcomes) {
        match outcome {
            Outcome::Right => {}
            Outcome::KnownWrong(reason) => known_wrong.push((entry.name, reason)),
            Outcome::Failed(message) => failures.push((entry.name, message)),
        }
    }
    println!("{ran} cases, {} known to be wrong, {} failed", known_wrong.len(), failures.len());
    for (name, reason) in &known_wrong {
        println!("known wrong: corpus/{name}: {reason}");
    }
    assert!(ran > 0, "no case has {filter:?} in its path");
    if !failures.is_empty() {
        let mut text = String::new();
        for (name, message) in &failures {
            let _ = writeln!(text, "\n==== corpus/{name}\n{}", message.trim_end());
        }
        let _ = writeln!(text, "\n{} of {ran} cases failed:", failures.len());
        for (name, _) in &failures {
            let _ = writeln!(text, "  corpus/{name}");
        }
        panic!("{text}");
    }
}

/// Judges the cases on a few threads of their own: a thread of a pool that waits for
/// another pool takes up further cases in the meantime, on the same stack.
fn judge_all(cases: &[(Case, store::Entry)], pools: &Pools, update: bool) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, entry)) = cases.get(number) else { return done };
            done.push((number, judge(case, entry, pools, update)));
        }
    };
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("panics of a case are caught")).collect()
    });
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn judge(case: &Case, entry: &store::Entry, pools: &Pools, update: bool) -> Outcome {
    let result = answer::ask(case, pools).and_then(|(selection, classes)| {
        let about_classes = classes.map_or(Vec::new(), |classes| opacity::compare(case, &classes));
        if !about_classes.is_empty() {
            return Err(about_classes.join("\n"));
        }
        let diffs = compare::compare(case, &selection);
        if diffs.is_empty() {
            return Ok(());
        }
        if update && case.known_wrong.is_none() {
            match compare::rewrite(case, &entry.text, &selection) {
                Ok(text) => {
                    store::rewrite(entry, &text);
                    // Rewriting cannot make a case two-sided.
                    let left = compare::compare(&Case::parse(&text, entry.tree.clone())?, &selection);
                    return if left.is_empty() { Ok(()) } else { Err(left.join("\n")) };
                }
                Err(refusal) => return Err(format!("{refusal}\n{}", render::selection(&selection))),
            }
        }
        Err(format!("{}\n-- the whole answer\n{}", diffs.join("\n"), render::selection(&selection)))
    });
    match (result, &case.known_wrong) {
        (Ok(()), None) => Outcome::Right,
        (Ok(()), Some(reason)) => {
            Outcome::Failed(format!("is marked known-wrong ({reason}) and has become right: delete the mark"))
        }
        (Err(_), Some(reason)) => Outcome::KnownWrong(reason.clone()),
        (Err(message), None) => Outcome::Failed(format!("# {}\n{message}", case.title)),
    }
}

/// The rows of the collection of public reports about selection; a row that is added
/// there is added here.
const ROWS: &[u32] = &[
    1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40, 41,
    43, 44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71,
];

#[test]
fn every_report_has_a_case() {
    let cases: Vec<String> = store::cases().into_iter().map(|entry| entry.name).collect();
    let index = store::index();
    let mut faults = Vec::new();
    let cases: Vec<String> =
        cases.into_iter().chain(store::cases_in(store::CHECKS).into_iter().map(|entry| entry.name)).collect();
    for row in ROWS {
        let Some((_, right)) = index.iter().find(|(number, _)| number == row) else {
            faults.push(format!("row {row} is not in corpus/INDEX.md"));
            continue;
        };
        if right.starts_with("elsewhere: ") {
            continue;
        }
        for name in right.split(',').map(|n| n.trim().trim_matches('`')) {
            if !cases.iter().any(|case| case == name) {
                faults.push(format!("row {row} of corpus/INDEX.md names {name:?}, which is no case"));
            }
        }
    }
    for (number, _) in &index {
        if !ROWS.contains(number) {
            faults.push(format!("corpus/INDEX.md has row {number}, which is no report"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
