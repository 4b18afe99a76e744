//! The repository around a directory, found without asking git: where it is plain enough
//! that git could say nothing else.
//!
//! `git rev-parse` answers this in a process of its own, before anything else can begin,
//! which is a third of the time of a small project. What is read here is what git itself
//! goes by: the nearest `.git` above, and the few keys of its configuration that decide
//! what it is. Whatever is not the common case is left to git: an environment that names
//! a repository, a format or an extension, `core.worktree`, a bare repository, another
//! file system on the way, the inside of a `.git`, a submodule.
//!
//! What this module refuses to do: it does not judge a repository that another user owns
//! (`safe.directory` may allow it), and it reads nothing but names and that configuration.

use std::path::{Path, PathBuf};

/// A repository with its working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    /// The top of the working tree, links followed.
    pub(super) root: PathBuf,
    pub(super) is_shallow: bool,
}

/// Environment that says which repository is meant, or how one is looked for.
const NAMING: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_TEST_ASSUME_DIFFERENT_OWNER",
    "GIT_WORK_TREE",
];

/// Whether the environment leaves the choice of the repository to where one stands.
#[expect(clippy::disallowed_methods, reason = "the environment of git is read where git is started")]
pub(super) fn is_unnamed() -> bool {
    NAMING.iter().all(|name| std::env::var_os(name).is_none())
}

/// Whether there is a `git` to ask later; otherwise that is the answer.
#[expect(clippy::disallowed_methods, reason = "the environment of git is read where git is started")]
fn has_git() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_there(&dir.join("git")))
}

/// The plain repository that `dir` lies in; `None` when git has to be asked.
pub(super) fn find(dir: &Path) -> Option<Plain> {
    if !is_unnamed() || !has_git() {
        return None;
    }
    let start = real(dir)?;
    let device = device(&start)?;
    for root in start.ancestors() {
        if self::device(root)? != device {
            return None;
        }
        if !is_there(&root.join(".git")) {
            // What looks like the inside of a repository may be one.
            if is_there(&root.join("HEAD")) {
                return None;
            }
            continue;
        }
        let own = git_dir(root)?;
        let common = match text(&own.join("commondir")) {
            Some(common) => own.join(common.trim_end_matches('\n')),
            None => own.clone(),
        };
        let is_whole = is_there(&own.join("HEAD"))
            && is_there(&common.join("objects"))
            && is_there(&common.join("refs"))
            && is_plain(&text(&common.join("config"))?);
        // Git refuses what another user owns, unless it is told otherwise.
        let is_ours = [root, &own, &root.join(".git")].into_iter().all(is_owned);
        root.to_str()?;
        return (is_whole && is_ours)
            .then(|| Plain { root: root.to_owned(), is_shallow: is_there(&common.join("shallow")) });
    }
    None
}

/// The repository of the working tree at `root`: its `.git`, or what that names.
pub(super) fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    let kind = kind(&dot_git)?;
    if kind.is_dir() {
        return Some(dot_git);
    }
    if !kind.is_file() {
        return None;
    }
    let named = text(&dot_git)?;
    let named = named.strip_prefix("gitdir: ")?.trim_end_matches('\n');
    Some(root.join(named))
}

/// Whether nothing in the repository's own configuration changes what it is.
fn is_plain(config: &str) -> bool {
    let mut is_known_to_have_files = false;
    for line in config.lines() {
        let line = line.trim().to_ascii_lowercase();
        let key = line.split('=').next().unwrap_or_default().trim_end();
        match key {
            "bare" if value(&line) == "false" => is_known_to_have_files = true,
            "repositoryformatversion" if value(&line) == "0" => {}
            _ => {
                let speaks_of = |word| line.contains(word);
                if ["bare", "worktree", "repositoryformat", "extensions"].into_iter().any(speaks_of) {
                    return false;
                }
            }
        }
    }
    is_known_to_have_files
}

fn value(line: &str) -> &str {
    line.split_once('=').map_or("", |(_, value)| value.trim())
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn kind(path: &Path) -> Option<std::fs::FileType> {
    std::fs::symlink_metadata(path).ok().map(|metadata| metadata.file_type())
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether the user of this process owns what lies at `path`.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn is_owned(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_owned(_: &Path) -> bool {
    false
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn device(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|metadata| metadata.dev())
}

#[cfg(not(unix))]
fn device(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_configuration_is_understood() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
        assert!(is_plain(plain));
        assert!(is_plain(&plain.replace("bare = false", "Bare=false")));
        for (other, why) in [
            ("[core]\n\tfilemode = true\n", "nothing is said of files"),
            ("[core]\n\tbare = true\n", "bare"),
            ("[core]\n\tbare = false # or \\\n", "a comment"),
            ("[core] bare = false\n", "on the line of its section"),
            ("[core]\n\tbare = false\n\tworktree = ../x\n", "another working tree"),
            ("[core]\n\tbare = false\n\trepositoryformatversion = 1\n", "another format"),
            ("[core]\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n", "extensions"),
            ("[core]\n\tbare = false\n[core] worktree = x\n", "on the line of its section"),
        ] {
            assert!(!is_plain(other), "{why}");
        }
    }
}
