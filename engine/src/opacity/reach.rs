//! Which tests reach which causes, for all of both at once.
//!
//! A walk from every test would look at a shared file as often as there are tests. Here
//! the graph is taken apart into its rings (strongly connected components: Kosaraju's
//! two passes, without recursion), and sets of causes are handed up through them once.

use std::collections::VecDeque;

use super::module::UnitId;
use super::units::Units;

const NONE: u32 = u32::MAX;

/// Sets of causes, one a ring.
pub(crate) struct Reached {
    ring_of: Vec<u32>,
    words: usize,
    /// `words` for each ring.
    sets: Vec<u64>,
}

impl Reached {
    /// Hands `causes` (unit of each) up through the graph.
    pub(crate) fn new(units: &Units, back: &Units, causes: &[UnitId]) -> Self {
        let (ring_of, rings) = rings(units, back);
        let words = causes.len().div_ceil(64);
        let mut sets = vec![0_u64; rings.len() * words];
        for (number, &unit) in causes.iter().enumerate() {
            sets[ring_of[unit as usize] as usize * words + number / 64] |= 1 << (number % 64);
        }
        // Rings come with what they reach before them.
        for (ring, members) in rings.iter().enumerate() {
            let (below, own) = sets.split_at_mut(ring * words);
            let own = &mut own[..words];
            for &member in members {
                for &to in units.of(member) {
                    let other = ring_of[to as usize] as usize;
                    if other != ring {
                        let other = &below[other * words..(other + 1) * words];
                        own.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
                    }
                }
            }
        }
        Self { ring_of, words, sets }
    }

    /// The numbers of the causes that `unit` reaches, ascending.
    pub(crate) fn causes(&self, unit: UnitId) -> Vec<usize> {
        let ring = self.ring_of[unit as usize] as usize;
        let set = &self.sets[ring * self.words..(ring + 1) * self.words];
        let mut found = Vec::new();
        for (at, word) in set.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                found.push(at * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
        found
    }
}

/// The ring of each unit, and the members of each ring; what a ring reaches has a lower
/// number than itself.
fn rings(units: &Units, back: &Units) -> (Vec<u32>, Vec<Vec<UnitId>>) {
    // First pass: units in the order in which a depth-first search over reversed edges
    // leaves them.
    let mut left = Vec::with_capacity(units.len());
    let mut seen = vec![false; units.len()];
    let mut stack: Vec<(UnitId, usize)> = Vec::new();
    for start in 0..number(units.len()) {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        stack.push((start, 0));
        while let Some((unit, at)) = stack.last_mut() {
            match back.of(*unit).get(*at) {
                Some(&next) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    left.push(*unit);
                    stack.pop();
                }
            }
        }
    }
    // Second pass: whatever a unit reaches and is not taken yet is in its ring.
    let mut ring_of = vec![NONE; units.len()];
    let mut rings: Vec<Vec<UnitId>> = Vec::new();
    for &start in left.iter().rev() {
        if ring_of[start as usize] != NONE {
            continue;
        }
        let ring = number(rings.len());
        let mut members = vec![start];
        ring_of[start as usize] = ring;
        let mut at = 0;
        while at < members.len() {
            for &next in units.of(members[at]) {
                if ring_of[next as usize] == NONE {
                    ring_of[next as usize] = ring;
                    members.push(next);
                }
            }
            at += 1;
        }
        rings.push(members);
    }
    (ring_of, rings)
}

/// Breadth-first from some units against the edges: for each unit that reaches one, the
/// next step of a shortest way. Among equally short ways the lowest number is taken.
pub(crate) struct Way {
    next: Vec<u32>,
}

impl Way {
    /// Searches.
    pub(crate) fn to(back: &Units, goals: &[UnitId]) -> Self {
        let mut next = vec![NONE; back.len()];
        let mut queue: VecDeque<UnitId> = VecDeque::new();
        let mut sorted = goals.to_vec();
        sorted.sort_unstable();
        for goal in sorted {
            if next[goal as usize] == NONE {
                next[goal as usize] = goal;
                queue.push_back(goal);
            }
        }
        while let Some(unit) = queue.pop_front() {
            for &from in back.of(unit) {
                if next[from as usize] == NONE {
                    next[from as usize] = unit;
                    queue.push_back(from);
                }
            }
        }
        Self { next }
    }

    /// The way from `unit` to its nearest goal, both included; `None` when there is none.
    pub(crate) fn from(&self, unit: UnitId) -> Option<Vec<UnitId>> {
        let mut way = vec![unit];
        let mut at = unit;
        loop {
            let next = self.next[at as usize];
            match next {
                NONE => return None,
                same if same == at => return Some(way),
                next => {
                    way.push(next);
                    at = next;
                }
            }
        }
    }
}

fn number(of: usize) -> u32 {
    u32::try_from(of).expect("there are fewer than four thousand million units")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_handed_up_through_rings() {
        // 0 -> 1 <-> 2 -> 3; 4 -> 3; 5 alone.
        let units = Units::new([vec![1], vec![2], vec![1, 3], vec![], vec![3], vec![]]);
        let back = units.reversed();
        let reached = Reached::new(&units, &back, &[3, 1, 5]);
        let causes: Vec<Vec<usize>> = (0..6).map(|unit| reached.causes(unit)).collect();
        assert_eq!(causes, [vec![0, 1], vec![0, 1], vec![0, 1], vec![0], vec![0], vec![2]]);
        let way = Way::to(&back, &[3]);
        assert_eq!(way.from(0), Some(vec![0, 1, 2, 3]));
        assert_eq!(way.from(5), None);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let length = 200_000;
        let chain = (0..length).map(|at| if at + 1 < length { vec![at + 1] } else { vec![] });
        let units = Units::new(chain);
        let back = units.reversed();
        let reached = Reached::new(&units, &back, &[length - 1]);
        assert_eq!(reached.causes(0), [0]);
        assert_eq!(Way::to(&back, &[length - 1]).from(0).map(|way| way.len()), Some(length as usize));
    }
}
