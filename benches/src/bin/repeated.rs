//! What `owed check --only repeated` finds, and what it costs.
//!
//! ```text
//! cargo run -p benches --bin repeated -- recall --projects DIR
//! cargo build --release && cargo run --release -p benches --bin repeated -- cost --projects DIR
//! ```
//!
//! `recall` copies functions of real projects with known edits ([`benches::inject`]) into files
//! of their own and counts how many are found together with their original. `cost` measures
//! the binary in pairs: 400 near-identical files beside 400 unrelated ones, and each project
//! beside other tools where these are installed.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use benches::inject::{Edit, Language, Random, copy};
use benches::measure::{measure, median, sample};
use clap::{Parser, Subcommand};
use owed_engine::check::repeated::{FEWEST_STATEMENTS, Group, is_table};
use owed_engine::check::{Input, Policy, Questions, Survey};
use owed_engine::language::SourceFile;
use owed_engine::read::{DiskTree, walk};
use owed_engine::tree::{MemoryTree, Tree};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// How many known copies are found.
    Recall(Recall),
    /// Time and memory.
    Cost(Cost),
    /// Writes a project of many lines, made of real ones, to be measured.
    Large(Large),
    /// What an editor waits for: one changed file of a project that was read before.
    Edit(Edited),
}

#[derive(clap::Args)]
struct Large {
    /// Directory with one checkout a project.
    #[arg(long)]
    projects: PathBuf,
    /// Which of them.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "typeorm,vitest,zod,astro,query,saleor,pydantic,sympy"
    )]
    only: Vec<String>,
    /// Lines.
    #[arg(long, default_value_t = 10_000_000)]
    lines: usize,
    /// Where to.
    to: PathBuf,
}

#[derive(clap::Args)]
struct Edited {
    /// A checkout.
    project: PathBuf,
    /// How many files, spread over the project.
    #[arg(long, default_value_t = 20)]
    files: usize,
}

#[derive(clap::Args)]
struct Recall {
    /// Directory with one checkout a project.
    #[arg(long)]
    projects: PathBuf,
    /// Which of them.
    #[arg(long, value_delimiter = ',', default_value = "typeorm,vitest,zod,saleor,flask,httpx,pydantic")]
    only: Vec<String>,
    /// Functions a project.
    #[arg(long, default_value_t = 200)]
    functions: usize,
    /// Copy tables, which are left out otherwise: two of these are one implementation only when
    /// two thirds of their values are equal, so an edit of values makes another one.
    #[arg(long)]
    tables: bool,
    /// Show what is missed.
    #[arg(long)]
    misses: bool,
}

#[derive(clap::Args)]
struct Cost {
    /// Directory with one checkout a project.
    #[arg(long)]
    projects: PathBuf,
    /// Which of them.
    #[arg(long, value_delimiter = ',', default_value = "typeorm,vitest,saleor")]
    only: Vec<String>,
    /// Pairs.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The binary to measure.
    #[arg(long, default_value = "target/release/owed")]
    owed: PathBuf,
    /// Another tool's command, run in the project; `NAME=COMMAND WORDS`.
    #[arg(long)]
    peer: Vec<String>,
    /// A folder for generated files, made anew.
    #[arg(long, default_value = "target/repeated")]
    scratch: PathBuf,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).is_some_and(|word| word == "measure") {
        return measure(&words[3..]);
    }
    match Arguments::parse().what {
        What::Recall(arguments) => recall(&arguments),
        What::Cost(arguments) => cost(&arguments),
        What::Large(arguments) => large(&arguments),
        What::Edit(arguments) => edit(&arguments),
    }
}

/// Found and made, by kind of edit.
type Score = BTreeMap<Edit, (usize, usize)>;

fn recall(arguments: &Recall) -> Result<()> {
    println!("| project | functions | Type 1 | Type 2 | Type 3 |\n| --- | --- | --- | --- | --- |");
    let mut all = Score::new();
    for name in &arguments.only {
        let (functions, score) = recall_in(&arguments.projects.join(name), arguments)?;
        for (edit, (found, made)) in &score {
            let sum = all.entry(*edit).or_default();
            *sum = (sum.0 + found, sum.1 + made);
        }
        println!("| {name} | {functions} | {} |", cells(&score));
    }
    println!("| all | | {} |", cells(&all));
    Ok(())
}

fn cells(score: &Score) -> String {
    let cell = |edit: &Edit| {
        let (found, made) = score.get(edit).copied().unwrap_or_default();
        let percent = if made == 0 { 0.0 } else { 100.0 * found as f64 / made as f64 };
        format!("{found} of {made} ({percent:.1} %)")
    };
    [Edit::Layout, Edit::Names, Edit::Statements].iter().map(cell).collect::<Vec<_>>().join(" | ")
}

/// A function that copies are made of.
struct Original {
    path: String,
    number: usize,
    line: u32,
}

fn input<'a>(tree: &'a dyn Tree, tests: &'a BTreeSet<String>) -> Input<'a> {
    Input {
        tree,
        languages: owed_plugins::languages(),
        tests,
        unseen: &[],
        broken_links: &[],
        debt: None,
        base: None,
        coverage: None,
    }
}

fn recall_in(root: &Path, arguments: &Recall) -> Result<(usize, Score)> {
    let root = fs::canonicalize(root).with_context(|| format!("{} is not there", root.display()))?;
    let disk = DiskTree::new(&root, walk(&root));
    let policy = Policy {
        questions: Questions { tokens: false, repeated: true, complexity: false },
        across_files: true,
        advice: true,
        ..Policy::default()
    };
    let none = BTreeSet::new();
    let survey = Survey::read(input(&disk, &none), policy.clone());
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut originals = Vec::new();
    for file in survey.report().files.checked {
        let Ok(bytes) = disk.read(&file.path) else { continue };
        let Some((_, facts)) = functions(&file.path, &bytes) else { continue };
        for (number, function) in facts.functions.iter().enumerate() {
            let whole = function.statements >= FEWEST_STATEMENTS
                && !function.has_nested
                && !function.delegate
                && is_table(function) == arguments.tables;
            if whole && function.shape.symbols.len() >= 40 {
                originals.push(Original { path: file.path.clone(), number, line: function.start_line });
            }
        }
        files.insert(file.path, bytes);
    }
    // Spread over the project, the same ones every time.
    let step = (originals.len() / arguments.functions.max(1)).max(1);
    let chosen: Vec<Original> = originals.into_iter().step_by(step).take(arguments.functions).collect();
    let mut random = Random(7);
    let mut score = Score::new();
    for edit in [Edit::Layout, Edit::Names, Edit::Statements] {
        let mut with_copies = files.clone();
        let mut made = Vec::new();
        for (at, original) in chosen.iter().enumerate() {
            let Ok(text) = std::str::from_utf8(&files[&original.path]) else { continue };
            let Some((language, facts)) = functions(&original.path, text.as_bytes()) else { continue };
            let function = &facts.functions[original.number];
            let Some((copy, _)) = copy(language, text, function, edit, &mut random) else { continue };
            let extension = if language == Language::Python { "py" } else { "tsx" };
            // A generic arrow is no JSX.
            let extension = if copy.contains("<") && extension == "tsx" { "ts" } else { extension };
            let path = format!("injected/f{at}.{extension}");
            // What does not parse, or has become another function, is no copy.
            let Some((_, copied)) = functions(&path, copy.as_bytes()) else { continue };
            if copied.functions.len()
                != 1 + facts.functions.iter().filter(|f| f.parent == Some(original.number as u32)).count()
            {
                continue;
            }
            if copied.functions[0].statements < FEWEST_STATEMENTS || copied.functions[0].delegate {
                continue;
            }
            with_copies.insert(path.clone(), copy.into_bytes());
            made.push((original, path));
        }
        let tree = MemoryTree::new(with_copies);
        let groups = Survey::read(input(&tree, &none), policy.clone()).report().repeated;
        let found = made.iter().filter(|(original, path)| is_found(&groups, original, path, edit)).count();
        if arguments.misses {
            for (original, path) in
                made.iter().filter(|(original, path)| !is_found(&groups, original, path, edit))
            {
                let text = tree.text(path).unwrap_or_default();
                eprintln!("{edit:?}: {}:{} {path}\n{text}", original.path, original.line);
            }
        }
        score.insert(edit, (found, made.len()));
    }
    Ok((chosen.len(), score))
}

fn functions(path: &str, bytes: &[u8]) -> Option<(Language, owed_engine::function::FunctionFacts)> {
    let language = owed_plugins::languages().iter().find(|language| language.reads(path))?;
    let facts = language.functions(SourceFile { path, bytes })?;
    // Copies are made in these two.
    let kind = match language.name() {
        "python" => Language::Python,
        "javascript" => Language::Script,
        _ => return None,
    };
    facts.damage.is_empty().then_some((kind, facts))
}

/// Whether some group holds the copy and the original (or an exact copy of that).
fn is_found(groups: &[Group], original: &Original, copy: &str, edit: Edit) -> bool {
    let is_original = |path: &str, line: u32| path == original.path && line == original.line;
    let claims = groups.iter().filter(|group| group.is_claim());
    let same: BTreeSet<(&str, u32)> = claims
        .filter(|group| group.members.iter().any(|m| is_original(&m.path, m.start_line)))
        .flat_map(|group| group.members.iter().map(|m| (m.path.as_str(), m.start_line)))
        .chain([(original.path.as_str(), original.line)])
        .collect();
    groups
        .iter()
        .filter(|group| edit == Edit::Statements || group.is_claim())
        .filter(|group| group.members.iter().any(|m| m.path == copy))
        .any(|group| group.members.iter().any(|m| same.contains(&(m.path.as_str(), m.start_line))))
}

fn cost(arguments: &Cost) -> Result<()> {
    let owed = fs::canonicalize(&arguments.owed).context("build the release binary first")?;
    let owed = owed.to_string_lossy().into_owned();
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let check = |more: &[&str]| {
        [words(&[&owed, "check", "--only", "repeated", "--across", "files", "--format", "json"]), words(more)]
            .concat()
    };
    let _ = fs::remove_dir_all(&arguments.scratch);
    let (alike, apart) = (arguments.scratch.join("alike"), arguments.scratch.join("apart"));
    four_hundred(&alike, true)?;
    four_hundred(&apart, false)?;
    println!(
        "| what | against | ratio | time | other's | peak | other's |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for more in [&[][..], &["--advice"]] {
        let command = check(more);
        let name = format!("400 near-identical files {}", more.join(" "));
        pair(&name, "400 unrelated", (&alike, &command), (&apart, &command), arguments.rounds)?;
    }
    for project in &arguments.only {
        let dir = arguments.projects.join(project);
        for peer in &arguments.peer {
            let (name, command) = peer.split_once('=').context("a peer is NAME=COMMAND")?;
            let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            pair(project, name, (&dir, &check(&[])), (&dir, &command), arguments.rounds)?;
        }
        if arguments.peer.is_empty() {
            pair(
                project,
                "with --advice",
                (&dir, &check(&[])),
                (&dir, &check(&["--advice"])),
                arguments.rounds,
            )?;
        }
    }
    Ok(())
}

fn pair(
    what: &str,
    against: &str,
    ours: (&Path, &[String]),
    theirs: (&Path, &[String]),
    rounds: usize,
) -> Result<()> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(sample(ours.0, ours.1)?);
        b.push(sample(theirs.0, theirs.1)?);
    }
    let ratio = median(a.iter().zip(&b).map(|(a, b)| a.wall_ms / b.wall_ms).collect());
    let time = |samples: &[benches::measure::Sample]| median(samples.iter().map(|s| s.wall_ms).collect());
    let peak = |samples: &[benches::measure::Sample]| median(samples.iter().map(|s| s.peak_mib).collect());
    println!(
        "| {what} | {against} | {ratio:.2} | {:.0} ms | {:.0} ms | {:.0} MiB | {:.0} MiB |",
        time(&a),
        time(&b),
        peak(&a),
        peak(&b)
    );
    Ok(())
}

/// 400 files of twelve functions, which differ in one statement each, or in all.
fn four_hundred(dir: &Path, alike: bool) -> Result<()> {
    fs::create_dir_all(dir)?;
    for file in 0..400usize {
        let mut text = String::new();
        for function in 0..12usize {
            let seed = if alike { function * 1000 } else { file * 12 + function };
            let mut random = Random(seed as u64);
            let _ = writeln!(text, "export function task{function}(input, options) {{");
            for step in 0..14 {
                let own = alike && step == 7;
                let (verb, noun) = if own { (file, file) } else { (random.below(500), random.below(500)) };
                let _ = match random.below(3) {
                    0 => writeln!(text, "  const value{step} = verb{verb}(input.noun{noun}, {step});"),
                    1 => writeln!(text, "  if (options.noun{noun}) verb{verb}(input);"),
                    _ => writeln!(text, "  input.noun{noun} = verb{verb}(options);"),
                };
            }
            text.push_str("  return input;\n}\n");
        }
        fs::write(dir.join(format!("file{file}.js")), text)?;
    }
    Ok(())
}

fn large(arguments: &Large) -> Result<()> {
    let mut sources = Vec::new();
    for name in &arguments.only {
        let root = fs::canonicalize(arguments.projects.join(name))?;
        let disk = DiskTree::new(&root, walk(&root));
        let none = BTreeSet::new();
        let questions = Questions { tokens: true, repeated: false, complexity: false };
        let report = Survey::read(input(&disk, &none), Policy { questions, ..Policy::default() }).report();
        for file in report.files.checked {
            if let Ok(bytes) = disk.read(&file.path) {
                sources.push((format!("{name}/{}", file.path), bytes));
            }
        }
    }
    let written = benches::large::write(&arguments.to, &sources, arguments.lines)?;
    println!("{} lines in {} files", written.lines, written.files);
    Ok(())
}

fn edit(arguments: &Edited) -> Result<()> {
    let root = fs::canonicalize(&arguments.project)?;
    let disk = DiskTree::new(&root, walk(&root));
    let none = BTreeSet::new();
    let start = Instant::now();
    let mut survey = Survey::read(input(&disk, &none), Policy { across_files: true, ..Policy::default() });
    println!("read: {:.0} ms", start.elapsed().as_secs_f64() * 1000.0);
    let files = survey.report().files.checked;
    let mut times = Vec::new();
    for file in files.iter().step_by((files.len() / arguments.files.max(1)).max(1)) {
        let mut bytes =
            disk.read(&file.path).map_err(|reason| anyhow::anyhow!("{}: {}", file.path, reason.word()))?;
        bytes.extend(b"\n");
        let start = Instant::now();
        survey.replace(&file.path, Some(bytes));
        let report = survey.report_about(&file.path);
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        anyhow::ensure!(report.files.checked.len() == 1, "{} is not checked any more", file.path);
    }
    let most = times.iter().copied().fold(0.0, f64::max);
    println!("one file: median {:.1} ms, at most {most:.1} ms, {} files", median(times.clone()), times.len());
    Ok(())
}
