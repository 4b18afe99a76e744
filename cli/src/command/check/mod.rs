//! `owed check`: functions over their cap, the ratchet, and implementations written twice.

mod base;
mod debt;

use anyhow::Context as _;
use owed_engine::check::coverage::{self, Coverage};
use owed_engine::check::{GateRules, Input, Policy, Questions, Survey, Tests, Verdict};
use owed_engine::problem::Problem;
use owed_engine::project::Plugins;

use crate::answer::check::CheckAnswer;
use crate::answer::{self, ProblemSeen};
use crate::args::{Against, Check, CheckQuestion, Format, Global};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::host;
use crate::memory;
use crate::output::Output;
use crate::progress::Spinner;
use crate::render;
use crate::session::Session;

/// Answers.
pub(crate) fn run(global: &Global, check: &Check, output: &Output) -> anyhow::Result<Exit> {
    memory::give_back_at_once();
    let against =
        Against { base: check.base.clone(), staged: check.staged, revision: check.revision.clone() };
    let session = Session::open(global, &against, output)?;
    let within = named(check, &session)?;
    let policy = policy(check, &session, within.clone());
    let recorded = debt::read(&session)?;
    let coverage = read_coverage(check, &session)?;
    let trouble = session.trouble();
    let mut problems: Vec<Problem> = trouble.problems;
    // What plans say of settings and embedded repositories; only the second is about files.
    problems.retain(|problem| problem.code != "setting-without-effect" && problem.code != "git-unavailable");
    let base = match &check.base {
        Some(_) => Some(base::read(&session, &against, &mut problems)?),
        None => None,
    };
    let broken_links = session.broken_links();
    let plugins = Plugins { languages: owed_plugins::selecting(), runners: owed_plugins::runners() };
    let tests = session.timed("tests", || Tests::discover(session.tree(), plugins, &policy.exclude));
    problems.extend(tests.problems);
    let input = Input {
        tree: session.tree(),
        languages: owed_plugins::languages(),
        tests: &tests.paths,
        unseen: &trouble.not_checked,
        broken_links: &broken_links,
        debt: recorded.as_ref(),
        base: base.as_ref(),
        coverage: coverage.as_ref(),
    };
    let survey = {
        let _spinner = Spinner::start("measuring functions", output.view.quiet);
        session.timed("measure", || Survey::read(input, policy.clone()))
    };
    let report = session.timed("compare", || survey.report());
    let rules = GateRules {
        repeated: check.gate_repeated,
        allow_unsupported: check.allow_unsupported,
        allow_nothing: !within.is_empty(),
    };
    let verdict = report.verdict(rules);
    let written = if check.update_debt {
        let accept = check.accept_growth.as_deref();
        Some(debt::write(&session, recorded.as_ref(), &report, &policy, &survey.measures(), accept)?)
    } else {
        None
    };
    let mut answer = CheckAnswer::new(report, verdict, &within);
    answer.problems.extend(problems.into_iter().map(ProblemSeen::from));
    answer.problems.sort();
    answer.problems.dedup();
    print(global, check, output, &session, &answer, &policy, recorded.is_some() || base.is_some())?;
    if let Some(written) = written {
        output.aside(&written);
    }
    Ok(match verdict {
        _ if !check.gate => Exit::Answered,
        Verdict::Kept => Exit::Answered,
        Verdict::Broken => Exit::Failed,
        Verdict::CannotVouch => Exit::CannotVouch,
    })
}

fn print(
    global: &Global,
    check: &Check,
    output: &Output,
    session: &Session,
    answer: &CheckAnswer,
    policy: &Policy,
    judged: bool,
) -> anyhow::Result<()> {
    match global.format {
        Format::Json => output.raw(&answer::json(answer)?)?,
        Format::Sarif => output.raw(&answer::json(&render::check::sarif::log(answer))?)?,
        Format::Codeclimate => output.raw(&answer::json(&render::check::codeclimate::issues(answer))?)?,
        Format::Github => output.raw(&render::check::github::annotations(answer))?,
        Format::Junit => output.raw(&render::check::junit::report(answer, check.gate_repeated))?,
        _ => {
            let text = |path: &str| session.tree().text(path);
            let asked = render::check::Asked {
                gate: check.gate,
                allow_unsupported: check.allow_unsupported,
                judged,
                questions: policy.questions,
                across_files: policy.across_files,
                all_functions: policy.all_functions,
                text: &text,
            };
            output.answer(&render::check::check(answer, &asked, output.view))?;
        }
    }
    Ok(())
}

/// The named paths, as paths of the project.
fn named(check: &Check, session: &Session) -> anyhow::Result<Vec<String>> {
    let mut within = Vec::new();
    for path in &check.paths {
        let inside = session.site.inside(path)?;
        if session.tree().kind(&inside).is_none() {
            let what = format!("nothing is at {}", path.display());
            return Err(Complaint::new(what, "paths are relative to --cwd; check the spelling").into());
        }
        // The root is everything.
        if inside.is_empty() {
            return Ok(Vec::new());
        }
        within.push(inside);
    }
    within.sort();
    within.dedup();
    Ok(within)
}

fn policy(check: &Check, session: &Session, within: Vec<String>) -> Policy {
    let asks = |question| check.only.is_empty() || check.only.contains(&question);
    let mut caps = session.config.caps.clone();
    caps.default = check.cap.unwrap_or(caps.default);
    Policy {
        caps,
        limits: session.config.limits,
        questions: Questions {
            tokens: asks(CheckQuestion::Tokens),
            repeated: asks(CheckQuestion::Repeated),
            complexity: asks(CheckQuestion::Complexity),
        },
        across_files: check.across.is_some(),
        advice: check.advice,
        all_functions: check.all_functions,
        within,
        ..Policy::of(&session.config.settings)
    }
}

fn read_coverage(check: &Check, session: &Session) -> anyhow::Result<Option<Coverage>> {
    let Some(file) = &check.coverage else { return Ok(None) };
    let name = file.display();
    let text = host::read_text(&session.site.cwd.join(file)).with_context(|| format!("reading {name}"))?;
    let text = text.ok_or_else(|| {
        Complaint::new(
            format!("there is no {name}"),
            "run the tests with coverage first, and give its report",
        )
    })?;
    let coverage = coverage::parse(&text).map_err(|error| {
        let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
        let next = "give lcov.info, coverage.py's `coverage json`, or istanbul's coverage-final.json";
        Complaint::new(format!("{name}{line}: {}", error.message), next)
    })?;
    Ok(Some(coverage.related(&session.site.root, session.tree().files())))
}
