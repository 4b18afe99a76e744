//! A project's files as a value that can be asked: the working tree, the index,
//! a commit, or (in tests) a map in memory. Readers, resolvers and runners see
//! only this, so that `--staged` and `--revision` judge exactly those bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path;
use crate::problem::Unchecked;

/// What a path is, after following symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
}

/// A view of the project's files. All paths are project-relative (see [`crate::path`]).
///
/// A tree also answers for ignored files (`node_modules`, generated sources):
/// [`Tree::files`] lists only the inventory, the other methods see everything.
pub trait Tree: Send + Sync {
    /// The absolute directory of the project root; for tools that need a place on
    /// disk and for absolute paths written in sources. Never printed.
    fn root(&self) -> &Path;

    /// The inventory: tracked files, and untracked ones that are not ignored,
    /// sorted by bytes. Directories are not listed.
    fn files(&self) -> &[String];

    /// What is at `path`, following links; `None` when nothing is there, a link
    /// dangles, or it loops.
    fn kind(&self, path: &str) -> Option<Kind>;

    /// The bytes at `path`.
    ///
    /// # Errors
    /// [`Unchecked::Unreadable`] when there is no readable file,
    /// [`Unchecked::TooLarge`] when it is over the limit.
    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked>;

    /// Names and kinds of the direct entries of `dir`, sorted by name, ignored
    /// ones included; empty when `dir` is no directory.
    fn list(&self, dir: &str) -> Vec<(String, Kind)>;

    /// `path` with every symbolic link on the way followed. `None` when it does
    /// not exist or ends outside the project.
    fn real(&self, path: &str) -> Option<String>;

    /// The bytes at `path`, with their digest.
    ///
    /// # Errors
    /// As [`Tree::read`].
    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        let bytes = self.read(path)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }

    /// The digest of the bytes at `path` when it can be told without reading them.
    fn known_digest(&self, path: &str) -> Option<Digest> {
        let _ = path;
        None
    }

    /// The digest of the bytes at `path`.
    ///
    /// # Errors
    /// As [`Tree::read`].
    fn digest(&self, path: &str) -> Result<Digest, Unchecked> {
        match self.known_digest(path) {
            Some(digest) => Ok(digest),
            None => self.read_with_digest(path).map(|(_, digest)| digest),
        }
    }

    /// The digest of all paths that this tree knows by itself. Two trees of one layout that
    /// [confirm](Tree::confirms) each other's witness give equal answers, but for contents
    /// and [`Tree::root`]. `None` when that cannot be said of this tree.
    fn layout(&self) -> Option<Digest> {
        None
    }

    /// What was looked at so far beyond the layout; `None` when that cannot be told, as after
    /// looking outside of the project.
    fn witness(&self) -> Option<Witness> {
        None
    }

    /// Whether what another tree has looked at is the same here.
    fn confirms(&self, witness: &Witness) -> bool {
        let _ = witness;
        false
    }

    /// Whether `path` is a file.
    fn is_file(&self, path: &str) -> bool {
        self.kind(path) == Some(Kind::File)
    }

    /// Whether `path` is a directory.
    fn is_dir(&self, path: &str) -> bool {
        self.kind(path) == Some(Kind::Dir)
    }

    /// The text at `path` when it can be read and is UTF-8 (a byte order mark is dropped).
    fn text(&self, path: &str) -> Option<String> {
        text_of(self.read(path).ok()?)
    }

    /// The text at `path` for who looks at its code alone, not at comments, and says so with
    /// [`Tree::code_is`] once it has read it: then a change that moves no code is none to it.
    fn code(&self, path: &str) -> Option<String> {
        self.text(path)
    }

    /// What the code at `path` is, as [`Language::code`](crate::language::Language::code) says it
    /// of the same text. Who asked for it and cannot say that has read all of it.
    fn code_is(&self, path: &str, digest: &dyn Fn() -> Digest) {
        let _ = (path, digest);
    }

    /// The text at `path` when it holds one of `words`. Who wants to know no more of most
    /// files than this asks this way: then other changes of them are none to it.
    fn text_with(&self, path: &str, words: &[&str]) -> Option<String> {
        self.text(path).filter(|text| words.iter().any(|word| text.contains(word)))
    }
}

/// The text in `bytes` when they are UTF-8, without a byte order mark.
pub(crate) fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// What a tree looked at beyond its layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Directories that were listed, with the digest of the names and kinds of their entries.
    pub dirs: Vec<(String, Digest)>,
    /// Symbolic links that were followed, and where they point as written.
    pub links: Vec<(String, String)>,
}

/// A tree held in memory: for the corpus, for tests, and for editors that ask
/// about unsaved text.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    root: std::path::PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    dirs: BTreeSet<String>,
    inventory: Vec<String>,
    links: BTreeMap<String, String>,
}

impl MemoryTree {
    /// A tree of `files`; paths below a `node_modules` or `site-packages`
    /// directory are present but not in the inventory, as if ignored.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().collect();
        let mut dirs = BTreeSet::from([String::new()]);
        for file in files.keys() {
            dirs.extend(path::ancestors(file).map(str::to_owned));
        }
        let ignored = |p: &String| p.split('/').any(|s| s == "node_modules" || s == "site-packages");
        let inventory = files.keys().filter(|p| !ignored(p)).cloned().collect();
        Self { root: "/project".into(), files, dirs, inventory, links: BTreeMap::new() }
    }

    /// Adds a directory link: everything below `from` is what lies below `to`
    /// (a workspace package linked into `node_modules`).
    #[must_use]
    pub fn with_link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(from.to_owned(), to.to_owned());
        self.dirs.extend(path::ancestors(from).map(str::to_owned));
        self
    }

    fn follow(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..40 {
            let hit = self.links.iter().find(|(from, _)| path::is_within(&path, from));
            match hit {
                Some((from, to)) => {
                    let rest = path::strip(&path, from).unwrap_or("");
                    path = path::join(to, rest)?;
                }
                None => return Some(path),
            }
        }
        None
    }
}

impl Tree for MemoryTree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn files(&self) -> &[String] {
        &self.inventory
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        let path = self.follow(path)?;
        if self.files.contains_key(&path) {
            Some(Kind::File)
        } else if self.dirs.contains(&path) {
            Some(Kind::Dir)
        } else {
            None
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        let path = self.follow(path).ok_or(Unchecked::Unreadable)?;
        self.files.get(&path).cloned().ok_or(Unchecked::Unreadable)
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        let Some(dir) = self.follow(dir) else { return Vec::new() };
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let mut entries = BTreeMap::new();
        for file in self.files.range(prefix.clone()..).map(|(p, _)| p).take_while(|p| p.starts_with(&prefix))
        {
            let rest = &file[prefix.len()..];
            match rest.split_once('/') {
                Some((name, _)) => entries.insert(name.to_owned(), Kind::Dir),
                None => entries.insert(rest.to_owned(), Kind::File),
            };
        }
        for link in self.links.keys().filter(|l| path::dirname(l) == dir) {
            if let Some(kind) = self.kind(link) {
                entries.insert(path::basename(link).to_owned(), kind);
            }
        }
        entries.into_iter().collect()
    }

    fn real(&self, path: &str) -> Option<String> {
        let real = self.follow(path)?;
        (self.files.contains_key(&real) || self.dirs.contains(&real)).then_some(real)
    }

    fn layout(&self) -> Option<Digest> {
        let files = self.files.keys().map(|path| path.as_bytes());
        let links = self.links.iter().flat_map(|(from, to)| [&b"link"[..], from.as_bytes(), to.as_bytes()]);
        let count = self.files.len().to_le_bytes();
        Some(Digest::of_parts(std::iter::once(&count[..]).chain(files).chain(links)))
    }

    fn witness(&self) -> Option<Witness> {
        // Everything that is there is in the layout.
        Some(Witness::default())
    }

    fn confirms(&self, witness: &Witness) -> bool {
        *witness == Witness::default()
    }
}
