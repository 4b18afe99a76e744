//! Line numbers: LF, CRLF and CR end a line, in JavaScript U+2028 and U+2029 do, too.

use std::borrow::Cow;

use super::Dialect;

/// Where the lines of a text start.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn new(text: &str, separators: bool) -> Self {
        let bytes = text.as_bytes();
        let ends = text.char_indices().filter(|(at, letter)| match letter {
            '\n' => true,
            '\r' => bytes.get(at + 1) != Some(&b'\n'),
            '\u{2028}' | '\u{2029}' => separators,
            _ => false,
        });
        Self(ends.map(|(at, letter)| at + letter.len_utf8()).collect())
    }

    /// The 1-based line of the byte at `at`.
    pub(super) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= at) + 1).unwrap_or(u32::MAX)
    }
}

/// The same text, byte for byte, with the line ends that the grammar of the dialect knows: that
/// of Python knows no CR alone, and takes all behind a comment for part of it.
pub(super) fn as_grammars_end_them(dialect: Dialect, text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let alone = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    if dialect != Dialect::Python || !(0..bytes.len()).any(alone) {
        return Cow::Borrowed(text);
    }
    let ends = text.char_indices().map(|(at, letter)| if alone(at) { '\n' } else { letter });
    Cow::Owned(ends.collect())
}
