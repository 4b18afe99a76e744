//! Building a graph, node by node in the order of discovery.

use hashbrown::HashTable;

use super::keys::Keys;
use super::tables::{AbsentRow, EdgeRow, Edges, Graph, Index, number};
use super::{Absent, Edge, EdgeKind, NodeId, NodeKey, Trait, file_of, hash_of};
use crate::cache::column::Column;

impl Graph {
    /// A graph with room for as many nodes and edges.
    pub fn with_capacity(nodes: usize, edges: usize) -> Self {
        let index = Index::Built {
            by_key: HashTable::with_capacity(nodes),
            by_path: HashTable::with_capacity(nodes),
            same_path: Vec::with_capacity(nodes),
        };
        let outgoing = Edges {
            at: Column::Owned(Vec::with_capacity(nodes)),
            rows: Column::Owned(Vec::with_capacity(edges)),
        };
        Self { keys: Keys::Owned(Vec::with_capacity(nodes)), index, outgoing, ..Self::default() }
    }

    /// The node for `key`, made when it is new; says whether it was.
    pub fn add_node(&mut self, key: NodeKey) -> (NodeId, bool) {
        let hash = hash_of(&key);
        let (Keys::Owned(keys), Index::Built { by_key, by_path, same_path }) =
            (&mut self.keys, &mut self.index)
        else {
            unreachable!("what is kept is not built on");
        };
        if let Some(&id) = by_key.find(hash, |id| keys[id.index()] == key) {
            return (id, false);
        }
        let id = NodeId::new(keys.len());
        keys.push(key);
        let keys = &*keys;
        by_key.insert_unique(hash, id, |id| hash_of(&keys[id.index()]));
        same_path.push(None);
        let key = &keys[id.index()];
        if let Some(path) = file_of(key) {
            let path_of = |id: NodeId| file_of(&keys[id.index()]);
            let hash = hash_of(path);
            match by_path.find_mut(hash, |(first, _)| path_of(*first) == Some(path)) {
                Some((_, last)) => {
                    same_path[last.index()] = Some(id);
                    *last = id;
                }
                None => {
                    let hash_it = |(first, _): &(NodeId, NodeId)| hash_of(path_of(*first).unwrap_or(""));
                    by_path.insert_unique(hash, (id, id), hash_it);
                }
            }
        }
        match key {
            NodeKey::Listing { .. } => self.listings.push(id),
            NodeKey::Package(_) => self.packages.push(id),
            _ => {}
        }
        (id, true)
    }

    /// Adds the edges of `from`, which has none yet: sorted by target, parallel edges of
    /// one kind kept once with their first line.
    pub fn add_edges(&mut self, from: NodeId, mut edges: Vec<(NodeId, Edge)>) {
        edges.sort_unstable();
        edges.dedup_by_key(|(to, edge)| (*to, edge.kind));
        let rows = self.outgoing.rows.rows();
        let start = number(rows.len());
        for (to, Edge { kind, line }) in edges {
            let kind = kind_number(&mut self.kinds, kind);
            rows.push(EdgeRow { other: number(to.index()), line, kind });
        }
        let at = self.outgoing.at.rows();
        at.resize(at.len().max(from.index() + 1), (0, 0));
        at[from.index()] = (start, number(rows.len()));
    }

    /// Notes that `from` (at the line given with each) would mean these paths if they existed.
    pub fn add_absent(&mut self, from: NodeId, paths: impl IntoIterator<Item = (Absent, u32)>) {
        let node = number(from.index());
        let rows = paths.into_iter().map(|(path, line)| AbsentRow { hash: path.0, node, line });
        self.absent.rows().extend(rows);
    }

    /// Notes what `node` cannot name.
    pub fn add_trait(&mut self, node: NodeId, fact: Trait) {
        self.traits.get();
        let traits = self.traits.read.get_mut().expect("they were read just now");
        let list = traits.entry(node).or_default();
        if !list.contains(&fact) {
            list.push(fact);
        }
    }

    /// Notes which nodes the imports of `node` lead to, by the number of the import.
    pub fn add_loads(&mut self, node: NodeId, loads: impl IntoIterator<Item = (u32, NodeId)>) {
        let rows = self.loads.kept.rows();
        let start = rows.len();
        rows.extend(loads.into_iter().map(|(import, target)| (import, number(target.index()))));
        if rows.len() > start {
            let span = (number(start), number(rows.len()));
            let at = self.loads_at.rows();
            at.resize(at.len().max(node.index() + 1), (0, 0));
            at[node.index()] = span;
        }
    }

    /// Takes over absent candidates, each with its node and line, in place of those there are.
    pub(crate) fn set_absent(&mut self, absent: Vec<AbsentRow>) {
        self.absent = Column::Owned(absent);
    }

    /// The absent candidates of a finished graph, sorted.
    pub(crate) fn absent(&self) -> impl Iterator<Item = AbsentRow> + '_ {
        self.absent.iter()
    }

    /// Ends building: sorts what is looked up by value, and turns the edges round.
    pub fn finish(&mut self) {
        let absent = self.absent.rows();
        absent.sort_unstable();
        absent.dedup_by_key(|row| (row.hash, row.node));
        absent.shrink_to_fit();
        self.outgoing.at.rows().resize(self.keys.len(), (0, 0));
        self.incoming = self.turned_round();
    }

    fn turned_round(&self) -> Edges {
        let mut ends = vec![0_u32; self.keys.len()];
        for row in self.outgoing.rows.iter() {
            ends[row.other as usize] += 1;
        }
        let mut at = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in &mut ends {
            at.push((start, start + *end));
            start += *end;
            // From here on: where the next row of this node goes.
            *end = start - *end;
        }
        let mut rows = vec![EdgeRow { other: 0, line: 0, kind: 0 }; self.outgoing.rows.len()];
        for from in 0..self.keys.len() {
            let (start, end) = self.outgoing.at.get(from).unwrap_or_default();
            for row in self.outgoing.rows.range(start as usize..end as usize) {
                let next = &mut ends[row.other as usize];
                rows[*next as usize] = EdgeRow { other: number(from), ..row };
                *next += 1;
            }
        }
        Edges { at: Column::Owned(at), rows: Column::Owned(rows) }
    }
}

/// The number of a kind of edges; there are a few dozen.
pub(crate) fn kind_number(kinds: &mut Vec<EdgeKind>, kind: EdgeKind) -> u8 {
    let at = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
        kinds.push(kind);
        kinds.len() - 1
    });
    u8::try_from(at).expect("there are fewer kinds of edges than a byte has values")
}
