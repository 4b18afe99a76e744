//! `owed-engine`: facts about source files, the dependency graph between them,
//! and the tests a change owes.
//!
//! The direction is one-way, from bytes to answers:
//!
//! ```text
//! paths -> read -> SourceFile -> Language::read -> FileFacts -> Project -> resolve -> Graph -> select -> Selection
//! ```
//!
//! What this crate refuses to do: it names no grammar, no runner and no package
//! manager (those are [`language::Language`] and [`runner::Runner`] implementations
//! in `owed-plugins`); it prints nothing; and right of `Project` it touches no
//! file, clock, environment or process. The two doors to the outside are
//! [`read`] (the disk) and [`vcs`] (git).

mod alike;
mod by_name;
pub mod cache;
pub mod change;
pub mod check;
mod closure;
pub mod digest;
mod effects;
pub mod facts;
pub mod function;
pub mod graph;
pub mod language;
mod links;
pub mod opacity;
pub mod outcome;
pub mod path;
mod pieces;
pub mod place;
pub mod problem;
pub mod project;
pub mod read;
mod reader;
pub mod recall;
pub mod receipt;
pub mod resolve;
pub mod runner;
pub mod select;
pub mod selection;
pub mod sources;
mod taken;
pub mod tree;
pub mod vcs;
mod view;
mod why;
mod wires;
