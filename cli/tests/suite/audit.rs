//! `owed audit`: plans against full runs, the log that keeps the rows, receipts put to the
//! test, and tests whose closures are not whole. Real node and real Python run the tests.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Project, Ran, fields, owed_in, texts};
use crate::schema;

/// The answer, whatever the exit code is, checked against its schema.
fn answer(ran: &Ran) -> Value {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err));
    schema::check(answer["schema"].as_str().unwrap(), &answer);
    answer
}

/// The shop with one change, and the plan of it: one test owed, two left out.
fn planned() -> (Project, PathBuf) {
    let project = Project::shop();
    project.append("src/lone.ts", "export const more = 2;\n");
    project.write(".gitignore", "*.json.out\n");
    project.commit("more");
    let ran = project.owed(&["plan", "--base", "HEAD~1", "--format", "json"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((fields(&plan["tests"], "path"), &plan["omitted"]), (vec!["src/lone.test.ts"], &json!(2)));
    project.write("plan.json.out", &ran.out);
    let root = fs::canonicalize(project.path()).unwrap();
    (project, root)
}

/// A report in jest's form.
fn jest(root: &Path, files: &[(&str, &str)]) -> String {
    let file = |(path, status): &(&str, &str)| json!({ "name": root.join(path), "status": status, "assertionResults": [] });
    let success = files.iter().all(|(_, status)| *status == "passed");
    json!({ "success": success, "testResults": files.iter().map(file).collect::<Vec<_>>() }).to_string()
}

const ALL: [(&str, &str); 3] =
    [("src/a.test.ts", "passed"), ("src/barrel.test.ts", "passed"), ("src/lone.test.ts", "passed")];

fn with(changes: &[(&str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    ALL.iter()
        .map(|(path, status)| {
            let changed = changes.iter().find(|(other, _)| other == path);
            (*path, changed.map_or(*status, |(_, status)| *status))
        })
        .filter(|(_, status)| !status.is_empty())
        .collect()
}

fn compare(project: &Project, more: &[&str]) -> Ran {
    let arguments = ["audit", "compare", "--plan", "plan.json.out", "--format", "json"];
    project.owed(&[&arguments, more].concat())
}

/// `outcome exit-code misses preexisting gaps`.
fn said(ran: &Ran) -> String {
    let row = &answer(ran)["row"];
    let list = |name: &str| texts(&row[name]).join(",");
    let gaps = fields(&row["gaps"], "reason").join(",");
    let outcome = row["outcome"].as_str().unwrap();
    format!("{outcome} {} [{}] [{}] [{gaps}]", ran.code, list("misses"), list("preexisting"))
}

#[test]
fn c5_a_row_is_a_miss_incomplete_or_clean() {
    let (project, root) = planned();
    let report = |name: &str, text: &str| project.write(name, text);
    report("clean.json.out", &jest(&root, &ALL));
    report("owed.json.out", &jest(&root, &with(&[("src/lone.test.ts", "failed")])));
    report("miss.json.out", &jest(&root, &with(&[("src/a.test.ts", "failed")])));
    report("part.json.out", &jest(&root, &with(&[("src/barrel.test.ts", "")])));
    report("cut.json.out", &jest(&root, &ALL)[..80]);
    report("tap.json.out", "TAP version 13\nok 1 - a\n");
    report("elsewhere.json.out", &jest(Path::new("/ci/build"), &ALL));
    let mine = json!({ "schema": "owed.run/1", "no_verdict": [], "results": [
        { "path": "src/a.test.ts", "outcome": "passed" },
        { "path": "src/barrel.test.ts", "outcome": "failed" },
        { "path": "src/lone.test.ts", "outcome": "reused" },
    ] });
    report("run.json.out", &mine.to_string());
    let junit = "<testsuites><testsuite name=\"src/a.test.ts\"><testcase classname=\"src/a.test.ts\" name=\"a\"><failure/></testcase></testsuite></testsuites>";
    report("junit.json.out", junit);
    for (arguments, want) in [
        (&["--report", "clean.json.out"][..], "clean 0 [] [] []"),
        (&["--report", "owed.json.out"], "clean 0 [] [] []"),
        (&["--report", "miss.json.out"], "miss 1 [src/a.test.ts] [] []"),
        (&["--report", "miss.json.out", "--base-report", "miss.json.out"], "clean 0 [] [src/a.test.ts] []"),
        (&["--report", "miss.json.out", "--base-report", "clean.json.out"], "miss 1 [src/a.test.ts] [] []"),
        (&["--report", "miss.json.out", "--base-report", "gone.json.out"], "miss 1 [src/a.test.ts] [] []"),
        (&["--report", "part.json.out"], "incomplete 3 [] [] [tests-unreported]"),
        (&["--report", "clean.json.out", "--report", "gone.json.out"], "incomplete 3 [] [] [report-missing]"),
        (
            &["--report", "miss.json.out", "--report", "gone.json.out"],
            "miss 1 [src/a.test.ts] [] [report-missing]",
        ),
        (
            &["--report", "cut.json.out"],
            "incomplete 3 [] [] [owed-unreported,report-malformed,tests-unreported]",
        ),
        (
            &["--report", "tap.json.out"],
            "incomplete 3 [] [] [owed-unreported,tests-unreported,unknown-format]",
        ),
        (
            &["--report", "elsewhere.json.out"],
            "incomplete 3 [] [] [outside-project,owed-unreported,tests-unreported]",
        ),
        (&["--report", "elsewhere.json.out", "--report-root", "/ci/build"], "clean 0 [] [] []"),
        (
            &["--report", "run.json.out"],
            "miss 1 [src/barrel.test.ts] [] [owed-unreported,report-truncated,tests-unreported]",
        ),
        (&["--report", "junit.json.out"], "miss 1 [src/a.test.ts] [] [owed-unreported,tests-unreported]"),
    ] {
        // A log of its own for each: the same reports are one row.
        let _ = fs::remove_dir_all(project.path().join(".owed/audit"));
        assert_eq!(said(&compare(&project, arguments)), want, "{arguments:?}");
    }
}

#[test]
fn a_widened_plan_proves_nothing_and_30_clean_rows_are_enough() {
    let (project, root) = planned();
    project.write("full.json.out", &jest(&root, &with(&[("src/a.test.ts", "failed")])));
    let plan = project.owed(&["plan", "--all", "--format", "json"]).out;
    project.write("wide.json.out", &plan);
    let wide =
        ["audit", "compare", "--plan", "wide.json.out", "--report", "full.json.out", "--format", "json"];
    assert_eq!(said(&project.owed(&wide)), "widened 0 [] [] []");
    let again = answer(&project.owed(&wide));
    assert_eq!((&again["row"]["known"], &again["rows"]["all"]), (&json!(true), &json!(1)));

    let clean = |number: usize| {
        let mut report: Value = serde_json::from_str(&jest(&root, &ALL)).unwrap();
        report["startTime"] = json!(number);
        project.write("clean.json.out", &report.to_string());
        let ran = compare(&project, &["--report", "clean.json.out", "--label", &format!("build {number}")]);
        answer(&ran)["rows"].clone()
    };
    for number in 1..30 {
        let rows = clean(number);
        assert_eq!((&rows["clean_since_miss"], &rows["ready"]), (&json!(number), &json!(false)));
    }
    assert_eq!(clean(30)["ready"], json!(true));
    assert_eq!(compare(&project, &["--report", "full.json.out"]).code, 1);
    let status = project.json(&["audit", "status"]);
    assert_eq!(
        status["rows"],
        json!({ "all": 32, "selective": 31, "complete": 32, "clean": 30, "misses": 1, "widened": 1,
                "incomplete": 0, "clean_since_miss": 0, "needed": 30, "ready": false })
    );
    project.owed(&["audit", "status"]).says(&["32 rows", "30 clean", "plans may not decide yet"]);
}

#[test]
fn what_is_no_plan_is_refused() {
    let (project, root) = planned();
    project.write("full.json.out", &jest(&root, &ALL));
    let plan = fs::read_to_string(project.path().join("plan.json.out")).unwrap();
    for (text, what) in [
        ("{}".to_owned(), "it is no plan"),
        (plan.replace("owed.plan/1", "owed.plan/2"), "not `owed.plan/1`"),
        (plan.replace("\"omitted\": 2", "\"omitted\": 7"), "numbers do not add up"),
        (plan[..plan.len() / 2].to_owned(), "it is no plan"),
    ] {
        project.write("plan.json.out", &text);
        compare(&project, &["--report", "full.json.out"]).refused(what, "owed plan");
    }
    project.remove("plan.json.out");
    compare(&project, &["--report", "full.json.out"]).refused("cannot be read", "owed plan");
}

#[test]
fn a_log_that_is_damaged_is_never_an_empty_one() {
    let (project, root) = planned();
    project.write("miss.json.out", &jest(&root, &with(&[("src/a.test.ts", "failed")])));
    project.write("clean.json.out", &jest(&root, &ALL));
    assert_eq!(compare(&project, &["--report", "miss.json.out"]).code, 1);
    assert_eq!(compare(&project, &["--report", "clean.json.out"]).code, 0);
    let dir = project.path().join(".owed/audit");
    let (log, head) = (fs::read_to_string(dir.join("log")).unwrap(), fs::read(dir.join("head")).unwrap());
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 2);
    let held = |text: Option<&str>, what: &str| {
        match text {
            Some(text) => fs::write(dir.join("log"), text).unwrap(),
            None => fs::remove_file(dir.join("log")).unwrap(),
        }
        for arguments in [
            &["audit", "status", "--format", "json"][..],
            &["audit", "acknowledge", "--reason", "x", "--format", "json"],
            &[
                "audit",
                "compare",
                "--plan",
                "plan.json.out",
                "--report",
                "clean.json.out",
                "--format",
                "json",
            ],
        ] {
            let ran = project.owed(arguments);
            let said = answer(&ran)["held"].as_str().unwrap_or_default().to_owned();
            assert!(ran.code == 3 && said.contains(what), "{arguments:?}: {} {said}", ran.code);
        }
        assert_eq!(fs::read(dir.join("head")).unwrap(), head);
    };
    held(Some(lines[1]), "line 1 does not follow");
    held(Some(lines[0]), "1 of 2 lines are left");
    held(None, "0 of 2 lines are left");
    held(Some(""), "0 of 2 lines are left");
    held(Some(&log.replace("src/a.test.ts", "src/b.test.ts")), "line 1 is not as it was sealed");
    held(Some(&log[..log.len() - 9]), "line 2 is cut off");
    held(Some(&log.replace("\"miss\"", "\"clean\"")), "line 1 is not as it was sealed");
    held(Some(&log.replace("{\"schema\"", "{ \"schema\"")), "line 1 is not as it was sealed");
    held(Some(&log.replace("audit-log/1", "audit-log/2")), "line 1 has another form");
    // A line that was being written when the machine stopped was told to nobody.
    fs::write(dir.join("log"), format!("{log}{}", &lines[1][..40])).unwrap();
    assert_eq!(project.json(&["audit", "status"])["rows"]["all"], json!(2));
    project.write("other.json.out", &format!("{} ", jest(&root, &ALL)));
    assert_eq!(answer(&compare(&project, &["--report", "other.json.out"]))["rows"]["all"], json!(3));
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap().lines().count(), 3);
    // One that was written whole and not acknowledged is taken in.
    fs::write(dir.join("head"), &head).unwrap();
    assert_eq!(project.json(&["audit", "status"])["rows"]["all"], json!(3));
}

/// A Python project whose interpreter reads something that nobody knows of.
fn hidden() -> (Project, tempfile::TempDir) {
    let outside = tempfile::tempdir().unwrap();
    let project = Project::new(&[
        ("pyproject.toml", "[project]\nname = \"p\"\nversion = \"0\"\n"),
        (".gitignore", ".venv/\n__pycache__/\n"),
        ("tests/__init__.py", ""),
        ("mod.py", "A = 1\n"),
        (
            "tests/test_a.py",
            "import os\nimport unittest\n\nfrom mod import A\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(os.environ.get(\"LEVEL\", \"\"), \"\")\n        self.assertTrue(A)\n",
        ),
        (
            "tests/test_b.py",
            "import unittest\n\nfrom mod import A\n\n\nclass T(unittest.TestCase):\n    def test_b(self):\n        self.assertTrue(A)\n",
        ),
    ]);
    let state = outside.path().join("state.sh");
    fs::write(&state, "").unwrap();
    project.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    project.write(".venv/bin/python", &format!("#!/bin/sh\n. {}\nexec python3 \"$@\"\n", state.display()));
    let python = project.path().join(".venv/bin/python");
    fs::set_permissions(python, fs::Permissions::from_mode(0o755)).unwrap();
    (project, outside)
}

fn run(project: &Project, more: &[&str]) -> Ran {
    let arguments = [&["run", "--all", "--format", "json"], more].concat();
    owed_in(project.path(), &arguments, &[("VIRTUAL_ENV", ""), ("LEVEL", "")])
}

/// `path outcome first-reason` of each test.
fn outcomes(answer: &Value) -> Vec<String> {
    let one = |result: &Value| {
        let why =
            result["denied"].as_array().unwrap().first().map_or("", |why| why["reason"].as_str().unwrap());
        format!("{} {} {why}", result["path"].as_str().unwrap(), result["outcome"].as_str().unwrap())
    };
    answer["results"].as_array().unwrap().iter().map(one).map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn a_contradicted_receipt_stops_all_reuse_until_somebody_says_why_it_is_safe() {
    let (project, outside) = hidden();
    let first = run(&project, &[]);
    assert_eq!(first.code, 0, "{}\n{}", first.out, first.err);
    assert_eq!(outcomes(&answer(&run(&project, &[]))), ["tests/test_a.py reused", "tests/test_b.py reused"]);
    // Nothing is contradicted as long as nothing is hidden.
    let audited = answer(&run(&project, &["--audit", "100"]));
    assert_eq!(
        audited["audit"],
        json!({ "percent": "100", "sampled": 2, "confirmed": 2, "contradicted": [] })
    );
    assert_eq!(answer(&run(&project, &["--audit", "0"]))["audit"]["sampled"], json!(0));

    fs::write(outside.path().join("state.sh"), "export LEVEL=bad\n").unwrap();
    project.write("notes.txt", "written after the receipt\n");
    assert_eq!(outcomes(&answer(&run(&project, &[])))[0], "tests/test_a.py reused", "it is hidden");
    let ran = run(&project, &["--audit", "100"]);
    let found = answer(&ran);
    assert_eq!((ran.code, &found["verdict"]), (1, &json!("failed")));
    assert_eq!(outcomes(&found), ["tests/test_a.py failed audit", "tests/test_b.py passed audit"]);
    let contradicted = &found["audit"]["contradicted"];
    assert_eq!(fields(contradicted, "test"), ["tests/test_a.py"]);
    assert_eq!(contradicted[0]["missing"], json!([{ "kind": "written-since", "name": "notes.txt" }]));

    // From now on nothing is reused, and everybody says so.
    let next = answer(&run(&project, &[]));
    assert_eq!(outcomes(&next), ["tests/test_a.py failed tripped", "tests/test_b.py passed tripped"]);
    assert!(next["tripped"].as_str().unwrap().contains("tests/test_a.py"));
    let environment = [("VIRTUAL_ENV", ""), ("LEVEL", "")];
    let plan = owed_in(project.path(), &["plan", "--all", "--format", "json"], &environment).json();
    for test in plan["tests"].as_array().unwrap() {
        assert_eq!(
            (&test["receipt"]["status"], &test["receipt"]["reason"]),
            (&json!("miss"), &json!("tripped"))
        );
    }
    project.owed(&["plan", "--all"]).says(&["No receipt is reused", "tests/test_a.py"]);
    project.owed(&["receipts", "list"]).says(&["tripped", "owed audit acknowledge"]);
    assert!(project.json(&["receipts", "why-not", "tests/test_b.py"])["tripped"].is_string());
    let status = project.json(&["audit", "status"]);
    assert_eq!(fields(&status["tripped"], "test"), ["tests/test_a.py"]);

    // Either place is enough: the mark beside the receipts, and the log.
    let mark = project.path().join(".owed/receipts/TRIPPED");
    let said = fs::read(&mark).unwrap();
    fs::remove_file(&mark).unwrap();
    assert_eq!(outcomes(&answer(&run(&project, &[])))[1], "tests/test_b.py passed tripped");
    fs::write(&mark, said).unwrap();
    let audit = project.path().join(".owed/audit");
    fs::rename(&audit, project.path().join(".owed/elsewhere")).unwrap();
    assert_eq!(outcomes(&answer(&run(&project, &[])))[1], "tests/test_b.py passed tripped");
    assert_eq!(project.owed(&["audit", "status"]).code, 3);
    fs::rename(project.path().join(".owed/elsewhere"), &audit).unwrap();
    let log = fs::read_to_string(audit.join("log")).unwrap();
    fs::write(audit.join("log"), log.replace("test_a", "test_x")).unwrap();
    fs::remove_file(&mark).unwrap();
    assert_eq!(outcomes(&answer(&run(&project, &[])))[1], "tests/test_b.py passed tripped", "a damaged log");
    fs::write(audit.join("log"), log).unwrap();

    let refused = project.owed(&["audit", "acknowledge", "--reason", " "]);
    refused.refused("the reason is empty", "why receipts may be believed");
    let done = project.json(&["audit", "acknowledge", "--reason", "LEVEL came from the wrapper"]);
    assert_eq!((&done["acknowledged"], &done["tripped"]), (&json!(1), &json!([])));
    fs::write(outside.path().join("state.sh"), "").unwrap();
    // The contradicted receipt is gone, the others are believed again.
    let after = answer(&run(&project, &[]));
    assert_eq!(outcomes(&after), ["tests/test_a.py passed no-receipt", "tests/test_b.py reused"]);
    assert_eq!(project.json(&["audit", "acknowledge", "--reason", "x"])["acknowledged"], json!(0));
}

#[test]
fn the_sample_is_the_same_for_the_same_state() {
    let (project, _outside) = hidden();
    assert_eq!(run(&project, &[]).code, 0);
    let once = outcomes(&answer(&run(&project, &["--audit", "50"])));
    for _ in 0..3 {
        assert_eq!(outcomes(&answer(&run(&project, &["--audit", "50"]))), once);
    }
    for wrong in ["101", "-1", "x", "1.234"] {
        assert_eq!(run(&project, &[&format!("--audit={wrong}")]).code, 2, "{wrong}");
    }
}

#[test]
fn a_test_that_loads_what_its_closure_lacks_gets_no_receipt() {
    let bin = tempfile::tempdir().unwrap();
    let project = Project::new(&[
        (
            "package.json",
            "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
        ),
        ("src/a.js", "export const a = 1;\n"),
        ("hidden/pre.cjs", "require(\"./more.cjs\");\n"),
        ("hidden/more.cjs", "globalThis.more = 1;\n"),
        (
            "src/a.test.js",
            "import test from \"node:test\";\nimport { a } from \"./a.js\";\n\ntest(\"a\", () => a);\n",
        ),
        ("src/b.test.js", "import test from \"node:test\";\n\ntest(\"b\", () => {});\n"),
    ]);
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file()).unwrap();
    let node = bin.path().join("node");
    let write = |words: &str| {
        fs::write(&node, format!("#!/bin/sh\nexec {} {words} \"$@\"\n", real.display())).unwrap();
        fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("");
    let path = format!("{}:{path}", bin.path().display());
    let ask = |arguments: &[&str]| owed_in(project.path(), arguments, &[("PATH", path.as_str())]);
    let run = || answer(&ask(&["run", "--all", "--format", "json"]));
    assert_eq!(outcomes(&run()), ["src/a.test.js passed no-receipt", "src/b.test.js passed no-receipt"]);
    assert_eq!(outcomes(&run()), ["src/a.test.js reused", "src/b.test.js reused"]);
    assert_eq!(project.planned(&["src/a.js"]), ["src/a.test.js"]);
    assert_eq!(project.planned(&["hidden/more.cjs"]), [""; 0]);

    write(&format!("--require {}/hidden/pre.cjs", project.path().display()));
    let seen = run();
    let denied: Vec<&str> = fields(&seen["results"][0]["denied"], "reason");
    assert_eq!(denied, ["inputs-differ", "closure-incomplete", "closure-incomplete"]);
    assert_eq!(seen["results"][0]["receipt"], Value::Null);
    // It is no receipt the next time either, and the files owe the tests from now on (rule 5).
    let again = run();
    assert_eq!(fields(&again["results"][0]["denied"], "reason")[0], "closure-incomplete");
    assert!(again["results"][0]["denied"][0]["detail"].as_str().unwrap().contains("hidden/more.cjs"));
    let plan = project.json(&["plan", "hidden/more.cjs"]);
    assert_eq!(fields(&plan["tests"], "path"), ["src/a.test.js", "src/b.test.js"]);
    let reason = &plan["tests"][0]["reasons"][0];
    assert_eq!(
        (&reason["kind"], &reason["chain"]),
        (&json!("observed"), &json!(["src/a.test.js", "hidden/more.cjs"]))
    );
    project.owed(&["why", "src/a.test.js", "--changed", "hidden/more.cjs"]).says(&["observed"]);
    let status = project.json(&["audit", "status"]);
    assert_eq!(status["incomplete_closures"][0]["files"], json!(["hidden/more.cjs", "hidden/pre.cjs"]));
    project.owed(&["audit", "status"]).says(&["src/a.test.js", "not among the known inputs"]);

    // What is not as it was written is left out, and said so; nothing is narrowed by it.
    let at = project.path().join(".owed/observed");
    let text = fs::read_to_string(&at).unwrap();
    fs::write(&at, text.replace("hidden/more.cjs", "hidden/none.cjs")).unwrap();
    let plan = project.json(&["plan", "src/a.js"]);
    assert_eq!(fields(&plan["tests"], "path"), ["src/a.test.js"]);
    assert!(fields(&plan["problems"], "code").contains(&"observations-damaged"));
    fs::write(&at, text).unwrap();

    // Once it is loaded no more, receipts are written again.
    write("");
    assert_eq!(outcomes(&run())[0], "src/a.test.js reused", "the state of the first run");
}

#[test]
fn a_plan_says_of_each_test_what_a_run_would_do() {
    let project = Project::new(&[
        (
            "package.json",
            "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
        ),
        ("src/a.js", "export const a = 1;\n"),
        (
            "src/a.test.js",
            "import test from \"node:test\";\nimport { a } from \"./a.js\";\n\ntest(\"a\", () => a);\n",
        ),
        ("src/b.test.js", "import test from \"node:test\";\n\ntest(\"b\", () => {});\n"),
        ("src/c.test.js", "import test from \"node:test\";\n\ntest(\"c\", () => Date.now());\n"),
    ]);
    let receipts = |more: &[&str]| -> Vec<String> {
        let plan = project.json(&[&["plan"], more].concat());
        let one = |test: &Value| {
            let receipt = &test["receipt"];
            let detail = receipt["detail"].as_str().unwrap_or_default();
            format!(
                "{} {} {detail}",
                receipt["status"].as_str().unwrap(),
                receipt["reason"].as_str().unwrap()
            )
        };
        plan["tests"].as_array().unwrap().iter().map(one).map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(receipts(&["--all"]), ["none no-ledger", "none no-ledger", "none no-ledger"]);
    assert!(!project.path().join(".owed/receipts").exists());
    assert_eq!(project.owed(&["run", "--all"]).code, 0);
    let opaque = "miss class time-opaque: src/c.test.js:3 Date.now (clock)";
    assert_eq!(receipts(&["--all"]), ["hit inputs-equal", "hit inputs-equal", opaque]);
    project.append("src/a.js", "// more\n");
    assert_eq!(receipts(&[]), ["miss inputs-differ file src/a.js changed"]);
    project.owed(&["plan"]).says(&["Receipts: 0 of 1 test are paid for", "1 inputs-differ"]);
    // What is staged is not what lies on the disk, and receipts are about the disk.
    project.git(&["add", "-A"]);
    assert_eq!(receipts(&["--staged"]), ["none not-the-working-tree"]);
    assert_eq!(project.planned(&[]), ["src/a.test.js"]);
    // The same words as those of the run.
    let plan = project.json(&["plan", "--all"]);
    let run = answer(&project.owed(&["run", "--all", "--format", "json"]));
    for (test, result) in plan["tests"].as_array().unwrap().iter().zip(run["results"].as_array().unwrap()) {
        match test["receipt"]["status"].as_str().unwrap() {
            "hit" => assert_eq!(result["outcome"], json!("reused")),
            _ => assert_eq!(result["denied"][0]["reason"], test["receipt"]["reason"], "{test}"),
        }
    }
}
