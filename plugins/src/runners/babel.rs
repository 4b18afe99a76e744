//! Aliases that a Babel configuration makes: `babel-plugin-module-resolver` rewrites
//! imports before any runner sees them.

use owed_engine::path;
use owed_engine::resolve::{Alias, AliasFind};
use owed_engine::tree::Tree;

use super::config::Reader;
use super::config::value::{Unknown, Value};
use super::manifest::Packages;
use super::regex;

/// Names of Babel's configuration files.
pub const CONFIGS: &[&str] = &[
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
];

/// What Babel does to imports.
#[derive(Debug, Default, PartialEq)]
pub struct Rewrites {
    /// Aliases, in order.
    pub aliases: Vec<Alias>,
    /// Directories in which bare specifiers are looked up, project-relative.
    pub roots: Vec<String>,
    /// Packages of its presets and plugins.
    pub packages: Vec<String>,
    /// Its local presets and plugins, project-relative and without certain extension.
    pub files: Vec<String>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
}

/// The rewrites of the configuration in the directory `dir`, when it names the plugin.
pub fn rewrites(tree: &dyn Tree, reader: &Reader<'_>, packages: &Packages, dir: &str) -> Rewrites {
    let mut rewrites = Rewrites::default();
    for name in CONFIGS {
        let Some(file) = path::join(dir, name).filter(|f| tree.is_file(f)) else { continue };
        let value = reader.load(&file);
        let named = tree.text(&file).is_some_and(|text| text.contains("module-resolver"));
        for part in [value.clone(), value.at(&["env", "test"])] {
            names(&part.get("presets"), "preset", dir, &mut rewrites);
            names(&part.get("plugins"), "plugin", dir, &mut rewrites);
            // What is not known matters to imports only where the plugin is named.
            if named {
                plugins(&part.get("plugins"), dir, &mut rewrites);
            }
        }
    }
    if let Some(package) = packages.at(dir) {
        let babel = package.value.get("babel");
        names(&babel.get("presets"), "preset", dir, &mut rewrites);
        names(&babel.get("plugins"), "plugin", dir, &mut rewrites);
        plugins(&babel.get("plugins"), dir, &mut rewrites);
    }
    rewrites
}

fn plugins(value: &Value, dir: &str, rewrites: &mut Rewrites) {
    match value {
        Value::Either(values) => values.iter().for_each(|v| plugins(v, dir, rewrites)),
        Value::Array(items) => {
            for item in items.iter().flat_map(Value::alternatives) {
                if let Value::Array(pair) = item
                    && pair.first().is_some_and(is_resolver)
                {
                    options(pair.get(1).unwrap_or(&Value::Undefined), dir, rewrites);
                }
            }
        }
        Value::Unknown(unknown) => rewrites.unknown.push(unknown.clone()),
        _ => {}
    }
}

/// Adds what a list of presets or plugins names. An entry that is not known is written
/// in the configuration, whose own closure has it.
fn names(value: &Value, kind: &str, dir: &str, rewrites: &mut Rewrites) {
    match value {
        Value::Either(values) => values.iter().for_each(|v| names(v, kind, dir, rewrites)),
        Value::Array(items) => {
            for item in items.iter().flat_map(Value::alternatives) {
                let name = match item {
                    Value::Array(pair) => pair.first().unwrap_or(&Value::Undefined),
                    one => one,
                };
                match name {
                    Value::String(name) if name.starts_with('.') => {
                        rewrites.files.extend(path::join(dir, name))
                    }
                    Value::String(name) => rewrites.packages.push(package(name, kind)),
                    Value::Package(module, _) => rewrites.packages.push(module.clone()),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// The package a short name stands for: `env` for `babel-preset-env`, `@babel/env` for
/// `@babel/preset-env`.
fn package(name: &str, kind: &str) -> String {
    if let Some(whole) = name.strip_prefix("module:") {
        return whole.to_owned();
    }
    let marked = format!("{kind}-");
    match name.split_once('/') {
        Some(("@babel", rest)) if !rest.starts_with(&marked) => format!("@babel/{marked}{rest}"),
        Some(_) => name.to_owned(),
        None if name.starts_with("babel-") || name.starts_with('@') => name.to_owned(),
        None => format!("babel-{kind}-{name}"),
    }
}

fn is_resolver(value: &Value) -> bool {
    value.as_str().is_some_and(|s| s == "module-resolver" || s.contains("babel-plugin-module-resolver"))
}

fn options(value: &Value, dir: &str, rewrites: &mut Rewrites) {
    let roots = value.get("root").strings();
    rewrites.roots.extend(roots.possible.iter().filter_map(|r| path::join(dir, r)));
    rewrites.unknown.extend(roots.unknown);
    for alias in value.get("alias").alternatives() {
        match alias {
            Value::Object(object) => {
                rewrites.unknown.extend(object.open().cloned());
                for key in object.keys() {
                    match object.get(key) {
                        Value::String(to) => rewrites.aliases.push(rewrite(key, &to, dir)),
                        other => rewrites.unknown.push(other.unknown("an alias")),
                    }
                }
            }
            Value::Undefined | Value::Null => {}
            other => rewrites.unknown.push(other.unknown("the aliases")),
        }
    }
}

fn rewrite(key: &str, to: &str, dir: &str) -> Alias {
    let local = to.starts_with("./") || to.starts_with("../") || to == ".";
    let replacement = match path::join(dir, to).filter(|_| local) {
        Some(inside) => format!("/{inside}"),
        None => to.to_owned(),
    };
    let is_regex = key.starts_with('^') || key.ends_with('$');
    if is_regex {
        return Alias { find: AliasFind::Regex(key.to_owned()), replacement: replacement.replace('\\', "$") };
    }
    // The key is a whole first part of the specifier, as elsewhere.
    let find = format!("^{}(/.*|)$", regex::escape(key));
    Alias { find: AliasFind::Regex(find), replacement: format!("{replacement}$1") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use owed_engine::tree::MemoryTree;

    #[test]
    fn module_resolver_is_read() {
        let text = "module.exports = (api) => { api.cache(true); return { presets: ['x'], plugins: [['module-resolver',\
                    { root: ['./src'], alias: { '@app': './src/app', '^~/(.+)': './lib/\\\\1', lodash: 'lodash-es' } }], 'y'] } }";
        let tree = MemoryTree::new([("p/babel.config.js".to_owned(), text.as_bytes().to_vec())]);
        let packages = Packages::read(&tree);
        let reader = Reader::new(&tree, &packages, "p");
        let found = rewrites(&tree, &reader, &packages, "p");
        let aliases: Vec<String> =
            found.aliases.iter().map(|a| format!("{:?} {}", a.find, a.replacement)).collect();
        assert_eq!(
            aliases,
            [
                "Regex(\"^@app(/.*|)$\") /p/src/app$1",
                "Regex(\"^~/(.+)\") /p/lib/$1",
                "Regex(\"^lodash(/.*|)$\") lodash-es$1",
            ]
        );
        assert_eq!(found.packages, ["babel-preset-x", "babel-plugin-module-resolver", "babel-plugin-y"]);
        assert_eq!(package("@babel/env", "preset"), "@babel/preset-env");
        assert_eq!(found.roots, ["p/src"]);
        assert_eq!(found.unknown, []);
    }
}
