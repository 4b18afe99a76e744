//! Supervised processes: one command, the tree it grows, and a verdict that says how it
//! ended.
//!
//! # Why a process of its own
//!
//! A command is not started by the program that wants it but by a small *supervisor*
//! ([`serve`]), a second process of the same binary. It is a session leader and a *child
//! subreaper*: whatever the command starts, daemons that called `setsid` twice included,
//! becomes a child of the supervisor once its parent is gone. `wait` then knows when
//! nothing is left, which no list of process groups can say. This needs no privilege and
//! no cgroup.
//!
//! The supervisor also outlives its owner by a moment: when the owner dies (`kill -9`),
//! its end of the control pipe closes, the tree is killed and the *exit record*, a file,
//! says so. That record is what a later `settle` may rely on.
//!
//! # The order of things
//!
//! ```text
//! owner                                supervisor                     command
//!   | Supervisor::prepare ── request ──> | (new session, subreaper)
//!   | <─────────────── ready, identity ─ |
//!   | the caller makes "dispatched" durable
//!   | Prepared::run ──────────── go ───> | ── spawn ──────────────────> |
//!   | <──────────────────────── started ─|                              |
//!   | ── stop, or the pipe closes ─────> | ── TERM, then KILL the tree ─> x
//!   | <──────── ended, the whole report ─| (exit record is durable before)
//! ```
//!
//! Without `go` nothing is ever started: a caller that dies before it has written down
//! that it dispatched has started nothing.
//!
//! # What this module refuses to do
//!
//! It takes no lease and queues nothing, judges no output, and makes no success out of
//! a lost answer: what the supervisor did not report is [`Lost`]. Memory is watched by
//! sampling, so a peak between two samples is not seen. Linux only so far: elsewhere
//! [`Supervisor::prepare`] answers [`NotRun::UnsupportedPlatform`].
#![expect(clippy::disallowed_methods, reason = "this module is the door to processes, their clock and /proc")]

use crate::lease::ProcessIdentity;

#[cfg(target_os = "linux")]
mod capture;
mod events;
mod identity;
mod memory;
mod owner;
mod record;
mod request;
mod scope;
#[cfg(target_os = "linux")]
mod server;
mod tree;
mod verdict;

pub use memory::{
    ADAPTER_HEAP, Deferred, GIB, Memory, RESERVE, Weight, own as own_memory, workers, workers_now,
};
pub use owner::{Ended, Lost, Prepared, Stop, StopReason, Supervisor};
pub use record::{NoRecord, Standing};
pub use request::{Keep, Limits, Request};
pub use scope::{Scope, Shortfall, discharges};
#[cfg(target_os = "linux")]
pub use server::serve;
pub use tree::survivors;
pub use verdict::{Exit, Interruption, NotRun, Report, Source, Stream, Verdict};

/// Serves nothing: supervision is built for Linux only, and [`Supervisor::prepare`] says so
/// before it starts anything.
#[cfg(not(target_os = "linux"))]
pub fn serve() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
