//! Keeps recursion bounded. The parser, the scope analysis and the walk recurse
//! with the nesting of the source, so a file is measured before it is parsed and gets
//! the stack that it may need; absurd nesting is refused (the caller says so as
//! damage).
//!
//! The estimate is from above: brackets inside strings and comments count too.
//! It never says less than the real depth.

/// Nesting that is still read.
pub(in crate::javascript) const LIMIT: usize = 100_000;

/// Stack bytes for one level of nesting: the deepest chain of frames that one
/// bracket costs (parser, scope analysis or walk; they do not add up).
const BYTES_A_LEVEL: usize = if cfg!(debug_assertions) { 24 * 1024 } else { 5 * 1024 };

/// What a file without nesting needs.
const BASE: usize = 256 * 1024;

/// Runs `work` with the stack that reading `text` may need; `None` when the text is
/// nested deeper than [`LIMIT`].
pub(in crate::javascript) fn with_room<T>(text: &str, work: impl FnOnce() -> T) -> Option<T> {
    let depth = estimate(text.as_bytes());
    if depth > LIMIT {
        return None;
    }
    let bytes = BASE + depth * BYTES_A_LEVEL;
    Some(stacker::maybe_grow(bytes, bytes + BASE, work))
}

/// An upper bound of the nesting of any tree of this text, by blocks: all that a block
/// opens counts before what it closes.
///
/// A chain (`a.b.c`, `a + b`, `!!a`, `typeof typeof x`) nests once a link; every mark
/// and every space after a word counts as one. Its length is counted since the last
/// block with `;`, `,` or `{`, and a quarter of a link counts as a level, because a link
/// costs fewer frames than a bracket.
pub(in crate::javascript) fn estimate(bytes: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let mut depth = 0_usize;
    let mut chain = 0_usize;
    let mut most = 0_usize;
    let mut longest = 0_usize;
    let mut before = [0_u8; BLOCK];
    for block in bytes.chunks(BLOCK) {
        let (mut opens, mut closes, mut breaks, mut links) = (0_u8, 0_u8, 0_u8, 0_u8);
        before[1..block.len()].copy_from_slice(&block[..block.len() - 1]);
        for (&byte, &last) in block.iter().zip(&before) {
            opens += u8::from(byte == b'(') + u8::from(byte == b'[') + u8::from(byte == b'{');
            closes += u8::from(byte == b')') + u8::from(byte == b']') + u8::from(byte == b'}');
            breaks += u8::from(byte == b';') + u8::from(byte == b',') + u8::from(byte == b'{');
            let space = byte <= b' ';
            links += u8::from(!is_word(byte) & !space) + u8::from(space & is_word(last));
        }
        before[0] = *block.last().expect("chunks are not empty");
        most = most.max(depth + usize::from(opens));
        depth = (depth + usize::from(opens)).saturating_sub(usize::from(closes));
        chain += usize::from(links);
        longest = longest.max(chain);
        if breaks > 0 {
            chain = usize::from(links);
        }
    }
    most + longest / 4 + chained(bytes)
}

/// Part of a word, without a branch.
fn is_word(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte >= 0x80)
        | (byte == b'_')
        | (byte == b'$')
}

/// What nests although a `;` stands in it: `else if` chains once an `else`, and loops without
/// braces once a `for`.
fn chained(bytes: &[u8]) -> usize {
    let loops = memchr::memmem::find_iter(bytes, b"for")
        .filter(|at| matches!(bytes.get(at + 3), Some(b'(' | b' ' | b'\t' | b'\n' | b'\r' | b'/')));
    (memchr::memmem::find_iter(bytes, b"else").count() + loops.count()) / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_code_is_shallow() {
        let text = "export function f(a) { return a.b.c(d => ({ e: [d] })); }\n".repeat(2_000);
        assert!(estimate(text.as_bytes()) < 60);
        let bare = "const a = b(c)\n  .d(e)\n".repeat(200);
        assert!(estimate(bare.as_bytes()) < 1_000);
    }

    #[test]
    fn nesting_is_never_underrated() {
        for chain in ["(", "[", "!", "a+", "a.", "a=>", "typeof ", "a?b:", "a=", "{"] {
            let text = chain.repeat(20_000);
            assert!(estimate(text.as_bytes()) >= 20_000 / 4, "{chain}");
        }
        assert!(estimate("if(a)b;else ".repeat(20_000).as_bytes()) >= 20_000 / 4);
        assert!(estimate("for(;;)".repeat(20_000).as_bytes()) >= 20_000 / 4);
        assert_eq!(with_room(&"[".repeat(LIMIT + 1), || ()), None);
    }
}
