//! Scripts inside `.vue`, `.svelte` and `.astro` files.
//!
//! Everything outside the script blocks is blanked, so that places stay those of the
//! file, and the rest is read as one script. The template uses the script's bindings in
//! ways that are not read here, so the whole file is one declaration and modules are
//! taken whole.

use owed_engine::facts::{
    Declaration, DeclarationKind, Effect, FileFacts, Import, ImportKind, LoadMode, Names, Presence, Span,
    When,
};

use super::lines::Lines;
use super::read_script;

/// Whether files with this extension hold scripts in blocks.
pub(in crate::javascript) fn is_template(extension: &str) -> bool {
    matches!(extension, "vue" | "svelte" | "astro")
}

/// Reads a template file.
pub(super) fn read(path: &str, extension: &str, text: &str) -> FileFacts {
    let blocks = blocks(extension, text);
    let jsx = blocks.iter().any(|block| block.jsx);
    let mut masked = mask(text, &blocks);
    if masked.is_char_boundary(0) && blocks.is_empty() {
        masked.clear();
    }
    let name = owed_engine::path::basename(path);
    let mut facts = read_script(name, if jsx { "tsx" } else { "ts" }, false, &masked, true, false);
    facts.exports.clear();
    facts.tests.clear();
    for effect in &mut facts.effects {
        *effect = Effect { when: When::Import, ..effect.clone() };
    }
    let lines = Lines::new(text);
    for block in &blocks {
        if let Some((source, at)) = block.source {
            facts.imports.push(external(source, at, &lines));
        }
    }
    facts.imports.sort_by_key(|import| import.span);
    facts.declarations = vec![whole(text, &facts.imports)];
    facts
}

/// The scripts of a template file, with everything else blanked, and whether they hold JSX.
pub(in crate::javascript) fn script(extension: &str, text: &str) -> (String, bool) {
    let blocks = blocks(extension, text);
    (mask(text, &blocks), blocks.iter().any(|block| block.jsx))
}

/// The file as one declaration.
fn whole(text: &str, imports: &[Import]) -> Declaration {
    let mut references: Vec<String> = imports
        .iter()
        .flat_map(|import| match &import.names {
            Names::Effects => Vec::new(),
            Names::Namespace(local) => vec![local.clone()],
            Names::List(names) => names.iter().map(|name| name.local.clone()).collect(),
        })
        .collect();
    references.sort();
    references.dedup();
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    Declaration {
        name: "<module>".to_owned(),
        kind: DeclarationKind::Module,
        digest,
        references,
        effects_at_import: true,
        line: 1,
        span: Span { start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) },
    }
}

fn external(source: &str, at: usize, lines: &Lines) -> Import {
    let start = u32::try_from(at).unwrap_or(u32::MAX);
    let end = u32::try_from(at + source.len()).unwrap_or(u32::MAX);
    Import {
        specifier: source.to_owned(),
        kind: ImportKind::Static,
        mode: LoadMode::Esm,
        presence: Presence::Required,
        names: Names::Namespace(format!("import({source:?})")),
        line: lines.line(start),
        span: Span { start, end },
    }
}

struct Block<'t> {
    start: usize,
    end: usize,
    jsx: bool,
    /// `<script src="x">`, `<style src="x">`, and where the value stands.
    source: Option<(&'t str, usize)>,
}

fn blocks<'t>(extension: &str, text: &'t str) -> Vec<Block<'t>> {
    let mut found = Vec::new();
    let mut at = 0;
    if extension == "astro" {
        let start = text.len() - text.trim_start().len();
        if text[start..].starts_with("---") {
            let body = start + 3;
            let end = text[body..].find("\n---").map_or(text.len(), |end| body + end);
            found.push(Block { start: body, end, jsx: false, source: None });
            at = end;
        }
    }
    while let Some((open, name)) = next_tag(text, at) {
        let Some(close) = tag_end(text, open) else { break };
        let attributes = &text[open..close];
        let source = attribute(attributes, "src").map(|(value, offset)| (value, open + offset));
        let body = close + 1;
        let empty = attributes.ends_with('/');
        let closing = format!("</{name}");
        let end = if empty { body } else { find_ignoring_case(text, body, &closing).unwrap_or(text.len()) };
        let language = attribute(attributes, "lang").map_or("", |(value, _)| value);
        let data = attribute(attributes, "type").is_some_and(|(value, _)| value.contains("json"));
        if name != "script" || data {
            // Only what it refers to counts.
            found.push(Block { start: body, end: body, jsx: false, source });
        } else {
            found.push(Block { start: body, end, jsx: language.ends_with('x'), source });
        }
        at = end.max(body);
    }
    found
}

/// The next `<script`, `<style` or `<template` with a `src`, outside comments.
fn next_tag(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let mut at = from;
    loop {
        let open = at + text.get(at..)?.find('<')?;
        let rest = &text[open..];
        if rest.starts_with("<!--") {
            at = open + rest.find("-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        for name in ["script", "style", "template"] {
            let head = rest.get(1..=name.len());
            let next = rest.as_bytes().get(name.len() + 1);
            if head.is_some_and(|head| head.eq_ignore_ascii_case(name))
                && next.is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/'))
                && (name != "template" || attribute(&rest[..tag_end(rest, 0)?], "src").is_some())
            {
                return Some((open, name));
            }
        }
        at = open + 1;
    }
}

/// The `>` that ends the tag starting at `open`, outside quotes.
fn tag_end(text: &str, open: usize) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match (quote, byte) {
            (Some(q), _) if byte == q => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at),
            _ => {}
        }
    }
    None
}

/// The value of an attribute and its offset.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<(&'t str, usize)> {
    let mut at = 0;
    loop {
        let hit = at + tag.get(at..)?.find(name)?;
        at = hit + name.len();
        let starts = tag[..hit].ends_with(|c: char| c.is_ascii_whitespace());
        let rest = tag[at..].trim_start();
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else { continue };
        let Some(quote) = value.chars().next().filter(|c| starts && matches!(c, '"' | '\'')) else {
            continue;
        };
        let value = &value[1..];
        let end = value.find(quote)?;
        return Some((&value[..end], tag.len() - value.len()));
    }
}

fn find_ignoring_case(text: &str, from: usize, wanted: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', &bytes[from..]).map(|at| from + at).find(|&at| {
        bytes.get(at..at + wanted.len()).is_some_and(|head| head.eq_ignore_ascii_case(wanted.as_bytes()))
    })
}

/// `text` with everything outside the blocks blanked; line ends stay.
fn mask(text: &str, blocks: &[Block<'_>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    let mut blank = |from: usize, to: usize| {
        for byte in &mut bytes[from..to] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    };
    for block in blocks {
        blank(at, block.start);
        at = block.end;
    }
    blank(at, text.len());
    String::from_utf8(bytes).unwrap_or_default()
}
