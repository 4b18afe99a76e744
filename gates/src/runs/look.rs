//! Looking at inputs: one entry for each, by what is there now.
//!
//! A file is its kind, its executable bit, its content and the links that lead to it; its
//! times and its size alone are nothing. What cannot be looked at has no entry, and a test
//! that needs it is not reused.
#![expect(clippy::disallowed_methods, reason = "this module is the door to the inputs of runs")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use owed_engine::receipt::{Dimension, Entry, Input};
use owed_engine::resolve::Listing;
use rayon::prelude::*;

use super::digests::Digests;
use super::environment::{Environment, LOCALE};
use super::packages::Packages;
use super::toolchain::Toolchain;

/// Directories that no listing means, whatever its glob.
const UNLISTED: &[&str] = &[".git", ".hg", ".owed", ".svn", "__pycache__", "node_modules"];

/// Entries of more files than this are not looked at: the input is not bounded enough.
const MOST_ENTRIES: usize = 50_000;

/// Names of pins that other entries already hold: the whole environment, the command line,
/// the executables by their bytes, installed packages, the sources, what their imports led
/// to, and listings.
const COVERED: &[&str] = &[
    "absence",
    "dist-info",
    "docstrings",
    "env",
    "icu",
    "listing",
    "platform",
    "resolution",
    "self",
    "snapshot-update",
    "source",
    "whole-env",
];

/// A project whose inputs are looked at.
pub struct Look<'a> {
    root: &'a Path,
    environment: &'a Environment,
    packages: Packages<'a>,
    digests: &'a Digests,
    /// Directories, each with where it really is.
    places: Mutex<BTreeMap<PathBuf, PathBuf>>,
}

/// When a file was last written, as the file system says: inode, and the times of the last
/// change of bytes and of anything. It is no input, but a difference during a run says that
/// somebody wrote, even if the bytes are the old ones again.
pub(super) type Stamp = Option<(u64, i64, i64, i64, i64)>;

/// What was seen of one input.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its entries, or why it cannot be looked at.
    pub entries: Result<Vec<Entry>, String>,
    pub(super) stamp: Stamp,
}

impl<'a> Look<'a> {
    /// At the project in `root`, with the environment that its runs see. `files` is the
    /// inventory, `sites` where Python's packages are installed.
    pub fn new(
        root: &'a Path,
        files: &'a [String],
        environment: &'a Environment,
        (sites, digests): (Option<&'a [PathBuf]>, &'a Digests),
    ) -> Self {
        let packages = Packages::new(root, files, sites, digests);
        Self { root, environment, packages, digests, places: Mutex::default() }
    }

    /// Where packages are installed.
    pub(super) fn packages(&self) -> &Packages<'a> {
        &self.packages
    }

    /// An entry for each of these inputs, in order; for one that cannot be looked at, why.
    pub fn at(&self, inputs: &[Input]) -> Vec<Seen> {
        inputs.par_iter().map(|input| self.one(input)).collect()
    }

    fn one(&self, input: &Input) -> Seen {
        let said = |what: &str, error: &io::Error| format!("{what} cannot be looked at: {error}");
        let entries = match input {
            Input::File(path) => {
                let (stamp, seen) = match self.file(path) {
                    Ok((stamp, seen)) => (stamp, seen),
                    Err(error) => return Seen { entries: Err(said(path, &error)), stamp: None },
                };
                let mut entries = vec![Entry::new(Dimension::File, path, seen.word)];
                // A module of Python that knows its own path may show it; one that does not
                // mention it gains nothing from the place of the project.
                if seen.knows_place {
                    entries.push(self.place());
                }
                return Seen { entries: Ok(entries), stamp };
            }
            Input::Listing(listing) => {
                let name = written(listing);
                let seen = self.listing(listing, false).map_err(|error| said(&name, &error));
                seen.map(|seen| vec![Entry::new(Dimension::Listing, name, seen)])
            }
            Input::Below(listing) => {
                let name = written(listing);
                let seen = self.listing(listing, true).map_err(|error| said(&name, &error));
                seen.map(|seen| vec![Entry::new(Dimension::Listing, format!("{name}{CONTENTS}"), seen)])
            }
            Input::Package(name) => self.packages.entries(name),
            Input::Environment(name) => Ok(vec![self.environment.entry(name)]),
            Input::Pin(name) => self.pin(name),
            Input::Resolution { name, digest } => Ok(vec![Entry::new(Dimension::Resolution, name, digest)]),
        };
        Seen { entries, stamp: None }
    }

    /// `absent`, `dir`, or `file`, the executable bit, the digest, and where links lead.
    fn file(&self, path: &str) -> io::Result<(Stamp, FileSeen)> {
        let at = self.root.join(path);
        let word = |word: String| FileSeen { word, knows_place: false };
        let link = fs::symlink_metadata(&at);
        let metadata = match link {
            Ok(own) if own.is_symlink() => fs::metadata(&at).map(|there| (true, there)),
            other => other.map(|own| (false, own)),
        };
        let (is_link, metadata) = match metadata {
            Ok(found) => found,
            Err(error) if is_absent(&error) => return Ok((None, word("absent".to_owned()))),
            Err(error) => return Err(error),
        };
        let real = self.real(&at, is_link)?;
        let links = match real.strip_prefix(self.root) {
            Ok(inside) if inside == Path::new(path) => String::new(),
            Ok(inside) => format!(" -> {}", inside.display()),
            Err(_) => format!(" -> {}", real.display()),
        };
        // What is written into a directory is the business of its listing.
        if metadata.is_dir() {
            return Ok((None, word(format!("dir{links}"))));
        }
        if !metadata.is_file() {
            return Err(io::Error::other("it is neither a file nor a directory"));
        }
        let m = &metadata;
        let stamp = (m.ino(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec());
        let executable = if metadata.permissions().mode() & 0o111 == 0 { "" } else { " x" };
        let known = self.digests.seen(&real, &metadata)?;
        let word = format!("file{executable} {}{links}", known.hex());
        let knows_place = known.knows_place && path.ends_with(".py");
        Ok((Some(stamp), FileSeen { word, knows_place }))
    }

    /// Where a path really is. Directories are asked about once.
    fn real(&self, at: &Path, is_link: bool) -> io::Result<PathBuf> {
        let (Some(dir), Some(name), false) = (at.parent(), at.file_name(), is_link) else {
            return fs::canonicalize(at);
        };
        let places = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = places().get(dir) {
            return Ok(known.join(name));
        }
        let found = fs::canonicalize(dir)?;
        places().insert(dir.to_owned(), found.clone());
        Ok(found.join(name))
    }

    /// The hash of the names and kinds that match, sorted; with `contents` of their bytes, too.
    fn listing(&self, listing: &Listing, contents: bool) -> io::Result<String> {
        let top = self.root.join(&listing.dir);
        match fs::metadata(&top) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok("no directory".to_owned()),
            Err(error) if is_absent(&error) => return Ok("absent".to_owned()),
            Err(error) => return Err(error),
        }
        let glob = matcher(&listing.glob)?;
        // As many folders down as the pattern names.
        let depth = if listing.glob.contains("**") { usize::MAX } else { listing.glob.matches('/').count() };
        let mut found: Vec<(String, &'static str)> = Vec::new();
        let mut open = vec![String::new()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(top.join(&dir))? {
                let entry = entry?;
                let name = utf8(entry.file_name())?;
                if UNLISTED.contains(&name.as_str()) {
                    continue;
                }
                let path = if dir.is_empty() { name } else { format!("{dir}/{name}") };
                let kind = entry.file_type()?;
                if glob.is_match(&path) {
                    let word = match (kind.is_dir(), kind.is_symlink()) {
                        (true, _) => "dir",
                        (_, true) => "link",
                        _ => "file",
                    };
                    found.push((path.clone(), word));
                    if found.len() > MOST_ENTRIES {
                        return Err(io::Error::other(format!("it has more than {MOST_ENTRIES} entries")));
                    }
                }
                // Links to directories are entries; what lies behind is not searched, so that
                // contents behind one are not known.
                if contents && kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|m| m.is_dir()) {
                    return Err(io::Error::other(format!("{path} is a link to a directory")));
                }
                if kind.is_dir() && path.matches('/').count() < depth {
                    open.push(path);
                }
            }
        }
        found.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for (path, word) in found {
            let seen = match (word, contents) {
                ("dir", _) | (_, false) => word.to_owned(),
                (_, true) => self.file(&join(&listing.dir, &path))?.1.word,
            };
            for part in [path.as_str(), seen.as_str()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn place(&self) -> Entry {
        Entry::new(Dimension::Pin, "path of the project", digest(self.root.as_os_str().as_encoded_bytes()))
    }

    fn pin(&self, name: &str) -> Result<Vec<Entry>, String> {
        let file = |what: &str, path: &str| -> Result<Entry, String> {
            let seen = match self.digests.file(Path::new(path)) {
                Ok(known) => known.hex(),
                Err(error) if is_absent(&error) => "absent".to_owned(),
                Err(error) => return Err(format!("{path} cannot be read: {error}")),
            };
            Ok(Entry::new(Dimension::Pin, what, seen))
        };
        match name {
            "TZ" => {
                Ok(vec![self.environment.entry("TZ"), file("time zone of the system", "/etc/localtime")?])
            }
            "user" => {
                let user = rustix::process::getuid().as_raw().to_string();
                Ok(vec![Entry::new(Dimension::Pin, "user", user)])
            }
            "tzdata" | "tz-database" => {
                Ok(vec![file("time zone database", "/usr/share/zoneinfo/tzdata.zi")?])
            }
            "cwd" | "project-root" => Ok(vec![self.place()]),
            // Programs are inputs by their bytes; here their places count, too, and arguments
            // hold the places of tests.
            "executable" | "argv" => {
                let places = Toolchain::new(self.root, self.environment).places();
                Ok(vec![
                    Entry::new(Dimension::Pin, "paths of programs", digest(places.as_bytes())),
                    self.place(),
                ])
            }
            name if COVERED.contains(&name) => Ok(Vec::new()),
            name if name.starts_with("LC_") || name == "LANG" => {
                Ok(LOCALE.iter().map(|name| self.environment.entry(name)).collect())
            }
            name if !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') =>
            {
                Ok(vec![self.environment.entry(name)])
            }
            other => Err(format!("nothing is known that holds `{other}`")),
        }
    }
}

/// A file as its entry says it.
struct FileSeen {
    word: String,
    knows_place: bool,
}

/// A listing by its directory and its glob.
fn written(listing: &Listing) -> String {
    format!("{}: {}", if listing.dir.is_empty() { "." } else { &listing.dir }, listing.glob)
}

/// How the name of a listing with contents ends.
const CONTENTS: &str = " with contents";

/// The input that an entry was made of, for the dimensions that name theirs fully: files,
/// listings, environment names and packages. Others are known only to the planner.
pub fn input_of(entry: &Entry) -> Option<Input> {
    match entry.dimension {
        Dimension::File => Some(Input::File(entry.name.clone())),
        Dimension::Environment => Some(Input::Environment(entry.name.clone())),
        Dimension::Listing => {
            let (dir, glob) = entry.name.split_once(": ")?;
            let dir = if dir == "." { "" } else { dir };
            let of = |glob: &str| Listing { dir: dir.to_owned(), glob: glob.to_owned() };
            Some(match glob.strip_suffix(CONTENTS) {
                Some(glob) => Input::Below(of(glob)),
                None => Input::Listing(of(glob)),
            })
        }
        Dimension::Package => {
            let name = entry.name.split(" at ").next()?;
            Some(Input::Package(if name == "site-packages" { "pypi:*".to_owned() } else { name.to_owned() }))
        }
        _ => None,
    }
}

fn join(dir: &str, rest: &str) -> String {
    if dir.is_empty() { rest.to_owned() } else { format!("{dir}/{rest}") }
}

fn matcher(glob: &str) -> io::Result<GlobMatcher> {
    let built = GlobBuilder::new(glob).literal_separator(true).empty_alternates(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(io::Error::other)
}

/// A name of an entry; two that are not UTF-8 could not be told apart.
pub(super) fn utf8(name: OsString) -> io::Result<String> {
    name.into_string().map_err(|name| io::Error::other(format!("{name:?} is not UTF-8")))
}

/// Whether nothing is at a path, in any way in which that is said.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// What a file is now, by its bytes: `absent` when nothing is there, `None` when it cannot be
/// read.
pub fn version_of(path: &Path) -> Option<String> {
    match digest_of(path) {
        Ok(digest) => Some(digest),
        Err(error) if is_absent(&error) => Some("absent".to_owned()),
        Err(_) => None,
    }
}

/// The BLAKE3 of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The BLAKE3 of a file's bytes, in hexadecimal.
pub(super) fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}
