//! How long `owed run` takes to say that nothing is to be run, and what it adds to a runner
//! when everything is. Both are measured against the bare runner in pairs (A B A B …); the
//! figures are medians, and ratios are of medians.
//!
//! ```sh
//! cargo build --release && target/release/reuse-reach
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program: it makes projects and processes, and prints"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use benches::measure::{self, Sample, median};
use clap::{Parser, Subcommand};

/// Measures `owed run`.
#[derive(Parser)]
struct Args {
    /// Test files of the project in which nothing is to be run.
    #[arg(long, default_value_t = 400)]
    tests: usize,
    /// All files of that project.
    #[arg(long, default_value_t = 2_500)]
    files: usize,
    /// Pairs of each measurement.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Test files of the projects in which everything is run.
    #[arg(long, default_value_t = 100)]
    cases: usize,
    /// Only what contains this: `nothing`, `node`, `unittest`, `pytest`, `vitest`.
    #[arg(long)]
    only: Option<String>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/owed")]
    owed: PathBuf,
    /// Where projects are made; what is below is removed.
    #[arg(long, default_value = "target/reuse-reach")]
    dir: PathBuf,
    /// Where vitest and pytest are installed (the truth suite does that).
    #[arg(long, default_value = "target/truth")]
    tools: PathBuf,
    /// Leaves the projects where they are.
    #[arg(long)]
    keep: bool,
    #[command(subcommand)]
    command: Option<Inner>,
}

#[derive(Subcommand)]
enum Inner {
    /// Used for one measurement.
    #[command(hide = true)]
    Measure {
        /// The command.
        #[arg(last = true)]
        words: Vec<String>,
    },
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(Inner::Measure { words }) = &args.command {
        return measure::measure(words);
    }
    let owed = fs::canonicalize(&args.owed).context("cargo build --release -p owed")?;
    let owed = owed.to_string_lossy().into_owned();
    fs::create_dir_all(&args.dir)?;
    let dir = fs::canonicalize(&args.dir)?.join(std::process::id().to_string());
    let wanted = |name: &str| args.only.as_deref().is_none_or(|only| name.contains(only));
    if wanted("nothing") {
        let project = dir.join("nothing");
        repository(&project, args.tests, args.files)?;
        nothing_to_run(&project, &owed, &args)?;
    }
    for (name, make, bare) in overheads(&args.tools)? {
        if !wanted(name) {
            continue;
        }
        for work in [Work::Some, Work::None] {
            let project = dir.join(format!("{name}-{}", work.word()));
            make(&project, args.cases, work)?;
            commit(&project)?;
            overhead((name, work), &project, &owed, &bare, &args)?;
        }
    }
    if args.keep {
        println!("left in {}", dir.display());
    } else {
        fs::remove_dir_all(&dir)?;
    }
    Ok(())
}

fn write(dir: &Path, path: &str, text: &str) -> Result<()> {
    let at = dir.join(path);
    fs::create_dir_all(at.parent().context("a path has a folder")?)?;
    Ok(fs::write(at, text)?)
}

fn commit(dir: &Path) -> Result<()> {
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "start"]] {
        let done = Command::new("git")
            .args(["-c", "user.name=b", "-c", "user.email=b@example.invalid"])
            .args(words)
            .current_dir(dir)
            .status()?;
        ensure!(done.success(), "git {words:?}");
    }
    Ok(())
}

/// A repository for node's runner: modules in folders with barrels, each importing a few
/// earlier ones, data beside some, installed packages, and tests that reach dozens of files.
fn repository(dir: &Path, tests: usize, files: usize) -> Result<()> {
    let modules = files.saturating_sub(tests + 10);
    write(dir, ".gitignore", "node_modules/\n")?;
    write(
        dir,
        "package.json",
        "{ \"name\": \"r\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" }, \"dependencies\": { \"p0\": \"1\" } }\n",
    )?;
    for package in 0..20 {
        let at = format!("node_modules/p{package}");
        write(
            dir,
            &format!("{at}/package.json"),
            &format!(
                "{{ \"name\": \"p{package}\", \"version\": \"1.0.0\", \"type\": \"module\", \"exports\": \"./index.js\" }}\n"
            ),
        )?;
        write(dir, &format!("{at}/index.js"), "export const p = 1;\n")?;
        for file in 0..40 {
            write(
                dir,
                &format!("{at}/lib/{file}.js"),
                &"export const value = 1; // padding of a usual length\n".repeat(40),
            )?;
        }
    }
    let mut random = fastrand::Rng::with_seed(7);
    for module in 0..modules {
        let mut text = String::new();
        let mut used = Vec::new();
        for _ in 0..module.min(3) {
            let other = module - 1 - random.usize(..module.min(60));
            if !used.contains(&other) {
                writeln!(text, "import {{ v as v{other} }} from \"../d{}/m{other}.js\";", other / 40)?;
                used.push(other);
            }
        }
        let sum: Vec<String> = used.iter().map(|other| format!("v{other}")).collect();
        writeln!(text, "export const v = [{}].length + 1;", sum.join(", "))?;
        text.push_str(&"// a comment of a usual length, as sources have them\n".repeat(20));
        write(dir, &format!("src/d{}/m{module}.js", module / 40), &text)?;
    }
    for test in 0..tests {
        let module = test * modules.max(1) / tests.max(1);
        write(
            dir,
            &format!("src/d{}/t{test}.test.js", module / 40),
            &format!(
                "import assert from \"node:assert\";\nimport test from \"node:test\";\nimport {{ p }} from \"p{}\";\nimport {{ v }} from \"./m{module}.js\";\n\ntest(\"t\", () => assert.ok(v + p));\n",
                test % 20
            ),
        )?;
    }
    commit(dir)
}

fn nothing_to_run(project: &Path, owed: &str, args: &Args) -> Result<()> {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let run = words(&[owed, "run", "--all"]);
    eprintln!("running {} tests once", args.tests);
    let first = sample(project, &run)?;
    ensure!(first.exit == 0, "the first run gave {}", first.exit);
    // The second one reads what the first has kept.
    let text =
        Command::new(owed).args(["run", "--all"]).current_dir(project).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&text.stdout).into_owned();
    let (mut runs, mut status) = (Vec::new(), Vec::new());
    for _ in 0..args.pairs {
        runs.push(sample(project, &run)?);
        status.push(sample(project, &words(&["git", "status"]))?);
    }
    println!("nothing to run: {} test files of {} files", args.tests, args.files);
    println!("  {}", said.lines().last().unwrap_or_default());
    println!("  owed run --all   {}", figures(&runs));
    println!("  git status       {}", figures(&status));
    Ok(())
}

/// What one test does besides comparing a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// About 30 ms of counting.
    Some,
    /// Nothing.
    None,
}

impl Work {
    fn word(self) -> &'static str {
        match self {
            Self::Some => "30-ms",
            Self::None => "trivial",
        }
    }

    fn js(self) -> &'static str {
        match self {
            Self::Some => "let n = 0;\n  while (n < 2e7) n += 1;",
            Self::None => "",
        }
    }

    fn py(self) -> &'static str {
        match self {
            Self::Some => "n = sum(i % 7 for i in range(450_000))",
            Self::None => "n = 1",
        }
    }
}

type Make = fn(&Path, usize, Work) -> Result<()>;

/// Projects for each runner, and the commands that run them.
fn overheads(tools: &Path) -> Result<Vec<(&'static str, Make, Vec<String>)>> {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let mut all: Vec<(&'static str, Make, Vec<String>)> = vec![
        ("node", node as Make, words(&["node", "--test"])),
        ("unittest", unittest, words(&["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."])),
    ];
    if let Ok(venv) = fs::canonicalize(tools.join("python/venv")) {
        TOOLS.set([venv.clone(), fs::canonicalize(tools.join("node/node_modules"))?]).ok();
        all.push((
            "pytest",
            pytest,
            words(&[&venv.join("bin/python").to_string_lossy(), "-m", "pytest", "-q"]),
        ));
        all.push(("vitest", vitest, words(&["node_modules/.bin/vitest", "run"])));
    }
    Ok(all)
}

/// The virtual environment and the `node_modules` that the projects link to.
static TOOLS: std::sync::OnceLock<[PathBuf; 2]> = std::sync::OnceLock::new();

fn node(dir: &Path, cases: usize, work: Work) -> Result<()> {
    write(
        dir,
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
    )?;
    let busy = work.js();
    for test in 0..cases {
        write(dir, &format!("src/m{test}.js"), &format!("export const v = {test};\n"))?;
        write(
            dir,
            &format!("src/t{test}.test.js"),
            &format!(
                "import assert from \"node:assert\";\nimport test from \"node:test\";\nimport {{ v }} from \"./m{test}.js\";\n\ntest(\"t\", () => {{\n  {busy}\n  assert.equal(v, {test});\n}});\n"
            ),
        )?;
    }
    Ok(())
}

fn vitest(dir: &Path, cases: usize, work: Work) -> Result<()> {
    write(
        dir,
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"*\" } }\n",
    )?;
    write(dir, ".gitignore", "node_modules\n")?;
    write(
        dir,
        "vitest.config.js",
        "import { defineConfig } from \"vitest/config\";\n\nexport default defineConfig({});\n",
    )?;
    if let Some([_, modules]) = TOOLS.get() {
        symlink(modules, dir.join("node_modules"))?;
    }
    let busy = work.js();
    for test in 0..cases {
        write(dir, &format!("src/m{test}.js"), &format!("export const v = {test};\n"))?;
        write(
            dir,
            &format!("src/t{test}.test.js"),
            &format!(
                "import {{ expect, test }} from \"vitest\";\nimport {{ v }} from \"./m{test}.js\";\n\ntest(\"t\", () => {{\n  {busy}\n  expect(v).toBe({test});\n}});\n"
            ),
        )?;
    }
    Ok(())
}

fn python(dir: &Path, cases: usize, body: impl Fn(usize) -> String) -> Result<()> {
    write(dir, "app/__init__.py", "")?;
    write(dir, "tests/__init__.py", "")?;
    for test in 0..cases {
        write(dir, &format!("app/m{test}.py"), &format!("V = {test}\n"))?;
        write(dir, &format!("tests/test_{test}.py"), &body(test))?;
    }
    Ok(())
}

fn unittest(dir: &Path, cases: usize, work: Work) -> Result<()> {
    write(dir, "pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n")?;
    let busy = work.py();
    python(dir, cases, |test| {
        format!(
            "import unittest\n\nfrom app.m{test} import V\n\n\nclass T(unittest.TestCase):\n    def test_t(self):\n        {busy}\n        self.assertEqual(V, {test})\n        self.assertTrue(n)\n"
        )
    })
}

fn pytest(dir: &Path, cases: usize, work: Work) -> Result<()> {
    write(
        dir,
        "pyproject.toml",
        "[project]\nname = \"p\"\nversion = \"0\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
    )?;
    write(dir, "requirements.txt", "pytest\n")?;
    write(dir, ".gitignore", ".venv\n")?;
    if let Some([venv, _]) = TOOLS.get() {
        symlink(venv, dir.join(".venv"))?;
    }
    let busy = work.py();
    python(dir, cases, |test| {
        format!("from app.m{test} import V\n\n\ndef test_t():\n    {busy}\n    assert V == {test} and n\n")
    })
}

fn overhead(
    (name, work): (&str, Work),
    project: &Path,
    owed: &str,
    bare: &[String],
    args: &Args,
) -> Result<()> {
    let all: Vec<String> = [owed, "run", "--all", "--no-reuse"].map(str::to_owned).to_vec();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..args.pairs {
        ours.push(sample(project, &all)?);
        theirs.push(sample(project, bare)?);
    }
    let ratio = |of: fn(&Sample) -> f64| {
        median(ours.iter().map(of).collect()) / median(theirs.iter().map(of).collect())
    };
    println!("everything is run: {} test files, {name}, {}", args.cases, work.word());
    println!("  owed run         {}", figures(&ours));
    println!("  bare runner      {}", figures(&theirs));
    println!("  ratio: wall {:.3}, CPU {:.3}", ratio(|s| s.wall_ms), ratio(|s| s.cpu_ms));
    Ok(())
}

fn sample(dir: &Path, command: &[String]) -> Result<Sample> {
    measure::sample(dir, command)
}

fn figures(samples: &[Sample]) -> String {
    let of = |of: fn(&Sample) -> f64| median(samples.iter().map(of).collect());
    let exit = samples.first().map_or(-1, |sample| sample.exit);
    format!(
        "wall {:.1} ms, CPU {:.1} ms, peak {:.0} MiB, exit {exit}",
        of(|s| s.wall_ms),
        of(|s| s.cpu_ms),
        of(|s| s.peak_mib)
    )
}
