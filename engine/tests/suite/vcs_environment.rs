//! The environment that git hands to hooks, and environments that get in the way.
//!
//! A process may not change its environment while it has threads, so that each case
//! runs this binary again, for [`in_another_process`] alone.

use std::process::Command;

use crate::project::{Project, lines, worktree};
use owed_engine::vcs::{Repository, VcsError};

const DIR: &str = "OWED_TEST_DISCOVER";
/// Also says which files there are.
const WITH_FILES: (&str, &str) = ("OWED_TEST_FILES", "1");

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
            let mut answer = format!("{} [{}]", repository.root().display(), changes.unwrap());
            if std::env::var_os(WITH_FILES.0).is_some() {
                answer += &format!("{:?}", repository.files().unwrap());
            }
            answer
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

/// `GIT_PREFIX` means nothing to these questions, but an environment that speaks of a
/// repository has them asked one by one.
const ONE_BY_ONE: (&str, &str) = ("GIT_PREFIX", "");

#[test]
fn one_look_says_what_questions_one_by_one_say() {
    let names = ["a", "b.ts", "dir/c", "dir/sub/d", "e e", "ü"];
    let p = Project::new(&names.map(|name| (name, "1\n2\n3\n4\n5\n")));
    let mut random: u64 = 7;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for step in 0..30 {
        let name = names[usize::try_from(below(6)).unwrap()];
        let there = p.path(name).symlink_metadata().is_ok();
        match below(12) {
            0 if there => p.remove(name),
            1 if there => p.try_git(&["rm", "-q", "--cached", "--ignore-unmatch", "-f", name]),
            2 if there => p.try_git(&["update-index", "--add", "--chmod=+x", name]),
            3 if there => p.try_git(&["mv", "-f", name, "moved"]),
            4 => p.try_git(&["commit", "-q", "--allow-empty", "-m", "step"]),
            5 => p.try_git(&["add", "-A"]),
            6 if there => {
                p.remove(name);
                std::os::unix::fs::symlink("a", p.path(name)).unwrap();
            }
            7 => p.try_git(&["reset", "-q"]),
            8 if !there => p.try_git(&["checkout", "-q", "-f", "HEAD", "--", "."]),
            9 if there => {
                p.try_git(&["add", "-A"]);
                let flag = if below(2) == 0 { "--assume-unchanged" } else { "--no-assume-unchanged" };
                p.try_git(&["update-index", flag, name]);
            }
            _ => {
                let _ = std::fs::remove_file(p.path(name));
                p.write(name, &"line\n".repeat(usize::try_from(below(9)).unwrap()));
            }
        }
        let at_once = seen(&p, "", "", &[WITH_FILES]);
        assert_eq!(at_once, seen(&p, "", "", &[WITH_FILES, ONE_BY_ONE]), "after step {step}");
    }
}
