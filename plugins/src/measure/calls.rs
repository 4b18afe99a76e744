//! Which functions of a file call themselves, directly or through each other: each method
//! of a recursion cycle costs one in cognitive complexity.
//!
//! Only calls by a name that is bound to one function of the file count (`f()`,
//! `this.m()`, `self.m()`); a call through a value is not followed.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

/// What a function can be called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// A binding of the file.
    Binding(u32),
    /// A member, by the hash of its name, of a class or object of the file.
    Member(u32, u64),
}

/// The calls of a file.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// `None`: several functions have the name.
    callable: FxHashMap<Target, Option<u32>>,
    made: Vec<(u32, Target)>,
}

impl Calls {
    /// `function` can be called by `target`.
    pub(super) fn callable(&mut self, target: Target, function: u32) {
        self.callable.entry(target).and_modify(|known| *known = None).or_insert(Some(function));
    }

    /// `caller` holds a call of `target`.
    pub(super) fn made(&mut self, caller: u32, target: Target) {
        self.made.push((caller, target));
    }

    /// Whether each function is in a cycle of calls. `parents` says which function is
    /// around which.
    pub(super) fn recursive(&self, parents: &[Option<u32>]) -> Vec<bool> {
        let mut recursive = vec![false; parents.len()];
        let mut named = vec![false; parents.len()];
        for function in self.callable.values().flatten() {
            named[*function as usize] = true;
        }
        let mut edges = Vec::new();
        for (caller, target) in &self.made {
            let Some(Some(called)) = self.callable.get(target).copied() else { continue };
            // A call in a nested function that has no name of its own is the work of the
            // one around it.
            let mut from = *caller;
            while from != called && !named[from as usize] {
                let Some(parent) = parents[from as usize] else { break };
                from = parent;
            }
            if from == called {
                recursive[called as usize] = true;
            } else {
                edges.push((from, called));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let graph = DiGraph::<(), (), u32>::from_edges(edges);
        for cycle in kosaraju_scc(&graph).iter().filter(|cycle| cycle.len() > 1) {
            for node in cycle {
                recursive[node.index()] = true;
            }
        }
        recursive
    }
}
