//! The dependency graph: who depends on what, and what each file cannot name.
//!
//! A node is a test, a file *as resolved by one class of runner projects* (equal
//! [`ResolveOptions`](crate::resolve::ResolveOptions)), a file as data, a manifest, a
//! listing, a package or an environment name. Absent candidates are not nodes: there
//! are many, and they only matter when a change names one of them, so they are kept as
//! hashes of their paths (a collision can only add an edge).
//!
//! petgraph stays private to this module. Node numbers follow the order of discovery,
//! which is the same for any number of threads.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use hashbrown::HashTable;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use crate::facts::{ImportKind, Opaque};
use crate::resolve::Listing;
use crate::runner::SharedRole;
use crate::selection::Opacity;

/// The number of a node.
pub type NodeId = NodeIndex<u32>;

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeKey {
    /// A test file of a runner project, by its number in [`crate::project::Project::tests`].
    Test(u32),
    /// What all tests of a runner project share, by the number of the project in
    /// [`crate::project::Project::suites`]. It is no step of a chain.
    Suite(u32),
    /// A source file, resolved under the options of a class.
    Source {
        /// Number of the class.
        class: u32,
        /// Project-relative path.
        path: Box<str>,
    },
    /// A file as data (or one that need not exist): only its own bytes count.
    Data(Box<str>),
    /// The meaningful part of a manifest.
    Manifest(Box<str>),
    /// A set of files.
    Listing {
        /// Where and which.
        listing: Listing,
        /// Whether the contents count, too, and not only which files there are.
        contents: bool,
    },
    /// An installed package.
    Package(Box<str>),
    /// An environment name.
    Env(Box<str>),
    /// All sources of a package of the project. It is no step of a chain.
    Sources {
        /// Number of the class.
        class: u32,
        /// The package's directory.
        dir: Box<str>,
    },
}

impl NodeKey {
    /// The path of a file, manifest or data node.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Source { path, .. } | Self::Data(path) | Self::Manifest(path) => Some(path),
            _ => None,
        }
    }

    /// Whether a person would name it on the way from a test to a change; the others only
    /// stand for many nodes at once.
    pub fn is_step(&self) -> bool {
        !matches!(self, Self::Suite(_) | Self::Sources { .. })
    }
}

/// Why one node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EdgeKind {
    /// From a test to its own file.
    Own,
    /// From a test to what it shares with the other tests of its project.
    Suite,
    /// From a test to what it depends on without importing it.
    Shared(SharedRole),
    /// An import.
    Import(ImportKind),
    /// It reads it.
    Data,
    /// A manifest decided a resolution.
    Consulted,
}

impl EdgeKind {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Suite => "suite",
            Self::Shared(_) => "shared",
            Self::Data => "data",
            Self::Consulted => "consulted",
            Self::Import(kind) => match kind {
                ImportKind::Static => "static",
                ImportKind::TypeOnly => "type-only",
                ImportKind::Dynamic => "dynamic",
                ImportKind::Require => "require",
                ImportKind::Resolve => "resolve",
                ImportKind::Mock => "mock",
                ImportKind::ReExport => "re-export",
                ImportKind::Star => "star",
                ImportKind::StringRef => "string-ref",
                ImportKind::Script => "script",
                ImportKind::Computed => "computed",
                ImportKind::Glob => "glob",
            },
        }
    }
}

/// An edge: its kind and where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// Why.
    pub kind: EdgeKind,
    /// 1-based line in the depending file; 0 where none exists.
    pub line: u32,
}

/// Something a file depends on that no edge can name, or that joins the identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Trait {
    /// What it makes of a test that reaches it.
    pub opacity: Opacity,
    /// Why, when opaque.
    pub reason: Option<Opaque>,
    /// The operation, or the specifier.
    pub operation: Box<str>,
    /// 1-based line; 0 where none exists.
    pub line: u32,
    /// Which fact of the file says so.
    pub origin: Origin,
}

/// Where a [`Trait`] comes from, in the facts of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// The effect with this number.
    Effect(u32),
    /// The import with this number.
    Import(u32),
    /// The file as a whole: it could not be read or parsed.
    File,
    /// The offered effect with this number.
    Offered(u32),
}

/// The graph.
#[derive(Debug, Default)]
pub struct Graph {
    inner: DiGraph<NodeKey, Edge, u32>,
    /// Nodes by their keys, which only `inner` holds.
    index: HashTable<NodeId>,
    /// The first and the last source or data node of each path.
    by_path: HashTable<(NodeId, NodeId)>,
    /// By node: the next source or data node of its path.
    same_path: Vec<Option<NodeId>>,
    traits: FxHashMap<NodeId, Vec<Trait>>,
    /// By node: where its part of `loads` lies.
    loads_at: Vec<(u32, u32)>,
    loads: Vec<(u32, NodeId)>,
    listings: Vec<NodeId>,
    packages: Vec<NodeId>,
    absent: Vec<(u64, NodeId, u32)>,
    absent_of: OnceLock<FxHashMap<NodeId, Vec<u64>>>,
}

/// A path at which nothing is: all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Absent(pub(crate) u64);

impl Absent {
    /// Of `path`.
    pub fn new(path: &str) -> Self {
        Self(hash_path(path))
    }
}

fn hash_path(path: &str) -> u64 {
    hash_of(path)
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The path of a source or data node.
fn file_of(key: &NodeKey) -> Option<&str> {
    match key {
        NodeKey::Source { path, .. } | NodeKey::Data(path) => Some(path),
        _ => None,
    }
}

impl Graph {
    /// A graph with room for as many nodes and edges.
    pub fn with_capacity(nodes: usize, edges: usize) -> Self {
        Self {
            inner: DiGraph::with_capacity(nodes, edges),
            index: HashTable::with_capacity(nodes),
            by_path: HashTable::with_capacity(nodes),
            same_path: Vec::with_capacity(nodes),
            loads_at: Vec::with_capacity(nodes),
            loads: Vec::with_capacity(edges),
            ..Self::default()
        }
    }

    /// The node for `key`, made when it is new; says whether it was.
    pub fn add_node(&mut self, key: NodeKey) -> (NodeId, bool) {
        let hash = hash_of(&key);
        let inner = &mut self.inner;
        let is_it = |id: &NodeId| inner[*id] == key;
        if let Some(&id) = self.index.find(hash, is_it) {
            return (id, false);
        }
        let id = inner.add_node(key);
        let inner = &*inner;
        self.index.insert_unique(hash, id, |id| hash_of(&inner[*id]));
        self.same_path.push(None);
        match &inner[id] {
            NodeKey::Source { path, .. } | NodeKey::Data(path) => {
                let is_it = |(first, _): &(NodeId, NodeId)| file_of(&inner[*first]) == Some(&**path);
                let hash_it =
                    |(first, _): &(NodeId, NodeId)| hash_path(file_of(&inner[*first]).unwrap_or(""));
                match self.by_path.find_mut(hash_path(path), is_it) {
                    Some((_, last)) => {
                        self.same_path[last.index()] = Some(id);
                        *last = id;
                    }
                    None => drop(self.by_path.insert_unique(hash_path(path), (id, id), hash_it)),
                }
            }
            NodeKey::Listing { .. } => self.listings.push(id),
            NodeKey::Package(_) => self.packages.push(id),
            NodeKey::Test(_)
            | NodeKey::Suite(_)
            | NodeKey::Manifest(_)
            | NodeKey::Env(_)
            | NodeKey::Sources { .. } => {}
        }
        (id, true)
    }

    /// Adds the edges of `from`, which has none yet: sorted by target, parallel edges of
    /// one kind kept once with their first line.
    pub fn add_edges(&mut self, from: NodeId, mut edges: Vec<(NodeId, Edge)>) {
        edges.sort_unstable();
        edges.dedup_by_key(|(to, edge)| (*to, edge.kind));
        for (to, edge) in edges {
            self.inner.add_edge(from, to, edge);
        }
    }

    /// Notes that `from` (at the line given with each) would mean these paths if they existed.
    pub fn add_absent(&mut self, from: NodeId, paths: impl IntoIterator<Item = (Absent, u32)>) {
        self.absent.extend(paths.into_iter().map(|(path, line)| (path.0, from, line)));
    }

    /// Notes what `node` cannot name.
    pub fn add_trait(&mut self, node: NodeId, fact: Trait) {
        let list = self.traits.entry(node).or_default();
        if !list.contains(&fact) {
            list.push(fact);
        }
    }

    /// Notes which nodes the imports of `node` lead to, by the number of the import.
    pub fn add_loads(&mut self, node: NodeId, loads: impl IntoIterator<Item = (u32, NodeId)>) {
        let start = self.loads.len();
        self.loads.extend(loads);
        if self.loads.len() > start {
            let number = |n: usize| u32::try_from(n).expect("there are fewer imports than edges");
            self.loads_at.resize(self.loads_at.len().max(node.index() + 1), (0, 0));
            self.loads_at[node.index()] = (number(start), number(self.loads.len()));
        }
    }

    /// Takes over absent candidates, each with its node and line, in place of those there are.
    pub(crate) fn set_absent(&mut self, absent: Vec<(u64, NodeId, u32)>) {
        self.absent = absent;
    }

    /// The absent candidates of a finished graph, sorted.
    pub(crate) fn absent(&self) -> &[(u64, NodeId, u32)] {
        &self.absent
    }

    /// Ends building: sorts what is looked up by value.
    pub fn finish(&mut self) {
        self.absent.sort_unstable();
        self.absent.dedup_by_key(|(hash, node, _)| (*hash, *node));
        self.absent.shrink_to_fit();
    }

    /// The node of `key`.
    pub fn node(&self, key: &NodeKey) -> Option<NodeId> {
        self.index.find(hash_of(key), |id| self.inner[*id] == *key).copied()
    }

    /// What a node stands for.
    pub fn key(&self, id: NodeId) -> &NodeKey {
        &self.inner[id]
    }

    /// How many nodes and edges there are.
    pub fn size(&self) -> (usize, usize) {
        (self.inner.node_count(), self.inner.edge_count())
    }

    /// Every node, in order of discovery.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.inner.node_indices()
    }

    /// The source and data nodes of a path, in all classes.
    pub fn nodes_of(&self, path: &str) -> Vec<NodeId> {
        let is_it = |(first, _): &(NodeId, NodeId)| file_of(&self.inner[*first]) == Some(path);
        let first = self.by_path.find(hash_path(path), is_it).map(|(first, _)| *first);
        std::iter::successors(first, |id| self.same_path[id.index()]).collect()
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
        let hash = hash_path(path);
        let start = self.absent.partition_point(|(h, _, _)| *h < hash);
        self.absent[start..].iter().take_while(move |(h, _, _)| *h == hash).map(|(_, id, line)| (*id, *line))
    }

    /// What a node cannot name, in the order in which it was found.
    pub fn traits(&self, id: NodeId) -> &[Trait] {
        self.traits.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The nodes that have traits, in order of discovery.
    pub fn nodes_with_traits(&self) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> = self.traits.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// What each import of a node leads to: numbers of imports in the facts of its file,
    /// ascending, each with a target. Edges alone do not say which import made them.
    pub fn loads(&self, id: NodeId) -> &[(u32, NodeId)] {
        let (start, end) = self.loads_at.get(id.index()).copied().unwrap_or_default();
        &self.loads[start as usize..end as usize]
    }

    /// What a node depends on, sorted by target.
    pub fn outgoing(&self, id: NodeId) -> Vec<(NodeId, Edge)> {
        let mut edges: Vec<_> = self.inner.edges(id).map(|e| (e.target(), *e.weight())).collect();
        edges.sort_unstable();
        edges
    }

    /// The edges that lead to a node.
    pub fn dependents_direct(&self, id: NodeId) -> impl Iterator<Item = Edge> + '_ {
        self.inner.edges_directed(id, Direction::Incoming).map(|e| *e.weight())
    }

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
        if self.inner.node_count() > MOST || from.len() < 8 {
            return from
                .iter()
                .map(|&node| {
                    let mut closure = self.dependencies(&[node], |_| true).order;
                    closure.sort_unstable();
                    closure
                })
                .collect();
        }
        // Targets come before what depends on them.
        let parts = petgraph::algo::kosaraju_scc(&self.inner);
        let mut part_of = vec![0_usize; self.inner.node_count()];
        for (number, part) in parts.iter().enumerate() {
            for node in part {
                part_of[node.index()] = number;
            }
        }
        let words = self.inner.node_count().div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let mut set = vec![0_u64; words];
            for &node in part {
                set[node.index() / 64] |= 1 << (node.index() % 64);
                for edge in self.inner.edges(node) {
                    let other = part_of[edge.target().index()];
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

    /// The hash of what the imports of a node led to and of every absent candidate.
    pub fn resolution_digest(&self, node: NodeId) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut targets: Vec<String> = self
            .inner
            .edges(node)
            .map(|e| format!("{:?} {:?}", e.weight().kind, self.key(e.target())))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            hasher.update(&(target.len() as u64).to_le_bytes());
            hasher.update(target.as_bytes());
        }
        let absent_of = self.absent_of.get_or_init(|| {
            let mut by_node: FxHashMap<NodeId, Vec<u64>> = FxHashMap::default();
            for (hash, node, _) in &self.absent {
                by_node.entry(*node).or_default().push(*hash);
            }
            by_node
        });
        for absent in absent_of.get(&node).map_or(&[][..], Vec::as_slice) {
            hasher.update(&absent.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    fn reach(&self, seeds: &[NodeId], direction: Direction, follow: impl Fn(Edge) -> bool) -> Reach {
        let mut steps = vec![Step { distance: UNREACHED, toward: NodeId::new(0) }; self.inner.node_count()];
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
            let edges = self.inner.edges_directed(id, direction).filter(|e| follow(*e.weight()));
            let others =
                edges.map(|e| if direction == Direction::Incoming { e.source() } else { e.target() });
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
