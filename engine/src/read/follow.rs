//! Following symbolic links through a tree, component by component, as the system
//! does: `..` in a link's target leaves the *real* directory, not the written one.

use std::path::{Component, Path, PathBuf};

use crate::tree::Kind;

/// What a name in a directory is, before links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    File,
    Dir,
    Link,
}

impl Entry {
    pub(crate) fn of(kind: std::fs::FileType) -> Option<Self> {
        if kind.is_symlink() {
            Some(Self::Link)
        } else if kind.is_dir() {
            Some(Self::Dir)
        } else if kind.is_file() {
            Some(Self::File)
        } else {
            None
        }
    }
}

/// Where a path leads once every link on the way is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// To a project-relative path free of links.
    Inside(String),
    /// Out of the project, to this absolute path.
    Outside(PathBuf),
}

/// A tree as links see it.
pub(crate) trait Entries {
    /// The entry `name` of the directory `dir`, which is free of links.
    fn entry(&self, dir: &str, name: &str) -> Option<Entry>;
    /// Where the link `path` points, as written.
    fn target(&self, path: &str) -> Option<PathBuf>;
    /// The absolute path of the project-relative `path`.
    fn absolute(&self, path: &str) -> PathBuf;
    /// The reverse, when it lies inside.
    fn relative(&self, path: &Path) -> Option<String>;
    /// Notes that the way led outside, where nobody keeps watch.
    fn left(&self) {}
}

/// As many links as Linux follows before it says that they loop.
const MAX_LINKS: usize = 40;

/// Follows `rest` from the directory `dir`, which is free of links. `None` when
/// nothing is there, a link dangles, or links loop.
pub(crate) fn follow(tree: &impl Entries, dir: &str, rest: &str) -> Option<(Place, Kind)> {
    walk(tree, dir.to_owned(), rest.rsplit('/').map(str::to_owned).collect())
}

/// What `name` in the directory `dir` outside of the project is; links may lead back in.
pub(crate) fn follow_outside(tree: &impl Entries, dir: &Path, name: &str) -> Option<(Place, Kind)> {
    match outside(tree, dir.join(name), &[])? {
        Outside::Stays(path, kind) => Some((Place::Outside(path), kind)),
        Outside::Returns(path) => follow(tree, "", &path),
    }
}

/// `pending` holds the components still to go, the next one last.
fn walk(tree: &impl Entries, mut real: String, mut pending: Vec<String>) -> Option<(Place, Kind)> {
    let mut links = 0;
    while let Some(name) = pending.pop() {
        let left = match name.as_str() {
            "" | "." => continue,
            ".." if real.is_empty() => tree.absolute("").join(".."),
            ".." => {
                real.truncate(real.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {
                let entry = tree.entry(&real, &name)?;
                let before = real.len();
                if !real.is_empty() {
                    real.push('/');
                }
                real.push_str(&name);
                match entry {
                    Entry::Dir => continue,
                    Entry::File if pending.iter().all(|p| p.is_empty() || p == ".") => {
                        return Some((Place::Inside(real), Kind::File));
                    }
                    Entry::File => return None,
                    Entry::Link => {}
                }
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                let target = tree.target(&real)?;
                if target.is_absolute() {
                    target
                } else {
                    real.truncate(before);
                    push_components(&mut pending, &target)?;
                    continue;
                }
            }
        };
        match outside(tree, left, &pending)? {
            Outside::Stays(path, kind) => return Some((Place::Outside(path), kind)),
            Outside::Returns(path) => {
                // In a tree that is not the disk's this may lead out once more.
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                real.clear();
                pending = path.rsplit('/').map(str::to_owned).collect();
            }
        }
    }
    Some((Place::Inside(real), Kind::Dir))
}

enum Outside {
    Stays(PathBuf, Kind),
    /// Links outside lead back to this project-relative path; the tree judges it.
    Returns(String),
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn outside(tree: &impl Entries, mut path: PathBuf, pending: &[String]) -> Option<Outside> {
    tree.left();
    path.extend(pending.iter().rev());
    if let Some(inside) = tree.relative(&path)
        && Path::new(&inside).components().all(|c| matches!(c, Component::Normal(_)))
    {
        return Some(Outside::Returns(inside));
    }
    let path = std::fs::canonicalize(path).ok()?;
    if let Some(inside) = tree.relative(&path) {
        return Some(Outside::Returns(inside));
    }
    let metadata = std::fs::metadata(&path).ok()?;
    let kind = if metadata.is_file() {
        Kind::File
    } else if metadata.is_dir() {
        Kind::Dir
    } else {
        return None;
    };
    Some(Outside::Stays(path, kind))
}

fn push_components(pending: &mut Vec<String>, target: &Path) -> Option<()> {
    for component in target.components().rev() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => pending.push("..".to_owned()),
            Component::Normal(name) => pending.push(name.to_str()?.to_owned()),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(())
}
