//! Checks: functions over their cap of tokens with a ratchet on that debt, and
//! implementations written twice.
//!
//! [`check`] answers for a whole project. A [`Survey`] keeps what was read, so that an
//! editor or a hook can [replace](Survey::replace) one file and [ask about
//! it](Survey::report_about) in milliseconds. Reading happens through a
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
mod tests;

pub use exclusion::Rule;
pub use policy::{Caps, DEFAULT_CAP, PathCap, Policy, Questions};
pub use ratchet::{
    AcceptedGroup, Base, Debt, DebtError, Entry, FILE as DEBT_FILE, Frozen, Identity, Judged, Ratchet,
    Sketch, Stale, StaleWhy, Status, update,
};
pub use report::{CheckedFile, Crap, Excluded, GateRules, Ledger, Measured, Report, Verdict};
pub use survey::{Input, Survey};
pub use tests::Tests;

use crate::project::Project;

/// Checks a project that was read: one call for a gate. Debt, a base and coverage are handed
/// over by an [`Input`] to [`Survey::read`]; what gates make of the report is
/// [`Report::verdict`]. The answer is the same for any number of threads and any order of
/// files.
pub fn check(project: &Project<'_>, policy: &Policy) -> Report {
    let tests = Tests::of_project(project);
    let mut report = Survey::read(Input::of(project, &tests), policy.clone()).report();
    report.problems.extend(tests.problems);
    report.problems.sort();
    report
}
