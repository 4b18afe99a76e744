//! What the tables of build systems and checkers in `pyproject.toml` say about where
//! modules lie.

use super::requirements;
use super::roots::{Reader, entry_module};

impl Reader<'_> {
    pub(super) fn plugins_of(&mut self, root: &toml::Table) {
        for place in
            [&["project", "entry-points", "pytest11"][..], &["tool", "poetry", "plugins", "pytest11"]]
        {
            requirements::visit(root, place, &mut |value| {
                for module in value.as_table().into_iter().flat_map(|table| table.values()) {
                    self.found.pytest_plugins.extend(module.as_str().map(entry_module));
                }
            });
        }
    }

    pub(super) fn setuptools(&mut self, root: &toml::Table) {
        each_entry(root, &["tool", "setuptools", "package-dir"], |package, dir| {
            self.package_dir(package, dir)
        });
        each_text(root, &["tool", "setuptools", "packages", "find", "where"], |dir| self.root(dir));
    }

    pub(super) fn other_builds(&mut self, root: &toml::Table) {
        for target in [&["tool", "hatch", "build", "targets", "*"][..], &["tool", "hatch", "build"]] {
            let at = |key| [target, &[key][..]].concat();
            each_text(root, &at("packages"), |dir| self.package_path(dir));
            each_text(root, &at("only-include"), |dir| self.package_path(dir));
            each_text(root, &at("sources"), |dir| self.root(dir));
            each_text(root, &at("dev-mode-dirs"), |dir| self.root(dir));
            each_entry(root, &at("sources"), |dir, package| {
                self.package_dir(&package.trim_matches('/').replace('/', "."), dir);
            });
        }
        requirements::visit(root, &["tool", "poetry", "packages"], &mut |value| {
            for package in value.as_array().into_iter().flatten() {
                let text = |key| package.get(key).and_then(toml::Value::as_str);
                let from = text("from").unwrap_or("");
                match (text("include"), text("to")) {
                    (Some(include), Some(to)) => {
                        let package = format!("{to}/{include}").trim_matches('/').replace('/', ".");
                        let dir = format!("{from}/{include}");
                        self.package_dir(&package, dir.trim_start_matches('/'));
                    }
                    _ => self.root(from),
                }
            }
        });
        each_text(root, &["tool", "pdm", "build", "package-dir"], |dir| self.root(dir));
        each_text(root, &["tool", "maturin", "python-source"], |dir| self.root(dir));
        each_text(root, &["tool", "uv", "build-backend", "module-root"], |dir| self.root(dir));
        each_text(root, &["tool", "scikit-build", "wheel", "packages"], |dir| self.package_path(dir));
        each_entry(root, &["tool", "scikit-build", "wheel", "packages"], |package, dir| {
            self.package_dir(&package.replace('/', "."), dir);
        });
    }

    pub(super) fn native_build(&mut self, root: &toml::Table) {
        let native = [
            "maturin",
            "scikit_build_core",
            "skbuild",
            "mesonpy",
            "setuptools_rust",
            "setuptools-rust",
            "cffi",
            "cython",
            "pybind11",
            "nanobind",
            "mypyc",
        ];
        requirements::visit(root, &["build-system"], &mut |value| {
            let text = value.to_string().to_ascii_lowercase();
            self.found.native |= native.iter().any(|word| text.contains(word));
        });
        each_text(root, &["tool", "maturin", "module-name"], |name| {
            self.found.native_modules.insert(name.to_owned());
        });
        for place in ["ext-modules", "rust-extensions"] {
            requirements::visit(root, &["tool", "setuptools", place], &mut |value| {
                self.found.native = true;
                for module in value.as_array().into_iter().flatten() {
                    let name = module.get("name").and_then(toml::Value::as_str);
                    self.found.native_modules.extend(name.map(str::to_owned));
                }
            });
        }
    }

    pub(super) fn tool_hints(&mut self, root: &toml::Table) {
        for place in [
            &["tool", "ruff", "src"][..],
            &["tool", "isort", "src_paths"],
            &["tool", "pyright", "extraPaths"],
            &["tool", "basedpyright", "extraPaths"],
            &["tool", "mypy", "mypy_path"],
            &["tool", "ty", "environment", "root"],
        ] {
            each_text(root, place, |dirs| dirs.split([':', ',']).for_each(|dir| self.hint(dir.trim())));
        }
    }
}

/// Each string at `path`, be it alone or in an array.
pub(super) fn each_text(root: &toml::Table, path: &[&str], mut found: impl FnMut(&str)) {
    requirements::visit(root, path, &mut |value| {
        let many = value.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        value.as_str().into_iter().chain(many).for_each(&mut found);
    });
}

/// Each key and string of the table at `path`.
pub(super) fn each_entry(root: &toml::Table, path: &[&str], mut found: impl FnMut(&str, &str)) {
    requirements::visit(root, path, &mut |value| {
        for (key, value) in value.as_table().into_iter().flatten() {
            if let Some(text) = value.as_str() {
                found(key, text);
            }
        }
    });
}
