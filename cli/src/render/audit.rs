//! `owed audit` for people.

use std::fmt::Write as _;

use super::{View, count, style};
use crate::answer::audit::{AuditAnswer, RowSeen};
use crate::args::AuditCommand;

/// The whole answer.
pub(crate) fn audit(answer: &AuditAnswer, command: &AuditCommand, view: View) -> String {
    let mut out = String::new();
    if let Some(why) = &answer.held {
        let said = format!("held: {why}. Nothing is counted, and no receipt is reused.");
        let _ = writeln!(out, "{}", style::bad(&style::plain(&style::wrap(&said, 0, 2, view.width))));
        let next = "Next: look at .owed/audit; `owed audit acknowledge --reason TEXT` lifts a mark beside the \
                    receipts; a log that is damaged has to be moved away by hand";
        let _ = writeln!(out, "{}", style::dim(&style::wrap(next, 0, 2, view.width)));
        return out;
    }
    if let Some(row) = &answer.row {
        out += &this(row, view);
    }
    if matches!(command, AuditCommand::Acknowledge { .. }) {
        let _ = match answer.acknowledged {
            0 => writeln!(out, "There is nothing to acknowledge: no receipt is contradicted."),
            n => writeln!(out, "{}: receipts are reused again", style::good(&format!("{n} acknowledged"))),
        };
        return out;
    }
    out += &rows(answer, view);
    out += &trips(answer, view);
    out += &findings(answer, view);
    out
}

fn this(row: &RowSeen, view: View) -> String {
    let paint = match row.outcome {
        "clean" => style::good,
        "miss" => style::bad,
        _ => style::warn,
    };
    let mut out = String::new();
    let what = format!(
        "row {}{}: {} owed, {} left out, {} reported, {} failed",
        row.number,
        row.label.as_ref().map_or_else(String::new, |label| format!(" ({label})")),
        row.owed,
        row.omitted,
        row.reported,
        row.failed.len()
    );
    let _ = writeln!(out, "{} {}", paint(row.outcome), style::plain(&what));
    if row.known {
        let _ = writeln!(
            out,
            "  {}",
            style::dim("the same plan and reports were compared before; no row was added")
        );
    }
    for (word, list, paint) in [
        ("missed", &row.misses, style::bad as fn(&str) -> String),
        ("failed before", &row.preexisting, style::dim),
    ] {
        let shown = view.shown(list.len(), 20);
        for path in &list[..shown] {
            let _ = writeln!(out, "  {} {}", paint(word), style::plain(path));
        }
        out += &view.rest(list.len(), shown, "  ").unwrap_or_default();
    }
    for gap in &row.gaps {
        let _ = writeln!(out, "  {} {}", style::warn(&gap.reason), style::plain(&gap.detail));
    }
    out.push('\n');
    out
}

fn rows(answer: &AuditAnswer, view: View) -> String {
    let rows = &answer.rows;
    let sentence = format!(
        "{}: {} selective, {} complete, {} clean, {} widened, {} incomplete, {} with a miss.",
        count(rows.all, "row"),
        rows.selective,
        rows.complete,
        rows.clean,
        rows.widened,
        rows.incomplete,
        rows.misses
    );
    let mut out = format!("{}\n", style::wrap(&sentence, 0, 2, view.width));
    let verdict = if rows.ready {
        style::good(&format!("{} clean rows since the last miss: plans may decide", rows.clean_since_miss))
    } else {
        let left = format!("{} of {} clean rows since the last miss", rows.clean_since_miss, rows.needed);
        style::warn(&format!("{left}: plans may not decide yet"))
    };
    let _ = writeln!(out, "{verdict}");
    out
}

fn trips(answer: &AuditAnswer, view: View) -> String {
    let mut out = String::new();
    for trip in &answer.tripped {
        let what = format!(
            "entry {}: {} ({} in {}) passed and failed with one identity, {}",
            trip.number,
            trip.test,
            trip.runner,
            trip.project,
            &trip.identity[..trip.identity.len().min(12)]
        );
        let _ = writeln!(
            out,
            "{} {}",
            style::bad("tripped"),
            style::plain(&style::wrap(&what, 8, 2, view.width))
        );
        if trip.missing.is_empty() {
            let _ = writeln!(
                out,
                "  {}",
                style::dim("nothing that can be seen differs: chance, time, or a service")
            );
        }
        let shown = view.shown(trip.missing.len(), 10);
        for missing in &trip.missing[..shown] {
            let _ = writeln!(out, "  {} {}", style::warn(&missing.kind), style::plain(&missing.name));
        }
        out += &view.rest(trip.missing.len(), shown, "  ").unwrap_or_default();
    }
    if !answer.tripped.is_empty() {
        let next = "No receipt is reused until `owed audit acknowledge --reason TEXT`.";
        let _ = writeln!(out, "{}", style::warn(next));
    }
    out
}

fn findings(answer: &AuditAnswer, view: View) -> String {
    let found = &answer.incomplete_closures;
    let mut out = String::new();
    if found.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "{}",
        style::wrap(
            &format!(
                "{} loaded files that are not among the known inputs, and get no receipts:",
                count(found.len(), "test file")
            ),
            0,
            2,
            view.width
        )
    );
    let shown = view.shown(found.len(), 20);
    for finding in &found[..shown] {
        let more = match finding.files.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let first = finding.files.first().map_or("", String::as_str);
        let _ = writeln!(
            out,
            "  {} {}",
            style::plain(&finding.test),
            style::dim(&style::plain(&format!("{first}{more}")))
        );
    }
    out += &view.rest(found.len(), shown, "  ").unwrap_or_default();
    out
}
