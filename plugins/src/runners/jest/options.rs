//! The options of one jest project: from a configuration value to what the engine asks
//! for, with everything that is not known kept beside it.

use owed_engine::path;
use owed_engine::resolve::{Alias, AliasFind, Listing, ResolveOptions, Target};
use owed_engine::runner::{Load, RunnerProject, SharedRole, TestFile};
use owed_engine::tree::Tree;

use super::matcher::{Matcher, ROOT};
use super::presets;
use super::projects::{Context, Source, root_dir};
use crate::runners::config::root_of;
use crate::runners::config::value::{Unknown, Value};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::regex::{self, Pattern};
use crate::runners::shared::{Inputs, package_of};

const STYLE: Style = Style { dot: true };

fn test_match(major: Option<u32>) -> &'static [&'static str] {
    match major {
        Some(..30) => &["**/__tests__/**/*.[jt]s?(x)", "**/?(*.)+(spec|test).[tj]s?(x)"],
        _ => &["**/__tests__/**/*.?([mc])[jt]s?(x)", "**/?(*.)+(spec|test).?([mc])[jt]s?(x)"],
    }
}

const MODULE_EXTENSIONS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node"];

/// A project with the rule that lists its tests.
pub(super) struct Draft {
    pub(super) project: RunnerProject,
    pub(super) matcher: Matcher,
    /// Whether snapshots lie beside their tests.
    pub(super) snapshots: bool,
    /// The configuration file that speaks for it.
    pub(super) config: Option<String>,
    /// `rootDir`, project-relative.
    pub(super) root: String,
    /// What its configuration leaves open.
    pub(super) unknown: Vec<Unknown>,
}

/// Reads the options of `source`.
pub(super) fn draft(context: &Context<'_>, source: &Source) -> Draft {
    let root = root_dir(context, &source.value, &source.dir).unwrap_or_else(|| source.dir.clone());
    Drafting { context, source, root, unknown: source.unknown.clone(), shared: Inputs::default() }.run()
}

struct Drafting<'a, 'b> {
    context: &'a Context<'b>,
    source: &'a Source,
    root: String,
    unknown: Vec<Unknown>,
    shared: Inputs,
}

impl Drafting<'_, '_> {
    fn run(mut self) -> Draft {
        let value = &self.source.value;
        if let other @ (Value::Unknown(_) | Value::Call(_) | Value::Either(_)) = value.get("rootDir") {
            self.unknown.push(other.unknown("the root directory"));
        }
        let matcher = self.matcher(value);
        self.inputs(value);
        let options = self.resolve(value, &matcher);
        if value.get("automock").truthy() != Some(false) {
            self.unknown.push(nowhere("which modules `automock` replaces"));
        }
        let moved = value.get("snapshotResolver").truthy() != Some(false);
        if moved {
            self.stray_snapshots();
        }
        for config in &self.source.configs {
            if path::basename(config) != "package.json" {
                self.shared.config(config);
            }
        }
        self.shared.manifests(self.context.tree, self.context.packages, &self.root);
        self.shared.package("jest", SharedRole::Toolchain);
        for package in &self.source.packages {
            self.shared.package(package_of(package), SharedRole::Toolchain);
        }
        let name = match value.get("displayName") {
            Value::String(name) => Some(name),
            Value::Object(object) => object.get("name").as_str().map(str::to_owned),
            _ => None,
        };
        self.unknown.sort();
        self.unknown.dedup();
        Draft {
            project: RunnerProject {
                root: if self.source.listed { self.root.clone() } else { self.context.place.dir.clone() },
                name: name.filter(|_| self.source.listed),
                resolve: options,
                tests: Vec::new(),
                shared: self.shared.finish(),
                listings: matcher
                    .roots
                    .iter()
                    .map(|dir| Listing { dir: dir.clone(), glob: "**/__mocks__/**".to_owned() })
                    .collect(),
                unsettled: Vec::new(),
            },
            matcher,
            snapshots: !moved,
            config: self.source.config.clone(),
            root: self.root,
            unknown: self.unknown,
        }
    }

    /// `<rootDir>` in a path.
    fn rooted(&self, written: &str) -> String {
        written.replace("<rootDir>", &self.context.reader.absolute(&self.root))
    }

    fn inside(&self, written: &str) -> Option<String> {
        self.context.reader.inside(&self.rooted(written), &self.root)
    }

    fn strings(&mut self, value: &Value) -> Vec<String> {
        let strings = value.strings();
        self.unknown.extend(strings.unknown);
        strings.possible
    }

    /// A regular expression on absolute paths, about [`ROOT`].
    fn pattern(&mut self, written: &str, flags: &str) -> Option<Pattern> {
        let here = if self.root.is_empty() {
            ROOT.to_owned()
        } else {
            format!("{ROOT}/{}", regex::escape(&self.root))
        };
        let absolute = root_of(self.context.tree);
        let source = written
            .replace("<rootDir>", &here)
            .replace(&regex::escape(&absolute), ROOT)
            .replace(&absolute, ROOT);
        let pattern = Pattern::new(&source, flags);
        if pattern.is_none() {
            self.unknown.push(nowhere(&format!("the pattern `{written}`")));
        }
        pattern
    }

    /// Patterns as jest matches them, on absolute paths; neighbours of one kind together.
    fn globs(&mut self, patterns: &[String]) -> Vec<(Globs, bool)> {
        let mut groups: Vec<(Vec<String>, bool)> = Vec::new();
        for written in patterns {
            let (negated, body) = match written.strip_prefix('!') {
                Some(rest) if !rest.starts_with('(') => (true, rest),
                _ => (false, written.as_str()),
            };
            let Some(inside) = self.absolute_glob(body) else { continue };
            match groups.last_mut() {
                Some((group, kind)) if *kind == negated => group.push(inside),
                _ => groups.push((vec![inside], negated)),
            }
        }
        let mut list = Vec::new();
        for (group, negated) in groups {
            let globs = Globs::new(&group, STYLE);
            for pattern in &globs.refused {
                self.unknown.push(nowhere(&format!("the pattern `{pattern}`")));
            }
            list.push((globs, negated));
        }
        list
    }

    /// A pattern on absolute paths as a project-relative one. `None` for one that matches
    /// nothing of the project: relative patterns match no absolute path.
    fn absolute_glob(&self, written: &str) -> Option<String> {
        let absolute = format!("{}/", root_of(self.context.tree));
        if let Some(rest) = written.strip_prefix("<rootDir>/") {
            return glob::at(&self.root, rest);
        }
        if let Some(rest) = written.strip_prefix(&absolute) {
            return Some(rest.to_owned());
        }
        let free = written.strip_prefix('/').filter(|rest| rest.starts_with("**"));
        free.or_else(|| written.starts_with(['*', '{', '(', '?', '+', '@']).then_some(written))
            .map(str::to_owned)
    }

    fn matcher(&mut self, value: &Value) -> Matcher {
        let mut matcher = Matcher::default();
        let roots = value.get("roots").strings();
        self.unknown.extend(roots.unknown.iter().cloned());
        matcher.roots = roots.possible.iter().filter_map(|r| self.inside(r)).collect();
        if roots.absent || !roots.unknown.is_empty() || matcher.roots.is_empty() {
            matcher.roots.push(self.root.clone());
        }
        matcher.roots.sort();
        // A root inside another is listed once.
        let all = matcher.roots.clone();
        matcher.roots.retain(|r| !all.iter().any(|o| o != r && path::is_within(r, o)));
        matcher.roots.dedup();

        let extensions = value.get("moduleFileExtensions").strings();
        matcher.extensions = extensions.possible;
        if extensions.absent || !extensions.unknown.is_empty() {
            let old = self.context.major.is_some_and(|m| m < 30);
            let default = MODULE_EXTENSIONS.iter().filter(|e| !(old && matches!(**e, "mts" | "cts")));
            matcher.extensions.extend(default.map(|e| (*e).to_owned()));
        }
        self.unknown.extend(extensions.unknown);

        let regexes = value.get("testRegex");
        let lists = value.get("testMatch");
        let regex_strings = regexes.strings();
        for alternative in regexes.alternatives() {
            let items = match alternative {
                Value::Array(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            for item in items {
                match item {
                    Value::String(source) => matcher.regexes.extend(self.pattern(source, "")),
                    Value::Regex(source, flags) => matcher.regexes.extend(self.pattern(source, flags)),
                    _ => {}
                }
            }
        }
        let is_regex = |u: &Value| matches!(u, Value::Regex(..));
        if !regexes.alternatives().iter().any(is_regex) && !regex_strings.unknown.is_empty() {
            matcher.anything = true;
            self.unknown.extend(regex_strings.unknown);
        }
        for list in lists.alternatives() {
            let strings = list.strings();
            if !strings.unknown.is_empty() {
                matcher.anything = true;
                self.unknown.extend(strings.unknown);
            }
            if strings.absent {
                // The default holds unless regular expressions are given.
                if matcher.regexes.is_empty() || regex_strings.absent {
                    let default: Vec<String> =
                        test_match(self.context.major).iter().map(|s| (*s).to_owned()).collect();
                    let globs = self.globs(&default);
                    matcher.lists.push(globs);
                }
            } else {
                let globs = self.globs(&strings.possible);
                matcher.lists.push(globs);
            }
        }
        if matcher.anything {
            let default: Vec<String> = test_match(None).iter().map(|s| (*s).to_owned()).collect();
            let globs = self.globs(&default);
            matcher.lists.push(globs);
        }
        for list in value.get("testPathIgnorePatterns").alternatives() {
            let strings = list.strings();
            let mut sure = strings.sure;
            if strings.absent || !strings.unknown.is_empty() {
                sure = vec!["/node_modules/".to_owned()];
            }
            self.unknown.extend(strings.unknown);
            let patterns = sure.iter().filter_map(|p| self.pattern(p, "")).collect();
            matcher.ignore.push(patterns);
        }
        let modules = value.get("modulePathIgnorePatterns").strings();
        self.unknown.extend(modules.unknown);
        if value.get("modulePathIgnorePatterns").alternatives().len() == 1 {
            matcher.ignore_modules = modules.sure.iter().filter_map(|p| self.pattern(p, "")).collect();
        }
        matcher
    }

    fn resolve(&mut self, value: &Value, matcher: &Matcher) -> ResolveOptions {
        let mut module_paths: Vec<String> = Vec::new();
        for written in self.strings(&value.get("modulePaths")) {
            module_paths.extend(self.inside(&written));
        }
        let mut module_directories = Vec::new();
        for written in self.strings(&value.get("moduleDirectories")) {
            let rooted = self.rooted(&written);
            if rooted.starts_with('/') {
                module_paths.extend(self.inside(&written));
            } else {
                module_directories.push(rooted.trim_start_matches("./").trim_end_matches('/').to_owned());
            }
        }
        ResolveOptions {
            root: self.root.clone(),
            conditions: self.conditions(value),
            aliases: self.aliases(value),
            extensions: matcher.extensions.iter().map(|e| format!(".{e}")).collect(),
            module_paths,
            module_directories,
            tsconfig_paths: self.source.tsconfig_paths,
            mock_roots: matcher.roots.clone(),
            ..ResolveOptions::default()
        }
    }

    fn aliases(&mut self, value: &Value) -> Vec<Alias> {
        let mut aliases = Vec::new();
        for one in value.get("moduleNameMapper").alternatives() {
            match one {
                Value::Undefined | Value::Null => {}
                Value::Object(object) => {
                    self.unknown.extend(object.open().cloned());
                    for key in object.keys() {
                        let targets = object.get(key).strings();
                        self.unknown.extend(targets.unknown);
                        for target in targets.possible {
                            let rooted = self.rooted(&target);
                            let replacement = match rooted.starts_with('/') {
                                true => match self.inside(&target) {
                                    Some(inside) => match inside.rsplit_once("node_modules/") {
                                        Some((_, package)) => package.to_owned(),
                                        None => format!("/{inside}"),
                                    },
                                    None => match rooted.rsplit_once("node_modules/") {
                                        Some((_, package)) => package.to_owned(),
                                        None => {
                                            self.unknown.push(nowhere(&format!(
                                                "the module `{key}` is mapped to, outside the repository,"
                                            )));
                                            continue;
                                        }
                                    },
                                },
                                false => rooted,
                            };
                            aliases.push(Alias { find: AliasFind::Regex(key.to_owned()), replacement });
                        }
                    }
                }
                other => self.unknown.push(other.unknown("`moduleNameMapper`")),
            }
        }
        aliases
    }

    fn conditions(&mut self, value: &Value) -> Vec<String> {
        let custom = value.at(&["testEnvironmentOptions", "customExportConditions"]);
        let strings = custom.strings();
        if !strings.absent || !strings.unknown.is_empty() {
            self.unknown.extend(strings.unknown);
            return strings.possible;
        }
        let mut conditions = Vec::new();
        for one in value.get("testEnvironment").alternatives() {
            let name = one.as_str().unwrap_or("node");
            let list: &[&str] = if name.contains("jsdom") || name.contains("happy-dom") {
                &["browser"]
            } else {
                &["node", "node-addons"]
            };
            conditions.extend(list.iter().map(|c| (*c).to_owned()));
        }
        let mut seen = std::collections::BTreeSet::new();
        conditions.retain(|c: &String| seen.insert(c.clone()));
        conditions
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

    fn inputs(&mut self, value: &Value) {
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

    fn tsconfig(&mut self, value: &Value) {
        if let Value::String(written) = value
            && let Some(file) = self.inside(written)
        {
            self.shared.add(Target::Manifest(file), SharedRole::Manifest, Load::Content);
        }
    }

    /// Configurations of the transformers jest uses by default.
    fn babel(&mut self) {
        let names = [
            "babel.config.js",
            "babel.config.cjs",
            "babel.config.mjs",
            "babel.config.ts",
            "babel.config.cts",
            "babel.config.json",
            ".babelrc",
            ".babelrc.js",
            ".babelrc.cjs",
            ".babelrc.mjs",
            ".babelrc.json",
            ".swcrc",
        ];
        let dirs: Vec<String> = ["", &self.root, &self.context.place.dir].map(str::to_owned).to_vec();
        for dir in dirs {
            for name in names {
                if let Some(file) = path::join(&dir, name).filter(|f| self.context.tree.is_file(f)) {
                    self.shared.config(&file);
                }
            }
        }
    }

    fn stray_snapshots(&mut self) {
        let root = self.root.clone();
        for file in crate::runners::below(self.context.tree.files(), &root) {
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

/// The names in a value that is a name, `[name, options]`, or a list of these.
fn listed_names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(items) => items.iter().flat_map(listed_names).collect(),
        Value::Either(values) => values.iter().flat_map(listed_names).collect(),
        _ => Vec::new(),
    }
}

fn nowhere(reason: &str) -> Unknown {
    Unknown { reason: reason.to_owned(), path: String::new(), line: 0 }
}

/// Adds the environment that a test asks for in its first comment.
pub(super) fn docblock(tree: &dyn Tree, root: &str, file: &str, test: &mut TestFile) {
    let Some(text) = tree.text(file) else { return };
    let Some(at) = text.find("@jest-environment ") else { return };
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
        _ => inputs.package(package_of(name), SharedRole::Plugin),
    }
    test.shared.extend(inputs.finish());
    test.shared.sort();
    test.shared.dedup();
}
