//! mocha.

use owed_engine::runner::{Discovery, Invocation, Runner, RunnerProject, View};

/// The mocha runner.
#[derive(Clone, Copy, Debug)]
pub struct Mocha;

impl Runner for Mocha {
    fn name(&self) -> &'static str {
        "mocha"
    }

    fn discover(&self, _view: &View<'_>) -> Discovery {
        Discovery::default()
    }

    fn command(&self, _project: &RunnerProject, _tests: &[&str]) -> Vec<Invocation> {
        Vec::new()
    }
}
