//! `owed plan`: what is owed, in every format.

use serde_json::{Value, json};

use crate::harness::{Project, SHOP, fields, texts};

#[test]
fn a_change_owes_the_tests_that_reach_it_and_the_answer_holds_the_chain() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const more = 2;\n");
    let head = shop.git(&["rev-parse", "HEAD"]);
    let plan = shop.json(&["plan"]);
    assert_eq!(plan["schema"], "owed.plan/1");
    assert_eq!(plan["base"], json!({ "rev": "HEAD", "commit": head, "merge_base": head }));
    assert_eq!(plan["mode"], "selective");
    assert_eq!(plan["widened"], json!([]));
    assert_eq!(
        plan["changes"],
        json!([{ "path": "src/a.ts", "kind": "modified", "placed": "source", "owes": 2 }])
    );
    assert_eq!(fields(&plan["tests"], "path"), ["src/a.test.ts", "src/barrel.test.ts"]);
    let barrel = &plan["tests"][1];
    assert_eq!(barrel["runner"], "vitest");
    assert_eq!(barrel["project"], ".");
    assert_eq!(barrel["reasons"][0]["kind"], "depends");
    assert_eq!(barrel["reasons"][0]["changed"], "src/a.ts");
    assert_eq!(texts(&barrel["reasons"][0]["chain"]), ["src/barrel.test.ts", "src/index.ts", "src/a.ts"]);
    assert_eq!(barrel["receipt"], json!({ "status": "none", "reason": "no-ledger" }));
    assert_eq!(barrel["estimate_ms"], Value::Null);
    assert_eq!(plan["omitted"], 1);
    assert_eq!(plan["inventory"], json!({ "files": SHOP.len(), "tests": 3, "by_runner": { "vitest": 3 } }));
    assert_eq!(plan["not_checked"], json!([]));
}

#[test]
fn nothing_changed_owes_nothing_in_every_format() {
    let shop = Project::shop();
    assert_eq!(shop.json(&["plan"])["mode"], "none");
    for format in ["paths", "argv"] {
        let ran = shop.owed(&["plan", "--format", format]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{format}: {}", ran.err);
    }
    shop.owed(&["plan"]).says(&["0 changes", "0 of 3 test files owed", "Nothing is owed: nothing changed."]);
    let matrix = shop.owed(&["plan", "--shards", "2"]).json();
    assert_eq!(matrix["include"], json!([]));
}

#[test]
fn documentation_owes_nothing_and_says_so_in_one_line() {
    let shop = Project::shop();
    shop.append("README.md", "More.\n");
    assert_eq!(shop.planned(&[]), [""; 0]);
    let ran = shop.owed(&["plan"]);
    ran.says(&["README.md", "inert", "Nothing is owed: only files changed that no test reads"]);
}

#[test]
fn untracked_staged_deleted_and_renamed_files_are_changes() {
    let shop = Project::shop();
    shop.write("src/new.test.ts", "import { test } from \"vitest\";\ntest(\"n\", () => {});\n");
    shop.write("src/staged.ts", "export {};\n");
    shop.git(&["add", "src/staged.ts"]);
    shop.git(&["mv", "src/lone.ts", "src/alone.ts"]);
    shop.remove("src/a.ts");
    let plan = shop.json(&["plan"]);
    let kinds: Vec<(&str, &str)> = plan["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["path"].as_str().unwrap(), change["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("src/a.ts", "deleted"),
            ("src/alone.ts", "renamed"),
            ("src/new.test.ts", "untracked"),
            ("src/staged.ts", "added")
        ]
    );
    assert_eq!(plan["changes"][1]["from"], "src/lone.ts");
    assert_eq!(
        fields(&plan["tests"], "path"),
        ["src/a.test.ts", "src/barrel.test.ts", "src/lone.test.ts", "src/new.test.ts"]
    );
}

#[test]
fn paths_are_exactly_the_change() {
    let shop = Project::shop();
    shop.append("src/a.ts", "// more\n");
    assert_eq!(shop.planned(&["src/lone.ts"]), ["src/lone.test.ts"]);
    let plan = shop.json(&["plan", "src/lone.ts"]);
    assert_eq!(plan["base"], Value::Null);
    assert_eq!(plan["changes"][0]["kind"], "modified");
    // A folder stands for its files; the directory of the call is the one that counts.
    assert_eq!(shop.planned(&["src"]).len(), 3);
    let below = shop.owed_below("src", &["plan", "lone.ts", "--format", "paths"]);
    assert_eq!(below.out, "src/lone.test.ts\n");
    let by_cwd = shop.owed(&["plan", "lone.ts", "--cwd", "src", "--format", "paths"]);
    assert_eq!(by_cwd.out, "src/lone.test.ts\n");
    let absolute = shop.path().join("src/lone.ts");
    assert_eq!(shop.planned(&[absolute.to_str().unwrap()]), ["src/lone.test.ts"]);
}

#[test]
fn paths_carry_the_kind_that_git_knows() {
    let shop = Project::shop();
    shop.write("src/fresh.ts", "export {};\n");
    shop.remove("src/lone.ts");
    let plan = shop.json(&["plan", "src/fresh.ts", "src/lone.ts", "src/a.ts"]);
    assert_eq!(fields(&plan["changes"], "kind"), ["modified", "untracked", "deleted"]);
    assert!(!fields(&plan["problems"], "code").contains(&"path-absent"));
}

#[test]
fn a_path_that_nobody_knows_counts_as_deleted_and_is_said() {
    let shop = Project::shop();
    let plan = shop.json(&["plan", "src/nowhere.ts"]);
    assert_eq!(plan["changes"][0]["kind"], "deleted");
    assert!(fields(&plan["problems"], "code").contains(&"path-absent"));
}

#[test]
fn a_folder_that_is_gone_stands_for_its_files() {
    let shop = Project::shop();
    shop.write("old/gone.ts", "export const g = 1;\n");
    shop.write(
        "src/g.test.ts",
        "import { test } from \"vitest\";\nimport \"../old/gone\";\ntest(\"g\", () => {});\n",
    );
    shop.commit("old");
    shop.remove("old/gone.ts");
    std::fs::remove_dir(shop.path().join("old")).unwrap();
    let plan = shop.json(&["plan", "old"]);
    assert_eq!(fields(&plan["changes"], "path"), ["old/gone.ts"]);
    assert!(fields(&plan["tests"], "path").contains(&"src/g.test.ts"));
}

#[test]
fn without_git_paths_and_all_work() {
    let bare = Project::bare(SHOP);
    assert_eq!(bare.planned(&["src/a.ts"]), ["src/a.test.ts", "src/barrel.test.ts"]);
    assert_eq!(bare.planned(&["--all"]).len(), 3);
    let plan = bare.json(&["plan", "--all"]);
    assert_eq!((&plan["mode"], &plan["base"]), (&json!("widened"), &Value::Null));
    assert_eq!(plan["tests"][0]["reasons"][0]["kind"], "requested");
    assert_eq!(plan["omitted"], 0);
}

#[test]
fn argv_gives_commands_that_run_exactly_the_owed_tests() {
    let shop = Project::shop();
    shop.append("src/lone.ts", "// more\n");
    shop.append("src/lone.ts", "export const z = 1;\n");
    let ran = shop.owed(&["plan", "--format", "argv"]);
    let commands: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(commands.as_array().unwrap().len(), 1, "{commands:#}");
    assert_eq!(commands[0]["runner"], "vitest");
    assert_eq!(commands[0]["cwd"], ".");
    let argv = texts(&commands[0]["argv"]);
    assert!(argv.iter().any(|word| word.ends_with("src/lone.test.ts")), "{argv:?}");
    assert!(!argv.iter().any(|word| word.contains("barrel")), "{argv:?}");
}

#[test]
fn shards_hold_every_owed_test_once_and_are_stable() {
    let shop = Project::shop();
    let first = shop.owed(&["plan", "--all", "--shards", "2"]);
    let matrix = first.json();
    assert_eq!(matrix["schema"], "owed.matrix/1");
    let jobs = matrix["include"].as_array().unwrap();
    let sizes: Vec<usize> = jobs.iter().map(|job| job["tests"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [1, 2]);
    let mut tests: Vec<&str> = jobs.iter().flat_map(|job| texts(&job["tests"])).collect();
    tests.sort_unstable();
    assert_eq!(tests, ["src/a.test.ts", "src/barrel.test.ts", "src/lone.test.ts"]);
    assert!(jobs.iter().all(|job| job["of"] == 2 && !job["run"].as_array().unwrap().is_empty()));
    assert_eq!(first.out, shop.owed(&["plan", "--all", "--shards", "2"]).out);
    // More jobs than tests: none is empty.
    let many = shop.owed(&["plan", "--all", "--shards", "9"]).json();
    assert_eq!(many["include"].as_array().unwrap().len(), 3);
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const more = 2;\n");
    let one = shop.owed(&["plan", "--format", "json", "--threads", "1"]).out;
    for threads in ["2", "7"] {
        assert_eq!(one, shop.owed(&["plan", "--format", "json", "--threads", threads]).out);
    }
}

#[test]
fn strict_opacity_owes_no_less() {
    let shop = Project::shop();
    shop.write(
        "src/clock.test.ts",
        "import { test } from \"vitest\";\ntest(\"c\", () => { if (Date.now() < 0) throw 1; });\n",
    );
    shop.commit("clock");
    shop.append("src/lone.ts", "export const z = 1;\n");
    assert_eq!(shop.planned(&[]), ["src/lone.test.ts"]);
    assert_eq!(shop.planned(&["--opacity", "strict"]), ["src/clock.test.ts", "src/lone.test.ts"]);
}

#[test]
fn a_project_without_known_tests_is_not_taken_for_one_without_debts() {
    let other = Project::new(&[("main.rs", "fn main() {}\n")]);
    other.append("main.rs", "// more\n");
    let plan = other.json(&["plan"]);
    assert_eq!(plan["inventory"]["tests"], 0);
    assert_eq!(fields(&plan["problems"], "code"), ["no-tests"]);
    for format in ["paths", "argv"] {
        let ran = other.owed(&["plan", "--format", format]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""));
        assert!(ran.err.contains("no runner recognised a test file here"), "{}", ran.err);
    }
    other.owed(&["plan"]).says(&["No test files were found among 1 file.", "no-tests", "Next: owed doctor"]);
}
