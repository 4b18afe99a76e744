//! `owed-plugins`: what `owed` knows about languages and test runners.
//!
//! [`languages`] and [`runners()`] are the only lists. To add one, write a module that
//! implements the engine's trait and add a line here; the engine stays as it is.

pub mod grammar;
pub mod javascript;
mod measure;
pub mod python;
pub mod runners;
pub mod tolerant;

use grammar::language::ByData;
use owed_engine::language::Language;
use owed_engine::runner::Runner;

static RUST: ByData = ByData::new(&grammar::sources::RUST);
static GO: ByData = ByData::new(&grammar::sources::GO);

static LANGUAGES: [&dyn Language; 4] = [&javascript::JavaScript, &python::Python, &RUST, &GO];

/// Every language, in the order in which they are asked whether they read a file.
pub fn languages() -> &'static [&'static dyn Language] {
    &LANGUAGES
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
