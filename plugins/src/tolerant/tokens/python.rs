//! Tokens of Python as CPython's `tokenize` has them since 3.12, without docstrings.

use tree_sitter::Node;

use super::Found;
use crate::tolerant::matches::Syntax;

/// Adds the tokens of a text.
pub(super) fn tokens(syntax: &Syntax<'_>, found: &mut Found<'_>) {
    syntax.walk(|node| {
        match node.kind() {
            "comment" | "line_continuation" => false,
            "string" => string(node, found),
            "interpolation" | "format_expression" => {
                field(node, found);
                true
            }
            "string_content" => {
                content(node, found);
                false
            }
            "type_conversion" => {
                // The mark and the name.
                found.add(node.start_byte(), 2);
                false
            }
            "import_prefix" => {
                // `...` is one token, as anywhere.
                let dots = found.text(node).bytes().filter(|byte| *byte == b'.').count();
                found.add(node.start_byte(), dots / 3 + dots % 3);
                false
            }
            "except*" => {
                found.add(node.start_byte(), 2);
                false
            }
            _ if node.child_count() > 0 => true,
            _ => {
                if node.start_byte() < node.end_byte() {
                    found.whole(node);
                }
                false
            }
        }
    });
}

/// A string; whether its parts count for themselves.
fn string(node: Node<'_>, found: &mut Found<'_>) -> bool {
    let prefix = found.text(node).split(['"', '\'']).next().unwrap_or_default();
    if prefix.contains(['f', 'F', 't', 'T']) {
        return true;
    }
    if !documents(node) {
        found.whole(node);
    }
    false
}

/// Whether a string is the docstring of a function or class.
fn documents(node: Node<'_>) -> bool {
    let mut at = node;
    loop {
        let Some(parent) = at.parent() else { return false };
        match parent.kind() {
            "concatenated_string" | "parenthesized_expression" => at = parent,
            "expression_statement" => {
                let Some(block) = parent.parent().filter(|block| block.kind() == "block") else {
                    return false;
                };
                let owns = |it: Node<'_>| matches!(it.kind(), "function_definition" | "class_definition");
                let mut cursor = block.walk();
                let first = block.named_children(&mut cursor).find(|it| !it.is_extra());
                return parent.named_child_count() == 1
                    && block.parent().is_some_and(owns)
                    && first.is_some_and(|first| first.id() == parent.id());
            }
            _ => return false,
        }
    }
}

/// The text of a formatted string between two fields: doubled braces end a token.
fn content(node: Node<'_>, found: &mut Found<'_>) {
    let text = found.text(node);
    let raw = node
        .parent()
        .map(|string| found.text(string).split(['"', '\'']).next().unwrap_or_default())
        .is_some_and(|prefix| prefix.contains(['r', 'R']));
    let bytes = text.as_bytes();
    let (mut count, mut at, mut open) = (0, 0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"{{") || rest.starts_with(b"}}") {
            // The first brace belongs to the text before it, the second to none.
            (count, open) = (count + 1, false);
            at += 2;
        } else if !raw && rest.starts_with(b"\\N{") {
            let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len() - 1);
            (count, open) = (count + 1, false);
            at += end + 1;
        } else {
            open = true;
            at += if !raw && rest[0] == b'\\' && !matches!(rest.get(1), Some(b'{' | b'}')) { 2 } else { 1 };
        }
    }
    found.add(node.start_byte(), count + usize::from(open));
}

/// The specification of a field: text between its own fields is a token each, and CPython has
/// an empty one where it ends without.
fn field(node: Node<'_>, found: &mut Found<'_>) {
    let Some(format) = node.child_by_field_name("format_specifier") else { return };
    let mut cursor = format.walk();
    let mut at = format.start_byte() + 1;
    let mut last_is_text = false;
    for child in format.children(&mut cursor) {
        if child.start_byte() < at {
            continue;
        }
        if child.start_byte() > at {
            found.add(at, 1);
        }
        at = child.end_byte();
    }
    if at < format.end_byte() {
        found.add(at, 1);
        last_is_text = true;
    }
    if !last_is_text {
        found.add(format.end_byte().saturating_sub(1), 1);
    }
}
