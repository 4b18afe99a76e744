//! A simulated machine for the ledger: a disk with a page cache, processes with PIDs that
//! are given out again, a clock that jumps, and a fault behind every call. One seed is one
//! schedule, and always the same one.
//!
//! Used by the tests of `owed-gates` and, for long runs, by `ledger-torture` in `benches`.

pub(crate) mod disk;
pub(crate) mod driver;
pub(crate) mod faults;
pub(crate) mod real;
pub(crate) mod single;
pub(crate) mod truth;
pub(crate) mod world;
