//! Aliases of a vite configuration.

use owed_engine::path;
use owed_engine::resolve::{Alias, AliasFind};

use crate::runners::config::value::{Unknown, Value};
use crate::runners::config::{Reader, relative, root_of};
use owed_engine::tree::Tree;

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
