//! How alike two bodies are: bounds that cost little, the longest common subsequence, and an
//! alignment in which every local name has one partner.

use rustc_hash::FxHashMap;

/// Longer bodies are not aligned symbol by symbol (the table would be large); their common
/// subsequence alone decides.
const LONGEST: usize = 3000;

/// No local name stands here.
pub(super) const NOT_LOCAL: u32 = u32::MAX;

/// A body, ready to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// Its symbols, with all local names alike.
    pub(super) symbols: Vec<u64>,
    /// The number of the local name at each symbol, or [`NOT_LOCAL`].
    pub(super) locals: Vec<u32>,
    /// Its symbols, sorted: its multiset of kinds.
    sorted: Vec<u64>,
}

impl Body {
    pub(super) fn new(symbols: Vec<u64>, locals: Vec<u32>) -> Self {
        let mut sorted = symbols.clone();
        sorted.sort_unstable();
        Self { symbols, locals, sorted }
    }

    /// How alike two bodies are in thousandths, when that is at least `least`: twice what
    /// they have in common, in order and with names used alike, by what they have.
    pub(super) fn alike(&self, other: &Self, least: u32) -> Option<u32> {
        let size = self.symbols.len() + other.symbols.len();
        let enough = |common: usize| 2000 * common >= least as usize * size;
        if size == 0
            || !enough(self.symbols.len().min(other.symbols.len()))
            || !enough(common(&self.sorted, &other.sorted))
            || !enough(lcs(&self.symbols, &other.symbols))
        {
            return None;
        }
        let common = self.common_in_names(other);
        enough(common).then(|| u32::try_from(2000 * common / size).unwrap_or(1000))
    }

    /// The length of a longest common subsequence, without the places where a local name
    /// does not stand for its usual partner.
    fn common_in_names(&self, other: &Self) -> usize {
        let pairs = match align(&self.symbols, &other.symbols) {
            Some(pairs) => pairs,
            None => return lcs(&self.symbols, &other.symbols),
        };
        let mut uses: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        let mut names = 0;
        for &(a, b) in &pairs {
            let (a, b) = (self.locals[a], other.locals[b]);
            if a != NOT_LOCAL {
                names += 1;
                *uses.entry((a, b)).or_default() += 1;
            }
        }
        // The most frequent partners first, each name once on either side.
        let mut uses: Vec<((u32, u32), usize)> = uses.into_iter().collect();
        uses.sort_unstable_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
        let (mut left, mut right) = (FxHashMap::default(), FxHashMap::default());
        let mut consistent = 0;
        for ((a, b), count) in uses {
            if *left.entry(a).or_insert(b) == b && *right.entry(b).or_insert(a) == a {
                consistent += count;
            }
        }
        pairs.len() - (names - consistent)
    }
}

/// How many elements two sorted multisets share.
fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    shared
}

/// The length of a longest common subsequence, 64 cells of the table at a time
/// (H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
fn lcs(a: &[u64], b: &[u64]) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let words = short.len().div_ceil(64);
    let mut masks: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
    for (at, symbol) in short.iter().enumerate() {
        masks.entry(*symbol).or_insert_with(|| vec![0; words])[at / 64] |= 1 << (at % 64);
    }
    let mut row = vec![u64::MAX; words];
    for symbol in long {
        let Some(mask) = masks.get(symbol) else { continue };
        let mut carry = false;
        for (cell, mask) in row.iter_mut().zip(mask) {
            let hits = *cell & mask;
            let (sum, first) = cell.overflowing_add(hits);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            *cell = sum | (*cell - hits);
        }
    }
    let zeros: u32 = row.iter().map(|cell| cell.count_zeros()).sum();
    zeros as usize
}

/// The places of a longest common subsequence, in order; `None` for bodies that are too long.
fn align(a: &[u64], b: &[u64]) -> Option<Vec<(usize, usize)>> {
    // What is equal at both ends needs no table.
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (inner_a, inner_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    if inner_a.len() > LONGEST || inner_b.len() > LONGEST {
        return None;
    }
    let width = inner_b.len() + 1;
    let mut table = vec![0u16; (inner_a.len() + 1) * width];
    for i in (0..inner_a.len()).rev() {
        for j in (0..inner_b.len()).rev() {
            table[i * width + j] = if inner_a[i] == inner_b[j] {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let (mut i, mut j) = (0, 0);
    while i < inner_a.len() && j < inner_b.len() {
        if inner_a[i] == inner_b[j] {
            pairs.push((head + i, head + j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs.extend((0..tail).rev().map(|at| (a.len() - 1 - at, b.len() - 1 - at)));
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook table.
    fn slow(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn the_fast_length_is_the_slow_one() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let letters = 1 + next(9);
            let mut text = |most| (0..next(most)).map(|_| next(letters)).collect::<Vec<u64>>();
            let (a, b) = (text(200), text(140));
            assert_eq!(lcs(&a, &b), slow(&a, &b), "{a:?} {b:?}");
            assert_eq!(align(&a, &b).unwrap().len(), slow(&a, &b));
        }
    }

    #[test]
    fn names_must_be_used_alike() {
        let symbols: Vec<u64> = (0..20).map(|at| if at % 2 == 0 { 1 } else { 100 + at }).collect();
        let body = |names: [u32; 10]| {
            let locals = (0..20).map(|at| if at % 2 == 0 { names[at / 2] } else { NOT_LOCAL }).collect();
            Body::new(symbols.clone(), locals)
        };
        let one = body([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        let renamed = body([5, 3, 5, 3, 5, 3, 5, 3, 5, 3]);
        let mixed = body([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(one.alike(&renamed, 700), Some(1000));
        assert_eq!(one.alike(&mixed, 700), Some(750));
        assert_eq!(one.alike(&mixed, 800), None);
    }
}
