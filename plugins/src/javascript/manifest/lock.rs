//! Lock files of every format as one value, and what differs between two.
//!
//! A package is known by its name alone, since that is what an import says: it counts as
//! changed when the *set* of its entries differs (version, integrity, where it lies, what
//! it depends on). From there the answer closes upwards over the dependencies of both
//! sides. The repository's own packages are no nodes: their sources are followed by file.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::language::ManifestDiff;
use owed_engine::path;
use serde_json::Value;

use super::{ReadLock, npm};

/// A lock file as a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lock {
    /// The format, as far as entries of another one cannot be compared.
    pub(super) format: String,
    /// Everything that identifies the entries of a package, by name.
    entries: BTreeMap<String, BTreeSet<String>>,
    /// The names that a package depends on, by name.
    dependencies: BTreeMap<String, BTreeSet<String>>,
    /// Parts that are not understood, as text.
    pub(super) rest: BTreeMap<String, String>,
}

impl Lock {
    /// An empty lock of a format.
    pub(super) fn of(format: impl Into<String>) -> Self {
        Self { format: format.into(), ..Self::default() }
    }

    /// Adds one entry of `name` with what identifies it.
    pub(super) fn entry(&mut self, name: &str, identity: String) {
        self.entries.entry(name.to_owned()).or_default().insert(identity);
    }

    /// Adds what `name` depends on.
    pub(super) fn depends<'n>(&mut self, name: &str, on: impl IntoIterator<Item = &'n str>) {
        let set = self.dependencies.entry(name.to_owned()).or_default();
        set.extend(on.into_iter().filter(|other| *other != name).map(str::to_owned));
    }

    /// All names with an entry.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.entries.keys()
    }
}

/// Fields of an entry under which it names its dependencies.
pub(super) const DEPENDENCY_KEYS: [&str; 4] =
    ["dependencies", "optionalDependencies", "peerDependencies", "requires"];

/// The parts of an entry that identify it, in a fixed order.
pub(super) fn identity(entry: &Value, keys: &[&str]) -> String {
    let part =
        |key: &&str| entry.get(*key).filter(|v| !v.is_null()).map(|value| format!("{key}={}", sorted(value)));
    keys.iter().filter_map(part).collect::<Vec<_>>().join(" ")
}

/// The text of a value with the keys of its maps sorted. The readers bound its depth.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut parts: Vec<String> = map.iter().map(|(k, v)| format!("{k}:{}", sorted(v))).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

/// The names of all dependencies of an entry.
pub(super) fn dependency_names(entry: &Value) -> impl Iterator<Item = &str> {
    let maps = DEPENDENCY_KEYS.into_iter().filter_map(|key| entry.get(key)?.as_object());
    maps.flat_map(|map| map.keys().map(String::as_str))
}

/// What the change of a lock file means. One that comes or goes means any package at the
/// root of the project, and below it the packages it names.
pub(super) fn diff(path: &str, read: ReadLock, base: Option<&[u8]>, head: Option<&[u8]>) -> ManifestDiff {
    let mut diff = ManifestDiff { lock: true, ..ManifestDiff::default() };
    if base == head {
        return diff;
    }
    let text = |bytes: &[u8]| -> Result<Lock, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        read(text.strip_prefix('\u{feff}').unwrap_or(text))
    };
    let sides = [base, head].map(|side| side.map(text).transpose());
    match sides {
        [Err(cause), _] | [_, Err(cause)] => diff.broken = Some(format!("{path} cannot be read: {cause}")),
        [Ok(Some(base)), Ok(Some(head))] => {
            if base.format != head.format {
                diff.any_package =
                    Some(format!("{path} went from format {} to {}", base.format, head.format));
            } else if let Some(part) = changed_keys(&base.rest, &head.rest).first() {
                diff.any_package = Some(format!("`{part}` of {path} changed"));
            } else {
                diff.packages = npm(changed(&base, &head));
            }
        }
        [Ok(base), Ok(head)] => {
            let word = if head.is_some() { "new" } else { "gone" };
            match base.or(head) {
                Some(only) if !path::dirname(path).is_empty() => diff.packages = npm(only.names()),
                _ => diff.any_package = Some(format!("{path} is {word}")),
            }
        }
    }
    diff
}

/// Names whose entries differ, and all that depend on them on either side.
fn changed(base: &Lock, head: &Lock) -> BTreeSet<String> {
    let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, on) in base.dependencies.iter().chain(&head.dependencies) {
        for other in on {
            dependents.entry(other).or_default().push(name);
        }
    }
    let mut changed: BTreeSet<String> =
        changed_keys(&base.entries, &head.entries).into_iter().cloned().collect();
    changed.extend(changed_keys(&base.dependencies, &head.dependencies).into_iter().cloned());
    let mut queue: Vec<String> = changed.iter().cloned().collect();
    while let Some(name) = queue.pop() {
        for dependent in dependents.get(name.as_str()).into_iter().flatten() {
            if changed.insert((*dependent).to_owned()) {
                queue.push((*dependent).to_owned());
            }
        }
    }
    changed
}

fn changed_keys<'m, V: PartialEq>(
    base: &'m BTreeMap<String, V>,
    head: &'m BTreeMap<String, V>,
) -> Vec<&'m String> {
    let keys: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    keys.into_iter().filter(|key| base.get(*key) != head.get(*key)).collect()
}

/// The name in `name@version`, `/name@version` or `@scope/name@npm:range`.
pub(in super::super) fn name_of(descriptor: &str) -> &str {
    let descriptor = descriptor.trim_start_matches('/');
    match descriptor.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => &descriptor[..=at],
        None => descriptor,
    }
}
