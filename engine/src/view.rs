//! The dependency graph as plain nodes and edges, for people and tools to look at.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{NodeId, NodeKey};
use crate::project::Project;
use crate::selection::{GraphEdge, GraphNode, GraphView};

/// Which part of the graph to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// Only what these depend on (all tests when empty).
    pub from: Vec<String>,
    /// Only what lies on a way to these.
    pub to: Vec<String>,
    /// At most this many steps from `from`.
    pub depth: Option<usize>,
}

/// The dependency graph as nodes and edges.
pub fn graph(project: &Project<'_>, options: &GraphOptions) -> GraphView {
    let graph = &project.graph;
    let seeds: Vec<NodeId> = if options.from.is_empty() {
        graph.nodes().filter(|n| matches!(graph.key(*n), NodeKey::Test(_))).collect()
    } else {
        options.from.iter().flat_map(|path| at(project, path)).collect()
    };
    let forward = graph.dependencies(&seeds, |_| true);
    let backward = if options.to.is_empty() {
        None
    } else {
        let ends: Vec<NodeId> = options.to.iter().flat_map(|path| at(project, path)).collect();
        Some(graph.dependents(&ends, |_| true))
    };
    let shown: BTreeSet<NodeId> = forward
        .order()
        .iter()
        .copied()
        .filter(|n| {
            let near = match (options.depth, forward.distance(*n)) {
                (Some(depth), Some(distance)) => distance as usize <= depth,
                _ => true,
            };
            near && backward.as_ref().is_none_or(|b| b.contains(*n))
        })
        .collect();
    let tests: BTreeSet<&str> = project.tests.iter().map(|t| project.test_path(*t)).collect();
    let mut nodes: BTreeMap<String, &'static str> = BTreeMap::new();
    let mut edges = BTreeSet::new();
    for &node in &shown {
        if matches!(graph.key(node), NodeKey::Suite(_)) {
            continue;
        }
        let id = id_of(project, node);
        nodes.entry(id.clone()).or_insert_with(|| kind_of(project, &tests, node));
        let direct = graph.outgoing(node).into_iter().flat_map(|(to, edge)| match graph.key(to) {
            NodeKey::Suite(_) => graph.outgoing(to),
            _ => vec![(to, edge)],
        });
        for (to, edge) in direct {
            let target = id_of(project, to);
            if shown.contains(&to) && target != id {
                let line = (edge.line > 0).then_some(edge.line);
                edges.insert(GraphEdge { from: id.clone(), to: target, kind: edge.kind.word(), line });
            }
        }
    }
    GraphView {
        nodes: nodes.into_iter().map(|(id, kind)| GraphNode { id, kind }).collect(),
        edges: edges.into_iter().collect(),
    }
}

/// The nodes that a person may mean by `path`.
fn at(project: &Project<'_>, path: &str) -> Vec<NodeId> {
    let graph = &project.graph;
    let mut found = graph.nodes_of(path);
    found.extend(graph.node(&NodeKey::Manifest(path.into())));
    found.extend(graph.node(&NodeKey::Package(path.into())));
    for (number, &test) in project.tests.iter().enumerate() {
        if project.test_path(test) == path {
            let number = u32::try_from(number).expect("test numbers were made from u32");
            found.extend(graph.node(&NodeKey::Test(number)));
        }
    }
    found
}

fn id_of(project: &Project<'_>, node: NodeId) -> String {
    match project.graph.key(node) {
        NodeKey::Test(number) => project.test_path(project.tests[*number as usize]).to_owned(),
        NodeKey::Source { path, .. } | NodeKey::Data(path) | NodeKey::Manifest(path) => path.to_string(),
        NodeKey::Listing { listing, .. } => listing.shown(),
        NodeKey::Package(name) => name.to_string(),
        NodeKey::Env(name) => format!("${name}"),
        NodeKey::Sources { dir, .. } if dir.is_empty() => "**".to_owned(),
        NodeKey::Sources { dir, .. } => format!("{dir}/**"),
        NodeKey::Suite(_) => String::new(),
    }
}

fn kind_of(project: &Project<'_>, tests: &BTreeSet<&str>, node: NodeId) -> &'static str {
    let absent = |path: &str| project.tree.kind(path).is_none();
    match project.graph.key(node) {
        NodeKey::Test(_) | NodeKey::Suite(_) => "test",
        NodeKey::Source { path, .. } | NodeKey::Data(path) if tests.contains(&**path) => "test",
        NodeKey::Source { path, .. } | NodeKey::Data(path) | NodeKey::Manifest(path) if absent(path) => {
            "absent"
        }
        NodeKey::Source { .. } => "source",
        NodeKey::Data(_) => "data",
        NodeKey::Manifest(_) => "manifest",
        NodeKey::Listing { .. } | NodeKey::Sources { .. } => "listing",
        NodeKey::Package(_) => "package",
        NodeKey::Env(_) => "env",
    }
}
