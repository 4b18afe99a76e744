//! How many valid files `owed check` would not measure.
//!
//! ```text
//! cargo run -p benches --bin refused -- DIR… [--out FILE]
//! ```
//!
//! Measures every source below the directories, tests and fixtures included, and asks for each
//! one that is refused whether its own tool refuses it as well: `node --check` says so for
//! JavaScript, and `python3` compiles Python. (Only what is refused here is asked about, so an
//! older Python does no harm.) For TypeScript, JSX and component files nobody is asked: what is
//! refused of them counts as valid.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Parser;
use owed_engine::language::SourceFile;
use owed_engine::read::{DEFAULT_SIZE_LIMIT, text_of};

#[derive(Parser)]
struct Arguments {
    /// Directories with sources.
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Where to write the result.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What became of one kind of file.
#[derive(Default)]
struct Count {
    files: usize,
    refused_by_both: usize,
    only_here: Vec<String>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let python = version("python3")?;
    let node = version("node")?;
    let mut text = format!(
        "# Valid files that are not checked\n\n`cargo run -p benches --bin refused -- DIR…`, with {python} and node {node} as judges of what is refused here. Tests and fixtures are measured, too; files over 5 MiB, binary and not UTF-8 are left out.\n\n| below | language | files | refused by both | refused here only |\n| --- | --- | --- | --- | --- |\n"
    );
    let (mut files, mut faults) = (0, Vec::new());
    for dir in &arguments.dirs {
        for language in owed_plugins::languages() {
            let count = measure(dir, *language)?;
            if count.files == 0 {
                continue;
            }
            files += count.files - count.refused_by_both;
            let name =
                dir.file_name().map_or_else(|| dir.display().to_string(), |n| n.to_string_lossy().into());
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} |",
                language.name(),
                count.files,
                count.refused_by_both,
                count.only_here.len()
            );
            faults.extend(count.only_here.into_iter().map(|path| format!("{name}/{path}")));
        }
    }
    let part = 100.0 * faults.len() as f64 / files.max(1) as f64;
    let _ =
        writeln!(text, "\n{} of {files} valid files are refused here only ({part:.3} %).\n", faults.len());
    for fault in &faults {
        let _ = writeln!(text, "- {fault}");
    }
    print!("{text}");
    if let Some(out) = &arguments.out {
        fs::write(out, &text)?;
    }
    anyhow::ensure!(part <= 0.1, "more than one valid file in a thousand is not checked");
    Ok(())
}

fn version(program: &str) -> Result<String> {
    let ran =
        Command::new(program).arg("--version").output().with_context(|| format!("{program} is needed"))?;
    Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

fn measure(dir: &Path, language: &dyn owed_engine::language::Language) -> Result<Count> {
    let mut count = Count::default();
    let walk =
        ignore::WalkBuilder::new(dir).standard_filters(false).sort_by_file_name(std::cmp::Ord::cmp).build();
    for entry in walk {
        let entry = entry?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let shown = entry.path().strip_prefix(dir)?.to_string_lossy().into_owned();
        if !language.reads(&shown) || shown.split('/').any(|part| part == ".git") {
            continue;
        }
        let bytes = fs::read(entry.path())?;
        if bytes.len() as u64 > DEFAULT_SIZE_LIMIT
            || text_of(&bytes).is_err() && !language.declares_encoding(&bytes)
        {
            continue;
        }
        let Some(facts) = language.functions(SourceFile { path: &shown, bytes: &bytes }) else { continue };
        count.files += 1;
        let Some(damage) = facts.damage.first() else { continue };
        if is_valid(entry.path())? {
            count.only_here.push(format!("{shown}:{} {}", damage.line, damage.cause));
        } else {
            count.refused_by_both += 1;
        }
    }
    Ok(count)
}

/// Whether the file's own tool takes it.
fn is_valid(path: &Path) -> Result<bool> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let mut command = match extension.as_str() {
        "py" | "pyi" | "pyw" => {
            let mut command = Command::new("python3");
            command.args([
                "-W",
                "ignore",
                "-c",
                "import sys; compile(open(sys.argv[1], 'rb').read(), 'x', 'exec')",
            ]);
            command
        }
        "js" | "mjs" | "cjs" => {
            let mut command = Command::new("node");
            command.arg("--check");
            command
        }
        // Nobody here can say; it counts against us.
        _ => return Ok(true),
    };
    Ok(command.arg(path).output()?.status.success())
}
