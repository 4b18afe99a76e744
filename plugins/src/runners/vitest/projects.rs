//! The projects of one place: the configuration itself, or what its `projects` (before
//! vitest 3: its workspace file) lists.

use std::collections::BTreeSet;

use owed_engine::path;

use super::locate;
use super::options::Context;
use crate::runners::config::value::{Object, Unknown, Value};
use crate::runners::config::{merge, relative, root_of};
use crate::runners::glob::{self, Globs, Style};
use crate::runners::manifest::chain;

/// One project before its options are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// The directory its paths are relative to when it does not say.
    pub(super) dir: String,
    /// The name it has without saying one.
    pub(super) name: Option<String>,
    /// Whether it is one of several, so that a name selects it.
    pub(super) listed: bool,
    /// Its merged configuration.
    pub(super) value: Value,
    /// Its own configuration file.
    pub(super) config: Option<String>,
    /// What the configuration that lists it sets for all projects.
    pub(super) top: Value,
    /// Every configuration file vitest loads for it.
    pub(super) configs: BTreeSet<String>,
}

/// The projects of a place, and what could not be told about which there are.
pub(super) fn of(context: &Context<'_>) -> (Vec<Source>, Vec<Unknown>) {
    let place = context.place;
    let value = place.config.as_ref().map_or(Value::Object(Object::default()), |c| context.reader.load(c));
    let mut configs: BTreeSet<String> = place.config.iter().cloned().collect();
    let (list, base) = listed(context, &value, &mut configs);
    let dir = place.root.clone().unwrap_or_else(|| place.dir.clone());
    let single = Source {
        dir: dir.clone(),
        name: None,
        listed: false,
        value: value.clone(),
        config: place.config.clone(),
        top: Value::Undefined,
        configs: configs.clone(),
    };
    let mut found =
        Expansion { context, root: &value, configs: &configs, sources: Vec::new(), unknown: Vec::new() };
    let mut alone = false;
    for one in list.alternatives() {
        match one {
            Value::Undefined | Value::Null | Value::Bool(false) => alone = true,
            Value::Array(items) => found.list(items, &base),
            other => {
                found.unknown.push(other.unknown("the list of projects"));
                alone = true;
            }
        }
    }
    let Expansion { mut sources, unknown, .. } = found;
    if alone || (sources.is_empty() && !unknown.is_empty()) {
        sources.insert(0, single);
    }
    (sources, unknown)
}

/// The list of projects, and the directory its entries are relative to.
fn listed(context: &Context<'_>, value: &Value, configs: &mut BTreeSet<String>) -> (Value, String) {
    let place = context.place;
    let dir = place.root.clone().unwrap_or_else(|| place.dir.clone());
    let projects = value.at(&["test", "projects"]);
    if projects != Value::Undefined {
        return (projects, dir);
    }
    if context.major.is_some_and(|m| m >= 4) {
        return (Value::Undefined, dir);
    }
    let file = match value.at(&["test", "workspace"]) {
        Value::String(file) => {
            let inside = relative(&root_of(context.tree), &file).or_else(|| path::join(&dir, &file));
            match inside {
                Some(file) => Some(file),
                None => return (context.foreign("a workspace file outside the project"), dir),
            }
        }
        Value::Undefined => place.workspace.clone(),
        other => return (other, dir),
    };
    match file {
        Some(file) => {
            let list = context.reader.load(&file);
            let base = path::dirname(&file).to_owned();
            configs.insert(file);
            (list, base)
        }
        None => (Value::Undefined, dir),
    }
}

struct Expansion<'a, 'b> {
    context: &'a Context<'b>,
    root: &'a Value,
    configs: &'a BTreeSet<String>,
    sources: Vec<Source>,
    unknown: Vec<Unknown>,
}

impl Expansion<'_, '_> {
    fn list(&mut self, items: &[Value], base: &str) {
        let mut globs: Vec<String> = Vec::new();
        let mut negative: Vec<String> = Vec::new();
        for item in items.iter().flat_map(Value::alternatives) {
            match item {
                Value::String(entry) => {
                    let inside = match entry.strip_prefix('!') {
                        Some(rest) => {
                            negative.extend(glob::at(base, rest));
                            continue;
                        }
                        None => self.inside(entry, base),
                    };
                    match inside {
                        Some(inside) if entry.contains(['*', '{', '[', '(']) => globs.push(inside),
                        Some(inside) => self.entry(&inside),
                        None => self.unknown.push(Unknown {
                            reason: format!("the project `{entry}`, outside the repository,"),
                            path: String::new(),
                            line: 0,
                        }),
                    }
                }
                Value::Object(_) => self.inline(item),
                Value::Function(_) => {
                    let called = self.context.reader.apply(item.clone());
                    for one in called.alternatives() {
                        self.inline(one);
                    }
                }
                Value::Undefined | Value::Null | Value::Bool(_) => {}
                other => self.unknown.push(other.unknown("a project")),
            }
        }
        for entry in self.matching(&globs, &negative) {
            self.entry(&entry);
        }
    }

    fn inside(&self, entry: &str, base: &str) -> Option<String> {
        if entry.starts_with('/') {
            return relative(&root_of(self.context.tree), entry);
        }
        let entry = entry.trim_end_matches('/');
        if entry.contains(['*', '{', '[', '(']) { glob::at(base, entry) } else { path::join(base, entry) }
    }

    /// Directories and configuration files of the inventory that match.
    fn matching(&self, globs: &[String], negative: &[String]) -> Vec<String> {
        if globs.is_empty() {
            return Vec::new();
        }
        let style = Style { dot: true };
        let trimmed: Vec<&str> = globs.iter().map(|g| g.trim_end_matches('/')).collect();
        let (globs, negative) = (Globs::new(&trimmed, style), Globs::new(negative, style));
        let mut found = BTreeSet::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for file in self.context.tree.files() {
            for dir in path::ancestors(file) {
                if !seen.insert(dir) {
                    break;
                }
                if globs.is_match(dir) && !negative.excludes(dir, "") {
                    found.insert(dir.to_owned());
                }
            }
            if locate::is_config(path::basename(file)) && globs.is_match(file) && !negative.excludes(file, "")
            {
                found.insert(file.clone());
            }
        }
        found.into_iter().collect()
    }

    fn entry(&mut self, entry: &str) {
        if self.context.tree.is_file(entry) {
            self.file(entry, path::dirname(entry));
        } else if self.context.tree.is_dir(entry) {
            let name = self.name_of(entry);
            match locate::config_in(self.context.tree, entry) {
                Some(config) => self.file(&config, entry),
                None => self.sources.push(Source {
                    dir: entry.to_owned(),
                    name,
                    listed: true,
                    value: Value::Object(Object::default()),
                    config: None,
                    top: self.root.clone(),
                    configs: self.configs.clone(),
                }),
            }
        } else {
            self.unknown.push(Unknown {
                reason: format!("the project `{entry}`, which is not there,"),
                path: String::new(),
                line: 0,
            });
        }
    }

    fn file(&mut self, config: &str, dir: &str) {
        let value = if self.configs.contains(config) && self.context.place.config.as_deref() == Some(config) {
            self.root.clone()
        } else {
            self.context.reader.load(config)
        };
        let mut configs = self.configs.clone();
        configs.insert(config.to_owned());
        self.sources.push(Source {
            dir: dir.to_owned(),
            name: self.name_of(dir),
            listed: true,
            value,
            config: Some(config.to_owned()),
            top: self.root.clone(),
            configs,
        });
    }

    fn name_of(&self, dir: &str) -> Option<String> {
        let named = self.context.packages.at(dir).and_then(|p| p.name());
        named.or_else(|| (!dir.is_empty()).then(|| path::basename(dir).to_owned()))
    }

    fn inline(&mut self, item: &Value) {
        let mut configs = self.configs.clone();
        let dir = self.context.place.root.clone().unwrap_or_else(|| self.context.place.dir.clone());
        let value = match item.get("extends") {
            Value::Bool(true) => merge(&without_projects(self.root), item),
            Value::String(file) => {
                match self.inside(&file, &dir).and_then(|f| self.context.reader.existing(&f)) {
                    Some(file) => {
                        let base = self.context.reader.load(&file);
                        configs.insert(file);
                        merge(&without_projects(&base), item)
                    }
                    None => {
                        merge(&self.context.foreign(&format!("`{file}`, which is not in the project,")), item)
                    }
                }
            }
            Value::Undefined | Value::Bool(false) | Value::Null => item.clone(),
            other => merge(&Value::Unknown(other.unknown("what a project extends")), item),
        };
        self.sources.push(Source {
            dir,
            name: None,
            listed: true,
            value,
            config: self.context.place.config.clone(),
            top: self.root.clone(),
            configs,
        });
    }
}

/// A configuration without what projects do not inherit.
fn without_projects(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut object = object.clone();
            let Value::Object(mut test) = object.get("test") else { return Value::Object(object) };
            for key in ["projects", "workspace", "name"] {
                test.set(&[key.to_owned()], Value::Undefined);
            }
            object.set(&["test".to_owned()], Value::Object(test));
            Value::Object(object)
        }
        Value::Either(values) => Value::either(values.iter().map(without_projects).collect()),
        other => other.clone(),
    }
}

/// A project as vitest itself resolved it, with the files that static reading knows.
pub(super) fn resolved(context: &Context<'_>, read: &[Source], value: Value) -> Source {
    let root = root_of(context.tree);
    let inside = |key: &str| value.get(key).as_str().and_then(|p| relative(&root, p));
    let dir = inside("root").unwrap_or_else(|| context.place.dir.clone());
    let config = inside("configFile").or_else(|| {
        chain(&dir).find_map(|d| locate::config_in(context.tree, d)).filter(|c| path::dirname(c) == dir)
    });
    let listed = value.get("listed").truthy() == Some(true);
    let alone = context.place.root.clone().unwrap_or_else(|| context.place.dir.clone());
    let twin = read.iter().find(|s| s.config == config).or_else(|| read.iter().find(|s| s.dir == dir));
    let mut configs = twin.map(|s| s.configs.clone()).unwrap_or_default();
    configs.extend(config.iter().cloned());
    configs.extend(context.place.config.iter().cloned());
    configs.extend(context.place.workspace.iter().cloned());
    Source {
        // Alone, it is run where the place is; its root is in its options.
        dir: if listed { dir } else { alone },
        name: value.get("name").as_str().filter(|n| !n.is_empty()).map(str::to_owned),
        listed,
        top: read.first().filter(|_| listed).map(|s| s.top.clone()).unwrap_or_default(),
        value,
        config: config.or_else(|| context.place.config.clone()),
        configs,
    }
}
