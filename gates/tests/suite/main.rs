//! The integration tests of `owed-gates`.

mod lease;
mod ledger;

#[path = "../simulation/mod.rs"]
mod simulation;
