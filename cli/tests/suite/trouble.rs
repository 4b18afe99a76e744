//! Bad inputs: each is named in every format, none ends in a panic or a clean silence.

use serde_json::Value;

use crate::harness::{Project, SHOP, fields, owed_in};

/// The entry of `not_checked` for `path`.
fn unchecked<'a>(answer: &'a Value, path: &str) -> Option<&'a Value> {
    answer["not_checked"].as_array().unwrap().iter().find(|file| file["path"] == path)
}

#[test]
fn a_syntax_error_is_not_checked_with_its_line_and_its_tests_are_owed() {
    let shop = Project::shop();
    shop.write("src/a.ts", "export const a = 1;\nexport const = ;\n");
    shop.commit("broken");
    shop.append("src/lone.ts", "export const z = 1;\n");
    let plan = shop.json(&["plan"]);
    let broken = unchecked(&plan, "src/a.ts").expect("it is named");
    assert_eq!((broken["reason"].as_str(), &broken["line"]), (Some("unparsable"), &Value::from(2)));
    assert_eq!(fields(&plan["tests"], "path"), ["src/a.test.ts", "src/barrel.test.ts", "src/lone.test.ts"]);
    shop.owed(&["plan"]).says(&["NOT CHECKED", "src/a.ts:2"]);
    for format in ["paths", "argv"] {
        let ran = shop.owed(&["plan", "--format", format]);
        assert!(ran.err.contains("NOT CHECKED: src/a.ts:2 (unparsable)"), "{format}: {}", ran.err);
    }
    let matrix = shop.owed(&["plan", "--shards", "2"]).json();
    assert!(unchecked(&matrix, "src/a.ts").is_some());
    assert!(unchecked(&shop.json(&["graph"]), "src/a.ts").is_some());
    assert!(unchecked(&shop.json(&["why", "src/a.test.ts"]), "src/a.ts").is_some());
    assert!(unchecked(&shop.json(&["doctor"]), "src/a.ts").is_some());
    for format in ["human", "dot", "mermaid", "html"] {
        shop.owed(&["graph", "--format", format]).says(&["NOT CHECKED", "src/a.ts:2"]);
    }
}

#[test]
fn a_missing_tsconfig_is_no_reason_to_fail() {
    let shop = Project::shop();
    shop.remove("tsconfig.json");
    shop.commit("no tsconfig");
    shop.append("src/a.ts", "export const y = 1;\n");
    assert_eq!(shop.planned(&[]), ["src/a.test.ts", "src/barrel.test.ts"]);
    // One that extends what is not there may mean anything.
    shop.write("tsconfig.json", "{ \"extends\": \"./gone.json\" }\n");
    shop.commit("dangling");
    shop.append("src/a.ts", "export const x = 1;\n");
    let tests = shop.planned(&[]);
    assert!(tests.contains(&"src/a.test.ts".to_owned()) && tests.contains(&"src/barrel.test.ts".to_owned()));
}

#[test]
fn a_broken_package_json_widens_and_names_it() {
    let shop = Project::shop();
    shop.write("package.json", "{ \"name\": \n");
    let plan = shop.json(&["plan"]);
    let named = plan.to_string().matches("package.json").count();
    assert!(named >= 2, "more than the change itself names it: {plan:#}");
    assert_ne!(plan["mode"], "none", "{plan:#}");
}

#[test]
fn a_loop_of_links_ends_and_is_named() {
    let shop = Project::shop();
    shop.link("ring.ts", "src/round.ts");
    shop.link("round.ts", "src/ring.ts");
    shop.link("..", "src/up");
    shop.write(
        "src/ring.test.ts",
        "import { test } from \"vitest\";\nimport \"./ring\";\ntest(\"r\", () => {});\n",
    );
    let plan = shop.json(&["plan"]);
    assert!(fields(&plan["tests"], "path").contains(&"src/ring.test.ts"), "{plan:#}");
    let said = plan["problems"].to_string() + &plan["not_checked"].to_string();
    assert!(said.contains("ring"), "{plan:#}");
}

#[test]
fn a_path_outside_is_refused() {
    let shop = Project::shop();
    for path in ["..", "../elsewhere.ts", "/etc/hosts", "src/../../x"] {
        shop.owed(&["plan", path]).refused("lies outside of the project", "relative to --cwd");
    }
}

#[test]
fn an_empty_or_ignored_folder_is_refused() {
    let shop = Project::shop();
    shop.write(".gitignore", "gen/\n");
    shop.write("gen/x.ts", "export {};\n");
    shop.owed(&["plan", "gen"]).refused("no file in gen is considered", "ignored");
}

#[test]
fn outside_of_a_repository_the_ways_out_are_named() {
    let bare = Project::bare(SHOP);
    bare.owed(&["plan"]).refused("is in no git repository", "owed plan --all");
    bare.owed(&["plan", "--base", "HEAD", "src/a.ts"]).refused("is in no git repository", "next:");
    bare.owed(&["plan", "--staged"]).refused("no index", "--all");
    bare.owed(&["why", "src/a.test.ts"]).refused("is in no git repository", "next:");
    assert_eq!(bare.owed(&["why", "src/a.test.ts", "--changed", "src/a.ts"]).code, 0);
    assert_eq!(bare.owed(&["graph"]).code, 0);
    assert_eq!(bare.owed(&["doctor"]).code, 0);
}

#[test]
fn an_unknown_revision_is_refused_with_names_that_are_near() {
    let shop = Project::shop();
    shop.owed(&["plan", "--base", "mainn"]).refused("`mainn` names no commit", "main");
    shop.owed(&["plan", "--revision", "nope"]).refused("`nope` names no commit", "next:");
    shop.owed(&["plan", "--base", "--help-me"]).refused("", "");
    shop.owed(&["plan", "--base", "nope", "src/a.ts"]).refused("`nope` names no commit", "next:");
}

#[test]
fn a_file_that_vanishes_is_a_deletion() {
    let shop = Project::shop();
    shop.remove("src/lone.ts");
    let plan = shop.json(&["plan"]);
    assert_eq!(fields(&plan["changes"], "kind"), ["deleted"]);
    assert_eq!(fields(&plan["tests"], "path"), ["src/lone.test.ts"]);
    // A test that is gone is owed by nobody, and no command names it.
    shop.remove("src/lone.test.ts");
    let ran = shop.owed(&["plan", "--format", "argv"]);
    assert!(!ran.out.contains("lone.test.ts"), "{}", ran.out);
}

#[test]
fn unreadable_binary_large_and_foreign_files_are_named() {
    let shop = Project::shop();
    shop.write("owed.toml", "[limits]\nfile_size = \"1 kB\"\n");
    shop.write("src/large.ts", &format!("export const x = \"{}\";\n", "x".repeat(2000)));
    shop.write_bytes("src/binary.ts", b"export const x = \"\0\";\n");
    shop.write_bytes("src/latin.ts", b"export const x = \"caf\xe9\";\n");
    shop.write(
        "src/a.ts",
        "import \"./large\";\nimport \"./binary\";\nimport \"./latin\";\nexport const a = 1;\n",
    );
    let plan = shop.json(&["plan"]);
    for (path, reason) in
        [("src/large.ts", "too-large"), ("src/binary.ts", "binary"), ("src/latin.ts", "not-utf8")]
    {
        let file = unchecked(&plan, path).unwrap_or_else(|| panic!("{path} is not named: {plan:#}"));
        assert_eq!(file["reason"], reason);
    }
}

#[test]
fn names_that_are_no_utf_8_are_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let shop = Project::shop();
    let name = std::ffi::OsStr::from_bytes(b"src/caf\xe9.ts");
    if std::fs::write(shop.path().join(name), "export {};\n").is_err() {
        return; // Not every file system holds such a name.
    }
    let plan = shop.json(&["plan"]);
    assert!(plan["not_checked"].to_string().contains("caf"), "{plan:#}");
    let output = std::process::Command::new(crate::harness::binary())
        .arg("plan")
        .arg(std::ffi::OsStr::from_bytes(b"src/caf\xe9.ts"))
        .current_dir(shop.path())
        .output()
        .unwrap();
    crate::harness::Ran::from(output).refused("is no UTF-8", "rename it");
}

#[test]
fn a_working_directory_that_is_none_is_refused() {
    let shop = Project::shop();
    shop.owed(&["plan", "--cwd", "nowhere"]).refused("is no directory", "--cwd");
    shop.owed(&["plan", "--cwd", "package.json"]).refused("is no directory", "--cwd");
}

#[test]
fn a_missing_git_is_said_and_paths_still_work() {
    let shop = Project::shop();
    let empty = tempfile::tempdir().unwrap();
    let path = [("PATH", empty.path().to_str().unwrap())];
    owed_in(shop.path(), &["plan"], &path).refused("`git` was not found", "install git");
    let ran = owed_in(shop.path(), &["plan", "src/lone.ts", "--format", "json"], &path);
    let plan = ran.json();
    assert_eq!(fields(&plan["tests"], "path"), ["src/lone.test.ts"]);
    assert!(fields(&plan["problems"], "code").contains(&"git-unavailable"));
    // The project is not smaller without git: the test lies outside of where we are.
    shop.write("lib/inner/x.ts", "export {};\n");
    shop.write(
        "x.test.ts",
        "import { test } from \"vitest\";\nimport \"./lib/inner/x\";\ntest(\"x\", () => {});\n",
    );
    let below = owed_in(&shop.path().join("lib/inner"), &["plan", "x.ts", "--format", "paths"], &path);
    assert_eq!(below.out, "x.test.ts\n");
    assert_eq!(owed_in(shop.path(), &["doctor"], &path).code, 2);
    owed_in(shop.path(), &["demo"], &path).refused("`git` cannot be started", "install git");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let shop = Project::shop();
    let mut child = Command::new(crate::harness::binary())
        .args(["graph", "--format", "html"])
        .current_dir(shop.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn static_runs_no_configuration() {
    let shop = Project::shop();
    // A runner that would leave a trace if it were loaded.
    shop.write(
        "node_modules/vitest/package.json",
        "{ \"name\": \"vitest\", \"version\": \"3.2.4\", \"type\": \"module\", \"exports\": { \".\": \"./i.js\", \"./*\": \"./i.js\" } }",
    );
    shop.write(
        "node_modules/vitest/i.js",
        "import { writeFileSync } from \"node:fs\";\nwriteFileSync(\"loaded\", \"\");\nexport const defineConfig = (x) => x;\n",
    );
    shop.write(".gitignore", "node_modules\n");
    shop.write(
        "vitest.config.ts",
        "import { hostname } from \"node:os\";\nexport default { test: { include: [hostname() + \"/**\"] } };\n",
    );
    shop.commit("computed configuration");
    let plan = shop.json(&["plan", "src/lone.ts", "--static"]);
    assert!(!shop.path().join("loaded").exists());
    // What is not known owes all its tests.
    assert_eq!(plan["tests"].as_array().unwrap().len(), 3, "{plan:#}");
}

#[test]
fn contents_that_the_repository_lacks_widen_and_are_named() {
    let shop = Project::shop();
    shop.write("src/long.ts", &"export const long = 1;\n".repeat(9));
    shop.commit("long");
    let lose = |name: &str| {
        let id = shop.git(&["rev-parse", name]);
        shop.remove(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    };
    // A rename that git cannot find, for the old side is gone.
    shop.git(&["mv", "src/long.ts", "src/longer.ts"]);
    shop.append("src/longer.ts", "export const more = 1;\n");
    lose("HEAD:src/long.ts");
    let plan = shop.json(&["plan"]);
    assert_eq!(fields(&plan["changes"], "kind"), ["deleted", "added"]);
    assert_eq!(fields(&plan["problems"], "code"), ["renames-not-detected"]);
    // A manifest of which nobody knows what it said.
    shop.append("package.json", "\n");
    lose("HEAD:package.json");
    let plan = shop.json(&["plan"]);
    assert_eq!(plan["mode"], "widened");
    let widened = &plan["widened"][0];
    assert_eq!(
        (&widened["reason"], &widened["path"]),
        (&"manifest-unreadable".into(), &"package.json".into())
    );
    assert_eq!(plan["tests"].as_array().unwrap().len(), 3);
    // A source file of the judged commit itself.
    shop.commit("second");
    lose("HEAD:src/a.ts");
    let plan = shop.json(&["plan", "--revision", "HEAD"]);
    assert_eq!(unchecked(&plan, "src/a.ts").expect("it is named")["reason"], "unreadable");
}

#[test]
fn a_cycle_ends() {
    let shop = Project::shop();
    shop.write("src/a.ts", "export * from \"./index\";\nexport const a = 1;\n");
    shop.write("src/index.ts", "export * from \"./a\";\nexport * from \"./index\";\n");
    shop.commit("cycle");
    shop.append("src/index.ts", "export const y = 1;\n");
    assert_eq!(shop.planned(&[]), ["src/a.test.ts", "src/barrel.test.ts"]);
    shop.owed(&["why", "src/a.test.ts"]).says(&["src/index.ts"]);
}

/// A configuration that only running it can settle, and a vitest that does `what`.
fn loads(what: &str) -> Project {
    let shop = Project::shop();
    shop.write(
        "node_modules/vitest/package.json",
        "{ \"name\": \"vitest\", \"version\": \"3.2.4\", \"type\": \"module\", \"exports\": { \".\": \"./i.js\", \"./*\": \"./i.js\" } }",
    );
    shop.write("node_modules/vitest/i.js", what);
    shop.write(".gitignore", "node_modules\n");
    shop.write(
        "vitest.config.ts",
        "import { hostname } from \"node:os\";\nexport default { test: { include: [hostname() + \"/**\"] } };\n",
    );
    shop.commit("computed configuration");
    shop.append("src/lone.ts", "export const z = 1;\n");
    shop
}

#[test]
fn a_configuration_that_throws_or_never_ends_owes_its_tests() {
    for what in [
        "throw new Error(\"no such preset\");",
        "await new Promise(() => {});",
        "process.exit(0);",
        "console.log(\"{\"); process.kill(process.pid, \"SIGKILL\");",
    ] {
        let shop = loads(what);
        let plan = shop.json(&["plan"]);
        assert_eq!(plan["tests"].as_array().unwrap().len(), 3, "{what}: {plan:#}");
        assert!(plan.to_string().contains("vitest.config.ts"), "{what}: {plan:#}");
        shop.owed(&["plan"]).says(&["vitest.config.ts"]);
    }
}

#[test]
fn files_that_vanish_while_they_are_read_are_no_panic() {
    let shop = loads(
        "import { rmSync } from \"node:fs\";\n\
         for (const file of [\"src/a.ts\", \"src/lone.ts\", \"tsconfig.json\", \"src/lone.test.ts\"]) rmSync(file);\n\
         throw new Error(\"gone\");\n",
    );
    let plan = shop.json(&["plan"]);
    assert!(!shop.path().join("src/a.ts").exists(), "the configuration was loaded");
    let tests = fields(&plan["tests"], "path");
    assert!(tests.contains(&"src/a.test.ts") && tests.contains(&"src/barrel.test.ts"), "{plan:#}");
}
