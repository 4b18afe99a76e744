//! `owed-gates`, driven as its users drive it: real processes, real files.
#![expect(clippy::disallowed_methods, reason = "tests make the places they look at")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod check;
mod lease;
mod ledger;
mod observe;
mod queue;
mod supervise;

#[path = "../simulation/mod.rs"]
mod simulation;
