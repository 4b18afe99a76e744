//! Recorded checks.

pub mod dispatch;
pub mod untrusted;
