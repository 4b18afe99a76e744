//! `owed-gates`: what runs and what is remembered.

pub mod redact;
pub mod supervise;
