//! The snippets of JavaScript and TypeScript.

use owed_plugins::javascript::{JavaScript, read};

use super::{Half, check};

#[test]
fn every_snippet() {
    check(&Half {
        folder: "javascript",
        language: &JavaScript,
        operations: read::operations(),
        at_least: (600, 250),
    });
}
