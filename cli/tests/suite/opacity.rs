//! `owed opacity`.

use serde_json::Value;

use crate::harness::{Project, fields, owed_in};

const PACKAGE: &str = r#"{ "name": "app", "type": "module", "scripts": { "test": "vitest" },
  "devDependencies": { "vitest": "3.2.4" } }"#;

fn project() -> Project {
    let test = |body: &str, import: &str| {
        format!("import {{ expect, test }} from \"vitest\";\n{import}\ntest(\"t\", () => expect({body}));\n")
    };
    let now = test("now()", "import { now } from \"./time\";");
    let add = test("add(1, 2)", "import { add } from \"./time\";");
    let environment = test("process.env.MODE", "");
    let package = test("gone()", "import { gone } from \"gone\";");
    Project::new(&[
        ("package.json", PACKAGE),
        ("vitest.config.ts", "export default { test: { retry: process.env.CI ? 1 : 0 } };\n"),
        (
            "src/time.ts",
            "export function now() {\n  return /* ä */ Date.now();\n}\n\nexport const add = (a: number, b: number) => a + b;\n",
        ),
        ("src/now.test.ts", &now),
        ("src/again.test.ts", &now),
        ("src/add.test.ts", &add),
        ("src/environment.test.ts", &environment),
        ("src/package.test.ts", &package),
    ])
}

fn of<'a>(answer: &'a Value, list: &str, path: &str) -> &'a Value {
    let all = answer[list].as_array().unwrap();
    all.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("{path} in {answer:#}"))
}

#[test]
fn json_has_class_pins_and_every_reason_with_its_place() {
    let project = project();
    let answer = project.json(&["opacity"]);
    let now = of(&answer, "tests", "src/now.test.ts");
    assert_eq!(now["class"], "time-opaque");
    let reason = &now["reasons"][0];
    for (key, value) in [
        ("class", Value::from("time-opaque")),
        ("reason", "clock".into()),
        ("operation", "Date.now".into()),
        ("path", "src/time.ts".into()),
        ("line", 2.into()),
        // In bytes: the umlaut before it has two.
        ("column", 19.into()),
        ("when", "call".into()),
        ("declaration", "now".into()),
        ("chain", vec!["src/now.test.ts", "src/time.ts"].into()),
    ] {
        assert_eq!(reason[key], value, "{key} in {reason:#}");
    }
    assert!(reason["fix"].as_str().is_some_and(|fix| !fix.is_empty()));
    assert_eq!(of(&answer, "tests", "src/add.test.ts")["class"], "pure");
    let pinned = of(&answer, "tests", "src/environment.test.ts");
    assert_eq!(pinned["class"], "pinned");
    assert_eq!(pinned["pins"], serde_json::json!([{ "kind": "env", "name": "MODE" }]));
    let package = of(&answer, "tests", "src/package.test.ts");
    assert_eq!(
        (&package["class"], &package["reasons"][0]["reason"]),
        (&"input-opaque".into(), &"unresolved".into())
    );
    let file = of(&answer, "files", "src/time.ts");
    assert_eq!(file["class"], "time-opaque");
    assert_eq!(of(&answer, "files", "src/now.test.ts")["class"], "pure");
}

#[test]
fn the_summary_says_what_each_place_costs() {
    let project = project();
    let answer = project.json(&["opacity"]);
    let counts: Vec<(&str, u64)> = answer["summary"]["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| (class["class"].as_str().unwrap(), class["tests"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        counts,
        [("pure", 1), ("pinned", 1), ("bounded", 0), ("time-opaque", 2), ("unknown", 0), ("input-opaque", 1)]
    );
    let worst = &answer["summary"]["places"][0];
    assert_eq!((&worst["path"], &worst["tests"]), (&"src/time.ts".into(), &2.into()));
    assert_eq!(worst["becomes"], serde_json::json!([{ "class": "pure", "tests": 2 }]));
    assert_eq!(fields(&answer["summary"]["common"], "operation"), ["process.env.CI"]);
    project.owed(&["opacity"]).says(&[
        "5 test files: 1 pure, 1 pinned, 2 time-opaque, 1 input-opaque",
        "src/time.ts:2  Date.now makes 2 tests time-opaque; without it 2 pure",
        "gone cannot be looked into: 1 test input-opaque; install the dependencies",
        "vitest.config.ts:1  process.env.CI (env)",
    ]);
}

#[test]
fn paths_narrow_to_tests_files_and_folders() {
    let project = project();
    let answer = project.json(&["opacity", "src/now.test.ts"]);
    assert_eq!(fields(&answer["tests"], "path"), ["src/now.test.ts"]);
    assert_eq!(fields(&answer["files"], "path"), ["src/now.test.ts"]);
    let source = project.json(&["opacity", "src/time.ts"]);
    assert_eq!(source["tests"], serde_json::json!([]));
    assert_eq!(source["summary"]["places"][0]["tests"], 2, "{source:#}");
    project
        .owed(&["opacity", "src/time.ts"])
        .says(&["src/time.ts is time-opaque", "makes 2 tests time-opaque"]);
    project.owed(&["opacity", "src/now.test.ts"]).says(&[
        "src/now.test.ts (vitest) is time-opaque",
        "src/time.ts:2  time-opaque: Date.now (clock, when now is used)",
        "to lift it: ",
    ]);
    assert_eq!(fields(&project.json(&["opacity", "src"])["tests"], "path").len(), 5);
    project.owed(&["opacity", "src/tme.ts"]).refused("there is no file src/tme.ts", "src/time.ts");
    project.owed(&["opacity", "package.json"]).refused("no source", "");
}

#[test]
fn a_folder_without_tests_is_no_error() {
    let place = tempfile::tempdir().unwrap();
    let ran = owed_in(place.path(), &["opacity"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says(&["No test file, and no source."]);
}
