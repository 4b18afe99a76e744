//! What the tests of a vitest project share besides their imports.

use owed_engine::path;
use owed_engine::runner::{SharedRole, TestFile};
use owed_engine::tree::Tree;

use super::options::Drafting;
use crate::runners::config::Reader;
use crate::runners::config::value::Value;
use crate::runners::manifest::Packages;
use crate::runners::shared::Inputs;

impl Drafting<'_, '_> {
    /// Everything that is loaded besides the tests.
    pub(super) fn inputs(&mut self, value: &Value, test: &Value) {
        let root = self.root.clone();
        for (key, role) in [("setupFiles", SharedRole::Setup), ("globalSetup", SharedRole::GlobalSetup)] {
            for file in self.strings(&test.get(key)) {
                self.module(&file, role);
            }
        }
        // The place's own global setup runs before the tests of any of its projects.
        let above = self.source.top.at(&["test", "globalSetup"]);
        let place = self.context.place;
        let above_dir = place.root.clone().unwrap_or_else(|| place.dir.clone());
        for file in self.strings(&above) {
            self.shared.module(&self.context.reader, &above_dir, &file, SharedRole::GlobalSetup);
        }
        for key in ["runner", "snapshotEnvironment", "diff"] {
            if let Value::String(file) = test.get(key) {
                self.module(&file, SharedRole::Plugin);
            }
        }
        for key in ["snapshotSerializers", "reporters", "pool"] {
            self.optional_modules(&test.get(key));
        }
        self.environments(&test.get("environment"));
        if let Value::Array(pairs) = test.get("environmentMatchGlobs") {
            for pair in &pairs {
                if let Value::Array(pair) = pair {
                    self.environments(pair.get(1).unwrap_or(&Value::Undefined));
                }
            }
        }
        self.env_files(value);
        let css = test.get("css").truthy() != Some(false);
        for (file, wanted) in [("postcss.config", true), (".postcssrc", true), ("tailwind.config", css)] {
            for extension in ["", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", ".yaml", ".yml"] {
                let Some(path) = path::join(&root, &format!("{file}{extension}")) else { continue };
                if wanted && self.context.tree.is_file(&path) {
                    self.shared.config(&path);
                }
            }
        }
    }

    fn env_files(&mut self, value: &Value) {
        let dirs: Vec<String> = value
            .get("envDir")
            .alternatives()
            .iter()
            .filter_map(|dir| match dir {
                Value::Bool(false) => None,
                Value::String(dir) => self.inside(dir, &self.root),
                Value::Undefined | Value::Null => Some(self.root.clone()),
                other => {
                    self.unknown.push(other.unknown("the directory of environment files"));
                    None
                }
            })
            .collect();
        for dir in dirs {
            for name in [".env", ".env.local", ".env.test", ".env.test.local"] {
                if let Some(file) = path::join(&dir, name) {
                    self.shared.content(&file, SharedRole::Env);
                }
            }
        }
    }

    fn environments(&mut self, value: &Value) {
        for one in value.alternatives() {
            match one {
                Value::Undefined | Value::Null => {}
                Value::String(name) => match environment_package(name) {
                    Some(None) => {}
                    Some(Some(package)) => self.shared.package(package, SharedRole::Plugin),
                    None if name.starts_with(['.', '/']) => self.module(name, SharedRole::Plugin),
                    None => {
                        let package = format!("vitest-environment-{name}");
                        self.module(&package, SharedRole::Plugin);
                        self.module(name, SharedRole::Plugin);
                    }
                },
                other => self.unknown.push(other.unknown("the environment")),
            }
        }
    }

    /// A list in which only local files matter; the rest is vitest's own.
    fn optional_modules(&mut self, value: &Value) {
        for one in value.alternatives() {
            match one {
                Value::String(name) if name.starts_with(['.', '/']) => self.module(name, SharedRole::Plugin),
                Value::String(name) if name.contains('/') => self.module(name, SharedRole::Plugin),
                // `["./reporter.ts", { options }]` is a list whose first entry counts.
                Value::Array(items) => items.iter().for_each(|item| self.optional_modules(item)),
                _ => {}
            }
        }
    }

    fn module(&mut self, specifier: &str, role: SharedRole) {
        self.shared.module(&self.context.reader, &self.root, specifier, role);
    }
}

/// Adds the environment that a test asks for in its first comment.
pub(super) fn docblock(tree: &dyn Tree, packages: &Packages, root: &str, file: &str, test: &mut TestFile) {
    let [own, other] = ["@vitest-environment", "@jest-environment"];
    let Some(text) = tree.text_with(file, &[own, other]) else { return };
    let Some(at) = text.find(own).or_else(|| text.find(other)) else { return };
    let name = text[at..].split_whitespace().nth(1).unwrap_or_default();
    let mut inputs = Inputs::default();
    match environment_package(name) {
        Some(None) => return,
        Some(Some(package)) => inputs.package(package, SharedRole::Plugin),
        // From the root of the project; some versions take it from the test.
        None if name.starts_with('.') => {
            for dir in [root, path::dirname(file)] {
                if let Some(path) = path::join(dir, name) {
                    inputs.file(&path, SharedRole::Plugin);
                }
            }
        }
        None => {
            let reader = Reader::new(tree, packages, root);
            inputs.module(&reader, root, &format!("vitest-environment-{name}"), SharedRole::Plugin);
        }
    }
    test.shared.extend(inputs.finish());
    test.shared.sort();
    test.shared.dedup();
}

/// The package of a built-in environment; `Some(None)` for one that needs none.
fn environment_package(name: &str) -> Option<Option<&'static str>> {
    match name {
        "node" => Some(None),
        "jsdom" => Some(Some("jsdom")),
        "happy-dom" => Some(Some("happy-dom")),
        "edge-runtime" => Some(Some("@edge-runtime/vm")),
        _ => None,
    }
}
