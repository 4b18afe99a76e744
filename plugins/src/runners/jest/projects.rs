//! The projects of one place: the configuration itself, or what its `projects` lists;
//! presets merged in.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::tree::Tree;

use super::locate::{self, Place, Starter};
use super::presets;
use crate::runners::config::value::{Entry, Object, Unknown, Value};
use crate::runners::config::{Reader, relative, root_of};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::manifest::Packages;

/// What all projects of a place are read with.
pub(super) struct Context<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) packages: &'a Packages,
    pub(super) reader: Reader<'a>,
    pub(super) place: &'a Place,
    /// Jest's major version, when it is known.
    pub(super) major: Option<u32>,
}

/// One project before its options are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// The directory `rootDir` is relative to, and its default.
    pub(super) dir: String,
    /// Whether it is one of several.
    pub(super) listed: bool,
    /// Its configuration, with its preset.
    pub(super) value: Value,
    /// Its own configuration file.
    pub(super) config: Option<String>,
    /// What the configuration that lists it sets for all projects, and its root.
    pub(super) top: Option<(Value, String)>,
    /// Every configuration file jest loads for it.
    pub(super) configs: BTreeSet<String>,
    /// Whether `tsconfig.json` paths hold.
    pub(super) tsconfig_paths: bool,
    /// What is not known about its preset.
    pub(super) unknown: Vec<Unknown>,
    /// Packages its configuration names.
    pub(super) packages: Vec<String>,
}

/// The projects of a place.
pub(super) fn of(context: &Context<'_>) -> Vec<Source> {
    let place = context.place;
    let mut top = match &place.config {
        Some(config) => file(context, config),
        None => {
            Source { dir: place.dir.clone(), value: Value::Object(Object::default()), ..Source::default() }
        }
    };
    if let Some(root) = &place.root {
        top.dir.clone_from(root);
    }
    if place.starter == Starter::ReactScripts {
        top.value = react_scripts(context, &top.value);
        top.packages.push("react-scripts".to_owned());
        top.tsconfig_paths = true;
    }
    let list = if place.projects.is_empty() {
        top.value.get("projects")
    } else {
        Value::Array(place.projects.iter().cloned().map(Value::String).collect())
    };
    let base = root_dir(context, &top.value, &top.dir).unwrap_or_else(|| top.dir.clone());
    let mut sources = Vec::new();
    let mut alone = false;
    for one in list.alternatives() {
        match one {
            Value::Undefined | Value::Null => alone = true,
            Value::Array(items) if items.is_empty() => alone = true,
            Value::Array(items) => {
                for item in items.iter().flat_map(Value::alternatives) {
                    listed(context, &mut top, item, &base, &mut sources);
                }
            }
            other => {
                top.unknown.push(other.unknown("the list of projects"));
                alone = true;
            }
        }
    }
    if alone || sources.is_empty() {
        sources.insert(0, with_preset(context, top));
    } else {
        for source in &mut sources {
            source.top = Some((top.value.clone(), base.clone()));
            source.unknown.extend(top.unknown.iter().cloned());
        }
    }
    sources
}

fn listed(context: &Context<'_>, top: &mut Source, item: &Value, base: &str, sources: &mut Vec<Source>) {
    match item {
        Value::String(entry) => {
            let entry = entry.replace("<rootDir>", &context.reader.absolute(base));
            let Some(inside) = context.reader.inside(&entry, base).or_else(|| glob::at(base, &entry)) else {
                top.unknown.push(nowhere(format!("the project `{entry}`, outside the repository,")));
                return;
            };
            for entry in expanded(context, &inside) {
                // The root may list itself.
                let config = if context.tree.is_dir(&entry) {
                    locate::config_in(context.tree, context.packages, &entry)
                } else {
                    Some(entry.clone()).filter(|e| context.tree.is_file(e))
                };
                let mut source = match &config {
                    Some(config) if Some(config) == top.config.as_ref() => top.clone(),
                    Some(config) => file(context, config),
                    None if context.tree.is_dir(&entry) => Source {
                        dir: entry.clone(),
                        value: Value::Object(Object::default()),
                        ..Source::default()
                    },
                    None => {
                        top.unknown.push(nowhere(format!("the project `{entry}`, which is not there,")));
                        continue;
                    }
                };
                source.listed = true;
                source.configs.extend(top.configs.iter().cloned());
                sources.push(with_preset(context, source));
            }
        }
        Value::Object(_) => {
            let source = Source {
                dir: base.to_owned(),
                listed: true,
                tsconfig_paths: item.get(presets::PATHS).truthy() == Some(true),
                value: item.clone(),
                config: top.config.clone(),
                configs: top.configs.clone(),
                ..Source::default()
            };
            sources.push(with_preset(context, source));
        }
        Value::Undefined | Value::Null | Value::Bool(_) => {}
        other => top.unknown.push(other.unknown("a project")),
    }
}

fn expanded(context: &Context<'_>, entry: &str) -> Vec<String> {
    let entry = entry.trim_end_matches('/');
    if !entry.contains(['*', '{', '[', '(']) {
        return vec![entry.to_owned()];
    }
    let globs = Globs::new([entry], Style { dot: false });
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for file in context.tree.files() {
        for dir in path::ancestors(file) {
            if !seen.insert(dir) {
                break;
            }
            if globs.is_match(dir) {
                found.insert(dir.to_owned());
            }
        }
        if locate::is_config(path::basename(file)) && globs.is_match(file) {
            found.insert(file.clone());
        }
    }
    // Directories that only happen to match (`packages/*` with a README folder) hold no project.
    found.retain(|f| {
        context.tree.is_file(f)
            || locate::config_in(context.tree, context.packages, f).is_some()
            || context.packages.at(f).is_some()
    });
    found.into_iter().collect()
}

fn file(context: &Context<'_>, config: &str) -> Source {
    let value = context.reader.load(config);
    let value = if path::basename(config) == "package.json" { value.get("jest") } else { value };
    let value = context.reader.apply(value);
    Source {
        dir: path::dirname(config).to_owned(),
        tsconfig_paths: value.get(presets::PATHS).truthy() == Some(true),
        value,
        config: Some(config.to_owned()),
        configs: BTreeSet::from([config.to_owned()]),
        ..Source::default()
    }
}

/// `rootDir` as a project-relative directory.
pub(super) fn root_dir(context: &Context<'_>, value: &Value, dir: &str) -> Option<String> {
    match value.get("rootDir") {
        Value::String(root) => context.reader.inside(&root, dir),
        _ => None,
    }
}

fn with_preset(context: &Context<'_>, mut source: Source) -> Source {
    let name = match source.value.get("preset") {
        Value::Undefined | Value::Null => return source,
        Value::String(name) => name,
        other => {
            source.unknown.push(other.unknown("the preset"));
            return source;
        }
    };
    let root = root_dir(context, &source.value, &source.dir).unwrap_or_else(|| source.dir.clone());
    let name = name.replace("<rootDir>", &context.reader.absolute(&root));
    let preset = if name.starts_with(['.', '/']) {
        let target = context.reader.inside(&name, &root);
        target.and_then(|t| preset_file(context, &t).or_else(|| context.reader.existing(&t)))
    } else {
        let installed = crate::runners::manifest::chain(&root)
            .filter_map(|d| path::join(d, &format!("node_modules/{name}")))
            .find_map(|d| preset_file(context, &d));
        source.packages.push(name.clone());
        // A package of the project is installed as a link to its own directory.
        let real = |file: String| {
            let real = context.tree.real(&file).filter(|real| !real.contains("node_modules/"));
            real.unwrap_or(file)
        };
        installed.map(real).or_else(|| context.reader.package_file(&format!("{name}/jest-preset")))
    };
    let value = match preset {
        // A known preset needs no reading: what it computes is what the table says.
        Some(_) if presets::preset(&name).is_some() => presets::preset(&name),
        Some(file) => {
            if !file.contains("node_modules/") {
                source.configs.insert(file.clone());
            }
            Some(context.reader.load(&file))
        }
        None => presets::preset(&name),
    };
    match value {
        Some(preset) => source.value = merged(&preset, &source.value),
        None => source.unknown.push(nowhere(format!("the preset `{name}`, which is not installed,"))),
    }
    source
}

fn preset_file(context: &Context<'_>, dir: &str) -> Option<String> {
    ["jest-preset.json", "jest-preset.js", "jest-preset.cjs", "jest-preset.mjs"]
        .iter()
        .filter_map(|name| path::join(dir, name))
        .find(|file| context.tree.is_file(file))
}

/// A preset under a configuration: lists of setup files and ignore patterns are joined,
/// maps are merged, the rest of the configuration wins.
fn merged(preset: &Value, own: &Value) -> Value {
    let mut object = match preset {
        Value::Object(object) => object.clone(),
        other => Object(vec![Entry::Open(other.unknown("the preset"))]),
    };
    let Value::Object(own) = own else {
        return Value::Object(Object(vec![Entry::Open(own.unknown("the configuration"))]));
    };
    for entry in &own.0 {
        let Entry::Key(key, value) = entry else {
            object.0.push(entry.clone());
            continue;
        };
        let base = object.get(key);
        let value = match (key.as_str(), base, value) {
            (
                "setupFiles" | "setupFilesAfterEnv" | "modulePathIgnorePatterns" | "testMatch",
                Value::Array(base),
                Value::Array(own),
            ) if key != "testMatch" => Value::Array(base.iter().chain(own).cloned().collect()),
            ("moduleNameMapper" | "transform", Value::Object(base), Value::Object(own)) => {
                // The configuration's own come first, and win.
                let mut entries = own.0.clone();
                let shadowed = own.keys();
                entries.extend(
                    base.0
                        .iter()
                        .filter(|e| !matches!(e, Entry::Key(k, _) if shadowed.contains(&k.as_str())))
                        .cloned(),
                );
                Value::Object(Object(entries))
            }
            _ => value.clone(),
        };
        object.0.push(Entry::Key(key.clone(), value));
    }
    Value::Object(object)
}

/// What `react-scripts test` runs jest with, under the keys a project may override.
fn react_scripts(context: &Context<'_>, own: &Value) -> Value {
    let string = |s: &str| Value::String(s.to_owned());
    let list = |items: &[&str]| Value::Array(items.iter().map(|s| string(s)).collect());
    let dir = &context.place.dir;
    let setup = ["ts", "js", "tsx", "jsx"]
        .iter()
        .map(|e| format!("src/setupTests.{e}"))
        .find(|f| path::join(dir, f).is_some_and(|f| context.tree.is_file(&f)));
    let mut object = Object::default();
    let mut key = |name: &str, value: Value| object.0.push(Entry::Key(name.to_owned(), value));
    key("roots", list(&["<rootDir>/src"]));
    key("setupFiles", list(&["react-app-polyfill/jsdom"]));
    if let Some(setup) = setup {
        key("setupFilesAfterEnv", list(&[&format!("<rootDir>/{setup}")]));
    }
    key(
        "testMatch",
        list(&[
            "<rootDir>/src/**/__tests__/**/*.{js,jsx,ts,tsx}",
            "<rootDir>/src/**/*.{spec,test}.{js,jsx,ts,tsx}",
        ]),
    );
    key("testEnvironment", string("jsdom"));
    key(
        "moduleFileExtensions",
        list(&["web.js", "js", "web.ts", "ts", "web.tsx", "tsx", "json", "web.jsx", "jsx", "node"]),
    );
    let mapper =
        [("^react-native$", "react-native-web"), ("^.+\\.module\\.(css|sass|scss)$", "identity-obj-proxy")];
    let mapper = mapper.map(|(from, to)| Entry::Key(from.to_owned(), string(to)));
    key("moduleNameMapper", Value::Object(Object(mapper.to_vec())));
    merged(&Value::Object(object), own)
}

/// A project as jest itself resolved it.
pub(super) fn resolved(context: &Context<'_>, read: &[Source], value: Value) -> Source {
    let root = root_of(context.tree);
    let dir = value.get("rootDir").as_str().and_then(|p| relative(&root, p));
    let dir = dir.unwrap_or_else(|| context.place.dir.clone());
    let twin = read.iter().find(|s| s.dir == dir).or_else(|| read.first());
    let mut configs = twin.map(|s| s.configs.clone()).unwrap_or_default();
    configs.extend(context.place.config.iter().cloned());
    configs.extend(locate::config_in(context.tree, context.packages, &dir));
    Source {
        listed: value.get("listed").truthy() == Some(true),
        config: context.place.config.clone(),
        configs,
        value,
        tsconfig_paths: twin.is_some_and(|s| s.tsconfig_paths),
        unknown: Vec::new(),
        top: twin.and_then(|s| s.top.clone()),
        packages: twin.map(|s| s.packages.clone()).unwrap_or_default(),
        dir,
    }
}

fn nowhere(reason: String) -> Unknown {
    Unknown { reason, path: String::new(), line: 0 }
}
