//! Whether a test is already paid for: by a receipt with the very identity it has now.

use owed_engine::receipt::{Difference, Dimension, Receipt, differences};
use owed_engine::selection::Opacity;
use serde::{Deserialize, Serialize};

use super::identify::Identified;
use super::store::{Key, Last, Now, Receipts};

/// Why a test is not reused. Closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denial {
    /// The caller wants it run.
    ReuseOff,
    /// A contradiction was found by an audit and nobody has acknowledged it.
    Tripped,
    /// The owner wants it run each time.
    Policy,
    /// Its class is none that may be reused.
    Class,
    /// It loaded a file that is none of its known inputs.
    ClosureIncomplete,
    /// One of its inputs could not be looked at.
    NotLookedAt,
    /// It has not passed before, as far as receipts say.
    NoReceipt,
    /// What is there is no receipt.
    ReceiptFault,
    /// An input is not as it was.
    InputsDiffer,
}

impl Denial {
    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReuseOff => "reuse-off",
            Self::Tripped => "tripped",
            Self::Policy => "policy",
            Self::Class => "class",
            Self::ClosureIncomplete => "closure-incomplete",
            Self::NotLookedAt => "not-looked-at",
            Self::NoReceipt => "no-receipt",
            Self::ReceiptFault => "receipt-fault",
            Self::InputsDiffer => "inputs-differ",
        }
    }
}

/// The decision about one test.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It is paid for.
    Reuse(Box<Receipt>),
    /// It is to be run.
    Run {
        /// Why.
        denial: Denial,
        /// The first input that differs, or what could not be told, for a person.
        detail: String,
        /// Every input that differs.
        differences: Vec<Difference>,
    },
}

impl Decision {
    /// To be run, for a reason that needs no comparison.
    pub fn run(denial: Denial, detail: impl Into<String>) -> Self {
        Self::Run { denial, detail: detail.into(), differences: Vec::new() }
    }
}

/// Whether tests of this class may be reused at all.
pub fn may_reuse(class: Opacity) -> bool {
    matches!(class, Opacity::Pure | Opacity::Pinned)
}

/// Decides about a test whose class allows reuse.
pub fn decide(
    number: usize,
    key: &Key<'_>,
    identified: &Identified,
    (receipts, now): (&Receipts, &Now),
) -> Decision {
    let (members, identity) = match identified.tests.get(&number) {
        Some(Ok(found)) => found,
        Some(Err(why)) => return Decision::run(Denial::NotLookedAt, why.clone()),
        None => return Decision::run(Denial::NotLookedAt, "its inputs were not asked for"),
    };
    match receipts.find_now(key, &identity.hex(), (now, members)) {
        Ok(Some(receipt)) => return Decision::Reuse(Box::new(receipt)),
        Err(fault) => return Decision::run(Denial::ReceiptFault, fault.word()),
        Ok(None) => {}
    }
    match receipts.last(key) {
        Last::None => Decision::run(Denial::NoReceipt, "it has not passed here yet"),
        Last::Fault(fault) => Decision::run(Denial::ReceiptFault, fault.word()),
        Last::Receipt(_, None) => Decision::run(Denial::ReceiptFault, "its entries are gone"),
        Last::Receipt(_, Some(before)) => {
            let now = identified.table.of(members.numbers()).unwrap_or_default();
            let differences = differences(&before, now);
            let detail = differences.first().map_or_else(|| "the receipt is gone".to_owned(), say);
            Decision::Run { denial: Denial::InputsDiffer, detail, differences }
        }
    }
}

/// A difference in one line: `environment TZ: was unset, is set`.
pub fn say(difference: &Difference) -> String {
    let side = |seen: &Option<String>| match seen.as_deref() {
        None if difference.dimension == Dimension::Environment => "unset".to_owned(),
        None => "no input".to_owned(),
        Some(word) if !word.contains(' ') && word.len() >= 64 => "other bytes".to_owned(),
        // A digest says nothing to a person.
        Some(words) => words.split(' ').filter(|w| w.len() < 64).collect::<Vec<_>>().join(" "),
    };
    let (before, after) = (side(&difference.before), side(&difference.after));
    let name = format!("{} {}", difference.dimension.word(), difference.name);
    if before == after { format!("{name} changed") } else { format!("{name}: was {before}, is {after}") }
}
