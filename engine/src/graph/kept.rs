//! A graph in the cache, and back: its tables as they are.

use super::keys::Keys;
use super::tables::{Edges, Graph, Index, Loads, Traits, number};
use super::{EdgeKind, NodeId, file_of, hash_of};
use crate::cache::column::{Column, Part, put_bytes};

impl Graph {
    /// What a search needs; `None` when it is too large to be worth keeping.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut by_key = Vec::with_capacity(self.keys.len());
        let mut by_path = Vec::with_capacity(self.keys.len());
        for node in self.nodes() {
            let key = self.key(node);
            by_key.push((hash_of(key), number(node.index())));
            by_path.extend(file_of(key).map(|path| (hash_of(path), number(node.index()))));
        }
        by_key.sort_unstable();
        by_path.sort_unstable();
        let nodes = |list: &[NodeId]| list.iter().map(|node| number(node.index())).collect::<Vec<u32>>();
        let lists = (&self.kinds, nodes(&self.listings), nodes(&self.packages));
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, &postcard::to_allocvec(&lists).ok()?)?;
        self.keys.put(&mut bytes)?;
        Column::Owned(by_key).put(&mut bytes)?;
        Column::Owned(by_path).put(&mut bytes)?;
        for edges in [&self.outgoing, &self.incoming] {
            edges.at.put(&mut bytes)?;
            edges.rows.put(&mut bytes)?;
        }
        self.absent.put(&mut bytes)?;
        self.loads_at.put(&mut bytes)?;
        self.loads.kept.put(&mut bytes)?;
        put_bytes(&mut bytes, &postcard::to_allocvec(&self.traits.rows()).ok()?)?;
        Some(bytes)
    }

    /// The graph that was encoded to `part`; `None` when these are no such bytes.
    pub(crate) fn decode(mut part: Part) -> Option<Self> {
        let lists = part.take_bytes()?;
        let (kinds, listings, packages): (Vec<EdgeKind>, Vec<u32>, Vec<u32>) =
            postcard::from_bytes(lists.bytes()).ok()?;
        let nodes = |list: Vec<u32>| list.into_iter().map(NodeId::from).collect();
        let keys = Keys::take(&mut part)?;
        let index = Index::Kept { by_key: part.take_column()?, by_path: part.take_column()? };
        let mut edges = || Some(Edges { at: part.take_column()?, rows: part.take_column()? });
        let (outgoing, incoming) = (edges()?, edges()?);
        let absent = part.take_column()?;
        let (loads_at, loads) = (part.take_column()?, part.take_column()?);
        let traits = part.take_bytes()?;
        part.bytes().is_empty().then(|| Self {
            keys,
            index,
            kinds,
            outgoing,
            incoming,
            traits: Traits { kept: Some(traits), ..Traits::default() },
            loads_at,
            loads: Loads { kept: loads, ..Loads::default() },
            listings: nodes(listings),
            packages: nodes(packages),
            absent,
            ..Self::default()
        })
    }
}
