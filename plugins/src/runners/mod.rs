//! Test runners, one module each.

pub mod config;
pub mod jest;
pub mod manifest;
pub mod mocha;
pub mod node_test;
pub mod pytest;
pub mod unittest;
pub mod vitest;
