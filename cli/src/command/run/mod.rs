//! `owed run`: runs what is owed and not already paid for, and records receipts.
//!
//! The order: plan, classes, identities, decisions; then the runners, one project after the
//! other; then everything is read again, and only what is as it was leaves a receipt.

mod attempt;
mod audited;
mod covering;
mod full;
mod observing;
pub(super) mod parts;
mod queued;
mod recovering;
mod shared;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::outcome::Outcome;
use owed_engine::project::Project;
use owed_engine::receipt::Receipt;
use owed_gates::runs::decide::{Decision, may_reuse};
use owed_gates::runs::execute::{Executed, NoRun, Runs, commands, execute};
use owed_gates::runs::identify::{Asked, Identified};
use owed_gates::runs::settle::{Settled, settle};
use owed_gates::runs::store::Receipts;

use rayon::prelude::*;

use super::paid::Paid;
use crate::answer;
use crate::answer::plan::directory;
use crate::answer::run::{Denied, RunAnswer, TestResult};
use crate::args::{Format, Global};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::output::Output;
use crate::render;
use parts::{Class, key};
use work::Limits;

/// A test of the plan on its way.
struct Item {
    number: usize,
    class: Class,
    result: TestResult,
    /// Whether it is done: reused, or run and settled.
    run: bool,
    /// The receipt that pays for it.
    reused: Option<Box<Receipt>>,
    /// The receipt that would pay for it, if it were not put to the test.
    audited: Option<Box<Receipt>>,
}

pub(crate) use queued::run;

/// The owed tests, each once.
fn items(
    project: &Project<'_>,
    selection: &owed_engine::selection::Selection,
    classes: &[Class],
) -> Vec<Item> {
    let owed: BTreeSet<(&str, &str, &str)> =
        selection.tests.iter().map(|t| (t.path.as_str(), t.runner, t.project.as_str())).collect();
    let mut items: Vec<Item> = (0..project.tests.len())
        .filter_map(|number| {
            let reference = project.tests[number];
            let suite = project.suite(reference);
            let path = project.test_path(reference);
            owed.contains(&(path, suite.runner_name, suite.project.root.as_str())).then(|| Item {
                number,
                class: classes[number].clone(),
                result: TestResult {
                    path: path.to_owned(),
                    runner: suite.runner_name,
                    project: directory(suite.project.root.clone()),
                    outcome: "not-run",
                    opacity: classes[number].opacity.word(),
                    receipt: None,
                    denied: Vec::new(),
                    runtime_verified: false,
                    duration_ms: None,
                    cases: answer::run::CaseCounts::default(),
                    errors: Vec::new(),
                },
                run: false,
                reused: None,
                audited: None,
            })
        })
        .collect();
    items.sort_by(|a, b| {
        (&a.result.path, a.result.runner, &a.result.project).cmp(&(
            &b.result.path,
            b.result.runner,
            &b.result.project,
        ))
    });
    items
}

impl Item {
    /// It is run after all, for this reason.
    fn take_back(&mut self, why: Denied) -> Option<Box<Receipt>> {
        let result = &mut self.result;
        result.outcome = "not-run";
        result.receipt = None;
        result.cases = answer::run::CaseCounts::default();
        result.duration_ms = None;
        result.runtime_verified = false;
        result.denied.push(why);
        self.reused.take()
    }
}

fn asked(items: &[Item]) -> Vec<Asked> {
    items
        .iter()
        .filter(|item| may_reuse(item.class.opacity))
        .map(|item| Asked { number: item.number, pins: item.class.pins.clone() })
        .collect()
}

/// Takes what is paid for, and says of the rest why it is not.
fn reuse(project: &Project<'_>, items: &mut [Item], before: &Identified, paid: &Paid) {
    let deciding = paid.deciding(before);
    let decide = |item: &Item| deciding.decide(project, item.number, &item.class);
    let decisions: Vec<Decision> = if paid.elsewhere.is_some() {
        // Receipts of another checkout are written here on the way, one after the other.
        items.iter().map(decide).collect()
    } else {
        items.par_iter().map(decide).collect()
    };
    for (item, decision) in items.iter_mut().zip(decisions) {
        match decision {
            Decision::Reuse(receipt) => {
                item.result.outcome = "reused";
                item.result.receipt = Some(receipt.id().to_owned());
                item.result.cases = receipt.cases.into();
                item.result.duration_ms = receipt.duration_ms;
                item.result.runtime_verified = true;
                item.reused = Some(receipt);
            }
            Decision::Run { denial, detail, .. } => {
                item.result.denied.push(Denied::new(denial.word(), detail));
            }
        }
    }
}

/// Runs what is not reused, one runner project after the other.
fn executions(
    project: &Project<'_>,
    items: &mut [Item],
    (runs, limits): (&Runs<'_>, &Limits),
    no_verdict: &mut Vec<Denied>,
    output: &Output,
) -> Vec<Executed> {
    let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for item in items.iter_mut().filter(|item| item.result.outcome == "not-run") {
        item.run = true;
        wanted.entry(project.tests[item.number].suite).or_default().push(item.number);
    }
    let mut executed = Vec::new();
    let all: Vec<_> = wanted
        .iter()
        .flat_map(|(&suite, tests)| commands(project, suite, tests).into_iter().map(move |one| (suite, one)))
        .collect();
    let of = all.len();
    for (number, (suite, command)) in all.into_iter().enumerate() {
        if runs.stop.reason().is_some() {
            no_verdict.push(Denied::new("interrupted", "stopped before everything was run"));
            break;
        }
        let name = project.suites[suite].runner_name;
        output.aside(&render::style::dim(&format!(
            "[{}/{of}] {name} in {}: {}",
            number + 1,
            directory(project.suites[suite].project.root.clone()),
            render::count(command.1.len(), "test file"),
        )));
        // Asked again each time: the host is not what it was when the plan was made.
        let runs = Runs { workers: limits.workers(), timeout: limits.time_left(), ..*runs };
        match execute(project, suite, command, &runs, number) {
            Ok(done) => executed.push(done),
            Err(NoRun::Unavailable(missing)) => {
                no_verdict.push(Denied::new("unavailable", format!("{}; {}", missing.what, missing.remedy)));
            }
            Err(NoRun::NoDirectory(error)) => {
                no_verdict.push(Denied::new("no-directory", format!("the run has no directory: {error}")));
            }
            Err(NoRun::NoReport(runner)) => {
                no_verdict
                    .push(Denied::new("no-report", format!("{runner} writes no report that can be read")));
            }
        }
    }
    executed
}

fn settled(
    project: &Project<'_>,
    items: &mut [Item],
    executed: &[Executed],
    (before, after): (&Identified, &Identified),
    numbers: &BTreeMap<usize, usize>,
    receipts: &Receipts,
    no_verdict: &mut Vec<Denied>,
) {
    let table = receipts.put_table(&before.table).ok();
    for item in items.iter_mut().filter(|item| item.run) {
        let suite = project.tests[item.number].suite;
        let found = executed
            .iter()
            .filter(|done| done.suite == suite)
            .flat_map(|done| &done.files)
            .find(|file| file.path == item.result.path);
        let Some(file) = found else { continue };
        item.result.outcome = match file.outcome {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Interrupted => "interrupted",
            Outcome::NotRun => "not-run",
        };
        item.result.cases = file.cases.into();
        item.result.duration_ms = file.ms;
        item.result.errors = file.errors.iter().take(5).cloned().collect();
        item.result
            .denied
            .extend(file.no_receipt.iter().map(|why| Denied::new(why.word(), "this run leaves no receipt")));
        if !may_reuse(item.class.opacity) {
            continue;
        }
        let settled = settle(
            (item.number, numbers.get(&item.number).copied()),
            &key(project, item.number),
            item.class.opacity.word(),
            (file, observing::loaded(executed, suite, &item.result.path)),
            (before, after),
            (receipts, table.as_deref()),
        );
        match settled {
            Settled::Receipt(id) => {
                item.result.receipt = Some(id);
                item.result.runtime_verified = true;
            }
            Settled::Stale(what) => {
                item.result.denied.push(Denied::new("stale", what.clone()));
                no_verdict.push(Denied::new("stale", format!("{}: {what}", item.result.path)));
            }
            Settled::Unwritten(error) => item.result.denied.push(Denied::new("unwritten", error)),
            Settled::Report | Settled::Unnamed => {}
        }
    }
}

fn answered(items: Vec<Item>, omitted: usize, mut no_verdict: Vec<Denied>) -> RunAnswer {
    let results: Vec<TestResult> = items.into_iter().map(|item| item.result).collect();
    let open = results.iter().filter(|r| matches!(r.outcome, "not-run" | "interrupted")).count();
    if open > 0 && no_verdict.is_empty() {
        let detail = format!("{} without a result", render::count(open, "test file"));
        no_verdict.push(Denied::new("incomplete", detail));
    }
    let mut answer = RunAnswer { no_verdict, results, omitted, ..RunAnswer::empty() };
    answer.judge();
    answer
}

fn show(
    global: &Global,
    output: &Output,
    answer: &RunAnswer,
    executed: &[Executed],
    sentence: &str,
) -> anyhow::Result<Exit> {
    match global.format {
        Format::Json => output.raw(&answer::json(answer)?)?,
        _ => output.answer(&render::run::run(answer, executed, sentence, output.view))?,
    }
    let unavailable = answer.no_verdict.iter().find(|why| why.reason == "unavailable");
    Ok(match (answer.verdict, unavailable) {
        ("passed", _) => Exit::Answered,
        ("failed", _) => Exit::Failed,
        (_, Some(why)) => {
            return Err(Complaint::new(why.detail.clone(), "owed doctor says what each runner needs").into());
        }
        _ => Exit::NoVerdict,
    })
}
