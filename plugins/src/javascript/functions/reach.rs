//! What it takes to find what each name means, before it is done.
//!
//! The scope analysis hands a name that a scope does not bind on to the scope around it, so
//! that its work is that of names times scopes, whatever their number is. A file in which that
//! is out of all proportion is refused here. It is counted, not timed.

use oxc_ast::ast::{IdentifierReference, Program};
use oxc_ast_visit::Visit;
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::depth;

/// The place of the name at which more than `most` steps are made; `None` when they suffice.
pub(super) fn exhausted(program: &Program<'_>, text: &str, most: u64) -> Option<u32> {
    // Names are two bytes with what separates them, and scopes no more than levels.
    let bound = (text.len() as u64 / 2).saturating_mul(depth::estimate(text.as_bytes()) as u64);
    if bound <= most {
        return None;
    }
    let mut reach = Reach { open: 0, left: most, at: None };
    reach.visit_program(program);
    reach.at
}

struct Reach {
    /// Scopes around.
    open: u64,
    left: u64,
    at: Option<u32>,
}

impl<'a> Visit<'a> for Reach {
    fn enter_scope(&mut self, _: ScopeFlags, _: &std::cell::Cell<Option<ScopeId>>) {
        self.open += 1;
    }

    fn leave_scope(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        match self.left.checked_sub(self.open) {
            Some(left) => self.left = left,
            None => self.at = self.at.or(Some(name.span.start)),
        }
    }
}
