//! Token counts and verbatim digests (`tokens/1`), in one pass over a file's tokens.

use owed_engine::function::Function;

/// One token of the file, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// How many of `tokens/1` it is.
    pub(crate) counts: u32,
    /// What the digest takes: its text, or a mark alone (a line break that ends a
    /// statement, an indentation), or nothing.
    pub(crate) text: Text,
}

/// What a digest takes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Its bytes.
    Written,
    /// A mark that stands for it.
    Mark(u8),
    /// Its bytes after a mark.
    Marked(u8),
    /// Nothing.
    Nothing,
}

/// Sets the token counts and digests of `functions`, which are sorted by their start, outer
/// before inner. A nested function is part of the digest around it by its own digest, so
/// that every token is hashed once.
pub(crate) fn measure(functions: &mut [Function], tokens: impl IntoIterator<Item = Lexeme>, source: &[u8]) {
    let mut open: Vec<(usize, usize, u32)> = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut next = 0;
    let mut counted = 0_u32;
    for token in tokens {
        while let Some(&(top, from, before)) = open.last() {
            if functions[top].span.end > token.start {
                break;
            }
            open.pop();
            close(&mut functions[top], &mut bytes, from, counted - before);
        }
        while functions.get(next).is_some_and(|function| function.span.start <= token.start) {
            open.push((next, bytes.len(), counted));
            next += 1;
        }
        counted += token.counts;
        if open.is_empty() {
            continue;
        }
        match token.text {
            Text::Written | Text::Marked(_) => {
                if let Text::Marked(mark) = token.text {
                    bytes.push(mark);
                }
                bytes.extend_from_slice(&source[token.start as usize..token.end as usize]);
                bytes.push(0);
            }
            Text::Mark(mark) => bytes.push(mark),
            Text::Nothing => {}
        }
    }
    while let Some((top, from, before)) = open.pop() {
        close(&mut functions[top], &mut bytes, from, counted - before);
    }
    for function in functions.iter_mut() {
        function.own_tokens = function.total_tokens;
    }
    for at in 0..functions.len() {
        if let Some(parent) = functions[at].parent {
            let inner = functions[at].total_tokens;
            functions[parent as usize].own_tokens -= inner;
        }
    }
}

fn close(function: &mut Function, bytes: &mut Vec<u8>, from: usize, tokens: u32) {
    function.total_tokens = tokens;
    function.digest = shortened(&bytes[from..]);
    bytes.truncate(from);
    bytes.push(1);
    bytes.extend_from_slice(&function.digest);
}

/// The first 16 bytes of the BLAKE3 hash of `bytes`.
pub(super) fn shortened(bytes: &[u8]) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    digest
}
