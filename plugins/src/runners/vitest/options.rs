//! The options of one vitest project: from a configuration value to what the engine
//! asks for, with everything that is not known kept beside it.

use owed_engine::resolve::ResolveOptions;
use owed_engine::runner::{RunnerProject, SharedRole};
use owed_engine::tree::Tree;

use super::locate::Place;
use super::matcher::Matcher;
use super::projects::Source;
use super::{isolation, plugins, resolution};
use crate::runners::config::Reader;
use crate::runners::config::value::{Unknown, Value};
use crate::runners::manifest::Packages;
use crate::runners::shared::{Inputs, package_of};

const EXTENSIONS: &[&str] = &[".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"];
/// What all projects of a place are read with.
pub(super) struct Context<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) packages: &'a Packages,
    pub(super) reader: Reader<'a>,
    pub(super) place: &'a Place,
    /// Vitest's major version, when it is known.
    pub(super) major: Option<u32>,
}

impl Context<'_> {
    /// Something unknown in the place's configuration file.
    pub(super) fn foreign(&self, reason: &str) -> Value {
        Value::Unknown(Unknown {
            reason: reason.to_owned(),
            path: self.place.config.clone().unwrap_or_default(),
            line: 0,
        })
    }
}

/// A project with the rule that lists its tests.
pub(super) struct Draft {
    pub(super) project: RunnerProject,
    pub(super) matcher: Matcher,
    /// Whether snapshots lie beside their tests.
    pub(super) snapshots: bool,
    /// The configuration file that speaks for it.
    pub(super) config: Option<String>,
    /// What its configuration leaves open.
    pub(super) unknown: Vec<Unknown>,
}

/// Reads the options of `source`. `resolved` when vitest itself has resolved them.
pub(super) fn draft(context: &Context<'_>, source: &Source, resolved: bool) -> Draft {
    Drafting { context, source, unknown: Vec::new(), shared: Inputs::default(), root: String::new() }
        .run(resolved)
}

/// A project under construction.
pub(super) struct Drafting<'a, 'b> {
    pub(super) context: &'a Context<'b>,
    pub(super) source: &'a Source,
    pub(super) unknown: Vec<Unknown>,
    pub(super) shared: Inputs,
    pub(super) root: String,
}

impl Drafting<'_, '_> {
    fn run(mut self, resolved: bool) -> Draft {
        let value = self.source.value.clone();
        let test = value.get("test");
        self.root = self.root_dir(&value, &test);
        let root = self.root.clone();
        let context = self.context;

        let mut matcher = self.matcher(&test);
        self.inputs(&value, &test);
        let meaning = if resolved {
            plugins::resolved(&value.get("plugins"))
        } else {
            plugins::read(&value.get("plugins"))
        };
        if meaning.reshapes {
            matcher.may_be_anything();
        }
        for package in &meaning.packages {
            self.shared.package(package_of(package), SharedRole::Plugin);
        }
        self.unknown.extend(meaning.unknown);

        let resolve = value.get("resolve");
        let mut aliases =
            resolution::read(context.tree, &context.reader, &root, &test.get("alias"), &mut self.unknown);
        aliases.extend(resolution::read(
            context.tree,
            &context.reader,
            &root,
            &resolve.get("alias"),
            &mut self.unknown,
        ));
        if meaning.packages.iter().any(|p| p == "@sveltejs/kit/vite") {
            aliases.extend(self.sveltekit());
        }
        aliases.extend(resolution::jsx_runtime(&value));
        let paths = resolve.get("tsconfigPaths").truthy() == Some(true);
        let options = ResolveOptions {
            root: root.clone(),
            conditions: self.conditions(&value, &test),
            aliases,
            extensions: match self.strings(&resolve.get("extensions")) {
                list if list.is_empty() => EXTENSIONS.iter().map(|e| (*e).to_owned()).collect(),
                list => list,
            },
            main_fields: {
                let mut fields = self.strings(&resolve.get("mainFields"));
                fields.push("main".to_owned());
                fields
            },
            tsconfig_paths: meaning.tsconfig_paths || paths,
            mock_roots: vec![root.clone()],
            ..ResolveOptions::default()
        };

        let name = match test.get("name") {
            Value::String(name) if !name.is_empty() => Some(name),
            Value::Object(object) => object.get("label").as_str().map(str::to_owned),
            _ => self.source.name.clone(),
        };
        let snapshots = test.get("resolveSnapshotPath");
        let moved = snapshots != Value::Undefined;
        if moved {
            self.shared.stray_snapshots(self.context.tree, &self.root);
        }
        for config in &self.source.configs {
            self.shared.config(config);
        }
        self.shared.manifests(context.tree, context.packages, &root);
        for package in ["vitest", "vite"] {
            self.shared.package(package, SharedRole::Toolchain);
        }
        self.unknown.sort();
        self.unknown.dedup();
        let above = self.source.top.get("test");
        Draft {
            project: RunnerProject {
                // The working directory; vite's root is the resolver's.
                root: if self.source.listed { root.clone() } else { self.source.dir.clone() },
                name: name.filter(|_| self.source.listed),
                resolve: options,
                tests: Vec::new(),
                shared: self.shared.finish(),
                listings: Vec::new(),
                unsettled: Vec::new(),
                effects: isolation::effects(&test, &above, self.source.config.as_deref()),
                isolated: isolation::is_isolated(&test, &above),
                checked: false,
            },
            matcher,
            snapshots: !moved,
            config: self.source.config.clone(),
            unknown: self.unknown,
        }
    }

    /// Vite's root of this project.
    fn root_dir(&mut self, value: &Value, test: &Value) -> String {
        for root in [test.get("root"), value.get("root")] {
            match root {
                Value::Undefined | Value::Null => {}
                Value::String(root) => match self.inside(&root, &self.source.dir) {
                    Some(root) => return root,
                    None => self.unknown.push(Unknown {
                        reason: "a root outside the repository".to_owned(),
                        path: String::new(),
                        line: 0,
                    }),
                },
                other => self.unknown.push(other.unknown("the root")),
            }
        }
        self.source.dir.clone()
    }

    pub(super) fn inside(&self, written: &str, dir: &str) -> Option<String> {
        self.context.reader.inside(written, dir)
    }

    /// The strings of a list, everything unknown noted.
    pub(super) fn strings(&mut self, value: &Value) -> Vec<String> {
        let strings = value.strings();
        self.unknown.extend(strings.unknown);
        strings.possible
    }
}
