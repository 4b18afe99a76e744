//! vitest.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The vitest runner.
#[derive(Clone, Copy, Debug)]
pub struct Vitest;

impl Runner for Vitest {
    fn name(&self) -> &'static str {
        "vitest"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
