//! Puts the files of a construct on disk, and the commits of its change into git.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::construct::{Construct, Files};

/// What a project of these constructs never commits.
const IGNORED: &str = "node_modules\n__pycache__\n.venv\n";

/// Writes files and links; a link whose place is taken is replaced.
pub(super) fn write<'a>(
    dir: &Path,
    files: &Files,
    links: impl IntoIterator<Item = (&'a String, &'a String)>,
) {
    for (path, bytes) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    for (path, target) in links {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).unwrap();
        }
        symlink(target, &path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    }
}

/// Links the installed `packages` into `node_modules`, beside what the construct has there.
pub(super) fn link_packages(dir: &Path, modules: &Path, packages: &[&str]) {
    for package in packages {
        let at = dir.join("node_modules").join(package);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        if at.symlink_metadata().is_err() {
            symlink(modules.join(package), at).unwrap();
        }
    }
}

/// Makes a repository whose last commit is the change of the construct.
pub(super) fn commit(dir: &Path, construct: &Construct) {
    write(dir, &construct.base, &construct.base_links);
    if !construct.base.contains_key(".gitignore") {
        fs::write(dir.join(".gitignore"), IGNORED).unwrap();
    }
    git(dir, &["init", "-q"]);
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", "base"]);
    for path in construct.base.keys().filter(|path| !construct.head.contains_key(*path)) {
        fs::remove_file(dir.join(path)).unwrap();
    }
    for path in construct.base_links.keys().filter(|path| !construct.head_links.contains_key(*path)) {
        fs::remove_file(dir.join(path)).unwrap();
    }
    write(dir, &construct.head, &construct.head_links);
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "--allow-empty", "-m", "change"]);
}

fn git(dir: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgSign=false"])
        .args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
