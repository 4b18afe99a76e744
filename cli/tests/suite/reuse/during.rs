//! Edits while tests run, and stores of other checkouts.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{copy, in_parallel, paid, run, said};
use crate::harness::{Project, binary};

struct Case {
    name: &'static str,
    /// What is done while the test runs.
    does: fn(&Project),
    /// What is done when it has ended.
    then: fn(&Project),
    /// How the next run begins what it says about the test.
    want: &'static str,
}

const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
    ),
    ("a.js", "export const a = 1;\n"),
    ("data.txt", "1\n"),
    ("pages/one.txt", "1\n"),
    (
        // It is busy for a while without looking at a clock.
        "a.test.js",
        "import assert from \"node:assert\";\nimport { readFileSync, readdirSync } from \"node:fs\";\nimport test from \"node:test\";\nimport { a } from \"./a.js\";\n\ntest(\"a\", () => {\n  let n = 0;\n  while (n < 3e9) n += 1;\n  assert.ok(a && readFileSync(new URL(\"./data.txt\", import.meta.url)));\n  assert.ok(readdirSync(new URL(\"./pages\", import.meta.url)).length);\n});\n",
    ),
];

fn nothing(_: &Project) {}

const EDITS: &[Case] = &[
    Case { name: "nothing", does: nothing, then: nothing, want: "reused" },
    Case {
        name: "a source is edited, and what it was comes back afterwards",
        does: |p| p.write("a.js", "export const a = 2;\n"),
        then: |p| p.write("a.js", "export const a = 1;\n"),
        want: "passed",
    },
    Case {
        name: "data is replaced by a file of the same bytes",
        does: |p| {
            p.write("new.txt", "1\n");
            fs::rename(p.path().join("new.txt"), p.path().join("data.txt")).unwrap();
        },
        then: nothing,
        want: "",
    },
    Case {
        name: "an entry appears, and is gone afterwards",
        does: |p| p.write("pages/two.txt", ""),
        then: |p| p.remove("pages/two.txt"),
        want: "passed",
    },
];

/// Two more are functions below.
pub(super) const CASES: usize = EDITS.len() + 2;

#[test]
fn what_is_edited_during_a_run_leaves_no_receipt_of_what_was_before() {
    in_parallel(EDITS, |case| {
        let project = Project::new(FILES);
        let mut child = Command::new(binary())
            .args(["run", "--all", "--format", "json"])
            .current_dir(project.path())
            .envs([("LEVEL", ""), ("TZ", "UTC"), ("VIRTUAL_ENV", ""), ("TMPDIR", "/tmp")])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // It is said when a runner is started, after everything was looked at.
        assert!(lines.any(|line| line.unwrap().contains("node:test in .")), "{}", case.name);
        thread::sleep(Duration::from_millis(300));
        (case.does)(&project);
        let rest = thread::spawn(move || lines.count());
        let output = child.wait_with_output().unwrap();
        rest.join().unwrap();
        let first = String::from_utf8(output.stdout).unwrap();
        (case.then)(&project);
        let said = said(&run(&project, &[], &[]), "a.test.js");
        let wrong = !said.starts_with(case.want);
        wrong.then(|| format!("{}: wanted `{}`, got `{said}` after\n{first}", case.name, case.want))
    });
}

/// A checkout with the store of another one, which is in another state.
#[test]
fn the_store_of_another_worktree_is_worth_what_is_equal() {
    let project = copy();
    project.git(&["worktree", "add", "-q", "-b", "other", "tree"]);
    let tree = project.path().join("tree");
    for dir in ["node_modules", ".owed"] {
        let from = paid().path().join(dir);
        let status = Command::new("cp").arg("-R").arg(from).arg(&tree).status().unwrap();
        assert!(status.success());
    }
    fs::write(tree.join("src/a.js"), "export const a = 4;\n").unwrap();
    let ran = crate::harness::owed_in(
        &tree,
        &["run", "--all", "--format", "json"],
        &[("LEVEL", ""), ("TZ", "UTC"), ("VIRTUAL_ENV", ""), ("TMPDIR", "/tmp")],
    );
    let a = said(&ran, "src/a.test.js");
    assert!(a.starts_with("passed inputs-differ file src/a.js"), "{a}");
    assert_eq!(said(&ran, "src/data.test.js"), "reused");
}

/// Receipts under the names of other tests of another checkout.
#[test]
fn receipts_under_foreign_names_are_none() {
    let project = copy();
    let dir = project.path().join(".owed/receipts/passed");
    let mut files: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let texts: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    // Every receipt under the identity of the next one and under its own test.
    for (at, text) in texts.iter().enumerate() {
        let name = files[at].file_name().unwrap().to_str().unwrap().split_once('.').unwrap().1.to_owned();
        let next = files[(at + 1) % files.len()].file_name().unwrap().to_str().unwrap();
        let identity = next.split_once('.').unwrap().0;
        fs::write(dir.join(format!("{identity}.{name}")), text).unwrap();
    }
    project.write("src/a.js", "export const a = 4;\n");
    let ran = run(&project, &[], &[]);
    assert!(said(&ran, "src/a.test.js").starts_with("passed inputs-differ file src/a.js"));
    assert_eq!(said(&ran, "src/data.test.js"), "reused");
}
