//! What is compared: bases, the index, commits, parts of a repository.

use serde_json::Value;

use crate::harness::{Project, SHOP, fields};

#[test]
fn a_base_is_compared_from_the_merge_base_on() {
    let shop = Project::shop();
    let fork = shop.git(&["rev-parse", "HEAD"]);
    shop.git(&["checkout", "-q", "-b", "work"]);
    shop.append("src/lone.ts", "export const z = 1;\n");
    shop.commit("mine");
    shop.git(&["checkout", "-q", "main"]);
    shop.append("src/a.ts", "export const y = 1;\n");
    shop.commit("theirs");
    shop.git(&["checkout", "-q", "work"]);
    let plan = shop.json(&["plan", "--base", "main"]);
    assert_eq!(fields(&plan["tests"], "path"), ["src/lone.test.ts"]);
    assert_eq!(plan["base"]["rev"], "main");
    assert_eq!(plan["base"]["merge_base"], fork);
    assert_ne!(plan["base"]["commit"], plan["base"]["merge_base"]);
    shop.owed(&["plan", "--base", "main"]).says(&["working tree against main (merge base"]);
}

#[test]
fn staged_judges_the_index_and_not_the_disk() {
    let shop = Project::shop();
    shop.append("src/lone.ts", "export const z = 1;\n");
    shop.git(&["add", "src/lone.ts"]);
    shop.append("src/a.ts", "export const y = 1;\n");
    assert_eq!(shop.planned(&["--staged"]), ["src/lone.test.ts"]);
    assert_eq!(shop.planned(&[]).len(), 3);
    // What is broken only on the disk does not count.
    shop.write("src/lone.ts", "export const = ;\n");
    assert_eq!(shop.json(&["plan", "--staged"])["not_checked"], serde_json::json!([]));
    shop.owed(&["plan", "--staged"]).says(&["index against HEAD"]);
}

#[test]
fn a_revision_is_compared_with_its_parent() {
    let shop = Project::shop();
    shop.append("src/lone.ts", "export const z = 1;\n");
    shop.commit("lone");
    shop.append("src/a.ts", "export const y = 1;\n");
    assert_eq!(shop.planned(&["--revision", "HEAD"]), ["src/lone.test.ts"]);
    let plan = shop.json(&["plan", "--revision", "HEAD"]);
    assert_eq!(plan["base"]["commit"], shop.git(&["rev-parse", "HEAD^"]));
    let first = shop.json(&["plan", "--revision", "HEAD^"]);
    assert_eq!(first["base"], Value::Null, "the first commit has nothing before it");
    assert_eq!(first["tests"].as_array().unwrap().len(), 3);
}

#[test]
fn a_repository_without_commits_has_everything_to_test() {
    let shop = Project::bare(SHOP);
    shop.git(&["init", "-q"]);
    let plan = shop.json(&["plan"]);
    assert_eq!(plan["base"], Value::Null);
    assert_eq!(plan["tests"].as_array().unwrap().len(), 3);
    shop.owed(&["plan"]).says(&["there is no earlier commit"]);
}

#[test]
fn ignored_files_are_not_considered() {
    let shop = Project::shop();
    shop.write(".gitignore", "gen/\n");
    shop.commit("ignore");
    shop.write("gen/x.test.ts", "import { test } from \"vitest\";\ntest(\"x\", () => {});\n");
    assert_eq!(shop.planned(&["--all"]).len(), 3);
}

#[test]
fn the_root_is_the_top_of_the_repository_from_every_directory() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    let above = shop.json(&["plan"]);
    let below = shop.owed_below("src", &["plan", "--format", "json"]).json();
    assert_eq!(above, below);
}

#[test]
fn a_nearer_owed_toml_makes_a_project_and_changes_outside_are_said() {
    let files: Vec<(String, &str)> =
        SHOP.iter().map(|(path, text)| (format!("packages/shop/{path}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let repository = Project::new(&files);
    repository.write("packages/shop/owed.toml", "");
    repository.write("other.ts", "export {};\n");
    repository.commit("config");
    repository.append("packages/shop/src/lone.ts", "export const z = 1;\n");
    repository.append("other.ts", "export const o = 1;\n");
    let plan = repository.owed_below("packages/shop/src", &["plan", "--format", "json"]).json();
    assert_eq!(fields(&plan["tests"], "path"), ["src/lone.test.ts"]);
    assert_eq!(fields(&plan["changes"], "path"), ["src/lone.ts"]);
    let outside = plan["problems"].as_array().unwrap().iter().find(|p| p["code"] == "outside-root");
    assert!(outside.unwrap()["detail"].as_str().unwrap().starts_with("1 change"), "{plan:#}");
    // The index and commits are cut down to the project, too.
    repository.git(&["add", "-A"]);
    let staged = repository.owed_below("packages/shop", &["plan", "--staged", "--format", "json"]).json();
    assert_eq!(fields(&staged["tests"], "path"), ["src/lone.test.ts"]);
    let up = repository.owed_below("packages/shop", &["plan", "../../other.ts"]);
    up.refused("lies outside of the project", "--cwd");
}

#[test]
fn non_ascii_and_odd_names_are_printed_as_they_are() {
    let shop = Project::shop();
    shop.write("Einkäufe/größe.ts", "export const g = 1;\n");
    shop.write(
        "Einkäufe/über größe.test.ts",
        "import { test } from \"vitest\";\nimport { g } from \"./größe\";\ntest(\"g\", () => { g; });\n",
    );
    shop.commit("umlauts");
    shop.append("Einkäufe/größe.ts", "export const h = 1;\n");
    assert_eq!(shop.planned(&[]), ["Einkäufe/über größe.test.ts"]);
    let ran = shop.owed(&["plan"]);
    ran.says(&[
        "Einkäufe/über größe.test.ts",
        "<- Einkäufe/größe.ts",
        "owed why 'Einkäufe/über größe.test.ts'",
    ]);
}
