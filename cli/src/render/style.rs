//! Styles by meaning, widths, and wrapping.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CHANGED: Style = AnsiColor::Cyan.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();

fn paint(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", plain(text))
}

/// A heading or a test.
pub(crate) fn bold(text: &str) -> String {
    paint(BOLD, text)
}

/// Said for completeness.
pub(crate) fn dim(text: &str) -> String {
    paint(DIM, text)
}

/// A changed file.
pub(crate) fn changed(text: &str) -> String {
    paint(CHANGED, text)
}

/// Something that costs precision.
pub(crate) fn warn(text: &str) -> String {
    paint(WARN, text)
}

/// Something that was not checked, or is missing.
pub(crate) fn bad(text: &str) -> String {
    paint(BAD, text)
}

/// Something that is as it should be.
pub(crate) fn good(text: &str) -> String {
    paint(GOOD, text)
}

/// `text` with control characters made visible: a file name must not move the cursor
/// or end a line. Everything else, non-ASCII letters included, stays as it is.
pub(crate) fn plain(text: &str) -> String {
    if !text.chars().any(is_control) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_control(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Control characters, and the marks that reorder what stands around them.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns that `text` takes, without styles.
pub(crate) fn width(text: &str) -> usize {
    plain(text).width()
}

/// Pieces of a line: what is measured, and what is printed.
pub(crate) struct Piece {
    /// Columns.
    width: usize,
    /// With styles.
    text: String,
}

impl Piece {
    /// A piece of `text` as styled by `style`.
    pub(crate) fn new(text: &str, style: impl FnOnce(&str) -> String) -> Self {
        Self { width: width(text), text: style(text) }
    }

    /// The same with a mark right behind it.
    pub(crate) fn followed(self, mark: &str) -> Self {
        Self { width: self.width + width(mark), text: self.text + mark }
    }

    /// Columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }
}

/// Joins pieces with blanks, breaking lines before a piece that would pass `columns`.
/// Lines after the first begin with `indent` blanks; `at` is where the first one begins.
pub(crate) fn flow(pieces: &[Piece], at: usize, indent: usize, columns: usize) -> String {
    let mut out = String::new();
    let mut column = at;
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            if column + 1 + piece.width > columns && column > indent {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(&piece.text);
        column += piece.width;
    }
    out
}

/// A sentence, wrapped; lines after the first begin with `indent` blanks.
pub(crate) fn wrap(sentence: &str, at: usize, indent: usize, columns: usize) -> String {
    let pieces: Vec<Piece> = sentence.split_whitespace().map(|word| Piece::new(word, plain)).collect();
    flow(&pieces, at, indent, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_counts_columns_not_bytes() {
        assert_eq!(wrap("äöü äöü äöü", 0, 2, 7), "äöü äöü\n  äöü");
        assert_eq!(wrap("漢字 漢字", 0, 0, 8), "漢字\n漢字");
        assert_eq!(wrap("averyverylongword x", 0, 2, 6), "averyverylongword\n  x");
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        assert_eq!(plain("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(plain("Einkäufe/漢.ts"), "Einkäufe/漢.ts");
    }
}
