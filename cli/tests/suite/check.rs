//! `owed check`: exit codes, the debt file, the base, coverage, and what people see.

use serde_json::Value;

use crate::harness::{Project, fields};
use crate::schema;

/// A function of `n` statements.
pub(crate) fn function(name: &str, n: usize) -> String {
    let body: String = (0..n).map(|at| format!("  list.push({at});\n")).collect();
    format!("export function {name}(list) {{\n{body}  return list;\n}}\n")
}

/// A project with one function over the cap of 40 and one within it.
pub(crate) fn project() -> Project {
    Project::new(&[
        ("owed.toml", "cap = 40\n"),
        ("src/large.ts", &function("large", 6)),
        ("src/small.ts", &function("small", 1)),
        ("src/large.test.ts", &function("tested", 9)),
        ("README.md", "# x\n"),
    ])
}

/// The JSON answer, whatever the exit code is.
pub(crate) fn answer(project: &Project, arguments: &[&str]) -> (i32, Value) {
    let ran = project.owed(&[&["check", "--format", "json"], arguments].concat());
    let answer: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    schema::check("owed.check/1", &answer);
    (ran.code, answer)
}

#[test]
fn an_inventory_exits_with_0_and_a_gate_does_not() {
    let project = project();
    let (code, found) = answer(&project, &[]);
    assert_eq!(code, 0);
    assert_eq!(fields(&found["functions"], "name"), ["large"]);
    assert_eq!(found["functions"][0]["debt"]["status"], "new");
    assert_eq!(found["files"]["checked"], 2);
    assert_eq!(project.owed(&["check", "--gate"]).code, 1);
}

#[test]
fn the_debt_file_starts_lowers_and_never_raises_by_itself() {
    let project = project();
    let ran = project.owed(&["check", "--update-debt"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("owed.debt.toml written: 1 function"), "{}", ran.err);
    assert_eq!(project.owed(&["check", "--gate"]).code, 0);
    let debt = || std::fs::read_to_string(project.path().join("owed.debt.toml")).unwrap();
    let first = debt();
    // Nothing changed: the bytes stay.
    assert!(project.owed(&["check", "--update-debt"]).err.contains("unchanged"));
    assert_eq!(debt(), first);
    // Growth breaks the gate, and is not written without a reason.
    project.write("src/large.ts", &function("large", 7));
    assert_eq!(project.owed(&["check", "--gate"]).code, 1);
    let ran = project.owed(&["check", "--update-debt"]);
    assert!(ran.err.contains("1 left out") && ran.err.contains("--accept-growth"), "{}", ran.err);
    assert_eq!(debt(), first);
    let ran = project.owed(&["check", "--update-debt", "--accept-growth", "one more format"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(debt().contains("reason = \"one more format\""), "{}", debt());
    assert_eq!(project.owed(&["check", "--gate"]).code, 0);
    // What shrinks is lowered; then the old size is a growth.
    project.write("src/large.ts", &function("large", 5));
    assert_eq!(project.owed(&["check", "--update-debt"]).code, 0);
    project.write("src/large.ts", &function("large", 6));
    assert_eq!(project.owed(&["check", "--gate"]).code, 1);
    // What is paid is stale, and pruned.
    project.write("src/large.ts", &function("large", 1));
    let (_, found) = answer(&project, &[]);
    assert_eq!(
        (fields(&found["debt"]["stale"], "name"), &found["debt"]["stale"][0]["why"]),
        (vec!["large"], &"paid".into())
    );
    project.owed(&["check", "--update-debt"]);
    assert!(!debt().contains("large"), "{}", debt());
}

#[test]
fn a_base_is_a_measure_without_any_file() {
    let project = project();
    project.owed(&["check", "--gate", "--base", "HEAD"]).says(&["The gate is passed"]);
    project.write("src/large.ts", &function("large", 7));
    let (code, found) = answer(&project, &["--gate", "--base", "HEAD"]);
    assert_eq!((code, &found["functions"][0]["debt"]["status"]), (1, &"grown".into()));
    project.write("src/large.ts", &function("large", 5));
    assert_eq!(answer(&project, &["--gate", "--base", "HEAD"]).0, 0);
    // What was in the base and moves is no new debt.
    project.remove("src/large.ts");
    project.write("src/moved.ts", &function("large", 6));
    let (code, found) = answer(&project, &["--gate", "--base", "HEAD"]);
    assert_eq!((code, &found["functions"][0]["debt"]["was"]["path"]), (0, &"src/large.ts".into()));
    project.owed(&["check", "--base", "nonsense"]).refused("nonsense", "next:");
    Project::bare(&[("a.ts", "")]).owed(&["check", "--base", "HEAD"]).refused("no git repository", "--base");
}

#[test]
fn the_index_is_judged_by_its_bytes() {
    let project = project();
    project.write("src/small.ts", &function("small", 9));
    project.git(&["add", "-A"]);
    project.write("src/small.ts", &function("small", 1));
    let status = |arguments: &[&str]| answer(&project, arguments).0;
    assert_eq!(status(&["--gate", "--base", "HEAD"]), 0);
    assert_eq!(status(&["--gate", "--base", "HEAD", "--staged"]), 1);
    assert_eq!(status(&["--gate", "--base", "HEAD", "--revision", "HEAD"]), 0);
}

#[test]
fn a_broken_copy_is_named_and_the_gate_cannot_vouch() {
    let project = project();
    project.owed(&["check", "--update-debt"]);
    project.write("src/copy.ts", function("large", 6).trim_end().trim_end_matches('}'));
    let ran = project.owed(&["check", "--gate", "--across", "files"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    ran.says(&["NOT CHECKED (1)", "src/copy.ts:", "it does not parse", "The gate cannot vouch"]);
    // A broken ratchet outweighs it.
    project.write("src/large.ts", &function("large", 9));
    assert_eq!(project.owed(&["check", "--gate"]).code, 1);
}

#[test]
fn a_gate_that_looked_at_nothing_cannot_vouch() {
    let project = Project::new(&[("dist/a.js", "x;\n"), ("README.md", "# x\n")]);
    let ran = project.owed(&["check", "--gate"]);
    assert_eq!(ran.code, 3);
    ran.says(&["nothing was checked", "excluded: generated 1, not-source 1"]);
    project.owed(&["check"]).says(&["Nothing was checked"]);
}

#[test]
fn other_languages_stop_a_gate_unless_they_are_allowed_to_be_there() {
    let project = Project::new(&[("a.ts", "export const a = 1;\n"), ("b.rb", "x\n")]);
    let ran = project.owed(&["check", "--gate"]);
    assert_eq!(ran.code, 3);
    ran.says(&[
        ".rb 1",
        "The gate cannot vouch: 1 file in scope of languages that owed does not measure",
        "--allow-unsupported lets the gate pass without it",
    ]);
    assert_eq!(project.owed(&["check", "--gate", "--allow-unsupported"]).code, 0);
    // It lifts nothing else.
    project.write("broken.ts", "export const = ;\n");
    project.owed(&["check", "--gate"]).says(&["2 files in scope NOT CHECKED", "without the 1 of languages"]);
    let ran = project.owed(&["check", "--gate", "--allow-unsupported"]);
    assert_eq!(ran.code, 3);
    ran.says(&["The gate cannot vouch: 1 file in scope NOT CHECKED", "mend what stops each"]);
}

#[test]
fn named_paths_say_what_became_of_them() {
    let project = project();
    project.write(".gitignore", "out/\n");
    project.write("out/x.ts", "x;\n");
    let (_, found) = answer(&project, &["src", "src/large.test.ts", "out/x.ts"]);
    let named = &found["files"]["named"];
    assert_eq!(fields(named, "path"), ["out/x.ts", "src", "src/large.test.ts"]);
    assert_eq!(named[0]["excluded"][0]["rule"], "ignored");
    assert_eq!((&named[1]["checked"], &named[1]["excluded"][0]["rule"]), (&2.into(), &"test".into()));
    assert_eq!(named[2]["excluded"][0]["rule"], "test");
    project.owed(&["check", "src/large.test.ts"]).says(&["src/large.test.ts: excluded by test 1"]);
    // A hook may hand over files that are none of our business.
    assert_eq!(project.owed(&["check", "--gate", "README.md"]).code, 0);
    project.owed(&["check", "src/nothing.ts"]).refused("nothing is at src/nothing.ts", "spelling");
    let below = project.owed_below("src", &["check", "large.ts"]);
    below.says(&["src/large.ts: 1 file checked"]);
}

#[test]
fn caps_come_from_the_configuration_and_the_command_line() {
    let project = project();
    assert!(answer(&project, &["--cap", "100"]).1["functions"].as_array().unwrap().is_empty());
    project.write("owed.toml", "cap = 400\n[[caps]]\npaths = [\"src/**\"]\ncap = 10\n");
    assert_eq!(fields(&answer(&project, &[]).1["functions"], "name"), ["large", "small"]);
    let (_, all) = answer(&project, &["--all-functions", "--only", "tokens"]);
    assert_eq!(all["functions"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_no_debt_file_is_refused_with_its_line() {
    let project = project();
    project.owed(&["check", "--update-debt"]);
    project.append("owed.debt.toml", "<<<<<<< ours\n");
    project.owed(&["check"]).refused("owed.debt.toml:", "git checkout");
    project.write("owed.debt.toml", "");
    project.owed(&["check"]).refused("owed.debt.toml:1", "next:");
    project.owed(&["check", "--accept-growth", "x"]).refused("--update-debt", "");
    project.owed(&["check", "--update-debt", "--gate"]).refused("cannot be used with", "");
}

#[test]
fn coverage_can_only_lower_what_it_knows() {
    let project = Project::new(&[(
        "src/a.py",
        "def known(a):\n    if a:\n        return 1\n    return 2\n\n\ndef unknown(a):\n    if a:\n        return 1\n    return 2\n",
    )]);
    project.write("cov/lcov.info", "SF:src/a.py\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,1\nend_of_record\n");
    let (_, found) = answer(&project, &["--only", "complexity", "--coverage", "cov/lcov.info"]);
    let crap = |at: usize| &found["functions"][at]["complexity"]["crap"];
    assert_eq!((&crap(0)["score"], &crap(0)["coverage"]), (&2.0.into(), &1.0.into()));
    assert_eq!((&crap(1)["score"], &crap(1)["coverage"]), (&6.0.into(), &Value::Null));
    project.write("cov/bad.info", "nonsense\n");
    project.owed(&["check", "--coverage", "cov/bad.info"]).refused("cov/bad.info:1:", "lcov.info");
    project
        .owed(&["check", "--coverage", "cov/none.info"])
        .refused("there is no cov/none.info", "coverage first");
}

#[test]
fn repeated_implementations_are_shown_side_by_side_and_once() {
    let project = Project::new(&[
        ("src/a.ts", &function("loadUser", 5)),
        ("src/b.ts", &function("loadOrder", 5).replace("push(4)", "push(44)").replace("list", "orders")),
    ]);
    project.owed(&["check"]).says(&["No implementation is repeated inside one file", "--across files"]);
    let ran = project.owed(&["check", "--across", "files"]);
    ran.says(&[
        "2 places, 6 statements, same implementation",
        "src/a.ts:1-8 loadUser",
        "≠",
        "literal 5: 4 | 44",
        "`load(…, value1)`",
    ]);
    // Repeated implementations never block by default.
    assert_eq!(project.owed(&["check", "--gate", "--across", "files"]).code, 0);
    assert_eq!(project.owed(&["check", "--gate", "--gate-repeated", "--across", "files"]).code, 1);
    project.owed(&["check", "--update-debt", "--across", "files"]);
    project
        .owed(&["check", "--across", "files"])
        .says(&["No other implementation", "1 group known and not shown"]);
    assert_eq!(project.owed(&["check", "--gate", "--gate-repeated", "--across", "files"]).code, 0);
    let (_, found) = answer(&project, &["--across", "files"]);
    assert_eq!(found["repeated"][0]["status"], "known");
    // A third copy of what was accepted is new.
    project.write("src/c.ts", &function("loadThird", 5));
    assert_eq!(project.owed(&["check", "--gate", "--gate-repeated", "--across", "files"]).code, 1);
}

#[test]
fn a_copy_in_a_linked_file_is_the_file_itself() {
    let project = Project::new(&[("src/a.ts", &function("load", 5))]);
    project.link("a.ts", "src/b.ts");
    project.git(&["add", "-A"]);
    let (_, found) = answer(&project, &["--across", "files"]);
    assert!(found["repeated"].as_array().unwrap().is_empty());
    assert_eq!(found["files"]["excluded"][0]["rule"], "link");
}
