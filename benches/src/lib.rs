//! What the benches share: generated repositories, and measuring whole processes.
//!
//! Figures are ratios of pairs measured in one run (A B A B …), because a machine that is
//! busy with something else slows both sides.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "benches start processes, time them and print"
)]

pub mod agreement;
pub mod generate;
pub mod inject;
pub mod large;
pub mod measure;
