//! Line numbers: LF, CRLF and CR end a line, in JavaScript U+2028 and U+2029 do, too.

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
