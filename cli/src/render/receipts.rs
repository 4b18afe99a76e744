//! `owed receipts` for people.

use std::fmt::Write as _;

use super::{View, count, style};
use crate::answer::receipts::{ReceiptSeen, ReceiptsAnswer};
use crate::args::ReceiptsCommand;

/// The whole answer.
pub(crate) fn receipts(answer: &ReceiptsAnswer, command: &ReceiptsCommand, view: View) -> String {
    let mut out = match command {
        ReceiptsCommand::List | ReceiptsCommand::Verify => listed(answer, view),
        ReceiptsCommand::Show { .. } => answer.receipts.iter().map(|receipt| shown(receipt, view)).collect(),
        ReceiptsCommand::Diff { .. } => {
            let same = "Both have the same identity: every input is equal.\n";
            if answer.differences.is_empty() { same.to_owned() } else { differing(answer, view) }
        }
        ReceiptsCommand::WhyNot { .. } => match answer.receipts.first() {
            Some(receipt) => format!(
                "{}: receipt {} has the identity that the test has now\n",
                style::good("it is reused"),
                &receipt.id[..12]
            ),
            None => differing(answer, view),
        },
        ReceiptsCommand::Prune => format!("{} removed\n", count(answer.removed, "file")),
    };
    if let Some(why) = &answer.tripped {
        out += &super::run::tripped(why, view);
    }
    out
}

fn listed(answer: &ReceiptsAnswer, view: View) -> String {
    let mut out = format!("{}\n", count(answer.receipts.len(), "receipt"));
    let shown = view.shown(answer.receipts.len(), 40);
    for receipt in &answer.receipts[..shown] {
        let state = match receipt.state {
            "whole" | "current" => style::good(receipt.state),
            other => style::warn(other),
        };
        let _ = writeln!(
            out,
            "  {}  {} ({}, {}, {} passed) {state}",
            style::dim(&receipt.id[..12]),
            style::plain(&receipt.test),
            receipt.runner,
            receipt.class,
            receipt.cases.passed
        );
        if let Some(first) = answer.differences.iter().find(|d| d.test == receipt.test)
            && receipt.state == "stale"
        {
            let _ = writeln!(out, "      {}", style::dim(&style::plain(&first.detail)));
        }
    }
    out += &view.rest(answer.receipts.len(), shown, "  ").unwrap_or_default();
    for file in &answer.ignored {
        let _ = writeln!(out, "  {} {} is no receipt", style::bad(file.reason), style::plain(&file.file));
    }
    out
}

fn shown(receipt: &ReceiptSeen, view: View) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", style::bold(&receipt.test), style::dim(&receipt.id));
    let _ =
        writeln!(out, "  {} in {}, {}, {}", receipt.runner, receipt.project, receipt.class, receipt.state);
    let _ = writeln!(out, "  identity {}", receipt.identity);
    let mut last = "";
    let mut left = 0;
    let mut here = 0;
    for entry in &receipt.entries {
        if entry.dimension != last {
            here = 0;
            last = entry.dimension;
            let all = receipt.entries.iter().filter(|e| e.dimension == last).count();
            let _ = writeln!(out, "  {} ({all})", style::bold(last));
        }
        here += 1;
        if here <= 12 || view.verbose {
            let seen = entry.seen.split(' ').map(|w| if w.len() >= 64 { &w[..12] } else { w });
            let seen = seen.collect::<Vec<_>>().join(" ");
            let _ = writeln!(out, "    {} {}", style::plain(&entry.name), style::dim(&style::plain(&seen)));
        } else {
            left += 1;
        }
    }
    if left > 0 {
        let _ =
            writeln!(out, "  {}", style::dim(&format!("… and {left} more (-v or --format json shows all)")));
    }
    out
}

fn differing(answer: &ReceiptsAnswer, view: View) -> String {
    let mut out = String::new();
    let all = &answer.differences;
    let shown = view.shown(all.len(), 20);
    for (number, difference) in all[..shown].iter().enumerate() {
        let word = if number == 0 { style::warn(&difference.reason) } else { style::dim(&difference.reason) };
        let _ = writeln!(out, "{word} {}", style::plain(&difference.detail));
    }
    out += &view.rest(all.len(), shown, "").unwrap_or_default();
    out
}
