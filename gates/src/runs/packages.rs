//! Installed packages by their bytes and their place.
//!
//! A package of node is everything in its directory but what is nested for others, together
//! with every package that it declares, as node would find them from there. Python's
//! packages are taken together: plugins of one are loaded by all, so the whole
//! `site-packages` is one input.
//!
//! The place counts, too: the path inside the project, or the real path of what is linked
//! from outside.
#![expect(clippy::disallowed_methods, reason = "this module looks into installed packages")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use owed_engine::receipt::{Dimension, Entry};
use rayon::prelude::*;
use serde_json::Value;

use super::look::digest_of;

/// Names of fields of a manifest that say which packages a package loads.
const DEPENDS: &[&str] = &["dependencies", "optionalDependencies", "peerDependencies"];

/// A package with more files than this is not looked at.
const MOST_FILES: usize = 60_000;

pub(super) struct Packages<'a> {
    root: &'a Path,
    /// Directories of the project that have a `node_modules`.
    homes: Vec<PathBuf>,
    site_packages: Option<&'a Path>,
    own: Mutex<BTreeMap<PathBuf, Result<Own, String>>>,
    python: OnceLock<Result<String, String>>,
}

/// What one directory of a package says.
#[derive(Clone)]
struct Own {
    digest: String,
    needs: Vec<PathBuf>,
}

impl<'a> Packages<'a> {
    pub(super) fn new(root: &'a Path, files: &'a [String], site_packages: Option<&'a Path>) -> Self {
        let mut dirs: BTreeSet<&str> = BTreeSet::from([""]);
        for file in files {
            dirs.extend(owed_engine::path::ancestors(file));
        }
        // A project may lie below the packages that it uses.
        let above = root.ancestors().skip(1).map(Path::to_path_buf);
        let homes = dirs.into_iter().map(|dir| root.join(dir)).chain(above);
        let homes = homes.filter(|dir| dir.join("node_modules").is_dir()).collect();
        Self { root, homes, site_packages, own: Mutex::default(), python: OnceLock::new() }
    }

    /// The entries of a package, wherever it is installed.
    pub(super) fn entries(&self, name: &str) -> Result<Vec<Entry>, String> {
        let Some((ecosystem, name)) = name.split_once(':') else {
            return Err(format!("nothing is known about the package {name}"));
        };
        match ecosystem {
            "npm" => self.node(name),
            "pypi" => self.python(),
            other => Err(format!("packages of {other} are not looked at")),
        }
    }

    fn node(&self, name: &str) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        for home in &self.homes {
            let dir = home.join("node_modules").join(name);
            if let Ok(real) = fs::canonicalize(&dir) {
                let named = format!("npm:{name} at {}", self.place(&dir));
                entries.push(Entry::new(Dimension::Package, named, self.closed(&real)?));
            }
        }
        if entries.is_empty() {
            entries.push(Entry::new(Dimension::Package, format!("npm:{name}"), "absent"));
        }
        Ok(entries)
    }

    /// The hash of a package and of everything that it declares, with their places.
    fn closed(&self, real: &Path) -> Result<String, String> {
        let mut seen: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut open = vec![real.to_path_buf()];
        while !open.is_empty() {
            open.sort();
            open.dedup();
            let next: Vec<(PathBuf, Result<Own, String>)> =
                open.par_iter().map(|dir| (dir.clone(), self.own(dir))).collect();
            open.clear();
            for (dir, own) in next {
                let own = own?;
                open.extend(own.needs.iter().filter(|need| !seen.contains_key(*need)).cloned());
                seen.insert(dir, own.digest);
            }
            open.retain(|dir| !seen.contains_key(dir));
        }
        let mut hasher = blake3::Hasher::new();
        for (dir, digest) in seen {
            let place = self.place(&dir);
            hasher.update(&(place.len() as u64).to_le_bytes());
            hasher.update(place.as_bytes());
            hasher.update(digest.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn place(&self, dir: &Path) -> String {
        dir.strip_prefix(self.root).unwrap_or(dir).display().to_string()
    }

    fn own(&self, dir: &Path) -> Result<Own, String> {
        let locked =
            |packages: &Self| packages.own.lock().unwrap_or_else(|e| e.into_inner()).get(dir).cloned();
        if let Some(known) = locked(self) {
            return known;
        }
        let found = self.read(dir).map_err(|error| format!("{} cannot be read: {error}", self.place(dir)));
        self.own.lock().unwrap_or_else(|e| e.into_inner()).insert(dir.to_owned(), found.clone());
        found
    }

    fn read(&self, dir: &Path) -> io::Result<Own> {
        let digest = tree_digest(dir, &|name| name == "node_modules" || name == ".cache")?;
        let manifest = fs::read(dir.join("package.json")).ok();
        let manifest: Value =
            manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
        let names = DEPENDS.iter().filter_map(|field| manifest.get(field)?.as_object());
        let names: BTreeSet<&String> = names.flat_map(|object| object.keys()).collect();
        let find = |name: &&String| {
            let found = dir.ancestors().map(|at| at.join("node_modules").join(name.as_str()));
            let found = found.filter(|at| at.is_dir()).find_map(|at| fs::canonicalize(at).ok());
            // What is not installed is optional, or its absence fails the run itself.
            found
        };
        let needs: Vec<PathBuf> = names.iter().filter_map(find).collect();
        // A package of the project itself is no installed one: its sources are in the closure.
        let needs = needs.into_iter().filter(|need| is_installed(need)).collect();
        Ok(Own { digest, needs })
    }

    fn python(&self) -> Result<Vec<Entry>, String> {
        let Some(dir) = self.site_packages else {
            return Ok(vec![Entry::new(Dimension::Package, "site-packages", "absent")]);
        };
        let digest = self.python.get_or_init(|| {
            tree_digest(dir, &|name| name == "__pycache__")
                .map_err(|error| format!("{} cannot be read: {error}", self.place(dir)))
        });
        let named = format!("site-packages at {}", self.place(dir));
        Ok(vec![Entry::new(Dimension::Package, named, digest.clone()?)])
    }
}

fn is_installed(dir: &Path) -> bool {
    dir.components().any(|part| part.as_os_str() == "node_modules")
}

/// The hash of names, kinds and bytes of everything below `dir`; `skip` leaves names out.
fn tree_digest(dir: &Path, skip: &dyn Fn(&str) -> bool) -> io::Result<String> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut links: Vec<(String, String)> = Vec::new();
    let mut open = vec![(String::new(), dir.to_path_buf())];
    while let Some((name, at)) = open.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            let own = entry.file_name().to_string_lossy().into_owned();
            if skip(&own) {
                continue;
            }
            let name = format!("{name}/{own}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push((name, entry.path()));
            } else if kind.is_symlink() {
                let target = fs::read_link(entry.path())?.display().to_string();
                // What a link inside a package leads to counts by its bytes, when it is a file.
                match fs::metadata(entry.path()) {
                    Ok(metadata) if metadata.is_file() => files.push((name.clone(), entry.path())),
                    _ => {}
                }
                links.push((name, target));
            } else if kind.is_file() {
                files.push((name, entry.path()));
            }
            if files.len() > MOST_FILES {
                return Err(io::Error::other(format!("it has more than {MOST_FILES} files")));
            }
        }
    }
    files.sort_unstable();
    links.sort_unstable();
    let digests: io::Result<Vec<String>> = files.par_iter().map(|(_, path)| digest_of(path)).collect();
    let mut hasher = blake3::Hasher::new();
    let named = files.iter().map(|(name, _)| name).zip(digests?);
    for (name, seen) in named.map(|(n, d)| (n.clone(), d)).chain(links) {
        for part in [name.as_str(), seen.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}
