//! `owed plan`: the tests a change owes.

use std::fmt::Write as _;

use owed_engine::project::{Project, Reading};
use owed_engine::select::{SelectOptions, select};
use owed_gates::runs::observed::Observations;
use owed_gates::runs::store::Receipts;

use super::paid;
use crate::answer::matrix::{Command, Job, MatrixAnswer, shards};
use crate::answer::plan::{PlanAnswer, TestOwed, directory};
use crate::answer::{self, ProblemSeen};
use crate::args::{Format, Global, OpacityRule, Plan};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::output::Output;
use crate::render;
use crate::session::{Question, Session};

/// Answers.
pub(crate) fn run(global: &Global, plan: &Plan, output: &Output) -> anyhow::Result<Exit> {
    if plan.shards.is_some() && matches!(global.format, Format::Paths | Format::Argv) {
        let what = format!("--shards prints a JSON matrix, not the format `{}`", global.format.word());
        return Err(Complaint::new(what, "leave out --format, or --shards").into());
    }
    let session = Session::open_to(global, &plan.against, output, Some(Reading::Files))?;
    let question = Question { against: &plan.against, paths: &plan.paths, all: plan.all };
    let receipts = receipts_asked(global, plan, &session);
    let reading = if receipts == Asked::Yes { Reading::Declarations } else { Reading::Files };
    let (project, compared) = session.compare(&question, reading)?;
    let observed = Observations::of(&session.site.root);
    let options = SelectOptions {
        all: plan.all,
        strict_opacity: plan.opacity == OpacityRule::Strict,
        observed: observed.of_paths(compared.delta.changes.iter().flat_map(|change| change.paths())),
    };
    let selection = session.timed("selection", || select(&project, &compared.delta, &options));
    let mut answer = PlanAnswer::new(compared.base.clone(), selection);
    session.add_trouble(&compared.trouble, &mut answer.not_checked, &mut answer.problems);
    if observed.damaged {
        answer.problems.push(unread_observations());
    }
    match receipts {
        Asked::Yes if answer.tests.is_empty() => {}
        Asked::Yes => paid::tell(&session, &project, &mut answer.tests),
        Asked::No(reason) => answer.tests.iter_mut().for_each(|test| test.receipt.reason = reason),
    }
    if answer.inventory.tests == 0 {
        // "Nothing is owed" must not be taken for "nothing needs testing".
        answer.problems.insert(0, no_tests());
    }

    if let Some(jobs) = plan.shards {
        beside(output, &answer);
        output.raw(&answer::json(&matrix(&project, answer, jobs.get()))?)?;
        return Ok(Exit::Answered);
    }
    match global.format {
        Format::Json => output.json(&answer)?,
        Format::Paths => {
            beside(output, &answer);
            output.raw(&paths(&answer.tests)?)?;
        }
        Format::Argv => {
            beside(output, &answer);
            if !answer.tests.is_empty() {
                output.raw(&answer::json(&commands(&project, &answer.tests))?)?;
            }
        }
        _ => output.answer(&render::plan::plan(&answer, &compared.sentence, output.view))?,
    }
    Ok(Exit::Answered)
}

/// Whether receipts are asked, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Yes,
    No(&'static str),
}

/// A plan asks them where there are some, where they are about the same files, and where the
/// format shows them: classes and identities cost more than the plan itself.
fn receipts_asked(global: &Global, plan: &Plan, session: &Session) -> Asked {
    if Receipts::of(&session.site.root).is_empty() {
        Asked::No("no-ledger")
    } else if plan.against.staged || plan.against.revision.is_some() {
        Asked::No("not-the-working-tree")
    } else if plan.shards.is_some() || matches!(global.format, Format::Paths | Format::Argv) {
        Asked::No("not-asked")
    } else {
        Asked::Yes
    }
}

fn unread_observations() -> ProblemSeen {
    let detail = "what earlier runs loaded was kept in .owed/observed, and is not as it was written: it is \
                  left out of this plan until tests run again";
    ProblemSeen {
        code: "observations-damaged".to_owned(),
        path: ".owed/observed".to_owned(),
        line: None,
        detail: detail.to_owned(),
    }
}

/// Formats without a place for it say on standard error what was not checked.
fn beside(output: &Output, answer: &PlanAnswer) {
    if let Some(line) = render::trouble::not_checked_line(&answer.not_checked) {
        output.aside(&render::style::bad(&line));
    }
    if answer.inventory.tests == 0 {
        output.aside(&render::style::warn(&no_tests().detail));
    }
}

fn no_tests() -> ProblemSeen {
    let detail = "no runner recognised a test file here, so this plan says nothing about what needs testing; \
                  `owed doctor` says what was looked for";
    ProblemSeen { code: "no-tests".to_owned(), path: String::new(), line: None, detail: detail.to_owned() }
}

/// One path a line; a test that two runners claim is one path.
fn paths(tests: &[TestOwed]) -> anyhow::Result<String> {
    let mut out = String::new();
    let mut last = None;
    for test in tests {
        if test.path.contains(['\n', '\r']) {
            let what = format!("{:?} holds a line break, which --format paths cannot say", test.path);
            return Err(Complaint::new(what, "use --format json or --format argv").into());
        }
        if last.replace(&test.path) != Some(&test.path) {
            let _ = writeln!(out, "{}", test.path);
        }
    }
    Ok(out)
}

/// The commands that run exactly `tests`, in the order of the runner projects.
fn commands(project: &Project<'_>, tests: &[TestOwed]) -> Vec<Command> {
    let mut commands = Vec::new();
    for suite in &project.suites {
        let root = directory(suite.project.root.clone());
        let mine: Vec<&str> = tests
            .iter()
            .filter(|test| test.runner == suite.runner_name && test.project == root)
            .map(|test| test.path.as_str())
            .filter(|path| suite.project.tests.binary_search_by(|test| test.path.as_str().cmp(path)).is_ok())
            .collect();
        // An empty list is never given to a runner: most would run everything.
        if mine.is_empty() {
            continue;
        }
        let runner = project.plugins.runners[suite.runner];
        commands.extend(runner.command(&suite.project, &mine).into_iter().map(|invocation| Command {
            runner: suite.runner_name,
            cwd: directory(invocation.cwd),
            argv: invocation.argv,
        }));
    }
    commands
}

fn matrix(project: &Project<'_>, answer: PlanAnswer, jobs: usize) -> MatrixAnswer {
    let mut tests = answer.tests;
    tests.sort_by(|a, b| (a.runner, &a.project, &a.path).cmp(&(b.runner, &b.project, &b.path)));
    let cut = shards(&tests, jobs);
    let of = cut.len();
    let include = cut
        .into_iter()
        .enumerate()
        .map(|(index, tests)| Job {
            shard: index + 1,
            of,
            tests: tests.iter().map(|test| test.path.clone()).collect(),
            run: commands(project, tests),
        })
        .collect();
    MatrixAnswer { schema: "owed.matrix/1", mode: answer.mode, include, not_checked: answer.not_checked }
}
