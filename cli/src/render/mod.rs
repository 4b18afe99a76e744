//! Answers for people. Everything here turns an answer type into text, with ANSI
//! styles in it that the output stream strips where they are not wanted.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod doctor;
pub(crate) mod dot;
pub(crate) mod html;
pub(crate) mod layout;
pub(crate) mod mermaid;
pub(crate) mod opacity;
pub(crate) mod plan;
pub(crate) mod receipts;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod style;
pub(crate) mod tree;
pub(crate) mod trouble;
pub(crate) mod why;

/// How much to show, and how wide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Columns of the terminal.
    pub width: usize,
    /// Whole lists.
    pub verbose: bool,
    /// No hints.
    pub quiet: bool,
}

impl View {
    /// How many of `total` entries to show when at most `most` fit a person's patience.
    /// One more entry is shown rather than a line that says "and 1 more".
    pub(crate) fn shown(self, total: usize, most: usize) -> usize {
        if self.verbose || total <= most + 1 { total } else { most }
    }

    /// "… and 12 more", when entries were left out.
    pub(crate) fn rest(self, total: usize, shown: usize, indent: &str) -> Option<String> {
        let left = total.checked_sub(shown).filter(|&left| left > 0)?;
        Some(format!(
            "{indent}{}\n",
            style::dim(&format!("… and {left} more (-v or --format json shows all)"))
        ))
    }
}

/// `1 test`, `2 tests`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}
