//! The frame around each file of the cache: whose it is, and whether it is whole.
//!
//! `owedcache` `FORMAT` fingerprint(16) checksum(16) payload. The checksum covers the
//! payload; a file that was cut, or of which a bit was lost, is no file.

use crate::digest::Digest;

const MAGIC: &[u8; 9] = b"owedcache";
/// Changes with this module and with the layout of any payload.
const FORMAT: u8 = 2;
const HEAD: usize = MAGIC.len() + 1 + 16 + 16;

/// `payload` in its frame.
pub(super) fn seal(payload: &[u8], fingerprint: Digest) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.push(FORMAT);
    bytes.extend_from_slice(&fingerprint.0);
    bytes.extend_from_slice(&Digest::of(payload).0);
    bytes.extend_from_slice(payload);
    bytes
}

/// A file that is whole, of which the payload counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened(Vec<u8>);

impl std::ops::Deref for Opened {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0[HEAD..]
    }
}

/// The payload, or what is wrong with the file.
pub(super) fn open(bytes: Vec<u8>, fingerprint: Digest) -> Result<Opened, &'static str> {
    if bytes.len() < HEAD || !bytes.starts_with(MAGIC) {
        return Err("is damaged");
    }
    let (head, payload) = bytes.split_at(HEAD);
    let rest = &head[MAGIC.len()..];
    if rest[0] != FORMAT || rest[1..17] != fingerprint.0 {
        return Err("was made by another version");
    }
    if rest[17..] != Digest::of(payload).0 {
        return Err("is damaged");
    }
    Ok(Opened(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_file_of_the_same_version_opens() {
        let mine = Digest::of(b"mine");
        let sealed = seal(b"payload", mine);
        assert_eq!(open(sealed.clone(), mine).as_deref(), Ok(&b"payload"[..]));
        assert_eq!(open(sealed.clone(), Digest::of(b"other")), Err("was made by another version"));
        for cut in 0..sealed.len() {
            assert_eq!(open(sealed[..cut].to_vec(), mine), Err("is damaged"), "cut at {cut}");
        }
        for at in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(open(flipped, mine).is_err(), "bit {at}");
        }
    }
}
