//! `owed doctor` and `owed init`.

use crate::harness::{Project, SHOP, fields};

#[test]
fn the_state_of_a_project_is_said() {
    let shop = Project::shop();
    let answer = shop.json(&["doctor"]);
    assert_eq!(fields(&answer["tools"], "name"), ["git", "node", "npm", "python3"]);
    assert!(answer["tools"][0]["version"].as_str().unwrap().starts_with(char::is_numeric));
    assert_eq!(answer["projects"][0]["runner"], "vitest");
    assert_eq!(answer["projects"][0]["tests"], 3);
    assert_eq!(answer["projects"][0]["installed"], false);
    assert_eq!(answer["tests"], 3);
    shop.owed(&["doctor"]).says(&[
        "Tools",
        "ok git",
        "git repository at commit",
        "vitest in .: 3 test files",
    ]);
}

#[test]
fn what_costs_precision_is_named_with_its_place() {
    let shop = Project::shop();
    shop.write("src/a.ts", "export const a = 1;\nexport const load = (name: string) => import(name);\n");
    shop.commit("computed");
    let answer = shop.json(&["doctor"]);
    let cost = &answer["costs"][0];
    assert_eq!(cost["tests"], 2, "{answer:#}");
    assert!(cost["detail"].as_str().unwrap().contains("src/a.ts:2"), "{answer:#}");
}

#[test]
fn outside_of_git_it_says_what_still_works() {
    let bare = Project::bare(SHOP);
    bare.owed(&["doctor"]).says(&["this is no git repository", "--all"]);
}

#[test]
fn a_shallow_clone_is_said() {
    let shop = Project::shop();
    shop.append("src/a.ts", "export const y = 1;\n");
    shop.commit("more");
    let into = tempfile::tempdir().unwrap();
    let clone = into.path().join("clone");
    let url = format!("file://{}", shop.path().display());
    shop.git(&["clone", "-q", "--depth", "1", &url, clone.to_str().unwrap()]);
    crate::harness::owed_in(&clone, &["doctor"], &[]).says(&["shallow"]);
    crate::harness::owed_in(&clone, &["plan", "--base", "HEAD~1"], &[]).refused("shallow", "git fetch");
}

#[test]
fn init_writes_a_configuration_once() {
    let shop = Project::shop();
    let ran = shop.owed(&["init"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.says(&["owed.toml", "Detected:", "javascript", "vitest in .: 3 test files", "Next: owed doctor"]);
    shop.owed(&["init"]).refused("there is a configuration already: owed.toml", "never overwrites");
    // It is valid as written, and changes nothing but itself.
    assert_eq!(shop.planned(&["--all"]).len(), 3);
}

#[test]
fn init_below_the_top_makes_a_project_of_its_own() {
    let shop = Project::shop();
    shop.owed(&["init", "--cwd", "src"]).says(&["This directory (src) is now a project of its own"]);
    assert!(shop.path().join("src/owed.toml").is_file());
}
