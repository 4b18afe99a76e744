//! Stable 64-bit hashes of what a symbol stands for: FNV-1a with a final mix (the
//! finaliser of MurmurHash3). They end up in files that people commit, so that they may
//! not depend on the release of a library.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// What kind of thing is hashed: equal texts of different kinds have different hashes.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    /// A kind of node, an operator or a flag.
    Node = 1,
    /// A name that is bound outside the function.
    Name = 2,
    /// A member, a key or another name that needs no binding.
    Member = 3,
    /// A nested function or class, by its digest.
    Nested = 4,
}

/// The hash of `text` as a thing of kind `tag`.
pub(crate) const fn hash(tag: Tag, text: &[u8]) -> u64 {
    let mut value = (BASIS ^ tag as u64).wrapping_mul(PRIME);
    let mut at = 0;
    while at < text.len() {
        value = (value ^ text[at] as u64).wrapping_mul(PRIME);
        at += 1;
    }
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}
