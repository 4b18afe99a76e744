//! A plain layered layout: nodes in columns by their distance from where nothing
//! points to, ordered in each column by where their neighbours stand.

use std::collections::{BTreeMap, VecDeque};

use crate::answer::graph::GraphAnswer;

const SWEEPS: usize = 6;

/// Where each node stands: its column and its place in it, by number of the node.
pub(crate) struct Layout {
    /// Column of each node.
    pub column: Vec<usize>,
    /// Place in the column of each node, from the top.
    pub place: Vec<usize>,
    /// The ends of each edge by number of the node; `None` when an end is not shown.
    pub edges: Vec<Option<(usize, usize)>>,
    /// Nodes of each column, from the top.
    pub columns: Vec<Vec<usize>>,
}

/// Lays out a graph.
pub(crate) fn layout(answer: &GraphAnswer) -> Layout {
    let numbers: BTreeMap<&str, usize> =
        answer.nodes.iter().enumerate().map(|(number, node)| (node.id.as_str(), number)).collect();
    let number = |id: &str| numbers.get(id).copied();
    let edges: Vec<Option<(usize, usize)>> =
        answer.edges.iter().map(|edge| Some((number(&edge.from)?, number(&edge.to)?))).collect();
    let count = answer.nodes.len();
    let (mut down, mut up) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for &(from, to) in edges.iter().flatten() {
        down[from].push(to);
        up[to].push(from);
    }
    let column = columns_of(answer, &down, &up);
    let mut columns = vec![Vec::new(); column.iter().max().map_or(0, |last| last + 1)];
    for (node, &at) in column.iter().enumerate() {
        columns[at].push(node);
    }
    let mut place = vec![0; count];
    settle(&columns, &mut place);
    for sweep in 0..SWEEPS {
        // Down the columns by those before, then up by those after.
        let (order, neighbours): (Vec<usize>, _) = if sweep % 2 == 0 {
            ((1..columns.len()).collect(), &up)
        } else {
            ((0..columns.len().saturating_sub(1)).rev().collect(), &down)
        };
        for at in order {
            let weight = |node: usize| {
                let near = &neighbours[node];
                let sum: usize = near.iter().map(|&n| place[n]).sum();
                // An integer mean in thousandths: sorting must not depend on rounding.
                if near.is_empty() { place[node] * 1000 } else { sum * 1000 / near.len() }
            };
            let mut keyed: Vec<(usize, usize)> =
                columns[at].iter().map(|&node| (weight(node), node)).collect();
            keyed.sort_unstable();
            columns[at] = keyed.into_iter().map(|(_, node)| node).collect();
            for (index, &node) in columns[at].iter().enumerate() {
                place[node] = index;
            }
        }
    }
    Layout { column, place, edges, columns }
}

fn settle(columns: &[Vec<usize>], place: &mut [usize]) {
    for column in columns {
        for (index, &node) in column.iter().enumerate() {
            place[node] = index;
        }
    }
}

/// Shortest distance from a start: a test, or a node that nothing points to, or (in a
/// ring that nothing leads to) its first node.
fn columns_of(answer: &GraphAnswer, down: &[Vec<usize>], up: &[Vec<usize>]) -> Vec<usize> {
    let count = down.len();
    let mut column: Vec<Option<usize>> = vec![None; count];
    let mut queue: VecDeque<usize> =
        (0..count).filter(|&node| up[node].is_empty() || answer.nodes[node].kind == "test").collect();
    for &node in &queue {
        column[node] = Some(0);
    }
    let mut next = 0;
    loop {
        while let Some(node) = queue.pop_front() {
            let below = column[node].map_or(0, |at| at + 1);
            for &to in &down[node] {
                if column[to].is_none() {
                    column[to] = Some(below);
                    queue.push_back(to);
                }
            }
        }
        match (next..count).find(|&node| column[node].is_none()) {
            Some(node) => {
                column[node] = Some(0);
                queue.push_back(node);
                next = node + 1;
            }
            None => return column.into_iter().map(Option::unwrap_or_default).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::graph::{Edge, Node};

    #[test]
    fn every_node_has_its_own_place_also_in_rings() {
        let node = |id: &str| Node { id: id.to_owned(), kind: "source" };
        let edge = |from: &str, to: &str| Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            kind: "static",
            line: None,
        };
        let answer = GraphAnswer {
            schema: "owed.graph/1",
            nodes: ["a", "b", "c", "r", "s"].map(node).to_vec(),
            edges: vec![edge("a", "b"), edge("a", "c"), edge("b", "c"), edge("r", "s"), edge("s", "r")],
            not_checked: Vec::new(),
            problems: Vec::new(),
        };
        let layout = layout(&answer);
        assert_eq!(layout.column, [0, 1, 1, 0, 1]);
        let mut places: Vec<_> = layout.column.iter().zip(&layout.place).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 5);
    }
}
