//! What each node was found to depend on, in the order in which it was found: what a graph
//! is built from, and what the cache keeps of it.

use crate::graph::{Absent, Edge, EdgeKind, Graph, NodeId, NodeKey, Trait};
use crate::problem::{NotChecked, Problem};

/// What one node depends on, with its targets by number, in the order in which they were
/// found: the order decides the numbers of new nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wires {
    pub(crate) edges: Vec<(NodeId, Edge)>,
    /// Numbers of imports, each with where its edges begin; they end where the next begins.
    pub(crate) imports: Vec<(u32, u32)>,
    pub(crate) absent: Vec<(Absent, u32)>,
    pub(crate) traits: Vec<Trait>,
    pub(crate) problems: Vec<Problem>,
    /// A file outside of the inventory that it leads to and that could not be read.
    pub(crate) unread: Option<NotChecked>,
}

impl Wires {
    /// A copy without the absent candidates, which the graph keeps by path.
    fn to_keep(&self) -> Self {
        Self {
            edges: self.edges.clone(),
            imports: self.imports.clone(),
            absent: Vec::new(),
            traits: self.traits.clone(),
            problems: self.problems.clone(),
            unread: self.unread.clone(),
        }
    }

    /// Adds these to a graph, and gives what was not understood.
    pub(crate) fn add_to(self, graph: &mut Graph, id: NodeId) -> (Vec<Problem>, Option<NotChecked>) {
        graph.add_loads(id, loads(&self.imports, &self.edges));
        graph.add_edges(id, self.edges);
        graph.add_absent(id, self.absent);
        for fact in self.traits {
            graph.add_trait(id, fact);
        }
        (self.problems, self.unread)
    }
}

/// The targets of each import, from where its edges begin.
fn loads<'e>(
    imports: &'e [(u32, u32)],
    edges: &'e [(NodeId, Edge)],
) -> impl Iterator<Item = (u32, NodeId)> + 'e {
    let ends = imports
        .iter()
        .skip(1)
        .map(|(_, start)| *start)
        .chain([u32::try_from(edges.len()).expect("a file has fewer than four thousand million edges")]);
    imports.iter().zip(ends).flat_map(|((number, start), end)| {
        let own = edges[*start as usize..end as usize].iter();
        let own = own.filter(|(_, edge)| matches!(edge.kind, EdgeKind::Import(_)));
        own.map(|(to, _)| (*number, *to))
    })
}

/// A graph while it is built.
pub(crate) struct Building {
    pub(crate) graph: Graph,
    /// Nodes that are new and must be followed.
    pub(crate) frontier: Vec<NodeId>,
    /// By number of the node, when they are kept.
    pub(crate) wires: Option<Vec<Wires>>,
}

impl Building {
    /// The node of a target; a source that is new is followed next.
    pub(crate) fn target(&mut self, key: NodeKey) -> NodeId {
        let followed = is_followed(&key);
        let (to, new) = self.graph.add_node(key);
        if new && followed {
            self.frontier.push(to);
        }
        to
    }

    pub(crate) fn wire(&mut self, id: NodeId, wires: Wires) -> (Vec<Problem>, Option<NotChecked>) {
        if let Some(kept) = &mut self.wires {
            kept.resize_with(kept.len().max(id.index() + 1), Wires::default);
            kept[id.index()] = wires.to_keep();
        }
        wires.add_to(&mut self.graph, id)
    }
}

/// Whether what a node depends on is found by following it.
pub(crate) fn is_followed(key: &NodeKey) -> bool {
    matches!(key, NodeKey::Source { .. } | NodeKey::Sources { .. })
}
