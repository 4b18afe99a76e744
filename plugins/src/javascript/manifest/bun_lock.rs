//! `bun.lock`, the text format.
//!
//! `packages` holds `[name@version, registry, {dependencies…}, integrity]` by place
//! (`parent/name`); `workspaces` what each package of the repository asks for.

use serde_json::Value;

use super::jsonc;
use super::lock::{Lock, dependency_names, name_of};

const KNOWN: &[&str] = &[
    "lockfileVersion",
    "configVersion",
    "workspaces",
    "packages",
    "trustedDependencies",
    "patchedDependencies",
    "overrides",
    "catalog",
    "catalogs",
];

/// Reads a lock file.
pub(super) fn read(text: &str) -> Result<Lock, String> {
    let root = jsonc::parse(text)?;
    let packages = root.get("packages").and_then(Value::as_object).ok_or("it has no `packages`")?;
    let mut lock = Lock::of(root["lockfileVersion"].to_string());
    for (place, entry) in packages {
        let parts = entry.as_array().ok_or_else(|| format!("the entry `{place}` is no list"))?;
        let descriptor = parts.first().and_then(Value::as_str).unwrap_or(place);
        let name = place_name(place);
        let workspace = descriptor.contains("@workspace:");
        // The registry's address says nothing when there is an integrity.
        let rest =
            parts.iter().skip(1).filter(|part| !part.as_str().is_some_and(|text| text.contains("://")));
        let identity: Vec<String> = rest.map(Value::to_string).collect();
        lock.entry(
            name,
            format!("{place} {descriptor} {}", if workspace { String::new() } else { identity.join(" ") }),
        );
        if !workspace {
            for part in parts.iter().filter(|part| part.is_object()) {
                lock.depends(name, dependency_names(part));
            }
        }
        let real = name_of(descriptor);
        if real != name {
            lock.depends(name, [real]);
            lock.entry(real, format!("as {name} {descriptor} {}", identity.join(" ")));
        }
    }
    for (selector, patch) in root.get("patchedDependencies").and_then(Value::as_object).into_iter().flatten()
    {
        lock.entry(name_of(selector), format!("patch {patch}"));
    }
    for (key, value) in root.as_object().into_iter().flatten() {
        if !KNOWN.contains(&key.as_str()) {
            lock.rest.insert(key.clone(), value.to_string());
        }
    }
    Ok(lock)
}

/// The last package of a place: `a/@s/b` is `@s/b`.
fn place_name(place: &str) -> &str {
    match place.rsplit_once('/') {
        Some((before, name)) => match before.rsplit('/').next() {
            Some(scope) if scope.starts_with('@') => &place[place.len() - name.len() - scope.len() - 1..],
            _ => name,
        },
        None => place,
    }
}
