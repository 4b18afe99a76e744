//! A fingerprint of everything that decides what this program says about equal inputs: the
//! sources of the engine, the plugins and their tables, the versions of all dependencies,
//! and the machine it is built for. What an earlier build has cached is of no use to
//! another one; nobody has to remember to count a version up.

#![expect(clippy::disallowed_methods, reason = "a build script reads the sources it is a part of")]

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in the workspace");
    let mut hasher = DefaultHasher::new();
    let mut count = 0usize;
    for part in ["engine/src", "plugins/src", "queries", "Cargo.lock"] {
        let path = root.join(part);
        println!("cargo:rerun-if-changed={}", path.display());
        for file in files(&path) {
            file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
            fs::read(&file).unwrap_or_default().hash(&mut hasher);
            count += 1;
        }
    }
    for name in ["TARGET", "CARGO_PKG_VERSION"] {
        std::env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    fixed_address();
    println!("cargo:rustc-env=OWED_FINGERPRINT={:016x}-{count}", hasher.finish());
}

/// Links the program for a fixed address where that is one word to the linker. It starts in a
/// millisecond less of a few: the 36,000 addresses in its tables (grammars, mostly) need not be
/// written into memory at every start, which also copies each page they lie on.
fn fixed_address() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // A static program is linked another way.
    let is_static = std::env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|list| list.contains("crt-static"));
    let is_plain = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static;
    if is_plain && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bin=owed=-no-pie");
    }
}

/// The files at and below `path`, sorted.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return if path.is_file() { vec![path.to_owned()] } else { Vec::new() };
    };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}
