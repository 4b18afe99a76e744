//! `package-lock.json` and `npm-shrinkwrap.json`, versions 1, 2 and 3.
//!
//! Versions 2 and 3 list places (`node_modules/a/node_modules/b`), version 1 nests. A
//! place is part of an entry: one that moves is found by others. Links to the
//! repository's own packages and their entries are left out.

use serde_json::{Map, Value};

use super::jsonc;
use super::lock::{Lock, dependency_names, identity};

const IDENTITY: &[&str] = &[
    "version",
    "integrity",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "requires",
    "os",
    "cpu",
    "libc",
    "bundleDependencies",
    "inBundle",
    "hasInstallScript",
];

/// Reads a lock file.
pub(super) fn read(text: &str) -> Result<Lock, String> {
    let json = jsonc::parse(text)?;
    let root = json.as_object().ok_or("it holds no object")?;
    let mut lock = Lock::default();
    if let Some(Value::Object(packages)) = root.get("packages") {
        lock.format = "2".to_owned();
        for (place, entry) in packages {
            if let Some((_, name)) = place.rsplit_once("node_modules/") {
                add(&mut lock, place, name, entry);
            }
        }
    } else if root.contains_key("dependencies") || root.contains_key("lockfileVersion") {
        lock.format = "1".to_owned();
        let mut queue = vec![(String::new(), root.get("dependencies"))];
        while let Some((place, dependencies)) = queue.pop() {
            for (name, entry) in dependencies.and_then(Value::as_object).into_iter().flatten() {
                let place = format!("{place}/{name}");
                add(&mut lock, &place, name, &without_nested(entry));
                queue.push((place, entry.get("dependencies")));
            }
        }
    } else {
        return Err("it has neither `packages` nor `dependencies`".to_owned());
    }
    Ok(lock)
}

fn add(lock: &mut Lock, place: &str, name: &str, entry: &Value) {
    if entry.get("link") == Some(&Value::Bool(true)) {
        lock.entry(name, format!("{place} link {}", entry.get("resolved").unwrap_or(&Value::Null)));
        return;
    }
    let mut text = format!("{place} {}", identity(entry, IDENTITY));
    if entry.get("integrity").is_none() {
        // Git and tarball addresses have nothing else.
        text.push_str(&identity(entry, &["resolved", "from"]));
    }
    lock.entry(name, text);
    lock.depends(name, dependency_names(entry));
    // `"name"` is what the directory holds when it is installed under an alias.
    if let Some(real) = entry.get("name").and_then(Value::as_str) {
        lock.depends(name, [real]);
        lock.entry(real, format!("{place} {}", identity(entry, IDENTITY)));
    }
}

/// In version 1 `dependencies` are nested entries, not what is required.
fn without_nested(entry: &Value) -> Value {
    let keep = |(key, _): &(&String, &Value)| *key != "dependencies";
    let map: Map<String, Value> =
        entry.as_object().into_iter().flatten().filter(keep).map(|(k, v)| (k.clone(), v.clone())).collect();
    Value::Object(map)
}
