//! Errors that are none of the grammar's, but that node or TypeScript refuse before the
//! program runs.

use owed_engine::facts::{Damage, Span};
use owed_engine::function::FunctionFacts;
use oxc_ast::ast::Program;
use oxc_semantic::{Scoping, SemanticBuilder};

use super::super::read::lines::Lines;
use super::super::read::parse::{self, Fault};

/// The scopes of a program and its early errors. The scripts of one template are separate
/// programs that are read as one, so that names may be declared twice there; its compiler
/// has the last word.
pub(super) fn early(program: &Program<'_>, text: &str, template: bool) -> (Scoping, Vec<Fault>) {
    let builder = SemanticBuilder::new().with_stats(parse::stats(text)).with_check_syntax_error(!template);
    let answer = builder.build(program);
    let faults = if template { Vec::new() } else { parse::found(&answer.diagnostics, text) };
    (answer.semantic.into_scoping(), faults)
}

/// Whether node may wrap the file in a function: a script that no name makes a module.
pub(super) fn may_be_wrapped(extension: &str, program: &Program<'_>) -> bool {
    matches!(extension, "js" | "jsx" | "cjs") && !program.source_type.is_module()
}

/// A `return` at the top.
pub(super) fn outside_function(span: oxc_span::Span) -> Fault {
    Fault { cause: "`return` outside a function".to_owned(), start: span.start, end: span.end }
}

/// A file that is not measured.
pub(super) fn facts(faults: Vec<Fault>, lines: &Lines) -> FunctionFacts {
    let mut damage: Vec<Damage> = faults
        .into_iter()
        .map(|fault| Damage {
            cause: crate::measure::shown(&fault.cause),
            line: lines.line(fault.start),
            span: Span { start: fault.start, end: fault.end },
        })
        .collect();
    damage.sort_by(|a, b| (a.span, &a.cause).cmp(&(b.span, &b.cause)));
    FunctionFacts { functions: Vec::new(), damage }
}
