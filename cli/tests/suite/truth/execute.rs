//! Runs a project with its real runner and says which test files passed.
//!
//! Results are remembered below `target/truth/results` by the bytes of the project and the
//! versions of the tools: what `owed` answers has no part in them.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::construct::{Files, Links};
use super::{install, world};

/// A runner under which constructs are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Runner {
    Vitest,
    Jest,
    Mocha,
    Node,
    Pytest,
    Unittest,
}

/// What one run of a project said.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Outcome {
    /// Test file to whether it passed.
    pub(super) passed: BTreeMap<String, bool>,
    /// What the runner printed, for the message when something is wrong.
    pub(super) log: String,
}

/// One state of a project.
pub(super) struct State<'a> {
    pub(super) files: &'a Files,
    pub(super) links: &'a Links,
    pub(super) run: Option<&'a str>,
}

const PACKAGE: &str = "package.json";

impl Runner {
    /// Its folder below `corpus/truth`, which is also its name in the table.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
        }
    }

    /// Whether starting it is cheap enough for a project of its own per construct.
    pub(super) fn always_alone(self) -> bool {
        !matches!(self, Self::Vitest | Self::Jest)
    }

    /// A test that depends on nothing that changes, and the module it tests.
    pub(super) fn bystander(self, name: &str) -> Vec<(String, String)> {
        let calm = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let test = |path: &str, text: &str| (path.to_owned(), format!("{text}\n"));
        match self {
            Self::Vitest => vec![
                calm("calm.ts", "export const calm = 1;\n"),
                test(
                    "bystander.test.ts",
                    "import { expect, test } from \"vitest\";\nimport { calm } from \"./calm\";\n\n\
                     test(\"calm\", () => expect(calm).toBe(1));",
                ),
            ],
            Self::Jest => vec![
                calm("calm.js", "exports.calm = 1;\n"),
                test(
                    "bystander.test.js",
                    "const { calm } = require(\"./calm\");\n\ntest(\"calm\", () => expect(calm).toBe(1));",
                ),
            ],
            Self::Mocha => vec![
                calm("calm.cjs", "exports.calm = 1;\n"),
                test(
                    "bystander.test.cjs",
                    "const assert = require(\"node:assert\");\nconst { calm } = require(\"./calm.cjs\");\n\n\
                     it(\"calm\", () => assert.equal(calm, 1));",
                ),
            ],
            Self::Node => vec![
                calm("calm.mjs", "export const calm = 1;\n"),
                test(
                    "bystander.test.mjs",
                    "import assert from \"node:assert\";\nimport test from \"node:test\";\n\
                     import { calm } from \"./calm.mjs\";\n\ntest(\"calm\", () => assert.equal(calm, 1));",
                ),
            ],
            Self::Pytest | Self::Unittest => {
                // Test modules share one namespace, so the names are the construct's own.
                let module = format!("calm_{}", name.replace('-', "_"));
                let text = if self == Self::Pytest {
                    format!("from {module} import CALM\n\n\ndef test_calm():\n    assert CALM == 1")
                } else {
                    format!(
                        "import unittest\n\nfrom {module} import CALM\n\n\nclass Calm(unittest.TestCase):\n    \
                         def test_calm(self):\n        self.assertEqual(CALM, 1)"
                    )
                };
                vec![
                    (format!("{module}.py"), "CALM = 1\n".to_owned()),
                    (format!("test_bystander_{}.py", name.replace('-', "_")), format!("{text}\n")),
                ]
            }
        }
    }

    /// The files at the root that a project has unless it brings its own.
    pub(super) fn root_files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Vitest => &[(
                PACKAGE,
                "{\n  \"name\": \"truth\",\n  \"private\": true,\n  \"type\": \"module\",\n  \
                 \"scripts\": { \"test\": \"vitest run\" },\n  \"devDependencies\": { \"vitest\": \"4.1.12\" }\n}\n",
            )],
            Self::Jest => &[
                (
                    PACKAGE,
                    "{\n  \"name\": \"truth\",\n  \"private\": true,\n  \"scripts\": { \"test\": \"jest\" },\n  \
                     \"devDependencies\": { \"jest\": \"30.5.2\", \"@babel/core\": \"7.28.5\", \
                     \"@babel/preset-env\": \"7.28.5\", \"@babel/preset-typescript\": \"7.28.5\" }\n}\n",
                ),
                (
                    "babel.config.js",
                    "module.exports = {\n  presets: [\n    [\"@babel/preset-env\", { targets: { node: \"current\" } }],\n    \
                     \"@babel/preset-typescript\",\n  ],\n};\n",
                ),
            ],
            Self::Mocha => &[(
                PACKAGE,
                "{\n  \"name\": \"truth\",\n  \"private\": true,\n  \
                 \"scripts\": { \"test\": \"mocha \\\"**/*.test.{js,cjs,mjs}\\\"\" },\n  \
                 \"devDependencies\": { \"mocha\": \"12.0.3\" }\n}\n",
            )],
            Self::Node => &[(
                PACKAGE,
                "{\n  \"name\": \"truth\",\n  \"private\": true,\n  \"type\": \"module\",\n  \
                 \"scripts\": { \"test\": \"node --test\" }\n}\n",
            )],
            Self::Pytest | Self::Unittest => {
                &[("pyproject.toml", "[project]\nname = \"truth\"\nversion = \"0\"\n")]
            }
        }
    }

    /// The installed packages that a project of this runner declares.
    pub(super) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Vitest => &["vitest", "vite", "typescript"],
            Self::Jest => &[
                "jest",
                "jest-environment-node",
                "babel-jest",
                "@babel/core",
                "@babel/preset-env",
                "@babel/preset-typescript",
            ],
            Self::Mocha => &["mocha", "tsx"],
            Self::Node => &["tsx"],
            Self::Pytest | Self::Unittest => &[],
        }
    }

    /// Whether a file of a project is a test, for the runners that are asked file by file.
    fn is_test(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        match self {
            Self::Unittest => name.starts_with("test") && name.ends_with(".py"),
            _ => name.contains(".test."),
        }
    }
}

/// Runs the project, or recalls what it said when it was run.
pub(super) fn outcome(runner: Runner, state: &State<'_>) -> Outcome {
    let mut hasher = DefaultHasher::new();
    (install::versions(), runner, runner.packages(), state.files, state.links, state.run).hash(&mut hasher);
    let results = install::home().join("results");
    let known = results.join(format!("{}-{:016x}.json", runner.folder(), hasher.finish()));
    if let Ok(text) = fs::read_to_string(&known) {
        return serde_json::from_str(&text).unwrap();
    }
    let outcome = run(runner, state);
    fs::create_dir_all(&results).unwrap();
    fs::write(known, serde_json::to_string(&outcome).unwrap()).unwrap();
    outcome
}

/// A folder for one project, removed when it is dropped.
pub(super) fn workplace() -> tempfile::TempDir {
    let work = install::home().join("work");
    fs::create_dir_all(&work).unwrap();
    tempfile::tempdir_in(work).unwrap()
}

fn run(runner: Runner, state: &State<'_>) -> Outcome {
    let place = workplace();
    let dir = fs::canonicalize(place.path()).unwrap().join("project");
    fs::create_dir(&dir).unwrap();
    world::write(&dir, state.files, state.links);
    world::link_packages(&dir, install::node_modules(), runner.packages());
    match runner {
        Runner::Vitest => {
            let usual = "node node_modules/vitest/vitest.mjs run --reporter=json --outputFile=../out.json";
            json_report(&dir, state.run.unwrap_or(usual))
        }
        Runner::Jest => {
            // A cache that outlives the run would hide what a transform reads.
            let usual = "node node_modules/jest/bin/jest.js --ci --json --outputFile=../out.json \
                         --watchman=false --cacheDirectory=../cache";
            json_report(&dir, state.run.unwrap_or(usual))
        }
        Runner::Pytest => {
            let usual =
                "python -m pytest -q --tb=short -rA -p no:cacheprovider --continue-on-collection-errors";
            summary(&dir, state.run.unwrap_or(usual))
        }
        Runner::Mocha => one_by_one(runner, &dir, state, "node node_modules/mocha/bin/mocha.js {file}"),
        Runner::Node => one_by_one(runner, &dir, state, "node --test {file}"),
        Runner::Unittest => one_by_one(runner, &dir, state, "python -m unittest discover -p {name}"),
    }
}

/// What a command printed, and how it ended.
struct Printed {
    success: bool,
    out: String,
    err: String,
}

impl Printed {
    fn log(&self) -> String {
        let text = format!("{}\n{}", self.out, self.err);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

fn start(dir: &Path, words: &[String]) -> Printed {
    let program =
        if words[0] == "python" { install::python().to_path_buf() } else { PathBuf::from(&words[0]) };
    let mut command = Command::new(&program);
    command.args(&words[1..]).current_dir(dir).stdin(Stdio::null()).env_clear();
    for name in ["PATH", "HOME", "LANG", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // Byte code is found by time and size, which two states of one second share.
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("CI", "1").env("NO_COLOR", "1").env("COLUMNS", "400");
    let output = command.output().unwrap_or_else(|fault| panic!("`{}`: {fault}", program.display()));
    Printed {
        success: output.status.success(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

/// vitest and jest write the same report.
fn json_report(dir: &Path, command: &str) -> Outcome {
    let printed = start(dir, &words(command));
    let Ok(text) = fs::read_to_string(dir.join("../out.json")) else {
        return Outcome { passed: BTreeMap::new(), log: printed.log() };
    };
    let report: Value = serde_json::from_str(&text).unwrap();
    let mut passed = BTreeMap::new();
    let mut log = String::new();
    for file in report["testResults"].as_array().unwrap() {
        let path = Path::new(file["name"].as_str().unwrap()).strip_prefix(dir).unwrap();
        let good = file["status"] == "passed";
        *passed.entry(path.to_str().unwrap().to_owned()).or_insert(true) &= good;
        if !good {
            log.push_str(&format!("{}: {}\n", path.display(), file["message"].as_str().unwrap_or_default()));
            for case in file["assertionResults"].as_array().unwrap() {
                log.push_str(&case["failureMessages"].to_string());
                log.push('\n');
            }
        }
    }
    if passed.values().all(|good| *good) && !printed.success {
        return Outcome { passed: BTreeMap::new(), log: printed.log() };
    }
    Outcome { passed, log }
}

/// pytest's short summary: a line for each test, and for each file that cannot be collected.
fn summary(dir: &Path, command: &str) -> Outcome {
    let printed = start(dir, &words(command));
    let mut passed = BTreeMap::new();
    for line in printed.out.lines() {
        let (good, rest) = match line.split_once(' ') {
            Some(("PASSED", rest)) => (true, rest),
            Some(("FAILED" | "ERROR", rest)) => (false, rest),
            _ => continue,
        };
        let path = rest.split("::").next().unwrap().split(" - ").next().unwrap();
        *passed.entry(path.to_owned()).or_insert(true) &= good;
    }
    let log =
        if passed.is_empty() || passed.values().any(|good| !good) { printed.log() } else { String::new() };
    Outcome { passed, log }
}

/// Runners whose process dies with the first file that cannot be loaded: a run for each file.
fn one_by_one(runner: Runner, dir: &Path, state: &State<'_>, usual: &str) -> Outcome {
    let mut outcome = Outcome::default();
    let command = state.run.unwrap_or(usual);
    for path in state.files.keys().filter(|path| runner.is_test(path)) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let command: Vec<String> =
            words(command).iter().map(|word| word.replace("{file}", path).replace("{name}", name)).collect();
        let printed = start(dir, &command);
        if runner == Runner::Unittest && printed.err.contains("Ran 0 tests") {
            continue;
        }
        outcome.passed.insert(path.clone(), printed.success);
        if !printed.success {
            outcome.log.push_str(&printed.log());
        }
    }
    outcome
}
