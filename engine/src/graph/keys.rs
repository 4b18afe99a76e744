//! What nodes stand for: values in memory, or rows of the cache of which a block is read
//! when somebody asks for one of them.

use std::sync::OnceLock;

use super::NodeKey;
use crate::cache::column::{Column, Part, Row, put_bytes, u32_at};
use crate::resolve::Listing;

/// How many rows are read at once: most questions come in runs.
const BLOCK: usize = 32;

#[derive(Debug)]
pub(super) enum Keys {
    Owned(Vec<NodeKey>),
    Kept { rows: Column<KeyRow>, words: Part, blocks: Vec<OnceLock<Box<[NodeKey]>>> },
}

impl Default for Keys {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Owned(keys) => keys.len(),
            Self::Kept { rows, .. } => rows.len(),
        }
    }

    pub(super) fn get(&self, at: usize) -> &NodeKey {
        match self {
            Self::Owned(keys) => &keys[at],
            Self::Kept { rows, words, blocks } => {
                let start = at / BLOCK * BLOCK;
                let read = || rows.range(start..start + BLOCK).map(|row| row.key(words.bytes())).collect();
                &blocks[at / BLOCK].get_or_init(read)[at - start]
            }
        }
    }

    pub(super) fn put(&self, into: &mut Vec<u8>) -> Option<()> {
        let mut words = Vec::new();
        let mut rows = Vec::with_capacity(self.len());
        for at in 0..self.len() {
            rows.push(KeyRow::of(self.get(at), &mut words)?);
        }
        Column::Owned(rows).put(into)?;
        put_bytes(into, &words)
    }

    pub(super) fn take(part: &mut Part) -> Option<Self> {
        let rows: Column<KeyRow> = part.take_column()?;
        let words = part.take_bytes()?;
        let blocks = (0..rows.len().div_ceil(BLOCK)).map(|_| OnceLock::new()).collect();
        Some(Self::Kept { rows, words, blocks })
    }
}

/// A kind, a number, and where the words lie. Of a listing, the number is the length of its
/// directory, which comes before its glob.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRow {
    kind: u8,
    number: u32,
    start: u32,
    length: u32,
}

impl Row for KeyRow {
    const SIZE: usize = 13;

    fn read(bytes: &[u8]) -> Self {
        Self { kind: bytes[0], number: u32_at(bytes, 1), start: u32_at(bytes, 5), length: u32_at(bytes, 9) }
    }

    fn write(self, into: &mut Vec<u8>) {
        into.push(self.kind);
        for number in [self.number, self.start, self.length] {
            into.extend(number.to_le_bytes());
        }
    }
}

impl KeyRow {
    fn of(key: &NodeKey, words: &mut Vec<u8>) -> Option<Self> {
        let start = u32::try_from(words.len()).ok()?;
        let (kind, number, text) = match key {
            NodeKey::Test(number) => (0, *number, ""),
            NodeKey::Suite(number) => (1, *number, ""),
            NodeKey::Source { class, path } => (2, *class, &**path),
            NodeKey::Data(path) => (3, 0, &**path),
            NodeKey::Manifest(path) => (4, 0, &**path),
            NodeKey::Listing { listing, contents } => {
                words.extend_from_slice(listing.dir.as_bytes());
                (5 + u8::from(*contents), u32::try_from(listing.dir.len()).ok()?, listing.glob.as_str())
            }
            NodeKey::Package(name) => (7, 0, &**name),
            NodeKey::Env(name) => (8, 0, &**name),
            NodeKey::Sources { class, dir } => (9, *class, &**dir),
        };
        words.extend_from_slice(text.as_bytes());
        Some(Self { kind, number, start, length: u32::try_from(words.len()).ok()? - start })
    }

    fn key(self, words: &[u8]) -> NodeKey {
        let text = &words[self.start as usize..][..self.length as usize];
        let text = std::str::from_utf8(text).expect("it was written as text, and its checksum is right");
        let number = self.number;
        match self.kind {
            0 => NodeKey::Test(number),
            1 => NodeKey::Suite(number),
            2 => NodeKey::Source { class: number, path: text.into() },
            3 => NodeKey::Data(text.into()),
            4 => NodeKey::Manifest(text.into()),
            kind @ (5 | 6) => {
                let (dir, glob) = text.split_at(number as usize);
                let listing = Listing { dir: dir.to_owned(), glob: glob.to_owned() };
                NodeKey::Listing { listing, contents: kind == 6 }
            }
            7 => NodeKey::Package(text.into()),
            8 => NodeKey::Env(text.into()),
            9 => NodeKey::Sources { class: number, dir: text.into() },
            _ => unreachable!("only these are written, and the checksum is right"),
        }
    }
}
