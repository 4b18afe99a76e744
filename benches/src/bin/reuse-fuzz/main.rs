//! Makes projects, changes them at random and asks `owed run` each time: every reuse is
//! checked by really running the test with the bare runner, in the same state and
//! environment. A reuse is wrong when that run fails, or when its cases are others or saw
//! other values than when the receipt was made. Progress goes to stderr, the result to
//! stdout; exit 1 when a reuse was wrong.
//!
//! Everything follows from the seed: `--replay SEED:STEP` does one project again up to that
//! step, leaves it where it is and says what was done.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program: it makes projects and processes, and prints"
)]

mod bare;
mod fetched;
mod mutate;
mod tally;
mod templates;
mod world;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use fastrand::Rng;
use serde_json::Value;

use bare::Fresh;
use mutate::Done;
use tally::Tally;
use world::{Kind, Machine, World};

/// Asks `owed run` about projects that are changed at random, and checks each reuse.
#[derive(Parser)]
struct Args {
    /// How many decisions about one test file each.
    #[arg(long, default_value_t = 10_000)]
    decisions: u64,
    /// The seed of the first project; the next ones follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Test files of a generated project.
    #[arg(long, default_value_t = 36)]
    tests: usize,
    /// States of a generated project.
    #[arg(long, default_value_t = 20)]
    steps: u32,
    /// A checkout with its dependencies installed, changed in a copy; instead of generated ones.
    #[arg(long)]
    project: Option<PathBuf>,
    /// One project again, up to one step.
    #[arg(long, value_name = "SEED:STEP")]
    replay: Option<String>,
    /// Only projects of this kind.
    #[arg(long)]
    only: Option<String>,
    /// The program to ask.
    #[arg(long, default_value = "target/release/owed")]
    owed: PathBuf,
    /// Where projects are made; what is below is removed.
    #[arg(long, default_value = "target/reuse-fuzz")]
    dir: PathBuf,
    /// Where vitest, jest and pytest are installed (the truth suite does that).
    #[arg(long, default_value = "target/truth")]
    tools: PathBuf,
}

const KINDS: &[Kind] = &[
    Kind::Node,
    Kind::Unittest,
    Kind::Node,
    Kind::Pytest,
    Kind::Node,
    Kind::Bare,
    Kind::Vitest,
    Kind::Unittest,
    Kind::Pytest,
    Kind::Jest,
];

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let owed = fs::canonicalize(&args.owed)
        .with_context(|| format!("{} is not there: cargo build --release -p owed", args.owed.display()))?;
    let dir = args.dir.join(std::process::id().to_string());
    fs::create_dir_all(&dir)?;
    let dir = fs::canonicalize(dir)?;
    let machine = machine(&args, &dir)?;
    let mut tally = Tally::default();
    let session = Session { owed, dir: dir.clone(), machine };
    if let Some(project) = &args.project {
        fetched::fuzz(&session, project, &args, &mut tally)?;
    } else if let Some(replay) = &args.replay {
        let (seed, step) = replay.split_once(':').context("give SEED:STEP")?;
        session.project(seed.parse()?, args.tests, step.parse()?, &mut tally, None, true)?;
        println!("{tally}");
        println!("left in {}", dir.display());
        return Ok(ExitCode::SUCCESS);
    } else {
        let mut seed = args.seed;
        while tally.decisions < args.decisions {
            if session.wants(seed, args.only.as_deref()) {
                session.project(seed, args.tests, args.steps, &mut tally, Some(args.decisions), false)?;
                let reused: u64 = tally.reused.values().map(|[_, reused]| reused).sum();
                let (decisions, wrong) = (tally.decisions, tally.wrong.len());
                eprintln!("seed {seed}: {decisions} decisions, {reused} reuses, {wrong} wrong");
            }
            seed += 1;
        }
        println!(
            "reuse-fuzz --decisions {} --seed {} --tests {} --steps {}",
            args.decisions, args.seed, args.tests, args.steps
        );
    }
    println!("{tally}");
    fs::remove_dir_all(&dir)?;
    Ok(if tally.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What all projects have in common.
struct Session {
    owed: PathBuf,
    dir: PathBuf,
    machine: Machine,
}

/// What is known of a receipt: what the bare runner saw in the state in which it was made.
type Known = BTreeMap<String, Fresh>;

impl Session {
    fn kind(&self, seed: u64) -> Kind {
        let kind = KINDS[usize::try_from(seed).unwrap_or_default() % KINDS.len()];
        match kind {
            Kind::Vitest | Kind::Jest if self.machine.node_modules.is_none() => Kind::Node,
            Kind::Pytest if self.machine.site_packages.is_none() => Kind::Unittest,
            kind => kind,
        }
    }

    fn wants(&self, seed: u64, only: Option<&str>) -> bool {
        only.is_none_or(|only| self.kind(seed).word().starts_with(only))
    }

    /// One project, through `steps` states.
    fn project(
        &self,
        seed: u64,
        tests: usize,
        steps: u32,
        tally: &mut Tally,
        limit: Option<u64>,
        keep: bool,
    ) -> Result<()> {
        let mut rng = Rng::with_seed(seed);
        let dir = self.dir.join(format!("p{seed}"));
        let kind = self.kind(seed);
        // What starts slowly is asked about more at once.
        let mut world = World::new(kind, &dir.join("project"), tests, &self.machine, &mut rng)?;
        let mut known = Known::new();
        let mut last: BTreeMap<String, Fresh> = BTreeMap::new();
        let mut history: Vec<Done> = Vec::new();
        for step in 0..=steps {
            let mut done = Vec::new();
            if step > 0 {
                if rng.u32(..5) < 2 {
                    world.restore()?;
                    history.push(Done { kind: "everything restored", what: String::new() });
                }
                for _ in 0..1 + rng.u32(..3) {
                    done.push(mutate::mutate(&mut world, &self.machine, &mut rng)?);
                }
            }
            if keep {
                for one in &done {
                    eprintln!("{step}: {}: {}", one.kind, one.what);
                }
            }
            let kinds: Vec<&'static str> = done.iter().map(|done| done.kind).collect();
            history.extend(done);
            let label = format!("--replay {seed}:{step}");
            self.step(&world, &dir, (&mut known, &mut last), &kinds, &label, &history, tally)?;
            if limit.is_some_and(|limit| tally.decisions >= limit) {
                break;
            }
        }
        if !keep {
            fs::remove_dir_all(&dir)?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one step of one project, with all that it counts")]
    fn step(
        &self,
        world: &World,
        scratch: &Path,
        (known, last): (&mut Known, &mut BTreeMap<String, Fresh>),
        kinds: &[&'static str],
        label: &str,
        history: &[Done],
        tally: &mut Tally,
    ) -> Result<()> {
        tally.calls[0] += 1;
        let Some(answer) = self.ask(world)? else {
            tally.calls[1] += 1;
            return Ok(());
        };
        let results = answer["results"].as_array().context("an answer has results")?;
        let files: Vec<String> =
            results.iter().filter_map(|r| Some(r["path"].as_str()?.to_owned())).collect();
        let fresh = bare::run(world, &files, scratch)?;
        for kind in kinds {
            tally.mutations.entry(kind).or_default()[0] += 1;
        }
        for result in results {
            let path = result["path"].as_str().unwrap_or_default();
            let now = fresh.get(path).cloned().unwrap_or_default();
            let reused = result["outcome"] == "reused";
            tally.decisions += 1;
            for kind in kinds {
                let counts = tally.mutations.entry(kind).or_default();
                counts[1] += 1;
                counts[2] += u64::from(reused);
            }
            let of_kind = tally.reused.entry(world.kind.word()).or_default();
            of_kind[0] += 1;
            of_kind[1] += u64::from(reused);
            if reused {
                if let Some(what) = contradiction(result, &now, known) {
                    let steps: Vec<String> =
                        history.iter().map(|d| format!("    {}: {}", d.kind, d.what)).collect();
                    let wrong =
                        format!("{label} ({}) {path}: {what}\n{}", world.kind.word(), steps.join("\n"));
                    eprintln!("WRONG {wrong}");
                    tally.wrong.push(wrong);
                }
                continue;
            }
            count_denial(result, last.get(path) == Some(&now), tally);
            let passed = result["outcome"] == "passed";
            if passed == now.failed && result["outcome"] != "not-run" {
                let what = format!(
                    "{} ({}, bare runner {})",
                    result["outcome"],
                    world.kind.word(),
                    if now.failed { "fails" } else { "passes" }
                );
                if std::env::var_os("FUZZ_VERDICTS").is_some() {
                    eprintln!("{label} {path}: {what} {}", result["errors"]);
                }
                *tally.other_verdicts.entry(what).or_default() += 1;
            }
            if let (Some(receipt), true) = (result["receipt"].as_str(), passed) {
                known.insert(receipt.to_owned(), now.clone());
                last.insert(path.to_owned(), now);
            }
        }
        Ok(())
    }

    /// Asks `owed run`; `None` when it gave no answer but said why.
    fn ask(&self, world: &World) -> Result<Option<Value>> {
        let mut command = Command::new(&self.owed);
        command.args(["run", "--all", "--format", "json"]).current_dir(&world.root);
        if world.strict {
            command.arg("--env-strict");
        }
        command.env_clear().envs(&world.environment).stdin(Stdio::null());
        let output = command.output()?;
        let code = output.status.code().context("owed was killed")?;
        let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            ensure!(code == 2 && !said.contains("panicked"), "owed gave {code}: {said}");
            return Ok(None);
        };
        Ok(Some(answer))
    }
}

/// What is wrong with a reuse, when something is.
fn contradiction(result: &Value, now: &Fresh, known: &Known) -> Option<String> {
    let counts =
        ["passed", "failed", "skipped"].map(|name| result["cases"][name].as_u64().unwrap_or(u64::MAX));
    if now.failed {
        return Some(format!("reused, and its fresh run fails: {:?}", now.saw));
    }
    if counts != now.cases {
        return Some(format!("reused with cases {counts:?}, and its fresh run has {:?}", now.cases));
    }
    let then = known.get(result["receipt"].as_str().unwrap_or_default())?;
    (then.saw != now.saw).then(|| {
        format!("reused, and it sees something else\n    then {:?}\n    now  {:?}", then.saw, now.saw)
    })
}

fn count_denial(result: &Value, same: bool, tally: &mut Tally) {
    let Some(first) = result["denied"].as_array().and_then(|denied| denied.first()) else { return };
    let reason = first["reason"].as_str().unwrap_or_default();
    let detail = first["detail"].as_str().unwrap_or_default();
    let what = match reason {
        // The dimension, and the name where names are few.
        "inputs-differ" => {
            let mut words = detail.split([' ', ':']);
            let dimension = words.next().unwrap_or_default();
            let name = words.next().unwrap_or_default();
            let named =
                matches!(dimension, "environment" | "command" | "policy" | "engine" | "toolchain" | "pin");
            if named { format!("{dimension} {name}") } else { dimension.to_owned() }
        }
        "class" => {
            let reason = detail.rsplit_once('(').map_or("", |(_, reason)| reason.trim_end_matches(')'));
            format!("{} {reason}", detail.split(':').next().unwrap_or_default())
        }
        "receipt-fault" => detail.to_owned(),
        "not-looked-at" => {
            detail.split(':').next_back().unwrap_or_default().trim().chars().take(60).collect()
        }
        _ => String::new(),
    };
    let counts = tally.denials.entry(format!("{reason} {what}").trim().to_owned()).or_default();
    counts[0] += 1;
    counts[1] += u64::from(same);
}

/// Finds the programs of this machine.
fn machine(args: &Args, dir: &Path) -> Result<Machine> {
    let node = asked("node", &["-p", "process.execPath"])?;
    let other = dir.join("other-node/node");
    fs::create_dir_all(other.parent().context("it has a folder")?)?;
    fs::copy(&node, &other)?;
    // More bytes after the end of the program change nothing but its digest.
    let mut file = fs::File::options().append(true).open(&other)?;
    std::io::Write::write_all(&mut file, b"\n")?;
    let mut pythons: Vec<PathBuf> = Vec::new();
    let path = std::env::var_os("PATH").unwrap_or_default();
    for python in std::env::split_paths(&path).map(|dir| dir.join("python3")).filter(|p| p.is_file()) {
        let python = asked(
            &python.to_string_lossy(),
            &["-c", "import os, sys; print(os.path.realpath(sys.executable))"],
        )?;
        if !pythons.contains(&python) {
            pythons.push(python);
        }
    }
    let node_modules = args.tools.join("node/node_modules");
    let venv = args.tools.join("python/venv");
    Ok(Machine {
        nodes: [node, other],
        pythons,
        node_modules: fs::canonicalize(node_modules).ok().filter(|dir| dir.join("vitest").is_dir()),
        site_packages: world::site_packages(&venv).and_then(|dir| fs::canonicalize(dir).ok()),
    })
}

fn asked(program: &str, arguments: &[&str]) -> Result<PathBuf> {
    let output =
        Command::new(program).args(arguments).output().with_context(|| format!("{program} is needed"))?;
    ensure!(output.status.success(), "{program} {arguments:?} failed");
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
