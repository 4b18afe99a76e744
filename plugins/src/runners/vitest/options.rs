//! The options of one vitest project: from a configuration value to what the engine
//! asks for, with everything that is not known kept beside it.

use owed_engine::path;
use owed_engine::resolve::{Alias, Listing, ResolveOptions, Target};
use owed_engine::runner::{Load, RunnerProject, SharedRole, TestFile, View};
use owed_engine::tree::Tree;

use super::locate::Place;
use super::projects::Source;
use super::{alias, plugins};
use crate::runners::claims;
use crate::runners::config::value::{Entry, Object, Unknown, Value};
use crate::runners::config::{Reader, root_of};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::manifest::Packages;
use crate::runners::shared::{Inputs, package_of};

/// Vitest's default `include`.
pub(super) const INCLUDE: &[&str] = &["**/*.{test,spec}.?(c|m)[jt]s?(x)"];
const TYPE_TESTS: &[&str] = &["**/*.{test,spec}-d.?(c|m)[jt]s?(x)"];
const EXTENSIONS: &[&str] = &[".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"];
const STYLE: Style = Style { dot: true };

/// Vitest's default `exclude`; the fourth major version excludes less.
pub(super) fn exclude(major: Option<u32>) -> &'static [&'static str] {
    match major {
        Some(1..=3) => &[
            "**/node_modules/**",
            "**/dist/**",
            "**/cypress/**",
            "**/.{idea,git,cache,output,temp}/**",
            "**/{karma,rollup,webpack,vite,vitest,jest,ava,babel,nyc,cypress,tsup,build,eslint,prettier}.config.*",
        ],
        _ => &["**/node_modules/**", "**/.git/**"],
    }
}

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

/// Which files are tests.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The directory below which they lie.
    pub(super) base: String,
    include: Globs,
    /// A file is out when every possible list excludes it.
    exclude: Vec<Globs>,
    in_source: Globs,
    types: Globs,
    types_exclude: Vec<Globs>,
    /// Whether anything that defines tests may be one.
    anything: bool,
}

impl Matcher {
    /// Whether `file` is, or may be, a test.
    pub(super) fn may_match(&self, view: &View<'_>, file: &str) -> bool {
        let out = |lists: &[Globs]| !lists.is_empty() && lists.iter().all(|l| l.excludes(file, &self.base));
        if self.types.is_match(file) && !out(&self.types_exclude) {
            return true;
        }
        let hit = self.include.is_match(file)
            || (self.anything && claims::defines_tests((view.facts)(file)))
            || (self.in_source.is_match(file)
                && view.tree.text(file).is_some_and(|text| text.contains("import.meta.vitest")));
        hit && !out(&self.exclude)
    }
}

/// Reads the options of `source`. `resolved` when vitest itself has resolved them.
pub(super) fn draft(context: &Context<'_>, source: &Source, resolved: bool) -> Draft {
    Drafting { context, source, unknown: Vec::new(), shared: Inputs::default(), root: String::new() }
        .run(resolved)
}

struct Drafting<'a, 'b> {
    context: &'a Context<'b>,
    source: &'a Source,
    unknown: Vec<Unknown>,
    shared: Inputs,
    root: String,
}

impl Drafting<'_, '_> {
    fn run(mut self, resolved: bool) -> Draft {
        let value = self.source.value.clone();
        let test = value.get("test");
        self.root = self.root_dir(&value, &test);
        let root = self.root.clone();
        let context = self.context;

        let matcher = self.matcher(&test);
        self.inputs(&value, &test);
        let meaning = if resolved {
            plugins::resolved(&value.get("plugins"))
        } else {
            plugins::read(&value.get("plugins"))
        };
        for package in &meaning.packages {
            self.shared.package(package_of(package), SharedRole::Plugin);
        }
        self.unknown.extend(meaning.unknown);

        let resolve = value.get("resolve");
        let mut aliases =
            alias::read(context.tree, &context.reader, &root, &test.get("alias"), &mut self.unknown);
        aliases.extend(alias::read(
            context.tree,
            &context.reader,
            &root,
            &resolve.get("alias"),
            &mut self.unknown,
        ));
        if meaning.packages.iter().any(|p| p == "@sveltejs/kit/vite") {
            aliases.extend(self.sveltekit());
        }
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
            self.stray_snapshots();
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
            },
            matcher,
            snapshots: !moved,
            config: self.source.config.clone(),
            unknown: self.unknown,
        }
    }

    /// The aliases of SvelteKit: `$lib`, and those of `svelte.config.js`.
    fn sveltekit(&mut self) -> Vec<Alias> {
        let context = self.context;
        let config = ["svelte.config.js", "svelte.config.ts"]
            .iter()
            .filter_map(|name| path::join(&self.root, name))
            .find(|file| context.tree.is_file(file));
        let kit = match &config {
            Some(file) => {
                self.shared.config(file);
                context.reader.load(file).get("kit")
            }
            None => Value::Undefined,
        };
        let lib = match kit.at(&["files", "lib"]) {
            Value::Undefined => "src/lib".to_owned(),
            Value::String(lib) => lib,
            other => {
                self.unknown.push(other.unknown("the directory of `$lib`"));
                "src/lib".to_owned()
            }
        };
        let mut entries = vec![Entry::Key("$lib".to_owned(), Value::String(format!("./{lib}")))];
        match kit.get("alias") {
            Value::Undefined | Value::Null => {}
            // `"$x/*": "src/x/*"` says the same of what is below.
            Value::Object(object) => entries.extend(object.keys().into_iter().map(|key| {
                let to = object.get(key);
                let to = to.as_str().map_or(to.clone(), |to| {
                    let to = to.trim_end_matches("/*");
                    let here = to.starts_with(['.', '/']) || to.starts_with('@');
                    Value::String(if here { to.to_owned() } else { format!("./{to}") })
                });
                Entry::Key(key.trim_end_matches("/*").to_owned(), to)
            })),
            other => self.unknown.push(other.unknown("the aliases of SvelteKit")),
        }
        let value = Value::Object(Object(entries));
        alias::read(context.tree, &context.reader, &self.root, &value, &mut self.unknown)
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

    fn inside(&self, written: &str, dir: &str) -> Option<String> {
        self.context.reader.inside(written, dir)
    }

    /// The strings of a list, everything unknown noted.
    fn strings(&mut self, value: &Value) -> Vec<String> {
        let strings = value.strings();
        self.unknown.extend(strings.unknown);
        strings.possible
    }

    fn patterns(&mut self, dir: &str, patterns: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for pattern in patterns.iter().filter(|p| !p.starts_with('!')) {
            let inside = if pattern.starts_with('/') {
                let root = format!("{}/", root_of(self.context.tree));
                pattern.strip_prefix(&root).map(str::to_owned)
            } else {
                glob::at(dir, pattern)
            };
            match inside {
                Some(pattern) => found.push(pattern),
                // Nothing of the project matches a pattern outside it.
                None => continue,
            }
        }
        found
    }

    fn globs(&mut self, dir: &str, patterns: &[String]) -> Globs {
        let globs = Globs::new(self.patterns(dir, patterns), STYLE);
        for pattern in &globs.refused {
            self.unknown.push(Unknown {
                reason: format!("the pattern `{pattern}`"),
                path: String::new(),
                line: 0,
            });
        }
        globs
    }

    /// One set of globs for each list that is possible; nothing is excluded for sure by
    /// a list that is not known.
    fn excludes(&mut self, dir: &str, value: &Value, default: &[&str]) -> Vec<Globs> {
        let mut lists = Vec::new();
        for one in value.alternatives() {
            let strings = one.strings();
            let known = strings.unknown.is_empty();
            self.unknown.extend(strings.unknown);
            let mut patterns = strings.sure;
            if strings.absent {
                patterns = default.iter().map(|s| (*s).to_owned()).collect();
            }
            if !known {
                patterns.push("**/node_modules/**".to_owned());
            }
            // Older versions take `e2e/` for nothing at all.
            if self.context.major.is_some_and(|m| m >= 3) {
                patterns.iter_mut().for_each(|p| p.truncate(p.trim_end_matches('/').len()));
            }
            lists.push(self.globs(dir, &patterns));
        }
        lists
    }

    fn matcher(&mut self, test: &Value) -> Matcher {
        let dir = match test.get("dir") {
            Value::String(dir) => self.inside(&dir, &self.root),
            Value::Undefined | Value::Null => None,
            other => {
                self.unknown.push(other.unknown("the directory of the tests"));
                None
            }
        };
        let dir = dir.or_else(|| self.context.place.only.clone()).unwrap_or_else(|| self.root.clone());
        let include = test.get("include").strings();
        let mut patterns = include.possible.clone();
        let anything = !include.unknown.is_empty();
        if include.absent || anything {
            patterns.extend(INCLUDE.iter().map(|s| (*s).to_owned()));
        }
        self.unknown.extend(include.unknown);
        let default = exclude(self.context.major);
        let types = test.get("typecheck");
        let enabled = self.context.place.typecheck || types.get("enabled").truthy() != Some(false);
        let mut matcher = Matcher {
            include: self.globs(&dir, &patterns),
            exclude: self.excludes(&dir, &test.get("exclude"), default),
            anything,
            ..Matcher::default()
        };
        let in_source = self.strings(&test.get("includeSource"));
        matcher.in_source = self.globs(&dir, &in_source);
        let mut all = patterns;
        all.extend(in_source);
        if enabled {
            let list = types.get("include").strings();
            let mut patterns = list.possible;
            if list.absent {
                patterns.extend(TYPE_TESTS.iter().map(|s| (*s).to_owned()));
            }
            self.unknown.extend(list.unknown);
            matcher.types = self.globs(&dir, &patterns);
            matcher.types_exclude = self.excludes(&dir, &types.get("exclude"), default);
            self.shared.package("typescript", SharedRole::Toolchain);
            if let Value::String(tsconfig) = types.get("tsconfig")
                && let Some(file) = self.inside(&tsconfig, &self.root)
            {
                self.shared.add(Target::Manifest(file), SharedRole::Manifest, Load::Content);
            }
            all.extend(patterns);
            if types.get("only").truthy() == Some(true) && types.get("enabled").truthy() == Some(true) {
                matcher.include = Globs::default();
                matcher.anything = false;
            }
        }
        // A pattern may start above the directory (`../shared/**`).
        matcher.base = self
            .patterns(&dir, &all)
            .iter()
            .map(|p| glob::base(p).to_owned())
            .reduce(|a, b| common(&a, &b).to_owned())
            .filter(|base| !path::is_within(base, &dir))
            .unwrap_or(dir);
        matcher
    }

    fn conditions(&mut self, value: &Value, test: &Value) -> Vec<String> {
        let browser = test.at(&["browser", "enabled"]).truthy() != Some(false);
        let mut conditions = self.strings(&value.at(&["ssr", "resolve", "conditions"]));
        conditions.extend(self.strings(&value.at(&["resolve", "conditions"])));
        if self.context.major.is_some_and(|m| m < 3) || browser {
            conditions.push("module".to_owned());
        }
        conditions.push(if browser { "browser" } else { "node" }.to_owned());
        conditions.push("development".to_owned());
        // What vite writes for "development or production, as the mode is".
        conditions.retain(|c| c != "development|production" && c != "production");
        let mut seen = std::collections::BTreeSet::new();
        conditions.retain(|c| seen.insert(c.clone()));
        conditions
    }

    /// Everything that is loaded besides the tests.
    fn inputs(&mut self, value: &Value, test: &Value) {
        let root = self.root.clone();
        for (key, role) in [("setupFiles", SharedRole::Setup), ("globalSetup", SharedRole::GlobalSetup)] {
            for file in self.strings(&test.get(key)) {
                self.module(&file, role);
            }
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

    /// Snapshots whose place is computed: every one below the root, for every test.
    fn stray_snapshots(&mut self) {
        let root = self.root.clone();
        for file in crate::runners::outcome::below(self.context.tree.files(), &root) {
            if path::extension(file) == "snap" {
                self.shared.content(file, SharedRole::Snapshot);
            }
        }
        self.shared.add(
            Target::Listing(Listing { dir: root, glob: "**/*.snap".to_owned() }),
            SharedRole::Snapshot,
            Load::Content,
        );
    }
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

fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let mut dir = a;
    while !path::is_within(b, dir) {
        dir = path::dirname(dir);
    }
    dir
}

/// Adds the environment that a test asks for in its first comment.
pub(super) fn docblock(tree: &dyn Tree, file: &str, test: &mut TestFile) {
    let Some(text) = tree.text(file) else { return };
    let Some(at) = text.find("@vitest-environment").or_else(|| text.find("@jest-environment")) else {
        return;
    };
    let name = text[at..].split_whitespace().nth(1).unwrap_or_default();
    let mut inputs = Inputs::default();
    match environment_package(name) {
        Some(None) => return,
        Some(Some(package)) => inputs.package(package, SharedRole::Plugin),
        None if name.starts_with('.') => match path::join(path::dirname(file), name) {
            Some(path) => inputs.file(&path, SharedRole::Plugin),
            None => return,
        },
        None => inputs.package(package_of(&format!("vitest-environment-{name}")), SharedRole::Plugin),
    }
    test.shared.extend(inputs.finish());
    test.shared.sort();
    test.shared.dedup();
}
