//! Reads configuration files without running them: JavaScript and TypeScript modules are
//! evaluated as far as they are constant, JSON (with comments) and flat YAML are parsed.
//!
//! It runs nothing, knows no runner, and never guesses: what it cannot evaluate is
//! [`value::Value::Unknown`] at exactly the key it concerns. Each runner decides which
//! keys it needs, and asks its own program in a child when one of those is unknown.

pub mod value;

mod call;
mod edits;
mod expression;
mod function;
pub mod json;
mod locate;
mod member;
mod module;
mod package;
mod pattern;
pub mod yaml;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use owed_engine::path;
use owed_engine::tree::Tree;

use crate::runners::manifest::Packages;
pub use locate::split as package_and_rest;
pub use module::code;
use value::{Entry, Object, Unknown, Value};

/// Steps one reading may take; far above any real configuration.
const STEPS: u32 = 200_000;
/// Modules, functions and expressions inside each other.
const DEPTH: u32 = 120;

/// Evaluates configuration files of one tree.
pub struct Reader<'a> {
    tree: &'a dyn Tree,
    packages: &'a Packages,
    /// The tree's root as an absolute path with `/`.
    root: String,
    /// Where the runner is started (absolute): `process.cwd()`.
    cwd: String,
    /// Values of names that packages export, by specifier and name.
    known: BTreeMap<(String, String), Value>,
    /// What calls of functions that packages export give.
    calls: BTreeMap<(String, String), Value>,
    /// What functions that wrap a configuration add to it, by module.
    wrappers: BTreeMap<String, Value>,
    /// Values of environment names that the runner itself sets.
    environment: BTreeMap<String, Value>,
    /// What a configuration that is a function is called with.
    argument: Value,
    steps: Cell<u32>,
    depth: Cell<u32>,
    /// Exports being evaluated, against cycles.
    busy: RefCell<Vec<(String, String)>>,
    memo: RefCell<BTreeMap<(String, String), Value>>,
    /// The files that were read, project-relative.
    read: RefCell<std::collections::BTreeSet<String>>,
}

impl<'a> Reader<'a> {
    /// A reader for a runner that is started in `cwd` (project-relative).
    pub fn new(tree: &'a dyn Tree, packages: &'a Packages, cwd: &str) -> Self {
        let root = root_of(tree);
        let cwd = absolute(&root, cwd);
        Self {
            tree,
            packages,
            root,
            cwd,
            known: BTreeMap::new(),
            calls: BTreeMap::new(),
            wrappers: BTreeMap::new(),
            environment: BTreeMap::new(),
            argument: Value::Undefined,
            steps: Cell::new(STEPS),
            depth: Cell::new(DEPTH),
            busy: RefCell::default(),
            memo: RefCell::default(),
            read: RefCell::default(),
        }
    }

    /// Gives a name of a package a value (`configDefaults` of `vitest/config`).
    pub fn know(&mut self, module: &str, name: &str, value: Value) {
        self.known.insert((module.to_owned(), name.to_owned()), value);
    }

    /// Says what calling a function of a package gives, whatever it is given.
    pub fn know_call(&mut self, module: &str, name: &str, value: Value) {
        self.calls.insert((module.to_owned(), name.to_owned()), value);
    }

    /// Says what a function that a package makes (`nextJest({…})(config)`) adds to the
    /// configuration it is given.
    pub fn know_wrapper(&mut self, module: &str, adds: Value) {
        self.wrappers.insert(module.to_owned(), adds);
    }

    /// Says what the runner itself sets an environment name to.
    pub fn environment(&mut self, name: &str, value: Value) {
        self.environment.insert(name.to_owned(), value);
    }

    /// Says what a configuration that is a function is called with.
    pub fn call_with(&mut self, argument: Value) {
        self.argument = argument;
    }

    /// What the configuration file at `path` gives: its default export, `module.exports`,
    /// or the parsed data. A function is called with the reader's argument.
    pub fn load(&self, path: &str) -> Value {
        let value = self.export(path, "default");
        self.applied(value, &self.argument, 4)
    }

    /// What configuration functions are called with.
    fn argument(&self) -> Value {
        self.argument.clone()
    }

    /// What a function in a configuration gives; anything else is given back.
    pub fn apply(&self, value: Value) -> Value {
        self.applied(value, &self.argument, 4)
    }

    /// The files that were read so far, sorted.
    pub fn files(&self) -> Vec<String> {
        self.read.borrow().iter().cloned().collect()
    }

    /// `path` (project-relative) as an absolute one.
    pub fn absolute(&self, path: &str) -> String {
        absolute(&self.root, path)
    }

    /// The project-relative form of a path as written in a configuration for the
    /// directory `dir`; `None` outside the project.
    pub fn inside(&self, written: &str, dir: &str) -> Option<String> {
        let written = written.strip_prefix("file://").unwrap_or(written);
        if written.starts_with('/') { relative(&self.root, written) } else { path::join(dir, written) }
    }

    fn applied(&self, value: Value, argument: &Value, limit: u32) -> Value {
        match value {
            Value::Function(function) if limit > 0 => {
                let result = self.call(&function, std::slice::from_ref(argument));
                self.applied(result, argument, limit - 1)
            }
            Value::Either(values) => {
                Value::either(values.into_iter().map(|v| self.applied(v, argument, limit)).collect())
            }
            other => other,
        }
    }

    /// The value of the export `name` of the file at `path`.
    fn export(&self, path: &str, name: &str) -> Value {
        let key = (path.to_owned(), name.to_owned());
        if let Some(value) = self.memo.borrow().get(&key) {
            return value.clone();
        }
        if self.busy.borrow().contains(&key) {
            return unknown("an import cycle", path, 1);
        }
        if self.busy.borrow().len() > 24 {
            return unknown("too many configuration files importing each other", path, 1);
        }
        self.busy.borrow_mut().push(key.clone());
        let value = self.read_export(path, name);
        self.busy.borrow_mut().pop();
        self.memo.borrow_mut().insert(key, value.clone());
        value
    }

    fn read_export(&self, path: &str, name: &str) -> Value {
        self.read.borrow_mut().insert(path.to_owned());
        let parse = match path::extension(path) {
            "json" | "jsonc" | "json5" => json::parse,
            "yaml" | "yml" => yaml::parse,
            _ => {
                return match self.tree.code(path) {
                    Some(text) => module::with(self, path, &text, |m| m.export(name)),
                    None => unknown("a file that cannot be read", path, 1),
                };
            }
        };
        let Some(text) = self.tree.text(path) else {
            return unknown("a file that cannot be read", path, 1);
        };
        let data = parse(&text, path);
        if name == "default" || name == "*" { data } else { data.get(name) }
    }

    /// Calls a function of some configuration file.
    fn call(&self, function: &value::FunctionRef, arguments: &[Value]) -> Value {
        let Some(text) = self.tree.code(&function.path) else {
            return unknown("a file that cannot be read", &function.path, 1);
        };
        module::with(self, &function.path, &text, |m| m.call_at(function, arguments))
    }

    /// Takes one step, `false` when there are none left.
    fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Runs `inner` one level deeper.
    fn deeper(&self, path: &str, line: impl FnOnce() -> u32, inner: impl FnOnce() -> Value) -> Value {
        let left = self.depth.get();
        if left == 0 || !self.step() {
            return unknown("configuration nested too deep", path, line());
        }
        self.depth.set(left - 1);
        let value = inner();
        self.depth.set(left);
        value
    }
}

/// The tree's root as an absolute path with `/` and without a trailing one.
pub fn root_of(tree: &dyn Tree) -> String {
    tree.root().to_string_lossy().replace('\\', "/").trim_end_matches('/').to_owned()
}

/// `path` (project-relative) below `root`.
pub fn absolute(root: &str, path: &str) -> String {
    if path.is_empty() { root.to_owned() } else { format!("{root}/{path}") }
}

/// The project-relative form of the absolute path `path`; `None` outside the project.
pub fn relative(root: &str, path: &str) -> Option<String> {
    let path = normal(path);
    if path == root {
        return Some(String::new());
    }
    path.strip_prefix(root)?.strip_prefix('/').map(str::to_owned)
}

/// An absolute path without `.`, `..` and doubled slashes.
pub fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Merges two configurations as vite's and vitest's `mergeConfig` does: objects key by
/// key, arrays one after the other, anything else replaced by `over`.
pub fn merge(base: &Value, over: &Value) -> Value {
    match (base, over) {
        (_, Value::Undefined | Value::Null) => base.clone(),
        (Value::Undefined | Value::Null, _) => over.clone(),
        (Value::Either(values), _) => Value::either(values.iter().map(|v| merge(v, over)).collect()),
        (_, Value::Either(values)) => Value::either(values.iter().map(|v| merge(base, v)).collect()),
        (Value::Object(a), Value::Object(b)) => {
            let mut merged = a.clone();
            for entry in &b.0 {
                match entry {
                    Entry::Key(key, value) => {
                        let value = merge(&a.get(key), value);
                        merged.0.push(Entry::Key(key.clone(), value));
                    }
                    Entry::Open(open) => merged.0.push(Entry::Open(open.clone())),
                }
            }
            Value::Object(merged)
        }
        (Value::Array(a), Value::Array(b)) => Value::Array(a.iter().chain(b).cloned().collect()),
        (Value::Array(a), Value::String(_)) => {
            Value::Array(a.iter().chain(std::iter::once(over)).cloned().collect())
        }
        (Value::String(_), Value::Array(b)) => {
            Value::Array(std::iter::once(base).chain(b).cloned().collect())
        }
        (Value::Unknown(u), Value::Object(b)) => {
            let mut object = Object(vec![Entry::Open(u.clone())]);
            for entry in &b.0 {
                object.0.push(match entry {
                    // What is merged into may hold more below the same key.
                    Entry::Key(key, Value::Object(_) | Value::Array(_)) => {
                        let value = b.get(key);
                        Entry::Key(key.clone(), merge(&Value::Unknown(u.clone()), &value))
                    }
                    other => other.clone(),
                });
            }
            Value::Object(object)
        }
        (Value::Object(a), Value::Unknown(u)) => {
            let mut object = a.clone();
            object.0.push(Entry::Open(u.clone()));
            Value::Object(object)
        }
        (Value::Unknown(u), Value::Array(_)) => Value::either(vec![Value::Unknown(u.clone()), over.clone()]),
        (Value::Call(call), _) => merge(&Value::Unknown(call.at.clone()), over),
        (_, Value::Call(call)) => merge(base, &Value::Unknown(call.at.clone())),
        _ => over.clone(),
    }
}

fn unknown(reason: impl Into<String>, path: &str, line: u32) -> Value {
    Value::Unknown(Unknown { reason: reason.into(), path: path.to_owned(), line })
}

#[cfg(test)]
mod tests;
