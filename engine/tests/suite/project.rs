//! A project in a temporary directory, with a real git.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use owed_engine::change::ChangeKind;
use owed_engine::read::DiskTree;
use owed_engine::vcs::{Base, Changes, Repository};
use tempfile::TempDir;

pub(crate) struct Project {
    dir: TempDir,
    root: PathBuf,
}

impl Project {
    /// A directory that is no repository.
    pub(crate) fn plain(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = Self { dir, root };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A repository without a commit.
    pub(crate) fn unborn(files: &[(&str, &str)]) -> Self {
        let project = Self::plain(files);
        project.git(&["init", "-q", "-b", "main"]);
        project
    }

    /// A repository with `files` in its first commit.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self::unborn(files);
        project.commit();
        project
    }

    /// A clone of this one, as another project.
    pub(crate) fn cloned(&self, arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("clone");
        let url = format!("file://{}", self.root.display());
        let target = root.to_str().unwrap().to_owned();
        self.git(&[&["clone", "-q"], arguments, &[&url, &target]].concat());
        Self { dir, root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.write_bytes(path.as_bytes(), text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, path: &[u8], bytes: &[u8]) {
        let path = self.root.join(OsStr::from_bytes(path));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    /// Adds everything and commits it; gives the commit.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git, without the configuration of whoever runs the tests.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(if self.root.exists() { &self.root } else { self.dir.path() })
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
            .args(["-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // The tests may run in a hook.
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        assert!(output.status.success(), "git {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The same, whether or not it can be done.
    pub(crate) fn try_git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(&self.root)
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "gc.auto=0"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .output();
        output.unwrap();
    }

    /// Removes the object that `name` names from the repository.
    pub(crate) fn lose(&self, name: &str) {
        let id = self.git(&["rev-parse", name]);
        std::fs::remove_file(self.path(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::discover(&self.root).unwrap().unwrap()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        self.repository().files().unwrap().files
    }

    pub(crate) fn tree(&self) -> DiskTree {
        DiskTree::new(&self.root, self.repository().files().unwrap())
    }

    pub(crate) fn changes(&self, base: &Base) -> Changes {
        self.repository().changes(base).unwrap()
    }

    /// The changes of the working tree against `rev`, one line each.
    pub(crate) fn changed(&self, rev: &str) -> Vec<String> {
        lines(&self.changes(&worktree(rev)))
    }

    /// The changes of the index against `HEAD`, one line each.
    pub(crate) fn staged(&self) -> Vec<String> {
        lines(&self.changes(&Base::Staged { rev: "HEAD".to_owned() }))
    }
}

pub(crate) fn worktree(rev: &str) -> Base {
    Base::Worktree { rev: rev.to_owned() }
}

/// `modified a.ts`, `renamed b.ts < a.ts`.
pub(crate) fn lines(changes: &Changes) -> Vec<String> {
    let line = |change: &owed_engine::change::Change| match &change.kind {
        ChangeKind::Renamed { from } => format!("renamed {} < {from}", change.path),
        kind => format!("{} {}", kind.word(), change.path),
    };
    changes.changes.iter().map(line).collect()
}
