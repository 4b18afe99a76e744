//! Checks: functions over their cap of tokens with a ratchet on that debt, and
//! implementations written twice.
//!
//! [`check`] answers for a whole project. A [`Survey`] keeps what was read, so that an
//! editor can replace one file and ask again in milliseconds. Reading happens through a
//! [`Tree`](crate::tree::Tree) and a [`Language`](crate::language::Language) only; everything
//! after it is values.
//!
//! What this module refuses to do: it decides no exit code, prints nothing, writes nothing,
//! and never takes a file that it did not understand for a file without functions.

pub mod coverage;
mod exclusion;
mod policy;
mod ratchet;
pub mod repeated;
mod report;
mod survey;

pub use exclusion::Rule;
pub use policy::{Caps, DEFAULT_CAP, PathCap, Policy, Questions};
pub use ratchet::{
    AcceptedGroup, Base, Debt, DebtError, Entry, FILE as DEBT_FILE, Frozen, Identity, Judged, Ratchet,
    Sketch, Stale, StaleWhy, Status, update,
};
pub use report::{CheckedFile, Crap, Excluded, GateRules, Ledger, Measured, Report, Verdict};
pub use survey::{Input, Survey};

/// Checks a project. The answer is the same for any number of threads and any order of
/// files.
pub fn check(input: Input<'_>, policy: Policy) -> Report {
    Survey::read(input, policy).report()
}
