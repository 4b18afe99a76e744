//! Help, versions, completions, and the codes of usage.

use std::path::Path;

use crate::harness::{Project, owed_in};

const COMMANDS: &[&str] = &[
    "plan",
    "why",
    "run",
    "status",
    "receipts",
    "audit",
    "record",
    "opacity",
    "check",
    "graph",
    "init",
    "doctor",
    "schema",
    "completions",
    "demo",
];

#[test]
fn help_names_what_is_built_and_nothing_else() {
    let help = owed_in(Path::new("."), &["--help"], &[]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    help.says(COMMANDS).says(&["Exit codes:", "75", "input-opaque", "companion", "NOT CHECKED"]);
    let names: Vec<&str> = help
        .out
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names, COMMANDS);
}

#[test]
fn every_command_has_examples() {
    for command in COMMANDS {
        owed_in(Path::new("."), &[command, "--help"], &[]).says(&["Examples:", &format!("owed {command}")]);
    }
}

#[test]
fn wrong_usage_is_2_and_answers_are_0() {
    let code = |arguments: &[&str]| owed_in(Path::new("."), arguments, &[]).code;
    assert_eq!(code(&["--version"]), 0);
    for wrong in [
        &["nonsense"][..],
        &[],
        &["plan", "--nonsense"],
        &["plan", "--staged", "--revision", "HEAD"],
        &["plan", "--all", "x"],
        &["plan", "--shards", "0"],
        &["plan", "--threads", "0"],
        &["plan", "--format", "dot"],
        &["why"],
        &["graph", "--format", "argv"],
        &["doctor", "--format", "html"],
        &["schema", "nonsense"],
    ] {
        assert_eq!(code(wrong), 2, "{wrong:?}");
    }
    let shop = Project::shop();
    shop.owed(&["why", "src/a.test.ts", "--format", "paths"])
        .refused("owed why has no format `paths`", "--format human");
    shop.owed(&["plan", "--shards", "2", "--format", "argv"])
        .refused("--shards prints a JSON matrix", "leave out");
}

#[test]
fn completions_are_made_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = owed_in(Path::new("."), &["completions", shell], &[]);
        assert_eq!(ran.code, 0);
        ran.says(&["owed", "precision"]);
    }
}
