//! What was decided, counted, and what was wrong with it.

use std::collections::BTreeMap;
use std::fmt;

/// Counts over all projects.
#[derive(Default)]
pub(crate) struct Tally {
    /// Decisions about one test file each.
    pub(crate) decisions: u64,
    /// Of them, reuses, by kind of project.
    pub(crate) reused: BTreeMap<&'static str, [u64; 2]>,
    /// Calls of `owed run`, and those that gave no answer.
    pub(crate) calls: [u64; 2],
    /// By kind of mutation: how often, decisions after it, reuses after it.
    pub(crate) mutations: BTreeMap<&'static str, [u64; 3]>,
    /// By reason and dimension: denials, and those after which the test saw what it had seen
    /// when its last receipt was made.
    pub(crate) denials: BTreeMap<String, [u64; 2]>,
    /// Verdicts of `owed` that the bare runner does not share, by what they were.
    pub(crate) other_verdicts: BTreeMap<String, u64>,
    /// Reuses whose fresh run fails or sees something else.
    pub(crate) wrong: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reused: u64 = self.reused.values().map(|[_, reused]| reused).sum();
        writeln!(
            f,
            "{} decisions, {reused} reuses ({}), {} wrong",
            self.decisions,
            share(reused, self.decisions),
            self.wrong.len()
        )?;
        writeln!(
            f,
            "{} calls of `owed run`, {} without an answer (a program was missing)",
            self.calls[0], self.calls[1]
        )?;
        writeln!(f, "\nby kind of project: decisions, reused")?;
        for (kind, [all, reused]) in &self.reused {
            writeln!(f, "  {all:>7} {:>7}  {kind}", share(*reused, *all))?;
        }
        writeln!(f, "\nby kind of mutation (one to three before each call): how often, decisions, reused")?;
        for (kind, [times, all, reused]) in &self.mutations {
            writeln!(f, "  {times:>5} {all:>7} {:>7}  {kind}", share(*reused, *all))?;
        }
        writeln!(
            f,
            "\nwhy it was not reused: how often, and how often it saw the same as when it last passed"
        )?;
        for (reason, [times, same]) in &self.denials {
            writeln!(f, "  {times:>6} {same:>6}  {reason}")?;
        }
        writeln!(f, "\nverdicts of a run that the bare runner does not share:")?;
        for (what, times) in &self.other_verdicts {
            writeln!(f, "  {times:>6}  {what}")?;
        }
        for wrong in &self.wrong {
            writeln!(f, "\nWRONG {wrong}")?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share of small counts, for a person")]
fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}
