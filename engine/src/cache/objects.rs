//! Digests of contents by the ids that git has for them: a blob that was read once need not
//! be read again to know its facts, in no index, commit or checkout.

use rustc_hash::FxHashMap;

use crate::digest::Digest;

/// Digests by the hexadecimal id of the blob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    known: FxHashMap<String, Digest>,
}

impl Objects {
    /// The digest of a blob's bytes.
    pub(crate) fn digest(&self, id: &str) -> Option<Digest> {
        self.known.get(id).copied()
    }

    /// These and more. When there are more than `most`, those that `is_used` does not name
    /// are forgotten.
    pub(crate) fn with(
        &self,
        read: impl IntoIterator<Item = (String, Digest)>,
        most: usize,
        is_used: impl Fn(&str) -> bool,
    ) -> Self {
        let mut known = self.known.clone();
        known.extend(read);
        if known.len() > most {
            known.retain(|id, _| is_used(id));
        }
        Self { known }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut rows: Vec<(&String, &Digest)> = self.known.iter().collect();
        rows.sort_unstable();
        postcard::to_allocvec(&rows).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rows: Vec<(String, Digest)> = postcard::from_bytes(bytes).ok()?;
        Some(Self { known: rows.into_iter().collect() })
    }
}
