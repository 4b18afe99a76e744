//! `owed why`: reasons as chains, and proofs of absence.

use serde_json::{Value, json};

use crate::harness::{Project, fields, texts};

#[test]
fn every_step_of_a_chain_has_its_line() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    let why = shop.json(&["why", "src/barrel.test.ts"]);
    let answer = &why["answers"][0];
    assert_eq!((&answer["owed"], &answer["runner"]), (&json!(true), &json!("vitest")));
    let reason = &answer["reasons"][0];
    assert_eq!(reason["kind"], "depends");
    assert_eq!(texts(&reason["chain"]), ["src/barrel.test.ts", "src/index.ts", "src/a.ts"]);
    let lines: Vec<&Value> = reason["steps"].as_array().unwrap().iter().map(|step| &step["line"]).collect();
    assert_eq!(lines, [&json!(2), &json!(1)]);
    assert_eq!(answer["absence"], Value::Null);
    shop.owed(&["why", "src/barrel.test.ts"]).says(&[
        "src/barrel.test.ts (vitest) is owed",
        "-> src/index.ts (static, line 2 of barrel.test.ts)",
        "-> src/a.ts (re-export, line 1 of index.ts)",
    ]);
}

#[test]
fn absence_is_proved() {
    let shop = Project::shop();
    let why = shop.json(&["why", "src/lone.test.ts", "--changed", "src/a.ts"]);
    assert_eq!(why["base"], Value::Null);
    assert_eq!(why["changes"], json!(["src/a.ts"]));
    let answer = &why["answers"][0];
    assert_eq!((&answer["owed"], &answer["reasons"]), (&json!(false), &json!([])));
    assert_eq!(answer["absence"]["changes"], 1);
    assert_eq!(texts(&answer["absence"]["others"]), ["src/a.test.ts", "src/barrel.test.ts"]);
    shop.owed(&["why", "src/lone.test.ts", "--changed", "src/a.ts"]).says(&[
        "is not owed",
        "src/a.ts is not among them",
        "Tests that do depend on the change:",
        "src/barrel.test.ts",
    ]);
    shop.owed(&["why", "src/lone.test.ts"])
        .says(&["is not owed", "Nothing changed. Ask about a file with --changed"]);
}

#[test]
fn independent_reasons_are_all_there() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    shop.append("src/a.test.ts", "test(\"b\", () => {});\n");
    let why = shop.json(&["why", "src/a.test.ts"]);
    let kinds = fields(&why["answers"][0]["reasons"], "kind");
    assert!(kinds.contains(&"changed") && kinds.contains(&"depends"), "{kinds:?}");
}

#[test]
fn an_unknown_test_is_refused_with_near_matches() {
    let shop = Project::shop();
    shop.owed(&["why", "src/barel.test.ts"])
        .refused("there is no test src/barel.test.ts", "src/barrel.test.ts");
    shop.owed(&["why", "src/a.ts"])
        .refused("src/a.ts is a source, but no runner takes it for a test", "next:");
    shop.owed(&["why", "../x.test.ts"]).refused("outside of the project", "--cwd");
}
