//! What is kept of one content: its facts, or why it has none.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::facts::FileFacts;
use crate::language::Language;
use crate::path;
use crate::problem::Unchecked;
use crate::project::Reading;

/// What a reader said about some bytes under some name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    /// How many bytes; whether that is too large is for the settings of each run to say.
    pub(crate) size: u64,
    /// The facts; a reason is one that lies in the bytes ([`Unchecked::Binary`],
    /// [`Unchecked::NotUtf8`]).
    pub(crate) facts: Result<FileFacts, Unchecked>,
}

impl Content {
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        postcard::to_allocvec(self).ok()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// The key of what `language` says about a content at `path`: of the path, only the name
/// may influence the facts ([`crate::language::SourceFile`]).
pub(crate) fn key_of(language: &dyn Language, path: &str, reading: Reading, content: Digest) -> Digest {
    let reading = match reading {
        Reading::Files => &b"files"[..],
        Reading::Declarations => b"declarations",
    };
    Digest::of_parts([
        reading,
        language.name().as_bytes(),
        language.reader_version().as_bytes(),
        path::basename(path).as_bytes(),
        &content.0,
    ])
}
