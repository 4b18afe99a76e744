//! `owed plan` beside the tools that only build the graph, beside what a runner decides
//! itself, and warm beside `git status`, in pairs in one run.
//!
//! ```text
//! cargo build --release && cargo run --release -p benches --bin peers
//! ```
//!
//! Projects are those of `benches/projects.toml`, in `--projects DIR` or fetched at their
//! commits below `target/peers/projects`, and generated ones of 1,000, 10,000 and 100,000
//! files. The peers are installed below `target/peers` from npm and PyPI; zod gets its own
//! dependencies in a copy, for `vitest list --changed`. For each pair, owed and its peer run
//! in turn (A B A B …); the figure is the median of the ratios of neighbours. Cold is
//! `--no-cache`; warm has a cache in the checkout's `.owed`, once with nothing changed and
//! once with ten sources that each gained a comment (and lose it again). Every command,
//! version and sample goes to `benches/runs/`, and the tables of `benches/README.md` between
//! their marks are written from them when `--readme` is given.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use benches::generate::{Shape, generate};
use benches::measure::{Sample, measure, median, sample};
use clap::Parser;
use serde::{Deserialize, Serialize};

/// Measures `owed plan` against tools that only build the graph.
#[derive(Parser)]
struct Arguments {
    /// Directory with one checkout a project; they are fetched without it.
    #[arg(long)]
    projects: Option<PathBuf>,
    /// Pairs a project. Over 20,000 files, and for a runner's own decision, a third of it.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Without the generated projects.
    #[arg(long)]
    no_generated: bool,
    /// Without `vitest list --changed`, which needs zod's dependencies.
    #[arg(long)]
    no_decision: bool,
    /// Writes the tables of `benches/README.md`.
    #[arg(long)]
    readme: bool,
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
    /// `cold`, `warm`, `warm, 10 edited` or `decision`.
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
    println!(
        "{:<18} {:>6} {:>10} {:>10} {:>6} {:>9} {:>9}  {:<15} peer",
        "project", "files", "owed ms", "peer ms", "ratio", "owed MiB", "peer MiB", "state"
    );
    let home = arguments.projects.clone().unwrap_or_else(|| root.join("target/peers/projects"));
    let bench = Bench { arguments: &arguments, owed: &owed, status: status()?, peers };
    let mut pairs = Vec::new();
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    for project in listed.project.into_iter().filter(|project| is_wanted(&project.name)) {
        let dir = home.join(&project.name);
        if arguments.projects.is_none() {
            fetch(&dir, &project)?;
        }
        if dir.exists() {
            bench.project(&dir, project, &mut pairs)?;
        }
    }
    if !arguments.no_generated {
        for (shape, files) in [
            (Shape::Typescript, 1_000),
            (Shape::Python, 1_000),
            (Shape::Typescript, 10_000),
            (Shape::Python, 10_000),
            (Shape::Typescript, 100_000),
        ] {
            let (name, language) = match shape {
                Shape::Python => (format!("python-{files}"), "python"),
                _ => (format!("typescript-{files}"), "javascript"),
            };
            if is_wanted(&name) {
                let dir = root.join("target/peers/generated").join(&name);
                let project = generated(&dir, shape, files, name, language)?;
                bench.project(&dir, project, &mut pairs)?;
            }
        }
    }
    if !arguments.no_decision && !arguments.warm && is_wanted("zod") && home.join("zod").exists() {
        pairs.push(bench.decision(&home.join("zod"), &root.join("target/peers/zod"))?);
    }
    if let Some(out) = &arguments.out {
        fs::create_dir_all(out)?;
        let mut text = serde_json::to_string_pretty(&pairs)?;
        text = text
            .replace(&*owed.to_string_lossy(), "target/release/owed")
            .replace(&*root.to_string_lossy(), ".")
            .replace(&*home.to_string_lossy(), "PROJECTS");
        fs::write(out.join("peers.json"), text + "\n")?;
    }
    if arguments.readme {
        let path = root.join("benches/README.md");
        let text = fs::read_to_string(&path)?;
        fs::write(&path, with_tables(&text, &tables(&pairs))?)?;
    }
    Ok(())
}

/// One run of everything.
struct Bench<'a> {
    arguments: &'a Arguments,
    owed: &'a Path,
    status: Peer,
    peers: Vec<Peer>,
}

impl Bench<'_> {
    /// Cold, warm, and warm with ten edits.
    fn project(&self, dir: &Path, project: Pinned, pairs: &mut Vec<Pair>) -> Result<()> {
        let head = text(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(dir))?;
        if head != project.commit {
            eprintln!("{}: at {head}, not at the pinned {}", project.name, project.commit);
        }
        let files = text(Command::new("git").arg("ls-files").current_dir(dir))?.lines().count();
        for peer in self.peers.iter().filter(|p| p.language == project.language) {
            let cold = Side { state: "cold", words: &["--no-cache"] };
            pairs.push(self.pair(dir, project.clone(), files, cold, peer)?);
        }
        let warm = Side { state: "warm", words: &[] };
        pairs.push(self.pair(dir, project.clone(), files, warm, &self.status)?);
        let edited = Edited::ten(dir, &project.language)?;
        let warm = Side { state: "warm, 10 edited", words: &[] };
        let pair = self.pair(dir, project, files, warm, &self.status);
        edited.restore()?;
        pairs.push(pair?);
        Ok(())
    }

    /// What zod's own runner says of a change, in a copy with its dependencies.
    fn decision(&self, zod: &Path, copy: &Path) -> Result<Pair> {
        if !copy.exists() {
            text(Command::new("cp").arg("-a").arg(zod).arg(copy))?;
            let install = ["-y", "pnpm@10.12.1", "install", "--frozen-lockfile", "--ignore-scripts"];
            // The version is pinned here, so pnpm need not find it for itself.
            let mut pnpm = Command::new("npx");
            pnpm.env("npm_config_manage_package_manager_versions", "false");
            text(pnpm.args(install).current_dir(copy))?;
        }
        let vitest = copy.join("node_modules/.bin/vitest").to_string_lossy().into_owned();
        let version = text(Command::new(&vitest).arg("--version").current_dir(copy))?;
        let words = ["list", "--changed", "HEAD", "--filesOnly"];
        let peer = Peer {
            language: "",
            command: std::iter::once(vitest).chain(words.map(str::to_owned)).collect(),
            version: format!("{version}: {}", words.join(" ")),
        };
        let changed = copy.join("packages/zod/src/v4/core/util.ts");
        let before = fs::read(&changed)?;
        fs::write(&changed, [&before[..], b"// edited\n"].concat())?;
        let project = Pinned {
            name: "zod".to_owned(),
            repository: String::new(),
            commit: text(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(copy))?,
            language: "javascript".to_owned(),
        };
        let files = text(Command::new("git").arg("ls-files").current_dir(copy))?.lines().count();
        let pair = self.pair(copy, project, files, Side { state: "decision", words: &[] }, &peer);
        fs::write(&changed, before)?;
        pair
    }

    fn rounds(&self, files: usize, state: &str) -> usize {
        let all = self.arguments.rounds;
        if files > 20_000 || state == "decision" { all.div_ceil(3) } else { all }
    }
}

fn status() -> Result<Peer> {
    Ok(Peer {
        language: "",
        command: ["git", "status", "--porcelain"].map(str::to_owned).to_vec(),
        version: text(Command::new("git").arg("--version"))? + ": status --porcelain",
    })
}

/// Fetches one commit of a project, unless it is there.
fn fetch(dir: &Path, project: &Pinned) -> Result<()> {
    if dir.exists() {
        return Ok(());
    }
    fs::create_dir_all(dir)?;
    let git = |words: &[&str]| text(Command::new("git").args(words).current_dir(dir));
    git(&["init", "--quiet"])?;
    git(&["fetch", "--quiet", "--depth", "1", &project.repository, &project.commit])?;
    git(&["checkout", "--quiet", "FETCH_HEAD"])?;
    Ok(())
}

/// A generated project in a repository of its own.
fn generated(dir: &Path, shape: Shape, files: usize, name: String, language: &str) -> Result<Pinned> {
    let git = |words: &[&str]| text(Command::new("git").args(words).current_dir(dir));
    if !dir.join(".git").exists() {
        fs::create_dir_all(dir)?;
        generate(dir, shape, files)?;
        git(&["init", "--quiet"])?;
        git(&["add", "--all"])?;
        let who = ["-c", "user.name=benches", "-c", "user.email=benches@example.invalid"];
        git(&[&who[..], &["commit", "--quiet", "--message", "generated"]].concat())?;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    Ok(Pinned { name, repository: "generated".to_owned(), commit, language: language.to_owned() })
}

/// The tables of the README, by the name of their mark.
fn tables(pairs: &[Pair]) -> Vec<(&'static str, String)> {
    let mid = |samples: &[Sample], f: fn(&Sample) -> f64| median(samples.iter().map(f).collect());
    let mut cold = "| project | files | owed | peer | ratio | owed, peak | peer, peak | peer's command |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let mut warm = "| project | files | state | owed, CPU | git status, CPU | owed, wall | git status, wall | ratio | owed, peak |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for pair in pairs {
        let Pair {
            project: Pinned { name, .. }, files, state, owed_samples: a, peer_samples: b, ratio, ..
        } = pair;
        let (own, other) = (mid(a, |s| s.wall_ms), mid(b, |s| s.wall_ms));
        let peak: fn(&Sample) -> f64 = |s| s.peak_mib;
        if state.starts_with("warm") {
            let cpu: fn(&Sample) -> f64 = |s| s.cpu_ms;
            warm += &format!(
                "| {name} | {files} | {state} | {:.1} ms | {:.1} ms | {own:.1} ms | {other:.1} ms | {ratio:.2} | {:.0} MiB |\n",
                mid(a, cpu),
                mid(b, cpu),
                mid(a, peak)
            );
        } else {
            cold += &format!(
                "| {name} | {files} | {own:.1} ms | {other:.1} ms | {ratio:.3} | {:.0} MiB | {:.0} MiB | `{}` |\n",
                mid(a, peak),
                mid(b, peak),
                pair.peer_version
            );
        }
    }
    vec![("cold", cold), ("warm", warm)]
}

/// `text` with each table between its marks.
fn with_tables(text: &str, tables: &[(&str, String)]) -> Result<String> {
    let mut text = text.to_owned();
    for (name, table) in tables {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let from =
            text.find(&begin).with_context(|| format!("the README has no mark {begin}"))? + begin.len();
        let to = from + text[from..].find(&end).with_context(|| format!("the README has no mark {end}"))?;
        text.replace_range(from..to, table);
    }
    Ok(text)
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

impl Bench<'_> {
    fn pair(&self, dir: &Path, project: Pinned, files: usize, side: Side, peer: &Peer) -> Result<Pair> {
        let words = ["plan", "--base", "HEAD", "--format", "json"];
        let words = words.iter().chain(side.words).map(|word| (*word).to_owned());
        let ours: Vec<String> =
            std::iter::once(self.owed.to_string_lossy().into_owned()).chain(words).collect();
        // The first fills the cache, and the second knows its times to be settled.
        for _ in 0..2 {
            sample(dir, &ours)?;
        }
        sample(dir, &peer.command)?;
        let (mut owed_samples, mut peer_samples) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds(files, side.state) {
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
            "{:<18} {:>6} {:>10.1} {:>10.1} {:>6.2} {:>9.0} {:>9.0}  {:<15} {}",
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
