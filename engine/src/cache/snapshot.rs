//! One project as it was read and resolved, with everything that was looked at to make it.
//!
//! The graph is kept as it is searched, and read where it lies ([`super::column`]). What each
//! node was found to depend on is kept beside it, in the order in which it was found, for
//! runs in which a source says something else: it is followed anew, and the graph built again
//! with the numbers that a cold run would give ([`crate::recall`]).

use serde::{Deserialize, Serialize};

use super::column::put_bytes;
use super::frame::Opened;
use crate::digest::Digest;
use crate::graph::{AbsentRow, Edge, EdgeKind, Graph, NodeId, NodeKey, kind_number};
use crate::problem::{NotChecked, Problem, Unchecked};
use crate::runner::Discovery;
use crate::tree::Witness;
use crate::wires::Wires;

/// A project, kept.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) seen: Seen,
    /// As it is built from the wires.
    pub(crate) graph: Graph,
    /// What was not understood at each node.
    pub(crate) problems: Vec<(u32, Problem)>,
    /// What could not be read at each node.
    pub(crate) unread: Vec<(u32, NotChecked)>,
    file: Opened,
}

/// What each node was found to depend on.
pub(crate) struct Found {
    /// What each node stands for.
    pub(crate) nodes: Vec<NodeKey>,
    /// What each depends on, in the same order; without absent candidates.
    pub(crate) wires: Vec<Wires>,
    /// Sorted.
    pub(crate) absent: Vec<AbsentRow>,
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

impl Seen {
    /// Every path whose content was looked at, sorted: neighbours on the disk together.
    pub(crate) fn looked_at(&self) -> Vec<&str> {
        let sources = self.sources.iter().map(|source| source.path.as_str());
        let lacking = self.runners.iter().flat_map(|runner| &runner.lacks).map(|lack| lack.path.as_str());
        let reads = self.reads.iter().chain(self.runners.iter().flat_map(|runner| &runner.reads));
        let codes = self.runners.iter().flat_map(|runner| &runner.codes).map(|code| code.path.as_str());
        let mut paths: Vec<&str> =
            sources.chain(reads.map(|(path, _)| path.as_str())).chain(lacking).chain(codes).collect();
        // A few sorted lists one after the other: a sort that sees them merges them.
        paths.sort();
        paths.dedup();
        paths
    }
}

/// A content of which a runner wanted to know only whether it mentions something, and which
/// does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Lack {
    pub(crate) path: String,
    pub(crate) digest: Digest,
    /// What was looked for.
    pub(crate) words: Vec<String>,
}

/// A content of which a runner looked at the code alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Code {
    pub(crate) path: String,
    pub(crate) digest: Digest,
    /// What [`crate::language::Language::code`] says of it.
    pub(crate) code: Digest,
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
    /// Contents in which it found none of some words, sorted.
    pub(crate) lacks: Vec<Lack>,
    /// Contents of which it looked at the code alone, sorted.
    pub(crate) codes: Vec<Code>,
    /// Whether a child process was asked for: then it must be asked again.
    pub(crate) asked: bool,
    /// Whether it asked for the root: then it must be asked again elsewhere.
    pub(crate) located: bool,
    pub(crate) discovery: Discovery,
}

/// The sections of a project's file: what was seen and what is wrong, the graph, and what
/// each node was found to depend on. `None` when it is too large to be worth keeping.
pub(super) fn encode(seen: &Seen, graph: &Graph, wires: &[Wires]) -> Option<[Vec<u8>; 3]> {
    let mut kinds: Vec<EdgeKind> = Vec::new();
    let mut table = Vec::new();
    let (mut problems, mut unread) = (Vec::new(), Vec::new());
    for (number, wires) in (0u32..).zip(wires) {
        push(&mut table, wires.edges.len())?;
        push(&mut table, wires.imports.len())?;
        for (to, edge) in &wires.edges {
            let kind = kind_number(&mut kinds, edge.kind);
            push(&mut table, to.index())?;
            table.extend(edge.line.to_le_bytes());
            table.push(kind);
        }
        for (number, start) in &wires.imports {
            table.extend(number.to_le_bytes());
            table.extend(start.to_le_bytes());
        }
        problems.extend(wires.problems.iter().map(|p| (number, p)));
        unread.extend(wires.unread.iter().map(|n| (number, n)));
    }
    let words = postcard::to_allocvec(&(seen, problems, unread)).ok()?;
    let mut found = Vec::with_capacity(table.len() + 64);
    put_bytes(&mut found, &postcard::to_allocvec(&kinds).ok()?)?;
    push(&mut found, wires.len())?;
    found.append(&mut table);
    Some([words, graph.encode()?, found])
}

impl Snapshot {
    /// `None` when these are no such bytes.
    pub(super) fn decode(file: Opened) -> Option<Self> {
        let (seen, problems, unread) = postcard::from_bytes(&file).ok()?;
        let graph = Graph::decode(file.section(1)?)?;
        Some(Self { seen, graph, problems, unread, file })
    }

    /// What each node was found to depend on; `None` when that is damaged.
    pub(crate) fn found(&self) -> Option<Found> {
        let mut part = self.file.section(2)?;
        let kinds: Vec<EdgeKind> = postcard::from_bytes(part.take_bytes()?.bytes()).ok()?;
        let mut table = Table(part.bytes());
        let nodes: Vec<NodeKey> = self.graph.nodes().map(|node| self.graph.key(node).clone()).collect();
        let count = table.number()?;
        (count as usize == nodes.len()).then_some(())?;
        let mut wires: Vec<Wires> = Vec::with_capacity(nodes.len());
        for node in self.graph.nodes() {
            let (edges, imports) = (table.number()?, table.number()?);
            let mut one = Wires { traits: self.graph.traits(node).to_vec(), ..Wires::default() };
            one.edges.reserve_exact((edges as usize).min(table.0.len()));
            for _ in 0..edges {
                let row = table.take::<9>()?;
                let [a, b, c, d, e, f, g, h, kind] = *row;
                let to = u32::from_le_bytes([a, b, c, d]);
                let line = u32::from_le_bytes([e, f, g, h]);
                let kind = *kinds.get(usize::from(kind))?;
                (to < count).then_some(())?;
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
        for (number, problem) in &self.problems {
            wires.get_mut(*number as usize)?.problems.push(problem.clone());
        }
        for (number, unread) in &self.unread {
            wires.get_mut(*number as usize)?.unread = Some(unread.clone());
        }
        let absent = self.graph.absent().collect();
        table.0.is_empty().then_some(Found { nodes, wires, absent })
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
}
