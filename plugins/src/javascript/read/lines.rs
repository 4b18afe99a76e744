//! Line numbers as TypeScript counts them: LF, CRLF, CR, U+2028 and U+2029 each
//! end a line.

/// Where the lines of a text start.
#[derive(Debug)]
pub(in crate::javascript) struct Lines {
    /// Byte offset of the first byte of every line after the first.
    starts: Vec<u32>,
}

impl Lines {
    /// Finds the lines of `text`.
    pub(in crate::javascript) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32);
        for at in memchr::memchr3_iter(b'\n', b'\r', 0xE2, bytes) {
            let end = match bytes[at] {
                b'\n' => at + 1,
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => continue,
                b'\r' => at + 1,
                _ if matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9])) => at + 3,
                _ => continue,
            };
            starts.push(u32::try_from(end).unwrap_or(u32::MAX));
        }
        Self { starts }
    }

    /// The 1-based line of the byte at `offset`.
    pub(in crate::javascript) fn line(&self, offset: u32) -> u32 {
        let before = self.starts.partition_point(|&start| start <= offset);
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminator_ends_a_line() {
        let text = "a\nb\r\nc\rd\u{2028}e\u{2029}f\u{2027}g";
        let lines = Lines::new(text);
        for (letter, line) in [('a', 1), ('b', 2), ('c', 3), ('d', 4), ('e', 5), ('f', 6), ('g', 6)] {
            let at = text.find(letter).unwrap();
            assert_eq!(lines.line(u32::try_from(at).unwrap()), line, "{letter}");
        }
    }
}
