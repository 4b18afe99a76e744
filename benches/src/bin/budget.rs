//! Counts the instructions of the release binary on generated projects, and compares them
//! with `benches/budget.toml`.
//!
//! ```text
//! cargo build --release && cargo run --release -p benches --bin budget
//! ```
//!
//! Each case runs once under `valgrind --tool=callgrind`, with one thread; what git does in
//! its own processes is not counted. Instructions are the same on a busy machine and a quiet
//! one, so that this can fail a change where a time cannot. A case over its budget by more
//! than a twentieth fails; one under it by more than that says so, and `--update` writes what
//! was counted. The budget holds for one compiler and one kind of processor: another one
//! writes its own.
//!
//! Exit codes: 0 within the budget, 1 over it, 75 when there is no valgrind, so that nothing
//! was measured.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use benches::generate::{Shape, generate};
use clap::{Parser, ValueEnum as _};
use serde::Deserialize;

/// Compares the instructions of `owed plan` with the budget.
#[derive(Parser)]
struct Arguments {
    /// Writes what was counted as the new budget.
    #[arg(long)]
    update: bool,
    /// The binary to count.
    #[arg(long, default_value = "target/release/owed")]
    owed: PathBuf,
}

#[derive(Deserialize)]
struct Budget {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    /// A shape of `generate`.
    shape: String,
    files: usize,
    /// `cold` is without a cache, `warm` with one, `edited` with one and ten edited sources.
    state: String,
    instructions: u64,
}

/// How far over the budget is too far, in hundredths.
const SLACK: u64 = 5;
const NOT_MEASURED: u8 = 75;

const HEAD: &str =
    "# Instructions of `owed plan` with one thread on generated projects, as callgrind counts them;
# git's own are not among them. `cargo run --release -p benches --bin budget` fails when one
# is over by more than a twentieth; with --update it writes this file.
";

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("benches lies in the workspace")?;
    let quiet =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !quiet.is_ok_and(|status| status.success()) {
        eprintln!("NOT MEASURED: there is no valgrind here, so the budget says nothing about this build");
        return Ok(NOT_MEASURED.into());
    }
    let owed = root.join(&arguments.owed);
    if !owed.exists() {
        bail!("{} is not there: run `cargo build --release` first", owed.display());
    }
    let path = root.join("benches/budget.toml");
    let budget: Budget = toml::from_str(&fs::read_to_string(&path)?)?;
    let home = root.join("target/budget");
    let mut is_over = false;
    let mut written = HEAD.to_owned();
    for case in budget.case {
        let Case { shape, files, state, instructions: allowed } = &case;
        let dir = home.join(format!("{shape}-{files}"));
        project(&dir, shape, *files)?;
        let counted = count(&owed, &dir, &case)?;
        #[expect(clippy::cast_precision_loss, reason = "for people, in hundredths")]
        let share = counted as f64 / (*allowed).max(1) as f64;
        let word = if counted * 100 > allowed * (100 + SLACK) {
            is_over = true;
            "OVER THE BUDGET"
        } else if counted * 100 < allowed * (100 - SLACK) {
            "under it: --update keeps the gain"
        } else {
            "within"
        };
        println!("{shape:<11} {files:>6} {state:<7} {counted:>14} of {allowed:>14}  {share:>5.2}  {word}");
        write!(
            written,
            "\n[[case]]\nshape = \"{shape}\"\nfiles = {files}\nstate = \"{state}\"\ninstructions = {counted}\n"
        )?;
    }
    if arguments.update {
        fs::write(&path, written)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if is_over { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Makes the project of a case, committed, and without a cache.
fn project(dir: &Path, shape: &str, files: usize) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    let shape = Shape::from_str(shape, true).map_err(anyhow::Error::msg)?;
    generate(dir, shape, files)?;
    run(dir, &["git", "init", "--quiet"])?;
    run(dir, &["git", "add", "--all"])?;
    let who = ["git", "-c", "user.name=benches", "-c", "user.email=benches@example.invalid"];
    run(dir, &[&who[..], &["commit", "--quiet", "--message", "generated"]].concat())?;
    Ok(())
}

fn count(owed: &Path, dir: &Path, case: &Case) -> Result<u64> {
    let owed = owed.to_string_lossy();
    let mut plan = vec![&*owed, "plan", "--base", "HEAD", "--format", "json", "--threads", "1"];
    match case.state.as_str() {
        "cold" => plan.push("--no-cache"),
        "warm" | "edited" => {
            // Files that were written in the tick of the first run are read by the second.
            for _ in 0..2 {
                std::thread::sleep(std::time::Duration::from_millis(1100));
                run(dir, &plan)?;
            }
            if case.state == "edited" {
                edit(dir)?;
                std::thread::sleep(std::time::Duration::from_millis(1100));
                run(dir, &plan)?;
            }
        }
        other => bail!("budget.toml: no state is called {other}"),
    }
    let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let said = run(dir, &[&valgrind[..], &plan].concat())?;
    let line = said
        .lines()
        .find_map(|line| line.split_once("Collected : "))
        .context("callgrind says what it collected")?;
    Ok(line.1.trim().parse()?)
}

/// A comment at the end of ten sources.
fn edit(dir: &Path) -> Result<()> {
    let listed = Command::new("git").args(["ls-files", "*.ts", "*.py"]).current_dir(dir).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let sources: Vec<&str> = listed.lines().collect();
    for path in sources.iter().step_by((sources.len() / 10).max(1)).take(10) {
        let comment = if path.ends_with(".py") { "# edited\n" } else { "// edited\n" };
        let path = dir.join(path);
        let before = fs::read(&path)?;
        fs::write(&path, [&before[..], comment.as_bytes()].concat())?;
    }
    Ok(())
}

/// Runs a command to a good end, and gives what it said on standard error.
fn run(dir: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(dir).output();
    let output = output.with_context(|| format!("starting {}", words[0]))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("`{}` failed: {said}", words.join(" "));
    }
    Ok(said)
}
