//! Test runners, one module each, and what the JavaScript ones share: reading of
//! configuration ([`config`]), of manifests and scripts, of globs.

pub mod babel;
mod child;
pub mod claims;
pub mod compiled;
pub mod config;
pub mod flags;
pub mod glob;
pub mod jest;
pub mod manifest;
pub mod mocha;
pub mod node_test;
mod outcome;
mod places;
pub mod pytest;
pub mod regex;
mod report;
pub mod shared;
pub mod shell;
mod tsconfig;
pub mod unittest;
pub mod vitest;
