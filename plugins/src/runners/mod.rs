//! Test runners, one module each.

pub mod jest;
pub mod mocha;
pub mod node_test;
pub mod pytest;
pub mod unittest;
pub mod vitest;
