//! Which distributions a manifest asks for, and in which words. The words are kept so
//! that two states of a manifest can be compared name by name.

use std::collections::{BTreeMap, BTreeSet};

use super::ini::{self, Ini};
use super::literal::{Module, Value};
use super::names::{normalise, requirement_name};

/// Normalised name of a distribution to the texts that ask for it.
pub(crate) type Requirements = BTreeMap<String, BTreeSet<String>>;

/// How a place of a TOML manifest lists requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An array of PEP 508 texts.
    Texts,
    /// A table from name to constraint.
    Names,
}

/// Where requirements stand in `pyproject.toml`; `*` is any key.
pub(crate) const PYPROJECT: &[(&[&str], Shape)] = &[
    (&["project", "dependencies"], Shape::Texts),
    (&["project", "optional-dependencies", "*"], Shape::Texts),
    (&["dependency-groups", "*"], Shape::Texts),
    (&["tool", "poetry", "dependencies"], Shape::Names),
    (&["tool", "poetry", "dev-dependencies"], Shape::Names),
    (&["tool", "poetry", "group", "*", "dependencies"], Shape::Names),
    (&["tool", "uv", "dev-dependencies"], Shape::Texts),
    (&["tool", "uv", "constraint-dependencies"], Shape::Texts),
    (&["tool", "uv", "override-dependencies"], Shape::Texts),
    (&["tool", "uv", "sources"], Shape::Names),
    (&["tool", "pdm", "dev-dependencies", "*"], Shape::Texts),
    (&["tool", "rye", "dev-dependencies"], Shape::Texts),
    (&["tool", "hatch", "envs", "*", "dependencies"], Shape::Texts),
    (&["tool", "hatch", "envs", "*", "extra-dependencies"], Shape::Texts),
    (&["tool", "pixi", "dependencies"], Shape::Names),
    (&["tool", "pixi", "pypi-dependencies"], Shape::Names),
    (&["tool", "pixi", "feature", "*", "dependencies"], Shape::Names),
    (&["tool", "pixi", "feature", "*", "pypi-dependencies"], Shape::Names),
    (&["tool", "flit", "metadata", "requires"], Shape::Texts),
    (&["tool", "flit", "metadata", "requires-extra", "*"], Shape::Texts),
    (&["tool", "tox", "env_run_base", "deps"], Shape::Texts),
    (&["tool", "tox", "env", "*", "deps"], Shape::Texts),
];

/// Where requirements stand in a `Pipfile`.
pub(crate) const PIPFILE: &[(&[&str], Shape)] =
    &[(&["packages"], Shape::Names), (&["dev-packages"], Shape::Names)];

/// Where requirements stand in the own manifest of a tool, by its file name.
pub(crate) fn of_tool(name: &str) -> &'static [(&'static [&'static str], Shape)] {
    match name {
        "hatch.toml" => &[
            (&["envs", "*", "dependencies"], Shape::Texts),
            (&["envs", "*", "extra-dependencies"], Shape::Texts),
        ],
        "pixi.toml" => &[
            (&["dependencies"], Shape::Names),
            (&["pypi-dependencies"], Shape::Names),
            (&["feature", "*", "dependencies"], Shape::Names),
            (&["feature", "*", "pypi-dependencies"], Shape::Names),
        ],
        "uv.toml" => {
            &[(&["constraint-dependencies"], Shape::Texts), (&["override-dependencies"], Shape::Texts)]
        }
        "tox.toml" => &[(&["env_run_base", "deps"], Shape::Texts), (&["env", "*", "deps"], Shape::Texts)],
        _ => &[],
    }
}

/// Adds what `root` asks for at the given places.
pub(crate) fn from_toml(root: &toml::Table, places: &[(&[&str], Shape)], out: &mut Requirements) {
    for (path, shape) in places {
        visit(root, path, &mut |value| match shape {
            Shape::Texts => {
                for item in value.as_array().into_iter().flatten() {
                    if let Some(text) = item.as_str() {
                        add(text, out);
                    }
                }
            }
            Shape::Names => {
                for (name, constraint) in value.as_table().into_iter().flatten() {
                    out.entry(normalise(name)).or_default().insert(constraint.to_string());
                }
            }
        });
    }
}

/// Calls `found` with each value of `table` at `path`, in which `*` is any key.
pub(crate) fn visit<'t>(table: &'t toml::Table, path: &[&str], found: &mut dyn FnMut(&'t toml::Value)) {
    let Some((first, rest)) = path.split_first() else { return };
    let values = table.iter().filter(|(key, _)| *first == "*" || key == first).map(|(_, value)| value);
    for value in values {
        match (rest.is_empty(), value) {
            (true, value) => found(value),
            (false, toml::Value::Table(inner)) => visit(inner, rest, found),
            (false, _) => {}
        }
    }
}

/// Adds the requirement `text`, if it has a name.
pub(crate) fn add(text: &str, out: &mut Requirements) {
    if let Some(name) = requirement_name(text) {
        out.entry(name).or_default().insert(text.trim().to_owned());
    }
}

/// What `setup.cfg` asks for.
pub(crate) fn from_setup_cfg(ini: &Ini, out: &mut Requirements) {
    for key in ["install_requires", "tests_require"] {
        for line in ini.get("options", key).into_iter().flat_map(ini::lines) {
            add(line, out);
        }
    }
    for value in ini.section("options.extras_require").into_iter().flat_map(|keys| keys.values()) {
        for line in ini::lines(value) {
            add(line, out);
        }
    }
}

/// What the environments of `tox.ini` ask for.
pub(crate) fn from_tox(ini: &Ini, out: &mut Requirements) {
    for (name, keys) in ini.sections() {
        if name.starts_with("testenv") {
            for line in keys.get("deps").into_iter().flat_map(|value| ini::lines(value)) {
                // `py39: foo` and `cov,lint: foo` put a condition in front.
                let text = line.split_once(": ").map_or(line, |(_, requirement)| requirement);
                add(text, out);
            }
        }
    }
}

/// What a `setup.py` asks for, as far as it is literal.
pub(crate) fn from_setup_py(module: &Module, out: &mut Requirements) {
    for call in module.calls("setup") {
        let Value::Call(_, _, keywords) = call else { continue };
        for (name, value) in keywords {
            match (name.as_str(), value) {
                ("install_requires" | "tests_require" | "setup_requires", value) => {
                    value.texts().into_iter().for_each(|text| add(text, out));
                }
                ("extras_require", Value::Map(entries)) => {
                    entries.iter().flat_map(|(_, v)| v.texts()).for_each(|text| add(text, out));
                }
                _ => {}
            }
        }
    }
}

/// A pip requirements or constraints file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequirementsFile {
    /// Its own entries, with hashes and markers in their texts.
    pub(crate) entries: Requirements,
    /// `-r` and `-c` files, as written.
    pub(crate) includes: BTreeSet<String>,
    /// Other options (`--index-url …`), and entries without a name (`-e ./x`).
    pub(crate) options: BTreeSet<String>,
    /// Name to the names that need it, from pip-compile's `# via`.
    pub(crate) via: BTreeMap<String, BTreeSet<String>>,
    /// Whether every entry is pinned with `==`.
    pub(crate) pinned: bool,
}

impl RequirementsFile {
    /// Reads `text`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut file = Self { pinned: true, ..Self::default() };
        let joined = text.replace("\r\n", "\n").replace("\\\n", " ");
        let mut current: Option<String> = None;
        let mut in_via = false;
        for line in joined.lines() {
            let trimmed = line.trim();
            if let Some(comment) = trimmed.strip_prefix('#') {
                file.comment(comment.trim(), current.as_deref(), &mut in_via);
                continue;
            }
            in_via = false;
            let (text, comment) = match trimmed.split_once(" #") {
                Some((text, comment)) => (text.trim(), Some(comment.trim())),
                None => (trimmed, None),
            };
            if text.is_empty() {
                continue;
            }
            current = file.line(text);
            if let Some(comment) = comment {
                file.comment(comment, current.as_deref(), &mut in_via);
            }
        }
        file.pinned &= !file.entries.is_empty();
        file
    }

    fn line(&mut self, text: &str) -> Option<String> {
        for option in ["-r", "--requirement", "-c", "--constraint"] {
            if let Some(rest) = text.strip_prefix(option)
                && let Some(path) =
                    rest.strip_prefix(['=', ' ']).or(if option.len() == 2 { Some(rest) } else { None })
            {
                self.includes.insert(path.trim().to_owned());
                return None;
            }
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        let target = text.strip_prefix("-e ").or_else(|| text.strip_prefix("--editable ")).unwrap_or(&text);
        match requirement_name(target) {
            Some(name) if !target.starts_with('-') => {
                self.pinned &= target.contains("==") || target.contains(" @ ");
                self.entries.entry(name.clone()).or_default().insert(text);
                Some(name)
            }
            _ => {
                self.options.insert(text);
                None
            }
        }
    }

    fn comment(&mut self, comment: &str, current: Option<&str>, in_via: &mut bool) {
        let Some(current) = current else { return };
        let names = match comment.strip_prefix("via") {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => {
                *in_via = true;
                rest
            }
            _ if *in_via => comment,
            _ => return,
        };
        let dependents = self.via.entry(current.to_owned()).or_default();
        for name in names.split(',').map(str::trim) {
            // `-r requirements.in` and `project (pyproject.toml)` are no distributions.
            if !name.starts_with('-')
                && let Some(name) = requirement_name(name.split(' ').next().unwrap_or(""))
            {
                dependents.insert(name);
            }
        }
    }
}

/// What the `dependencies` of a conda `environment.yml` ask for, pip's part included.
/// `None` when the file has no such list.
pub(crate) fn from_conda(text: &str) -> Option<Requirements> {
    let mut out = Requirements::new();
    let mut inside = false;
    let mut seen = false;
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or("").trim_end();
        let item = line.trim_start();
        if item.is_empty() || item.starts_with('#') {
            continue;
        }
        if !line.starts_with([' ', '-']) {
            inside = item.starts_with("dependencies:");
            seen |= inside;
            let flow = item.strip_prefix("dependencies:").map(str::trim).filter(|rest| rest.starts_with('['));
            for name in flow.into_iter().flat_map(|list| list.trim_matches(['[', ']']).split(',')) {
                conda_item(name, &mut out);
            }
            continue;
        }
        if inside && let Some(item) = item.strip_prefix('-') {
            conda_item(item, &mut out);
        }
    }
    seen.then_some(out)
}

fn conda_item(item: &str, out: &mut Requirements) {
    let text = item.trim().trim_matches(['"', '\'']);
    if text.is_empty() || text.ends_with(':') {
        return;
    }
    let bare = text.rsplit("::").next().unwrap_or(text);
    add(bare, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_requirements_with_via() {
        let file = RequirementsFile::parse(
            "--index-url https://x\n-r base.txt\na==1 \\\n    --hash=sha256:1\n    # via\n    #   b\n    #   -r x.in\nb==2  # via c\n-e ./local\n",
        );
        assert_eq!(file.includes.iter().collect::<Vec<_>>(), ["base.txt"]);
        assert_eq!(file.via["a"].iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!(file.via["b"].iter().collect::<Vec<_>>(), ["c"]);
        assert!(file.entries["a"].iter().next().unwrap().contains("sha256:1"));
        assert_eq!(file.options.len(), 2);
        assert!(file.pinned);
    }

    #[test]
    fn reads_toml_places() {
        let root: toml::Table = "[project]\ndependencies=['A_b>=1']\n[dependency-groups]\ndev=['c',{include-group='x'}]\n[tool.poetry.group.d.dependencies]\nE='^1'\n"
            .parse()
            .unwrap();
        let mut out = Requirements::new();
        from_toml(&root, PYPROJECT, &mut out);
        assert_eq!(out.keys().collect::<Vec<_>>(), ["a-b", "c", "e"]);
    }

    #[test]
    fn reads_conda() {
        let out = from_conda(
            "name: x\ndependencies:\n  - python=3.11\n  - conda-forge::numpy>=1\n  - pip:\n    - foo==1\n",
        )
        .unwrap();
        assert_eq!(out.keys().collect::<Vec<_>>(), ["foo", "numpy", "python"]);
        assert_eq!(from_conda("name: x\n"), None);
    }
}
