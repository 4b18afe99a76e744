//! A very large project made of real ones: their sources several times over, every other copy
//! with other names for a third of what it calls, so that neither everything nor nothing is a
//! copy of something.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Words that stand before a bracket and call nothing.
const WORDS: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "and",
    "or",
    "not",
    "in",
    "is",
    "elif",
    "else",
    "print",
    "function",
    "typeof",
    "await",
    "yield",
    "lambda",
    "import",
    "super",
    "constructor",
    "new",
    "assert",
    "raise",
    "del",
    "with",
    "class",
    "def",
    "async",
    "case",
    "match",
    "void",
    "delete",
    "of",
    "as",
];

/// What was written.
#[derive(Debug, Default)]
pub struct Written {
    /// Files.
    pub files: usize,
    /// Lines.
    pub lines: usize,
}

/// Writes `sources` (path, bytes) below `dir` until there are `lines` lines.
pub fn write(dir: &Path, sources: &[(String, Vec<u8>)], lines: usize) -> Result<Written> {
    let mut written = Written::default();
    for round in 0.. {
        for (path, bytes) in sources {
            if written.lines >= lines {
                return Ok(written);
            }
            let text = String::from_utf8_lossy(bytes);
            let text = if round % 2 == 0 { text.into_owned() } else { with_other_calls(&text, round) };
            let to = dir.join(format!("r{round}")).join(path);
            fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
            written.files += 1;
            written.lines += text.lines().count();
            fs::write(to, text)?;
        }
        anyhow::ensure!(written.files > 0, "there are no sources");
    }
    Ok(written)
}

/// `text` with other names for a third of the words before a bracket.
fn with_other_calls(text: &str, round: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut from = 0;
    for (at, _) in text.match_indices('(') {
        let start = text[..at]
            .char_indices()
            .rev()
            .take_while(|(_, letter)| letter.is_ascii_alphanumeric() || *letter == '_')
            .last()
            .map_or(at, |(start, _)| start);
        let word = &text[start..at];
        let chosen = word.bytes().map(usize::from).sum::<usize>() % 3 == 0;
        if start >= from && chosen && !word.is_empty() && !WORDS.contains(&word) && !word.starts_with('_') {
            out.push_str(&text[from..at]);
            out.push_str(&format!("_{round}"));
            from = at;
        }
    }
    out.push_str(&text[from..]);
    out
}
