//! Coverage that runs leave, and the receipt of a run of everything. Real runners measure.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Project, Ran, fields, owed_in};
use crate::schema;
use crate::truth::install;

const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
    ),
    (".gitignore", "node_modules/\nout/\nignored.js\n"),
    ("src/a.js", "export const a = 1;\nexport const never = () => 2;\n"),
    (
        "src/a.test.js",
        "import test from \"node:test\";\nimport { a } from \"./a.js\";\n\ntest(\"a\", () => a);\n",
    ),
    ("src/b.test.js", "import test from \"node:test\";\n\ntest(\"b\", () => {});\n"),
    ("README.md", "# n\n"),
];

fn run(root: &Path, more: &[&str]) -> (Ran, Value) {
    let ran = owed_in(root, &[&["run", "--format", "json"], more].concat(), &[("VIRTUAL_ENV", "")]);
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err));
    schema::check("owed.run/1", &answer);
    (ran, answer)
}

const WITH: &[&str] = &["--all", "--coverage", "--artifacts-out", "out"];

/// `outcome reason` of each test.
fn outcomes(answer: &Value) -> Vec<String> {
    let one = |result: &Value| {
        let why =
            result["denied"].as_array().unwrap().first().map_or("", |why| why["reason"].as_str().unwrap());
        format!("{} {why}", result["outcome"].as_str().unwrap()).trim_end().to_owned()
    };
    answer["results"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn b18_b25_coverage_is_isolated_pinned_and_reused_only_whole() {
    let project = Project::new(FILES);
    let root = fs::canonicalize(project.path()).unwrap();
    project.write("coverage/lcov.info", "the caller's own\n");
    project.commit("own coverage");
    let (ran, first) = run(&root, WITH);
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    let artifact = &first["coverage"]["artifacts"][0];
    assert_eq!(
        (&artifact["name"], &artifact["tests"], &artifact["reused"]),
        (&json!("lcov.info"), &json!(2), &json!(false))
    );
    let at = root.join("out/node-test/lcov.info");
    let text = fs::read_to_string(&at).unwrap();
    assert!(text.contains("SF:src/a.js\n"), "{text}");
    assert_eq!(fs::read_to_string(root.join("coverage/lcov.info")).unwrap(), "the caller's own\n");
    assert!(!root.join(".owed/runs").read_dir().unwrap().any(|_| true), "nothing of the run is left");

    fs::remove_dir_all(root.join("out")).unwrap();
    let (_, again) = run(&root, WITH);
    assert_eq!(outcomes(&again), ["reused", "reused"]);
    assert_eq!(again["coverage"]["artifacts"][0]["sha256"], artifact["sha256"]);
    assert_eq!(
        (&again["coverage"]["artifacts"][0]["reused"], fs::read_to_string(&at).unwrap()),
        (&json!(true), text)
    );

    // A plain run is another one, and its receipts never stand for one with coverage.
    assert_eq!(outcomes(&run(&root, &["--all"]).1), ["passed inputs-differ", "passed inputs-differ"]);
    assert_eq!(outcomes(&run(&root, WITH).1), ["reused", "reused"]);
    // A file that no test loads may be counted by coverage.
    project.append("README.md", "more\n");
    assert_eq!(outcomes(&run(&root, &["--all"]).1), ["reused", "reused"]);
    assert_eq!(outcomes(&run(&root, WITH).1), ["passed no-coverage", "passed no-coverage"]);
    // One test that has to run takes those of its runner project with it.
    project.append("src/b.test.js", "// more\n");
    assert_eq!(outcomes(&run(&root, WITH).1), ["passed coverage-together", "passed inputs-differ"]);
    // What is owed is another set of tests than all of them.
    project.append("src/a.js", "// more\n");
    let (_, owed) = run(&root, &["src/a.js", "--coverage"]);
    assert_eq!(
        (outcomes(&owed), &owed["coverage"]["artifacts"][0]["tests"]),
        (vec!["passed inputs-differ".to_owned()], &json!(1))
    );
    assert_eq!(owed["coverage"]["artifacts"][0]["path"], Value::Null);
    assert_eq!(outcomes(&run(&root, WITH).1)[0], "passed no-coverage");

    // Other bytes than those that were pinned are refused, and with them the set.
    assert_eq!(outcomes(&run(&root, WITH).1), ["reused", "reused"]);
    let mut edited = 0;
    for set in root.join(".owed/receipts/coverage").read_dir().unwrap() {
        for file in set.unwrap().path().read_dir().unwrap() {
            let file = file.unwrap().path();
            if file.file_name().unwrap() != "manifest.json" {
                fs::write(file, "SF:src/other.js\n").unwrap();
                edited += 1;
            }
        }
    }
    assert!(edited > 2);
    assert_eq!(outcomes(&run(&root, WITH).1), ["passed coverage-bytes", "passed coverage-bytes"]);
    assert!(fs::read_to_string(&at).unwrap().contains("SF:src/a.js"));

    // A run that failed hands nothing out.
    fs::remove_dir_all(root.join("out")).unwrap();
    project.write("src/b.test.js", "import test from \"node:test\";\n\ntest(\"b\", () => { throw 1; });\n");
    assert_eq!(run(&root, WITH).0.code, 1);
    assert!(!root.join("out").exists());
}

#[test]
fn b19_a_set_of_another_checkout_is_verified_taken_over_and_written_for_this_one() {
    let jest = "{ \"name\": \"n\", \"scripts\": { \"test\": \"jest\" }, \"devDependencies\": { \"jest\": \"*\" }, \"jest\": { \"transform\": {} } }\n";
    let files = [
        ("package.json", jest),
        (".gitignore", "node_modules\nout/\n"),
        ("src/a.js", "exports.a = 1;\n"),
        ("src/a.test.js", "const { a } = require(\"./a.js\");\n\nit(\"a\", () => { expect(a).toBe(1); });\n"),
    ];
    let make = || {
        let project = Project::new(&files);
        project.link(install::node_modules().to_str().unwrap(), "node_modules");
        let root = fs::canonicalize(project.path()).unwrap();
        (project, root)
    };
    let ((_one, from), (_two, to)) = (make(), make());
    let (ran, first) = run(&from, WITH);
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert_eq!(outcomes(&first), ["passed no-receipt"]);
    let read = |root: &Path| -> Value {
        serde_json::from_str(&fs::read_to_string(root.join("out/jest/coverage-final.json")).unwrap()).unwrap()
    };
    let file = |root: &Path| root.join("src/a.js").to_str().unwrap().to_owned();
    assert!(read(&from).get(file(&from)).is_some());

    let store = from.join(".owed/receipts");
    let elsewhere = [WITH, &["--receipt-store", store.to_str().unwrap()]].concat();
    assert_eq!(outcomes(&run(&to, &elsewhere).1), ["reused"]);
    let moved = read(&to);
    assert_eq!(moved[file(&to)]["path"], json!(file(&to)));
    assert!(!moved.to_string().contains(from.to_str().unwrap()), "{moved}");
    // It is this store's own now.
    fs::remove_dir_all(from.join(".owed")).unwrap();
    let (_, own) = run(&to, WITH);
    assert_eq!(
        (outcomes(&own), &own["coverage"]["artifacts"][0]["reused"]),
        (vec!["reused".to_owned()], &json!(true))
    );
    // One that is gone, or contradicted, is refused by name.
    let refused = owed_in(&to, &[&["run"], elsewhere.as_slice()].concat(), &[]);
    refused.refused("is no directory", "other checkout");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("TRIPPED"), "x\n").unwrap();
    owed_in(&to, &[&["run"], elsewhere.as_slice()].concat(), &[])
        .refused("not in the audit log", "--receipt-store");
}

#[test]
fn b25_what_cannot_be_measured_is_named_and_leaves_no_verdict() {
    let mocha = "{ \"name\": \"n\", \"scripts\": { \"test\": \"mocha src/*.test.js\" }, \"devDependencies\": { \"mocha\": \"*\" } }\n";
    let vitest = "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"*\" } }\n";
    let python = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    for (files, why) in [
        (
            vec![("package.json", mocha), ("src/a.test.js", "it(\"a\", () => {});\n")],
            "mocha: mocha writes no coverage by itself",
        ),
        (
            vec![
                ("package.json", vitest),
                ("src/a.test.js", "import { it } from \"vitest\";\n\nit(\"a\", () => {});\n"),
            ],
            "vitest: vitest needs @vitest/coverage-v8 or @vitest/coverage-istanbul for it, and it is not installed",
        ),
        (
            vec![("pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n"), ("test_a.py", python)],
            "unittest: coverage.py is not installed for this interpreter",
        ),
    ] {
        let project = Project::new(&[files.as_slice(), &[(".gitignore", "node_modules\n.venv/\n")]].concat());
        project.link(install::node_modules().to_str().unwrap(), "node_modules");
        if why.starts_with("unittest") {
            // An interpreter with nothing installed.
            let mut python = std::process::Command::new("python3");
            let venv = python.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(project.path());
            assert!(venv.status().unwrap().success());
        }
        let (ran, answer) = run(project.path(), WITH);
        assert_eq!((ran.code, &answer["verdict"]), (75, &json!("no-verdict")), "{why}: {}", ran.err);
        assert_eq!(answer["results"][0]["outcome"], json!("passed"));
        assert_eq!(answer["no_verdict"], json!([{ "reason": "unmeasured", "detail": why }]));
        assert_eq!(answer["coverage"]["artifacts"], json!([]));
        // Without the wish for coverage it is a verdict, and the wish stays in the queue.
        let (ran, plain) = run(project.path(), &["--all"]);
        assert_eq!((ran.code, plain["queue"]["pending"].as_array().unwrap().len()), (0, 1), "{}", ran.out);
    }
}

/// Asks for coverage while the host has no memory for it: the request stays.
fn put_off(root: &Path, more: &[&str]) -> String {
    let no_room = ["--coverage", "--reserve", "900000000"];
    let (ran, answer) = run(root, &[more, no_room.as_slice()].concat());
    assert_eq!((ran.code, fields(&answer["no_verdict"], "reason")), (75, vec!["memory-low"]), "{}", ran.err);
    answer["queue"]["pending"][0].as_str().unwrap().to_owned()
}

#[test]
fn c08_c18_a_plain_run_works_off_what_was_asked_for_with_coverage() {
    let project = Project::new(FILES);
    let root = fs::canonicalize(project.path()).unwrap();
    let all = put_off(&root, &["--all"]);
    // Its own question has nothing to run; the request has everything.
    let (ran, plain) = run(&root, &[]);
    assert_eq!((ran.code, &plain["verdict"]), (0, &json!("passed")), "{}\n{}", ran.out, ran.err);
    assert_eq!(plain["queue"]["discharged"], json!([all]), "{}", ran.err);
    assert_eq!((outcomes(&plain).len(), &plain["queue"]["pending"]), (2, &json!([])));
    assert_eq!(plain["coverage"]["artifacts"][0]["tests"], json!(2));
    // What it left is what the one who asked finds.
    let (_, asked) = run(&root, WITH);
    assert_eq!(outcomes(&asked), ["reused", "reused"]);
    assert_eq!(asked["coverage"]["artifacts"][0]["reused"], json!(true));
    // One of some files; paths alone leave it.
    project.append("src/a.js", "// more\n");
    let some = put_off(&root, &[]);
    let (_, paths) = run(&root, &["src/a.js"]);
    assert_eq!(paths["queue"]["pending"], json!([some]));
    let (ran, plain) = run(&root, &[]);
    assert_eq!((ran.code, &plain["queue"]["discharged"]), (0, &json!([some])), "{}", ran.err);
    assert_eq!(plain["coverage"]["artifacts"][0]["tests"], json!(1));
    // Findings are the end of it, too, and a failure.
    project.append("src/a.test.js", "test(\"no\", () => { throw new Error(\"no\"); });\n");
    let failing = put_off(&root, &[]);
    let (ran, plain) = run(&root, &[]);
    assert_eq!((ran.code, &plain["verdict"]), (1, &json!("failed")), "{}", ran.err);
    let discharged = plain["queue"]["discharged"].as_array().unwrap();
    assert!(discharged.contains(&json!(failing)), "{discharged:?}");
    assert_eq!(root.join(".owed/queue/checked").read_dir().unwrap().count(), 3, "a receipt each");
}

#[test]
fn c18_b25_what_cannot_be_measured_stays_is_said_once_and_keeps_nobody_waiting() {
    let test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    let project = Project::new(&[
        ("pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n"),
        ("test_a.py", test),
        (".gitignore", ".venv/\n"),
    ]);
    let root = project.path();
    let mut python = std::process::Command::new("python3");
    let venv = python.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(root).status();
    assert!(venv.unwrap().success());
    let id = put_off(root, &["--all"]);
    let (ran, plain) = run(root, &[]);
    assert_eq!((ran.code, &plain["queue"]["pending"]), (1, &json!([id])), "{}", ran.err);
    assert!(ran.err.contains("stays, unmeasured: coverage: unittest"), "{}", ran.err);
    // The next run does not try again; who asks for coverage does.
    let (ran, plain) = run(root, &[]);
    assert_eq!((ran.code, &plain["queue"]["pending"]), (0, &json!([id])), "{}", ran.err);
    assert_eq!(run(root, &["--all", "--coverage"]).0.code, 75);
    assert_eq!(run(root, &[]).0.code, 0);
}

fn full(answer: &Value) -> String {
    let full = &answer["full"];
    if full.is_null() {
        return "null".to_owned();
    }
    let why = fields(&full["denied"], "reason").join(",");
    format!("{} {why}", full["status"].as_str().unwrap()).trim_end().to_owned()
}

#[test]
fn b11_b22_d8_only_a_run_of_everything_leaves_a_receipt_for_everything() {
    let project = Project::new(FILES);
    let root = project.path();
    // A run of what is owed is never one of everything, even when that is every test.
    project.append("src/a.test.js", "\n");
    project.append("src/b.test.js", "\n");
    let (_, some) = run(root, &[]);
    assert_eq!((outcomes(&some).len(), full(&some)), (2, "null".to_owned()));
    assert_eq!(full(&run(root, &["--all"]).1), "denied reused");
    assert_eq!(full(&run(root, &["--all", "--no-reuse"]).1), "written");
    assert_eq!(full(&run(root, &["--all"]).1), "hit");
    assert_eq!(full(&run(root, &["src/a.js"]).1), "null");
    project.owed(&["receipts", "list"]).says(&["every test (full run"]);
    // It pays for a test whose own receipt is gone.
    for folder in ["passed", "last"] {
        for file in root.join(".owed/receipts").join(folder).read_dir().unwrap() {
            let file = file.unwrap().path();
            if fs::read_to_string(&file).unwrap().contains("\"scope\":\"file\"") {
                fs::remove_file(file).unwrap();
            }
        }
    }
    let (_, paid) = run(root, &["--all"]);
    assert_eq!((outcomes(&paid), full(&paid)), (vec!["reused".to_owned(); 2], "hit".to_owned()));
    assert_eq!(outcomes(&run(root, &["src/a.js"]).1), ["passed no-receipt"]);

    let all = ["--all", "--no-reuse"];
    // One test more is another run of everything.
    project.write("src/c.test.js", "import test from \"node:test\";\n\ntest(\"c\", () => {});\n");
    assert_eq!(full(&run(root, &["--all"]).1), "denied untracked");
    project.commit("c");
    assert_eq!(full(&run(root, &["--all"]).1), "denied reused");
    assert_eq!(full(&run(root, &all).1), "written");
    // Untracked: what no closure names does not matter, what an import would mean does.
    project.write("notes.md", "x\n");
    assert_eq!(full(&run(root, &["--all"]).1), "hit");
    project.write(
        "src/a.test.js",
        "import test from \"node:test\";\nimport { i } from \"../ignored.js\";\n\ntest(\"a\", () => i);\n",
    );
    project.write("ignored.js", "export const i = 1;\n");
    project.commit("ignored");
    assert_eq!(full(&run(root, &all).1), "denied outside-inventory");
    project.write("src/a.test.js", "import test from \"node:test\";\n\ntest(\"a\", () => Date.now());\n");
    project.commit("clock");
    assert_eq!(full(&run(root, &all).1), "denied class");
    project.write("src/a.test.js", "import test from \"node:test\";\n\ntest(\"a\", () => {});\n");
    project.commit("again");
    assert_eq!(full(&run(root, &[&all[..], &["--", "--test-name-pattern=b"]].concat()).1), "denied selected");
    project.write("src/b.test.js", "import test from \"node:test\";\n\ntest(\"b\", () => { throw 1; });\n");
    project.commit("fails");
    assert_eq!(full(&run(root, &all).1), "denied not-passed");
}
