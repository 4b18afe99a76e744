//! Names of distributions and of the modules they install. What a distribution installs
//! is known from a table, from its installed record, or guessed from its name; a guess
//! adds names and never removes one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The normalised name of a distribution (PEP 503): `Zope.Interface` is `zope-interface`.
pub(crate) fn normalise(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.trim().chars() {
        if matches!(c, '-' | '_' | '.') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out.trim_matches('-').to_owned()
}

/// The normalised name at the start of a requirement (PEP 508): `Foo[x]>=1; …` is `foo`.
/// `None` for options, URLs and paths without a name.
pub(crate) fn requirement_name(requirement: &str) -> Option<String> {
    let text = requirement.trim();
    if let Some((_, egg)) = text.split_once("#egg=") {
        return requirement_name(egg.split('&').next().unwrap_or(egg));
    }
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    let named = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && (rest.is_empty()
            || rest.starts_with(['[', '(', '<', '>', '=', '!', '~', ';', '@', ',', '#', '^']));
    let file = rest.is_empty() && [".whl", ".zip", ".gz", ".txt"].iter().any(|e| name.ends_with(e));
    (named && !file).then(|| normalise(name))
}

struct Table {
    imports: BTreeMap<String, Vec<String>>,
    namespaces: BTreeMap<String, String>,
    plugins: BTreeSet<String>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let text = include_str!("../../../../queries/python/distributions.toml");
        let root: toml::Table = text.parse().expect("the embedded table is valid, as a test checks");
        let strings = |value: &toml::Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        let section =
            |name: &str| root.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
        Table {
            imports: section("imports").iter().map(|(k, v)| (k.clone(), strings(v))).collect(),
            namespaces: section("namespaces")
                .iter()
                .filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
                .collect(),
            plugins: section("pytest-plugins")
                .get("names")
                .map(strings)
                .unwrap_or_default()
                .into_iter()
                .collect(),
        }
    })
}

/// The top-level modules the distribution `name` (normalised) may install, sorted: its
/// own name as a module, those of the table, and what its name suggests.
pub(crate) fn imports_of(name: &str) -> Vec<String> {
    let table = table();
    let mut imports = BTreeSet::from([name.replace('-', "_")]);
    match table.imports.get(name) {
        Some(known) => imports.extend(known.iter().cloned()),
        None => imports.extend(guesses(name)),
    }
    for (prefix, import) in &table.namespaces {
        if name.starts_with(prefix.as_str()) {
            imports.insert(import.clone());
        }
    }
    imports.into_iter().collect()
}

/// What a name that is in no table suggests: `python-x`, `py-x`, `x-py`, `x-python` and
/// `x-binary` install `x`; `django-x` installs `x`.
fn guesses(name: &str) -> impl Iterator<Item = String> {
    let prefixes = ["python-", "python3-", "py-", "django-", "flask-"];
    let suffixes = ["-python", "-python3", "-py", "-py3", "-binary", "-headless", "-ng", "-python-client"];
    let cut_front = prefixes.into_iter().filter_map(move |p| name.strip_prefix(p));
    let cut_back = suffixes.into_iter().filter_map(move |s| name.strip_suffix(s));
    let glued = name.strip_prefix("py").filter(|rest| rest.len() > 2 && !rest.starts_with(['-', 't']));
    cut_front.chain(cut_back).chain(glued).filter(|n| !n.is_empty()).map(|n| n.replace('-', "_"))
}

/// Whether the distribution extends pytest by being installed.
pub(crate) fn is_pytest_plugin(name: &str) -> bool {
    name.starts_with("pytest-") || name.ends_with("-pytest") || table().plugins.contains(name)
}

/// Whether `name` is a top-level module of the standard library in any supported version.
pub(crate) fn is_stdlib(name: &str) -> bool {
    static NAMES: OnceLock<rustc_hash::FxHashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| stdlib().collect()).contains(name)
}

/// The top-level modules of the standard library in any supported version, sorted.
pub(crate) fn stdlib() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("../../../../queries/python/stdlib.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether `name` is a Python identifier (keywords are let through).
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_have_names() {
        for (text, name) in [
            ("Foo[x]>=1.0; python_version < '3.9'", Some("foo")),
            ("zope.interface==5", Some("zope-interface")),
            ("a @ https://x/y.whl", Some("a")),
            ("a (>=1)", Some("a")),
            ("git+https://h/x.git#egg=Name_x", Some("name-x")),
            ("-r other.txt", None),
            ("./local", None),
            ("https://h/x.whl", None),
            ("x.whl", None),
        ] {
            assert_eq!(requirement_name(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn distributions_have_imports() {
        for (dist, import) in [
            ("pyyaml", "yaml"),
            ("pillow", "PIL"),
            ("attrs", "attr"),
            ("google-cloud-bigquery", "google"),
            ("zope-event", "zope"),
            ("python-unknown", "unknown"),
            ("pytest-cov", "pytest_cov"),
            ("scikit-learn", "sklearn"),
        ] {
            assert!(imports_of(dist).iter().any(|i| i == import), "{dist}");
        }
        assert!(!imports_of("pytest-cov").contains(&"pytest".to_owned()));
        assert!(table().imports.len() > 150);
    }

    #[test]
    fn the_standard_library_is_known() {
        assert!(is_stdlib("tomllib") && is_stdlib("distutils") && is_stdlib("annotationlib"));
        assert!(!is_stdlib("yaml") && !is_stdlib(""));
    }
}
