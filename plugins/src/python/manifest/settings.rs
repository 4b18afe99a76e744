//! `setup.cfg`, `tox.ini` and `pytest.ini`: which sections differ, and what each means.

use std::collections::BTreeSet;

use super::{Kind, Meaning, Sides};
use crate::python::project::ini::Ini;
use crate::python::project::requirements::{self, Requirements};

/// Sections that no test's verdict depends on, by the beginning of their names.
const INERT_SECTIONS: &[&str] = &[
    "flake8",
    "mypy",
    "isort",
    "pycodestyle",
    "pep8",
    "pydocstyle",
    "pylint",
    "bumpversion",
    "coverage:report",
    "coverage:html",
    "coverage:xml",
    "coverage:json",
    "coverage:lcov",
    "coverage:paths",
    "report",
    "bdist_wheel",
    "wheel",
    "sdist",
    "aliases",
    "egg_info",
    "codespell",
    "darglint",
    "yapf",
    "tool:interrogate",
    "tool:isort",
    "interrogate",
    "build_sphinx",
    "upload",
    "upload_docs",
    "devpi",
    "check-manifest",
    "check",
    "zest.releaser",
    "black",
    "doc8",
    "rstcheck",
    "gh-actions",
    "gh",
    "travis",
    "docformatter",
    "vulture",
    "pyright",
    "metadata",
    "semantic_release",
    "bandit",
    "autopep8",
    "pycln",
    "importlinter",
    "flake8-tidy-imports",
    "tool:codespell",
];

/// Environments of `tox.ini` that run no tests, by the parts of their names.
const OTHER_ENVIRONMENTS: &[&str] = &[
    "docs",
    "doc",
    "lint",
    "linters",
    "format",
    "fmt",
    "style",
    "mypy",
    "type",
    "types",
    "typing",
    "typecheck",
    "flake8",
    "black",
    "ruff",
    "pylint",
    "isort",
    "pyright",
    "pre-commit",
    "precommit",
    "build",
    "release",
    "publish",
    "packaging",
    "changelog",
    "checkdocs",
    "manifest",
    "twine",
    "codespell",
    "bandit",
    "spell",
    "docstrings",
];

/// Keys of `[tox]` that do not reach the tests.
const INERT_TOX: &[&str] = &[
    "envlist",
    "env_list",
    "minversion",
    "min_version",
    "skip_missing_interpreters",
    "isolated_build",
    "requires",
    "labels",
];

/// Compares two states of an INI file.
pub(super) fn diff(sides: &Sides<'_>, kind: Kind) -> Result<Meaning, String> {
    let (base, head) = sides.each(super::read_ini)?;
    let mut meaning = Meaning::default();
    let read = |ini: &Ini| {
        let mut out = Requirements::new();
        requirements::from_setup_cfg(ini, &mut out);
        requirements::from_tox(ini, &mut out);
        out
    };
    meaning.compare(&read(&base), &read(&head));
    let sections: BTreeSet<&str> = base.sections().chain(head.sections()).map(|(name, _)| name).collect();
    for section in sections {
        let empty = std::collections::BTreeMap::new();
        let before = base.section(section).unwrap_or(&empty);
        let after = head.section(section).unwrap_or(&empty);
        let appeared = base.has(section) != head.has(section);
        let keys: BTreeSet<&String> =
            before.keys().chain(after.keys()).filter(|key| before.get(*key) != after.get(*key)).collect();
        let only_present = appeared && keys.is_empty() && matches!(section, "pytest" | "tool:pytest");
        meaning.shared |= only_present || keys.into_iter().any(|key| matters(kind, section, key));
    }
    Ok(meaning)
}

fn matters(kind: Kind, section: &str, key: &str) -> bool {
    if kind == Kind::PytestIni {
        return section == "pytest";
    }
    let key = key.to_ascii_lowercase().replace('-', "_");
    if INERT_SECTIONS.iter().any(|inert| {
        section
            .strip_prefix(inert)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-', '.', '_']))
    }) {
        return false;
    }
    match section {
        "options" => !matches!(
            key.as_str(),
            "install_requires" | "tests_require" | "setup_requires" | "zip_safe" | "platforms"
        ),
        "options.extras_require" => false,
        "tox" => !INERT_TOX.contains(&key.as_str()),
        _ => match section.strip_prefix("testenv") {
            Some(environment) => {
                let tests = !environment
                    .split([':', '-', '_', ',', '{', '}'])
                    .any(|part| OTHER_ENVIRONMENTS.contains(&part));
                tests && !matches!(key.as_str(), "deps" | "description" | "labels")
            }
            None => true,
        },
    }
}
