//! `owed-gates`: what runs and what is remembered.

pub mod observe;
pub mod policy;
pub mod redact;
pub mod supervise;
