//! The tokens of `tokens/1`: the leaves of the tree, except where the grammar splits or
//! joins what the language's own scanner does not (`functions.toml`, `[tokens]`).

use tree_sitter::Node;

use super::super::Parsed;
use super::super::kinds::Kinds;
use super::super::parse::{Event, span};
use crate::measure::{Lexeme, Text};

/// The tokens of a file in order, or where it is nested too deep.
pub(super) fn lexemes(kinds: &Kinds, parsed: &Parsed<'_>) -> Result<Vec<Lexeme>, u32> {
    let mut making = Making { kinds, parsed, lexemes: Vec::new(), run: None, decimal: None };
    let mut open = 0_u32;
    let mut events = parsed.events();
    while let Some(event) = events.next() {
        let Event::Enter(node) = event else { continue };
        let kind = kinds.of(node.kind_id());
        if kind.comment {
            events.skip_children();
            continue;
        }
        if node.child_count() > 0 && !kind.whole {
            continue;
        }
        events.skip_children();
        if !node.is_named() {
            match node.kind() {
                "(" | "[" | "{" => {
                    open += 1;
                    if open > super::DEEPEST {
                        return Err(span(node).start);
                    }
                }
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
        }
        making.leaf(node);
    }
    making.end_run();
    Ok(making.lexemes)
}

struct Making<'k, 'p> {
    kinds: &'k Kinds,
    parsed: &'p Parsed<'p>,
    lexemes: Vec<Lexeme>,
    /// Punctuation whose marks touch, and that is not yet taken apart.
    run: Option<(u32, u32)>,
    /// A number and the point after it.
    decimal: Option<(u32, u32)>,
}

impl Making<'_, '_> {
    fn leaf(&mut self, node: Node<'_>) {
        let (start, end) = (span(node).start, span(node).end);
        let text = self.parsed.of(node);
        if start == end || text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return;
        }
        let is_mark =
            !node.is_named() && text.bytes().all(|byte| byte.is_ascii_punctuation() && byte != b'_');
        let is_prefix = self.kinds.prefixes.contains(&node.kind_id());
        if is_mark && !is_prefix {
            match &mut self.run {
                Some((_, last)) if *last == start => *last = end,
                _ => {
                    self.end_run();
                    self.run = Some((start, end));
                }
            }
            return;
        }
        let is_number = self.kinds.decimals == Some(node.kind_id());
        if is_number && self.takes_decimal(start, end) {
            return;
        }
        self.end_run();
        if let Some(last) = self.lexemes.last_mut()
            && last.end == start
            && last.counts == 0
        {
            last.end = end;
            last.counts = 1;
            return;
        }
        // A prefix is no token before what it belongs to is seen.
        self.push(start, end, u32::from(!is_prefix));
        self.decimal = (is_number && !text.contains(['x', 'o', 'b', 'e', 'E'])).then_some((start, end));
    }

    /// Whether this number is what follows the point of the number before.
    fn takes_decimal(&mut self, start: u32, end: u32) -> bool {
        let (Some((_, number)), Some((point, after))) = (self.decimal, self.run) else { return false };
        let source = self.parsed.text().as_bytes();
        if number != point || after != start || after - point != 1 || source[point as usize] != b'.' {
            return false;
        }
        let Some(last) = self.lexemes.last_mut() else { return false };
        last.end = end;
        self.run = None;
        self.decimal = None;
        true
    }

    fn push(&mut self, start: u32, end: u32, counts: u32) {
        self.lexemes.push(Lexeme { start, end, counts, text: Text::Written });
    }

    /// Takes a run of touching marks apart, from the left, the longest first.
    fn end_run(&mut self) {
        let Some((start, end)) = self.run.take() else { return };
        let mut at = start;
        while at < end {
            let rest = &self.parsed.text()[at as usize..end as usize];
            let joined = self.kinds.joined.iter().find(|word| rest.starts_with(word.as_str()));
            let length = joined.map_or(1, |word| super::super::parse::offset(word.len()));
            self.push(at, at + length, 1);
            at += length;
        }
    }
}
