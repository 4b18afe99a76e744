//! Keeps recursion bounded, and refuses what CPython refuses for its depth.

use owed_engine::facts::Span;
use owed_engine::function::{FunctionFacts, Limits};
use ruff_python_ast::ModModule;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_parser::Parsed;
use ruff_text_size::Ranged;

/// Brackets that CPython's tokenizer keeps open (`MAXLEVEL`).
const BRACKETS: usize = 200;
/// Levels of indentation that CPython's tokenizer keeps (`MAXINDENT`, less the first).
const INDENTS: usize = 99;
/// Levels of a tree that is walked at all.
pub(super) const LEVELS: u32 = 10_000;
/// Room for walking and freeing a tree of so many levels.
const ROOM: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// The cause and place when so many brackets are open that parsing would only cost time and
/// memory. Brackets in strings and comments count, too, so the limit is far away.
pub(super) fn before_parsing(bytes: &[u8], limit: u32) -> Option<(String, u32)> {
    let far = 20 * limit.max(Limits::DEPTH) as usize;
    if bytes.len() <= far {
        return None;
    }
    let mut open = 0_usize;
    for (at, block) in bytes.chunks(128).enumerate() {
        let opened: u8 = block.iter().map(|b| u8::from(matches!(b, b'(' | b'[' | b'{'))).sum();
        let closed: u8 = block.iter().map(|b| u8::from(matches!(b, b')' | b']' | b'}'))).sum();
        open = (open + usize::from(opened)).saturating_sub(closed.into());
        if open > far {
            return Some((nested(limit), u32::try_from(at * 128).unwrap_or(u32::MAX)));
        }
    }
    None
}

/// The cause and place when brackets or blocks are nested too deep.
pub(super) fn of_tokens(tokens: &[Token], limit: u32) -> Option<(String, u32)> {
    let (mut open, mut indents) = (0_usize, 0_usize);
    let deepest = limit as usize;
    let mut found: Option<(String, u32)> = None;
    for token in tokens {
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                open += 1;
                if open > deepest {
                    return Some((nested(limit), token.start().to_u32()));
                }
                if open > BRACKETS && found.is_none() {
                    found = Some((
                        format!("{}too many nested parentheses", Limits::DEPTH_CAUSE),
                        token.start().to_u32(),
                    ));
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => open = open.saturating_sub(1),
            TokenKind::Indent => {
                indents += 1;
                if indents > deepest {
                    return Some((nested(limit), token.end().to_u32()));
                }
                if indents > INDENTS && found.is_none() {
                    found = Some((
                        format!("{}too many levels of indentation", Limits::DEPTH_CAUSE),
                        token.end().to_u32(),
                    ));
                }
            }
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
    }
    found
}

fn nested(limit: u32) -> String {
    format!("{}nested deeper than {limit} levels", Limits::DEPTH_CAUSE)
}

/// Runs `work` on a tree with the stack that a deep one needs, and frees the tree there.
/// `None` from `work` means that it is deeper than any stack: it is leaked then, because
/// freeing recurses, too.
pub(super) fn with_room(
    tree: Parsed<ModModule>,
    limit: u32,
    work: impl FnOnce(&Parsed<ModModule>) -> Option<FunctionFacts>,
) -> FunctionFacts {
    stacker::maybe_grow(ROOM / 2, ROOM, || match work(&tree) {
        Some(facts) => facts,
        None => {
            std::mem::forget(tree);
            super::damaged(nested(limit), 1, Span::default())
        }
    })
}
