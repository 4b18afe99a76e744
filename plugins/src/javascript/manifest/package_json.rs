//! `package.json`, key by key.
//!
//! - Keys for people and publishing ([`INERT`]) owe nothing.
//! - Dependency ranges, overrides and resolutions name the packages whose range differs.
//! - `scripts` matter when a changed one runs tests, by name or by what it calls.
//! - `exports`, `imports` and everything unknown are compared with their order, since the
//!   order of conditions and patterns is part of their meaning.
//! - A manifest that comes or goes is shared, and names its own package; without a lock
//!   file above it also every package it declares, for nothing else would say so.

use std::collections::BTreeSet;

use owed_engine::language::ManifestDiff;
use owed_engine::path;
use owed_engine::tree::Tree;
use serde_json::{Map, Value};

use super::{LOCKS, Sides, jsonc, npm};

/// Keys that neither a loader nor a test runner reads.
const INERT: &[&str] = &[
    "$schema",
    "_comment",
    "author",
    "bugs",
    "commitlint",
    "config-commitizen",
    "contributors",
    "cspell",
    "description",
    "directories",
    "eslintConfig",
    "eslintIgnore",
    "files",
    "funding",
    "homepage",
    "husky",
    "keywords",
    "knip",
    "license",
    "licenses",
    "lint-staged",
    "maintainers",
    "man",
    "nano-staged",
    "np",
    "prettier",
    "private",
    "publishConfig",
    "readme",
    "release",
    "release-it",
    "renovate",
    "repository",
    "simple-git-hooks",
    "size-limit",
    "standard",
    "stylelint",
    "version",
    "xo",
];

/// Keys whose entries are package names with ranges.
const RANGES: &[&str] = &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Keys whose entries select packages by a pattern and say what they become.
const OVERRIDES: &[&str] = &["overrides", "resolutions"];

/// Keys that are compared without their order.
const UNORDERED: &[&str] = &["engines", "bin", "peerDependenciesMeta", "dependenciesMeta", "devEngines"];

/// What a script mentions when it runs tests, or changes how they run.
const TEST_WORDS: &[&str] = &[
    "vitest",
    "jest",
    "mocha",
    "node --test",
    "node:test",
    "--test ",
    " tap",
    "tap ",
    "ava",
    "c8",
    "nyc",
    "NODE_OPTIONS",
    "cross-env",
    "playwright",
    "cypress",
    "jasmine",
    "karma",
    "uvu",
    "tsx --test",
    "bun test",
    "deno test",
];

/// Compares both sides.
pub(super) fn diff(tree: &dyn Tree, sides: &Sides<'_>) -> Result<ManifestDiff, String> {
    let base = sides.base.map(object).transpose()?;
    let head = sides.head.map(object).transpose()?;
    match (base, head) {
        (Some(base), Some(head)) => Ok(compare(&base, &head)),
        (Some(only), None) | (None, Some(only)) => Ok(alone(tree, sides.path, &only)),
        (None, None) => Ok(ManifestDiff::default()),
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match jsonc::parse(text)? {
        Value::Object(map) => Ok(map),
        _ => Err("it holds no object".to_owned()),
    }
}

/// A manifest that is only on one side.
fn alone(tree: &dyn Tree, manifest: &str, only: &Map<String, Value>) -> ManifestDiff {
    let mut names: BTreeSet<&str> = only.get("name").and_then(Value::as_str).into_iter().collect();
    let locked = path::ancestors(manifest).any(|dir| {
        LOCKS.iter().any(|(lock, _)| path::join(dir, lock).is_some_and(|lock| tree.is_file(&lock)))
    });
    for key in RANGES {
        let ranges = only.get(*key).and_then(Value::as_object).into_iter().flatten();
        let local = |range: &Value| {
            let range = range.as_str().unwrap_or("");
            ["file:", "link:", "portal:", "workspace:", "npm:", "."]
                .iter()
                .any(|scheme| range.starts_with(scheme))
        };
        names.extend(ranges.filter(|(_, range)| !locked || local(range)).map(|(name, _)| name.as_str()));
    }
    ManifestDiff { shared: true, packages: npm(names), ..ManifestDiff::default() }
}

fn compare(base: &Map<String, Value>, head: &Map<String, Value>) -> ManifestDiff {
    let mut shared = false;
    let mut names = BTreeSet::new();
    let keys: BTreeSet<&str> = base.keys().chain(head.keys()).map(String::as_str).collect();
    for key in keys {
        let (old, new) = (base.get(key).unwrap_or(&Value::Null), head.get(key).unwrap_or(&Value::Null));
        if INERT.contains(&key) || old == new && !order_counts(key) {
            continue;
        }
        match key {
            _ if RANGES.contains(&key) => shared |= !ranges(old, new, &mut names),
            _ if OVERRIDES.contains(&key) => shared |= !overrides(old, new, &mut names),
            "pnpm" => shared |= pnpm(old, new, &mut names),
            "scripts" => shared |= scripts(old, new),
            "name" if old == new => {}
            "name" => {
                shared = true;
                names.extend([old, new].into_iter().filter_map(Value::as_str).map(str::to_owned));
            }
            // The same with its order, or something that is not known.
            _ => shared |= in_order(old) != in_order(new),
        }
    }
    ManifestDiff { shared, packages: npm(names), ..ManifestDiff::default() }
}

/// A value with the order of its keys, which equality of values leaves out.
fn in_order(value: &Value) -> String {
    value.to_string()
}

fn order_counts(key: &str) -> bool {
    !RANGES.contains(&key)
        && !OVERRIDES.contains(&key)
        && !UNORDERED.contains(&key)
        && !matches!(key, "pnpm" | "scripts")
}

/// Adds the names whose entries differ. `false` when a side is no map.
pub(super) fn ranges(old: &Value, new: &Value, names: &mut BTreeSet<String>) -> bool {
    let empty = Map::new();
    let map = |value: &'_ Value| match value {
        Value::Object(map) => Some(map.clone()),
        Value::Null => Some(empty.clone()),
        _ => None,
    };
    let (Some(old), Some(new)) = (map(old), map(new)) else { return false };
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.extend(keys.into_iter().filter(|key| old.get(*key) != new.get(*key)).cloned());
    true
}

/// Overrides: the package that the last part of the pattern selects, and for nested maps
/// of npm every package in them.
pub(super) fn overrides(old: &Value, new: &Value, names: &mut BTreeSet<String>) -> bool {
    let mut keys = BTreeSet::new();
    if !ranges(old, new, &mut keys) {
        return false;
    }
    for key in keys {
        names.insert(selected(&key).to_owned());
        for side in [old.get(&key), new.get(&key)].into_iter().flatten() {
            nested(side, names);
        }
    }
    true
}

fn nested(value: &Value, names: &mut BTreeSet<String>) {
    // Bounded by the depth that the JSON reader allows.
    for (key, inner) in value.as_object().into_iter().flatten() {
        if key != "." {
            names.insert(selected(key).to_owned());
        }
        nested(inner, names);
    }
}

/// The package that a selector means: `a>b@1` and `**/b` mean `b`.
pub(super) fn selected(selector: &str) -> &str {
    let last = selector.rsplit('>').next().unwrap_or(selector);
    // Yarn separates by `/`; a scope keeps its own.
    let name = match last.rsplit_once('/') {
        Some((before, name)) => match before.rfind('@').filter(|at| !before[*at..].contains('/')) {
            Some(at) if at == 0 || before.as_bytes()[at - 1] == b'/' => &last[at..],
            _ => name,
        },
        None => last,
    };
    match name.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => &name[..=at],
        None => name,
    }
}

/// pnpm's own settings; whether something other than versions differs.
fn pnpm(old: &Value, new: &Value, names: &mut BTreeSet<String>) -> bool {
    let mut keys = BTreeSet::new();
    if !ranges(old, new, &mut keys) {
        return true;
    }
    let mut shared = false;
    for key in keys {
        let (old, new) = (old.get(&key).unwrap_or(&Value::Null), new.get(&key).unwrap_or(&Value::Null));
        shared |= match key.as_str() {
            "overrides" | "patchedDependencies" | "packageExtensions" => !overrides(old, new, names),
            "onlyBuiltDependencies" | "neverBuiltDependencies" | "ignoredBuiltDependencies" => {
                let listed = [old, new].into_iter().filter_map(Value::as_array).flatten();
                names.extend(listed.filter_map(Value::as_str).map(str::to_owned));
                false
            }
            "auditConfig" | "updateConfig" | "allowedDeprecatedVersions" => false,
            _ => true,
        };
    }
    shared
}

/// Whether a changed script runs tests.
fn scripts(old: &Value, new: &Value) -> bool {
    let mut keys = BTreeSet::new();
    if !ranges(old, new, &mut keys) {
        return true;
    }
    keys.iter().any(|key| {
        let texts = [old.get(key), new.get(key)].into_iter().flatten().filter_map(Value::as_str);
        let name = key.trim_start_matches("pre").trim_start_matches("post");
        name.starts_with("test")
            || texts.into_iter().any(|text| TEST_WORDS.iter().any(|word| text.contains(word)))
    })
}
