//! What a run is worth, once its inputs have been looked at again.
//!
//! A receipt is written only when every input of the test is what it was before the run, was
//! not written to in between (an edit that was taken back counts), and the report says that
//! the test passed and nothing about it stands against a receipt.

use owed_engine::outcome::{FileOutcome, Outcome};
use owed_engine::receipt::{Receipt, Scope, differences};

use super::decide::say;
use super::identify::Identified;
use super::observed::{Loaded, members_of};
use super::store::{Key, Receipts};

/// What became of a test that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// A receipt was written.
    Receipt(String),
    /// None, because of what the report says.
    Report,
    /// None, because an input changed while it ran: the run certifies nothing, and a
    /// verdict of it is none.
    Stale(String),
    /// None, because its inputs cannot be named; the verdict stands.
    Unnamed,
    /// None, because it could not be written.
    Unwritten(String),
}

/// Settles one test. `class` is the word of its class, `before` and `after` its inputs around
/// the run; `None` when they were not looked at. `loaded` is what it loaded, when that is known.
pub fn settle(
    (before_number, after_number): (usize, Option<usize>),
    key: &Key<'_>,
    class: &str,
    (outcome, loaded): (&FileOutcome, Option<&Loaded>),
    (before, after): (&Identified, &Identified),
    (receipts, table): (&Receipts, Option<&str>),
) -> Settled {
    let Some(Ok((members, identity))) = before.tests.get(&before_number) else { return Settled::Unnamed };
    let Some(after_number) = after_number else {
        return Settled::Stale(format!("{} is no test any more", key.test));
    };
    match after.tests.get(&after_number) {
        Some(Ok((now, again))) if identity != again => {
            let was = before.table.of(members.numbers()).unwrap_or_default();
            let is = after.table.of(now.numbers()).unwrap_or_default();
            let first = differences(was, is).first().map_or_else(String::new, say);
            return Settled::Stale(first);
        }
        Some(Ok(_)) => {}
        Some(Err(why)) => return Settled::Stale(why.clone()),
        None => return Settled::Stale("its inputs cannot be named any more".to_owned()),
    }
    if let Some(path) = before.written(before_number, after) {
        return Settled::Stale(format!("{path} was written while the test ran"));
    }
    if outcome.outcome != Outcome::Passed || !outcome.no_receipt.is_empty() {
        return Settled::Report;
    }
    let Some(table) = table else {
        return Settled::Unwritten("the table of entries is not there".to_owned());
    };
    let mut receipt = Receipt::new(
        Scope::File,
        key.test,
        key.runner,
        (key.project, key.name),
        &identity.hex(),
        (table, members.clone()),
        class,
        (outcome.cases, outcome.ms),
    )
    .of_types(key.types);
    if let Some(loaded) = loaded {
        receipt = receipt.with_observed(members_of(&before.table, members, loaded));
    }
    match receipts.put_receipt(&receipt) {
        Ok(()) => Settled::Receipt(receipt.id().to_owned()),
        Err(error) => Settled::Unwritten(error.to_string()),
    }
}
