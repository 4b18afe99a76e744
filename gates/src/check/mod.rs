//! Recorded checks: a command, and a record of it that cannot claim more than is known.
//!
//! A check is one command under one identity. Its intent is durable before it is let go,
//! its typed outcome before anybody is told. The same identity again gives the saved
//! result and executes nothing; another submission under it is refused; what is pending or
//! unknown is never repeated, not under another identity either, until it is settled by
//! proof. [`Checks::run`] is the way in; [`Checks::show`], [`Checks::list`] and
//! [`Checks::settle`] look and retire.
//!
//! What this refuses to do: judge output, claim that exit code 0 means that assertions
//! ran or another one that one failed, approve anything, notice that two differently
//! spelled commands do the same, or run a command elsewhere than at the root of the
//! project (a command may change directory by itself).

mod answer;
mod at_work;
pub mod dispatch;
mod exec;
mod inspect;
pub mod legacy;
pub mod note;
pub mod notes;
mod observer;
mod ongoing;
mod refusal;
mod run;
mod session;
mod submission;
mod suggest;
pub mod untrusted;

pub use answer::{Answer, Receipt, State};
pub use dispatch::Command;
pub use exec::Executor;
pub use inspect::{Listing, SettledCall};
pub use notes::{Checkpoint, CheckpointFault, Kept};
pub use observer::print_observation;
pub use refusal::Why;
pub use run::{Checks, Identity};
pub use session::{Allowance, DEFAULT_TIMEOUT, LONGEST_TIMEOUT, PREFLIGHT_ALLOWANCE, Session};
pub use submission::Submission;
pub use suggest::{Suggestion, suggest};
