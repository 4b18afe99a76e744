//! The frame around each file of the cache: whose it is, and whether it is whole.
//!
//! `owedcache` `FORMAT` fingerprint(16) count(1), then for each section its length (8) and
//! checksum(16), then the checksum(16) of all that; then the sections. A section is checked
//! when it is opened: what nobody needs is not even touched. A file that was cut, or of which
//! a bit was lost, is no file.
//!
//! The checksum is XXH3 (128 bits): it is there for accidents. Whoever could write a wrong cache
//! on purpose could write any checksum, too, so a cryptographic one would cost more and add nothing.
//! What it refuses to do: it is no key. What a content is known by is a [`Digest`].

use std::ops::Range;

use rayon::prelude::*;
use twox_hash::XxHash3_128;

use super::column::{Bytes, Part};
use crate::digest::Digest;

const MAGIC: &[u8; 9] = b"owedcache";
/// Changes with this module and with the layout of any payload.
const FORMAT: u8 = 4;
const FIXED: usize = MAGIC.len() + 1 + 16 + 1;
const ROW: usize = 8 + 16;

/// `sections` in their frame.
pub(super) fn seal(sections: &[&[u8]], fingerprint: Digest) -> Vec<u8> {
    let size = sections.iter().map(|section| ROW + section.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(FIXED + size + 16);
    bytes.extend_from_slice(MAGIC);
    bytes.push(FORMAT);
    bytes.extend_from_slice(&fingerprint.0);
    bytes.push(u8::try_from(sections.len()).expect("a file has a few sections"));
    for section in sections {
        bytes.extend_from_slice(&(section.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&checksum(section));
    }
    let head = sum_of(&bytes);
    bytes.extend_from_slice(&head);
    sections.iter().for_each(|section| bytes.extend_from_slice(section));
    bytes
}

type Sum = [u8; 16];

fn sum_of(bytes: &[u8]) -> Sum {
    XxHash3_128::oneshot(bytes).to_le_bytes()
}

/// Of a large section: in pieces, in parallel. Its length is in the head.
fn checksum(section: &[u8]) -> Sum {
    const PIECE: usize = 1 << 20;
    if section.len() <= PIECE {
        return sum_of(section);
    }
    let pieces: Vec<Sum> = section.par_chunks(PIECE).map(sum_of).collect();
    sum_of(pieces.as_flattened())
}

/// A file of ours, whose first section is whole.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    file: Part,
    sections: Vec<(Range<usize>, Sum)>,
}

impl std::ops::Deref for Opened {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let (range, _) = &self.sections[0];
        &self.file.bytes()[range.clone()]
    }
}

impl Opened {
    /// The first section, which was checked when the file was opened.
    pub(super) fn first(&self) -> Option<Part> {
        let (range, _) = self.sections.first()?;
        self.file.part(range.clone())
    }

    /// A section; `None` when it is damaged.
    pub(super) fn section(&self, number: usize) -> Option<Part> {
        let (range, sum) = self.sections.get(number)?;
        let part = self.file.part(range.clone())?;
        (checksum(part.bytes()) == *sum).then_some(part)
    }
}

/// The file, or what is wrong with it.
pub(super) fn open(bytes: Bytes, fingerprint: Digest) -> Result<Opened, &'static str> {
    const DAMAGED: &str = "is damaged";
    let file = Part::whole(bytes);
    let all = file.bytes();
    if all.len() < FIXED || !all.starts_with(MAGIC) {
        return Err(DAMAGED);
    }
    let rest = &all[MAGIC.len()..];
    if rest[0] != FORMAT || rest[1..17] != fingerprint.0 {
        return Err("was made by another version");
    }
    let head = FIXED + usize::from(rest[17]) * ROW;
    if all.get(head..head + 16) != Some(&sum_of(&all[..head.min(all.len())])[..]) {
        return Err(DAMAGED);
    }
    let mut start = head + 16;
    let mut sections = Vec::new();
    for row in all[FIXED..head].chunks_exact(ROW) {
        let (length, sum) = row.split_first_chunk::<8>().ok_or(DAMAGED)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| DAMAGED)?;
        let end = start.checked_add(length).filter(|end| *end <= all.len()).ok_or(DAMAGED)?;
        sections.push((start..end, sum.try_into().map_err(|_| DAMAGED)?));
        start = end;
    }
    let is_whole = start == all.len();
    let opened = Opened { file, sections };
    if is_whole && opened.section(0).is_some() { Ok(opened) } else { Err(DAMAGED) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn opened(bytes: &[u8], fingerprint: Digest) -> Result<Vec<u8>, &'static str> {
        open(Arc::new(bytes.to_vec()), fingerprint).map(|opened| opened.to_vec())
    }

    #[test]
    fn only_the_whole_file_of_the_same_version_opens() {
        let mine = Digest::of(b"mine");
        let sealed = seal(&[b"payload"], mine);
        assert_eq!(opened(&sealed, mine), Ok(b"payload".to_vec()));
        assert_eq!(opened(&sealed, Digest::of(b"other")), Err("was made by another version"));
        for cut in 0..sealed.len() {
            assert_eq!(opened(&sealed[..cut], mine), Err("is damaged"), "cut at {cut}");
        }
        assert_eq!(opened(&[&sealed[..], b"x"].concat(), mine), Err("is damaged"), "longer");
        for at in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(opened(&flipped, mine).is_err(), "bit {at}");
        }
    }

    #[test]
    fn a_section_is_checked_when_it_is_opened() {
        let mine = Digest::of(b"mine");
        let large = vec![7; (1 << 20) + 9];
        let sealed = seal(&[b"first", &large, b""], mine);
        let open = |bytes: &[u8]| open(Arc::new(bytes.to_vec()), mine).unwrap();
        let whole = open(&sealed);
        assert_eq!(whole.section(1).unwrap().bytes(), large);
        assert_eq!(whole.section(2).unwrap().bytes(), b"");
        assert!(whole.section(3).is_none());
        let mut flipped = sealed.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let flipped = open(&flipped);
        assert_eq!(&*flipped, b"first");
        assert!(flipped.section(1).is_none());
    }
}
