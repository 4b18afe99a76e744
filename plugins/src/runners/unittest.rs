//! unittest.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The unittest runner.
#[derive(Clone, Copy, Debug)]
pub struct Unittest;

impl Runner for Unittest {
    fn name(&self) -> &'static str {
        "unittest"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
