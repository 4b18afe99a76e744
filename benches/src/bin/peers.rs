//! `owed plan` beside the tools that only build the graph, in pairs in one run.
//!
//! ```text
//! cargo build --release && cargo run --release -p benches --bin peers -- --projects DIR
//! ```
//!
//! `DIR` holds checkouts of `benches/projects.toml`. The peers are installed below
//! `target/peers` from npm and PyPI. For each pair, owed and its peer run in turn (A B A
//! B …); the figure is the median of the ratios of neighbours. Every command, version and
//! sample goes to `benches/runs/`.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use benches::measure::{Sample, measure, median, sample};
use clap::Parser;
use serde::{Deserialize, Serialize};

/// Measures `owed plan` against tools that only build the graph.
#[derive(Parser)]
struct Arguments {
    /// Directory with one checkout a project.
    #[arg(long)]
    projects: PathBuf,
    /// Pairs a project.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Only these projects.
    #[arg(long)]
    only: Vec<String>,
    /// Where the run is written; nothing is written without it.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The binary to measure.
    #[arg(long, default_value = "target/release/owed")]
    owed: PathBuf,
}

#[derive(Deserialize)]
struct Projects {
    project: Vec<Pinned>,
}

#[derive(Clone, Deserialize, Serialize)]
struct Pinned {
    name: String,
    repository: String,
    commit: String,
    language: String,
}

#[derive(Serialize)]
struct Pair {
    project: Pinned,
    files: usize,
    owed: Vec<String>,
    peer: Vec<String>,
    peer_version: String,
    owed_samples: Vec<Sample>,
    peer_samples: Vec<Sample>,
    ratio: f64,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).is_some_and(|w| w == "measure") {
        return measure(&words[3..]);
    }
    let arguments = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("benches lies in the workspace")?;
    let listed: Projects = toml::from_str(&fs::read_to_string(root.join("benches/projects.toml"))?)?;
    let peers = install(&root.join("target/peers"))?;
    let owed = root.join(&arguments.owed);
    if !owed.exists() {
        bail!("{} is not there: run `cargo build --release` first", owed.display());
    }
    let mut pairs = Vec::new();
    println!(
        "{:<14} {:>6} {:>10} {:>10} {:>6} {:>9} {:>9}  peer",
        "project", "files", "owed ms", "peer ms", "ratio", "owed MiB", "peer MiB"
    );
    for project in listed.project {
        let dir = arguments.projects.join(&project.name);
        if !dir.exists() || (!arguments.only.is_empty() && !arguments.only.contains(&project.name)) {
            continue;
        }
        let head = text(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&dir))?;
        if head != project.commit {
            eprintln!("{}: at {head}, not at the pinned {}", project.name, project.commit);
        }
        let files = text(Command::new("git").arg("ls-files").current_dir(&dir))?.lines().count();
        for peer in peers.iter().filter(|p| p.language == project.language) {
            let pair = run_pair(&arguments, &owed, &dir, project.clone(), files, peer)?;
            let mid = |samples: &[Sample], f: fn(&Sample) -> f64| median(samples.iter().map(f).collect());
            println!(
                "{:<14} {:>6} {:>10.1} {:>10.1} {:>6.2} {:>9.0} {:>9.0}  {}",
                pair.project.name,
                files,
                mid(&pair.owed_samples, |s| s.wall_ms),
                mid(&pair.peer_samples, |s| s.wall_ms),
                pair.ratio,
                mid(&pair.owed_samples, |s| s.peak_mib),
                mid(&pair.peer_samples, |s| s.peak_mib),
                pair.peer_version,
            );
            pairs.push(pair);
        }
    }
    if let Some(out) = &arguments.out {
        fs::create_dir_all(out)?;
        let mut text = serde_json::to_string_pretty(&pairs)?;
        text = text
            .replace(&*owed.to_string_lossy(), "target/release/owed")
            .replace(&*root.to_string_lossy(), ".")
            .replace(&*arguments.projects.to_string_lossy(), "PROJECTS");
        fs::write(out.join("peers.json"), text + "\n")?;
    }
    Ok(())
}

struct Peer {
    language: &'static str,
    command: Vec<String>,
    version: String,
}

fn run_pair(
    arguments: &Arguments,
    owed: &Path,
    dir: &Path,
    project: Pinned,
    files: usize,
    peer: &Peer,
) -> Result<Pair> {
    let words = ["plan", "--base", "HEAD", "--format", "json", "--no-cache"];
    let ours: Vec<String> =
        std::iter::once(owed.to_string_lossy().into_owned()).chain(words.map(str::to_owned)).collect();
    sample(dir, &ours)?;
    sample(dir, &peer.command)?;
    let (mut owed_samples, mut peer_samples) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        let own = sample(dir, &ours)?;
        if own.exit != 0 {
            bail!("{}: owed exits {}", project.name, own.exit);
        }
        owed_samples.push(own);
        peer_samples.push(sample(dir, &peer.command)?);
    }
    let ratios = owed_samples.iter().zip(&peer_samples).map(|(a, b)| a.wall_ms / b.wall_ms).collect();
    Ok(Pair {
        project,
        files,
        owed: ours,
        peer: peer.command.clone(),
        peer_version: peer.version.clone(),
        owed_samples,
        peer_samples,
        ratio: median(ratios),
    })
}

/// Installs the peers on first use.
fn install(dir: &Path) -> Result<Vec<Peer>> {
    fs::create_dir_all(dir)?;
    let rev_dep = dir.join("node_modules/@rev-dep/linux-x64/bin/rev-dep");
    if !rev_dep.exists() {
        fs::write(dir.join("package.json"), "{\"private\":true}\n")?;
        text(
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "rev-dep@2.19.1"])
                .current_dir(dir),
        )?;
    }
    let ruff = dir.join("venv/bin/ruff");
    if !ruff.exists() {
        text(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(dir))?;
        text(Command::new("venv/bin/pip").args(["install", "--quiet", "ruff==0.17.6"]).current_dir(dir))?;
    }
    let peer = |language, program: &Path, words: &[&str]| -> Result<Peer> {
        let program = program.to_string_lossy().into_owned();
        let version = text(Command::new(&program).arg("--version"))?;
        let command = std::iter::once(program).chain(words.iter().map(|w| (*w).to_owned())).collect();
        Ok(Peer { language, command, version: format!("{version}: {}", words.join(" ")) })
    };
    Ok(vec![peer("javascript", &rev_dep, &["circular"])?, peer("python", &ruff, &["analyze", "graph"])?])
}

fn text(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
