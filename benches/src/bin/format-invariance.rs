//! Whether formatting changes what is said about functions: two copies of the same files, one
//! of them rewritten by a formatter (Prettier, Black, ruff).
//!
//! ```text
//! cargo run --release -p benches --bin format-invariance -- BEFORE AFTER
//! ```
//!
//! Every function must have the same shape and the same format digest in both; each that has
//! not is printed, and the program fails.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench program")]

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use owed_engine::function::{Function, FunctionFacts, Symbol};
use owed_engine::language::SourceFile;
use owed_plugins::languages;
use rustc_hash::FxHashMap;

/// Compares the functions of two copies of the same files.
#[derive(Parser)]
struct Arguments {
    /// The files as they were.
    before: PathBuf,
    /// The same files after a formatter.
    after: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (mut files, mut functions, mut different) = (0, 0, 0);
    for entry in ignore::WalkBuilder::new(&arguments.before).sort_by_file_path(Ord::cmp).build() {
        let path = entry?.into_path();
        let Some(shown) = path.to_str().filter(|_| path.is_file()) else { continue };
        let Some(language) = languages().iter().find(|language| language.reads(shown)) else { continue };
        let relative = path.strip_prefix(&arguments.before)?;
        let ask = |path: &PathBuf| -> Result<FunctionFacts> {
            let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
            language
                .functions(SourceFile { path: shown, bytes: &bytes })
                .context("functions are not measured")
        };
        let (before, after) = (ask(&path)?, ask(&arguments.after.join(relative))?);
        files += 1;
        functions += before.functions.len();
        if before.functions.len() != after.functions.len() {
            different += 1;
            println!(
                "{}: {} functions, {} after",
                relative.display(),
                before.functions.len(),
                after.functions.len()
            );
        }
        for (old, new) in before.functions.iter().zip(&after.functions) {
            let shape = renumbered(old) == renumbered(new);
            if !shape || old.format_digest != new.format_digest || old.name != new.name {
                different += 1;
                let what = if shape { "format digest" } else { "shape" };
                println!("{}:{}: {}: another {what}", relative.display(), old.start_line, old.name);
            }
        }
    }
    println!("{files} files, {functions} functions, {different} different after formatting");
    if different > 0 {
        bail!("formatting changes what is said about functions");
    }
    Ok(())
}

/// Symbols with locals numbered by their first occurrence.
fn renumbered(function: &Function) -> Vec<Symbol> {
    let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
    let numbered = |symbol: &Symbol| match symbol {
        Symbol::Local(binding) => {
            let next = u32::try_from(seen.len()).unwrap_or(u32::MAX);
            Symbol::Local(*seen.entry(*binding).or_insert(next))
        }
        other => *other,
    };
    function.shape.symbols.iter().map(numbered).collect()
}
