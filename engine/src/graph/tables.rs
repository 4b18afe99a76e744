//! The tables of a graph, and what is asked of them.

use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::keys::Keys;
use super::{Edge, EdgeKind, NodeId, NodeKey, Trait, file_of, hash_of};
use crate::cache::column::{Column, Part, Row, u32_at, u64_at};

/// Which way edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To what a node depends on.
    Outgoing,
    /// To what depends on it.
    Incoming,
}

/// The graph.
#[derive(Debug, Default)]
pub struct Graph {
    pub(super) keys: Keys,
    pub(super) index: Index,
    /// The kinds of edges that there are, by number.
    pub(super) kinds: Vec<EdgeKind>,
    pub(super) outgoing: Edges,
    /// Made when the graph is finished.
    pub(super) incoming: Edges,
    pub(super) traits: Traits,
    /// By node: where its part of `loads` lies.
    pub(super) loads_at: Column<(u32, u32)>,
    pub(super) loads: Loads,
    pub(super) listings: Vec<NodeId>,
    pub(super) packages: Vec<NodeId>,
    /// Sorted by hash and node.
    pub(super) absent: Column<AbsentRow>,
    pub(super) absent_of: OnceLock<FxHashMap<NodeId, Vec<u64>>>,
}

/// Nodes by their keys and paths.
#[derive(Debug)]
pub(super) enum Index {
    Built {
        by_key: HashTable<NodeId>,
        /// The first and the last source or data node of each path.
        by_path: HashTable<(NodeId, NodeId)>,
        /// By node: the next source or data node of its path.
        same_path: Vec<Option<NodeId>>,
    },
    /// Hashes and nodes, sorted.
    Kept { by_key: Column<(u64, u32)>, by_path: Column<(u64, u32)> },
}

impl Default for Index {
    fn default() -> Self {
        Self::Built { by_key: HashTable::new(), by_path: HashTable::new(), same_path: Vec::new() }
    }
}

/// Edges in one direction.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// By node: where its rows begin and end.
    pub(super) at: Column<(u32, u32)>,
    pub(super) rows: Column<EdgeRow>,
}

/// The node at the other end, the line, and the number of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EdgeRow {
    pub(super) other: u32,
    pub(super) line: u32,
    pub(super) kind: u8,
}

impl Row for EdgeRow {
    const SIZE: usize = 9;

    fn read(bytes: &[u8]) -> Self {
        Self { other: u32_at(bytes, 0), line: u32_at(bytes, 4), kind: bytes[8] }
    }

    fn write(self, into: &mut Vec<u8>) {
        into.extend(self.other.to_le_bytes());
        into.extend(self.line.to_le_bytes());
        into.push(self.kind);
    }
}

/// The hash of a path at which nothing is, who would mean it, and the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AbsentRow {
    pub(crate) hash: u64,
    pub(crate) node: u32,
    pub(crate) line: u32,
}

impl Row for AbsentRow {
    const SIZE: usize = 16;

    fn read(bytes: &[u8]) -> Self {
        Self { hash: u64_at(bytes, 0), node: u32_at(bytes, 8), line: u32_at(bytes, 12) }
    }

    fn write(self, into: &mut Vec<u8>) {
        into.extend(self.hash.to_le_bytes());
        into.extend(self.node.to_le_bytes());
        into.extend(self.line.to_le_bytes());
    }
}

/// What nodes cannot name: by node, or as it is kept until somebody asks.
#[derive(Debug, Default)]
pub(super) struct Traits {
    pub(super) read: OnceLock<FxHashMap<NodeId, Vec<Trait>>>,
    pub(super) kept: Option<Part>,
}

impl Traits {
    pub(super) fn get(&self) -> &FxHashMap<NodeId, Vec<Trait>> {
        self.read.get_or_init(|| {
            let Some(kept) = &self.kept else { return FxHashMap::default() };
            let rows: Vec<(u32, Vec<Trait>)> = postcard::from_bytes(kept.bytes())
                .expect("it was written by this program, and its checksum is right");
            rows.into_iter().map(|(node, traits)| (NodeId::from(node), traits)).collect()
        })
    }

    /// Sorted by node.
    pub(super) fn rows(&self) -> Vec<(u32, &[Trait])> {
        let mut rows: Vec<(u32, &[Trait])> =
            self.get().iter().map(|(node, traits)| (number(node.index()), traits.as_slice())).collect();
        rows.sort_unstable_by_key(|(node, _)| *node);
        rows
    }
}

/// Numbers of imports with their targets: as they are kept until somebody asks.
#[derive(Debug, Default)]
pub(super) struct Loads {
    pub(super) kept: Column<(u32, u32)>,
    pub(super) read: OnceLock<Vec<(u32, NodeId)>>,
}

pub(super) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("there are fewer than four thousand million nodes and edges")
}

impl Graph {
    /// The node of `key`.
    pub fn node(&self, key: &NodeKey) -> Option<NodeId> {
        let hash = hash_of(key);
        match &self.index {
            Index::Built { by_key, .. } => by_key.find(hash, |id| self.key(*id) == key).copied(),
            Index::Kept { by_key, .. } => {
                let start = by_key.partition_point(|(other, _)| other < hash);
                let alike = by_key.range(start..by_key.len()).take_while(|(other, _)| *other == hash);
                alike.map(|(_, node)| NodeId::from(node)).find(|id| self.key(*id) == key)
            }
        }
    }

    /// What a node stands for.
    pub fn key(&self, id: NodeId) -> &NodeKey {
        self.keys.get(id.index())
    }

    /// How many nodes and edges there are.
    pub fn size(&self) -> (usize, usize) {
        (self.keys.len(), self.outgoing.rows.len())
    }

    /// Every node, in order of discovery.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.keys.len()).map(NodeId::new)
    }

    /// The source and data nodes of a path, in all classes.
    pub fn nodes_of(&self, path: &str) -> Vec<NodeId> {
        let hash = hash_of(path);
        match &self.index {
            Index::Built { by_path, same_path, .. } => {
                let is_it = |(first, _): &(NodeId, NodeId)| file_of(self.key(*first)) == Some(path);
                let first = by_path.find(hash, is_it).map(|(first, _)| *first);
                std::iter::successors(first, |id| same_path[id.index()]).collect()
            }
            Index::Kept { by_path, .. } => {
                let start = by_path.partition_point(|(other, _)| other < hash);
                let alike = by_path.range(start..by_path.len()).take_while(|(other, _)| *other == hash);
                let nodes = alike.map(|(_, node)| NodeId::from(node));
                nodes.filter(|id| file_of(self.key(*id)) == Some(path)).collect()
            }
        }
    }

    /// Every listing node.
    pub fn listings(&self) -> &[NodeId] {
        &self.listings
    }

    /// Every package node.
    pub fn packages(&self) -> &[NodeId] {
        &self.packages
    }

    /// Who would mean `path` if it existed, with the line.
    pub fn waiting_for(&self, path: &str) -> impl Iterator<Item = (NodeId, u32)> + '_ {
        let hash = hash_of(path);
        let start = self.absent.partition_point(|row| row.hash < hash);
        let alike = self.absent.range(start..self.absent.len()).take_while(move |row| row.hash == hash);
        alike.map(|row| (NodeId::from(row.node), row.line))
    }

    /// What a node cannot name, in the order in which it was found.
    pub fn traits(&self, id: NodeId) -> &[Trait] {
        self.traits.get().get(&id).map_or(&[], Vec::as_slice)
    }

    /// The nodes that have traits, in order of discovery.
    pub fn nodes_with_traits(&self) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> = self.traits.get().keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// What each import of a node leads to: numbers of imports in the facts of its file,
    /// ascending, each with a target. Edges alone do not say which import made them.
    pub fn loads(&self, id: NodeId) -> &[(u32, NodeId)] {
        let loads = self.loads.read.get_or_init(|| {
            self.loads.kept.iter().map(|(import, target)| (import, NodeId::from(target))).collect()
        });
        let (start, end) = self.loads_at.get(id.index()).unwrap_or_default();
        &loads[start as usize..end as usize]
    }

    /// What a node depends on, sorted by target.
    pub fn outgoing(&self, id: NodeId) -> Vec<(NodeId, Edge)> {
        self.edges(id, Direction::Outgoing).collect()
    }

    /// The edges that lead to a node.
    pub fn dependents_direct(&self, id: NodeId) -> impl Iterator<Item = Edge> + '_ {
        self.edges(id, Direction::Incoming).map(|(_, edge)| edge)
    }

    /// The edges of a node, sorted by the node at the other end.
    pub(super) fn edges(
        &self,
        id: NodeId,
        direction: Direction,
    ) -> impl Iterator<Item = (NodeId, Edge)> + '_ {
        let edges = match direction {
            Direction::Outgoing => &self.outgoing,
            Direction::Incoming => &self.incoming,
        };
        let (start, end) = edges.at.get(id.index()).unwrap_or_default();
        edges.rows.range(start as usize..end as usize).map(|row| {
            let kind = self.kinds[usize::from(row.kind)];
            (NodeId::from(row.other), Edge { kind, line: row.line })
        })
    }

    /// The hash of what the imports of a node led to and of every absent candidate.
    pub fn resolution_digest(&self, node: NodeId) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut targets: Vec<String> = self
            .edges(node, Direction::Outgoing)
            .map(|(to, edge)| format!("{:?} {:?}", edge.kind, self.key(to)))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            hasher.update(&(target.len() as u64).to_le_bytes());
            hasher.update(target.as_bytes());
        }
        let absent_of = self.absent_of.get_or_init(|| {
            let mut by_node: FxHashMap<NodeId, Vec<u64>> = FxHashMap::default();
            for row in self.absent.iter() {
                by_node.entry(NodeId::from(row.node)).or_default().push(row.hash);
            }
            by_node
        });
        for absent in absent_of.get(&node).map_or(&[][..], Vec::as_slice) {
            hasher.update(&absent.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}
