//! Searches: who depends on something, and what something depends on.

use super::tables::{Direction, Graph};
use super::{Edge, NodeId};

impl Graph {
    /// Breadth-first distances from `seeds` to everything that depends on them, along
    /// edges that `follow` accepts. Among equally short ways the one through the lowest
    /// node number is taken.
    pub fn dependents(&self, seeds: &[NodeId], follow: impl Fn(Edge) -> bool) -> Reach {
        self.reach(seeds, Direction::Incoming, follow)
    }

    /// Breadth-first distances from `seeds` to everything they depend on.
    pub fn dependencies(&self, seeds: &[NodeId], follow: impl Fn(Edge) -> bool) -> Reach {
        self.reach(seeds, Direction::Outgoing, follow)
    }

    /// What each of `from` depends on, itself included, sorted. Strongly connected parts are
    /// searched once: the cost is that of the graph and of the answer.
    pub fn closures(&self, from: &[NodeId]) -> Vec<Vec<NodeId>> {
        // Sets of all parts at once would not fit for very large graphs.
        const MOST: usize = 40_000;
        let count = self.size().0;
        if count > MOST || from.len() < 8 {
            return from
                .iter()
                .map(|&node| {
                    let mut closure = self.dependencies(&[node], |_| true).order;
                    closure.sort_unstable();
                    closure
                })
                .collect();
        }
        let mut plain = petgraph::graph::DiGraph::<(), (), u32>::with_capacity(count, self.size().1);
        for _ in self.nodes() {
            plain.add_node(());
        }
        for node in self.nodes() {
            for (to, _) in self.edges(node, Direction::Outgoing) {
                plain.add_edge(node, to, ());
            }
        }
        // Targets come before what depends on them.
        let parts = petgraph::algo::kosaraju_scc(&plain);
        let mut part_of = vec![0_usize; count];
        for (number, part) in parts.iter().enumerate() {
            for node in part {
                part_of[node.index()] = number;
            }
        }
        let words = count.div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let mut set = vec![0_u64; words];
            for &node in part {
                set[node.index() / 64] |= 1 << (node.index() % 64);
                for (to, _) in self.edges(node, Direction::Outgoing) {
                    let other = part_of[to.index()];
                    if other != number {
                        for (word, theirs) in set.iter_mut().zip(&sets[other]) {
                            *word |= theirs;
                        }
                    }
                }
            }
            sets.push(set);
        }
        from.iter().map(|node| members(&sets[part_of[node.index()]])).collect()
    }

    fn reach(&self, seeds: &[NodeId], direction: Direction, follow: impl Fn(Edge) -> bool) -> Reach {
        let mut steps = vec![Step { distance: UNREACHED, toward: NodeId::new(0) }; self.size().0];
        // Everything reached so far, nearest first; the rest of it is the queue.
        let mut order = seeds.to_vec();
        order.sort_unstable();
        order.dedup();
        for &seed in &order {
            steps[seed.index()] = Step { distance: 0, toward: seed };
        }
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(&id) = order.get(at) {
            at += 1;
            let distance = steps[id.index()].distance + 1;
            next.clear();
            let edges = self.edges(id, direction).filter(|(_, edge)| follow(*edge));
            let others = edges.map(|(other, _)| other);
            next.extend(others.filter(|other| steps[other.index()].distance == UNREACHED));
            next.sort_unstable();
            for &other in &next {
                let step = &mut steps[other.index()];
                if step.distance == UNREACHED {
                    *step = Step { distance, toward: id };
                    order.push(other);
                }
            }
        }
        Reach { steps, order }
    }
}

/// The nodes of a set of bits.
fn members(set: &[u64]) -> Vec<NodeId> {
    let mut list = Vec::new();
    for (at, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            list.push(NodeId::new(at * 64 + rest.trailing_zeros() as usize));
            rest &= rest - 1;
        }
    }
    list
}

const UNREACHED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Step {
    distance: u32,
    toward: NodeId,
}

/// What a search reached, and the way back.
#[derive(Debug)]
pub struct Reach {
    /// By node.
    steps: Vec<Step>,
    order: Vec<NodeId>,
}

impl Reach {
    fn step(&self, id: NodeId) -> Option<Step> {
        self.steps.get(id.index()).filter(|step| step.distance != UNREACHED).copied()
    }

    /// Whether `id` was reached.
    pub fn contains(&self, id: NodeId) -> bool {
        self.step(id).is_some()
    }

    /// Number of steps from `id` to the nearest seed.
    pub fn distance(&self, id: NodeId) -> Option<u32> {
        self.step(id).map(|step| step.distance)
    }

    /// Everything reached, nearest first.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// From `id` to its nearest seed, both included; empty when it was not reached.
    pub fn chain(&self, id: NodeId) -> Vec<NodeId> {
        let mut chain = Vec::new();
        let mut at = id;
        while let Some(step) = self.step(at) {
            chain.push(at);
            if step.toward == at {
                break;
            }
            at = step.toward;
        }
        chain
    }
}
