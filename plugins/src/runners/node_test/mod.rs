//! node:test.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The node:test runner.
#[derive(Clone, Copy, Debug)]
pub struct NodeTest;

impl Runner for NodeTest {
    fn name(&self) -> &'static str {
        "node:test"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
