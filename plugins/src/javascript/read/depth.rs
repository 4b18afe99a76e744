//! Keeps recursion bounded. The parser, the scope analysis and the walk recurse
//! with the nesting of the source, so a file is measured before it is parsed:
//! ordinary ones run on the caller's stack, deeply nested ones on a large one,
//! and absurd ones are refused (the caller says so as damage).
//!
//! The estimate is from above: brackets inside strings and comments count too.
//! It never says less than the real depth.

/// Where a file may be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// On the caller's stack.
    Here,
    /// On a thread with this many bytes of stack.
    Large(usize),
    /// Nowhere: nested deeper than [`LIMIT`].
    Refused,
}

/// Nesting that is still read.
pub(super) const LIMIT: usize = 100_000;

/// Nesting that fits a thread's default stack (2 MiB) with room to spare.
const SMALL: usize = if cfg!(debug_assertions) { 60 } else { 160 };

/// Stack bytes for one level of nesting: the deepest chain of frames that one
/// bracket costs (parser, scope analysis or walk; they do not add up).
const BYTES_A_LEVEL: usize = if cfg!(debug_assertions) { 24 * 1024 } else { 5 * 1024 };

/// Decides where a text may be parsed.
pub(super) fn room(text: &str) -> Room {
    let depth = estimate(text.as_bytes());
    if depth <= SMALL {
        Room::Here
    } else if depth <= LIMIT {
        Room::Large((depth + 1_000) * BYTES_A_LEVEL)
    } else {
        Room::Refused
    }
}

/// Runs `work` on a thread with `bytes` of stack; `None` when no such thread can be
/// had.
pub(super) fn on_large_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work).ok()?;
        thread.join().ok()
    })
}

/// What one byte does to the depth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    /// Part of a word.
    Word,
    Space,
    Open,
    Close,
    /// Ends a chain of operators at this level.
    Break,
    /// May lengthen a chain: `a + b + c`, `a.b.c`, `!!a`, `a ? b : c ? d : e`.
    Link,
}

const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        table[i] = match byte {
            b'(' | b'[' | b'{' => Class::Open,
            b')' | b']' | b'}' => Class::Close,
            b';' | b',' => Class::Break,
            b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!'
            | b'?' | b':' | b'~' | b'`' | b'@' => Class::Link,
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80.. => Class::Word,
            _ => Class::Other,
        };
        i += 1;
    }
    table
};

/// An upper bound of the nesting of any tree of this text.
///
/// A chain (`a.b.c`, `typeof typeof x`) nests once a link. Its length is counted since
/// the last `;`, `,` or `{` on the way; a quarter of a link counts as a level, because
/// a link costs fewer frames than a bracket. `else if` chains nest once an `else`.
fn estimate(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut chain = 0_usize;
    let mut most = 0_usize;
    let mut longest = 0_usize;
    let mut last = Class::Other;
    for &byte in bytes {
        let class = CLASSES[usize::from(byte)];
        match class {
            Class::Word | Class::Other => {}
            Class::Space => {
                if last == Class::Word {
                    chain += 1;
                }
            }
            Class::Open => {
                depth += 1;
                most = most.max(depth);
                if byte == b'{' {
                    longest = longest.max(chain);
                    chain = 0;
                } else {
                    chain += 1;
                }
            }
            Class::Close => depth = depth.saturating_sub(1),
            Class::Break => {
                longest = longest.max(chain);
                chain = 0;
            }
            Class::Link => chain += 1,
        }
        last = class;
    }
    longest = longest.max(chain);
    let elses = if bytes.len() > 64 * SMALL { memchr::memmem::find_iter(bytes, b"else").count() } else { 0 };
    // Templates nest through `${`, which is an opening bracket already.
    most + longest / 4 + elses / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_code_stays_here() {
        let text = "export function f(a) { return a.b.c(d => ({ e: [d] })); }\n".repeat(2_000);
        assert_eq!(room(&text), Room::Here);
    }

    #[test]
    fn deep_code_moves_or_is_refused() {
        for chain in ["(", "[", "!", "a+", "a.", "a=>", "typeof ", "a?b:", "if(a)b;else ", "a=", "{"] {
            assert!(matches!(room(&chain.repeat(5_000)), Room::Large(_)), "{chain}");
        }
        assert_eq!(room(&"[".repeat(LIMIT + 1)), Room::Refused);
    }
}
