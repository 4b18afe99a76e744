//! `owed why`: every independent reason for one test, or the proof of absence.

use owed_engine::project::Reading;
use owed_engine::project::{Delta, Project};
use owed_engine::select::{GraphOptions, SelectOptions, graph, select, why};
use owed_gates::runs::observed::Observations;

use crate::answer::why::{Answer, WhyAnswer};
use crate::answer::{self, all};
use crate::args::{Format, Global, Why};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::near::near;
use crate::output::Output;
use crate::render;
use crate::session::{Question, Session};

/// Answers.
pub(crate) fn run(global: &Global, args: &Why, output: &Output) -> anyhow::Result<Exit> {
    let session = Session::open(global, &args.against, output)?;
    let test = session.site.inside(&args.test)?;
    let question = Question { against: &args.against, paths: &args.changed, all: false };
    let (project, compared) = session.compare(&question, Reading::Files)?;
    if !project.tests.iter().any(|&reference| project.test_path(reference) == test) {
        return Err(unknown(&project, &test).into());
    }
    let observed = Observations::of(&session.site.root);
    let observed = observed.of_paths(compared.delta.changes.iter().flat_map(|change| change.paths()));
    let options = SelectOptions { observed, ..SelectOptions::default() };
    let reasons = session.timed("reasons", || why(&project, &compared.delta, &options, &test));
    let selection = select(&project, &compared.delta, &options);
    let edges = graph(&project, &GraphOptions { from: vec![test], ..GraphOptions::default() });
    let mut answer = WhyAnswer {
        schema: "owed.why/1",
        base: compared.base.clone(),
        changes: changed_paths(&compared.delta),
        answers: reasons
            .into_iter()
            .map(|reason| Answer::new(reason, &edges, !selection.widened.is_empty()))
            .collect(),
        widened: all(selection.widened),
        not_checked: all(selection.not_checked),
        problems: Vec::new(),
    };
    session.add_trouble(&compared.trouble, &mut answer.not_checked, &mut answer.problems);
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::why::why(&answer, &compared.sentence, output.view))?,
    }
    Ok(Exit::Answered)
}

fn changed_paths(delta: &Delta) -> Vec<String> {
    let mut paths: Vec<String> =
        delta.changes.iter().flat_map(|change| change.paths()).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn unknown(project: &Project<'_>, test: &str) -> Complaint {
    let tests = project.tests.iter().map(|&reference| project.test_path(reference));
    let near = near(test, tests, 3);
    let what = match (project.tree.is_file(test), project.facts.contains_key(test)) {
        (true, true) => format!("{test} is a source, but no runner takes it for a test"),
        (true, false) => format!("{test} is no test of any runner"),
        (false, _) => format!("there is no test {test}"),
    };
    let next = match &near[..] {
        [] => {
            "`owed plan --all --format paths` lists every test, `owed doctor` says which runners were found"
                .to_owned()
        }
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Complaint::new(what, next)
}
