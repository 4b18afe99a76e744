//! The class of each test: the worst of what its closure cannot name, with the way there.
//!
//! What every test has in common (runner configuration, manifests, the toolchain) is in
//! every identity and does not lower a test's class; shared setup does.

use rayon::prelude::*;

use crate::graph::{Edge, EdgeKind, Graph, NodeId, Reach, Trait};
use crate::runner::SharedRole;
use crate::selection::Opacity;

/// The classes of all tests, and the searches that found them.
pub(crate) struct Classes {
    levels: Vec<(Opacity, Reach)>,
}

/// Whether an effect behind this edge counts for the test's class.
pub(crate) fn counts(edge: Edge) -> bool {
    match edge.kind {
        EdgeKind::Shared(role) => {
            !matches!(role, SharedRole::Config | SharedRole::Manifest | SharedRole::Toolchain)
        }
        _ => true,
    }
}

impl Classes {
    /// Searches from every file that has traits to the tests, once a level.
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes_with_traits();
        let levels =
            [Opacity::InputOpaque, Opacity::Unknown, Opacity::TimeOpaque, Opacity::Bounded, Opacity::Pinned];
        let levels = levels
            .into_par_iter()
            .map(|level| {
                let has = |id: &&NodeId| graph.traits(**id).iter().any(|t| t.opacity == level);
                let seeds: Vec<NodeId> = nodes.iter().filter(has).copied().collect();
                // A type checker does not do what the code would do; but what it cannot read,
                // or not find, is not known to it either.
                let read = level == Opacity::Unknown;
                (level, graph.dependents(&seeds, |edge| counts(edge) && (read || !edge.kind.is_checked())))
            })
            .collect();
        Self { levels }
    }

    /// The class of a test node.
    pub(crate) fn class(&self, test: NodeId) -> Opacity {
        self.levels.iter().find(|(_, reach)| reach.contains(test)).map_or(Opacity::Pure, |(level, _)| *level)
    }

    /// The nearest file that gives `test` the class `level`, with its first such trait.
    pub(crate) fn cause<'g>(
        &self,
        graph: &'g Graph,
        test: NodeId,
        level: Opacity,
    ) -> Option<(Vec<NodeId>, &'g Trait)> {
        let (_, reach) = self.levels.iter().find(|(l, _)| *l == level)?;
        let chain = reach.chain(test);
        let fact = graph.traits(*chain.last()?).iter().find(|t| t.opacity == level)?;
        Some((chain, fact))
    }
}
