//! Proof that plans and receipts may be believed, and what happens when they may not.
//!
//! - [`reports`] reads what runners say of a full run, in their own formats.
//! - [`mod@compare`] holds a plan against it and says what the row is: a miss, widened,
//!   incomplete or clean.
//! - [`log`] keeps rows, trips and acknowledgements: sealed, chained, with a second place
//!   that says how many there are.
//! - [`mod@sample`] chooses which receipts are put to the test, by their identities alone.
//! - [`mod@missing`] looks for what a contradicted receipt did not know of.
//! - [`trip`] is what a contradiction leaves behind: no receipt is reused until somebody has
//!   said why that is safe again.
//!
//! What it refuses to do: count a row of which a report is missing, count the same run twice,
//! or take a log that is damaged for one that is empty.

pub mod compare;
pub mod log;
pub mod missing;
pub mod reports;
pub mod sample;
pub mod trip;

pub use compare::{Compared, Gap, Named, Plan, Row, RowOutcome, compare};
pub use log::{Event, Held, Log, Noted};
pub use missing::missing;
pub use sample::{Percent, sampled};
pub use trip::{Missing, Standing, Trip};
