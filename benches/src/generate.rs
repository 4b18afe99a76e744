//! Generated repositories of any size, shaped like real ones: packages of modules with a
//! barrel (or `__init__`) each, a fan-out of a few imports with a bias to a package's own
//! and to a few hubs, one test for every eight modules. Also the two shapes that break
//! recursive programs: one long import chain and one large cycle.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::inject::Random;

/// The language of a generated repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// TypeScript packages with barrels, tests for vitest.
    Typescript,
    /// Python packages with `__init__` chains, tests for pytest.
    Python,
    /// One chain of TypeScript modules and a test at its head.
    Chain,
    /// One cycle of TypeScript modules and a test in it.
    Cycle,
}

/// Writes about `files` source files of the given shape below `dir`, which must exist.
///
/// # Errors
/// When a file cannot be written.
pub fn generate(dir: &Path, shape: Shape, files: usize) -> Result<()> {
    match shape {
        Shape::Typescript => typescript(dir, files),
        Shape::Python => python(dir, files),
        Shape::Chain => ring(dir, files, false),
        Shape::Cycle => ring(dir, files, true),
    }
}

const PACKAGE: usize = 40;

fn write(dir: &Path, path: &str, text: &str) -> Result<()> {
    let path = dir.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)?;
    Ok(())
}

/// The package and number of an imported module: mostly its own package's earlier
/// modules, sometimes an earlier package's, so that closures are deep and acyclic.
fn imported(random: &mut Random, package: usize, module: usize) -> (usize, usize) {
    if package == 0 || (module > 0 && random.below(10) < 7) {
        return (package, random.below(module.max(1)));
    }
    let other = if random.below(4) == 0 {
        random.below(3.min(package))
    } else {
        package - 1 - random.below(8.min(package))
    };
    (other, random.below(PACKAGE))
}

fn body(random: &mut Random, calls: &str, line: impl Fn(usize, usize) -> String) -> String {
    let mut text = String::new();
    for function in 0..6 {
        for step in 0..=random.below(8) {
            text.push_str(&line(function, step));
        }
    }
    text.push_str(calls);
    text
}

fn typescript(dir: &Path, files: usize) -> Result<()> {
    let mut random = Random(1);
    write(
        dir,
        "package.json",
        "{\"name\":\"generated\",\"type\":\"module\",\"devDependencies\":{\"vitest\":\"4.0.0\"}}\n",
    )?;
    write(dir, "vitest.config.ts", "export default { test: { include: ['packages/**/*.test.ts'] } }\n")?;
    write(
        dir,
        "tsconfig.json",
        "{\"compilerOptions\":{\"module\":\"esnext\",\"moduleResolution\":\"bundler\"}}\n",
    )?;
    let packages = (files / (PACKAGE + PACKAGE / 8 + 1)).max(1);
    for package in 0..packages {
        let mut barrel = String::new();
        for module in 0..PACKAGE {
            let mut text = String::new();
            let mut calls = String::new();
            for import in 0..random.below(6) {
                let (p, m) = imported(&mut random, package, module);
                if (p, m) == (package, module) {
                    continue;
                }
                let from = if p == package { format!("./m{m}") } else { format!("../../p{p}/src/m{m}") };
                writeln!(text, "import {{ f{m} as i{import} }} from '{from}'")?;
                writeln!(calls, "export const c{import} = () => i{import}(1)")?;
            }
            let lines = body(&mut random, &calls, |f, s| {
                format!(
                    "export function g{f}_{s}(value: number): number {{\n  const next = value * {s} + {f} // step\n  return next > 10 ? next - 1 : next\n}}\n"
                )
            });
            write!(
                text,
                "export function f{module}(value: number): number {{ return value + {module} }}\n{lines}"
            )?;
            write(dir, &format!("packages/p{package}/src/m{module}.ts"), &text)?;
            writeln!(barrel, "export {{ f{module} }} from './m{module}'")?;
            if module % 8 == 0 {
                let from =
                    if module % 16 == 0 { "../src/index".to_owned() } else { format!("../src/m{module}") };
                let test = format!(
                    "import {{ expect, test }} from 'vitest'\nimport {{ f{module} }} from '{from}'\n\ntest('adds', () => {{\n  expect(f{module}(1)).toBe({})\n}})\n",
                    module + 1
                );
                write(dir, &format!("packages/p{package}/test/m{module}.test.ts"), &test)?;
            }
        }
        write(dir, &format!("packages/p{package}/src/index.ts"), &barrel)?;
    }
    Ok(())
}

fn python(dir: &Path, files: usize) -> Result<()> {
    let mut random = Random(1);
    write(
        dir,
        "pyproject.toml",
        "[project]\nname = \"generated\"\nversion = \"1\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\"src\"]\n",
    )?;
    write(dir, "src/generated/__init__.py", "")?;
    let packages = (files / (PACKAGE + PACKAGE / 8 + 1)).max(1);
    for package in 0..packages {
        let mut init = String::new();
        for module in 0..PACKAGE {
            let mut text = String::new();
            let mut calls = String::new();
            for import in 0..random.below(6) {
                let (p, m) = imported(&mut random, package, module);
                if (p, m) == (package, module) {
                    continue;
                }
                let from = if p == package { format!(".m{m}") } else { format!("generated.p{p}.m{m}") };
                writeln!(text, "from {from} import f{m} as i{import}")?;
                writeln!(calls, "def c{import}():\n    return i{import}(1)\n")?;
            }
            let lines = body(&mut random, &calls, |f, s| {
                format!(
                    "\n\ndef g{f}_{s}(value: int) -> int:\n    nxt = value * {s} + {f}  # step\n    return nxt - 1 if nxt > 10 else nxt\n\n"
                )
            });
            write!(text, "\n\ndef f{module}(value: int) -> int:\n    return value + {module}\n{lines}")?;
            write(dir, &format!("src/generated/p{package}/m{module}.py"), &text)?;
            if module % 10 == 0 {
                writeln!(init, "from .m{module} import f{module}")?;
            }
            if module % 8 == 0 {
                let test = format!(
                    "from generated.p{package}.m{module} import f{module}\n\n\ndef test_adds():\n    assert f{module}(1) == {}\n",
                    module + 1
                );
                write(dir, &format!("tests/p{package}/test_m{module}.py"), &test)?;
            }
        }
        write(dir, &format!("src/generated/p{package}/__init__.py"), &init)?;
    }
    Ok(())
}

fn ring(dir: &Path, files: usize, closed: bool) -> Result<()> {
    write(
        dir,
        "package.json",
        "{\"name\":\"generated\",\"type\":\"module\",\"devDependencies\":{\"vitest\":\"4.0.0\"}}\n",
    )?;
    for module in 0..files {
        let last = module + 1 == files;
        let text = if last && !closed {
            "export const end = 1\n".to_owned()
        } else {
            let next = if last { 0 } else { module + 1 };
            format!("import './m{next}'\nexport const v{module} = {module}\n")
        };
        write(dir, &format!("src/m{module}.ts"), &text)?;
    }
    write(
        dir,
        "src/first.test.ts",
        "import { test } from 'vitest'\nimport './m0'\n\ntest('loads', () => {})\n",
    )
}
