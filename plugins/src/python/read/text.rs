//! From bytes to text, and from offsets to lines.
//!
//! Decodes what PEP 263 lets a file declare, as far as the declaration is exact without
//! tables: UTF-8, ASCII, Latin-1, Windows-1252, and any ASCII superset whose file holds
//! ASCII only. Everything else is refused with a cause; the text is then a lossy one, so
//! that imports can still be seen. Lines end at LF, CRLF and CR, and nowhere else.

use std::borrow::Cow;

/// Text of a file, and why it may not be what the interpreter sees.
pub(in crate::python) struct Text<'a> {
    /// The text. Spans of facts are offsets into it; they are offsets into the file
    /// unless the file declares an encoding other than UTF-8 and uses it.
    pub(in crate::python) text: Cow<'a, str>,
    /// Why the interpreter would refuse the file, with the byte it stumbles over.
    pub(in crate::python) refused: Option<(String, usize)>,
}

/// Decodes `bytes` by their byte order mark, their coding declaration, or as UTF-8.
pub(in crate::python) fn decode(bytes: &[u8]) -> Text<'_> {
    let has_bom = bytes.starts_with(b"\xef\xbb\xbf");
    let cookie = if has_bom { None } else { cookie(bytes) };
    let kind = cookie.as_deref().map_or(Encoding::Utf8, Encoding::of);
    if let Ok(text) = std::str::from_utf8(bytes)
        && (matches!(kind, Encoding::Utf8) || (!matches!(kind, Encoding::Unknown) && bytes.is_ascii()))
    {
        return Text { text: Cow::Borrowed(text), refused: None };
    }
    let high = bytes.iter().position(|b| !b.is_ascii()).unwrap_or(0);
    let name = cookie.as_deref().unwrap_or("utf-8");
    match kind {
        Encoding::Latin1 => Text { text: bytes.iter().map(|&b| char::from(b)).collect(), refused: None },
        Encoding::Windows1252 => {
            let undefined = bytes.iter().position(|b| matches!(b, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d));
            Text {
                text: bytes.iter().map(|&b| windows_1252(b)).collect(),
                refused: undefined.map(|at| (format!("byte is not {name}"), at)),
            }
        }
        Encoding::Utf8 => {
            let at = std::str::from_utf8(bytes).err().map_or(0, |e| e.valid_up_to());
            Text { text: String::from_utf8_lossy(bytes), refused: Some(("not UTF-8".to_owned(), at)) }
        }
        Encoding::Ascii => {
            Text { text: String::from_utf8_lossy(bytes), refused: Some((format!("not {name}"), high)) }
        }
        Encoding::Superset => Text {
            text: String::from_utf8_lossy(bytes),
            refused: Some((format!("encoding {name} is not read here"), high)),
        },
        Encoding::Unknown => Text {
            text: String::from_utf8_lossy(bytes),
            refused: Some((format!("unknown encoding {name}"), 0)),
        },
    }
}

/// Whether the file declares an encoding other than UTF-8 that is known.
pub(in crate::python) fn declares_encoding(bytes: &[u8]) -> bool {
    let kind = cookie(bytes).as_deref().map_or(Encoding::Utf8, Encoding::of);
    !bytes.starts_with(b"\xef\xbb\xbf") && !matches!(kind, Encoding::Utf8 | Encoding::Unknown)
}

#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
    Windows1252,
    /// Agrees with ASCII below 128; its other characters would need a table.
    Superset,
    Unknown,
}

impl Encoding {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase().replace('_', "-");
        match name.as_str() {
            "utf-8" | "utf8" | "u8" | "utf" | "cp65001" | "utf-8-sig" | "utf8-ucs2" | "utf8-ucs4" => {
                Self::Utf8
            }
            "ascii" | "us-ascii" | "646" => Self::Ascii,
            "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "8859" | "cp819" => {
                Self::Latin1
            }
            "cp1252" | "windows-1252" | "1252" => Self::Windows1252,
            other => {
                const SUPERSETS: [&str; 14] = [
                    "iso-8859", "iso8859", "latin", "windows-", "cp125", "cp437", "cp85", "cp86", "koi8",
                    "euc", "gb", "big5", "mac", "cp9",
                ];
                if other.starts_with("utf-8-") {
                    Self::Utf8
                } else if SUPERSETS.iter().any(|s| other.starts_with(s)) {
                    Self::Superset
                } else {
                    Self::Unknown
                }
            }
        }
    }
}

/// The name in a coding declaration on one of the first two lines.
fn cookie(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes;
    for _ in 0..2 {
        let end = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        let line = &rest[..end];
        let code = line.iter().position(|b| !matches!(b, b' ' | b'\t' | 0x0c));
        match code.map(|at| line[at]) {
            Some(b'#') => {
                if let Some(name) = declared(line) {
                    return Some(name);
                }
            }
            None => {}
            Some(_) => return None,
        }
        let crlf = rest.get(end) == Some(&b'\r') && rest.get(end + 1) == Some(&b'\n');
        rest = rest.get(end + 1 + usize::from(crlf)..)?;
    }
    None
}

fn declared(comment: &[u8]) -> Option<String> {
    let mut from = 0;
    while let Some(at) = comment[from..].windows(6).position(|w| w == b"coding") {
        let after = &comment[from + at + 6..];
        from += at + 6;
        if !matches!(after.first(), Some(b':' | b'=')) {
            continue;
        }
        let name: String = after[1..]
            .iter()
            .skip_while(|b| matches!(b, b' ' | b'\t'))
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            .map(|&b| char::from(b))
            .collect();
        if !name.is_empty() {
            return Some(name);
        }
    }
    None
}

fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '\u{20ac}', '\u{fffd}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{fffd}', '\u{17d}', '\u{fffd}',
        '\u{fffd}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
        '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{fffd}', '\u{17e}', '\u{178}',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Finds the line of a byte. Few bytes are asked about, so that counting line ends by
/// blocks is cheaper than listing them.
pub(in crate::python) struct Lines<'a> {
    bytes: &'a [u8],
    /// Line ends before each block.
    before: Vec<u32>,
    /// Some lines end with a lone CR.
    carriage: bool,
}

const BLOCK: usize = 512;

impl<'a> Lines<'a> {
    pub(in crate::python) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let carriage = memchr::memchr(b'\r', bytes).is_some();
        let mut before = Vec::with_capacity(bytes.len() / BLOCK + 1);
        let mut lines = 0;
        for (at, block) in bytes.chunks(BLOCK).enumerate() {
            before.push(lines);
            lines += if carriage { ends(bytes, at * BLOCK, at * BLOCK + block.len()) } else { feeds(block) };
        }
        Self { bytes, before, carriage }
    }

    /// The 1-based line of the byte at `at`.
    pub(in crate::python) fn line(&self, at: u32) -> u32 {
        let at = (at as usize).min(self.bytes.len());
        let block = (at / BLOCK).min(self.before.len().saturating_sub(1));
        let start = block * BLOCK;
        let within = if self.carriage { ends(self.bytes, start, at) } else { feeds(&self.bytes[start..at]) };
        self.before.get(block).copied().unwrap_or(0) + within + 1
    }
}

/// LF bytes; in a form that compilers turn into vector instructions.
fn feeds(block: &[u8]) -> u32 {
    block.chunks(128).map(|c| u32::from(c.iter().map(|&b| u8::from(b == b'\n')).sum::<u8>())).sum()
}

/// Line ends of all three kinds in `bytes[start..end]`; CRLF counts at its LF.
fn ends(bytes: &[u8], start: usize, end: usize) -> u32 {
    let ends = (start..end)
        .filter(|&i| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n')));
    offset(ends.count())
}

/// A byte offset; the parser holds text below 4 GiB only.
pub(in crate::python) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_encodings_are_decoded_or_refused() {
        let cases: &[(&[u8], Option<&str>, bool)] = &[
            (b"x = '\xc3\xa9'", Some("x = 'é'"), false),
            (b"\xef\xbb\xbfx = 1", Some("\u{feff}x = 1"), false),
            (b"# -*- coding: latin-1 -*-\nx = '\xe9'", Some("# -*- coding: latin-1 -*-\nx = 'é'"), false),
            (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, false),
            (b"# coding: utf-8-sig\nx = 1", None, false),
            (b"# coding: euc-jp\nx = 1", None, false),
            (b"# coding: euc-jp\nx = '\xa4\xa2'", None, true),
            (b"# coding: ascii\nx = '\xc3\xa9'", None, true),
            (b"# coding: rot13\nk = 1", None, true),
            (b"x = '\xe9'", None, true),
            (b"x = 1\n# coding: latin-1\ny = '\xe9'", None, true),
            (b"\r# coding: latin-1\ry = '\xe9'", None, false),
        ];
        for (bytes, text, refused) in cases {
            let decoded = decode(bytes);
            assert_eq!(decoded.refused.is_some(), *refused, "{}", decoded.text);
            if let Some(text) = text {
                assert_eq!(decoded.text, *text);
            }
        }
    }

    #[test]
    fn lines_end_at_lf_crlf_and_cr_only() {
        let lines = Lines::new("a\r\nb\rc\nd\u{2028}e\u{c}f");
        let line_of = |c: char| lines.line(offset("a\r\nb\rc\nd\u{2028}e\u{c}f".find(c).unwrap()));
        assert_eq!(['a', 'b', 'c', 'd', 'e', 'f'].map(line_of), [1, 2, 3, 4, 4, 4]);
    }
}
