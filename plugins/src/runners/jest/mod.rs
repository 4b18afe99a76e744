//! jest.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The jest runner.
#[derive(Clone, Copy, Debug)]
pub struct Jest;

impl Runner for Jest {
    fn name(&self) -> &'static str {
        "jest"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
