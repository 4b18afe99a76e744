//! What presets, resolvers and helpers of jest set: the table in
//! `queries/javascript/jest.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::runners::config::value::{Entry, Object, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "for people who compare tables")]
    version: u32,
    preset: Vec<Preset>,
    resolver: Vec<Names>,
    helper: Vec<Helper>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
}

/// A row of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
    names: Vec<String>,
    #[serde(default)]
    opaque: bool,
    test_match: Option<Vec<String>>,
    module_file_extensions: Option<Vec<String>>,
    #[serde(default)]
    module_name_mapper: Vec<[String; 2]>,
    test_environment: Option<String>,
    conditions: Option<Vec<String>>,
}

/// A function that wraps a configuration.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Helper {
    module: String,
    #[serde(default)]
    tsconfig_paths: bool,
    #[serde(default)]
    ignore: Vec<String>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        toml::from_str(include_str!("../../../../queries/javascript/jest.toml")).expect("the table is tested")
    })
}

fn covers(names: &[String], name: &str) -> bool {
    names.iter().any(|n| match n.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => n == name,
    })
}

fn list(items: &[String]) -> Value {
    Value::Array(items.iter().cloned().map(Value::String).collect())
}

/// What the preset `name` sets, when that is known.
pub(super) fn preset(name: &str) -> Option<Value> {
    let name = name.strip_suffix("/jest-preset.js").unwrap_or(name);
    let row = table().preset.iter().find(|row| covers(&row.names, name))?;
    if row.opaque {
        return None;
    }
    let mut object = Object::default();
    let mut key = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.0.push(Entry::Key(name.to_owned(), value));
        }
    };
    key("testMatch", row.test_match.as_deref().map(list));
    key("moduleFileExtensions", row.module_file_extensions.as_deref().map(list));
    key("testEnvironment", row.test_environment.clone().map(Value::String));
    if !row.module_name_mapper.is_empty() {
        let entries = row.module_name_mapper.iter();
        let entries = entries.map(|[from, to]| Entry::Key(from.clone(), Value::String(to.clone())));
        key("moduleNameMapper", Some(Value::Object(Object(entries.collect()))));
    }
    if let Some(conditions) = &row.conditions {
        let inner = Object(vec![Entry::Key("customExportConditions".to_owned(), list(conditions))]);
        key("testEnvironmentOptions", Some(Value::Object(inner)));
    }
    Some(Value::Object(object))
}

/// Whether the resolver `name` (a specifier) only adds to plain resolution.
pub(super) fn harmless_resolver(name: &str) -> bool {
    table().resolver.iter().any(|row| covers(&row.names, name))
}

/// What the known helpers add to the configuration they wrap, by module. The key
/// [`PATHS`] says that `tsconfig.json` paths hold.
pub(super) fn wrappers() -> Vec<(&'static str, Value)> {
    let rows = table().helper.iter();
    rows.map(|row| {
        let mut object = Object::default();
        if row.tsconfig_paths {
            object.0.push(Entry::Key(PATHS.to_owned(), Value::Bool(true)));
        }
        if !row.ignore.is_empty() {
            object.0.push(Entry::Key("testPathIgnorePatterns".to_owned(), list(&row.ignore)));
        }
        (row.module.as_str(), Value::Object(object))
    })
    .collect()
}

/// No key of jest's: paths of `tsconfig.json` hold.
pub(super) const PATHS: &str = "$tsconfigPaths";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_answers() {
        assert!(preset("ts-jest").is_some());
        assert!(preset("react-native").is_none());
        assert!(preset("of-somebody").is_none());
        assert!(harmless_resolver("@nx/jest/plugins/resolver"));
        assert!(!harmless_resolver("./resolver.js"));
    }
}
