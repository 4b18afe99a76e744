//! From what the queries found to one import a path: `use` trees are taken apart, and
//! modules and paths are told from where they stand in inline modules.

use owed_engine::facts::{Import, ImportKind, Name, Names, Presence};
use tree_sitter::Node;

use crate::grammar::{Event, Match, Parsed, Part};

/// Levels of braces in a `use` that are followed.
const DEEPEST: usize = 64;
/// Paths that one `use` may stand for: more than any that a person writes.
const MOST: usize = 4_096;

/// An inline module and where it reaches.
struct Inline {
    start: usize,
    end: usize,
    name: String,
}

/// Every match as the imports that it stands for.
pub(super) fn expand(parsed: &Parsed<'_>, found: &[Match<'_>], imports: Vec<Import>) -> Vec<Import> {
    let inline = inline_modules(parsed);
    let mut all: Vec<Import> = Vec::with_capacity(imports.len());
    // A module with a path is found as one without, too.
    let with_path: Vec<usize> = found
        .iter()
        .filter(|one| one.node.kind() == "mod_item" && one.part(Part::Name).is_some())
        .map(|one| one.node.id())
        .collect();
    // Every path holds its own beginnings, and those of a `use` are its own.
    let (mut used, mut started) = (0, usize::MAX);
    for (one, import) in found.iter().zip(imports) {
        let around: Vec<&str> = inline
            .iter()
            .take_while(|it| it.start < one.node.start_byte())
            .filter(|it| one.node.end_byte() <= it.end)
            .map(|it| it.name.as_str())
            .collect();
        match one.node.kind() {
            "mod_item" => {
                let has_path = one.part(Part::Name).is_some();
                if !has_path && with_path.contains(&one.node.id()) {
                    continue;
                }
                let kind = if has_path { "path" } else { "mod" };
                let mut parts = around;
                parts.push(&import.specifier);
                let specifier = format!("{kind} {}", parts.join("/"));
                all.push(Import { specifier, names: Names::Effects, ..import });
            }
            "macro_invocation" if import.kind == ImportKind::Computed => all.push(import),
            "macro_invocation" => {
                let specifier = format!("include {}", import.specifier);
                all.push(Import { specifier, ..import });
            }
            "use_declaration" => {
                used = one.node.end_byte();
                for (path, name) in tree(&import.specifier) {
                    let Some(path) = outside(&path, &around) else { continue };
                    let star = name.as_deref() == Some("*");
                    let names = match name {
                        Some(local) if !star => {
                            let imported = path.rsplit("::").next().unwrap_or_default().to_owned();
                            Names::List(vec![Name { imported, local }])
                        }
                        _ => Names::Effects,
                    };
                    let kind = if star { ImportKind::Star } else { ImportKind::Static };
                    all.push(Import { specifier: path, kind, names, ..import.clone() });
                }
            }
            "extern_crate_declaration" => {
                all.push(Import { specifier: format!("::{}", import.specifier), ..import });
            }
            _ if one.node.start_byte() < used || one.node.start_byte() == started => {}
            _ => {
                started = one.node.start_byte();
                let bare = without_arguments(&import.specifier);
                let Some(path) = outside(&bare, &around) else { continue };
                let known = all.iter().rev().take(64).any(|it| it.specifier == path);
                if !known {
                    all.push(Import { specifier: path, presence: Presence::Optional, ..import });
                }
            }
        }
    }
    // What starts at a name of this file is no crate.
    let locals: std::collections::BTreeSet<String> = all
        .iter()
        .filter_map(|import| match &import.names {
            Names::List(names) => Some(names.iter().map(|name| name.local.clone())),
            _ => None,
        })
        .flatten()
        .chain(inline.iter().map(|module| module.name.clone()))
        .collect();
    for import in &mut all {
        let first = import.specifier.split("::").next().unwrap_or_default();
        let own = matches!(&import.names, Names::List(names) if names.iter().any(|it| it.local == first));
        if locals.contains(first) && !own {
            import.presence = Presence::Optional;
        }
    }
    all
}

fn inline_modules(parsed: &Parsed<'_>) -> Vec<Inline> {
    let mut list = Vec::new();
    let mut events = parsed.events();
    while let Some(event) = events.next() {
        let Event::Enter(node) = event else { continue };
        match node.kind() {
            "mod_item" => {
                if let (Some(name), Some(_)) = (field(node, "name"), field(node, "body")) {
                    let name = parsed.of(name).to_owned();
                    list.push(Inline { start: node.start_byte(), end: node.end_byte(), name });
                }
            }
            "source_file" | "declaration_list" => {}
            _ => events.skip_children(),
        }
    }
    list
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The path as seen from the file's own module; `None` when it stays in the inline modules
/// around it.
fn outside(path: &str, around: &[&str]) -> Option<String> {
    if around.is_empty() {
        return Some(path.to_owned());
    }
    let mut parts: Vec<&str> = path.split("::").collect();
    let mut depth = around.len();
    if parts.first() == Some(&"self") {
        parts.remove(0);
        parts.splice(0..0, std::iter::once("self").chain(around.iter().copied()));
        return Some(parts.join("::"));
    }
    if parts.first() != Some(&"super") {
        return Some(path.to_owned());
    }
    while depth > 0 && parts.first() == Some(&"super") {
        parts.remove(0);
        depth -= 1;
    }
    if parts.first() == Some(&"super") {
        return Some(parts.join("::"));
    }
    let inner = std::iter::once("self").chain(around[..depth].iter().copied());
    parts.splice(0..0, inner);
    Some(parts.join("::"))
}

/// A path without the arguments of its generic parts.
fn without_arguments(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut depth = 0_u32;
    for letter in path.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            other if depth == 0 && !other.is_whitespace() => text.push(other),
            _ => {}
        }
    }
    while text.contains("::::") {
        text = text.replace("::::", "::");
    }
    text.trim_end_matches("::").to_owned()
}

/// The paths of a `use` tree, each with the name it has here (`*` for all).
fn tree(text: &str) -> Vec<(String, Option<String>)> {
    let words = words(text);
    let mut found = Vec::new();
    // What stands before each open brace.
    let mut stems: Vec<Vec<&str>> = vec![Vec::new()];
    let mut path: Vec<&str> = Vec::new();
    let mut alias: Option<&str> = None;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word {
            "{" => {
                if stems.len() >= DEEPEST {
                    break;
                }
                let mut stem = stems.last().cloned().unwrap_or_default();
                stem.append(&mut path);
                stems.push(stem);
            }
            "}" => {
                ended(&mut path, &mut alias, &stems, &mut found);
                if stems.len() > 1 {
                    stems.pop();
                }
            }
            "," => ended(&mut path, &mut alias, &stems, &mut found),
            "as" => alias = words.next(),
            "::" if path.is_empty() && stems.len() == 1 => path.push(""),
            "::" => {}
            other => path.push(other),
        }
    }
    ended(&mut path, &mut alias, &stems, &mut found);
    found
}

/// A path of a tree is whole.
fn ended<'t>(
    path: &mut Vec<&'t str>,
    alias: &mut Option<&'t str>,
    stems: &[Vec<&'t str>],
    found: &mut Vec<(String, Option<String>)>,
) {
    let alias = alias.take();
    if path.is_empty() || found.len() >= MOST {
        path.clear();
        return;
    }
    let mut whole: Vec<&str> = stems.last().cloned().unwrap_or_default();
    whole.append(path);
    let star = whole.last() == Some(&"*");
    // `a::{self}` is `a`.
    if star || whole.len() > 1 && whole.last() == Some(&"self") {
        whole.pop();
    }
    let local = if star { Some("*") } else { alias.or(whole.last().copied()) };
    found.push((whole.join("::"), local.map(str::to_owned)));
}

/// The words and marks of a `use`, comments left out.
fn words(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |at| &rest[at + 2..]);
            continue;
        } else if rest.starts_with("::") {
            2
        } else if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        } else if first.is_alphanumeric() || first == '_' {
            // `r#type` is the name `type` in a file's name, too.
            if let Some(raw) = rest.strip_prefix("r#") {
                rest = raw;
                continue;
            }
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        list.push(&rest[..length]);
        rest = &rest[length..];
    }
    list
}
