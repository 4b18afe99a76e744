//! pytest.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The pytest runner.
#[derive(Clone, Copy, Debug)]
pub struct Pytest;

impl Runner for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
