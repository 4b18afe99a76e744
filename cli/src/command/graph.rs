//! `owed graph`: the dependency graph, or the part of it between two places.

use owed_engine::language::Language;
use owed_engine::project::{Project, Reading};
use owed_engine::select::{GraphOptions, graph};

use crate::answer;
use crate::answer::graph::GraphAnswer;
use crate::args::{Against, Format, Global, Graph};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::near::near;
use crate::output::Output;
use crate::render;
use crate::session::{Session, Trouble};

/// Answers.
pub(crate) fn run(global: &Global, args: &Graph, output: &Output) -> anyhow::Result<Exit> {
    let session = Session::open(global, &Against::default(), output)?;
    let inside = |paths: &[std::path::PathBuf]| -> anyhow::Result<Vec<String>> {
        paths.iter().map(|path| session.site.inside(path)).collect()
    };
    let options = GraphOptions { from: inside(&args.from)?, to: inside(&args.to)?, depth: args.depth };
    // What no runner runs is in no plan, and is read only for those who ask about it.
    let reads = |languages: &[&dyn Language], path: &str| languages.iter().any(|it| it.reads(path));
    let beyond = options
        .from
        .iter()
        .chain(&options.to)
        .any(|path| reads(owed_plugins::languages(), path) && !reads(owed_plugins::selecting(), path));
    let project = if beyond { session.read_beyond(&options.from) } else { session.read(Reading::Files) };
    for path in options.from.iter().chain(&options.to) {
        known(&project, path)?;
    }
    let view = session.timed("graph", || graph(&project, &options));
    let mut answer = GraphAnswer::new(view, project.not_checked.clone(), project.problems.clone());
    session.add_trouble(&Trouble::default(), &mut answer.not_checked, &mut answer.problems);
    if global.format != Format::Json && !output.view.verbose {
        answer = answer.without_absent();
    }
    let text = match global.format {
        Format::Json => answer::json(&answer)?,
        Format::Dot => render::dot::dot(&answer),
        Format::Mermaid => render::mermaid::mermaid(&answer),
        Format::Html => render::html::html(&answer),
        _ => render::tree::tree(&answer, &options.from, options.depth, output.view),
    };
    match global.format {
        Format::Human => output.answer(&text)?,
        _ => output.raw(&text)?,
    }
    Ok(Exit::Answered)
}

fn known(project: &Project<'_>, path: &str) -> anyhow::Result<()> {
    if project.tree.kind(path).is_some() {
        return Ok(());
    }
    let near = near(path, project.files.iter().map(String::as_str), 3);
    let next = match &near[..] {
        [] => "name a file of the project, relative to --cwd".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Err(Complaint::new(format!("there is no file {path}"), next).into())
}
