//! Reuse against everything that could make a receipt a lie: a table of changes, each made
//! to a project whose tests have all passed, and what the next run must say about one test.
//! Real node and real Python run them.

mod cases;
mod during;
mod programs;
mod project;
mod runners;
mod startup;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;

use cases::CASES;
use project::FILES;

use crate::harness::{Project, Ran, owed_in};

/// A project whose tests have all been run once.
fn paid() -> &'static Project {
    static PAID: OnceLock<Project> = OnceLock::new();
    PAID.get_or_init(|| {
        let project = Project::new(FILES);
        let ran = run(&project, &[], &[]);
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        project
    })
}

fn copy() -> Project {
    let project = Project::bare(&[]);
    let from = paid().path();
    let status = std::process::Command::new("cp")
        .args(["-R", "--no-preserve=timestamps"])
        .arg(format!("{}/.", from.display()))
        .arg(project.path())
        .status()
        .unwrap();
    assert!(status.success());
    project
}

fn run(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let arguments = [&["run", "--all", "--format", "json"], arguments].concat();
    let common = [("LEVEL", ""), ("TZ", "UTC"), ("VIRTUAL_ENV", ""), ("TMPDIR", "/tmp")];
    let mut all: Vec<(&str, &str)> = common.to_vec();
    all.retain(|(name, _)| !environment.iter().any(|(other, _)| other == name));
    all.extend(environment);
    owed_in(project.path(), &arguments, &all)
}

/// What the run says about `test`: `reused`, or its outcome and the first reason.
fn said(ran: &Ran, test: &str) -> String {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err));
    let results = answer["results"].as_array().unwrap();
    let Some(result) = results.iter().find(|r| r["path"] == test) else { return "not a test".to_owned() };
    let outcome = result["outcome"].as_str().unwrap();
    let why = result["denied"].as_array().unwrap().first().map_or_else(String::new, |why| {
        format!(" {} {}", why["reason"].as_str().unwrap(), why["detail"].as_str().unwrap())
    });
    format!("{outcome}{why}")
}

/// Does each of `cases` on all processors; fails with every complaint.
fn in_parallel<T: Sync>(cases: &[T], work: impl Fn(&T) -> Option<String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).min(8) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(complaint) = work(case) {
                        wrong.lock().unwrap().push(complaint);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn no_receipt_is_used_for_anything_but_what_it_was_made_of() {
    paid();
    let all: Vec<&cases::Case> = CASES.iter().chain(startup::CASES).collect();
    in_parallel(&all, |case| {
        let project = copy();
        (case.does)(&project);
        let ran = run(&project, case.arguments, case.environment);
        let said = said(&ran, case.test);
        let wrong = !said.starts_with(case.want);
        wrong.then(|| format!("{}: wanted `{}`, got `{said}`\n{}", case.name, case.want, ran.err))
    });
}

#[test]
fn there_are_at_least_a_hundred_cases() {
    let number = CASES.len() + startup::CASES.len() + programs::CASES.len() + runners::CASES + during::CASES;
    assert!(number >= 110, "{number} cases");
}
