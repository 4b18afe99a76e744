//! The snippets of Python.

use owed_plugins::python::{Python, read};

use super::{Half, check};

#[test]
fn every_snippet() {
    check(&Half {
        folder: "python",
        language: &Python,
        operations: read::operations(),
        at_least: (600, 250),
    });
}
