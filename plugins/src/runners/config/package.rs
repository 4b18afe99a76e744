//! Functions of packages that configurations call: paths, URLs, `defineConfig`-like
//! helpers that give back what they are given. Any other call stays a [`Value::Call`].

use owed_engine::path;

use super::module::Module;
use super::value::{Call, Entry, Object, Unknown, Value};
use super::{json, merge, normal, relative};
use crate::runners::regex;

/// Functions that give back their (last) argument: package and name.
const IDENTITY: &[(&str, &str)] = &[
    ("vitest/config", "defineConfig"),
    ("vitest/config", "defineProject"),
    ("vitest/config", "defineWorkspace"),
    ("vite", "defineConfig"),
    ("electron-vite", "defineConfig"),
    ("vite-plus", "defineConfig"),
    ("rolldown-vite", "defineConfig"),
    ("jest", "defineConfig"),
    ("jest-config", "defineConfig"),
    ("astro/config", "defineConfig"),
];

impl Module<'_, '_> {
    pub(super) fn package_call(&self, module: &str, name: &str, mut arguments: Vec<Value>, at: u32) -> Value {
        if IDENTITY.contains(&(module, name)) {
            return arguments.pop().unwrap_or_default();
        }
        let name = name.strip_prefix("posix.").unwrap_or(name);
        match (module, name) {
            ("vite" | "vitest/config" | "rolldown-vite", "mergeConfig") => match arguments.as_slice() {
                [base, over, ..] => {
                    let argument = &self.reader.argument();
                    let base = self.reader.applied(base.clone(), argument, 4);
                    let over = self.reader.applied(over.clone(), argument, 4);
                    merge(&base, &over)
                }
                _ => self.unknown("`mergeConfig` without two arguments", at),
            },
            ("path" | "pathe" | "upath", "resolve") => {
                self.paths(&arguments, Some(self.reader.cwd.clone()), at)
            }
            ("path" | "pathe" | "upath", "join") => self.paths(&arguments, None, at),
            ("path" | "pathe" | "upath", "normalize") => self.paths(&arguments, None, at),
            ("path" | "pathe" | "upath", "dirname") => match arguments.as_slice() {
                [Value::String(s)] if s.starts_with('/') => {
                    Value::String(s.rfind('/').map_or("/", |i| if i == 0 { "/" } else { &s[..i] }).to_owned())
                }
                [Value::String(s)] => Value::String(match path::dirname(s) {
                    "" => ".".to_owned(),
                    dir => dir.to_owned(),
                }),
                _ => self.unknown("a computed path", at),
            },
            ("path" | "pathe" | "upath", "basename") => match arguments.as_slice() {
                [Value::String(s)] => Value::String(path::basename(s).to_owned()),
                _ => self.unknown("a computed path", at),
            },
            ("url", "fileURLToPath") => match arguments.as_slice() {
                [Value::String(s)] => Value::String(s.strip_prefix("file://").unwrap_or(s).to_owned()),
                _ => self.unknown("a computed URL", at),
            },
            ("url", "pathToFileURL") => match arguments.as_slice() {
                [Value::String(s)] => Value::String(format!("file://{s}")),
                _ => self.unknown("a computed URL", at),
            },
            ("globalThis", "process.cwd") | ("process", "cwd") => Value::String(self.reader.cwd.clone()),
            ("globalThis", "require") => match arguments.as_slice() {
                [Value::String(specifier)] => self.reader.import(self, specifier, "*"),
                _ => self.unknown("a computed require", at),
            },
            ("globalThis", "require.resolve") | ("import.meta", "resolve") => match arguments.as_slice() {
                [Value::String(s)] if s.starts_with('.') || s.starts_with('/') => {
                    match self.reader.beside(&self.dir(), s) {
                        Some(path) => Value::String(self.reader.absolute(&path)),
                        None => self.unknown(format!("`{s}`, which is not in the project"), at),
                    }
                }
                // A package resolves to itself: whoever gets it treats it as a specifier.
                [Value::String(s), ..] => Value::String(s.clone()),
                _ => self.unknown("a computed specifier", at),
            },
            ("module", "createRequire") => Value::Package("globalThis".to_owned(), "require".to_owned()),
            ("globalThis", "Object.assign") => {
                let mut arguments = arguments.into_iter();
                let first = arguments.next().unwrap_or(Value::Object(Object::default()));
                arguments.fold(first, |base, over| self.spread_into(base, over, at))
            }
            ("globalThis", "Object.freeze") => arguments.into_iter().next().unwrap_or_default(),
            ("globalThis", "JSON.parse") => match arguments.into_iter().next() {
                Some(Value::Call(call)) if call.module == "fs" && call.name == "readFileSync" => {
                    self.json_file(&call, at)
                }
                Some(Value::String(s)) => json::parse(&s, self.path),
                _ => self.unknown("JSON that is made elsewhere", at),
            },
            ("ts-jest", "pathsToModuleNameMapper") => match mapper(&arguments) {
                Some(mapper) => mapper,
                None => self.foreign(module.to_owned(), name.to_owned(), arguments, at),
            },
            ("globalThis", "Promise.resolve" | "Promise.all") => {
                arguments.into_iter().next().unwrap_or_default()
            }
            ("globalThis", "Boolean") => match arguments.first().unwrap_or(&Value::Undefined).truthy() {
                Some(truthy) => Value::Bool(truthy),
                None => Value::either(vec![Value::Bool(true), Value::Bool(false)]),
            },
            _ => match self.reader.calls.get(&(module.to_owned(), name.to_owned())) {
                Some(value) => value.clone(),
                None => self.foreign(module.to_owned(), name.to_owned(), arguments, at),
            },
        }
    }

    pub(super) fn foreign(&self, module: String, name: String, arguments: Vec<Value>, at: u32) -> Value {
        let called = if name == "default" || name == "*" { &module } else { &name };
        let at = Unknown {
            reason: format!("the result of calling `{called}`"),
            path: self.path.to_owned(),
            line: self.line(at),
        };
        Value::Call(Box::new(Call { module, name, arguments, at }))
    }

    fn json_file(&self, call: &Call, at: u32) -> Value {
        match call.arguments.first() {
            Some(Value::String(file)) => {
                let file = file.strip_prefix("file://").unwrap_or(file);
                let file = if file.starts_with('/') {
                    normal(file)
                } else {
                    normal(&format!("{}/{file}", self.reader.cwd))
                };
                match relative(&self.reader.root, &file).filter(|f| self.reader.tree.is_file(f)) {
                    Some(file) => match self.reader.tree.text(&file) {
                        Some(text) => json::parse(&text, &file),
                        None => self.unknown("a file that cannot be read", at),
                    },
                    None => self.unknown("a file outside the project", at),
                }
            }
            _ => self.unknown("a computed path", at),
        }
    }

    fn paths(&self, arguments: &[Value], from: Option<String>, at: u32) -> Value {
        let resolves = from.is_some();
        let mut results = vec![from];
        for argument in arguments {
            let mut next = Vec::new();
            for base in &results {
                for part in argument.alternatives() {
                    let Value::String(part) = part else {
                        return self.unknown("a computed path", at);
                    };
                    next.push(Some(match base {
                        _ if resolves && part.starts_with('/') => part.clone(),
                        Some(base) if base.is_empty() => part.clone(),
                        Some(base) => format!("{base}/{part}"),
                        None => part.clone(),
                    }));
                }
            }
            if next.len() > 16 {
                return self.unknown("a path with many possible values", at);
            }
            results = next;
        }
        Value::either(
            results
                .into_iter()
                .flatten()
                .map(|p| {
                    Value::String(match (p.starts_with('/'), path::join("", &p)) {
                        (true, _) => normal(&p),
                        (false, Some(joined)) if joined.is_empty() => ".".to_owned(),
                        (false, Some(joined)) => joined,
                        (false, None) => p,
                    })
                })
                .collect(),
        )
    }
}

/// `moduleNameMapper` from the `paths` of a `tsconfig.json`, as `ts-jest` makes it.
fn mapper(arguments: &[Value]) -> Option<Value> {
    let Value::Object(paths) = arguments.first()? else { return None };
    if paths.open().is_some() {
        return None;
    }
    let prefix = match arguments.get(1).unwrap_or(&Value::Undefined).get("prefix") {
        Value::Undefined => String::new(),
        Value::String(prefix) if prefix.is_empty() || prefix.ends_with('/') => prefix,
        Value::String(prefix) => format!("{prefix}/"),
        _ => return None,
    };
    let mut object = Object::default();
    for key in paths.keys() {
        let targets = paths.get(key).strings();
        if !targets.unknown.is_empty() {
            return None;
        }
        let pattern = match key.split_once('*') {
            Some((before, after)) => format!("^{}(.*){}$", regex::escape(before), regex::escape(after)),
            None => format!("^{}$", regex::escape(key)),
        };
        let targets: Vec<Value> = targets
            .possible
            .iter()
            .map(|t| Value::String(format!("{prefix}{}", t.trim_start_matches("./").replace('*', "$1"))))
            .collect();
        object.0.push(Entry::Key(pattern, Value::Array(targets)));
    }
    Some(Value::Object(object))
}

/// `rest` relative to the file URL `base`.
pub(super) fn url(rest: &str, base: &str) -> String {
    if rest.contains("://") {
        return rest.to_owned();
    }
    let path = &base["file://".len()..];
    let dir = if path.ends_with('/') { path } else { &path[..path.rfind('/').map_or(0, |i| i + 1)] };
    let trailing = if rest.ends_with('/') { "/" } else { "" };
    let joined = if rest.starts_with('/') { normal(rest) } else { normal(&format!("{dir}{rest}")) };
    format!("file://{joined}{trailing}")
}
