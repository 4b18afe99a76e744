//! What the tests of a jest project share besides their imports.

use owed_engine::path;
use owed_engine::resolve::Target;
use owed_engine::runner::{Load, SharedRole, TestFile};
use owed_engine::tree::Tree;

use super::options::{Drafting, nowhere};
use super::presets;
use crate::runners::babel;
use crate::runners::config::Reader;
use crate::runners::config::value::Value;
use crate::runners::manifest::Packages;
use crate::runners::shared::{Inputs, package_of};

impl Drafting<'_, '_> {
    pub(super) fn inputs(&mut self, value: &Value) {
        let roles = [
            ("setupFiles", SharedRole::Setup),
            ("setupFilesAfterEnv", SharedRole::Setup),
            ("setupTestFrameworkScriptFile", SharedRole::Setup),
            ("globalSetup", SharedRole::GlobalSetup),
            ("globalTeardown", SharedRole::GlobalSetup),
            ("snapshotResolver", SharedRole::Plugin),
            ("snapshotSerializers", SharedRole::Plugin),
            ("testSequencer", SharedRole::Plugin),
            ("prettierPath", SharedRole::Plugin),
            ("dependencyExtractor", SharedRole::Plugin),
            ("testResultsProcessor", SharedRole::Plugin),
            ("runtime", SharedRole::Plugin),
            ("filter", SharedRole::Plugin),
        ];
        for (key, role) in roles {
            for written in self.strings(&value.get(key)) {
                // `prettier` by its bare name is the default.
                if key != "prettierPath" || written.starts_with(['.', '/', '<']) {
                    self.module(&written, role);
                }
            }
        }
        // These are the place's own for all of its projects.
        if let Some((top, root)) = self.source.top.clone() {
            for key in ["globalSetup", "globalTeardown"] {
                for written in self.strings(&top.get(key)) {
                    let written = written.replace("<rootDir>", &self.context.reader.absolute(&root));
                    self.shared.module(&self.context.reader, &root, &written, SharedRole::GlobalSetup);
                }
            }
        }
        for written in self.context.place.preloaded.clone() {
            self.module(&written, SharedRole::Setup);
        }
        for written in self.strings(&value.at(&["haste", "hasteImplModulePath"])) {
            self.module(&written, SharedRole::Plugin);
            self.unknown.push(nowhere("how `hasteImplModulePath` names modules"));
        }
        for (key, prefix) in
            [("testEnvironment", "jest-environment-"), ("runner", "jest-runner-"), ("testRunner", "jest-")]
        {
            for written in self.strings(&value.get(key)) {
                let built_in = matches!(
                    (key, written.as_str()),
                    ("testEnvironment", "node")
                        | ("runner", "jest-runner")
                        | ("testRunner", "jest-circus/runner" | "circus" | "jest-circus")
                );
                if !built_in {
                    self.named(&written, prefix);
                }
            }
        }
        if self.context.place.vm_modules {
            self.shared.add(Target::Env("NODE_OPTIONS".to_owned()), SharedRole::Env, Load::Content);
        }
        for preset in self.source.packages.clone() {
            self.compilers(&preset);
        }
        self.resolver(&value.get("resolver"));
        self.transforms(&value.get("transform"));
        for reporter in listed_names(&value.get("reporters")) {
            if reporter.contains('/') || reporter.starts_with('<') {
                self.module(&reporter, SharedRole::Plugin);
            }
        }
        self.babel();
    }

    fn resolver(&mut self, value: &Value) {
        for one in value.alternatives() {
            match one {
                Value::Undefined | Value::Null | Value::Bool(false) => {}
                Value::String(written) => {
                    self.module(written, SharedRole::Plugin);
                    let name = written.rsplit_once("node_modules/").map_or(written.as_str(), |(_, p)| p);
                    let name = name.strip_suffix(".js").unwrap_or(name);
                    if !presets::harmless_resolver(name) && !presets::harmless_resolver(package_of(name)) {
                        self.unknown
                            .push(nowhere(&format!("what the resolver `{}` does", path::basename(written))));
                    }
                }
                other => self.unknown.push(other.unknown("the resolver")),
            }
        }
    }

    fn transforms(&mut self, value: &Value) {
        for one in value.alternatives() {
            let Value::Object(object) = one else { continue };
            for key in object.keys() {
                let entry = object.get(key);
                for transformer in listed_names(&entry) {
                    self.compilers(&transformer);
                    self.module(&transformer, SharedRole::Plugin);
                }
                if let Value::Array(items) = &entry
                    && let Some(options) = items.get(1)
                {
                    self.tsconfig(&options.get("tsconfig"));
                }
            }
        }
        self.tsconfig(&self.source.value.at(&["globals", "ts-jest", "tsconfig"]));
    }

    /// The compilers a transformer runs.
    fn compilers(&mut self, transformer: &str) {
        for (name, compiler) in
            [("ts-jest", "typescript"), ("@swc/jest", "@swc/core"), ("esbuild-jest", "esbuild")]
        {
            if transformer.contains(name) {
                self.shared.package(compiler, SharedRole::Toolchain);
            }
        }
    }

    fn tsconfig(&mut self, value: &Value) {
        if let Value::String(written) = value
            && let Some(file) = self.inside(written)
        {
            self.shared.add(Target::Manifest(file), SharedRole::Manifest, Load::Content);
        }
    }

    /// Configurations of the transformers jest uses by default.
    fn babel(&mut self) {
        let names = babel::CONFIGS.iter().chain(&[".swcrc"]);
        let dirs: Vec<String> = ["", &self.root, &self.context.place.dir].map(str::to_owned).to_vec();
        for dir in dirs {
            for name in names.clone() {
                if let Some(file) = path::join(&dir, name).filter(|f| self.context.tree.is_file(f)) {
                    self.shared.config(&file);
                }
            }
        }
    }

    fn module(&mut self, written: &str, role: SharedRole) {
        let rooted = self.rooted(written);
        self.shared.module(&self.context.reader, &self.root, &rooted, role);
    }

    /// A module of a short name: `jsdom` means the package `jest-environment-jsdom`.
    fn named(&mut self, written: &str, prefix: &str) {
        if written.starts_with(['.', '/', '<', '@']) || written.starts_with(prefix) {
            self.module(written, SharedRole::Plugin);
        } else {
            self.shared.package(package_of(&format!("{prefix}{written}")), SharedRole::Plugin);
            // Or a package of exactly this name.
            if self.context.packages.declared(&self.root, package_of(written)).is_some() {
                self.module(written, SharedRole::Plugin);
            }
        }
    }
}

/// Adds the environment that a test asks for in its first comment.
pub(super) fn docblock(tree: &dyn Tree, packages: &Packages, root: &str, file: &str, test: &mut TestFile) {
    const WORD: &str = "@jest-environment ";
    let Some(text) = tree.text_with(file, &[WORD]) else { return };
    let Some(at) = text.find(WORD) else { return };
    let name = text[at..].split_whitespace().nth(1).unwrap_or_default();
    let mut inputs = Inputs::default();
    match name {
        "node" => return,
        "jsdom" => inputs.package("jest-environment-jsdom", SharedRole::Plugin),
        _ if name.starts_with('.') || name.starts_with('<') => {
            match path::join(root, name.trim_start_matches("<rootDir>/")) {
                Some(path) => inputs.file(&path, SharedRole::Plugin),
                None => return,
            }
        }
        _ => {
            let reader = Reader::new(tree, packages, root);
            for module in [format!("jest-environment-{name}"), name.to_owned()] {
                inputs.module(&reader, root, &module, SharedRole::Plugin);
            }
        }
    }
    test.shared.extend(inputs.finish());
    test.shared.sort();
    test.shared.dedup();
}

/// The names in a value that is a name, `[name, options]`, or a list of these.
fn listed_names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(items) => items.iter().flat_map(listed_names).collect(),
        Value::Either(values) => values.iter().flat_map(listed_names).collect(),
        _ => Vec::new(),
    }
}
