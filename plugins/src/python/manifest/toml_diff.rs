//! `pyproject.toml` and its like: which keys differ, and what each means.

use std::collections::BTreeSet;

use super::{Kind, Meaning, Sides};
use crate::python::project::requirements::{self, PIPFILE, PYPROJECT, Requirements, Shape};

/// Tables of `pyproject.toml` that no test's verdict depends on. A path is inert when one
/// of these is a prefix of it; `*` is any key.
const INERT: &[&[&str]] = &[
    &["project", "version"],
    &["project", "description"],
    &["project", "readme"],
    &["project", "license"],
    &["project", "license-files"],
    &["project", "authors"],
    &["project", "maintainers"],
    &["project", "keywords"],
    &["project", "classifiers"],
    &["project", "urls"],
    &["tool", "poetry", "version"],
    &["tool", "poetry", "description"],
    &["tool", "poetry", "readme"],
    &["tool", "poetry", "license"],
    &["tool", "poetry", "authors"],
    &["tool", "poetry", "maintainers"],
    &["tool", "poetry", "keywords"],
    &["tool", "poetry", "classifiers"],
    &["tool", "poetry", "homepage"],
    &["tool", "poetry", "repository"],
    &["tool", "poetry", "documentation"],
    &["tool", "poetry", "urls"],
    &["tool", "poetry", "requires-poetry"],
    &["tool", "pyright"],
    &["tool", "basedpyright"],
    &["tool", "ruff"],
    &["tool", "black"],
    &["tool", "mypy"],
    &["tool", "isort"],
    &["tool", "pylint"],
    &["tool", "flake8"],
    &["tool", "bandit"],
    &["tool", "codespell"],
    &["tool", "typos"],
    &["tool", "towncrier"],
    &["tool", "commitizen"],
    &["tool", "semantic_release"],
    &["tool", "bumpversion"],
    &["tool", "bumpver"],
    &["tool", "tbump"],
    &["tool", "check-manifest"],
    &["tool", "check-wheel-contents"],
    &["tool", "cibuildwheel"],
    &["tool", "pydocstyle"],
    &["tool", "pydoclint"],
    &["tool", "numpydoc_validation"],
    &["tool", "docformatter"],
    &["tool", "interrogate"],
    &["tool", "vulture"],
    &["tool", "autopep8"],
    &["tool", "yapf"],
    &["tool", "yapfignore"],
    &["tool", "pycln"],
    &["tool", "autoflake"],
    &["tool", "refurb"],
    &["tool", "pyupgrade"],
    &["tool", "deptry"],
    &["tool", "djlint"],
    &["tool", "importlinter"],
    &["tool", "import-linter"],
    &["tool", "tach"],
    &["tool", "ty"],
    &["tool", "pyre"],
    &["tool", "pytype"],
    &["tool", "zuban"],
    &["tool", "git-cliff"],
    &["tool", "releaser"],
    &["tool", "changelog"],
    &["tool", "repo-review"],
    &["tool", "sphinx-pyproject"],
    &["tool", "mutmut"],
    &["tool", "cosmic-ray"],
    &["tool", "pre-commit"],
    &["tool", "validate-pyproject"],
    &["tool", "pyproject-fmt"],
    &["tool", "tomlsort"],
    &["tool", "dependabot"],
    &["tool", "renovate"],
    &["tool", "coverage", "report"],
    &["tool", "coverage", "html"],
    &["tool", "coverage", "xml"],
    &["tool", "coverage", "json"],
    &["tool", "coverage", "lcov"],
    &["tool", "coverage", "paths"],
    &["tool", "owed", "caps"],
    &["tool", "owed", "cap"],
];

/// Where a difference may mean another source of every package.
const INDEXES: &[&[&str]] = &[
    &["tool", "uv", "index"],
    &["tool", "uv", "index-url"],
    &["tool", "uv", "extra-index-url"],
    &["tool", "uv", "find-links"],
    &["tool", "uv", "resolution"],
    &["tool", "uv", "prerelease"],
    &["tool", "uv", "exclude-newer"],
    &["tool", "poetry", "source"],
    &["tool", "pdm", "source"],
    &["tool", "pdm", "resolution"],
    &["tool", "pixi", "workspace", "channels"],
    &["source"],
    &["index"],
    &["index-url"],
    &["extra-index-url"],
    &["workspace", "channels"],
];

/// Compares two states of a TOML manifest.
pub(super) fn manifest(sides: &Sides<'_>, kind: Kind) -> Result<Meaning, String> {
    let (base, head) = sides.each(|text| {
        text.parse::<toml::Table>().map_err(|error: toml::de::Error| error.message().to_owned())
    })?;
    let places: &[(&[&str], Shape)] = match kind {
        Kind::Pyproject => PYPROJECT,
        Kind::Pipfile => PIPFILE,
        Kind::ToolToml => requirements::of_tool(owed_engine::path::basename(sides.path)),
        _ => &[],
    };
    let mut meaning = Meaning::default();
    let (mut before, mut after) = (Requirements::new(), Requirements::new());
    requirements::from_toml(&base, places, &mut before);
    requirements::from_toml(&head, places, &mut after);
    meaning.compare(&before, &after);
    group_includes(&base, &head, &mut meaning);
    let mut differing = Vec::new();
    differences(&base, &head, &mut Vec::new(), &mut differing);
    for path in &differing {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let under = |prefix: &[&str]| {
            prefix.len() <= path.len() && prefix.iter().zip(&path).all(|(a, b)| *a == "*" || a == b)
        };
        let listed = places.iter().any(|(place, _)| under(place));
        let pypi = kind != Kind::PytestToml;
        if listed || (kind == Kind::Pyproject && INERT.iter().any(|p| under(p))) {
            continue;
        }
        if pypi && INDEXES.iter().any(|p| under(p)) {
            meaning.any_package = Some(format!("{}: `{}` differs", sides.path, path.join(".")));
            continue;
        }
        if kind == Kind::Pipfile && path.first() == Some(&"scripts") {
            continue;
        }
        meaning.shared = true;
    }
    Ok(meaning)
}

/// Adds what a dependency group includes on one side only (`{include-group = "test"}`):
/// such an item has no name of its own.
fn group_includes(base: &toml::Table, head: &toml::Table, meaning: &mut Meaning) {
    let includes = |root: &toml::Table| {
        let mut found = BTreeSet::new();
        let groups = root.get("dependency-groups").and_then(toml::Value::as_table);
        for (group, items) in groups.into_iter().flatten() {
            for item in items.as_array().into_iter().flatten() {
                let included = item.get("include-group").and_then(toml::Value::as_str);
                found.extend(included.map(|included| (group.clone(), included.to_owned())));
            }
        }
        found
    };
    for (_, group) in includes(base).symmetric_difference(&includes(head)) {
        let mut named = Requirements::new();
        for side in [base, head] {
            requirements::from_toml(
                side,
                &[(&["dependency-groups", group.as_str()], Shape::Texts)],
                &mut named,
            );
        }
        meaning.names.extend(named.into_keys());
    }
}

/// The paths of keys that differ. Tables are compared key by key, anything else whole.
fn differences(base: &toml::Table, head: &toml::Table, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let keys: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    for key in keys {
        at.push(key.clone());
        match (base.get(key), head.get(key)) {
            (Some(toml::Value::Table(a)), Some(toml::Value::Table(b))) => differences(a, b, at, found),
            (Some(toml::Value::Table(only)), None) | (None, Some(toml::Value::Table(only)))
                if !only.is_empty() =>
            {
                differences(only, &toml::Table::new(), at, found);
            }
            (a, b) if a != b => found.push(at.clone()),
            _ => {}
        }
        at.pop();
    }
}
