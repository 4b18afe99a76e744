//! What a changed manifest or lock file of Python means, entry by entry: inert (names,
//! linters, formatting), shared (roots, runner, build), or packages, closed over the
//! dependency graph of the lock files at hand. A file that cannot be read says so.

mod graph;
mod locks;
mod settings;
mod toml_diff;

use std::collections::BTreeSet;

use owed_engine::language::ManifestDiff;
use owed_engine::path;
use owed_engine::tree::Tree;

use self::graph::Graph;
use super::project::ini::Ini;
use super::project::names::imports_of;
use super::project::requirements::{self, Requirements, RequirementsFile};

/// The meaning of a changed manifest or lock file; `None` when `path` is neither.
pub fn diff(tree: &dyn Tree, path: &str, base: Option<&[u8]>, head: Option<&[u8]>) -> Option<ManifestDiff> {
    let kind = kind(path)?;
    let sides = match (text(base), text(head)) {
        (Ok(base), Ok(head)) => Sides { tree, path, base, head },
        (Err(side), _) | (_, Err(side)) => {
            return Some(ManifestDiff {
                lock: kind.is_lock(),
                broken: Some(format!("{path}: {side} side is not UTF-8 text")),
                ..ManifestDiff::default()
            });
        }
    };
    let mut found = match kind {
        Kind::Pyproject | Kind::PytestToml | Kind::Pipfile | Kind::ToolToml => {
            toml_diff::manifest(&sides, kind)
        }
        Kind::SetupCfg | Kind::Tox | Kind::PytestIni => settings::diff(&sides, kind),
        Kind::SetupPy | Kind::PythonVersion => whole(&sides),
        Kind::Requirements => requirements_diff(&sides),
        Kind::Conda => conda_diff(&sides),
        Kind::Lock(lock) => locks::diff(&sides, lock),
        Kind::Tool => Ok(Meaning::default()),
    }
    .unwrap_or_else(|broken| Meaning { broken: Some(format!("{path}: {broken}")), ..Meaning::default() });
    // A manifest that came or went changes what the project is.
    if !kind.is_lock()
        && kind != Kind::Tool
        && kind != Kind::Requirements
        && (base.is_none() || head.is_none())
    {
        found.shared = true;
    }
    Some(found.finish(&sides, kind.is_lock()))
}

/// What kind of manifest a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pyproject,
    PytestToml,
    PytestIni,
    SetupCfg,
    SetupPy,
    Tox,
    Pipfile,
    /// The own manifest of hatch, pixi, uv or tox.
    ToolToml,
    PythonVersion,
    Requirements,
    Conda,
    Lock(locks::Lock),
    /// Configuration of a linter, formatter or reporter.
    Tool,
}

impl Kind {
    fn is_lock(self) -> bool {
        matches!(self, Self::Lock(_))
    }
}

fn kind(path: &str) -> Option<Kind> {
    let name = path::basename(path);
    let lower = name.to_ascii_lowercase();
    let folder = path::basename(path::dirname(path));
    let pip = matches!(path::extension(&lower), "txt" | "in" | "pip" | "lock")
        && (lower.contains("requirements")
            || lower.contains("constraints")
            || matches!(folder, "requirements" | "reqs" | "constraints"));
    Some(match name {
        "pyproject.toml" => Kind::Pyproject,
        "pytest.toml" | ".pytest.toml" => Kind::PytestToml,
        "pytest.ini" | ".pytest.ini" => Kind::PytestIni,
        "setup.cfg" => Kind::SetupCfg,
        "setup.py" => Kind::SetupPy,
        "tox.ini" => Kind::Tox,
        "Pipfile" => Kind::Pipfile,
        "hatch.toml" | "pixi.toml" | "uv.toml" | "tox.toml" => Kind::ToolToml,
        "pixi.lock" | "conda-lock.yml" => Kind::Lock(locks::Lock::Opaque),
        ".python-version" => Kind::PythonVersion,
        "uv.lock" => Kind::Lock(locks::Lock::Uv),
        "poetry.lock" => Kind::Lock(locks::Lock::Poetry),
        "pdm.lock" => Kind::Lock(locks::Lock::Pdm),
        "pylock.toml" => Kind::Lock(locks::Lock::Pylock),
        "Pipfile.lock" => Kind::Lock(locks::Lock::Pipfile),
        "ruff.toml" | ".ruff.toml" | "mypy.ini" | ".mypy.ini" | ".flake8" | ".pylintrc" | "pylintrc"
        | ".isort.cfg" | "pyrightconfig.json" | ".bandit" | ".codespellrc" | ".style.yapf"
        | ".pydocstyle" | ".coveragerc" | "MANIFEST.in" => Kind::Tool,
        _ if name.starts_with("pylock.") && name.ends_with(".toml") => Kind::Lock(locks::Lock::Pylock),
        _ if lower.starts_with("environment") && matches!(path::extension(name), "yml" | "yaml") => {
            Kind::Conda
        }
        _ if pip => Kind::Requirements,
        _ => return None,
    })
}

/// Both sides of a changed file, as text.
struct Sides<'s> {
    tree: &'s dyn Tree,
    path: &'s str,
    base: Option<String>,
    head: Option<String>,
}

impl Sides<'_> {
    fn each<T>(&self, read: impl Fn(&str) -> Result<T, String>) -> Result<(T, T), String>
    where
        T: Default,
    {
        let side = |text: &Option<String>| text.as_deref().map_or_else(|| Ok(T::default()), &read);
        let base = side(&self.base).map_err(|reason| format!("the base side cannot be read: {reason}"))?;
        let head = side(&self.head).map_err(|reason| format!("it cannot be read: {reason}"))?;
        Ok((base, head))
    }
}

fn text(bytes: Option<&[u8]>) -> Result<Option<String>, &'static str> {
    let Some(bytes) = bytes else { return Ok(None) };
    let text = std::str::from_utf8(bytes).map_err(|_| "one")?;
    Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()))
}

/// What was found, before names are mapped and closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Meaning {
    shared: bool,
    /// Normalised names of distributions that differ.
    names: BTreeSet<String>,
    any_package: Option<String>,
    broken: Option<String>,
    /// The graphs of both sides, when the file has its own.
    graph: Graph,
    /// Whether dependents of the names can only come from a graph.
    needs_graph: bool,
}

impl Meaning {
    /// Compares requirements name by name; the interpreter's own version is shared.
    fn compare(&mut self, base: &Requirements, head: &Requirements) {
        for name in base.keys().chain(head.keys()) {
            if base.get(name) != head.get(name) {
                if name == "python" {
                    self.shared = true;
                } else {
                    self.names.insert(name.clone());
                }
            }
        }
    }

    fn finish(mut self, sides: &Sides<'_>, lock: bool) -> ManifestDiff {
        if !self.names.is_empty() {
            self.graph.merge(Graph::of_locks(sides.tree, path::dirname(sides.path)));
            self.graph.merge(Graph::of_installed(sides.tree, path::dirname(sides.path)));
        }
        if self.needs_graph && self.graph.knows(&self.names) {
            self.any_package = None;
        }
        let closed = self.graph.close(&self.names);
        let installed = graph::InstalledNames::new(sides.tree, path::dirname(sides.path));
        let mut packages = BTreeSet::new();
        for name in &closed {
            packages.extend(imports_of(name));
            packages.extend(installed.imports_of(name));
        }
        ManifestDiff {
            lock,
            shared: self.shared,
            packages: packages.into_iter().map(|name| format!("pypi:{name}")).collect(),
            any_package: self.any_package,
            broken: self.broken,
            ecosystem: None,
        }
    }
}

/// A file of which any change counts, white space and comments aside.
fn whole(sides: &Sides<'_>) -> Result<Meaning, String> {
    let lines = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().unwrap_or("");
        text.lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty() && !line.trim_start().starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    Ok(Meaning { shared: lines(&sides.base) != lines(&sides.head), ..Meaning::default() })
}

fn requirements_diff(sides: &Sides<'_>) -> Result<Meaning, String> {
    let (base, head) = sides.each(|text| Ok(RequirementsFile::parse(text)))?;
    let mut meaning = Meaning::default();
    meaning.compare(&base.entries, &head.entries);
    for included in base.includes.symmetric_difference(&head.includes) {
        let file = path::join(path::dirname(sides.path), included);
        match file.and_then(|file| sides.tree.text(&file)) {
            Some(text) => meaning.names.extend(RequirementsFile::parse(&text).entries.into_keys()),
            None => {
                meaning.any_package = Some(format!(
                    "{}: `{included}` is included on one side only and cannot be read",
                    sides.path
                ));
            }
        }
    }
    if let Some(option) = base.options.symmetric_difference(&head.options).next() {
        meaning.any_package = Some(format!("{}: `{option}` is there on one side only", sides.path));
    }
    for file in [&base, &head] {
        for (name, dependents) in &file.via {
            for dependent in dependents {
                meaning.graph.add(dependent, name);
            }
        }
    }
    let has_via = !base.via.is_empty() || !head.via.is_empty();
    if !meaning.names.is_empty() && !has_via && (base.pinned || head.pinned) && meaning.any_package.is_none()
    {
        meaning.needs_graph = true;
        meaning.any_package = Some(format!(
            "{}: pins without `# via` do not tell which packages depend on the changed ones",
            sides.path
        ));
    }
    Ok(meaning)
}

fn conda_diff(sides: &Sides<'_>) -> Result<Meaning, String> {
    let (base, head) = sides.each(|text| {
        requirements::from_conda(text).ok_or_else(|| "there is no `dependencies` list".to_owned())
    })?;
    let mut meaning = Meaning::default();
    meaning.compare(&base, &head);
    let rest = |text: &Option<String>| -> Vec<String> {
        let mut top = "";
        let mut kept = Vec::new();
        for line in text.as_deref().unwrap_or("").lines().filter(|line| !line.trim().is_empty()) {
            if !line.starts_with([' ', '-', '#']) {
                top = line.split(':').next().unwrap_or("");
            }
            if !matches!(top, "dependencies" | "name" | "prefix") {
                kept.push(line.trim().to_owned());
            }
        }
        kept
    };
    if rest(&sides.base) != rest(&sides.head) {
        meaning.any_package = Some(format!("{}: channels or other settings differ", sides.path));
    }
    Ok(meaning)
}

fn read_ini(text: &str) -> Result<Ini, String> {
    Ini::parse(text)
}

#[cfg(test)]
mod tests;
