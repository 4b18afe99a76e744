//! "Could not tell", as values that travel to the answer: problems, files that
//! were not checked, and reasons to widen a plan.

use serde::{Deserialize, Serialize};

/// Something that was not understood, and where. It never stops an analysis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// A stable kebab-case word, for example `unresolved-import`.
    pub code: String,
    /// Project-relative path of the file it was seen in.
    pub path: String,
    /// 1-based line, or `None` where no line exists.
    pub line: Option<u32>,
    /// One sentence for a person: what was seen, and what to do about it.
    pub detail: String,
}

/// Why a file was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unchecked {
    /// The parser rejects it (the line is the first error's).
    Unparsable,
    /// Larger than the configured limit.
    TooLarge,
    /// It holds a NUL byte in its first 8 KiB.
    Binary,
    /// Not valid UTF-8 (nor, for Python, its declared encoding).
    NotUtf8,
    /// The operating system refused, or it vanished while being read.
    Unreadable,
    /// Nested deeper than the configured limit.
    Depth,
    /// Understanding it takes more steps than a file may (checks only). The budget counts work
    /// and no time, so that the answer does not depend on the machine.
    Timeout,
    /// Source code of a language whose functions no reader measures (checks only).
    UnsupportedLanguage,
}

impl Unchecked {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unparsable => "unparsable",
            Self::TooLarge => "too-large",
            Self::Binary => "binary",
            Self::NotUtf8 => "not-utf8",
            Self::Unreadable => "unreadable",
            Self::Depth => "depth",
            Self::Timeout => "timeout",
            Self::UnsupportedLanguage => "unsupported-language",
        }
    }
}

/// A file that was not read or not parsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotChecked {
    /// Project-relative path.
    pub path: String,
    /// Why.
    pub reason: Unchecked,
    /// 1-based line of the first error, where one exists.
    pub line: Option<u32>,
}

/// A reason for which the whole suite is owed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Widening {
    /// A stable kebab-case word, for example `config-not-understood`.
    pub reason: String,
    /// The file that made it necessary (project-relative; `""` when there is none).
    pub path: String,
    /// One sentence for a person, with what would narrow it.
    pub detail: String,
}
