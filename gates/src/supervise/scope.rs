//! What a verdict may count for. Fewer tests never stand for more.

use std::collections::BTreeSet;

use super::Verdict;

/// What was asked for, or what ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything there is, by name.
    Full(BTreeSet<String>),
    /// A selection, by name.
    Selected(BTreeSet<String>),
}

/// Why a run does not count for what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// It was interrupted or never ran.
    NoVerdict,
    /// A full run was asked for, and a selection ran, whatever was in it.
    SelectedForFull,
    /// These were asked for and did not run; sorted.
    Missing(Vec<String>),
}

/// Whether a run of `ran` that ended with `verdict` counts for `asked`. It says nothing
/// about passing.
///
/// # Errors
/// When it does not count.
pub fn discharges(asked: &Scope, ran: &Scope, verdict: &Verdict) -> Result<(), Shortfall> {
    if !matches!(verdict, Verdict::Exit { .. }) {
        return Err(Shortfall::NoVerdict);
    }
    let (asked, ran) = match (asked, ran) {
        (Scope::Full(_), Scope::Selected(_)) => return Err(Shortfall::SelectedForFull),
        (Scope::Full(asked) | Scope::Selected(asked), Scope::Full(ran) | Scope::Selected(ran)) => {
            (asked, ran)
        }
    };
    let missing: Vec<String> = asked.difference(ran).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(Shortfall::Missing(missing)) }
}
