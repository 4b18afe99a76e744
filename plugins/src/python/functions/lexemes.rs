//! The tokens of `tokens/1` from the parser's tokens.
//!
//! They are those of CPython's `tokenize`, except inside f-strings and t-strings: where the
//! parser has one text between fields, CPython ends a token after each doubled brace and
//! after each `\N{…}`, and it has an empty one before the brace that ends a format
//! specification whose last part is a field, or that says nothing.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged, TextRange};

use crate::measure::{Lexeme, Text};

/// What remains of the parser's tokens for counts and digests. `docstrings` are sorted.
pub(super) fn lexemes<'t>(
    tokens: &'t [Token],
    docstrings: &'t [TextRange],
    text: &'t str,
) -> impl Iterator<Item = Lexeme> + 't {
    let mut next = 0;
    let mut after_docstring = false;
    let mut strings = Strings::default();
    tokens.iter().map(move |token| {
        let range = token.range();
        while docstrings.get(next).is_some_and(|docstring| docstring.end() <= range.start()) {
            next += 1;
        }
        let documents = token.kind() == TokenKind::String
            && docstrings.get(next).is_some_and(|docstring| docstring.contains_range(range));
        let (counts, shown) = match token.kind() {
            TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::EndOfFile => (0, Text::Nothing),
            TokenKind::Newline if after_docstring => (0, Text::Nothing),
            TokenKind::Newline => (0, Text::Mark(2)),
            TokenKind::Indent => (0, Text::Mark(3)),
            TokenKind::Dedent => (0, Text::Mark(4)),
            _ if documents => (0, Text::Nothing),
            kind => {
                let written = &text[range.start().to_usize()..range.end().to_usize()];
                (strings.count(kind, written), Text::Written)
            }
        };
        if !matches!(token.kind(), TokenKind::Comment | TokenKind::NonLogicalNewline) {
            after_docstring = documents;
        }
        Lexeme { start: range.start().to_u32(), end: range.end().to_u32(), counts, text: shown }
    })
}

/// Where in a formatted string a token stands.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Its text.
    Literal { raw: bool },
    /// A field, with the brackets that are open in its expression.
    Field(u32),
    /// The format specification of a field; whether the last token was text of it.
    Specification { text: bool },
}

/// The formatted strings around a token.
#[derive(Debug, Default)]
struct Strings {
    open: Vec<Part>,
}

impl Strings {
    /// How many tokens CPython has for this one.
    fn count(&mut self, kind: TokenKind, written: &str) -> u32 {
        match kind {
            TokenKind::FStringStart | TokenKind::TStringStart => {
                self.open.push(Part::Literal { raw: written.contains(['r', 'R']) });
            }
            TokenKind::FStringEnd | TokenKind::TStringEnd => {
                self.open.pop();
            }
            TokenKind::FStringMiddle | TokenKind::TStringMiddle => {
                if let Some(Part::Specification { text }) = self.open.last_mut() {
                    *text = true;
                }
                let raw = self.open.iter().rev().find_map(|part| match part {
                    Part::Literal { raw } => Some(*raw),
                    _ => None,
                });
                return pieces(written, raw.unwrap_or(false));
            }
            TokenKind::Lbrace => match self.open.last_mut() {
                Some(Part::Field(depth)) => *depth += 1,
                Some(part) => {
                    if let Part::Specification { text } = part {
                        *text = false;
                    }
                    self.open.push(Part::Field(0));
                }
                None => {}
            },
            TokenKind::Lpar | TokenKind::Lsqb => {
                if let Some(Part::Field(depth)) = self.open.last_mut() {
                    *depth += 1;
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb => {
                if let Some(Part::Field(depth)) = self.open.last_mut() {
                    *depth = depth.saturating_sub(1);
                }
            }
            TokenKind::Rbrace => match self.open.last_mut() {
                Some(Part::Field(0)) => {
                    self.open.pop();
                }
                Some(Part::Field(depth)) => *depth -= 1,
                Some(Part::Specification { text }) => {
                    let empty = !*text;
                    self.open.pop();
                    self.open.pop();
                    return 1 + u32::from(empty);
                }
                _ => {}
            },
            TokenKind::Colon => {
                if let Some(Part::Field(0)) = self.open.last() {
                    self.open.push(Part::Specification { text: false });
                }
            }
            _ => {}
        }
        1
    }
}

/// How many tokens CPython makes of the text between two fields.
fn pieces(text: &str, raw: bool) -> u32 {
    let bytes = text.as_bytes();
    let (mut count, mut at, mut rest) = (0, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'}' if bytes.get(at + 1) == Some(&bytes[at]) => {
                count += 1;
                at += 2;
                rest = at;
            }
            b'\\' if !raw => {
                if bytes[at..].starts_with(b"\\N{") {
                    let end = bytes[at..].iter().position(|byte| *byte == b'}');
                    at = end.map_or(bytes.len(), |end| at + end + 1);
                    count += 1;
                    rest = at;
                } else {
                    // A brace cannot be escaped by a backslash.
                    at += if matches!(bytes.get(at + 1), Some(b'{' | b'}')) { 1 } else { 2 };
                }
            }
            _ => at += 1,
        }
    }
    count + u32::from(rest < bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_fields_ends_at_doubled_braces() {
        for (text, count) in [
            ("a{{b", 2),
            ("{{", 1),
            ("{{}}", 2),
            ("a", 1),
            ("a{{b}}c", 3),
            (r"\N{DASH}a", 2),
            (r"\N{DASH}", 1),
            (r"\{{", 1),
            (r"\{{x}}", 2),
        ] {
            assert_eq!(pieces(text, false), count, "{text}");
        }
        assert_eq!(pieces(r"\N{{DASH}}", true), 2);
    }
}
