//! What each test depends on that is not a file: its class, with every reason.
//!
//! The class of a test is the worst of what its closure cannot name. What every test has
//! in common (runner configuration, manifests, the toolchain) is in every identity and
//! does not lower a test's class; shared setup does.
//!
//! An effect in the body of a declaration counts for a test only when the test can bring
//! that declaration to life ([`units`] has the rules); an effect of a module's own
//! statements counts for whoever loads the module.

mod cause;
mod classes;
mod costs;
mod liveness;
mod lookup;
mod module;
mod packages;
mod reach;
mod report;
mod stopped;
mod units;

pub(crate) use classes::Classes;
pub(crate) use module::is_chain;
pub use packages::Budget;
pub use report::{
    FileOpacity, Held, Kind, OpacityOptions, OpacityReport, PinName, ReasonFor, ReasonHere, TestOpacity,
    opacity, opacity_with,
};
