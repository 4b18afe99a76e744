//! The ledger: what was started, and what became of it.
//!
//! ```text
//! .owed/.gitignore          "*"
//! .owed/ledger/RUN/frames   the record of one run: append-only frames, a fault domain of its own
//! .owed/acks/RUN            the second place: how far the run was acknowledged
//! .owed/cache/ledger.sqlite an index for listing, rebuilt from the frames
//! ```
//!
//! [`Store::open`] gives a [`Run`] to write in the name of a [`Claim`]; [`Store::inspect`]
//! reads one without writing a byte. A step is acknowledged (its method returns `Ok`) when
//! its frame is durable and the second place says so.
//!
//! What it refuses to do: make up what is absent, skip what is damaged, repair what was
//! acknowledged, repeat what is uncertain. A torn tail that nobody was told about is cut off;
//! everything else that is wrong makes the run *held* ([`Hold`]).

mod ack;
mod call;
pub mod capacity;
mod frame;
mod history;
mod index;
mod names;
mod records;
mod refusal;
mod retire;
mod run;
mod scan;
mod steps;
mod store;
mod supervised;
mod terms;
mod text;
mod view;
mod words;

pub use call::{Call, PhaseRecord};
pub use frame::FORMAT;
pub use history::History;
pub use index::{Filter, HeldRun, Listing, Row};
pub use names::{CallId, Digest, Invalid, Label, RunId};
pub use records::{
    Claimed, CommandIntended, Completed, Evicted, Malformed, NotStarted, Opened, PreflightIntended, Record,
    Refused, Request, Settled, Started, Unknown, command_hash,
};
pub use refusal::{ClaimRefusal, Failure, Forgery, Hold, Persistence, Refusal};
pub use run::Run;
pub use steps::{Admission, Loss};
pub use store::{Options, Store};
pub use terms::{
    AbortSource, Claim, EndProof, Exit, ExitRecord, InfraReason, NotStartedReason, NotedRefusal, Observation,
    Outcome, Purpose, Timeout, UnknownReason,
};
pub use text::{
    COMMAND_CHARS, CommandText, Output, PREFLIGHT_STREAM_CHARS, STORED_COMMAND_CHARS, STREAM_CHARS, Stream,
};
pub use view::{Lookup, Snapshot};
