//! `owed plan` beside the tools that only build the graph, and warm beside `git status`, in
//! pairs in one run.
//!
//! ```text
//! cargo build --release && cargo run --release -p benches --bin peers -- --projects DIR
//! ```
//!
//! `DIR` holds checkouts of `benches/projects.toml`. The peers are installed below
//! `target/peers` from npm and PyPI. For each pair, owed and its peer run in turn (A B A
//! B …); the figure is the median of the ratios of neighbours. Cold is `--no-cache`; warm
//! has a cache in the checkout's `.owed`, once with nothing changed and once with ten
//! sources that each gained a comment (and lose it again). Every command, version and
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
    /// Only the warm pairs, which need no peer to be installed.
    #[arg(long)]
    warm: bool,
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
    /// `cold`, `warm` or `warm, 10 edited`.
    state: &'static str,
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
    let peers = if arguments.warm { Vec::new() } else { install(&root.join("target/peers"))? };
    let owed = root.join(&arguments.owed);
    if !owed.exists() {
        bail!("{} is not there: run `cargo build --release` first", owed.display());
    }
    let mut pairs = Vec::new();
    println!(
        "{:<14} {:>6} {:>10} {:>10} {:>6} {:>9} {:>9}  {:<15} peer",
        "project", "files", "owed ms", "peer ms", "ratio", "owed MiB", "peer MiB", "state"
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
            let cold = Side { state: "cold", words: &["--no-cache"] };
            pairs.push(run_pair(&arguments, &owed, &dir, project.clone(), files, cold, peer)?);
        }
        let status = Peer {
            language: "",
            command: ["git", "status", "--porcelain"].map(str::to_owned).to_vec(),
            version: text(Command::new("git").arg("--version"))? + ": status --porcelain",
        };
        let warm = Side { state: "warm", words: &[] };
        pairs.push(run_pair(&arguments, &owed, &dir, project.clone(), files, warm, &status)?);
        let edited = Edited::ten(&dir, &project.language)?;
        let warm = Side { state: "warm, 10 edited", words: &[] };
        let pair = run_pair(&arguments, &owed, &dir, project, files, warm, &status);
        edited.restore()?;
        pairs.push(pair?);
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

/// How owed runs.
struct Side {
    state: &'static str,
    words: &'static [&'static str],
}

/// Ten sources with a comment more, and what they were.
struct Edited(Vec<(PathBuf, Vec<u8>)>);

impl Edited {
    /// Ten sources spread over the project, each with a comment at its end.
    fn ten(dir: &Path, language: &str) -> Result<Self> {
        let (extension, comment) =
            if language == "python" { (".py", "# edited\n") } else { (".ts", "// edited\n") };
        let listed = text(Command::new("git").args(["ls-files"]).current_dir(dir))?;
        let sources: Vec<&str> = listed.lines().filter(|path| path.ends_with(extension)).collect();
        let mut edited = Vec::new();
        for path in sources.iter().step_by((sources.len() / 10).max(1)).take(10) {
            let path = dir.join(path);
            let before = fs::read(&path)?;
            fs::write(&path, [&before[..], comment.as_bytes()].concat())?;
            edited.push((path, before));
        }
        Ok(Self(edited))
    }

    fn restore(self) -> Result<()> {
        for (path, before) in self.0 {
            fs::write(path, before)?;
        }
        Ok(())
    }
}

fn run_pair(
    arguments: &Arguments,
    owed: &Path,
    dir: &Path,
    project: Pinned,
    files: usize,
    side: Side,
    peer: &Peer,
) -> Result<Pair> {
    let words = ["plan", "--base", "HEAD", "--format", "json"];
    let words = words.iter().chain(side.words).map(|word| (*word).to_owned());
    let ours: Vec<String> = std::iter::once(owed.to_string_lossy().into_owned()).chain(words).collect();
    // The first fills the cache, and the second knows its times to be settled.
    for _ in 0..2 {
        sample(dir, &ours)?;
    }
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
    let pair = Pair {
        project,
        files,
        state: side.state,
        owed: ours,
        peer: peer.command.clone(),
        peer_version: peer.version.clone(),
        owed_samples,
        peer_samples,
        ratio: median(ratios),
    };
    let mid = |samples: &[Sample], f: fn(&Sample) -> f64| median(samples.iter().map(f).collect());
    println!(
        "{:<14} {:>6} {:>10.1} {:>10.1} {:>6.2} {:>9.0} {:>9.0}  {:<15} {}",
        pair.project.name,
        files,
        mid(&pair.owed_samples, |s| s.wall_ms),
        mid(&pair.peer_samples, |s| s.wall_ms),
        pair.ratio,
        mid(&pair.owed_samples, |s| s.peak_mib),
        mid(&pair.peer_samples, |s| s.peak_mib),
        pair.state,
        pair.peer_version,
    );
    Ok(pair)
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
