//! The commands, one file each: a question to the engine, an answer, a rendering.

mod audit;
mod check;
mod completions;
mod demo;
mod doctor;
mod graph;
mod init;
mod opacity;
mod paid;
mod plan;
mod receipts;
mod record;
mod run;
mod schema;
mod status;
mod why;

use crate::args::{Cli, Command, Format};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::output::Output;

/// Runs one command.
pub(crate) fn run(cli: &Cli, output: &Output) -> anyhow::Result<Exit> {
    use Format::{Argv, Codeclimate, Dot, Github, Html, Human, Json, Junit, Mermaid, Paths, Sarif};
    let global = &cli.global;
    let only = |name, formats| only(name, global.format, formats);
    match &cli.command {
        Command::Plan(plan) => {
            only("plan", &[Human, Json, Paths, Argv])?;
            plan::run(global, plan, output)
        }
        Command::Why(why) => {
            only("why", &[Human, Json])?;
            why::run(global, why, output)
        }
        Command::Receipts(command) => {
            only("receipts", &[Human, Json])?;
            receipts::run(global, command, output)
        }
        Command::Record(command) => {
            only("record", &[Human, Json])?;
            record::run(global, command, output)
        }
        Command::Run(args) => {
            only("run", &[Human, Json])?;
            run::run(global, args, output)
        }
        Command::Status(args) => {
            only("status", &[Human, Json])?;
            status::run(global, args, output)
        }
        Command::Audit(command) => {
            only("audit", &[Human, Json])?;
            audit::run(global, command, output)
        }
        Command::Opacity(opacity) => {
            only("opacity", &[Human, Json])?;
            opacity::run(global, opacity, output)
        }
        Command::Check(check) => {
            only("check", &[Human, Json, Sarif, Github, Codeclimate, Junit])?;
            check::run(global, check, output)
        }
        Command::Graph(graph) => {
            only("graph", &[Human, Json, Dot, Mermaid, Html])?;
            graph::run(global, graph, output)
        }
        Command::Doctor => {
            only("doctor", &[Human, Json])?;
            doctor::run(global, output)
        }
        Command::Init => {
            only("init", &[Human])?;
            init::run(global, output)
        }
        Command::Demo(demo) => {
            only("demo", &[Human])?;
            demo::run(global, demo, output)
        }
        Command::Schema(schema) => {
            only("schema", &[Human, Json])?;
            schema::run(schema, output)
        }
        Command::Completions(completions) => {
            only("completions", &[Human])?;
            completions::run(completions, output)
        }
    }
}

fn only(name: &str, asked: Format, formats: &[Format]) -> anyhow::Result<()> {
    if formats.contains(&asked) {
        return Ok(());
    }
    let words: Vec<&str> = formats.iter().map(|format| format.word()).collect();
    let what = format!("owed {name} has no format `{}`", asked.word());
    Err(Complaint::new(what, format!("use --format {}", words.join(" or --format "))).into())
}
