//! The share of tests per class, and the commonest reasons, of real repositories.
//!
//! ```text
//! cargo run --release -p benches --bin opacity-scores -- DIR… [--out benches/scores/opacity.md]
//! ```
//!
//! Three columns a repository: by file (every effect of every file a test reaches), by
//! declaration (effects in functions and classes that the test can reach), and by
//! declaration with the bytes of installed packages. The last is only there when something
//! is installed. Configuration is read from its source alone, so that the figures do not
//! depend on the machine.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench program")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Parser;
use owed_engine::opacity::{Budget, OpacityOptions, OpacityReport, opacity_with};
use owed_engine::project::{Delta, Plugins, Project, Reading, Settings};
use owed_engine::read::DiskTree;
use owed_engine::runner::NoLoader;
use owed_engine::select::{SelectOptions, select};
use owed_engine::selection::Opacity;
use owed_engine::vcs::Repository;

/// Counts classes and reasons.
#[derive(Parser)]
struct Arguments {
    /// Checkouts.
    #[arg(required = true)]
    repositories: Vec<PathBuf>,
    /// The file to write; standard output without it.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Classes, best first.
const CLASSES: [Opacity; 6] = [
    Opacity::Pure,
    Opacity::Pinned,
    Opacity::Bounded,
    Opacity::TimeOpaque,
    Opacity::Unknown,
    Opacity::InputOpaque,
];

/// How many tests have which class, in the order of [`CLASSES`].
type Counts = [usize; 6];

/// One repository.
struct Score {
    name: String,
    commit: String,
    by_file: Counts,
    by_declaration: OpacityReport,
    with_packages: Option<OpacityReport>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let scores: Vec<Score> = arguments.repositories.iter().map(|dir| score(dir)).collect::<Result<_>>()?;
    let text = page(&scores);
    match arguments.out {
        Some(out) => fs::write(&out, text).with_context(|| format!("{} cannot be written", out.display()))?,
        None => print!("{text}"),
    }
    Ok(())
}

fn score(dir: &Path) -> Result<Score> {
    let dir = fs::canonicalize(dir).with_context(|| format!("{} is not there", dir.display()))?;
    let repository = Repository::discover(&dir)?.context("it is no git repository")?;
    let tree = DiskTree::new(repository.root(), repository.files()?);
    let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
    let load = |reading| {
        let mut project = Project::read(&tree, plugins, Settings::default(), reading);
        project.discover(&NoLoader);
        project.resolve();
        project
    };
    let files = load(Reading::Files);
    let all = SelectOptions { all: true, ..SelectOptions::default() };
    let plan = select(&files, &Delta::default(), &all);
    let by_file = count(plan.tests.iter().map(|test| test.opacity));
    let project = load(Reading::Declarations);
    let by_declaration = opacity_with(&project, &OpacityOptions::default());
    let with = OpacityOptions { packages: Some(Budget::default()), ..OpacityOptions::default() };
    let installed = ["node_modules", ".venv", "venv"].iter().any(|name| dir.join(name).is_dir());
    let with_packages = installed.then(|| opacity_with(&project, &with));
    let head = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).current_dir(&dir).output()?;
    Ok(Score {
        name: dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        commit: String::from_utf8_lossy(&head.stdout).trim().to_owned(),
        by_file,
        by_declaration,
        with_packages,
    })
}

fn count(classes: impl Iterator<Item = Opacity>) -> Counts {
    let mut counts = Counts::default();
    for class in classes {
        let at = CLASSES.iter().position(|known| *known == class).expect("every class is in the list");
        counts[at] += 1;
    }
    counts
}

fn of(report: &OpacityReport) -> Counts {
    count(report.tests.iter().map(|test| test.class))
}

fn page(scores: &[Score]) -> String {
    let mut out = String::from(
        "# Opacity of real repositories\n\n\
         Test files by class, as `cargo run --release -p benches --bin opacity-scores` counts them. *By file* \
         counts every effect of every file that a test reaches, *by declaration* those it can bring to \
         life, *with packages* also those of installed packages (`-`: nothing was installed).\n\n\
         | repository | commit | counted | tests | pure | pinned | bounded | time-opaque | unknown | input-opaque |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for score in scores {
        let rows = [
            ("by file", Some(score.by_file)),
            ("by declaration", Some(of(&score.by_declaration))),
            ("with packages", score.with_packages.as_ref().map(of)),
        ];
        for (name, counts) in rows {
            let cells = match counts {
                Some(counts) => {
                    let total: usize = counts.iter().sum();
                    let cells: Vec<String> = counts.iter().map(usize::to_string).collect();
                    format!("{total} | {}", cells.join(" | "))
                }
                None => "- | - | - | - | - | - | -".to_owned(),
            };
            let _ = writeln!(out, "| {} | {} | {name} | {cells} |", score.name, score.commit);
        }
    }
    for score in scores {
        let report = score.with_packages.as_ref().unwrap_or(&score.by_declaration);
        let counted = if score.with_packages.is_some() { "with packages" } else { "by declaration" };
        let _ = write!(
            out,
            "\n## {}, {counted}\n\n| class | reason | tests | places | tests better without it |\n| --- | --- | ---: | ---: | ---: |\n",
            score.name
        );
        for kind in report.reasons.iter().take(10) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                kind.class.word(),
                kind.reason,
                kind.tests,
                kind.places,
                kind.lifted
            );
        }
    }
    out
}
