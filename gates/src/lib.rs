//! `owed-gates`: what runs and what is remembered.
//!
//! [`ledger`] is the record: append-only frames, one directory a run. [`state`] is the only
//! place that says which step may follow which. [`lease`] says who works on what, and
//! whether a process still lives. [`disk`] is the door to files, so that tests can put a
//! fault behind every call. [`supervise`] runs one command and reports how it ended, and
//! [`check`] ties both together: a recorded check. [`runs`] are test runs and their receipts,
//! [`queue`] keeps what has no verdict yet, and [`audit`] is the proof that plans and receipts
//! may be believed.

pub mod audit;
pub mod check;
pub mod disk;
pub mod home;
pub mod lease;
pub mod ledger;
pub mod observe;
pub mod policy;
pub mod queue;
pub mod redact;
pub mod runs;
pub mod state;
pub mod supervise;
