//! Tokens of JavaScript and TypeScript as TypeScript's scanner has them.

use tree_sitter::Node;

use super::Found;
use crate::tolerant::matches::Syntax;

/// Adds the tokens of a text.
pub(super) fn tokens(syntax: &Syntax<'_>, found: &mut Found<'_>) {
    syntax.walk(|node| {
        match node.kind() {
            "comment" | "html_comment" | "hash_bang_line" => false,
            "string" | "regex" => {
                found.whole(node);
                false
            }
            // Head, middles and tail: the first starts here, the others end holes.
            "template_string" | "template_literal_type" => {
                found.whole(node);
                true
            }
            "jsx_text" | "html_character_reference" => {
                jsx_text(node, found);
                false
            }
            _ if node.child_count() > 0 => true,
            _ => {
                leaf(node, found);
                false
            }
        }
    });
}

fn leaf(node: Node<'_>, found: &mut Found<'_>) {
    if node.start_byte() == node.end_byte() || is_part_of_template(node) {
        return;
    }
    let count = match node.kind() {
        "-?:" | "+?:" => 3,
        "?:" | "/>" => 2,
        _ => 1,
    };
    found.add(node.start_byte(), count);
}

/// What stands between the marks of a template, and the start of a hole.
fn is_part_of_template(node: Node<'_>) -> bool {
    matches!(node.kind(), "`" | "${" | "string_fragment" | "escape_sequence")
}

/// One token for a run of text and references; none for white space with a line break.
fn jsx_text(node: Node<'_>, found: &mut Found<'_>) {
    let is_text = |it: &Node<'_>| matches!(it.kind(), "jsx_text" | "html_character_reference");
    if node.prev_sibling().as_ref().is_some_and(is_text) {
        return;
    }
    let alone = !node.next_sibling().as_ref().is_some_and(is_text);
    let layout = |letter: char| letter.is_whitespace() || letter == '\u{feff}' || letter == '\u{200b}';
    let breaks = |letter: char| matches!(letter, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let text = found.text(node);
    if alone && text.chars().all(layout) && text.chars().any(breaks) {
        return;
    }
    found.whole(node);
}
