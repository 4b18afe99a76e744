//! Test runners, one module each.

pub mod claims;
pub mod config;
pub mod glob;
pub mod jest;
pub mod manifest;
pub mod mocha;
pub mod node_test;
pub mod pytest;
pub mod shared;
pub mod shell;
pub mod unittest;
pub mod vitest;
