//! The binary, driven as its users drive it: real git repositories in temporary
//! folders, real arguments, and the contracts of every format and exit code.

#![expect(clippy::disallowed_methods, reason = "tests make the projects they look at")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod cache;
mod check;
mod check_formats;
mod check_hostile;
mod config;
mod demo;
mod doctor;
mod git;
mod graph;
mod harness;
mod help;
mod human;
mod killed;
mod opacity;
mod plan;
mod queue;
mod record;
mod reports;
mod reuse;
mod rows;
mod schema;
mod selected;
mod tidy;
mod trouble;
mod truth;
mod why;
