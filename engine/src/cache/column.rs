//! Tables of numbers that are either in memory or in a file of the cache, and are read the
//! same way. What lies in a file is read where it lies: nothing is decoded, and what nobody
//! asks for is not touched.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a file: in memory, or mapped.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A part of a file.
#[derive(Clone)]
pub(crate) struct Part {
    bytes: Bytes,
    range: Range<usize>,
}

impl Part {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        let range = 0..(*bytes).as_ref().len();
        Self { bytes, range }
    }

    /// `range` of it, if it has that many bytes.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Self> {
        let (start, end) =
            (self.range.start.checked_add(range.start)?, self.range.start.checked_add(range.end)?);
        (start <= end && end <= self.range.end)
            .then(|| Self { bytes: Arc::clone(&self.bytes), range: start..end })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &(*self.bytes).as_ref()[self.range.clone()]
    }

    /// Cuts a column off its beginning: the number of rows, and the rows.
    pub(crate) fn take_column<T: Row>(&mut self) -> Option<Column<T>> {
        let count = u32::from_le_bytes(*self.bytes().first_chunk::<4>()?) as usize;
        let end = count.checked_mul(T::SIZE)?.checked_add(4)?;
        let rows = self.part(4..end)?;
        self.range.start += end;
        Some(Column::Kept(rows, PhantomData))
    }

    /// Cuts off bytes that were written with [`put_bytes`].
    pub(crate) fn take_bytes(&mut self) -> Option<Self> {
        let count = u32::from_le_bytes(*self.bytes().first_chunk::<4>()?) as usize;
        let end = count.checked_add(4)?;
        let taken = self.part(4..end)?;
        self.range.start += end;
        Some(taken)
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}

/// Writes bytes with their number; `None` when they are too many.
pub(crate) fn put_bytes(into: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    into.extend(u32::try_from(bytes.len()).ok()?.to_le_bytes());
    into.extend_from_slice(bytes);
    Some(())
}

/// One row of a table, of a fixed number of bytes.
pub(crate) trait Row: Copy {
    /// How many.
    const SIZE: usize;
    /// From as many bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Appends as many bytes.
    fn write(self, into: &mut Vec<u8>);
}

/// The number at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |four| u32::from_le_bytes(*four))
}

/// The number at `at`.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |eight| u64::from_le_bytes(*eight))
}

impl Row for (u32, u32) {
    const SIZE: usize = 8;

    fn read(bytes: &[u8]) -> Self {
        (u32_at(bytes, 0), u32_at(bytes, 4))
    }

    fn write(self, into: &mut Vec<u8>) {
        into.extend(self.0.to_le_bytes());
        into.extend(self.1.to_le_bytes());
    }
}

impl Row for (u64, u32) {
    const SIZE: usize = 12;

    fn read(bytes: &[u8]) -> Self {
        (u64_at(bytes, 0), u32_at(bytes, 8))
    }

    fn write(self, into: &mut Vec<u8>) {
        into.extend(self.0.to_le_bytes());
        into.extend(self.1.to_le_bytes());
    }
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) enum Column<T> {
    Owned(Vec<T>),
    Kept(Part, PhantomData<T>),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl<T: Row> Column<T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Owned(rows) => rows.len(),
            Self::Kept(part, _) => part.range.len() / T::SIZE,
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<T> {
        match self {
            Self::Owned(rows) => rows.get(at).copied(),
            Self::Kept(part, _) => part.bytes().get(at * T::SIZE..(at + 1) * T::SIZE).map(T::read),
        }
    }

    /// The rows of `range`, which ends with the table at the latest.
    pub(crate) fn range(&self, range: Range<usize>) -> impl Iterator<Item = T> + '_ {
        let range = range.start.min(self.len())..range.end.min(self.len());
        let (owned, kept) = match self {
            Self::Owned(rows) => (&rows[range], &[][..]),
            Self::Kept(part, _) => (&[][..], &part.bytes()[range.start * T::SIZE..range.end * T::SIZE]),
        };
        owned.iter().copied().chain(kept.chunks_exact(T::SIZE).map(T::read))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.range(0..self.len())
    }

    /// The first row for which `is_before` does not hold; all for which it does come first.
    pub(crate) fn partition_point(&self, is_before: impl Fn(T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(&is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The rows, to be changed. What lies in a file is read first.
    pub(crate) fn rows(&mut self) -> &mut Vec<T> {
        if let Self::Kept(..) = self {
            *self = Self::Owned(self.iter().collect());
        }
        match self {
            Self::Owned(rows) => rows,
            Self::Kept(..) => unreachable!("it was read just now"),
        }
    }

    /// Writes the number of rows, and the rows; `None` when they are too many.
    pub(crate) fn put(&self, into: &mut Vec<u8>) -> Option<()> {
        into.extend(u32::try_from(self.len()).ok()?.to_le_bytes());
        into.reserve(self.len() * T::SIZE);
        self.iter().for_each(|row| row.write(into));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_table_is_read_like_one_in_memory() {
        let owned: Column<(u64, u32)> = Column::Owned((0..10).map(|n| (u64::from(n) * 3, n)).collect());
        let mut bytes = vec![7];
        owned.put(&mut bytes).unwrap();
        put_bytes(&mut bytes, b"rest").unwrap();
        let mut part = Part::whole(Arc::new(bytes)).part(1..129).unwrap();
        let kept: Column<(u64, u32)> = part.take_column().unwrap();
        assert!(part.take_bytes().is_none(), "its end is cut off");
        assert!(kept.iter().eq(owned.iter()));
        assert!(kept.range(3..5).eq([(9, 3), (12, 4)]));
        assert_eq!((kept.get(9), kept.get(10)), (Some((27, 9)), None));
        assert_eq!(kept.partition_point(|(key, _)| key < 10), 4);
        assert!(Part::whole(Arc::new(vec![9, 0, 0, 0, 1])).take_column::<(u32, u32)>().is_none());
    }
}
