//! Which old function is which new one: a minimum-cost assignment over sparse candidates.
//!
//! Candidates fall apart into small components (a name, a body), each of which is solved
//! exactly with the Kuhn–Munkres algorithm. As many pairs as possible are made first, and of
//! the ways to do that the cheapest is taken.

use std::collections::BTreeMap;

use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

/// A pair that may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) cost: u32,
    pub(super) old: usize,
    pub(super) new: usize,
}

/// More than any sum of real costs in a component of the largest size.
const FORBIDDEN: i64 = 1 << 40;

/// Components of more steps than this (rows² × columns) are matched cheapest pair first.
/// Only thousands of equal functions make one; then nearly all costs are equal, too.
const MOST_STEPS: usize = 400_000_000;

/// The pairs, sorted. No old and no new one is in two of them.
pub(super) fn assign(mut candidates: Vec<Candidate>) -> Vec<(usize, usize)> {
    candidates.sort_unstable_by_key(|c| (c.old, c.new, c.cost));
    candidates.dedup_by_key(|c| (c.old, c.new));
    let mut pairs = Vec::new();
    for component in components(&candidates) {
        match component.as_slice() {
            [only] => pairs.push((only.old, only.new)),
            several => pairs.extend(solve(several)),
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Candidates that share no old and no new one, directly or through others, are apart.
fn components(candidates: &[Candidate]) -> Vec<Vec<Candidate>> {
    let mut parent: Vec<usize> = (0..candidates.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let (mut by_old, mut by_new) = (BTreeMap::new(), BTreeMap::new());
    for (at, candidate) in candidates.iter().enumerate() {
        for first in [*by_old.entry(candidate.old).or_insert(at), *by_new.entry(candidate.new).or_insert(at)]
        {
            let (a, b) = (root(&mut parent, first), root(&mut parent, at));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        groups.entry(root(&mut parent, at)).or_default().push(*candidate);
    }
    groups.into_values().collect()
}

fn solve(component: &[Candidate]) -> Vec<(usize, usize)> {
    let sorted = |mut list: Vec<usize>| {
        list.sort_unstable();
        list.dedup();
        list
    };
    let olds = sorted(component.iter().map(|c| c.old).collect());
    let news = sorted(component.iter().map(|c| c.new).collect());
    let (few, many) = (olds.len().min(news.len()), olds.len().max(news.len()));
    if few.saturating_mul(few).saturating_mul(many) > MOST_STEPS {
        return cheapest_first(component);
    }
    let turned = olds.len() > news.len();
    let mut costs = Matrix::new(few, many, FORBIDDEN);
    for candidate in component {
        let old = olds.binary_search(&candidate.old).expect("it is one of them");
        let new = news.binary_search(&candidate.new).expect("it is one of them");
        let place = if turned { (new, old) } else { (old, new) };
        costs[place] = i64::from(candidate.cost);
    }
    let (_, columns) = kuhn_munkres_min(&costs);
    let pairs = columns.into_iter().enumerate().filter(|place| costs[*place] < FORBIDDEN);
    pairs
        .map(|(row, column)| if turned { (olds[column], news[row]) } else { (olds[row], news[column]) })
        .collect()
}

fn cheapest_first(component: &[Candidate]) -> Vec<(usize, usize)> {
    let mut sorted = component.to_vec();
    sorted.sort_unstable();
    let (mut olds, mut news) = (rustc_hash::FxHashSet::default(), rustc_hash::FxHashSet::default());
    let mut pairs = Vec::new();
    for candidate in sorted {
        if !olds.contains(&candidate.old) && !news.contains(&candidate.new) {
            olds.insert(candidate.old);
            news.insert(candidate.new);
            pairs.push((candidate.old, candidate.new));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(candidates: &[(usize, usize, u32)], pairs: &[(usize, usize)]) {
        let list = |order: &mut dyn Iterator<Item = &(usize, usize, u32)>| {
            assign(order.map(|&(old, new, cost)| Candidate { cost, old, new }).collect())
        };
        assert_eq!(list(&mut candidates.iter()), pairs);
        assert_eq!(list(&mut candidates.iter().rev()), pairs, "the order of candidates does not matter");
    }

    #[test]
    fn the_sum_is_least_and_not_each_pair() {
        check(&[(0, 0, 1), (0, 1, 2), (1, 0, 2), (1, 1, 9)], &[(0, 1), (1, 0)]);
    }

    #[test]
    fn more_pairs_come_before_cheaper_ones() {
        check(&[(0, 0, 0), (0, 1, 50), (1, 0, 50)], &[(0, 1), (1, 0)]);
    }

    #[test]
    fn sides_of_unequal_size() {
        check(&[(0, 3, 5), (1, 3, 4), (2, 3, 6)], &[(1, 3)]);
        check(&[(7, 0, 5), (7, 1, 4), (8, 2, 1)], &[(7, 1), (8, 2)]);
        check(&[], &[]);
    }
}
