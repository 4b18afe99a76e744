//! `owed.graph/1`.

use std::collections::BTreeSet;

use owed_engine::problem::{NotChecked, Problem};
use owed_engine::selection::GraphView;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{NotCheckedFile, ProblemSeen, all};

/// A part of the dependency graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "owed.graph/1")]
pub(crate) struct GraphAnswer {
    /// `owed.graph/1`.
    #[schemars(schema_with = "graph_tag")]
    pub schema: &'static str,
    /// Nodes, sorted by id.
    pub nodes: Vec<Node>,
    /// Edges, sorted by their ends.
    pub edges: Vec<Edge>,
    /// Files that were not read or not parsed: edges out of them may be missing.
    pub not_checked: Vec<NotCheckedFile>,
    /// What was not understood.
    pub problems: Vec<ProblemSeen>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Node {
    /// A path, or `npm:lodash`, or `dir/**`.
    pub id: String,
    /// `test`, `source`, `data`, `absent`, `manifest`, `package`, `listing`, `env`.
    pub kind: &'static str,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Edge {
    /// Who depends.
    pub from: String,
    /// On what.
    pub to: String,
    /// How it is written: `static`, `type-only`, `require`, `mock`, `shared` and so on.
    pub kind: &'static str,
    /// 1-based line in `from`, where one exists.
    pub line: Option<u32>,
}

impl GraphAnswer {
    /// The answer to a view of the graph.
    pub(crate) fn new(view: GraphView, not_checked: Vec<NotChecked>, problems: Vec<Problem>) -> Self {
        Self {
            schema: "owed.graph/1",
            nodes: view.nodes.into_iter().map(|node| Node { id: node.id, kind: node.kind }).collect(),
            edges: view
                .edges
                .into_iter()
                .map(|edge| Edge { from: edge.from, to: edge.to, kind: edge.kind, line: edge.line })
                .collect(),
            not_checked: all(not_checked),
            problems: all(problems),
        }
    }

    /// The same without absent candidates: paths where imports looked in vain. A picture
    /// is mostly about what is there.
    pub(crate) fn without_absent(mut self) -> Self {
        let absent: BTreeSet<String> =
            self.nodes.iter().filter(|node| node.kind == "absent").map(|node| node.id.clone()).collect();
        self.nodes.retain(|node| !absent.contains(&node.id));
        self.edges.retain(|edge| !absent.contains(&edge.from) && !absent.contains(&edge.to));
        self
    }
}

fn graph_tag(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "owed.graph/1" })
}
