//! Triple-slash references at the head of a file: `/// <reference path="./a.d.ts" />`.

use owed_engine::facts::{FileFacts, Import, ImportKind, LoadMode, Names, Presence, Span};

use super::lines::Lines;

/// Adds the references of `text` as type-only imports.
pub(super) fn add(facts: &mut FileFacts, text: &str, lines: &Lines) {
    let head = &text[..memchr::memmem::find(text.as_bytes(), b"///").unwrap_or(text.len())];
    if head.len() == text.len() || !only_comments(head) {
        return;
    }
    let mut at = head.len();
    let mut found = Vec::new();
    for line in text[at..].split_inclusive('\n') {
        let body = line.trim();
        if let Some(comment) = body.strip_prefix("///") {
            if let Some((specifier, is_path)) = reference(comment.trim()) {
                let specifier = match is_path && !specifier.starts_with(['.', '/']) {
                    true => format!("./{specifier}"),
                    false => specifier.to_owned(),
                };
                let start = u32::try_from(at).unwrap_or(u32::MAX);
                let end = u32::try_from(at + line.trim_end().len()).unwrap_or(u32::MAX);
                found.push(Import {
                    specifier,
                    kind: ImportKind::TypeOnly,
                    mode: LoadMode::Esm,
                    presence: Presence::Required,
                    names: Names::Effects,
                    line: lines.line(start),
                    span: Span { start, end },
                });
            }
        } else if !body.is_empty() && !body.starts_with("//") {
            break;
        }
        at += line.len();
    }
    facts.imports.splice(0..0, found);
}

/// `<reference path="x" />` and `<reference types="x" />`.
fn reference(comment: &str) -> Option<(&str, bool)> {
    let attributes = comment.strip_prefix("<reference")?;
    for (key, is_path) in [("path", true), ("types", false)] {
        if let Some(at) = attributes.find(key) {
            let value = attributes[at + key.len()..].trim_start().strip_prefix('=')?.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let value = &value[1..];
            return Some((&value[..value.find(quote)?], is_path));
        }
    }
    None
}

/// Whether nothing but comments and white space precedes a place.
fn only_comments(head: &str) -> bool {
    let mut rest = head.trim_start();
    loop {
        rest = if let Some(block) = rest.strip_prefix("/*") {
            match block.find("*/") {
                Some(end) => block[end + 2..].trim_start(),
                None => return false,
            }
        } else if rest.starts_with("//") || rest.starts_with("#!") {
            match rest.find('\n') {
                Some(end) => rest[end..].trim_start(),
                None => return false,
            }
        } else {
            return rest.is_empty();
        };
    }
}
