//! What a change is measured against: revisions, merge bases, and what to say when
//! history is missing.

use serde::{Deserialize, Serialize};

use super::Repository;
use super::error::{Missing, VcsError};

/// Which two states are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// The working tree (staged, unstaged and untracked alike) against the merge base
    /// of `rev` and `HEAD`.
    Worktree {
        /// The base, for example `HEAD` or `origin/main`.
        rev: String,
    },
    /// The index against the merge base of `rev` and `HEAD`.
    Staged {
        /// The base.
        rev: String,
    },
    /// The commit `rev` against its merge base with `base`, or, without one, against
    /// its first parent.
    Revision {
        /// The commit that is judged.
        rev: String,
        /// The base.
        base: Option<String>,
    },
}

/// The base as it is given in answers. Ids are 40 hexadecimal digits (64 in a
/// repository of SHA-256).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseInfo {
    /// As it was asked for.
    pub rev: String,
    /// The commit it names; `None` when there is no commit yet, or for the first one.
    pub commit: Option<String>,
    /// The commit that was compared with.
    pub merge_base: Option<String>,
}

const EMPTY_TREE_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

impl Repository {
    /// The commit that `rev` names.
    ///
    /// # Errors
    /// When it names none; in a shallow clone, when it seems to be cut off.
    pub fn commit_of(&self, rev: &str) -> Result<String, VcsError> {
        // Nothing that could be taken for an option or cut short reaches git.
        let sane = !rev.is_empty() && !rev.starts_with('-') && !rev.contains(['\0', '\n']);
        if sane
            && let Some(commit) =
                self.git.line("rev-parse", &["-q", "--verify", &format!("{rev}^{{commit}}")])?
        {
            return Ok(commit);
        }
        let points_back = rev.contains(['~', '^']) || rev.contains("@{");
        let is_id = rev.len() >= 7 && rev.bytes().all(|b| b.is_ascii_hexdigit());
        if self.is_shallow && (points_back || is_id) {
            return Err(VcsError::ShallowBase { rev: rev.to_owned(), missing: Missing::Commit });
        }
        Err(VcsError::UnknownRevision { rev: rev.to_owned(), near: self.near(rev)? })
    }

    /// The best common ancestor of `rev` and `HEAD`: what `rev` was when the work in
    /// this checkout began. Changes made to `rev` since are not ours.
    ///
    /// # Errors
    /// When there is none, or history was cut off before it.
    pub fn merge_base(&self, rev: &str) -> Result<String, VcsError> {
        let commit = self.commit_of(rev)?;
        let head = self.head()?.ok_or_else(|| VcsError::NoMergeBase { rev: rev.to_owned() })?;
        self.fork(rev, &commit, &head)
    }

    /// The commit of `HEAD`; `None` before the first commit.
    pub(crate) fn head(&self) -> Result<Option<String>, VcsError> {
        // What was seen in one look counts; nobody looks only to know this.
        if let Some(Some(status)) = self.status.get() {
            return Ok(status.head.clone());
        }
        if let Some(commit) = self.git.line("rev-parse", &["-q", "--verify", "HEAD^{commit}"])? {
            return Ok(Some(commit));
        }
        match self.git.line("symbolic-ref", &["-q", "HEAD"])? {
            Some(_) => Ok(None),
            None => Err(VcsError::Broken { detail: "HEAD names no commit".to_owned() }),
        }
    }

    pub(crate) fn empty_tree(&self) -> &'static str {
        if self.is_sha256 { EMPTY_TREE_SHA256 } else { EMPTY_TREE_SHA1 }
    }

    /// The base, for changes that end at `head`.
    pub(crate) fn base_info(&self, rev: &str, head: Option<&str>) -> Result<BaseInfo, VcsError> {
        if matches!(rev, "HEAD" | "@") && head.is_none() {
            return Ok(BaseInfo { rev: rev.to_owned(), ..BaseInfo::default() });
        }
        let commit = match head {
            Some(head) if matches!(rev, "HEAD" | "@") => head.to_owned(),
            _ => self.commit_of(rev)?,
        };
        let head = head.ok_or_else(|| VcsError::NoMergeBase { rev: rev.to_owned() })?;
        let merge_base = self.fork(rev, &commit, head)?;
        Ok(BaseInfo { rev: rev.to_owned(), commit: Some(commit), merge_base: Some(merge_base) })
    }

    /// The first parent of `commit` as a base.
    pub(crate) fn parent_info(&self, rev: &str, commit: &str) -> Result<BaseInfo, VcsError> {
        let parent = self.git.line("rev-parse", &["-q", "--verify", &format!("{commit}^1^{{commit}}")])?;
        if parent.is_none() && self.is_shallow {
            // A commit at the edge looks like a first one; its own text tells.
            let text = self.git.ask("cat-file", &["commit", commit])?;
            let mut header = text.split(|b| *b == b'\n').take_while(|line| !line.is_empty());
            if header.any(|line| line.starts_with(b"parent ")) {
                return Err(VcsError::ShallowBase { rev: rev.to_owned(), missing: Missing::Parent });
            }
        }
        Ok(BaseInfo { rev: format!("{rev}^"), commit: parent.clone(), merge_base: parent })
    }

    fn fork(&self, rev: &str, commit: &str, head: &str) -> Result<String, VcsError> {
        if commit == head {
            return Ok(head.to_owned());
        }
        let output = self.git.run("merge-base", &[commit, head])?;
        let line = output.stdout.split(|b| *b == b'\n').next().unwrap_or_default();
        if output.success && !line.is_empty() {
            return Ok(String::from_utf8_lossy(line).into_owned());
        }
        match output.code {
            Some(1) if self.is_shallow => {
                Err(VcsError::ShallowBase { rev: rev.to_owned(), missing: Missing::MergeBase })
            }
            Some(1) => Err(VcsError::NoMergeBase { rev: rev.to_owned() }),
            _ => Err(output.failed()),
        }
    }

    /// Up to three names that look like `rev`.
    fn near(&self, rev: &str) -> Result<Vec<String>, VcsError> {
        let places = ["--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"];
        let output = self.git.ask("for-each-ref", &places)?;
        let names = String::from_utf8_lossy(&output);
        let mut scored: Vec<(usize, &str)> = names
            .lines()
            .filter_map(|name| {
                let same_leaf = ends_with_name(name, rev) || ends_with_name(rev, name);
                let distance = if same_leaf { 0 } else { distance(name, rev) };
                (distance <= rev.chars().count().div_ceil(4)).then_some((distance, name))
            })
            .collect();
        scored.sort_unstable();
        Ok(scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect())
    }
}

/// `origin/main` ends with the name `main`.
fn ends_with_name(long: &str, short: &str) -> bool {
    !short.is_empty() && long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
}

/// How many characters must be inserted, removed or replaced to make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_by_edit_or_by_remote() {
        assert_eq!(distance("main", "mian"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("develop", "develop"), 0);
        assert!(ends_with_name("origin/main", "main"));
        assert!(!ends_with_name("domain", "main"));
    }
}
