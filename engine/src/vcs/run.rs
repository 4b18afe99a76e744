//! Running git: the environment it runs in, and reading what it prints.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::VcsError;

/// Environment that binds a git process to one repository. A git process for another
/// repository (a submodule) must not inherit it: inside a hook it names the outer one.
const LOCAL: [&str; 13] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Environment that would contradict what is asked.
const CONTRARY: [&str; 4] =
    ["GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NOGLOB_PATHSPECS"];

/// Settings that have git look at each file, with all that the disk says of it: what a
/// monitor, a cache of directories, or half of a file's state would have it believe.
const BY_LOOKING: [&str; 5] = [
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.checkStat=default",
    "core.trustctime=true",
    "diff.autoRefreshIndex=true",
];

/// A directory to run git in.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    dir: PathBuf,
    /// Relative `GIT_DIR` and the like, made absolute: git reads them from the directory
    /// it starts in, which is not the one we were started in.
    pinned: Vec<(&'static str, OsString)>,
    is_foreign: bool,
}

/// What one git process printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) command: &'static str,
    pub(crate) success: bool,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Git {
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), pinned: pinned(), is_foreign: false }
    }

    /// The same for a repository that the environment does not speak of.
    pub(crate) fn foreign(mut self) -> Self {
        self.pinned.clear();
        self.is_foreign = true;
        self
    }

    pub(crate) fn moved(mut self, dir: PathBuf) -> Self {
        self.dir = dir;
        self
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A git process to be, with both its outputs piped.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) fn command(&self, command: &str, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.current_dir(&self.dir)
            .arg("--no-pager")
            .args(BY_LOOKING.iter().flat_map(|setting| ["-c", setting]))
            .arg(command)
            .args(arguments)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // A partial clone answers with what it has; what is missing is said, not fetched.
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Names are names, not patterns. `check-ignore` does not know the word.
        match command {
            "check-ignore" => git.env_remove("GIT_LITERAL_PATHSPECS"),
            _ => git.env("GIT_LITERAL_PATHSPECS", "1"),
        };
        for name in CONTRARY {
            git.env_remove(name);
        }
        if self.is_foreign {
            for name in LOCAL {
                git.env_remove(name);
            }
        }
        for (name, value) in &self.pinned {
            git.env(name, value);
        }
        git
    }

    /// Runs git to its end, whatever its status.
    pub(crate) fn run(&self, command: &'static str, arguments: &[&str]) -> Result<Output, VcsError> {
        let output = self.command(command, arguments).output().map_err(|e| self.not_started(&e))?;
        Ok(Output {
            command,
            success: output.status.success(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// Runs git with `input` on its standard input.
    pub(crate) fn feed(
        &self,
        command: &'static str,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Output, VcsError> {
        let mut child = self
            .command(command, arguments)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|e| self.not_started(&e))?;
        let mut stdin = child.stdin.take().expect("its standard input is piped");
        // Both ways at once: git answers while it reads, and pipes are finite. That it
        // stops reading early is told by its status.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output()
        });
        let output = output.map_err(|e| self.not_started(&e))?;
        Ok(Output {
            command,
            success: output.status.success(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// What git prints on success.
    pub(crate) fn ask(&self, command: &'static str, arguments: &[&str]) -> Result<Vec<u8>, VcsError> {
        let output = self.run(command, arguments)?;
        if output.success { Ok(output.stdout) } else { Err(output.failed()) }
    }

    /// One line that git prints on success; `None` when it fails.
    pub(crate) fn line(&self, command: &'static str, arguments: &[&str]) -> Result<Option<String>, VcsError> {
        let output = self.run(command, arguments)?;
        let first = output.stdout.split(|b| *b == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(first).into_owned();
        Ok((output.success && !line.is_empty()).then_some(line))
    }

    pub(crate) fn not_started(&self, error: &std::io::Error) -> VcsError {
        // A missing working directory has the same code as a missing program.
        if error.kind() == std::io::ErrorKind::NotFound && is_there(&self.dir) {
            return VcsError::GitMissing;
        }
        VcsError::Io { action: "starting git".to_owned(), detail: error.to_string() }
    }
}

impl Output {
    /// The first line it complained with, without git's own prefix.
    pub(crate) fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines = || text.lines().filter(|l| !l.trim().is_empty());
        let line = lines().find(|l| l.starts_with("fatal: ") || l.starts_with("error: ")).or(lines().next());
        let line = line.unwrap_or("no reason given");
        line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
    }

    pub(crate) fn failed(&self) -> VcsError {
        VcsError::Failed { command: self.command.to_owned(), detail: self.complaint() }
    }
}

/// The NUL-terminated fields of `bytes`.
pub(crate) fn fields(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let is_empty = bytes.is_empty();
    bytes.split(|b| *b == 0).filter(move |_| !is_empty)
}

/// A path as text, or a lossy picture of it.
pub(crate) fn utf8(path: &[u8]) -> Result<String, String> {
    std::str::from_utf8(path).map(str::to_owned).map_err(|_| String::from_utf8_lossy(path).into_owned())
}

/// Whether `dir` holds a `.git`, which is a directory or (in submodules and linked
/// worktrees) a file.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn is_repository(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(".git")).is_ok()
}

/// Whether `dir` is `outer` or lies in it, links followed.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn lies_in(dir: &Path, outer: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(dir).starts_with(real(outer))
}

/// The directory that the repository named by the environment is seen from, if one is.
#[expect(clippy::disallowed_methods, reason = "the environment of git is read where git is started")]
pub(crate) fn bound_to() -> Option<PathBuf> {
    std::env::var_os("GIT_DIR")?;
    std::env::current_dir().ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn is_there(dir: &Path) -> bool {
    std::fs::metadata(dir).is_ok()
}

#[expect(clippy::disallowed_methods, reason = "the environment of git is read where git is started")]
fn pinned() -> Vec<(&'static str, OsString)> {
    let names = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"];
    let absolute = names.into_iter().filter_map(|name| {
        let value = std::env::var_os(name)?;
        let path = Path::new(&value);
        if path.is_absolute() {
            return None;
        }
        let here = std::env::current_dir().ok()?;
        Some((name, here.join(path).into_os_string()))
    });
    absolute.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_terminated_not_separated() {
        let parts = |b: &'static [u8]| fields(b).collect::<Vec<_>>();
        assert!(parts(b"").is_empty());
        assert_eq!(parts(b"a\0"), [b"a"]);
        assert_eq!(parts(b"a\nb\0c\0"), [&b"a\nb"[..], b"c"]);
    }
}
