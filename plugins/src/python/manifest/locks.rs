//! Lock files: which distributions differ between two of them, and who depends on whom.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use super::{Meaning, Sides};
use crate::python::project::names::{normalise, requirement_name};

/// A lock file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    Uv,
    Poetry,
    Pdm,
    Pylock,
    Pipfile,
    /// A format that is not read here: any change may mean any package.
    Opaque,
}

/// Their file names.
pub(super) const NAMES: &[(&str, Lock)] = &[
    ("uv.lock", Lock::Uv),
    ("poetry.lock", Lock::Poetry),
    ("pdm.lock", Lock::Pdm),
    ("pylock.toml", Lock::Pylock),
];

/// A lock file as read.
#[derive(Clone, Debug, Default)]
pub(super) struct Locked {
    /// Normalised name to its entries as text (one a version), first-party ones left out.
    packages: BTreeMap<String, BTreeSet<String>>,
    /// Who depends on whom.
    pub(super) graph: Graph,
}

/// Reads a lock file.
pub(super) fn read(text: &str, lock: Lock) -> Result<Locked, String> {
    if lock == Lock::Pipfile {
        return pipfile(text);
    }
    let root: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let key = if lock == Lock::Pylock { "packages" } else { "package" };
    let mut locked = Locked::default();
    let list = root.get(key).and_then(toml::Value::as_array);
    if list.is_none() && root.contains_key(key) {
        return Err(format!("`{key}` is no list of packages"));
    }
    for package in list.into_iter().flatten().filter_map(toml::Value::as_table) {
        let Some(name) = package.get("name").and_then(toml::Value::as_str).map(normalise) else {
            return Err("a package has no name".to_owned());
        };
        locked.graph.know(&name);
        for needed in dependencies(package) {
            locked.graph.add(&name, &needed);
        }
        if !is_first_party(package) {
            locked.packages.entry(name).or_default().insert(toml::Value::Table(package.clone()).to_string());
        }
    }
    // Older poetry and pdm locks keep the digests apart.
    let files = root.get("metadata").and_then(|m| m.get("files")).and_then(toml::Value::as_table);
    for (name, digests) in files.into_iter().flatten() {
        // pdm writes `name 1.0`.
        let name = normalise(name.split(' ').next().unwrap_or(name));
        if let Some(entries) = locked.packages.get_mut(&name) {
            entries.insert(digests.to_string());
        }
    }
    Ok(locked)
}

/// The repository's own distributions: their entries repeat the manifests.
fn is_first_party(package: &toml::Table) -> bool {
    let source = package.get("source").and_then(toml::Value::as_table);
    let uv = source.is_some_and(|s| {
        ["editable", "virtual", "directory", "workspace"].iter().any(|key| s.contains_key(*key))
    });
    let poetry = source.and_then(|s| s.get("type")).and_then(toml::Value::as_str) == Some("directory");
    let other = ["path", "directory", "editable"].iter().any(|key| package.contains_key(*key));
    uv || poetry || other
}

/// The names a package's entry depends on, extras and groups included.
fn dependencies(package: &toml::Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for key in ["dependencies", "optional-dependencies", "dev-dependencies", "extras"] {
        if let Some(value) = package.get(key) {
            collect(value, key == "dependencies", &mut found);
        }
    }
    found
}

/// Names in a list of texts or of `{name = …}`, in a table by name, or one level deeper.
fn collect(value: &toml::Value, keys_are_names: bool, found: &mut BTreeSet<String>) {
    match value {
        toml::Value::Array(items) => {
            for item in items {
                let text = item.as_str().or_else(|| item.get("name").and_then(toml::Value::as_str));
                found.extend(text.and_then(requirement_name));
            }
        }
        toml::Value::Table(table) if keys_are_names => found.extend(table.keys().map(|name| normalise(name))),
        toml::Value::Table(table) => table.values().for_each(|inner| collect(inner, true, found)),
        _ => {}
    }
}

fn pipfile(text: &str) -> Result<Locked, String> {
    let root: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut locked = Locked::default();
    let object = root.as_object().ok_or("it is no JSON object")?;
    for (category, packages) in object.iter().filter(|(name, _)| *name != "_meta") {
        for (name, entry) in packages.as_object().into_iter().flatten() {
            let text = format!("{category} {entry}");
            locked.packages.entry(normalise(name)).or_default().insert(text);
        }
    }
    Ok(locked)
}

/// Compares two states of a lock file.
pub(super) fn diff(sides: &Sides<'_>, lock: Lock) -> Result<Meaning, String> {
    if lock == Lock::Opaque {
        let reason = format!("{}: this format is not read", sides.path);
        return Ok(Meaning { any_package: Some(reason), ..Meaning::default() });
    }
    let (base, head) = sides.each(|text| read(text, lock))?;
    let mut meaning = Meaning::default();
    meaning.compare(&base.packages, &head.packages);
    meaning.graph = base.graph;
    meaning.graph.merge(head.graph);
    if lock == Lock::Pipfile && !meaning.names.is_empty() {
        meaning.needs_graph = true;
        meaning.any_package =
            Some(format!("{}: it does not tell which packages depend on the changed ones", sides.path));
    }
    Ok(meaning)
}
