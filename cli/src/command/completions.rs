//! `owed completions`: a completion script, generated from the command line's own
//! definition.

use clap::CommandFactory as _;

use crate::args::{Cli, Completions};
use crate::exit::Exit;
use crate::output::Output;

/// Answers.
pub(crate) fn run(args: &Completions, output: &Output) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "owed", &mut script);
    output.raw(&String::from_utf8(script)?)?;
    Ok(Exit::Answered)
}
