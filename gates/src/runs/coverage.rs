//! What a run leaves besides its verdict: coverage, as files.
//!
//! It is collected in the directory of the run, so that no run touches the files of another
//! one or of the caller. A set of files belongs to one runner project, to exactly these tests
//! with these identities, and to the whole inventory by its bytes: coverage tools also count
//! lines of files that no test loads. Sets are kept beside the receipts:
//!
//! ```text
//! coverage/<key>/manifest.json   sealed: which tests, which files, by SHA-256, and the root of
//!                                the checkout that they were made in
//! coverage/<key>/<sha256>        a file
//! ```
//!
//! A file whose bytes are not the ones that were pinned is refused, and with it the whole set.
//! Only after that paths in JSON and lcov are written for the checkout that asks.
#![expect(clippy::disallowed_methods, reason = "this module is the door to what runs leave")]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use owed_engine::runner::Reported;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::look::{digest_of, is_absent};

const SCHEMA: &str = "owed.coverage/1";

/// A file that is larger than this is not collected.
const MOST_BYTES: u64 = 1 << 30;

/// Where a Python run says why it measures nothing.
const UNMEASURED: &str = "coverage/unmeasured";

/// What one command left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Names and bytes.
    Files(Vec<(String, Vec<u8>)>),
    /// Nothing, and why.
    Unmeasured(String),
}

/// Why this command cannot be made to measure; `None` when it can. `cwd` is where it runs.
pub(super) fn refusal(root: &Path, runner: &str, reported: &Reported) -> Option<String> {
    if reported.artifacts.is_empty() {
        return Some(format!("{runner} writes no coverage by itself"));
    }
    let needs = reported.needs;
    let dir = root.join(&reported.invocation.cwd);
    let is_there = |name: &&str| dir.ancestors().any(|at| at.join("node_modules").join(name).is_dir());
    if needs.is_empty() || needs.iter().any(|name| is_there(&name)) {
        return None;
    }
    Some(format!("{runner} needs {} for it, and it is not installed", needs.join(" or ")))
}

/// What the command left in `dir`.
pub(super) fn collect(dir: &Path, reported: &Reported) -> Collected {
    let mut files = Vec::new();
    for name in &reported.artifacts {
        let at = dir.join(name);
        let short = at.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let none = |why: String| Collected::Unmeasured(why);
        match fs::metadata(&at) {
            Ok(metadata) if metadata.len() > MOST_BYTES => return none(format!("{short} is too large")),
            Ok(_) => {}
            Err(_) => {
                let said = fs::read_to_string(dir.join(UNMEASURED)).unwrap_or_default();
                let said = said.lines().next().filter(|line| !line.is_empty()).map(str::to_owned);
                return none(said.unwrap_or_else(|| format!("it left no {short}")));
            }
        }
        match fs::read(&at) {
            Ok(bytes) if short.ends_with(".json") && serde_json::from_slice::<Value>(&bytes).is_err() => {
                return none(format!("{short} is no JSON"));
            }
            Ok(bytes) if bytes.is_empty() => return none(format!("{short} is empty")),
            Ok(bytes) => files.push((short, bytes)),
            Err(error) => return none(format!("{short} cannot be read: {error}")),
        }
    }
    Collected::Files(files)
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// How many there are.
    pub bytes: u64,
}

impl Artifact {
    /// Of these bytes.
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        Self { name: name.to_owned(), sha256: sha256(bytes), bytes: bytes.len() as u64 }
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whose coverage a set is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// The runner.
    pub runner: String,
    /// Directory of the runner project.
    pub project: String,
    /// Its name.
    pub name: Option<String>,
    /// The tests, sorted, with their identities.
    pub tests: Vec<(String, String)>,
    /// The digest of all files of the inventory.
    pub inventory: String,
}

impl Covered {
    fn key(&self) -> String {
        let text = serde_json::to_string(self).expect("it is made of texts");
        let mut hasher = blake3::Hasher::new_derive_key("owed coverage 1");
        hasher.update(text.as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema: String,
    root: String,
    covered: Covered,
    files: Vec<Artifact>,
    seal: String,
}

impl Manifest {
    fn sealed(&self) -> String {
        let open = Self { seal: String::new(), ..self.clone() };
        let text = serde_json::to_string(&open).expect("a manifest is made of texts and numbers");
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }
}

/// A set that was kept, verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The root of the checkout that it was made in.
    pub root: String,
    /// Names and bytes.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Why a set cannot be used. Closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageFault {
    /// There is none for these tests as they are.
    None,
    /// What is there is no manifest, or not the one that was sealed.
    Manifest,
    /// A file has other bytes than those that were pinned, or is gone.
    Bytes,
}

impl CoverageFault {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "no-coverage",
            Self::Manifest => "coverage-manifest",
            Self::Bytes => "coverage-bytes",
        }
    }
}

/// Sets of one directory of receipts.
#[derive(Clone, Debug)]
pub struct Coverage {
    dir: PathBuf,
}

impl Coverage {
    /// Beside the receipts in `dir`.
    pub fn beside(dir: &Path) -> Self {
        Self { dir: dir.join("coverage") }
    }

    /// Keeps a set that was made in the checkout at `root`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, root: &str, covered: &Covered, files: &[(String, Vec<u8>)]) -> io::Result<()> {
        let dir = self.dir.join(covered.key());
        fs::create_dir_all(&dir)?;
        let mut manifest = Manifest {
            schema: SCHEMA.to_owned(),
            root: root.to_owned(),
            covered: covered.clone(),
            files: files.iter().map(|(name, bytes)| Artifact::of(name, bytes)).collect(),
            seal: String::new(),
        };
        manifest.seal = manifest.sealed();
        for ((_, bytes), artifact) in files.iter().zip(&manifest.files) {
            whole(&dir.join(&artifact.sha256), bytes)?;
        }
        whole(&dir.join("manifest.json"), &serde_json::to_vec(&manifest).map_err(io::Error::other)?)
    }

    /// The set of exactly these tests, every file of it verified.
    ///
    /// # Errors
    /// Why there is none that can be used.
    pub fn find(&self, covered: &Covered) -> Result<Kept, CoverageFault> {
        let dir = self.dir.join(covered.key());
        let bytes = match fs::read(dir.join("manifest.json")) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return Err(CoverageFault::None),
            Err(_) => return Err(CoverageFault::Manifest),
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|_| CoverageFault::Manifest)?;
        let is_ours = manifest.schema == SCHEMA && manifest.seal == manifest.sealed();
        if !is_ours || manifest.covered != *covered || !Path::new(&manifest.root).is_absolute() {
            return Err(CoverageFault::Manifest);
        }
        let mut files = Vec::new();
        for artifact in manifest.files {
            let bytes = fs::read(dir.join(&artifact.sha256)).map_err(|_| CoverageFault::Bytes)?;
            if Artifact::of(&artifact.name, &bytes) != artifact {
                return Err(CoverageFault::Bytes);
            }
            files.push((artifact.name, bytes));
        }
        Ok(Kept { root: manifest.root, files })
    }
}

fn whole(at: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = at.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, at)
}

/// The digest of every file of the inventory, by path.
///
/// # Errors
/// When one cannot be read: then coverage of it cannot be known again.
pub fn inventory(root: &Path, files: &[String]) -> Result<String, String> {
    let digests: Result<Vec<String>, String> = files
        .par_iter()
        .map(|file| match digest_of(&root.join(file)) {
            Ok(digest) => Ok(digest),
            Err(error) if is_absent(&error) => Ok("absent".to_owned()),
            // A submodule, or a link to a directory.
            Err(_) if root.join(file).is_dir() => Ok("dir".to_owned()),
            Err(error) => Err(format!("{file} cannot be read: {error}")),
        })
        .collect();
    let mut hasher = blake3::Hasher::new_derive_key("owed inventory 1");
    for (file, digest) in files.iter().zip(digests?) {
        for part in [file.as_str(), &digest] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The bytes of a file for the checkout at `to`, when it was made in the one at `from`: paths in
/// JSON (keys and values) and the `SF:` lines of lcov. Everything else stays byte by byte.
pub fn rerooted(name: &str, bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    if from == to {
        return bytes.to_vec();
    }
    let text = |text: &str| moved(text, from, to);
    if name.ends_with(".json") {
        // It was JSON when it was collected, and its bytes are those of then.
        let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return bytes.to_vec() };
        return serde_json::to_vec(&moved_value(value, &text)).unwrap_or_else(|_| bytes.to_vec());
    }
    if name.ends_with(".info") {
        let Ok(lines) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
        let line = |line: &str| match line.strip_prefix("SF:") {
            Some(path) => format!("SF:{}", text(path).unwrap_or_else(|| path.to_owned())),
            None => line.to_owned(),
        };
        return lines.split('\n').map(line).collect::<Vec<_>>().join("\n").into_bytes();
    }
    bytes.to_vec()
}

/// A path below `from` as one below `to`; `None` when it is none.
fn moved(text: &str, from: &str, to: &str) -> Option<String> {
    let (scheme, path) = match text.strip_prefix("file://") {
        Some(path) => ("file://", path),
        None => ("", text),
    };
    let rest = path.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{scheme}{to}{rest}"))
}

/// serde_json reads no value that is nested deeper than 128 levels, which bounds this.
fn moved_value(value: Value, text: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(old) => Value::String(text(&old).unwrap_or(old)),
        Value::Array(list) => Value::Array(list.into_iter().map(|value| moved_value(value, text)).collect()),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| (text(&key).unwrap_or(key), moved_value(value, text)))
                .collect(),
        ),
        other => other,
    }
}

/// Writes files for whoever asked, below `dir`.
///
/// # Errors
/// When one cannot be written.
pub fn export(dir: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    for (name, bytes) in files {
        let at = dir.join(name);
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent)?;
        }
        whole(&at, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered() -> Covered {
        Covered {
            runner: "jest".to_owned(),
            project: String::new(),
            name: None,
            tests: vec![("a.test.js".to_owned(), "1f".to_owned())],
            inventory: "2f".to_owned(),
        }
    }

    #[test]
    fn only_the_pinned_bytes_are_a_set() {
        let dir = tempfile::tempdir().unwrap();
        let store = Coverage::beside(dir.path());
        assert_eq!(store.find(&covered()), Err(CoverageFault::None));
        let files = vec![("coverage-final.json".to_owned(), b"{\"/p/a.js\":{}}".to_vec())];
        store.put("/p", &covered(), &files).unwrap();
        assert_eq!(store.find(&covered()), Ok(Kept { root: "/p".to_owned(), files: files.clone() }));
        for other in [
            Covered { inventory: "3f".to_owned(), ..covered() },
            Covered { tests: Vec::new(), ..covered() },
            Covered { name: Some("x".to_owned()), ..covered() },
        ] {
            assert_eq!(store.find(&other), Err(CoverageFault::None));
        }
        let at = dir.path().join("coverage").join(covered().key());
        let manifest = fs::read_to_string(at.join("manifest.json")).unwrap();
        for (from, to) in
            [("/p", "/q"), ("\"root\":\"/p\",", ""), ("coverage/1", "coverage/2"), ("jest", "mocha")]
        {
            assert!(manifest.contains(from));
            fs::write(at.join("manifest.json"), manifest.replacen(from, to, 1)).unwrap();
            assert_eq!(store.find(&covered()), Err(CoverageFault::Manifest), "{from}");
        }
        fs::write(at.join("manifest.json"), manifest).unwrap();
        let file = at.join(sha256(&files[0].1));
        fs::write(&file, "{\"/p/b.js\":{}}").unwrap();
        assert_eq!(store.find(&covered()), Err(CoverageFault::Bytes));
        fs::remove_file(&file).unwrap();
        assert_eq!(store.find(&covered()), Err(CoverageFault::Bytes));
    }

    #[test]
    fn paths_move_and_nothing_else() {
        let json = b"{\"/p/a.js\":{\"path\":\"/p/a.js\",\"url\":\"file:///p/a.js\",\"n\":[1.50,\"/pp/a\"]},\"/p\":1}";
        let moved = rerooted("x.json", json, "/p", "/q/r");
        assert_eq!(
            String::from_utf8(moved).unwrap(),
            "{\"/q/r/a.js\":{\"path\":\"/q/r/a.js\",\"url\":\"file:///q/r/a.js\",\"n\":[1.5,\"/pp/a\"]},\"/q/r\":1}"
        );
        assert_eq!(rerooted("x.json", json, "/p", "/p"), json);
        let lcov = b"TN:\nSF:/p/a.js\nDA:1,1\nSF:b.js\nend_of_record\n";
        assert_eq!(
            rerooted("lcov.info", lcov, "/p", "/q"),
            b"TN:\nSF:/q/a.js\nDA:1,1\nSF:b.js\nend_of_record\n"
        );
        assert_eq!(rerooted("x.bin", b"/p/a", "/p", "/q"), b"/p/a");
    }

    #[test]
    fn sha256_is_sha256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
