//! `owed opacity`: the class of each test, every reason for it, and what would lift it.

use owed_engine::opacity::opacity;
use owed_engine::path;
use owed_engine::project::{Project, Reading};

use crate::answer;
use crate::answer::opacity::OpacityAnswer;
use crate::args::{Against, Format, Global, Opacity};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::near::near;
use crate::output::Output;
use crate::render;
use crate::session::{Session, Trouble};

/// Answers.
pub(crate) fn run(global: &Global, args: &Opacity, output: &Output) -> anyhow::Result<Exit> {
    let session = Session::open(global, &Against::default(), output)?;
    let paths: Vec<String> =
        args.paths.iter().map(|path| session.site.inside(path)).collect::<anyhow::Result<_>>()?;
    let project = session.read(Reading::Declarations);
    for path in &paths {
        known(&project, path)?;
    }
    let mut report = session.timed("opacity", || opacity(&project, &paths));
    let asked =
        |path: &str| paths.is_empty() || paths.iter().any(|p| p.is_empty() || path::is_within(path, p));
    let not_checked = project.not_checked.iter().filter(|file| asked(&file.path)).cloned().collect();
    report.problems.retain(|problem| asked(&problem.path));
    let mut answer = OpacityAnswer::new(report, not_checked);
    session.add_trouble(&Trouble::default(), &mut answer.not_checked, &mut answer.problems);
    match global.format {
        Format::Json => output.raw(&answer::json(&answer)?)?,
        _ => output.answer(&render::opacity::opacity(&answer, !paths.is_empty(), output.view))?,
    }
    Ok(Exit::Answered)
}

fn known(project: &Project<'_>, path: &str) -> anyhow::Result<()> {
    let inside = |file: &str| path.is_empty() || path::is_within(file, path);
    if project.facts.keys().any(inside) || project.not_checked.iter().any(|file| inside(&file.path)) {
        return Ok(());
    }
    let near = near(path, project.facts.keys(), 3);
    let what = match project.tree.kind(path) {
        Some(_) => format!("{path} is no source that owed reads"),
        None => format!("there is no file {path}"),
    };
    let next = match &near[..] {
        [] => "name a test, a source or a folder, relative to --cwd".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Err(Complaint::new(what, next).into())
}
