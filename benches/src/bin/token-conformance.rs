//! Token counts of every function beside those of the reference scanners.
//!
//! ```text
//! cargo run --release -p benches --bin token-conformance -- [--out FILE] DIR…
//! ```
//!
//! Each `DIR` is a checkout of `benches/projects.toml`, or any folder with sources. The
//! scanners (npm `typescript`, and CPython in WebAssembly, npm `pyodide`) are installed below
//! `target/conformance` on first use; for Go, `go` must be on the `PATH`. A file that only one side refuses is a difference,
//! too. Every difference must be in `benches/conformance/explained.txt`, or the program
//! fails.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use owed_engine::language::SourceFile;
use owed_plugins::languages;
use serde::Deserialize;

/// Compares token counts with TypeScript's scanner and CPython's `tokenize`.
#[derive(Parser)]
struct Arguments {
    /// Folders with sources.
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Where the summary goes besides standard output.
    #[arg(long)]
    out: Option<PathBuf>,
    /// How many differences are printed.
    #[arg(long, default_value_t = 40)]
    show: usize,
}

/// What a reference says about one file.
#[derive(Deserialize)]
struct Reference {
    path: String,
    fault: Option<String>,
    line: Option<u32>,
    /// First byte, end, own tokens, total tokens.
    functions: Vec<[u32; 4]>,
}

/// A reference scanner and the extensions it reads.
struct Scanner {
    name: &'static str,
    script: &'static str,
    extensions: &'static [&'static str],
}

const SCANNERS: &[Scanner] = &[
    Scanner {
        name: "TypeScript 5.9.3",
        script: "typescript.mjs",
        extensions: &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"],
    },
    Scanner { name: "CPython 3.14.2", script: "python.mjs", extensions: &["py", "pyi"] },
    Scanner { name: "go/scanner", script: "tokens.go", extensions: &["go"] },
];

/// Counts of one scanner in one folder.
#[derive(Default)]
struct Row {
    files: usize,
    refused_by_both: usize,
    functions: usize,
    equal: usize,
    /// Time that owed took, files already read.
    spent: Duration,
    differences: Vec<String>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let home = install()?;
    let explained = explained()?;
    let mut table = String::from(
        "| project | reference | files | refused by both | functions | equal | explained | owed, one core |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut open = Vec::new();
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in &arguments.folders {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("?").to_owned();
        for scanner in SCANNERS {
            let files = sources(folder, scanner.extensions)?;
            if files.is_empty() {
                continue;
            }
            let row = compare(folder, &name, scanner, &home, &files)?;
            let mut known = 0;
            for difference in row.differences {
                match explained.keys().find(|key| difference.starts_with(key.as_str())) {
                    Some(key) => {
                        known += 1;
                        *used.entry(key).or_default() += 1;
                    }
                    None => open.push(difference),
                }
            }
            let line = format!(
                "| {name} | {} | {} | {} | {} | {} | {known} | {} ms |",
                scanner.name,
                row.files,
                row.refused_by_both,
                row.functions,
                row.equal,
                row.spent.as_millis()
            );
            println!("{line}");
            writeln!(table, "{line}")?;
        }
    }
    println!("\n{} differences without an explanation", open.len());
    for difference in open.iter().take(arguments.show) {
        println!("  {difference}");
    }
    if let Some(out) = arguments.out {
        fs::write(&out, table).with_context(|| format!("{} cannot be written", out.display()))?;
    }
    if !open.is_empty() {
        bail!("token counts differ from the reference");
    }
    Ok(())
}

/// Lines of `explained.txt`: how a difference starts, a tab, and its cause.
fn explained() -> Result<BTreeMap<String, String>> {
    let path = here().join("explained.txt");
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let line = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
    Ok(text.lines().filter(|text| !text.starts_with('#')).filter_map(line).collect())
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// Installs the scanners; the folder of their `node_modules`.
fn install() -> Result<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/conformance");
    fs::create_dir_all(&home)?;
    let home = fs::canonicalize(&home)?;
    let lock = fs::read(here().join("package-lock.json"))?;
    if fs::read(home.join("done")).is_ok_and(|done| done == lock) {
        return Ok(home);
    }
    for name in ["package.json", "package-lock.json"] {
        fs::copy(here().join(name), home.join(name))?;
    }
    let status = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&home)
        .status()
        .context("npm could not be started: node 20 with npm must be on the PATH")?;
    if !status.success() {
        bail!("`npm ci` failed in {}", home.display());
    }
    fs::write(home.join("done"), lock)?;
    Ok(home)
}

fn sources(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let walk = ignore::WalkBuilder::new(folder)
        .filter_entry(|entry| entry.file_name() != "node_modules" && entry.file_name() != ".git")
        .build();
    for entry in walk {
        let entry = entry?;
        let path = entry.into_path();
        let known = path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it));
        if known && path.is_file() && !path.is_symlink() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn compare(folder: &Path, project: &str, scanner: &Scanner, home: &Path, files: &[PathBuf]) -> Result<Row> {
    let mut row = Row::default();
    let script = here().join(scanner.script);
    let mut command = if scanner.script.ends_with(".go") {
        let mut command = Command::new("go");
        command.arg("run").arg(script);
        command
    } else {
        let mut command = Command::new("node");
        command.arg("--stack-size=4000").arg(script).arg(home);
        command
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("what runs {} could not be started", scanner.script))?;
    let mut input = child.stdin.take().context("the scanner takes no paths")?;
    let list: String = files.iter().map(|path| format!("{}\n", path.display())).collect();
    let writer = std::thread::spawn(move || input.write_all(list.as_bytes()));
    let output = BufReader::new(child.stdout.take().context("the scanner says nothing")?);
    for line in output.lines() {
        let reference: Reference = serde_json::from_str(&line?)?;
        let path = Path::new(&reference.path);
        let shown = format!("{project}/{}", path.strip_prefix(folder).unwrap_or(path).display());
        let bytes = fs::read(path)?;
        let language = languages().iter().find(|it| it.reads(&reference.path)).context("no language")?;
        let file = SourceFile { path: &reference.path, bytes: &bytes };
        let start = Instant::now();
        let facts = language.functions(file).context("the language measures no functions")?;
        row.spent += start.elapsed();
        row.files += 1;
        match (&reference.fault, facts.damage.first()) {
            (Some(_), Some(_)) => row.refused_by_both += 1,
            (Some(fault), None) => {
                let line = reference.line.unwrap_or(0);
                row.differences
                    .push(format!("{shown}: only the reference refuses it: {fault} (line {line})"));
            }
            (None, Some(damage)) => {
                let (cause, line) = (&damage.cause, damage.line);
                row.differences.push(format!("{shown}: only owed refuses it: {cause} (line {line})"));
            }
            (None, None) => {
                row.functions += reference.functions.len();
                let ours: BTreeMap<(u32, u32), &owed_engine::function::Function> =
                    facts.functions.iter().map(|it| ((it.span.start, it.span.end), it)).collect();
                let mut met = 0;
                for [start, end, own, total] in &reference.functions {
                    match ours.get(&(*start, *end)) {
                        Some(it) if it.own_tokens == *own && it.total_tokens == *total => {
                            row.equal += 1;
                            met += 1;
                        }
                        Some(it) => {
                            met += 1;
                            row.differences.push(format!(
                                "{shown}:{}: {}: own {} total {}, reference {own} {total}",
                                it.start_line, it.name, it.own_tokens, it.total_tokens
                            ));
                        }
                        None => row.differences.push(format!("{shown}: no function at {start}..{end}")),
                    }
                }
                if met != facts.functions.len() {
                    let more = facts.functions.len() - met;
                    row.differences
                        .push(format!("{shown}: {more} functions that the reference does not know"));
                }
            }
        }
    }
    writer.join().map_err(|_| anyhow::anyhow!("writing paths failed"))??;
    if !child.wait()?.success() || row.files != files.len() {
        bail!("{} answered {} of {} files of {project}", scanner.name, row.files, files.len());
    }
    Ok(row)
}
