//! Where a command works: the directory it was called in, the project around it, and
//! the repository around that.

use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use owed_engine::vcs::{Repository, VcsError};

use crate::complaint::Complaint;
use crate::config;
use crate::host;

/// The project a command is about.
#[derive(Debug)]
pub(crate) struct Site {
    /// The directory that paths on the command line are relative to; links followed.
    pub cwd: PathBuf,
    /// The project root; links followed.
    pub root: PathBuf,
    /// Where the project lies in the repository; `""` when it is all of it.
    pub prefix: String,
    /// The repository, when there is one and git can be asked.
    pub git: Git,
}

/// What git says of the place.
#[derive(Debug)]
pub(crate) enum Git {
    /// A repository.
    Here(Box<Repository>),
    /// No repository.
    None,
    /// It could not be asked.
    Failed(VcsError),
}

impl Site {
    /// The site of `cwd`. The root is the top of the working tree, unless a directory
    /// nearer to `cwd` holds an `owed.toml`; outside of git it is `cwd` itself, with the
    /// same exception.
    pub(crate) fn open(cwd: &Path) -> anyhow::Result<Self> {
        let start = host::current_dir().context("the current directory is gone; change to another one")?;
        let cwd =
            host::canonical(&start.join(cwd)).ok().filter(|path| host::is_dir(path)).ok_or_else(|| {
                Complaint::new(
                    format!("{} is no directory", cwd.display()),
                    "give --cwd a directory of the project",
                )
            })?;
        let git = match Repository::discover(&cwd) {
            Ok(Some(repository)) => Git::Here(Box::new(repository)),
            Ok(None) => Git::None,
            Err(error) => Git::Failed(error),
        };
        let top = match &git {
            Git::Here(repository) => Some(host::canonical(repository.root())?),
            // The project is not smaller because git cannot be asked.
            Git::Failed(_) => cwd.ancestors().find(|dir| host::exists(&dir.join(".git"))).map(Path::to_owned),
            Git::None => None,
        };
        let root = project_root(&cwd, top.as_deref());
        let prefix = match top.filter(|_| matches!(git, Git::Here(_))) {
            Some(top) => relative(&top, &root).with_context(|| {
                format!(
                    "{} is not inside the working tree that git names; unset GIT_DIR and GIT_WORK_TREE, or give --cwd",
                    cwd.display()
                )
            })?,
            None => String::new(),
        };
        Ok(Self { cwd, root, prefix, git })
    }

    /// The repository.
    pub(crate) fn repository(&self) -> Option<&Repository> {
        match &self.git {
            Git::Here(repository) => Some(repository),
            Git::None | Git::Failed(_) => None,
        }
    }

    /// The project-relative form of a path of the command line.
    pub(crate) fn inside(&self, path: &Path) -> anyhow::Result<String> {
        let wanted = normal(&self.cwd.join(path));
        let found = match relative(&self.root, &wanted) {
            Some(found) => Some(found),
            // An absolute path may take another way to the same place.
            None => through_links(&wanted).and_then(|real| relative(&self.root, &real)),
        };
        found.ok_or_else(|| {
            if wanted.to_str().is_none() {
                let what = format!("{} is no UTF-8", path.display());
                return Complaint::new(what, "rename it; such files are never considered").into();
            }
            Complaint::new(
                format!("{} lies outside of the project {}", path.display(), self.root.display()),
                "paths are relative to --cwd; to ask about another project, give its directory to --cwd",
            )
            .into()
        })
    }

    /// The path of the repository, as a path of the project; `None` when it lies outside.
    pub(crate) fn project_path<'a>(&self, path: &'a str) -> Option<&'a str> {
        if self.prefix.is_empty() {
            return Some(path);
        }
        path.strip_prefix(self.prefix.as_str())?.strip_prefix('/').filter(|rest| !rest.is_empty())
    }
}

fn project_root(cwd: &Path, top: Option<&Path>) -> PathBuf {
    for dir in cwd.ancestors() {
        if host::is_file(&dir.join(config::FILE)) || Some(dir) == top {
            return dir.to_owned();
        }
    }
    top.unwrap_or(cwd).to_owned()
}

/// `path` below `root` with `/` between its segments; `None` when it is not below it.
fn relative(root: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(root).ok()?;
    let segments: Option<Vec<&str>> = rest.iter().map(|segment| segment.to_str()).collect();
    Some(segments?.join("/"))
}

/// An absolute path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The path with the links of its directories followed, as far as they exist. The last
/// segment is left alone: a link is a file of its own.
fn through_links(path: &Path) -> Option<PathBuf> {
    let mut rest = PathBuf::from(path.file_name()?);
    for dir in path.ancestors().skip(1) {
        if let Ok(real) = host::canonical(dir) {
            return Some(real.join(rest));
        }
        rest = Path::new(dir.file_name()?).join(rest);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normal_by_their_text() {
        assert_eq!(normal(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normal(Path::new("/../a")), Path::new("/a"));
        assert_eq!(relative(Path::new("/a"), Path::new("/a/b/c")).as_deref(), Some("b/c"));
        assert_eq!(relative(Path::new("/a"), Path::new("/a")).as_deref(), Some(""));
        assert_eq!(relative(Path::new("/a"), Path::new("/ab")), None);
    }
}
