//! What vitest, jest and pytest take up by name, and passes that are none: a retried case, a
//! snapshot that is written, a filter. The runners are really installed (`truth::install`).

use std::fs;

use super::{in_parallel, said};
use crate::harness::{Project, fields, owed_in};
use crate::truth::install;

struct Case {
    name: &'static str,
    /// Files besides those of the runner.
    files: &'static [(&'static str, &'static str)],
    /// What is done after the first run, which must give this code.
    does: fn(&Project),
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    test: &'static str,
    want: &'static str,
}

const fn case(
    name: &'static str,
    test: &'static str,
    files: &'static [(&'static str, &'static str)],
    does: fn(&Project),
    want: &'static str,
) -> Case {
    Case { name, files, does, arguments: &[], environment: &[], test, want }
}

const VITEST: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"*\" } }\n",
    ),
    (".gitignore", "node_modules\n"),
    (
        "vitest.config.js",
        "import { defineConfig } from \"vitest/config\";\n\nexport default defineConfig({ test: { setupFiles: [\"./setup.js\"] } });\n",
    ),
    ("setup.js", "const level = 1;\nif (level > 8) throw new Error(\"level\");\n"),
    ("src/b.js", "export const b = 1;\n"),
    ("src/__mocks__/b.js", "export const b = 2;\n"),
    (
        "src/a.test.js",
        "import { expect, test, vi } from \"vitest\";\nimport { b } from \"./b.js\";\nvi.mock(\"./b.js\");\n\ntest(\"a\", () => expect(b).toBeGreaterThan(0));\n",
    ),
];

const V: &str = "src/a.test.js";

const VITEST_CASES: &[Case] = &[
    case("vitest: nothing", V, &[], |_| {}, "reused"),
    case(
        "vitest: the setup file",
        V,
        &[],
        |p| p.append("setup.js", "// x\n"),
        "passed inputs-differ file setup.js",
    ),
    case("vitest: a manual mock is gone", V, &[], |p| p.remove("src/__mocks__/b.js"), "passed inputs-differ"),
    case(
        "vitest: a manual mock",
        V,
        &[],
        |p| p.write("src/__mocks__/b.js", "export const b = 3;\n"),
        "passed inputs-differ file src/__mocks__/b.js",
    ),
    case(
        "vitest: the configuration",
        V,
        &[],
        |p| p.append("vitest.config.js", "// x\n"),
        "passed inputs-differ",
    ),
    case(
        "vitest: a configuration that comes first",
        V,
        &[],
        |p| p.write("vitest.config.ts", "export default {};\n"),
        "passed",
    ),
    case(
        "vitest: a case that passes when it is tried again",
        "src/retried.test.js",
        &[(
            "src/retried.test.js",
            "import { expect, test } from \"vitest\";\n\nlet tries = 0;\ntest(\"r\", { retry: 2 }, () => {\n  tries += 1;\n  expect(tries).toBe(2);\n});\n",
        )],
        |_| {},
        "passed no-receipt",
    ),
    case(
        "vitest: a snapshot that was written is an input of the next run",
        "src/shot.test.js",
        &[(
            "src/shot.test.js",
            "import { expect, test } from \"vitest\";\n\ntest(\"s\", () => expect({ a: 1 }).toMatchSnapshot());\n",
        )],
        |_| {},
        "reused",
    ),
    Case {
        name: "vitest: a filter by name",
        files: &[],
        does: |_| {},
        arguments: &["--", "-t", "a"],
        environment: &[],
        test: V,
        want: "passed not-looked-at the command line has `-t`",
    },
    Case {
        name: "vitest: another configuration on the command line",
        files: &[("other.config.js", "export default {};\n")],
        does: |_| {},
        arguments: &["--", "--config", "other.config.js"],
        environment: &[],
        test: V,
        want: "passed not-looked-at the command line has `--config`",
    },
];

const JEST: &[(&str, &str)] = &[
    (
        "package.json",
        "{ \"name\": \"n\", \"scripts\": { \"test\": \"jest\" }, \"devDependencies\": { \"jest\": \"*\" }, \"jest\": { \"setupFiles\": [\"./setup.js\"], \"transform\": {} } }\n",
    ),
    (".gitignore", "node_modules\n"),
    ("setup.js", "const level = 1;\nif (level > 8) throw new Error(\"level\");\n"),
    ("src/b.js", "exports.b = 1;\n"),
    ("src/__mocks__/b.js", "exports.b = 2;\n"),
    (
        "src/a.test.js",
        "const { b } = require(\"./b\");\njest.mock(\"./b\");\n\ntest(\"a\", () => expect(b).toBeGreaterThan(0));\n",
    ),
];

const JEST_CASES: &[Case] = &[
    case("jest: nothing", V, &[], |_| {}, "reused"),
    case(
        "jest: the setup file",
        V,
        &[],
        |p| p.append("setup.js", "// x\n"),
        "passed inputs-differ file setup.js",
    ),
    case("jest: a manual mock is gone", V, &[], |p| p.remove("src/__mocks__/b.js"), "passed inputs-differ"),
];

const PYTEST: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[project]\nname = \"p\"\nversion = \"0\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
    ),
    ("requirements.txt", "pytest\n"),
    ("app/__init__.py", ""),
    ("app/a.py", "A = 1\n"),
    ("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n"),
    ("tests/test_a.py", "from app.a import A\n\n\ndef test_a(one):\n    assert A == one\n"),
];

const P: &str = "tests/test_a.py";

const PYTEST_CASES: &[Case] = &[
    case("pytest: nothing", P, &[], |_| {}, "reused"),
    case(
        "pytest: its conftest",
        P,
        &[],
        |p| p.append("tests/conftest.py", "# x\n"),
        "passed inputs-differ file tests/conftest.py",
    ),
    case(
        "pytest: a conftest above",
        P,
        &[],
        |p| p.write("conftest.py", ""),
        "passed inputs-differ file conftest.py",
    ),
    case("pytest: its conftest is gone", P, &[], |p| p.remove("tests/conftest.py"), "failed inputs-differ"),
    case(
        "pytest: a conftest that fails every test",
        P,
        &[],
        |p| {
            let text =
                "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef always():\n    raise RuntimeError\n";
            p.write("conftest.py", text);
        },
        "failed inputs-differ file conftest.py",
    ),
    case(
        "pytest: a configuration that comes first",
        P,
        &[],
        |p| p.write("pytest.ini", "[pytest]\ntestpaths = tests\n"),
        "passed inputs-differ",
    ),
    case(
        "pytest: a module that hides one of the standard library",
        P,
        &[],
        |p| p.write("json.py", ""),
        "not-run inputs-differ file json.py: was no input",
    ),
    Case {
        name: "pytest: a filter by name",
        files: &[],
        does: |_| {},
        arguments: &["--", "-k", "a"],
        environment: &[],
        test: P,
        want: "passed not-looked-at the command line has `-k`",
    },
    Case {
        name: "pytest: a filter in the environment",
        files: &[],
        does: |_| {},
        arguments: &[],
        environment: &[("PYTEST_ADDOPTS", "-k a")],
        test: P,
        want: "passed not-looked-at PYTEST_ADDOPTS has `-k`",
    },
    Case {
        name: "pytest: a plugin in the environment",
        files: &[("plug.py", "")],
        does: |_| {},
        arguments: &[],
        environment: &[("PYTEST_PLUGINS", "plug")],
        test: P,
        want: "passed not-looked-at PYTEST_PLUGINS is set",
    },
];

/// How many there are.
pub(super) const CASES: usize = VITEST_CASES.len() + JEST_CASES.len() + PYTEST_CASES.len();

fn check(case: &Case, files: &[(&str, &str)], node: bool) -> Option<String> {
    let project = Project::bare(files);
    for (path, text) in case.files {
        project.write(path, text);
    }
    if node {
        project.link(install::node_modules().to_str().unwrap(), "node_modules");
    }
    project.git(&["init", "-q"]);
    project.commit("start");
    let python = if node { String::new() } else { venv() };
    let run = |arguments: &[&str], environment: &[(&str, &str)]| {
        let arguments = [&["run", "--all", "--format", "json"], arguments].concat();
        let common = [("VIRTUAL_ENV", python.as_str()), ("TMPDIR", "/tmp"), ("CI", "")];
        owed_in(project.path(), &arguments, &[&common, environment].concat())
    };
    let first = run(&[], &[]);
    if first.code != 0 {
        return Some(format!("{}: the first run gave {}\n{}{}", case.name, first.code, first.out, first.err));
    }
    (case.does)(&project);
    let ran = run(case.arguments, case.environment);
    let said = said(&ran, case.test);
    let wrong = !said.starts_with(case.want);
    wrong.then(|| format!("{}: wanted `{}`, got `{said}`\n{}", case.name, case.want, ran.err))
}

fn venv() -> String {
    let python = install::python();
    let home = python.parent().and_then(std::path::Path::parent).unwrap();
    fs::canonicalize(home).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn what_vitest_takes_up_by_name() {
    in_parallel(VITEST_CASES, |case| check(case, VITEST, true));
}

#[test]
fn what_jest_takes_up_by_name() {
    in_parallel(JEST_CASES, |case| check(case, JEST, true));
}

#[test]
fn what_pytest_takes_up_by_name() {
    in_parallel(PYTEST_CASES, |case| check(case, PYTEST, false));
}

/// One file that is run and whose types are checked is two tests with all names in common: each
/// has a receipt of its own, and neither is taken for the other after a run.
#[test]
fn a_file_whose_types_are_checked_too_is_two_tests() {
    let project = Project::bare(&[
        (
            "package.json",
            "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"*\" } }\n",
        ),
        (".gitignore", "node_modules\n"),
        (
            "tsconfig.json",
            "{ \"compilerOptions\": { \"strict\": true, \"noEmit\": true, \"skipLibCheck\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"types\": [] }, \"include\": [\"src\"] }\n",
        ),
        (
            "vitest.config.js",
            "import { defineConfig } from \"vitest/config\";\n\nexport default defineConfig({ test: { typecheck: { enabled: true, include: [\"**/*.test.ts\"] } } });\n",
        ),
        ("src/b.ts", "export const b: number = 1;\n"),
        (
            "src/a.test.ts",
            "import { expect, expectTypeOf, test } from \"vitest\";\nimport { b } from \"./b\";\n\ntest(\"a\", () => {\n  expectTypeOf(b).toEqualTypeOf<number>();\n  expect(b).toBe(1);\n});\n",
        ),
    ]);
    project.link(install::node_modules().to_str().unwrap(), "node_modules");
    project.git(&["init", "-q"]);
    project.commit("start");
    let all = |want: &str| {
        let ran =
            owed_in(project.path(), &["run", "--all", "--format", "json"], &[("TMPDIR", "/tmp"), ("CI", "")]);
        let answer = ran.json();
        assert_eq!(fields(&answer["results"], "outcome"), [want, want], "{}\n{}", ran.out, ran.err);
        assert!(answer["no_verdict"].as_array().is_some_and(Vec::is_empty), "{}", ran.out);
    };
    all("passed");
    all("reused");
}
