//! The digest of some bytes, as the cache and its keys use it.

use serde::{Deserialize, Serialize};

use crate::problem::Unchecked;

/// The first 16 bytes of the BLAKE3 hash of some bytes: as many as make an accident as well
/// as an intended collision (2^64 work) out of the question for a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// Of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::first(&blake3::hash(bytes))
    }

    /// Of several parts, kept apart by their lengths.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::first(&hasher.finalize())
    }

    /// What stands for a file in a list of contents: its digest, or why it has none.
    pub(crate) fn or_reason(read: Result<Self, Unchecked>) -> Self {
        read.unwrap_or_else(|reason| Self::of_parts([&b"unchecked"[..], reason.word().as_bytes()]))
    }

    fn first(hash: &blake3::Hash) -> Self {
        let (first, _) = hash.as_bytes().split_at(16);
        Self(first.try_into().expect("a BLAKE3 hash has 32 bytes"))
    }
}
