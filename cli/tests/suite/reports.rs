//! The reporters that `owed` ships, under the real runners: every way in which a file can
//! pass, fail or say nothing, and what is made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use owed_engine::outcome::{Ended, FileOutcome, Outcome, judge};
use owed_engine::runner::{Reporting, RunnerProject};
use owed_gates::runs::observed::{self, Loaded};

use crate::truth::install;

/// Runs `tests` of a project under `runner`: what is made of its report, and what each test
/// file loaded.
fn judged(
    runner: &str,
    project: &[(&str, &str)],
    tests: &[&str],
) -> (Vec<FileOutcome>, BTreeMap<String, Loaded>) {
    judged_by(None, runner, project, tests)
}

/// The same with a certain node.
fn judged_by(
    node: Option<&Path>,
    runner: &str,
    project: &[(&str, &str)],
    tests: &[&str],
) -> (Vec<FileOutcome>, BTreeMap<String, Loaded>) {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    let dir = root.join("project");
    for (path, text) in project {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(install::node_modules(), dir.join("node_modules")).unwrap();
    let tools = root.join("run");
    fs::create_dir(&tools).unwrap();
    let runner = owed_plugins::runners().iter().find(|r| r.name() == runner).unwrap();
    let settings = RunnerProject::default();
    let run = Reporting { dir: tools.to_str().unwrap(), workers: None, arguments: &[], coverage: false };
    let invocation = runner.command(&settings, tests).pop().unwrap();
    let reported = runner.reported(invocation, &run).unwrap();
    for (name, text) in &reported.files {
        fs::write(tools.join(name), text).unwrap();
    }
    let mut argv = reported.invocation.argv.into_iter().peekable();
    let mut program = argv.next().unwrap();
    if program == "npx" {
        program = dir.join("node_modules/.bin").join(argv.next().unwrap()).to_str().unwrap().to_owned();
    } else if program == "python" {
        program = install::python().to_str().unwrap().to_owned();
    } else if let Some(node) = node {
        assert_eq!(program, "node");
        program = node.to_str().unwrap().to_owned();
    }
    let output = Command::new(&program)
        .args(argv)
        .current_dir(&dir)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("CI")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = fs::read(tools.join(reported.report)).ok();
    let asked: Vec<String> = tests.iter().map(|t| (*t).to_owned()).collect();
    let relative = |path: &str| Path::new(path).strip_prefix(&dir).ok()?.to_str().map(str::to_owned);
    let judged = judge(&asked, report.as_deref(), Ended::Exit(output.status.code().unwrap()), &relative);
    (judged, observed::read(&tools, &relative))
}

/// A line a test file: `path: what it loaded`.
fn loaded(runner: &str, project: &[(&str, &str)], tests: &[&str]) -> String {
    loaded_by(None, runner, project, tests)
}

fn loaded_by(node: Option<&Path>, runner: &str, project: &[(&str, &str)], tests: &[&str]) -> String {
    let (judged, loaded) = judged_by(node, runner, project, tests);
    assert!(judged.iter().all(|file| file.outcome == Outcome::Passed), "{judged:?}");
    let line = |(test, loaded): (&String, &Loaded)| {
        let files: Vec<&str> = loaded.files.iter().map(String::as_str).collect();
        format!("{test}: {}", files.join(" "))
    };
    loaded.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs `files` of a project under `runner` and says what is made of its report: a line a
/// file, `path outcome passed/failed/skipped why…`.
fn run(runner: &str, project: &[(&str, &str)], tests: &[&str]) -> String {
    let (judged, _) = judged(runner, project, tests);
    let said = |one: &FileOutcome| {
        let words: Vec<&str> = one.no_receipt.iter().map(|why| why.word()).collect();
        let cases = one.cases;
        let line = format!(
            "{} {:?} {}/{}/{} {}",
            one.path,
            one.outcome,
            cases.passed,
            cases.failed,
            cases.skipped,
            words.join(" ")
        );
        line.trim_end().to_owned()
    };
    let lines: Vec<String> = judged.iter().map(said).collect();
    lines.join("\n")
}

const MODULE: (&str, &str) = ("package.json", "{ \"type\": \"module\" }");

#[test]
fn vitest() {
    let head = "import { describe, expect, it } from \"vitest\";\n";
    let file = |text: &str| format!("{head}{text}\n");
    let project = [
        ("pass.test.js", file("describe(\"a\", () => { it(\"b\", () => {}); it.skip(\"c\", () => {}); });")),
        ("fail.test.js", file("it(\"b\", () => {}); it(\"c\", () => expect(1).toBe(2));")),
        (
            "hook.test.js",
            file(
                "import { afterAll } from \"vitest\"; afterAll(() => { throw new Error(\"x\"); }); it(\"b\", () => {});",
            ),
        ),
        ("broken.test.js", file("import \"./missing\"; it(\"b\", () => {});")),
        ("skip.test.js", file("it.skip(\"b\", () => {}); it.todo(\"c\");")),
        (
            "retry.test.js",
            file("let n = 0; it(\"b\", { retry: 2 }, () => { if (n++ === 0) throw new Error(\"x\"); });"),
        ),
        ("empty.test.js", "export {};\n".to_owned()),
    ];
    let project: Vec<(&str, &str)> =
        project.iter().map(|(path, text)| (*path, text.as_str())).chain([MODULE]).collect();
    let tests: Vec<&str> =
        project.iter().map(|(path, _)| *path).filter(|p| p.ends_with(".test.js")).collect();
    assert_eq!(
        run("vitest", &project, &tests),
        "broken.test.js Failed 0/0/0 failed empty\n\
         empty.test.js Failed 0/0/0 failed empty\n\
         fail.test.js Failed 1/1/0 failed\n\
         hook.test.js Failed 1/0/0 failed\n\
         pass.test.js Passed 1/0/1\n\
         retry.test.js Passed 1/0/0 retried\n\
         skip.test.js Passed 0/0/2 all-skipped"
    );
    let snapshot = file("it(\"b\", () => expect(1).toMatchSnapshot());");
    let pass = [("a.test.js", snapshot.as_str()), MODULE];
    assert_eq!(run("vitest", &pass, &["a.test.js"]), "a.test.js Passed 1/0/0 snapshot-written");
    let unhandled = file("it(\"b\", () => { Promise.reject(new Error(\"x\")); });");
    let unhandled = [("a.test.js", unhandled.as_str()), MODULE];
    assert_eq!(
        run("vitest", &unhandled, &["a.test.js"]),
        "a.test.js Failed 1/0/0 exit-status unhandled-error"
    );
    let exits = file("it(\"b\", () => { process.exit(0); });");
    let exits = [("a.test.js", exits.as_str()), MODULE];
    assert!(!run("vitest", &exits, &["a.test.js"]).contains("Passed"));
}

#[test]
fn jest() {
    let project = [
        ("package.json", "{ \"jest\": { \"transform\": {} } }"),
        ("pass.test.js", "describe(\"a\", () => { it(\"b\", () => {}); it.skip(\"c\", () => {}); });"),
        ("fail.test.js", "it(\"b\", () => {}); it(\"c\", () => expect(1).toBe(2));"),
        ("broken.test.js", "require(\"./missing\"); it(\"b\", () => {});"),
        ("skip.test.js", "it.skip(\"b\", () => {}); it.todo(\"c\");"),
        (
            "retry.test.js",
            "jest.retryTimes(2); let n = 0; it(\"b\", () => { if (n++ === 0) throw new Error(\"x\"); });",
        ),
        ("empty.test.js", ""),
        ("snapshot.test.js", "it(\"b\", () => expect(1).toMatchSnapshot());"),
    ];
    let tests: Vec<&str> =
        project.iter().map(|(path, _)| *path).filter(|p| p.ends_with(".test.js")).collect();
    assert_eq!(
        run("jest", &project, &tests),
        "broken.test.js Failed 0/0/0 failed empty\n\
         empty.test.js Failed 0/0/0 failed empty\n\
         fail.test.js Failed 1/1/0 failed\n\
         pass.test.js Passed 1/0/1\n\
         retry.test.js Passed 1/0/0 retried\n\
         skip.test.js Passed 0/0/2 all-skipped\n\
         snapshot.test.js Passed 1/0/0 snapshot-written"
    );
}

#[test]
fn mocha() {
    let project = [
        ("pass.test.cjs", "describe(\"a\", () => { it(\"b\", () => {}); it.skip(\"c\", () => {}); });"),
        ("fail.test.cjs", "it(\"b\", () => {}); it(\"c\", () => { throw new Error(\"x\"); });"),
        (
            "hook.test.cjs",
            "describe(\"a\", () => { before(() => { throw new Error(\"x\"); }); it(\"b\", () => {}); });",
        ),
        ("skip.test.cjs", "it.skip(\"b\", () => {}); it(\"c\");"),
        (
            "retry.test.cjs",
            "let n = 0; it(\"b\", function () { this.retries(2); if (n++ === 0) throw new Error(\"x\"); });",
        ),
        ("empty.test.cjs", ""),
    ];
    let tests: Vec<&str> = project.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        run("mocha", &project, &tests),
        "empty.test.cjs NotRun 0/0/0 not-reported\n\
         fail.test.cjs Failed 1/1/0 failed\n\
         hook.test.cjs Failed 0/0/0 failed empty\n\
         pass.test.cjs Passed 1/0/1\n\
         retry.test.cjs Passed 1/0/0 retried\n\
         skip.test.cjs Passed 0/0/2 all-skipped"
    );
    let broken = [("broken.test.cjs", "require(\"./missing\"); it(\"b\", () => {});")];
    let said = run("mocha", &broken, &["broken.test.cjs"]);
    assert!(!said.contains("Passed") && said.contains("report-missing"), "{said}");
}

#[test]
fn node_test() {
    let head = "import assert from \"node:assert\"; import { describe, it } from \"node:test\";\n";
    let file = |text: &str| format!("{head}{text}\n");
    let project = [
        ("pass.test.mjs", file("describe(\"a\", () => { it(\"b\", () => {}); it.skip(\"c\", () => {}); });")),
        ("fail.test.mjs", file("it(\"b\", () => {}); it(\"c\", () => assert.equal(1, 2));")),
        (
            "hook.test.mjs",
            file(
                "import { after } from \"node:test\"; describe(\"a\", () => { after(() => { throw new Error(\"x\"); }); it(\"b\", () => {}); });",
            ),
        ),
        ("broken.test.mjs", file("import \"./missing.mjs\"; it(\"b\", () => {});")),
        ("skip.test.mjs", file("it.skip(\"b\", () => {}); it.todo(\"c\");")),
        ("empty.test.mjs", "export {};\n".to_owned()),
    ];
    let project: Vec<(&str, &str)> = project.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let tests: Vec<&str> = project.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        run("node:test", &project, &tests),
        "broken.test.mjs Failed 0/0/0 failed empty\n\
         empty.test.mjs Passed 0/0/0 empty\n\
         fail.test.mjs Failed 1/1/0 failed\n\
         hook.test.mjs Failed 1/0/0 failed\n\
         pass.test.mjs Passed 1/0/1\n\
         skip.test.mjs Passed 0/0/2 all-skipped"
    );
}

#[test]
fn pytest() {
    let project = [
        (
            "test_pass.py",
            "import pytest\n\ndef test_a():\n    pass\n\n@pytest.mark.skip\ndef test_b():\n    pass\n\n@pytest.mark.xfail\ndef test_c():\n    assert 0\n",
        ),
        ("test_fail.py", "def test_a():\n    pass\n\ndef test_b():\n    assert 0\n"),
        (
            "test_setup.py",
            "import pytest\n\n@pytest.fixture\ndef f():\n    raise OSError\n\ndef test_a(f):\n    pass\n",
        ),
        (
            "test_teardown.py",
            "import pytest\n\n@pytest.fixture\ndef f():\n    yield\n    raise OSError\n\ndef test_a(f):\n    pass\n",
        ),
        ("test_broken.py", "import missing_module\n"),
        ("test_skip.py", "import pytest\n\n@pytest.mark.skip\ndef test_b():\n    pass\n"),
        ("test_skip_module.py", "import pytest\n\npytest.skip(\"x\", allow_module_level=True)\n"),
        ("test_empty.py", ""),
    ];
    let tests: Vec<&str> = project.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        run("pytest", &project, &tests),
        "test_broken.py Failed 0/0/0 failed empty\n\
         test_empty.py NotRun 0/0/0 not-reported\n\
         test_fail.py Failed 1/1/0 failed\n\
         test_pass.py Passed 2/0/1\n\
         test_setup.py Failed 0/1/0 failed\n\
         test_skip.py Passed 0/0/1 all-skipped\n\
         test_skip_module.py Passed 0/0/1 all-skipped\n\
         test_teardown.py Failed 1/0/0 failed"
    );
}

#[test]
fn unittest() {
    let head = "import unittest\n\n\nclass T(unittest.TestCase):\n";
    let file = |text: &str| format!("{head}{text}");
    let project = [
        (
            "test_pass.py",
            file(
                "    def test_a(self):\n        pass\n\n    @unittest.skip(\"x\")\n    def test_b(self):\n        pass\n",
            ),
        ),
        (
            "test_fail.py",
            file("    def test_a(self):\n        self.fail()\n\n    def test_b(self):\n        pass\n"),
        ),
        (
            "test_sub.py",
            file("    def test_a(self):\n        with self.subTest(1):\n            self.fail()\n"),
        ),
        (
            "test_setup.py",
            file(
                "    @classmethod\n    def setUpClass(cls):\n        raise OSError\n\n    def test_a(self):\n        pass\n",
            ),
        ),
        ("test_broken.py", "import missing_module\n".to_owned()),
        ("test_skip.py", file("    @unittest.skip(\"x\")\n    def test_b(self):\n        pass\n")),
        ("test_empty.py", String::new()),
        ("test_borrowed.py", "from test_pass import T\n".to_owned()),
    ];
    let project: Vec<(&str, &str)> = project.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let tests: Vec<&str> = project.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        run("unittest", &project, &tests),
        "test_borrowed.py Passed 1/0/1\n\
         test_broken.py Failed 0/1/0 failed\n\
         test_empty.py Passed 0/0/0 empty\n\
         test_fail.py Failed 1/1/0 failed\n\
         test_pass.py Passed 1/0/1\n\
         test_setup.py Failed 0/1/0 failed\n\
         test_skip.py Passed 0/0/1 all-skipped\n\
         test_sub.py Failed 0/1/0 failed"
    );
}

/// Two tests that share modules, so that the second finds them loaded; one more is loaded only
/// while a case runs, and one is never.
#[test]
fn what_tests_load_is_known() {
    let modules = [
        ("lib/a.js", "import { b } from \"./b.js\";\nexport const a = b;\n"),
        ("lib/b.js", "export const b = 1;\n"),
        ("lib/late.js", "export const late = 1;\n"),
        ("lib/never.js", "export const never = 1;\n"),
        MODULE,
    ];
    let one = "import { a } from \"./lib/a.js\";\nit(\"a\", async () => { await import(\"./lib/late.js\"); if (a > 1) await import(\"./lib/never.js\"); });\n";
    let two = "import { a } from \"./lib/a.js\";\nit(\"a\", () => { a; });\n";
    let with = |head: &str, extension: &str| {
        let name = |n: &str| format!("{n}.test.{extension}");
        [(name("one"), format!("{head}{one}")), (name("two"), format!("{head}{two}"))]
    };
    let want = "one.test.js: lib/a.js lib/b.js lib/late.js\ntwo.test.js: lib/a.js lib/b.js";
    for (runner, head) in
        [("vitest", "import { it } from \"vitest\";\n"), ("node:test", "import { it } from \"node:test\";\n")]
    {
        let tests = with(head, "js");
        let project: Vec<(&str, &str)> =
            tests.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain(modules).collect();
        assert_eq!(loaded(runner, &project, &["one.test.js", "two.test.js"]), want, "{runner}");
    }

    let common = [
        ("lib/a.js", "module.exports = require(\"./b.js\");\n"),
        ("lib/b.js", "exports.b = require(\"./c.json\").c;\n"),
        ("lib/c.json", "{ \"c\": 1 }\n"),
        ("lib/never.js", "exports.never = 1;\n"),
        ("lib/late.js", "exports.late = 1;\n"),
        ("package.json", "{ \"jest\": { \"transform\": {} } }"),
        (
            "one.test.js",
            "const { b } = require(\"./lib/a.js\");\nit(\"a\", () => { require(\"./lib/late.js\"); if (b > 1) require(\"./lib/never.js\"); });\n",
        ),
        ("two.test.js", "const { b } = require(\"./lib/a.js\");\nit(\"a\", () => { b; });\n"),
    ];
    let want =
        "one.test.js: lib/a.js lib/b.js lib/c.json lib/late.js\ntwo.test.js: lib/a.js lib/b.js lib/c.json";
    for runner in ["jest", "mocha"] {
        assert_eq!(loaded(runner, &common, &["one.test.js", "two.test.js"]), want, "{runner}");
    }

    let python = [
        ("pkg/__init__.py", ""),
        ("pkg/a.py", "from .b import B\n"),
        ("pkg/b.py", "B = 1\n"),
        ("pkg/late.py", "L = 1\n"),
        ("pkg/never.py", "N = 1\n"),
        (
            "test_one.py",
            "import unittest\nfrom pkg import a\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        import pkg.late\n        if a.B > 1:\n            import pkg.never\n",
        ),
        (
            "test_two.py",
            "import unittest\nimport pkg.b\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(pkg.b.B)\n",
        ),
    ];
    let want =
        "test_one.py: pkg/__init__.py pkg/a.py pkg/b.py pkg/late.py\ntest_two.py: pkg/__init__.py pkg/b.py";
    for runner in ["pytest", "unittest"] {
        assert_eq!(loaded(runner, &python, &["test_one.py", "test_two.py"]), want, "{runner}");
    }
}

/// Node notes loads by hooks from 24 on. A test's own hooks may answer without ours, and then
/// the inspector is asked; asynchronous ones run beside them.
#[test]
fn what_tests_load_is_known_where_node_has_hooks() {
    let Some(node) = install::node24() else { return eprintln!("NOT CHECKED: node 24 is not packaged here") };
    let own = |load: &str| format!("function load(url, context, next) {{ {load} }}");
    let answer = "if (url.endsWith(\"/b.js\")) return { format: \"module\", source: \"export const b = 2\", shortCircuit: true }; return next(url, context);";
    let asynchronous = format!("export async {}", own(answer));
    let tests = [
        ("plain.test.js", String::new(), 1),
        (
            "hooks.test.js",
            format!(
                "import {{ registerHooks }} from \"node:module\";\nregisterHooks({{ load }});\n{}\n",
                own(answer)
            ),
            2,
        ),
        (
            "late.test.js",
            "import * as m from \"node:module\";\nm.register(\"./hooks.js\", import.meta.url);\n".to_owned(),
            2,
        ),
    ];
    let tests = tests.map(|(path, head, b)| {
        let text = format!(
            "import assert from \"node:assert\";\nimport {{ createRequire }} from \"node:module\";\nimport {{ it }} from \"node:test\";\n{head}const require = createRequire(import.meta.url);\nit(\"a\", async () => {{ const {{ a }} = await import(\"./lib/a.js?x\"); assert.equal(a, {b}); require(\"./c.cjs\"); require.resolve(\"./never.cjs\"); }});\n"
        );
        (path, text)
    });
    let modules = [
        ("lib/a.js", "import { b } from \"./b.js\";\nexport const a = b;\n"),
        ("lib/b.js", "export const b = 1;\n"),
        ("c.cjs", "module.exports = require(\"./c.json\");\n"),
        ("c.json", "{}\n"),
        ("never.cjs", "\n"),
        ("hooks.js", &asynchronous),
        MODULE,
    ];
    let project: Vec<(&str, &str)> =
        tests.iter().map(|(path, text)| (*path, text.as_str())).chain(modules).collect();
    let found =
        loaded_by(Some(node), "node:test", &project, &["hooks.test.js", "late.test.js", "plain.test.js"]);
    assert_eq!(
        found,
        "hooks.test.js: c.cjs c.json lib/a.js lib/b.js\n\
         late.test.js: c.cjs c.json lib/a.js lib/b.js\n\
         plain.test.js: c.cjs c.json lib/a.js lib/b.js"
    );
}
