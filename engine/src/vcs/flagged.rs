//! Files that git was told not to look at, and files that it no longer tracks: they
//! are judged by their bytes.

use std::path::Path;

use super::error::VcsError;
use super::index::Mode;
use super::run::Git;

/// What lies on the disk at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) mode: Mode,
    /// The id its contents would be stored under, after clean filters; `None` when they
    /// could not be read, which equals nothing.
    pub(crate) oid: Option<String>,
}

/// What lies at each of `paths`; `None` where nothing does, [`Mode::Absent`] where
/// something does that git could not store.
pub(crate) fn look_at(git: &Git, paths: &[&str]) -> Result<Vec<Option<Found>>, VcsError> {
    let mut found: Vec<Option<Found>> = Vec::with_capacity(paths.len());
    let mut regular = Vec::new();
    for path in paths {
        let mode = mode_of(&git.dir().join(path));
        let oid = match mode {
            Some(Mode::Link) => hash_link(git, path)?,
            _ => None,
        };
        if matches!(mode, Some(Mode::Regular | Mode::Executable)) {
            regular.push(found.len());
        }
        found.push(mode.map(|mode| Found { mode, oid }));
    }
    // The list of names is made of lines, so that a name with a newline goes alone.
    let (alone, listed): (Vec<usize>, Vec<usize>) =
        regular.into_iter().partition(|i| paths[*i].contains('\n'));
    let names: Vec<&str> = listed.iter().map(|i| paths[*i]).collect();
    let mut hashed: Vec<(usize, Option<String>)> = Vec::new();
    match hash_listed(git, &names)? {
        Some(oids) => hashed.extend(listed.into_iter().zip(oids.into_iter().map(Some))),
        // One of them vanished or cannot be read, and git stopped there.
        None => {
            for i in listed {
                hashed.push((i, hash_one(git, paths[i])?));
            }
        }
    }
    for i in alone {
        hashed.push((i, hash_one(git, paths[i])?));
    }
    for (i, oid) in hashed {
        if let Some(found) = &mut found[i] {
            found.oid = oid;
        }
    }
    Ok(found)
}

fn hash_listed(git: &Git, paths: &[&str]) -> Result<Option<Vec<String>>, VcsError> {
    if paths.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let input = paths.join("\n") + "\n";
    let output = git.feed("hash-object", &["--stdin-paths"], input.as_bytes())?;
    let oids: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    Ok((output.success && oids.len() == paths.len()).then_some(oids))
}

fn hash_one(git: &Git, path: &str) -> Result<Option<String>, VcsError> {
    git.line("hash-object", &["--", path])
}

/// A link is stored as the path it holds.
fn hash_link(git: &Git, path: &str) -> Result<Option<String>, VcsError> {
    let Ok(target) = std::fs::read_link(git.dir().join(path)) else { return Ok(None) };
    let output = git.feed("hash-object", &["--stdin"], target.as_os_str().as_encoded_bytes())?;
    let oid = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok((output.success && !oid.is_empty()).then_some(oid))
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn mode_of(path: &Path) -> Option<Mode> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let kind = metadata.file_type();
    Some(if kind.is_symlink() {
        Mode::Link
    } else if kind.is_file() {
        if is_executable(&metadata) { Mode::Executable } else { Mode::Regular }
    } else {
        Mode::Absent
    })
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}
