//! The ratchet: debt may hold or shrink, and never grows.
//!
//! What is over its cap is compared with what was recorded (`owed.debt.toml`) and, when a
//! base is given, with what was there. What was not looked at frees nothing: its entries
//! are frozen. [`update`] gives the debt file that a report justifies.

mod assign;
mod debt;
mod identity;
mod judge;
mod matching;
mod update;

pub use debt::{AcceptedGroup, Debt, DebtError, Entry, FILE};
pub use identity::{Identity, Sketch};
pub use judge::{Base, Frozen, Judged, Ratchet, Stale, StaleWhy, Status};
pub use update::update;

pub(crate) use identity::{half, mix, simple};
pub(super) use judge::{Fate, Looked, Seen, judge};
