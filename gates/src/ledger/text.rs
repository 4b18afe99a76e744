//! Texts with a bound: what a command said, and the command itself. A text that is too long
//! is refused or clipped with a mark; it is never shortened in silence.

use serde::{Deserialize, Serialize};

use super::names::Invalid;

/// Characters of a command, newlines included (behaviour A2).
pub const COMMAND_CHARS: usize = 16_000;

/// Characters of a command as it is stored. Redaction may replace a short secret by a longer
/// word, so this is a little more than [`COMMAND_CHARS`].
pub const STORED_COMMAND_CHARS: usize = 20_000;

/// Characters kept of one stream of a command (behaviour A27).
pub const STREAM_CHARS: usize = 4_000;

/// Characters kept of one stream of a preflight: a path, a head and a fingerprint.
pub const PREFLIGHT_STREAM_CHARS: usize = 1_000;

/// What one stream of a process said: redacted by the caller, bounded here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Raw")]
pub struct Stream {
    text: String,
    bytes: u64,
    truncated: bool,
    lossy: bool,
}

/// The same fields, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    text: String,
    bytes: u64,
    truncated: bool,
    lossy: bool,
}

impl TryFrom<Raw> for Stream {
    type Error = Invalid;

    fn try_from(raw: Raw) -> Result<Self, Invalid> {
        if raw.text.chars().count() > STREAM_CHARS {
            return Err(Invalid { what: "stream", rule: "at most 4,000 characters" });
        }
        Ok(Self { text: raw.text, bytes: raw.bytes, truncated: raw.truncated, lossy: raw.lossy })
    }
}

impl Stream {
    /// Keeps the first [`STREAM_CHARS`] characters of a redacted text. `bytes` is how much
    /// the process wrote; `truncated` that the text is already less than that; `lossy` that
    /// bytes which are not UTF-8 were replaced.
    #[must_use]
    pub fn clip(text: &str, bytes: u64, truncated: bool, lossy: bool) -> Self {
        Self::clip_to(text, STREAM_CHARS, bytes, truncated, lossy)
    }

    /// [`Stream::clip`] at [`PREFLIGHT_STREAM_CHARS`].
    #[must_use]
    pub fn clip_preflight(text: &str, bytes: u64, truncated: bool, lossy: bool) -> Self {
        Self::clip_to(text, PREFLIGHT_STREAM_CHARS, bytes, truncated, lossy)
    }

    fn clip_to(text: &str, limit: usize, bytes: u64, truncated: bool, lossy: bool) -> Self {
        let cut = text.char_indices().nth(limit).map(|(at, _)| at);
        let kept = cut.map_or(text, |at| &text[..at]);
        Self { text: kept.to_owned(), bytes, truncated: truncated || cut.is_some(), lossy }
    }

    /// The kept text. Untrusted: it is whatever a command printed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes the process wrote.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether less is kept than was written.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether bytes that are not UTF-8 were replaced.
    #[must_use]
    pub fn lossy(&self) -> bool {
        self.lossy
    }
}

/// Both streams of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
}

impl Output {
    /// Whether the evidence is partial: something was written that is not kept.
    #[must_use]
    pub fn partial(&self) -> bool {
        self.stdout.truncated || self.stderr.truncated
    }

    /// Whether both streams fit what a preflight may keep.
    pub(super) fn fits_preflight(&self) -> bool {
        [&self.stdout, &self.stderr]
            .iter()
            .all(|stream| stream.text.chars().count() <= PREFLIGHT_STREAM_CHARS)
    }
}

/// The command as it is stored: the caller's text after redaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandText {
    /// The text; it differs from what was dispatched when `redacted` is set.
    pub text: String,
    /// Whether redaction changed it.
    pub redacted: bool,
}
