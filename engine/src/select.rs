//! Which tests a change owes: the rules, over the graph.

use crate::project::{Delta, Project};
use crate::selection::{GraphView, Selection, Why};

/// What the caller asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Every test, because the caller says so.
    pub all: bool,
    /// `--opacity strict`: time-opaque tests are owed by any change, too.
    pub strict_opacity: bool,
}

/// Selects the tests that `delta` owes.
pub fn select(project: &Project<'_>, delta: &Delta, options: &SelectOptions) -> Selection {
    let _ = (project, delta, options);
    unreachable!("written next")
}

/// Every reason for which `test` (a project-relative path) is owed by `delta`, or the
/// proof that there is none; one answer for each runner that claims it. Empty when no
/// runner does.
pub fn why(project: &Project<'_>, delta: &Delta, options: &SelectOptions, test: &str) -> Vec<Why> {
    let _ = (project, delta, options, test);
    Vec::new()
}

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
    let _ = (project, options);
    GraphView::default()
}
