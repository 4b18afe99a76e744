//! Which inputs decide a test's verdict, as values: what must be equal for a passing run to
//! stand for another one.
//!
//! [`mod@inputs`] says which inputs a test has, from the graph. Whoever may touch files and
//! environments looks at each once and makes [`Entry`] values of them; [`Table`] keeps them
//! once for all tests, and a test's [`Identity`] is the hash of its entries. Two identities
//! are equal when every entry is; when they are not, [`differences`] names what differs.
//!
//! Nothing here reads a file or knows a value: entries hold names and digests. Whether a
//! test may be reused at all (its class) is not decided here either.

pub mod inputs;
mod members;
mod seal;
mod table;

pub use inputs::{Input, Inputs, inputs};
pub use members::{Marks, Members};
pub use seal::{Receipt, ReceiptFault, Scope};
pub use table::{Difference, Dimension, Entry, Identity, Table, differences};
