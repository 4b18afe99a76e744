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

use super::digests::Digests;
use super::look::{is_absent, utf8};
use super::startup::is_code;

/// Names of fields of a manifest that say which packages a package loads.
const DEPENDS: &[&str] = &["dependencies", "optionalDependencies", "peerDependencies"];

/// What is nested for others, and what tools leave in packages while they run: notes that they
/// hold against the bytes of every source before they believe them. The last is what vitest's
/// type checker leaves in vitest itself, anew after each change.
const NOTES: &[&str] = &["node_modules", ".cache", "tsconfig.tmp.tsbuildinfo"];

/// A package with more files than this is not looked at.
const MOST_FILES: usize = 60_000;

pub(super) struct Packages<'a> {
    root: &'a Path,
    /// Directories of the project that have a `node_modules`.
    homes: Vec<PathBuf>,
    sites: Option<&'a [PathBuf]>,
    digests: &'a Digests,
    own: Mutex<BTreeMap<PathBuf, Result<Own, String>>>,
    python: OnceLock<Result<Vec<String>, String>>,
}

/// What one directory of a package says.
#[derive(Clone)]
struct Own {
    digest: String,
    needs: Vec<PathBuf>,
}

impl<'a> Packages<'a> {
    pub(super) fn new(
        root: &'a Path,
        files: &'a [String],
        sites: Option<&'a [PathBuf]>,
        digests: &'a Digests,
    ) -> Self {
        let mut dirs: BTreeSet<&str> = BTreeSet::from([""]);
        for file in files {
            dirs.extend(owed_engine::path::ancestors(file));
        }
        // A project may lie below the packages that it uses.
        let above = root.ancestors().skip(1).map(Path::to_path_buf);
        let homes = dirs.into_iter().map(|dir| root.join(dir)).chain(above);
        let homes = homes.filter(|dir| dir.join("node_modules").is_dir()).collect();
        Self { root, homes, sites, digests, own: Mutex::default(), python: OnceLock::new() }
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
            let real = match fs::canonicalize(&dir) {
                Ok(real) => real,
                Err(error) if is_absent(&error) => continue,
                Err(error) => return Err(format!("{} cannot be looked at: {error}", self.place(&dir))),
            };
            let named = format!("npm:{name} at {}", self.place(&dir));
            entries.push(Entry::new(Dimension::Package, named, self.closed(&real)?));
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
        let digest = tree_digest(dir, &|name| NOTES.contains(&name), self.digests)?;
        let manifest: Value = match fs::read(dir.join("package.json")) {
            // A manifest that cannot be understood does not say that nothing is needed.
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other)?,
            Err(error) if is_absent(&error) => Value::Null,
            Err(error) => return Err(error),
        };
        let names = DEPENDS.iter().filter_map(|field| manifest.get(field)?.as_object());
        let names: BTreeSet<&String> = names.flat_map(|object| object.keys()).collect();
        let mut needs = Vec::new();
        for name in names {
            for at in dir.ancestors().map(|at| at.join("node_modules").join(name)) {
                match fs::canonicalize(&at) {
                    // The bytes of a package of the project are in the closure of the test only
                    // when the test itself imports it; through an installed one they are not.
                    Ok(real) if !is_installed(&real) => {
                        let what = format!("it needs {name}, which is a package of the project itself");
                        return Err(io::Error::other(what));
                    }
                    Ok(real) => {
                        needs.push(real);
                        break;
                    }
                    // What is not installed is optional, or its absence fails the run itself.
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Own { digest, needs })
    }

    /// All of Python's installed packages.
    pub(super) fn python(&self) -> Result<Vec<Entry>, String> {
        let Some(sites) = self.sites else {
            return Err("where packages of Python are installed is not known; a virtual environment \
                        in .venv would say"
                .to_owned());
        };
        let digests = self.python.get_or_init(|| {
            let one = |dir: &PathBuf| {
                self.only_inside(dir)
                    .and_then(|()| tree_digest(dir, &|name| name == "__pycache__", self.digests))
                    .map_err(|error| format!("{} cannot be read: {error}", self.place(dir)))
            };
            sites.iter().map(one).collect()
        });
        let named = |dir: &PathBuf| format!("site-packages at {}", self.place(dir));
        let digests = digests.clone()?;
        Ok(sites
            .iter()
            .zip(digests)
            .map(|(dir, seen)| Entry::new(Dimension::Package, named(dir), seen))
            .collect())
    }
}

impl Packages<'_> {
    /// Whether the `.pth` files of a `site-packages` add no directory from elsewhere: the
    /// project's own sources are in closures, others are not known.
    fn only_inside(&self, dir: &Path) -> io::Result<()> {
        let real = fs::canonicalize(dir)?;
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "pth") {
                continue;
            }
            for line in fs::read_to_string(&path)?.lines().map(str::trim) {
                if line.is_empty() || line.starts_with('#') || is_code(line.as_bytes()) {
                    continue;
                }
                let added = match fs::canonicalize(dir.join(line)) {
                    Ok(added) => added,
                    Err(error) if is_absent(&error) => continue,
                    Err(error) => return Err(error),
                };
                if !added.starts_with(self.root) && !added.starts_with(&real) {
                    return Err(io::Error::other(format!("{} adds {line}", path.display())));
                }
            }
        }
        Ok(())
    }
}

fn is_installed(dir: &Path) -> bool {
    dir.components().any(|part| part.as_os_str() == "node_modules")
}

/// The hash of names, kinds and bytes of everything below `dir`; `skip` leaves names out.
pub(super) fn tree_digest(dir: &Path, skip: &dyn Fn(&str) -> bool, digests: &Digests) -> io::Result<String> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut links: Vec<(String, String)> = Vec::new();
    let real = fs::canonicalize(dir)?;
    let mut open = vec![(String::new(), dir.to_path_buf())];
    while let Some((name, at)) = open.pop() {
        for entry in fs::read_dir(&at)? {
            let entry = entry?;
            let own = utf8(entry.file_name())?;
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
                    // What lies behind a directory counts when it is here as well, and is not
                    // known when it is elsewhere.
                    Ok(_) if !fs::canonicalize(entry.path())?.starts_with(&real) => {
                        return Err(io::Error::other(format!("{name} leads out of it")));
                    }
                    Ok(_) => {}
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
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
    let of = |(_, path): &(String, PathBuf)| digests.file(path).map(|known| known.hex());
    let digests: io::Result<Vec<String>> = files.par_iter().map(of).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_tools_are_no_bytes_of_a_package_and_everything_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let at = root.join("node_modules/vitest/dist");
        fs::create_dir_all(&at).unwrap();
        fs::write(root.join("node_modules/vitest/package.json"), "{}").unwrap();
        let seen = || {
            let digests = Digests::none();
            Packages::new(&root, &[], None, &digests).entries("npm:vitest").unwrap()
        };
        let before = seen();
        fs::write(at.join("tsconfig.tmp.tsbuildinfo"), "{}").unwrap();
        assert_eq!(seen(), before);
        for name in ["tsconfig.tsbuildinfo", "other.tmp.tsbuildinfo"] {
            fs::write(at.join(name), "{}").unwrap();
            assert_ne!(seen(), before, "{name}");
            fs::remove_file(at.join(name)).unwrap();
        }
    }
}
