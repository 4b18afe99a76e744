//! Test runs: what is owed is run, what is paid for is not, and passing runs leave receipts.
//!
//! - [`look`] sees the inputs that [`owed_engine::receipt`] names: files, listings, packages,
//!   environment, toolchain. It is the door to the disk here.
//! - [`store`] keeps receipts and the tables of their entries.
//! - [`environment`] says which names a child sees and which of them count.
//! - [`toolchain`] chooses interpreters and programs, and never another one silently.
//! - [`digests`] spares reading what was read before and was not written since.
//! - `asked` asks interpreters what they are, and `startup` looks at what they load by
//!   themselves.
//! - [`execute`] runs one command of a runner under supervision and judges its report.
//! - [`mod@full`] is the receipt of a run of everything, [`coverage`] what runs leave besides.
//! - [`observed`] keeps what tests really loaded, which only adds to what owes and denies.
//! - [`identify`] gives each test its identity, [`decide`] says whether it is paid for, and
//!   [`settle`] what a run is worth once its inputs have been looked at again.
//!
//! What it refuses to do: it reuses nothing whose class is not pure or pinned, writes no
//! receipt when any input differs after the run from what it was before, and takes no
//! verdict from terminal text.

mod asked;
pub mod coverage;
pub mod decide;
pub mod digests;
pub mod environment;
pub mod execute;
pub mod full;
pub mod identify;
pub mod look;
pub mod observed;
mod packages;
pub mod settle;
mod startup;
pub mod store;
pub mod toolchain;
