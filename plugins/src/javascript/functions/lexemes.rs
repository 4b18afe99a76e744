//! The tokens of `tokens/1` from the parser's tokens.
//!
//! The parser's tokens are those of TypeScript's scanner, except that `</` is two of them
//! here and one there, and that white space between JSX elements is one here and none
//! there when it holds a line break.

use oxc_parser::{Kind, Token};

use crate::measure::{Lexeme, Text};

/// What remains of the parser's tokens for counts and digests.
pub(super) fn lexemes(tokens: &[Token], text: &str) -> impl Iterator<Item = Lexeme> {
    let mut before = Kind::Eof;
    let mut end = 0;
    tokens.iter().map(move |token| {
        let kind = token.kind();
        // `</` is one token: the slash belongs to the bracket.
        let joined = kind == Kind::Slash && before == Kind::LAngle && token.start() == end;
        let blank = kind == Kind::JSXText && is_layout(&text[token.start() as usize..token.end() as usize]);
        let none = matches!(kind, Kind::Eof | Kind::Skip | Kind::Undetermined | Kind::HashbangComment);
        let shown = if none || blank {
            Text::Nothing
        } else if token.is_on_new_line() && break_counts(before, kind) {
            Text::Marked(2)
        } else {
            Text::Written
        };
        if !none {
            before = kind;
            end = token.end();
        }
        Lexeme {
            start: token.start(),
            end: token.end(),
            counts: u32::from(!(joined || blank || none)),
            text: shown,
        }
    })
}

/// White space with a line break, which JSX drops.
pub(super) fn is_layout(text: &str) -> bool {
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let blank = |c: char| {
        breaks(c)
            || matches!(
                c,
                ' ' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'
                    ..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
            )
    };
    text.chars().all(blank) && text.chars().any(breaks)
}

/// Whether a line break between these tokens can end a statement, so that it is not only
/// layout.
fn break_counts(before: Kind, after: Kind) -> bool {
    matches!(after, Kind::Plus2 | Kind::Minus2)
        || matches!(
            before,
            Kind::Return | Kind::Throw | Kind::Break | Kind::Continue | Kind::Yield | Kind::Async
        )
}

/// Where more than `limit` brackets, braces and holes are open.
pub(super) fn deeper_than(tokens: &[Token], limit: u32) -> Option<u32> {
    let mut open = 0_u32;
    for token in tokens {
        match token.kind() {
            Kind::LParen | Kind::LBrack | Kind::LCurly | Kind::TemplateHead => {
                open += 1;
                if open > limit {
                    return Some(token.start());
                }
            }
            Kind::RParen | Kind::RBrack | Kind::RCurly | Kind::TemplateTail => {
                open = open.saturating_sub(1);
            }
            _ => {}
        }
    }
    None
}
