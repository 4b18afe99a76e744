//! How the files of a vitest project resolve imports: aliases and conditions.

use std::collections::BTreeSet;

use owed_engine::path;
use owed_engine::resolve::{Alias, AliasFind};
use owed_engine::tree::Tree;

use super::options::Drafting;
use crate::runners::config::value::{Entry, Object, Unknown, Value};
use crate::runners::config::{Reader, relative, root_of};

/// The aliases of `value` (an object, or an array of `{find, replacement}`), in order.
pub(super) fn read(
    tree: &dyn Tree,
    reader: &Reader<'_>,
    root: &str,
    value: &Value,
    unknown: &mut Vec<Unknown>,
) -> Vec<Alias> {
    let mut aliases = Vec::new();
    let mut push = |find: AliasFind, to: &Value, unknown: &mut Vec<Unknown>| {
        // Which of several is taken depends on the environment: all are tried in turn.
        for to in to.alternatives() {
            match to {
                Value::String(to) => match replacement(tree, reader, root, to) {
                    Some(replacement) => aliases.push(Alias { find: find.clone(), replacement }),
                    None => unknown.push(Unknown {
                        reason: format!("the alias to `{}`, outside the project,", path::basename(to)),
                        path: String::new(),
                        line: 0,
                    }),
                },
                Value::Undefined | Value::Bool(false) | Value::Null => {}
                other => unknown.push(other.unknown("an alias")),
            }
        }
    };
    for one in value.alternatives() {
        match one {
            Value::Undefined | Value::Null => {}
            Value::Object(object) => {
                for key in object.keys() {
                    push(AliasFind::Prefix(key.to_owned()), &object.get(key), unknown);
                }
                unknown.extend(object.open().cloned());
            }
            Value::Array(items) => {
                for item in items.iter().flat_map(Value::alternatives) {
                    match (item, item.get("find")) {
                        (Value::Undefined | Value::Null | Value::Bool(_), _) => {}
                        (Value::Object(_), Value::String(find)) => {
                            push(AliasFind::Prefix(find), &item.get("replacement"), unknown);
                        }
                        (Value::Object(_), Value::Regex(source, flags)) => {
                            // Vite's own aliases for its client.
                            if source.contains("@vite") {
                                continue;
                            }
                            let source = if flags.contains('i') { format!("(?i:{source})") } else { source };
                            push(AliasFind::Regex(source), &item.get("replacement"), unknown);
                        }
                        (other, _) => unknown.push(other.unknown("an alias")),
                    }
                }
            }
            other => unknown.push(other.unknown("aliases")),
        }
    }
    aliases
}

/// What an alias leads to, in the engine's form.
fn replacement(tree: &dyn Tree, reader: &Reader<'_>, root: &str, to: &str) -> Option<String> {
    let to = to.strip_prefix("file://").unwrap_or(to);
    if !to.starts_with('/') {
        // Relative targets are resolved by whoever imports: the root is what people mean.
        if to.starts_with("./") || to.starts_with("../") {
            return path::join(root, to).map(|p| format!("/{p}{}", slash(to)));
        }
        return Some(to.to_owned());
    }
    if let Some(inside) = relative(&root_of(tree), to) {
        if let Some((_, package)) = inside.rsplit_once("node_modules/") {
            return Some(package.to_owned());
        }
        return Some(format!("/{inside}{}", slash(to)));
    }
    // `/src`: below vite's root when that is there.
    let below = path::join(root, to.trim_start_matches('/'))?;
    let top = path::dirname(&below);
    if tree.is_dir(&below) || reader.existing(&below).is_some() || (top != root && tree.is_dir(top)) {
        return Some(format!("/{below}{}", slash(to)));
    }
    to.rsplit_once("node_modules/").map(|(_, package)| package.to_owned())
}

fn slash(to: &str) -> &'static str {
    if to.len() > 1 && to.ends_with('/') { "/" } else { "" }
}

impl Drafting<'_, '_> {
    /// The aliases of SvelteKit: `$lib`, and those of `svelte.config.js`.
    pub(super) fn sveltekit(&mut self) -> Vec<Alias> {
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
        read(context.tree, &context.reader, &self.root, &value, &mut self.unknown)
    }

    pub(super) fn conditions(&mut self, value: &Value, test: &Value) -> Vec<String> {
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
        let mut seen = BTreeSet::new();
        conditions.retain(|c| seen.insert(c.clone()));
        conditions
    }
}
