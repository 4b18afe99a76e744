//! Settings of package managers and compilers: `tsconfig`, `lerna.json`,
//! `pnpm-workspace.yaml`, `.npmrc`, and those that are only compared as a whole.

use std::collections::BTreeSet;

use owed_engine::language::ManifestDiff;
use owed_engine::tree::Tree;
use serde_json::Value;

use super::package_json::{overrides, ranges};
use super::{Sides, jsonc, npm, yaml};

/// JSON with comments, compared by value. The order of object keys does not count: `paths`
/// goes by the longest match. Only one side: shared.
pub(super) fn json(_: &dyn Tree, sides: &Sides<'_>) -> Result<ManifestDiff, String> {
    let base = sides.base.map(jsonc::parse).transpose()?;
    let head = sides.head.map(jsonc::parse).transpose()?;
    Ok(ManifestDiff { shared: base != head, ..ManifestDiff::default() })
}

/// Lists of packages are shared; catalogs, overrides and patches name their packages.
pub(super) fn pnpm_workspace(_: &dyn Tree, sides: &Sides<'_>) -> Result<ManifestDiff, String> {
    let read = |text: Option<&str>| text.map_or(Ok(Value::Null), yaml::parse);
    let (base, head) = (read(sides.base)?, read(sides.head)?);
    let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
    let mut shared = sides.base.is_some() != sides.head.is_some() || !ranges(&base, &head, &mut keys);
    for key in keys {
        let (old, new) = (base.get(&key).unwrap_or(&Value::Null), head.get(&key).unwrap_or(&Value::Null));
        shared |= match key.as_str() {
            "catalog" => !ranges(old, new, &mut names),
            "catalogs" => {
                let mut catalogs = BTreeSet::new();
                let known = ranges(old, new, &mut catalogs);
                !known
                    || catalogs.iter().any(|name| {
                        let side = |side: &Value| side.get(name).cloned().unwrap_or_default();
                        !ranges(&side(old), &side(new), &mut names)
                    })
            }
            "overrides" | "patchedDependencies" | "packageExtensions" => !overrides(old, new, &mut names),
            "onlyBuiltDependencies" | "neverBuiltDependencies" | "ignoredBuiltDependencies" => {
                let listed = [old, new].into_iter().filter_map(Value::as_array).flatten();
                names.extend(listed.filter_map(Value::as_str).map(str::to_owned));
                false
            }
            "minimumReleaseAge"
            | "minimumReleaseAgeExclude"
            | "auditConfig"
            | "updateConfig"
            | "catalogMode" => false,
            _ => true,
        };
    }
    Ok(ManifestDiff { shared, packages: npm(names), ..ManifestDiff::default() })
}

/// Keys of `.npmrc` that say where from and how loudly, not what is installed.
const INERT_NPMRC: &[&str] = &[
    "access",
    "audit",
    "audit-level",
    "cache",
    "color",
    "email",
    "fetch-retries",
    "fetch-retry-mintimeout",
    "fetch-timeout",
    "fund",
    "git-checks",
    "loglevel",
    "message",
    "network-concurrency",
    "progress",
    "provenance",
    "publish-branch",
    "registry",
    "save-exact",
    "save-prefix",
    "tag",
    "tag-version-prefix",
    "update-notifier",
];

/// `.npmrc`: anything but registries, credentials and logging may change what is installed
/// and where, which no lock file shows.
pub(super) fn npmrc(_: &dyn Tree, sides: &Sides<'_>) -> Result<ManifestDiff, String> {
    let lines = |text: Option<&str>| -> BTreeSet<String> {
        let line = |line: &str| {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                return None;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let (key, value) = (key.trim(), value.trim());
            let inert = key.starts_with("//") || key.ends_with(":registry") || INERT_NPMRC.contains(&key);
            (!inert).then(|| format!("{key}={value}"))
        };
        text.unwrap_or("").lines().filter_map(line).collect()
    };
    let differ = lines(sides.base) != lines(sides.head);
    let any = differ.then(|| format!("{} may change what is installed", sides.path));
    Ok(ManifestDiff { shared: differ, any_package: any, ..ManifestDiff::default() })
}

/// Settings that are not taken apart: any change but one of white space counts.
pub(super) fn opaque(_: &dyn Tree, sides: &Sides<'_>) -> Result<ManifestDiff, String> {
    let lines = |text: Option<&str>| -> Vec<String> {
        let lines = text.unwrap_or("").lines().map(str::trim_end);
        lines
            .filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    let differ = lines(sides.base) != lines(sides.head);
    let any = differ.then(|| format!("{} may change what is installed", sides.path));
    Ok(ManifestDiff { shared: differ, any_package: any, ..ManifestDiff::default() })
}
