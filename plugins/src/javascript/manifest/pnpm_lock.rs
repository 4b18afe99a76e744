//! `pnpm-lock.yaml`, versions 5 to 9.
//!
//! What each workspace package resolves its dependencies to (`importers`) is part of the
//! entry of that dependency, so that one that moves to a version another one had before is
//! seen. Versions of dependencies are exact in this format.

use serde_json::Value;

use super::lock::{DEPENDENCY_KEYS, Lock, identity, name_of};
use super::yaml;

const IDENTITY: &[&str] = &[
    "resolution",
    "version",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "os",
    "cpu",
    "libc",
    "requiresBuild",
    "bundledDependencies",
    "patched",
    "transitivePeerDependencies",
];

const IMPORTER_KEYS: [&str; 3] = ["dependencies", "devDependencies", "optionalDependencies"];

/// Parts that follow from others, or say nothing about versions.
const INERT: &[&str] = &[
    "lockfileVersion",
    "settings",
    "specifiers",
    "catalogs",
    "overrides",
    "importers",
    "packages",
    "snapshots",
    "time",
    "pnpmfileChecksum",
    "packageExtensionsChecksum",
    "neverBuiltDependencies",
    "onlyBuiltDependencies",
    "ignoredOptionalDependencies",
    "patchedDependencies",
    "dependenciesMeta",
    "registry",
    "layoutVersion",
];

/// Reads a lock file.
pub(super) fn read(text: &str) -> Result<Lock, String> {
    let root = yaml::parse(text)?;
    let version = root.get("lockfileVersion").and_then(Value::as_str).ok_or("it has no `lockfileVersion`")?;
    let mut lock = Lock::of(version.split('.').next().unwrap_or(version));
    let map = |key: &str| root.get(key).and_then(Value::as_object).into_iter().flatten();
    for (importer, entry) in map("importers") {
        add_importer(&mut lock, importer, entry);
    }
    // Without workspaces the only importer is the document itself.
    add_importer(&mut lock, ".", &root);
    for section in ["packages", "snapshots"] {
        for (key, entry) in map(section) {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_else(|| package_name(key));
            lock.entry(name, format!("{section} {key} {}", identity(entry, IDENTITY)));
            let dependencies = DEPENDENCY_KEYS.into_iter().filter_map(|k| entry.get(k)?.as_object());
            lock.depends(name, dependencies.flat_map(|map| map.keys().map(String::as_str)));
        }
    }
    for (selector, patch) in map("patchedDependencies") {
        lock.entry(name_of(selector), format!("patch {selector} {}", identity(patch, &["hash", "path"])));
    }
    for (key, value) in root.as_object().into_iter().flatten() {
        if !INERT.contains(&key.as_str()) && !IMPORTER_KEYS.contains(&key.as_str()) {
            lock.rest.insert(key.clone(), value.to_string());
        }
    }
    Ok(lock)
}

fn add_importer(lock: &mut Lock, importer: &str, entry: &Value) {
    for key in IMPORTER_KEYS {
        for (name, resolved) in entry.get(key).and_then(Value::as_object).into_iter().flatten() {
            let version = resolved.get("version").or(Some(resolved)).and_then(Value::as_str).unwrap_or("");
            lock.entry(name, format!("importer {importer} {version}"));
            // `npm:` aliases resolve to the key of another package.
            let other = package_name(version);
            if version.starts_with('/') || version.get(1..).is_some_and(|rest| rest.contains('@')) {
                lock.depends(name, [other]);
            }
        }
    }
}

/// The name in `/name/1.0.0_peer`, `/name@1.0.0(peer)` or `name@1.0.0`.
fn package_name(key: &str) -> &str {
    let key = key.split('(').next().unwrap_or(key);
    let Some(path) = key.strip_prefix('/') else { return name_of(key) };
    // Version 5 separates by a slash, and peers after it may hold an `@`.
    let slashes = if path.starts_with('@') { 2 } else { 1 };
    let slash = path.match_indices('/').nth(slashes - 1).map_or(path.len(), |(at, _)| at);
    let name = name_of(path);
    if slash < name.len() { &path[..slash] } else { name }
}
