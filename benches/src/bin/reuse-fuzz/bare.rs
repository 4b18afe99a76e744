//! The runners by themselves, without `owed` and without anything that `owed` ships: what
//! really happens to test files now, and what they see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::world::{Kind, World};

/// What happened to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fresh {
    /// Cases that passed, failed and were skipped.
    pub(crate) cases: [u64; 3],
    /// Whether something failed, the file itself included.
    pub(crate) failed: bool,
    /// The names of its cases and what they saw.
    pub(crate) saw: BTreeSet<String>,
}

const NODE_REPORTER: &str = r#"
import { resolve } from "node:path";
export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const file = data.file ?? resolve(data.name);
    const own = data.nesting === 0 && resolve(data.name) === file;
    const what = own ? "file" : data.skip !== undefined || data.todo !== undefined ? "skipped" : type.slice(5);
    yield JSON.stringify({ file, name: data.name, what, bad: type === "test:fail" }) + "\n";
  }
}
"#;

const PYTHON: &str = r#"
import json, os, sys
out, mode, files = sys.argv[1], sys.argv[2], sys.argv[3:]
lines = []
def line(path, name, what, module):
    saw = getattr(module, "SEEN", None)
    lines.append({"file": path, "name": "%s saw %s" % (name, saw), "what": what, "bad": what == "fail"})
if mode == "pytest":
    import pytest
    class Plug:
        def pytest_collectreport(self, report):
            if report.failed and report.nodeid:
                lines.append({"file": os.path.abspath(report.nodeid.split("::")[0]), "name": "", "what": "file", "bad": True})
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item, call):
            report = (yield).get_result()
            path = str(item.path)
            if report.when == "call" or report.outcome != "passed":
                what = {"passed": "pass", "failed": "fail", "skipped": "skipped"}[report.outcome]
                line(path, item.name, what, item.module)
    code = pytest.main(["-q", "--continue-on-collection-errors"] + files, plugins=[Plug()])
else:
    import unittest
    class Result(unittest.TextTestResult):
        def note(self, test, what):
            missing = type(test).__name__ == "_FailedTest"
            name = test._testMethodName if missing else type(test).__module__
            module = None if missing else sys.modules[name]
            path = getattr(module, "__file__", None) or name.replace(".", os.sep) + ".py"
            line(os.path.abspath(path), test.id(), what, module)
        def addSuccess(self, test): self.note(test, "pass")
        def addFailure(self, test, err): self.note(test, "fail")
        def addError(self, test, err): self.note(test, "fail")
        def addSkip(self, test, why): self.note(test, "skipped")
    runner = unittest.TextTestRunner(resultclass=Result)
    code = 0 if unittest.main(module=None, argv=["python -m unittest"] + files, testRunner=runner, exit=False).result.wasSuccessful() else 1
with open(out, "w") as to:
    for one in lines:
        to.write(json.dumps(one) + "\n")
sys.exit(code)
"#;

/// Runs `files` (project-relative) and says what happened to each; all of them failed when
/// the runner itself did. `scratch` is a folder outside of the project.
pub(crate) fn run(world: &World, files: &[String], scratch: &Path) -> Result<BTreeMap<String, Fresh>> {
    if files.is_empty() {
        return Ok(BTreeMap::new());
    }
    // A report names a file as it really is: what has two names here is run once for each.
    let (twins, others): (Vec<String>, Vec<String>) =
        files.iter().cloned().partition(|file| has_twin(&world.root, file, files));
    if !twins.is_empty() && files.len() > 1 {
        let mut found = run(world, &others, scratch)?;
        for twin in twins {
            found.extend(run(world, &[twin], scratch)?);
        }
        return Ok(found);
    }
    let out = scratch.join("bare.out");
    let _ = fs::remove_file(&out);
    let mut command = command(world, files, &out, scratch)?;
    command.current_dir(&world.root).env_clear().envs(&world.environment);
    if world.kind.is_python() {
        // Byte code of this run only; the seed that `owed` gives when nobody does.
        let cache = scratch.join("pycache");
        let _ = fs::remove_dir_all(&cache);
        command.env("PYTHONPYCACHEPREFIX", &cache);
        if !world.environment.contains_key("PYTHONHASHSEED") {
            command.env("PYTHONHASHSEED", "0");
        }
    }
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let text = fs::read_to_string(&out).unwrap_or_default();
    let mut found = match world.kind {
        Kind::Vitest | Kind::Jest => of_json(&text, &world.root),
        _ => of_lines(&text, &world.root),
    };
    let broken = done.is_err() || text.is_empty();
    // One file can take the others down with it (unittest ends at an exception on import):
    // then each is asked alone.
    if broken && files.len() > 1 {
        let alone = files.iter().map(|file| run(world, std::slice::from_ref(file), scratch));
        return Ok(alone.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
    }
    for file in files {
        if let Some(real) = real(&world.root, file)
            && !found.contains_key(file)
            && let Some(fresh) = found.remove(&real)
        {
            found.insert(file.clone(), fresh);
        }
        let fresh = found.entry(file.clone()).or_default();
        fresh.failed |= broken || fresh.cases == [0; 3];
    }
    Ok(found)
}

/// The name of a file without links.
fn real(root: &Path, file: &str) -> Option<String> {
    let real = fs::canonicalize(root.join(file)).ok()?;
    relative(&fs::canonicalize(root).ok()?, real.to_str()?)
}

fn has_twin(root: &Path, file: &str, files: &[String]) -> bool {
    let own = real(root, file);
    own.is_some() && files.iter().any(|other| other != file && real(root, other) == own)
}

fn command(world: &World, files: &[String], out: &Path, scratch: &Path) -> Result<Command> {
    Ok(match world.kind {
        Kind::Node => {
            let reporter = scratch.join("bare.mjs");
            fs::write(&reporter, NODE_REPORTER)?;
            let mut command = Command::new(on_path(world, "node")?);
            command.args(script(world)).arg("--test").arg(format!("--test-reporter={}", reporter.display()));
            command.arg(format!("--test-reporter-destination={}", out.display())).args(files);
            command
        }
        Kind::Unittest | Kind::Bare | Kind::Pytest => {
            let venv = world.root.join(".venv/bin/python");
            let python = if world.kind == Kind::Bare { on_path(world, "python3")? } else { venv };
            let mut command = Command::new(python);
            let mode = if world.kind == Kind::Pytest { "pytest" } else { "unittest" };
            command.args(["-c", PYTHON]).arg(out).arg(mode).args(files);
            command
        }
        Kind::Vitest => {
            let mut command = Command::new(bin(world, "vitest"));
            command
                .args(["run", "--reporter=json"])
                .arg(format!("--outputFile={}", out.display()))
                .args(files);
            command
        }
        Kind::Jest => {
            let mut command = Command::new(bin(world, "jest"));
            command
                .arg("--json")
                .arg(format!("--outputFile={}", out.display()))
                .arg("--runTestsByPath")
                .args(files);
            command
        }
    })
}

/// The options of node in the project's script for tests.
fn script(world: &World) -> Vec<String> {
    let manifest = fs::read(world.root.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap_or_default();
    let script = manifest["scripts"]["test"].as_str().unwrap_or("node --test").to_owned();
    script.split(' ').skip(1).filter(|word| *word != "--test").map(str::to_owned).collect()
}

fn on_path(world: &World, name: &str) -> Result<PathBuf> {
    let path = world.environment.get("PATH").context("there is a PATH")?;
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|at| at.is_file()).context("it is on PATH")
}

fn bin(world: &World, name: &str) -> PathBuf {
    let own = world.root.join("node_modules/.bin").join(name);
    if own.exists() {
        return own;
    }
    world.root.parent().unwrap_or(&world.root).join("node_modules/.bin").join(name)
}

fn relative(root: &Path, file: &str) -> Option<String> {
    let file = file.strip_prefix("file://").unwrap_or(file);
    let inside = Path::new(file).strip_prefix(root).ok()?;
    Some(inside.to_string_lossy().into_owned())
}

fn of_lines(text: &str, root: &Path) -> BTreeMap<String, Fresh> {
    let mut found: BTreeMap<String, Fresh> = BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let Some(file) = line["file"].as_str().and_then(|file| relative(root, file)) else { continue };
        note(found.entry(file).or_default(), &line);
    }
    found
}

fn note(fresh: &mut Fresh, line: &Value) {
    fresh.failed |= line["bad"].as_bool().unwrap_or(false);
    let at = match line["what"].as_str() {
        Some("pass") => 0,
        Some("fail") => 1,
        Some("skipped") => 2,
        _ => return,
    };
    fresh.cases[at] += 1;
    fresh.saw.insert(line["name"].as_str().unwrap_or_default().to_owned());
}

fn of_json(text: &str, root: &Path) -> BTreeMap<String, Fresh> {
    let report: Value = serde_json::from_str(text).unwrap_or_default();
    let mut found = BTreeMap::new();
    for result in report["testResults"].as_array().into_iter().flatten() {
        let Some(file) = result["name"].as_str().and_then(|file| relative(root, file)) else { continue };
        let mut fresh = Fresh { failed: result["status"] != "passed", ..Fresh::default() };
        for case in result["assertionResults"].as_array().into_iter().flatten() {
            let at = match case["status"].as_str() {
                Some("passed") => 0,
                Some("failed") => 1,
                _ => 2,
            };
            fresh.cases[at] += 1;
            fresh.saw.insert(case["fullName"].as_str().unwrap_or_default().to_owned());
        }
        found.insert(file, fresh);
    }
    found
}
