//! Recorded checks, row by row of the behaviours (A1 to A48): the name of a test names the
//! row it holds. Rows about single processes (A28, A33, A34, A42) and D1 to D8 have more
//! tests in `supervise`, A7 in `observe`.

mod admission;
mod capacity;
mod notes;
mod outcome;
mod recovery;
mod replay;
mod world;
