//! `yarn.lock` of version 1 (its own format) and of later versions (YAML).
//!
//! An entry stands for all ranges that resolve to it; they are part of its identity, so
//! that a range that moves to another version is seen on both entries.

use serde_json::{Map, Value};

use super::lock::{DEPENDENCY_KEYS, Lock, identity, name_of};
use super::yaml;

const IDENTITY: &[&str] = &[
    "version",
    "resolution",
    "integrity",
    "checksum",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "conditions",
];

/// Reads a lock file.
pub(super) fn read(text: &str) -> Result<Lock, String> {
    let later = text.lines().any(|line| line.starts_with("__metadata:"));
    let root = if later { yaml::parse(text)? } else { version_1(text)? };
    let entries = root.as_object().ok_or("it holds no entries")?;
    let mut lock = Lock::of(if later { "2" } else { "1" });
    for (key, entry) in entries {
        if key == "__metadata" {
            // The cache key is part of every checksum.
            lock.format.push_str(entry.get("cacheKey").and_then(Value::as_str).unwrap_or(""));
            continue;
        }
        let mut descriptors: Vec<&str> = key.split(", ").collect();
        descriptors.sort_unstable();
        let local = entry.get("linkType").and_then(Value::as_str) == Some("soft");
        let names = descriptors.iter().map(|descriptor| name_of(descriptor));
        for name in names {
            let text = format!("{} {}", descriptors.join(", "), identity(entry, IDENTITY));
            if local {
                // The repository's own package; its dependencies are those of its files.
                lock.entry(name, format!("{} {}", descriptors.join(", "), identity(entry, &["resolution"])));
                continue;
            }
            let hashed = entry.get("integrity").or(entry.get("checksum")).is_some();
            let resolved = if hashed { String::new() } else { identity(entry, &["resolved"]) };
            lock.entry(name, format!("{text} {resolved}"));
            let maps = DEPENDENCY_KEYS.into_iter().filter_map(|k| entry.get(k)?.as_object());
            lock.depends(name, maps.flat_map(|map| map.keys().map(String::as_str)));
            // `alias@npm:real@1` depends on nothing else, but is `real`.
            if let Some(real) = entry.get("resolution").and_then(Value::as_str).map(name_of)
                && real != name
            {
                lock.depends(name, [real]);
                lock.entry(real, format!("as {name} {text}"));
            }
        }
    }
    Ok(lock)
}

/// Version 1: entries at the left, fields two spaces in, dependencies four.
fn version_1(text: &str) -> Result<Value, String> {
    let mut root = Map::new();
    let mut entry: Option<(String, Map<String, Value>)> = None;
    let mut section = String::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let wrong = || format!("line {}: not a yarn.lock entry", number + 1);
        match (line.len() - line.trim_start_matches(' ').len(), &mut entry) {
            (0, _) => {
                if let Some((key, fields)) = entry.take() {
                    root.insert(key, Value::Object(fields));
                }
                let key = content.strip_suffix(':').ok_or_else(wrong)?;
                entry = Some((key.replace('"', ""), Map::new()));
                section.clear();
            }
            (2, Some((_, fields))) => match content.strip_suffix(':') {
                Some(name) => {
                    name.clone_into(&mut section);
                    fields.insert(section.clone(), Value::Object(Map::new()));
                }
                None => {
                    let (name, value) = content.split_once(' ').ok_or_else(wrong)?;
                    fields.insert(name.to_owned(), Value::String(value.trim_matches('"').to_owned()));
                }
            },
            (4, Some((_, fields))) => {
                let inner = fields.get_mut(&section).and_then(Value::as_object_mut).ok_or_else(wrong)?;
                let (name, value) = pair(content).ok_or_else(wrong)?;
                inner.insert(name.to_owned(), Value::String(value.trim_matches('"').to_owned()));
            }
            _ => return Err(wrong()),
        }
    }
    if let Some((key, fields)) = entry {
        root.insert(key, Value::Object(fields));
    }
    Ok(Value::Object(root))
}

/// `name range` or `"@scope/name" "range"`.
fn pair(content: &str) -> Option<(&str, &str)> {
    match content.strip_prefix('"') {
        Some(rest) => {
            let (name, value) = rest.split_once('"')?;
            Some((name, value.trim()))
        }
        None => content.split_once(' '),
    }
}
