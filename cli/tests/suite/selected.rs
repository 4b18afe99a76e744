//! What a plan selects, row by row (C3 to C5).

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
        // A file is there once for each runner that it may belong to.
        let mut paths = fields(&plan["tests"], "path");
        paths.dedup();
        assert_eq!(paths, all, "{why}");
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
fn c05_a_plan_is_held_against_a_full_run_and_an_empty_selection_runs_nothing() {
    let of = |name: &str, body: &str| {
        (format!("src/{name}.test.js"), format!("import test from \"node:test\";\n{body}\n"))
    };
    let files = [
        of("b", "import { b } from \"./b.js\";\ntest(\"b\", () => { if (!b) throw new Error(\"b\"); });"),
        of("broken", "test(\"x\", () => { throw new Error(\"always\"); });"),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let manifest = "{ \"name\": \"n\", \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n";
    let more = [("package.json", manifest), (".gitignore", "*.out\n"), ("src/b.js", "export const b = 1;\n")];
    let project = Project::new(&[&files[..], &more].concat());
    // Nothing is owed: never an empty list, which a runner takes for everything.
    let ran = project.owed(&["run", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(ran.json()["results"], serde_json::json!([]));

    project.append("src/b.js", "// changed\n");
    let save = |name: &str, arguments: &[&str]| {
        project.write(name, &project.owed(&[arguments, &["--format", "json"]].concat()).out);
    };
    save("plan.out", &["plan"]);
    save("wide.out", &["plan", "--all"]);
    save("full.out", &["run", "--all", "--no-reuse"]);
    let compare = |arguments: &[&str]| {
        let ran = project.owed(&[&["audit", "compare", "--format", "json"], arguments].concat());
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        (ran.code, answer["row"]["outcome"].as_str().unwrap().to_owned(), answer["row"]["misses"].clone())
    };
    let (code, outcome, misses) = compare(&["--plan", "plan.out", "--report", "full.out"]);
    assert_eq!((code, outcome.as_str(), misses), (1, "miss", serde_json::json!(["src/broken.test.js"])));
    let (code, outcome, _) =
        compare(&["--plan", "plan.out", "--report", "full.out", "--base-report", "full.out"]);
    assert_eq!((code, outcome.as_str()), (0, "clean"), "it failed before as well");
    let (code, outcome, _) = compare(&["--plan", "wide.out", "--report", "full.out"]);
    assert_eq!((code, outcome.as_str()), (0, "widened"), "it left nothing out, and proves nothing");
    let (code, outcome, _) = compare(&["--plan", "plan.out", "--report", "gone.out"]);
    assert_eq!((code, outcome.as_str()), (3, "incomplete"));
    // Promotion: at least 30 selective, complete rows without a miss.
    let ran = project.owed(&["audit", "status", "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&answer["rows"]["needed"], &answer["rows"]["ready"]), (&30.into(), &false.into()));
}
