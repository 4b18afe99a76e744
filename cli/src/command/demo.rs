//! `owed demo`: a small project, a change in it, and what `plan`, `why`, `opacity` and `run` say.
//!
//! The project is real (a git repository with sources and tests in two languages), so
//! that one can play on with it. Its tests need nothing installed: `node --test` for
//! TypeScript (node 22.18 and newer run it as it is) and `unittest` for Python. The demo
//! itself needs only git; where python3 is there, it also runs a test.

mod files;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Parser as _;

use crate::args::{Cli, Demo, Global};
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render::plan::quoted;
use crate::render::style;

/// Shows it.
pub(crate) fn run(global: &Global, demo: &Demo, output: &Output) -> anyhow::Result<Exit> {
    let here = host::current_dir()?;
    if host::run("git", ["--version"], &here).is_err() {
        let next = "install git and put it on PATH; it is all the demo needs";
        return Err(Complaint::new("the program `git` cannot be started", next).into());
    }
    let dir = folder(demo, global)?;
    let say = |text: &str| output.answer(&format!("\n{}\n", style::wrap(text, 0, 0, output.view.width)));
    let show = |command: &[&str]| shell(command, &dir, output);

    say(&format!("A small shop in TypeScript and Python, made in {}:", dir.display()))?;
    for (path, text) in files::ALL {
        host::write(&dir.join(path), text).with_context(|| format!("{path} cannot be written"))?;
    }
    for path in files::ALL.iter().map(|(path, _)| *path).filter(|path| !path.starts_with('.')) {
        output.answer(&format!("  {}\n", style::plain(path)))?;
    }
    git(&dir, &["init", "--quiet"])?;
    git(&dir, &["add", "--all"])?;
    git(&dir, &["commit", "--quiet", "--message", "A small shop"])?;

    say("Nothing has changed yet, so nothing is owed:")?;
    show(&["plan"])?;

    say("Now the rounding in shop/price.ts changes:")?;
    let (path, before, after) = files::CHANGE;
    edit(&dir, path, before, after)?;
    output.answer(&format!(
        "  {}\n  {}\n",
        style::bad(&format!("- {before}")),
        style::good(&format!("+ {after}"))
    ))?;
    show(&["plan"])?;

    say("The cart's test does not name shop/price.ts; it is owed because of what it imports. \
         `why` shows the way, line by line:")?;
    show(&["why", files::REACHED])?;

    say("And for a test that is not owed, `why` proves it:")?;
    show(&["why", files::UNTOUCHED])?;

    say("A file that a test reads counts like a source, here the tax rates:")?;
    show(&["plan", files::DATA, "--quiet"])?;

    if host::run("python3", ["--version"], &here).is_ok() {
        paid(&dir, output)?;
    } else {
        say("Where python3 is on PATH, this tour also runs a test, and does not run it again.")?;
    }

    say("A pass may be kept for later only if everything that could change it is known. Six tests, \
         one of each class:")?;
    for (path, text) in files::EXTRAS {
        host::write(&dir.join(path), text).with_context(|| format!("{path} cannot be written"))?;
    }
    show(&[&["opacity"][..], files::CLASSES].concat())?;

    let place = quoted(&dir.display().to_string());
    output.answer(&format!("\n{}\n  cd {place}\n", style::bold("The folder is kept. Play on:")))?;
    // `cargo run` puts nothing on PATH.
    if let Some(own) = host::current_exe().ok().as_ref().and_then(|own| own.to_str()) {
        output.answer(&format!("  alias owed={}\n", quoted(own)))?;
    }
    for line in [
        "owed plan --format argv        # the commands that run what is owed",
        "owed graph --format html > graph.html",
        "owed plan stock/levels.py      # what would a change of this file owe?",
        "node --test shop/*.test.ts && python3 -m unittest discover   # node 22.18 or newer",
    ] {
        output.answer(&format!("  {line}\n"))?;
    }
    Ok(Exit::Answered)
}

/// Running what is owed, once.
fn paid(dir: &Path, output: &Output) -> anyhow::Result<()> {
    let say = |text: &str| output.answer(&format!("\n{}\n", style::wrap(text, 0, 0, output.view.width)));
    let show = |command: &[&str]| shell(command, dir, output);
    let (path, before, after) = files::RECOUNT;
    say("`run` runs what is owed. A change of the stock owes one test, which python3 can run:")?;
    show(&["run", path])?;
    say("It passed, and every input of it has a name: the pass is kept. Asked again, nothing is run:")?;
    show(&["run", path])?;
    say("With one input not as it was, the pass does not count any more, and `run` names the input:")?;
    edit(dir, path, before, after)?;
    show(&["run", path])
}

fn folder(demo: &Demo, global: &Global) -> anyhow::Result<PathBuf> {
    let Some(into) = &demo.into else {
        let made = tempfile::Builder::new().prefix("owed-demo-").tempdir_in(host::temp_dir());
        return Ok(made
            .context("no folder can be made for temporary files; name one with --into DIR")?
            .keep());
    };
    let dir = host::current_dir()?.join(&global.cwd).join(into);
    if host::exists(&dir) && !host::is_empty_dir(&dir) {
        let what = format!("{} is not empty", into.display());
        return Err(Complaint::new(what, "name a folder that is new or empty").into());
    }
    host::create_dir_all(&dir).with_context(|| format!("{} cannot be made", into.display()))?;
    Ok(host::canonical(&dir)?)
}

/// Runs git apart from the caller's configuration, which may sign, hook or convert.
fn git(dir: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let own = [
        "-c",
        "user.name=owed demo",
        "-c",
        "user.email=demo@example.invalid",
        "-c",
        "commit.gpgSign=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.autocrlf=false",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "init.templateDir=",
    ];
    host::run_git_apart(own.iter().chain(arguments), dir)
        .with_context(|| format!("`git {}` failed in {}", arguments.join(" "), dir.display()))?;
    Ok(())
}

fn edit(dir: &Path, path: &str, before: &str, after: &str) -> anyhow::Result<()> {
    let file = dir.join(path);
    let text = host::read_text(&file)?.context("the file was written a moment ago and is gone")?;
    host::write(&file, &text.replace(before, after))?;
    Ok(())
}

/// Shows a command as one types it, and runs it in this process.
fn shell(command: &[&str], dir: &Path, output: &Output) -> anyhow::Result<()> {
    output.answer(&format!("\n{}\n", style::bold(&format!("$ owed {}", command.join(" ")))))?;
    let place = dir.to_str().context("the folder's name is not UTF-8; name another one with --into DIR")?;
    let cli = Cli::try_parse_from(["owed"].iter().chain(command).copied().chain(["--cwd", place]))?;
    // Hints about what to type next would only repeat the narration.
    let output = output.without_hints();
    super::run(&cli, &output).map(|_| ())
}
