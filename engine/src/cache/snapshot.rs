//! One project as it was read and resolved, with everything that was looked at to make it.
//!
//! What each node depends on is kept as it was found, by number, and not as a finished
//! graph: so a source that says something else can be followed anew, and the graph built
//! again with the numbers that a cold run would give ([`crate::recall`]).

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::closure::Wires;
use crate::digest::Digest;
use crate::graph::{Edge, EdgeKind, NodeId, NodeKey, Trait};
use crate::problem::{NotChecked, Problem, Unchecked};
use crate::runner::Discovery;
use crate::tree::Witness;

/// A project, kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) seen: Seen,
    /// What each node stands for.
    pub(crate) nodes: Vec<NodeKey>,
    /// What each depends on, in the same order; without absent candidates.
    pub(crate) wires: Vec<Wires>,
    /// Hash, node and line of each absent candidate, sorted.
    pub(crate) absent: Vec<(u64, NodeId, u32)>,
}

/// What was looked at, and what was found in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Of the settings and of all that is known about plugins.
    pub(crate) setting: Digest,
    /// Which paths there are.
    pub(crate) layout: Digest,
    /// What was looked at beyond them.
    pub(crate) witness: Witness,
    /// Of the absolute root.
    pub(crate) root: Digest,
    /// Whether a resolver asked for it: then everything depends on it.
    pub(crate) located: bool,
    /// Each source of the inventory, sorted by path.
    pub(crate) sources: Vec<Source>,
    /// What each runner did, in order.
    pub(crate) runners: Vec<RunnerSeen>,
    /// Contents that resolvers read, sorted by path.
    pub(crate) reads: Vec<(String, Digest)>,
    /// Sources outside of the inventory that closures name, sorted by path; their contents
    /// are among the reads.
    pub(crate) beyond: Vec<(String, Digest)>,
}

/// A source of the inventory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) path: String,
    /// Of its content, or of the reason for which it has none.
    pub(crate) digest: Digest,
    pub(crate) state: State,
}

/// Whether a source has facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    Read,
    /// It has, but not all; where its first damage is.
    Damaged(Unchecked, u32),
    Unread(Unchecked),
}

/// What a runner looked at and found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunnerSeen {
    /// Contents that it read, sorted by path.
    pub(crate) reads: Vec<(String, Digest)>,
    /// Whether a child process was asked for: then it must be asked again.
    pub(crate) asked: bool,
    /// Whether it asked for the root: then it must be asked again elsewhere.
    pub(crate) located: bool,
    pub(crate) discovery: Discovery,
}

/// The part that is not a table of numbers.
#[derive(Serialize, Deserialize)]
struct Words<S, N> {
    seen: S,
    nodes: N,
    kinds: Vec<EdgeKind>,
    traits: Vec<(u32, Trait)>,
    problems: Vec<(u32, Problem)>,
    unread: Vec<(u32, NotChecked)>,
}

impl Snapshot {
    /// `None` when it is too large to be worth keeping.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut kinds: Vec<EdgeKind> = Vec::new();
        let mut numbers: FxHashMap<EdgeKind, u8> = FxHashMap::default();
        let mut table = Vec::new();
        let (mut traits, mut problems, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for (number, wires) in (0u32..).zip(&self.wires) {
            push(&mut table, wires.edges.len())?;
            push(&mut table, wires.imports.len())?;
            for (to, edge) in &wires.edges {
                let next = u8::try_from(kinds.len()).ok()?;
                let kind = *numbers.entry(edge.kind).or_insert_with(|| {
                    kinds.push(edge.kind);
                    next
                });
                push(&mut table, to.index())?;
                table.extend(edge.line.to_le_bytes());
                table.push(kind);
            }
            for (number, start) in &wires.imports {
                table.extend(number.to_le_bytes());
                table.extend(start.to_le_bytes());
            }
            traits.extend(wires.traits.iter().map(|t| (number, t.clone())));
            problems.extend(wires.problems.iter().map(|p| (number, p.clone())));
            unread.extend(wires.unread.iter().map(|n| (number, n.clone())));
        }
        push(&mut table, self.absent.len())?;
        for (path, node, line) in &self.absent {
            table.extend(path.to_le_bytes());
            push(&mut table, node.index())?;
            table.extend(line.to_le_bytes());
        }
        let words = Words { seen: &self.seen, nodes: &self.nodes, kinds, traits, problems, unread };
        let mut bytes = vec![0; 4];
        bytes = postcard::to_extend(&words, bytes).ok()?;
        let end = u32::try_from(bytes.len()).ok()?;
        bytes[..4].copy_from_slice(&end.to_le_bytes());
        bytes.append(&mut table);
        Some(bytes)
    }

    /// `None` when these are no such bytes.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let end = usize::try_from(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?)).ok()?;
        let words: Words<Seen, Vec<NodeKey>> = postcard::from_bytes(bytes.get(4..end)?).ok()?;
        let mut table = Table(bytes.get(end..)?);
        let count = words.nodes.len();
        let mut wires: Vec<Wires> = Vec::with_capacity(count);
        for _ in 0..count {
            let (edges, imports) = (table.number()?, table.number()?);
            let mut one = Wires::default();
            one.edges.reserve_exact((edges as usize).min(table.0.len()));
            for _ in 0..edges {
                let row = table.take::<9>()?;
                let [a, b, c, d, e, f, g, h, kind] = *row;
                let to = u32::from_le_bytes([a, b, c, d]);
                let line = u32::from_le_bytes([e, f, g, h]);
                let kind = *words.kinds.get(usize::from(kind))?;
                (to < u32::try_from(count).ok()?).then_some(())?;
                one.edges.push((NodeId::new(to as usize), Edge { kind, line }));
            }
            one.imports.reserve_exact((imports as usize).min(table.0.len()));
            let mut last = 0;
            for _ in 0..imports {
                let (number, start) = (table.number()?, table.number()?);
                (last <= start && start <= edges).then_some(())?;
                last = start;
                one.imports.push((number, start));
            }
            wires.push(one);
        }
        let absent = table.absent(count)?;
        for (number, fact) in words.traits {
            wires.get_mut(number as usize)?.traits.push(fact);
        }
        for (number, problem) in words.problems {
            wires.get_mut(number as usize)?.problems.push(problem);
        }
        for (number, unread) in words.unread {
            wires.get_mut(number as usize)?.unread = Some(unread);
        }
        table.0.is_empty().then_some(Self { seen: words.seen, nodes: words.nodes, wires, absent })
    }
}

fn push(table: &mut Vec<u8>, number: usize) -> Option<()> {
    table.extend(u32::try_from(number).ok()?.to_le_bytes());
    Some(())
}

struct Table<'b>(&'b [u8]);

impl<'b> Table<'b> {
    fn take<const N: usize>(&mut self) -> Option<&'b [u8; N]> {
        let (row, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(row)
    }

    fn number(&mut self) -> Option<u32> {
        self.take::<4>().map(|four| u32::from_le_bytes(*four))
    }

    fn absent(&mut self, nodes: usize) -> Option<Vec<(u64, NodeId, u32)>> {
        let count = self.number()? as usize;
        let (rows, rest) = self.0.split_at_checked(count.checked_mul(16)?)?;
        self.0 = rest;
        let mut absent = Vec::with_capacity(count);
        for row in rows.chunks_exact(16) {
            let (path, rest) = row.split_first_chunk::<8>()?;
            let (node, line) = rest.split_first_chunk::<4>()?;
            let node = u32::from_le_bytes(*node) as usize;
            (node < nodes).then_some(())?;
            let line = u32::from_le_bytes(line.try_into().ok()?);
            absent.push((u64::from_le_bytes(*path), NodeId::new(node), line));
        }
        Some(absent)
    }
}
