//! The environment that git hands to hooks, and environments that get in the way.
//!
//! A process may not change its environment while it has threads, so that each case
//! runs this binary again, for [`in_another_process`] alone.

use std::process::Command;

use crate::project::{Project, lines, worktree};
use owed_engine::vcs::{Repository, VcsError};

const DIR: &str = "OWED_TEST_DISCOVER";

/// What is found from `dir`, by a process in `cwd` with `environment`.
fn seen(p: &Project, cwd: &str, dir: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "vcs_environment::in_another_process"])
        .current_dir(p.path(cwd))
        .env(DIR, p.path(dir))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let answer = stdout.lines().find_map(|line| line.split_once("ANSWER ").map(|(_, answer)| answer));
    answer.unwrap_or_else(|| panic!("{stdout}")).replace(p.root().to_str().unwrap(), "ROOT")
}

#[test]
fn in_another_process() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let answer = match Repository::discover(dir.as_ref()) {
        Ok(None) => "nothing".to_owned(),
        Err(VcsError::DubiousOwnership { directory }) => format!("dubious {directory}"),
        Err(error) => error.sentence(),
        Ok(Some(repository)) => {
            let changes = repository.changes(&worktree("HEAD")).map(|c| lines(&c).join(","));
            format!("{} [{}]", repository.root().display(), changes.unwrap())
        }
    };
    println!("ANSWER {answer}");
}

#[test]
fn a_hook_names_its_repository() {
    let p = Project::new(&[("dir/a", "1"), ("b", "1")]);
    p.write("b", "2");
    assert_eq!(seen(&p, "", "", &[("GIT_DIR", ".git")]), "ROOT [modified b]");
    assert_eq!(seen(&p, "", "dir", &[("GIT_DIR", ".git")]), "ROOT [modified b]");
    let both = [("GIT_DIR", "../.git"), ("GIT_WORK_TREE", "..")];
    assert_eq!(seen(&p, "dir", "", &both), "ROOT [modified b]");
    // A commit of some files only comes with an index of its own.
    p.git(&["add", "b"]);
    std::fs::copy(p.path(".git/index"), p.path(".git/next")).unwrap();
    p.git(&["reset", "-q"]);
    let other = [("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/next")];
    assert_eq!(seen(&p, "", "dir", &other), "ROOT [modified b]");
}

#[test]
fn another_repository_than_the_hook_s() {
    let p = Project::plain(&[("one/a", "1"), ("two/b", "1"), ("three/c", "1")]);
    for dir in ["one", "two"] {
        p.git(&["init", "-q", dir]);
    }
    assert_eq!(seen(&p, "one", "two", &[("GIT_DIR", ".git")]), "ROOT/two [untracked b]");
    assert_eq!(seen(&p, "one", "three", &[("GIT_DIR", ".git")]), "nothing");
    let missing = seen(&p, "one", "one", &[("GIT_DIR", "none")]);
    assert!(missing.starts_with("the repository is broken: not a git repository"), "{missing}");
}

#[test]
fn a_submodule_is_not_the_hook_s_repository() {
    let library = Project::new(&[("x", "1")]);
    let p = Project::new(&[("a", "1")]);
    p.git(&["submodule", "--quiet", "add", library.root().to_str().unwrap(), "lib"]);
    p.commit();
    p.write("lib/x", "2");
    let hook = [("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")];
    assert_eq!(seen(&p, "", "", &hook), "ROOT [modified lib,modified lib/x]");
}

#[test]
fn environments_in_the_way() {
    let p = Project::new(&[("a", "1"), (":(icase)B", "1")]);
    p.write("a", "2");
    p.write(":(icase)B", "2");
    let contrary = [
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_ICASE_PATHSPECS", "1"),
        ("GIT_PAGER", "false"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.quotePath"),
        ("GIT_CONFIG_VALUE_0", "true"),
    ];
    assert_eq!(seen(&p, "", "", &contrary), "ROOT [modified :(icase)B,modified a]");
}

#[test]
fn another_owner_and_no_git() {
    let p = Project::new(&[("a", "1")]);
    let other = [("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")];
    assert_eq!(seen(&p, "", "", &other), "dubious ROOT");
    assert_eq!(seen(&p, "", "", &[("PATH", "/nowhere")]), "the program `git` was not found");
}
