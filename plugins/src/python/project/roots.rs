//! Reads one distribution: its manifests in whatever build system they are written for.

use super::builds::each_text;
use super::*;
use owed_engine::resolve::AliasFind;

/// Collects what the manifests of one directory say.
pub(super) struct Reader<'t> {
    tree: &'t dyn Tree,
    pub(super) found: Distribution,
    /// Roots the manifests name.
    explicit: Vec<String>,
    /// Roots that only tools other than the build name.
    hints: Vec<String>,
    members: Vec<String>,
    requirements: Requirements,
}

/// Keys under which build systems name the file they write a version into.
const VERSION_FILE_KEYS: &[&str] =
    &["write_to", "version_file", "version-file", "write-to", "build-file", "versionfile_source"];

impl<'t> Reader<'t> {
    pub(super) fn new(tree: &'t dyn Tree, dir: &str) -> Self {
        Self {
            tree,
            found: Distribution { dir: dir.to_owned(), ..Distribution::default() },
            explicit: Vec::new(),
            hints: Vec::new(),
            members: Vec::new(),
            requirements: Requirements::new(),
        }
    }

    /// Reads one manifest of the directory.
    pub(super) fn manifest(&mut self, manifest: &str, broken: &mut BTreeMap<String, String>) {
        self.found.manifests.push(manifest.to_owned());
        let Some(text) = self.tree.text(manifest) else {
            broken.insert(manifest.to_owned(), "it cannot be read as UTF-8 text".to_owned());
            return;
        };
        match path::basename(manifest) {
            "pyproject.toml" => match text.parse::<toml::Table>() {
                Ok(root) => self.pyproject(&root),
                Err(error) => {
                    broken.insert(manifest.to_owned(), error.message().to_owned());
                }
            },
            "setup.cfg" => match Ini::parse(&text) {
                Ok(ini) => self.setup_cfg(&ini),
                Err(error) => {
                    broken.insert(manifest.to_owned(), error);
                }
            },
            "setup.py" => match Module::parse(&text) {
                Some(module) => self.setup_py(&module, &text),
                None => {
                    broken.insert(manifest.to_owned(), "it is no valid Python".to_owned());
                }
            },
            name => {
                if let Ok(root) = text.parse::<toml::Table>() {
                    requirements::from_toml(&root, requirements::of_tool(name), &mut self.requirements);
                }
            }
        }
    }

    /// Reads requirement files, `tox.ini`, `Pipfile` and conda files beside the manifests.
    pub(super) fn nearby_requirements(&mut self) {
        let dir = self.found.dir.clone();
        let mut files: Vec<String> = Vec::new();
        for (name, _) in self.tree.list(&dir) {
            let inner = matches!(name.as_str(), "requirements" | "reqs" | "deps");
            let at = path::join(&dir, &name).expect("an entry's name stays below its directory");
            if inner {
                files.extend(self.tree.list(&at).into_iter().map(|(file, _)| format!("{at}/{file}")));
            } else {
                files.push(at);
            }
        }
        for file in files {
            let name = path::basename(&file);
            let in_folder = path::dirname(&file) != dir;
            let extension = path::extension(&file);
            let pip = matches!(extension, "txt" | "in")
                && (in_folder || name.contains("requirements") || name.contains("constraints"));
            let conda = matches!(extension, "yml" | "yaml") && name.starts_with("environment");
            if !pip && !conda && !matches!(name, "tox.ini" | "Pipfile") {
                continue;
            }
            let Some(text) = self.tree.text(&file) else { continue };
            if pip {
                self.requirements.extend(RequirementsFile::parse(&text).entries);
            } else if conda {
                self.requirements.extend(requirements::from_conda(&text).unwrap_or_default());
            } else if name == "tox.ini" {
                if let Ok(ini) = Ini::parse(&text) {
                    requirements::from_tox(&ini, &mut self.requirements);
                }
            } else if let Ok(root) = text.parse::<toml::Table>() {
                requirements::from_toml(&root, PIPFILE, &mut self.requirements);
            }
        }
    }

    /// The distribution, and the globs of workspace members below the project root.
    pub(super) fn finish(mut self) -> (Distribution, Vec<String>) {
        let dir = self.found.dir.clone();
        let files = self.tree.files();
        let mut roots: Vec<String> = Vec::new();
        let mut add = |root: String| {
            if !roots.contains(&root) {
                roots.push(root);
            }
        };
        self.explicit.drain(..).for_each(&mut add);
        for conventional in ["src", "lib", "python"] {
            let candidate = path::join(&dir, conventional).expect("a name stays below its directory");
            let package = self.tree.is_file(&format!("{candidate}/__init__.py"));
            // `lib` and `python` mean many things; they count when packages lie in them.
            let holds = if conventional == "src" {
                has_python(files, &candidate)
            } else {
                !self.found.manifests.is_empty()
                    && path::below(files, &candidate).iter().any(|file| {
                        path::strip(file, &candidate).is_some_and(|inner| {
                            inner.ends_with("/__init__.py") && inner.matches('/').count() == 1
                        })
                    })
            };
            if holds && !package {
                add(candidate);
            }
        }
        self.hints.drain(..).for_each(&mut add);
        add(dir);
        self.found.roots = roots;
        self.found.declared.extend(self.requirements.into_keys());
        (self.found, self.members)
    }

    pub(super) fn root(&mut self, relative: &str) {
        if let Some(root) = path::join(&self.found.dir, relative.trim_end_matches('/'))
            && !self.explicit.contains(&root)
        {
            self.explicit.push(root);
        }
    }

    pub(super) fn hint(&mut self, relative: &str) {
        let relative = relative.replace("$MYPY_CONFIG_FILE_DIR", ".");
        if let Some(root) = path::join(&self.found.dir, &relative)
            && has_python(self.tree.files(), &root)
        {
            self.hints.push(root);
        }
    }

    /// Says that `package` (dotted; empty for the top) lies in `directory`.
    pub(super) fn package_dir(&mut self, package: &str, directory: &str) {
        if package.is_empty() {
            self.root(directory);
            return;
        }
        let tail = package.replace('.', "/");
        let directory = directory.trim_end_matches('/').trim_start_matches("./");
        if let Some(prefix) =
            directory.strip_suffix(tail.as_str()).filter(|p| p.is_empty() || p.ends_with('/'))
        {
            self.root(prefix);
        } else if let Some(to) = path::join(&self.found.dir, directory) {
            let alias = Alias { find: AliasFind::Prefix(package.to_owned()), replacement: format!("/{to}") };
            self.found.aliases.push(alias);
        }
    }

    /// A directory that *is* a package (`src/foo`, hatch `packages`): its parent is a root.
    pub(super) fn package_path(&mut self, directory: &str) {
        let directory = directory.trim_end_matches('/').trim_start_matches("./");
        self.root(path::dirname(directory));
    }

    fn generated(&mut self, value: &toml::Value, depth: u32) {
        let Some(table) = value.as_table() else { return };
        for (key, value) in table {
            match value.as_str() {
                Some(file) if VERSION_FILE_KEYS.contains(&key.as_str()) => self.generated_file(file),
                _ if depth > 0 => self.generated(value, depth - 1),
                _ => {}
            }
        }
    }

    fn generated_file(&mut self, file: &str) {
        if file.ends_with(".py")
            && let Some(file) = path::join(&self.found.dir, file)
        {
            self.found.generated.insert(file);
        }
    }

    fn pyproject(&mut self, root: &toml::Table) {
        requirements::from_toml(root, PYPROJECT, &mut self.requirements);
        let mut texts: Vec<&str> = Vec::new();
        requirements::visit(root, &["project", "name"], &mut |v| texts.extend(v.as_str()));
        requirements::visit(root, &["tool", "poetry", "name"], &mut |v| texts.extend(v.as_str()));
        self.found.name = self.found.name.take().or(texts.first().map(|name| names::normalise(name)));
        if let Some(tool) = root.get("tool") {
            self.generated(tool, 6);
        }
        self.plugins_of(root);
        self.setuptools(root);
        self.other_builds(root);
        self.native_build(root);
        self.tool_hints(root);
        each_text(root, &["tool", "uv", "workspace", "members"], |member| {
            self.members.extend(path::join(&self.found.dir, member));
        });
        each_text(root, &["tool", "rye", "workspace", "members"], |member| {
            self.members.extend(path::join(&self.found.dir, member));
        });
    }

    fn setup_cfg(&mut self, ini: &Ini) {
        requirements::from_setup_cfg(ini, &mut self.requirements);
        let name = ini.get("metadata", "name").map(names::normalise);
        self.found.name = self.found.name.take().or(name);
        for entry in ini.get("options", "package_dir").into_iter().flat_map(ini::list) {
            if let Some((package, dir)) = entry.split_once('=') {
                self.package_dir(package.trim(), dir.trim());
            }
        }
        for section in ["options.packages.find", "options.packages.find_namespace"] {
            for dir in ini.get(section, "where").into_iter().flat_map(ini::list) {
                self.root(dir);
            }
        }
        for line in ini.get("options.entry_points", "pytest11").into_iter().flat_map(ini::lines) {
            if let Some((_, module)) = line.split_once('=') {
                self.found.pytest_plugins.insert(entry_module(module));
            }
        }
        for key in VERSION_FILE_KEYS {
            for section in ["versioneer", "setuptools_scm", "tool:setuptools_scm"] {
                if let Some(file) = ini.get(section, key) {
                    self.generated_file(file);
                }
            }
        }
    }

    fn setup_py(&mut self, module: &Module, text: &str) {
        requirements::from_setup_py(module, &mut self.requirements);
        for call in module.calls("setup") {
            let Value::Call(_, _, keywords) = call else { continue };
            for (name, value) in keywords {
                self.setup_argument(name, value);
            }
        }
        for finder in ["find_packages", "find_namespace_packages"] {
            for call in module.calls(finder) {
                let Value::Call(_, positional, keywords) = call else { continue };
                let named = keywords.iter().find(|(name, _)| name == "where").map(|(_, value)| value);
                if let Some(dir) = positional.first().or(named).and_then(Value::text) {
                    self.root(dir);
                }
            }
        }
        for maker in [
            "Extension",
            "RustExtension",
            "Pybind11Extension",
            "CMakeExtension",
            "CppExtension",
            "CUDAExtension",
        ] {
            for call in module.calls(maker) {
                let Value::Call(_, positional, keywords) = call else { continue };
                self.found.native = true;
                let named =
                    keywords.iter().find(|(n, _)| n == "name" || n == "target").map(|(_, value)| value);
                let name = positional.first().or(named).and_then(Value::text);
                self.found.native_modules.extend(name.map(str::to_owned));
            }
        }
        self.found.native |= ["ext_modules", "cythonize", "mypycify", "cffi_modules", "rust_extensions"]
            .iter()
            .any(|word| text.contains(word));
    }

    fn setup_argument(&mut self, name: &str, value: &Value) {
        match (name, value) {
            ("name", Value::Text(text)) if self.found.name.is_none() => {
                self.found.name = Some(names::normalise(text));
            }
            ("package_dir", Value::Map(entries)) => {
                for (package, dir) in entries {
                    if let (Some(package), Some(dir)) = (package.text(), dir.text()) {
                        self.package_dir(package, dir);
                    }
                }
            }
            ("entry_points", Value::Map(groups)) => {
                for (group, entries) in groups {
                    if group.text() == Some("pytest11") {
                        let modules = entries.texts().into_iter().filter_map(|e| Some(e.split_once('=')?.1));
                        self.found.pytest_plugins.extend(modules.map(entry_module));
                    }
                }
            }
            ("use_scm_version", Value::Map(entries)) => {
                for (key, file) in entries {
                    if key.text().is_some_and(|key| VERSION_FILE_KEYS.contains(&key))
                        && let Some(file) = file.text()
                    {
                        self.generated_file(file);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The module of an entry point (`pkg.plugin:name [extra]`).
pub(super) fn entry_module(entry: &str) -> String {
    entry.split([':', '[']).next().unwrap_or("").trim().to_owned()
}
