//! `owed-plugins`: what `owed` knows about languages and test runners.
//!
//! [`languages`] and [`runners()`] are the only lists. To add one, write a module that
//! implements the engine's trait and add a line here; the engine stays as it is.

pub mod go;
pub mod grammar;
pub mod javascript;
mod measure;
pub mod python;
pub mod runners;
pub mod rust;
pub mod tolerant;

use owed_engine::language::Language;
use owed_engine::runner::Runner;

/// Every language, in the order in which they are asked whether they read a file.
pub fn languages() -> &'static [&'static dyn Language] {
    static ALL: [&dyn Language; 4] = [&javascript::JavaScript, &python::Python, &rust::RUST, &go::GO];
    &ALL
}

/// Those whose tests some runner runs: plans read no other, because nothing that is selected
/// could depend on them as more than data.
pub fn selecting() -> &'static [&'static dyn Language] {
    &[&javascript::JavaScript, &python::Python]
}

/// Every runner, in the order in which they claim test files.
pub fn runners() -> &'static [&'static dyn Runner] {
    &[
        &runners::vitest::Vitest,
        &runners::jest::Jest,
        &runners::mocha::Mocha,
        &runners::node_test::NodeTest,
        &runners::pytest::Pytest,
        &runners::unittest::Unittest,
    ]
}
