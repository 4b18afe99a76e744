//! What the vite plugins of a configuration do to imports: the table in
//! `queries/javascript/plugins.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::runners::config::value::{Call, Entry, Object, Unknown, Value};

/// What a plugin does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Effect {
    /// Imports mean what they say.
    None,
    /// Imports follow `tsconfig.json`.
    TsconfigPaths,
    /// Imports exist that are not written.
    ImplicitImports,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    modules: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    effect: Effect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "for people who compare tables")]
    version: u32,
    plugin: Vec<Row>,
    helper: Vec<Helper>,
}

/// A function that makes a configuration.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Helper {
    module: String,
    name: String,
    /// The plugins it adds.
    plugins: Vec<String>,
}

/// What a list of plugins means.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Meaning {
    /// Whether imports follow `tsconfig.json`.
    pub(super) tsconfig_paths: bool,
    /// Whether one written in the configuration changes it, patterns included.
    pub(super) reshapes: bool,
    /// The packages they come from.
    pub(super) packages: Vec<String>,
    /// What is not known.
    pub(super) unknown: Vec<Unknown>,
}

/// Hooks that can change configuration or the meaning of imports.
const DECIDING: &[&str] = &["config", "configEnvironment", "configureVitest", "resolveId", "load"];

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let text = include_str!("../../../../queries/javascript/plugins.toml");
        toml::from_str(text).expect("the table is tested")
    })
}

/// What known helpers give: module, name, and a configuration with their plugins.
pub(super) fn helpers() -> Vec<(&'static str, &'static str, Value)> {
    let plugin = |module: &String| {
        Value::Call(Box::new(Call {
            module: module.clone(),
            name: "default".to_owned(),
            arguments: Vec::new(),
            at: Unknown { reason: format!("the plugin `{module}`"), path: String::new(), line: 0 },
        }))
    };
    let rows = table().helper.iter();
    rows.map(|row| {
        let list = Value::Array(row.plugins.iter().map(plugin).collect());
        let value = Value::Object(Object(vec![Entry::Key("plugins".to_owned(), list)]));
        (row.module.as_str(), row.name.as_str(), value)
    })
    .collect()
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

fn by_module(module: &str) -> Option<Effect> {
    table().plugin.iter().find(|row| row.modules.iter().any(|m| covers(m, module))).map(|row| row.effect)
}

fn by_name(name: &str) -> Option<Effect> {
    table().plugin.iter().find(|row| row.names.iter().any(|n| covers(n, name))).map(|row| row.effect)
}

/// The meaning of `plugins` as written in a configuration.
pub(super) fn read(plugins: &Value) -> Meaning {
    let mut meaning = Meaning::default();
    one(plugins, &mut meaning);
    meaning
}

fn one(value: &Value, meaning: &mut Meaning) {
    match value {
        Value::Undefined | Value::Null | Value::Bool(_) => {}
        Value::Array(items) => items.iter().for_each(|item| one(item, meaning)),
        Value::Either(values) => values.iter().for_each(|v| one(v, meaning)),
        Value::Call(call) => {
            meaning.packages.push(call.module.clone());
            match by_module(&call.module) {
                Some(effect) => apply(effect, &call.module, &call.at, meaning),
                None => meaning.unknown.push(Unknown {
                    reason: format!("what the plugin `{}` does to imports", call.module),
                    ..call.at.clone()
                }),
            }
        }
        Value::Object(object) => {
            let hooks = object.keys();
            match (hooks.iter().find(|h| DECIDING.contains(h)), object.open()) {
                (None, None) => {}
                (Some(hook), _) => {
                    meaning.reshapes |= hooks.iter().any(|h| h.starts_with("config"));
                    meaning.unknown.push(Unknown {
                        reason: format!(
                            "what the hook `{hook}` of a plugin written in the configuration does"
                        ),
                        path: String::new(),
                        line: 0,
                    });
                }
                (None, Some(open)) => meaning.unknown.push(open.clone()),
            }
        }
        other => meaning.unknown.push(other.unknown("a plugin")),
    }
}

fn apply(effect: Effect, plugin: &str, at: &Unknown, meaning: &mut Meaning) {
    match effect {
        Effect::None => {}
        Effect::TsconfigPaths => meaning.tsconfig_paths = true,
        Effect::ImplicitImports => meaning
            .unknown
            .push(Unknown { reason: format!("which imports the plugin `{plugin}` adds"), ..at.clone() }),
    }
}

/// The meaning of the plugins of a resolved configuration: names and hooks.
pub(super) fn resolved(plugins: &Value) -> Meaning {
    let mut meaning = Meaning::default();
    let Value::Array(plugins) = plugins else { return meaning };
    for plugin in plugins {
        let Some(name) = plugin.get("name").as_str().map(str::to_owned) else { continue };
        if name.starts_with("vite:") && by_name(&name).is_none() && BUILT_IN.contains(&name.as_str()) {
            continue;
        }
        let nowhere = Unknown { reason: String::new(), path: String::new(), line: 0 };
        match by_name(&name) {
            Some(effect) => apply(effect, &name, &nowhere, &mut meaning),
            None if BUILT_IN.contains(&name.as_str()) => {}
            None => {
                let hooks = plugin.get("hooks").strings();
                if let Some(hook) = hooks.possible.iter().find(|h| matches!(h.as_str(), "resolveId" | "load"))
                {
                    meaning.unknown.push(Unknown {
                        reason: format!("what the hook `{hook}` of the plugin `{name}` does"),
                        ..nowhere
                    });
                }
            }
        }
    }
    meaning
}

/// Plugins that vite itself adds.
const BUILT_IN: &[&str] = &[
    "alias",
    "commonjs",
    "vite:optimized-deps",
    "vite:watch-package-data",
    "vite:pre-alias",
    "vite:modulepreload-polyfill",
    "vite:resolve",
    "vite:resolve-dev",
    "vite:resolve-builtin",
    "builtin:vite-resolve",
    "vite:oxc-transpile",
    "vite:oxc",
    "vite:oxc-runtime",
    "vite:html-inline-proxy",
    "vite:css",
    "vite:esbuild",
    "vite:json",
    "vite:wasm-helper",
    "vite:wasm-fallback",
    "vite:worker",
    "vite:asset",
    "vite:define",
    "vite:css-post",
    "vite:css-analysis",
    "vite:worker-import-meta-url",
    "vite:asset-import-meta-url",
    "vite:dynamic-import-vars",
    "vite:import-glob",
    "vite:client-inject",
    "vite:import-analysis",
    "vite:forward-console",
    "vite:optimized-deps-build",
    "native:modulepreload-polyfill",
    "native:wasm-fallback",
    "native:wasm-helper",
    "native:json",
    "native:import-glob",
    "native:dynamic-import-vars",
    "builtin:vite-modulepreload-polyfill",
    "builtin:vite-json",
    "builtin:vite-wasm-helper",
    "builtin:vite-wasm-fallback",
    "builtin:vite-import-glob",
    "builtin:vite-dynamic-import-vars",
    "builtin:vite-transform",
    "builtin:oxc-runtime",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_answers() {
        assert_eq!(by_module("@vitejs/plugin-react"), Some(Effect::None));
        assert_eq!(by_module("vite-tsconfig-paths"), Some(Effect::TsconfigPaths));
        assert_eq!(by_module("unplugin-auto-import/vite"), Some(Effect::ImplicitImports));
        assert_eq!(by_module("something-else"), None);
        assert_eq!(by_name("vite:react-babel"), Some(Effect::None));
    }
}
