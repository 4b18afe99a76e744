//! What a plan selects, row by row (C2 to C4), and what a configuration is loaded with (D6).

use crate::harness::{Project, SHOP, fields};

#[test]
fn c03_edited_tests_consumers_companions_and_declared_inputs_are_united() {
    let more = [
        ("owed.toml", "[[inputs]]\ntests = [\"src/lone.test.ts\"]\nfiles = [\"schema/**\"]\n"),
        ("schema/a.json", "{}\n"),
        ("src/alone.ts", "export const x = 1;\n"),
        ("src/alone.test.ts", "import { test } from \"vitest\";\ntest(\"x\", () => {});\n"),
        ("src/edited.test.ts", "import { test } from \"vitest\";\ntest(\"y\", () => {});\n"),
        ("src/untouched.test.ts", "import { test } from \"vitest\";\ntest(\"z\", () => {});\n"),
    ];
    let project = Project::new(&[SHOP, &more].concat());
    project.append("src/a.ts", "// changed\n");
    project.append("src/alone.ts", "// changed\n");
    project.append("src/edited.test.ts", "// changed\n");
    project.write("schema/a.json", "{ }\n");
    let plan = project.json(&["plan"]);
    assert_eq!((&plan["mode"], &plan["omitted"]), (&"selective".into(), &1.into()));
    let of = |path: &str| {
        let test = plan["tests"].as_array().unwrap().iter().find(|test| test["path"] == path);
        fields(&test.unwrap_or_else(|| panic!("{path}: {plan:#}"))["reasons"], "kind")
    };
    assert!(of("src/edited.test.ts").contains(&"changed"));
    assert!(of("src/a.test.ts").contains(&"depends"));
    assert!(of("src/barrel.test.ts").contains(&"depends"), "a consumer of a consumer");
    assert!(of("src/alone.test.ts").contains(&"companion"), "it imports nothing, and is its test by name");
    assert!(of("src/lone.test.ts").contains(&"declared"));
}

#[test]
fn c04_opaque_tests_run_on_any_change_and_what_is_not_understood_widens() {
    let opaque = "import { expect, test } from \"vitest\";\nimport { readFileSync } from \"node:fs\";\ntest(\"o\", () => expect(readFileSync(process.argv[2] ?? \"\")).toBeTruthy());\n";
    let project = Project::new(&[SHOP, &[("src/opaque.test.ts", opaque)]].concat());
    project.append("src/lone.ts", "// changed\n");
    assert_eq!(project.planned(&[]), ["src/lone.test.ts", "src/opaque.test.ts"]);
    project.commit("more");
    let all = ["src/a.test.ts", "src/barrel.test.ts", "src/lone.test.ts", "src/opaque.test.ts"];
    let widened = |why: &str| {
        let plan = project.json(&["plan"]);
        assert_eq!(fields(&plan["tests"], "path"), all, "{why}");
    };
    // Shared configuration, a tool's own file that nobody names, and a manifest that cannot
    // be parsed.
    project.append("vitest.config.ts", "// changed\n");
    widened("configuration");
    project.git(&["checkout", "-q", "--", "."]);
    project.write(".unheard-of-rc", "x\n");
    widened("an unknown input");
    project.remove(".unheard-of-rc");
    project.append("package.json", "{{{\n");
    widened("a manifest that is not understood");
    project.git(&["checkout", "-q", "--", "."]);
    assert_eq!(project.planned(&["--all"]), all, "asked for");
    // A deleted source owes whoever imported it, though nothing leads there any more.
    project.remove("src/a.ts");
    let planned = project.planned(&[]);
    for test in ["src/a.test.ts", "src/barrel.test.ts"] {
        assert!(planned.iter().any(|path| path == test), "{planned:?}");
    }
    project.git(&["checkout", "-q", "--", "."]);
    // Several projects of a runner are told apart instead of all being run.
    let two = Project::new(&[
        ("package.json", "{ \"name\": \"two\", \"private\": true, \"workspaces\": [\"p/*\"] }\n"),
        (
            "p/a/package.json",
            "{ \"name\": \"a\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"3\" } }\n",
        ),
        (
            "p/b/package.json",
            "{ \"name\": \"b\", \"scripts\": { \"test\": \"vitest run\" }, \"devDependencies\": { \"vitest\": \"3\" } }\n",
        ),
        ("p/a/a.ts", "export const a = 1;\n"),
        ("p/a/a.test.ts", "import { test } from \"vitest\";\nimport \"./a\";\ntest(\"a\", () => {});\n"),
        ("p/b/b.test.ts", "import { test } from \"vitest\";\ntest(\"b\", () => {});\n"),
    ]);
    two.append("p/a/a.ts", "// changed\n");
    assert_eq!(two.planned(&[]), ["p/a/a.test.ts"]);
}

#[test]
fn d6_a_configuration_is_loaded_with_a_small_heap_and_one_worker() {
    // The answer depends on what the child that loads it was given.
    let config = "const small = process.execArgv.includes(\"--max-old-space-size=768\");\n\
                  const one = process.env.VITEST_MAX_WORKERS === \"1\";\n\
                  module.exports = { spec: [small && one ? \"given/*.js\" : \"other/*.js\"] };\n";
    let project = Project::new(&[
        (
            "package.json",
            "{ \"name\": \"m\", \"scripts\": { \"test\": \"mocha\" }, \"devDependencies\": { \"mocha\": \"11\" } }\n",
        ),
        (".mocharc.cjs", config),
        ("given/a.js", "it(\"a\", () => {});\n"),
        ("other/b.js", "it(\"b\", () => {});\n"),
    ]);
    assert_eq!(project.planned(&["--all"]), ["given/a.js"]);
}
