//! What a changed manifest or lock file means for JavaScript projects.
//!
//! Manifests are compared by what they say, lock files package by package: white space
//! and order owe nothing. What is not understood is [`ManifestDiff::broken`] or
//! [`ManifestDiff::any_package`], never an empty answer.
//!
//! It refuses to read a registry or `node_modules`: a package is its lock entry.

mod bun_lock;
pub(super) mod jsonc;
mod lock;
mod npm_lock;
mod package_json;
mod pnpm_lock;
mod settings;
pub(super) mod yaml;
mod yarn_lock;

#[cfg(test)]
mod tests;

use owed_engine::language::ManifestDiff;
use owed_engine::path;
use owed_engine::tree::Tree;

use lock::Lock;
pub(super) use lock::name_of;

/// Reads one format of lock file.
type ReadLock = fn(&str) -> Result<Lock, String>;

/// Every lock file that is read here.
const LOCKS: &[(&str, ReadLock)] = &[
    ("package-lock.json", npm_lock::read),
    ("npm-shrinkwrap.json", npm_lock::read),
    ("pnpm-lock.yaml", pnpm_lock::read),
    ("yarn.lock", yarn_lock::read),
    ("bun.lock", bun_lock::read),
];

/// Lock files that are not text, or not read here: any change may be any package.
const OPAQUE_LOCKS: &[&str] = &["bun.lockb", ".pnp.cjs", ".pnp.loader.mjs", ".yarn-integrity"];

/// The meaning of a changed manifest or lock file; `None` when `path` is neither.
///
/// - `package.json`: see [`package_json`].
/// - `tsconfig*.json`, `jsconfig*.json`: shared when the JSON, without comments, differs.
/// - `pnpm-workspace.yaml`, `.npmrc`, `.yarnrc.yml`, `lerna.json`: see [`settings`].
/// - lock files: the packages whose entries differ, and all that depend on them.
pub fn diff(tree: &dyn Tree, path: &str, base: Option<&[u8]>, head: Option<&[u8]>) -> Option<ManifestDiff> {
    let name = path::basename(path);
    if path.split('/').any(|segment| segment == "node_modules") {
        return None;
    }
    if let Some((_, read)) = LOCKS.iter().find(|(lock, _)| *lock == name) {
        return Some(lock::diff(path, *read, base, head));
    }
    if OPAQUE_LOCKS.contains(&name) {
        let any = (base != head).then(|| format!("{path} changed, and its format is not read"));
        return Some(ManifestDiff { lock: true, any_package: any, ..ManifestDiff::default() });
    }
    let compare = match name {
        "package.json" => package_json::diff,
        "pnpm-workspace.yaml" => settings::pnpm_workspace,
        ".npmrc" => settings::npmrc,
        ".yarnrc.yml" | ".yarnrc" | "bunfig.toml" => settings::opaque,
        "lerna.json" => settings::json,
        _ if is_tsconfig(name) => settings::json,
        _ => return None,
    };
    let sides = match Sides::of(path, base, head) {
        Ok(sides) => sides,
        Err(broken) => return Some(ManifestDiff { broken: Some(broken), ..ManifestDiff::default() }),
    };
    Some(compare(tree, &sides).unwrap_or_else(|cause| ManifestDiff {
        broken: Some(format!("{path} cannot be read: {cause}")),
        ..ManifestDiff::default()
    }))
}

/// `tsconfig.json`, `tsconfig.build.json`, `jsconfig.json`, `base.tsconfig.json`.
fn is_tsconfig(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".json") else { return false };
    stem.split(['.', '-']).any(|part| matches!(part, "tsconfig" | "jsconfig"))
}

/// Both sides of a changed file as text.
struct Sides<'t> {
    path: &'t str,
    base: Option<&'t str>,
    head: Option<&'t str>,
}

impl<'t> Sides<'t> {
    fn of(path: &'t str, base: Option<&'t [u8]>, head: Option<&'t [u8]>) -> Result<Self, String> {
        let text = |bytes: Option<&'t [u8]>| {
            let text = bytes.map(std::str::from_utf8).transpose();
            text.map_err(|_| format!("{path} is not UTF-8"))
        };
        Ok(Self { path, base: text(base)?, head: text(head)? })
    }
}

/// Package names as targets: sorted, each once, with their ecosystem.
fn npm(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut packages: Vec<String> = names.into_iter().map(|name| format!("npm:{}", name.as_ref())).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}
