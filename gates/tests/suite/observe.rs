//! What is seen of a checkout, with real repositories.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use owed_gates::observe::{PARTIAL, Unobserved, WHOLE, incarnation, observe};

/// A repository with one commit.
pub(crate) fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    std::fs::write(dir.path().join(".gitignore"), "ignored\n.owed\n").unwrap();
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "-A"]);
    git(dir.path(), &["commit", "-q", "-m", "start"]);
    dir
}

/// Runs git as nobody in particular.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"])
        .args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a07_the_observation_holds_path_head_and_a_fingerprint_of_the_working_tree() {
    let dir = repository();
    let root = dir.path().canonicalize().unwrap();
    let see = || observe(dir.path()).unwrap();
    let clean = see();
    assert_eq!(clean.path, root.to_str().unwrap());
    assert_eq!(clean.head.as_deref(), Some(git(dir.path(), &["rev-parse", "HEAD"]).as_str()));
    assert!(clean.fingerprint.starts_with(WHOLE) && clean.fingerprint.len() == WHOLE.len() + 64);
    assert_eq!(see(), clean, "looking changes nothing");

    let file = root.join("a.txt");
    let mut seen = vec![clean.fingerprint.clone()];
    let mut differs = |what: &str| {
        let now = see().fingerprint;
        assert!(!seen.contains(&now), "{what}");
        seen.push(now.clone());
        now
    };
    std::fs::write(&file, "two\n").unwrap();
    let edited = differs("an edit");
    git(&root, &["add", "a.txt"]);
    assert_eq!(see().fingerprint, edited, "staging changes no byte of the tree");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    differs("a mode");
    std::fs::write(root.join("new.txt"), "x").unwrap();
    differs("an untracked file");
    std::fs::remove_file(&file).unwrap();
    differs("a deletion");
    std::os::unix::fs::symlink("new.txt", &file).unwrap();
    differs("a link");
    std::fs::remove_file(root.join("new.txt")).unwrap();
    git(&root, &["reset", "-q", "--hard"]);
    assert_eq!(see(), clean, "back at the beginning");
    std::fs::write(root.join("ignored"), "x").unwrap();
    assert_eq!(see(), clean, "what is ignored is not looked at");
    git(&root, &["commit", "-q", "--allow-empty", "-m", "more"]);
    assert_ne!(see().head, clean.head);
}

#[test]
fn files_that_git_was_told_not_to_look_at_are_looked_at() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let dir = repository();
        git(dir.path(), &["update-index", flag, "a.txt"]);
        let before = observe(dir.path()).unwrap();
        std::fs::write(dir.path().join("a.txt"), "hidden\n").unwrap();
        assert_eq!(git(dir.path(), &["status", "--porcelain"]), "");
        assert_ne!(observe(dir.path()).unwrap().fingerprint, before.fingerprint, "{flag}");
    }
}

#[test]
fn a_tree_without_commits_has_no_head_and_a_folder_without_git_no_checkout() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(observe(dir.path()), Err(Unobserved::NoCheckout));
    assert_eq!(observe(&dir.path().join("nowhere")), Err(Unobserved::Path));
    git(dir.path(), &["init", "-q"]);
    std::fs::write(dir.path().join("a"), "1").unwrap();
    let first = observe(dir.path()).unwrap();
    assert_eq!(first.head, None);
    std::fs::write(dir.path().join("a"), "2").unwrap();
    assert_ne!(observe(dir.path()).unwrap().fingerprint, first.fingerprint);
}

#[test]
fn a_name_that_is_no_text_makes_the_fingerprint_a_partial_one() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = repository();
    std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "x").unwrap();
    assert!(observe(dir.path()).unwrap().fingerprint.starts_with(PARTIAL));
}

#[test]
fn a_checkout_that_is_replaced_is_another_incarnation() {
    let dir = repository();
    let before = incarnation(dir.path()).unwrap();
    std::fs::write(dir.path().join("a.txt"), "two\n").unwrap();
    git(dir.path(), &["commit", "-q", "-am", "more"]);
    assert_eq!(incarnation(dir.path()).unwrap(), before, "work in it changes nothing");
    let other = dir.path().join(".git-old");
    std::fs::rename(dir.path().join(".git"), &other).unwrap();
    git(dir.path(), &["init", "-q"]);
    assert_ne!(incarnation(dir.path()).unwrap(), before);
}
