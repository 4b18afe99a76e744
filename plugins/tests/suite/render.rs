//! A selection as lines of text, for failure messages and for rewriting blocks.

use std::fmt::Write as _;

use owed_engine::problem::NotChecked;
use owed_engine::selection::{Reason, ReasonKind, Selection};

/// One reason as the right side of an `affected` line.
pub(crate) fn reason(reason: &Reason) -> String {
    let word = reason.kind.word();
    match reason.kind {
        ReasonKind::Depends => reason.chain.join(" -> "),
        ReasonKind::Changed | ReasonKind::Requested => word.to_owned(),
        ReasonKind::Package | ReasonKind::InputOpaque | ReasonKind::NotUnderstood => {
            match reason.detail.as_ref().or(reason.changed.as_ref()) {
                Some(detail) => format!("{word}: {detail}"),
                None => word.to_owned(),
            }
        }
        _ => match &reason.changed {
            Some(changed) => format!("{word}: {changed}"),
            None => word.to_owned(),
        },
    }
}

/// One unchecked file as an `unchecked` line.
pub(crate) fn unchecked(file: &NotChecked) -> String {
    match file.line {
        Some(line) => format!("{} | {}:{line}", file.path, file.reason.word()),
        None => format!("{} | {}", file.path, file.reason.word()),
    }
}

/// The whole answer.
pub(crate) fn selection(selection: &Selection) -> String {
    let mut text = String::new();
    let inventory = &selection.inventory;
    let _ = writeln!(
        text,
        "mode {}; {} files, {} tests {:?}, {} omitted",
        selection.mode.word(),
        inventory.files,
        inventory.tests,
        inventory.by_runner,
        selection.omitted
    );
    for widening in &selection.widened {
        let _ = writeln!(text, "widened: {} | {} ({})", widening.reason, widening.path, widening.detail);
    }
    for change in &selection.changes {
        let _ = writeln!(
            text,
            "change: {} {} | {} (owes {})",
            change.change.kind.word(),
            change.change.path,
            change.placed.word(),
            change.owes
        );
    }
    for test in &selection.tests {
        let _ = writeln!(
            text,
            "owed: {} [{} {:?}] {}",
            test.path,
            test.runner,
            test.project,
            test.opacity.word()
        );
        for why in &test.reasons {
            let _ = writeln!(
                text,
                "      {}  (chain {}; changed {}; detail {})",
                reason(why),
                why.chain.join(" -> "),
                why.changed.as_deref().unwrap_or("-"),
                why.detail.as_deref().unwrap_or("-")
            );
        }
    }
    for file in &selection.not_checked {
        let _ = writeln!(text, "not checked: {}", unchecked(file));
    }
    for problem in &selection.problems {
        let line = problem.line.map_or(String::new(), |l| format!(":{l}"));
        let _ = writeln!(text, "problem: {} | {}{line} ({})", problem.code, problem.path, problem.detail);
    }
    text
}
