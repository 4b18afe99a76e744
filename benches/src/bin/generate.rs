//! Writes a generated repository: `generate --shape typescript --files 10000 DIR`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench program")]

use std::path::PathBuf;

use anyhow::Result;
use benches::generate::{Shape, generate};
use clap::Parser;

/// Writes a repository of generated sources, for measuring.
#[derive(Parser)]
struct Arguments {
    /// Which shape.
    #[arg(long, value_enum, default_value = "typescript")]
    shape: Shape,
    /// About how many source files.
    #[arg(long, default_value_t = 1000)]
    files: usize,
    /// Where; made when it is not there.
    dir: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.dir)?;
    generate(&arguments.dir, arguments.shape, arguments.files)?;
    println!("wrote {}", arguments.dir.display());
    Ok(())
}
