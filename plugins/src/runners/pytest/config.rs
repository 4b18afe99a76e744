//! pytest's configuration files: which one of a directory holds, and what it says that
//! decides which files are tests and what they share.

use std::collections::BTreeMap;

use owed_engine::path;
use owed_engine::tree::Tree;

use crate::python::project::ini::{self, Ini, shell_words};
use crate::python::project::requirements;

/// File names in the order pytest looks for them in a directory.
pub(crate) const NAMES: &[&str] =
    &["pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];

/// One directory's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The directory: pytest's rootdir.
    pub(crate) dir: String,
    /// The file that holds; `None` where pytest runs without one.
    pub(crate) file: Option<String>,
    /// `testpaths`, as written.
    pub(crate) testpaths: Vec<String>,
    /// `python_files` patterns.
    pub(crate) python_files: Vec<String>,
    /// `norecursedirs` patterns.
    pub(crate) norecursedirs: Vec<String>,
    /// `pythonpath`, as written, and `PYTHONPATH` of pytest-env.
    pub(crate) pythonpath: Vec<String>,
    /// Plugins loaded with `-p`.
    pub(crate) plugins: Vec<String>,
    /// Plugins kept out with `-p no:`.
    pub(crate) without: Vec<String>,
    /// All options of `addopts`.
    pub(crate) words: Vec<String>,
    /// `--ignore` paths, as written.
    pub(crate) ignore: Vec<String>,
    /// `--ignore-glob` patterns.
    pub(crate) ignore_globs: Vec<String>,
    /// Whether docstrings of all modules are tests.
    pub(crate) doctest_modules: bool,
    /// Text files that hold doctests.
    pub(crate) doctest_globs: Vec<String>,
    /// Django's settings module, when named.
    pub(crate) settings: Option<String>,
    /// Files with environment variables (pytest-dotenv).
    pub(crate) env_files: Vec<String>,
    /// A higher file that could not be read, with the reason.
    pub(crate) broken: Option<(String, String)>,
}

impl Config {
    /// pytest without any configuration, run in `dir`.
    pub(crate) fn bare(dir: &str) -> Self {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        Self {
            dir: dir.to_owned(),
            python_files: words("test_*.py *_test.py"),
            norecursedirs: words("*.egg .* _darcs build CVS dist node_modules venv {arch}"),
            doctest_globs: words("test*.txt"),
            ..Self::default()
        }
    }

    /// The configuration of `dir`, of which `names` are the files that exist; `None`
    /// when none of them configures pytest.
    pub(crate) fn read(tree: &dyn Tree, dir: &str, names: &[&str]) -> Option<Self> {
        let mut broken = None;
        for name in NAMES.iter().filter(|name| names.contains(name)) {
            let file = path::join(dir, name).expect("a name stays below its directory");
            match values(tree, &file) {
                Ok(Some(values)) => {
                    let mut config = Self { file: Some(file), broken, ..Self::bare(dir) };
                    config.fill(&values);
                    return Some(config);
                }
                Ok(None) => {}
                // pytest stops at a file it cannot read; what it would have said is unknown.
                Err(reason) => broken = broken.or(Some((file, reason))),
            }
        }
        let (file, reason) = broken?;
        Some(Self { file: Some(file.clone()), broken: Some((file, reason)), ..Self::bare(dir) })
    }

    /// The configuration in `file`, whatever its name (`pytest -c file`).
    pub(crate) fn read_file(tree: &dyn Tree, dir: &str, file: &str) -> Option<Self> {
        let values = values(tree, file).ok()??;
        let mut config = Self { file: Some(file.to_owned()), ..Self::bare(dir) };
        config.fill(&values);
        Some(config)
    }

    fn fill(&mut self, values: &Values) {
        self.testpaths = values.words("testpaths");
        for (key, to) in
            [("python_files", &mut self.python_files), ("norecursedirs", &mut self.norecursedirs)]
        {
            if values.has(key) {
                *to = values.words(key);
            }
        }
        self.pythonpath = values.words("pythonpath");
        self.settings = values.words("DJANGO_SETTINGS_MODULE").into_iter().next();
        self.env_files = values.lines("env_files");
        for line in values.lines("env") {
            let (name, value) = line.split_once('=').unwrap_or((&line, ""));
            match name.trim().rsplit(':').next().unwrap_or("") {
                "PYTHONPATH" => self.pythonpath.extend(value.trim().split(':').map(str::to_owned)),
                "DJANGO_SETTINGS_MODULE" => self.settings = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        self.options(&values.words("addopts"));
    }

    /// Takes command-line options (`addopts`).
    pub(crate) fn options(&mut self, words: &[String]) {
        self.words.extend(words.iter().cloned());
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ if word.starts_with("-p") && word.len() > 2 && !word.starts_with("--") => {
                    ("-p", Some(word[2..].trim_start_matches('=').to_owned()))
                }
                _ => (word.as_str(), None),
            };
            if name == "--doctest-modules" {
                self.doctest_modules = true;
                continue;
            }
            let takes = ["-p", "--ignore", "--ignore-glob", "--doctest-glob", "--ds"].contains(&name);
            let value = if takes && inline.is_none() { words.next().cloned() } else { inline };
            let Some(value) = value else { continue };
            match name {
                "-p" => match value.strip_prefix("no:") {
                    Some(plugin) => self.without.push(plugin.to_owned()),
                    None => self.plugins.push(value),
                },
                "--ignore" => self.ignore.push(value),
                "--ignore-glob" => self.ignore_globs.push(value),
                "--doctest-glob" => self.doctest_globs.push(value),
                "--ds" => self.settings = Some(value),
                _ => {}
            }
        }
    }
}

/// The pytest part of a configuration file.
enum Values {
    Ini(BTreeMap<String, String>),
    Toml(toml::Table),
}

impl Values {
    fn has(&self, key: &str) -> bool {
        match self {
            Self::Ini(keys) => keys.contains_key(key),
            Self::Toml(table) => table.contains_key(key),
        }
    }

    fn texts(&self, key: &str, split: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        match self {
            Self::Ini(keys) => keys.get(key).map(|text| split(text)).unwrap_or_default(),
            Self::Toml(table) => match table.get(key) {
                Some(toml::Value::String(text)) => split(text),
                Some(toml::Value::Array(items)) => {
                    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
                }
                _ => Vec::new(),
            },
        }
    }

    /// A list split as a shell would.
    fn words(&self, key: &str) -> Vec<String> {
        self.texts(key, shell_words)
    }

    /// A list with an entry a line.
    fn lines(&self, key: &str) -> Vec<String> {
        self.texts(key, |text| ini::lines(text).map(str::to_owned).collect())
    }
}

/// What `file` says about pytest; `None` when it configures something else only.
fn values(tree: &dyn Tree, file: &str) -> Result<Option<Values>, String> {
    let text = tree.text(file).ok_or("it cannot be read as UTF-8 text")?;
    let name = path::basename(file);
    if path::extension(name) == "toml" || name == ".pytest.toml" {
        let root: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        if name != "pyproject.toml" {
            let table = root.get("pytest").and_then(toml::Value::as_table);
            return Ok(Some(Values::Toml(table.cloned().unwrap_or_default())));
        }
        let mut found: Option<toml::Table> = None;
        requirements::visit(&root, &["tool", "pytest"], &mut |value| {
            let table = value.as_table().cloned().unwrap_or_default();
            found = Some(match table.get("ini_options").and_then(toml::Value::as_table) {
                Some(classic) => classic.clone(),
                None => table,
            });
        });
        return Ok(found.map(Values::Toml));
    }
    let sections: &[&str] = match name {
        "setup.cfg" => &["tool:pytest"],
        _ => &["pytest"],
    };
    let ini = match Ini::parse(&text) {
        Ok(ini) => ini,
        // pytest reads `tox.ini` and `setup.cfg` only for its own section.
        Err(_)
            if matches!(name, "tox.ini" | "setup.cfg") && !text.contains(&format!("[{}]", sections[0])) =>
        {
            return Ok(None);
        }
        Err(reason) => return Err(reason),
    };
    let section = sections.iter().find_map(|section| ini.section(section));
    let always = name.ends_with("pytest.ini");
    Ok(match section {
        Some(keys) => Some(Values::Ini(keys.clone())),
        None if always => Some(Values::Ini(BTreeMap::new())),
        None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use owed_engine::tree::MemoryTree;

    fn read(files: &[(&str, &str)]) -> Option<Config> {
        let tree = MemoryTree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())));
        let names: Vec<&str> = files.iter().map(|(p, _)| *p).collect();
        Config::read(&tree, "", &names)
    }

    #[test]
    fn the_first_file_that_configures_holds() {
        let pyproject = ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths=['a']\n");
        for (files, file) in [
            (vec![("pytest.ini", ""), pyproject], Some("pytest.ini")),
            (vec![("tox.ini", "[pytest]\n"), pyproject], Some("pyproject.toml")),
            (vec![("pyproject.toml", "[project]\n"), ("tox.ini", "[pytest]\n")], Some("tox.ini")),
            (vec![("setup.cfg", "[tool:pytest]\n")], Some("setup.cfg")),
            (vec![("setup.cfg", "[metadata]\n"), ("tox.ini", "[tox]\n")], None),
            (vec![("pyproject.toml", "[tool.pytest]\ntestpaths=['a']\n")], Some("pyproject.toml")),
            (vec![("pytest.toml", "[pytest]\n"), ("pytest.ini", "")], Some("pytest.toml")),
        ] {
            assert_eq!(read(&files).and_then(|c| c.file).as_deref(), file, "{files:?}");
        }
    }

    #[test]
    fn options_are_read() {
        let config = read(&[(
            "pytest.ini",
            "[pytest]\naddopts = -p my.plugin -pno:cacheprovider --ignore=old --doctest-modules --ds=proj.settings -m 'not slow'\npython_files = check_*.py\nenv =\n  D:PYTHONPATH=lib\n",
        )])
        .unwrap();
        assert_eq!(config.plugins, ["my.plugin"]);
        assert_eq!(config.ignore, ["old"]);
        assert!(config.doctest_modules);
        assert_eq!(config.settings.as_deref(), Some("proj.settings"));
        assert_eq!(config.python_files, ["check_*.py"]);
        assert_eq!(config.pythonpath, ["lib"]);
    }

    #[test]
    fn a_broken_file_is_told() {
        let config = read(&[("pyproject.toml", "[tool.pytest"), ("setup.cfg", "[tool:pytest]\n")]).unwrap();
        assert_eq!(config.broken.unwrap().0, "pyproject.toml");
        assert!(read(&[("pytest.ini", "what\n")]).unwrap().broken.is_some());
        assert_eq!(read(&[("tox.ini", "what\n")]), None);
    }
}
