//! What CPython refuses when it compiles, beyond the grammar.
//!
//! Most of it is found by the parser crate's own checker; the walk tells it about scopes.
//! What that checker leaves to others is found in [`super::scopes`] and [`super::walk`].

use owed_engine::facts::{Damage, Span};
use owed_engine::function::FunctionFacts;
use ruff_text_size::TextRange;

use super::super::read::text::Lines;

/// A fault and where it is.
pub(super) type Fault = (String, TextRange);

/// A file that is not measured.
pub(super) fn facts(faults: Vec<Fault>, lines: &Lines<'_>) -> FunctionFacts {
    let mut damage: Vec<Damage> = faults
        .into_iter()
        .map(|(cause, range)| {
            let span = Span { start: range.start().to_u32(), end: range.end().to_u32() };
            Damage { cause: crate::measure::shown(&cause), line: lines.line(span.start), span }
        })
        .collect();
    damage.sort_by(|a, b| (a.span, &a.cause).cmp(&(b.span, &b.cause)));
    FunctionFacts { functions: Vec::new(), damage }
}
