//! `owed run` for people: what failed first, then what was run, then what was not and why
//! that is safe.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use owed_gates::runs::execute::Executed;

use super::{View, count, style};
use crate::answer::run::{RunAnswer, TestResult};

/// Lines of a runner's own output that are shown for a command with a failure.
const OUTPUT: usize = 60;

/// The whole answer.
pub(crate) fn run(answer: &RunAnswer, executed: &[Executed], sentence: &str, view: View) -> String {
    let mut out = String::new();
    for done in executed.iter().filter(|done| is_bad(done)) {
        out += &printed(done, view);
    }
    let of = |outcome: &str| answer.results.iter().filter(|r| r.outcome == outcome).count();
    let ran = answer.results.len() - answer.reused - of("not-run");
    let mut parts = vec![format!("{ran} run"), format!("{} reused", answer.reused)];
    if of("failed") > 0 {
        parts.push(format!("{} failed", of("failed")));
    }
    if of("not-run") > 0 {
        parts.push(format!("{} not run", of("not-run")));
    }
    if of("interrupted") > 0 {
        parts.push(format!("{} interrupted", of("interrupted")));
    }
    let owed = match answer.results.len() {
        0 => "nothing owed".to_owned(),
        n => format!("{} owed: {}", count(n, "test file"), parts.join(", ")),
    };
    let head = if sentence.is_empty() { owed } else { format!("{sentence}: {owed}") };
    let paint = match answer.verdict {
        "passed" => style::good,
        "failed" => style::bad,
        _ => style::warn,
    };
    let _ = writeln!(out, "{} {}", paint(answer.verdict), style::wrap(&head, 0, 2, view.width));
    for why in &answer.no_verdict {
        let _ = writeln!(out, "  {} {}", style::warn(&why.reason), style::plain(&why.detail));
    }
    let queue = &answer.queue;
    if !queue.pending.is_empty() && !view.quiet {
        let n = queue.pending.len();
        let stay = if n == 1 { "stays" } else { "stay" };
        let line = format!("{} without a verdict {stay} in the queue (`owed status`)", count(n, "request"));
        let _ = writeln!(out, "  {}", style::dim(&line));
    }
    out += &failures(answer, view);
    out += &audit(answer, view);
    if let Some(why) = &answer.tripped {
        out += &tripped(why, view);
    }
    out += &reasons(answer, view);
    if answer.reused > 0 && !view.quiet {
        let safe = "reused: each input (files, packages, environment, programs) has the bytes it had when the \
                    test passed; `owed receipts list` shows them";
        for line in style::wrap(safe, 0, 2, view.width).lines() {
            let _ = writeln!(out, "{}", style::dim(line));
        }
    }
    out
}

/// Nothing is reused, and what to do about it.
pub(crate) fn tripped(why: &str, view: View) -> String {
    let said = format!(
        "tripped: {why}. No receipt is reused until `owed audit acknowledge --reason TEXT`; `owed audit status` \
         shows what is known."
    );
    format!("{}\n", style::warn(&style::plain(&style::wrap(&said, 0, 2, view.width))))
}

/// What became of receipts that were put to the test.
fn audit(answer: &RunAnswer, view: View) -> String {
    let Some(audit) = &answer.audit else { return String::new() };
    let mut out = String::new();
    let said = format!(
        "audit of {} %: {} run that {} paid for, {} passed again, {} contradicted",
        audit.percent,
        audit.sampled,
        if audit.sampled == 1 { "was" } else { "were" },
        audit.confirmed,
        audit.contradicted.len()
    );
    let paint = if audit.contradicted.is_empty() { style::dim } else { style::bad };
    let _ = writeln!(out, "{}", paint(&said));
    for one in &audit.contradicted {
        let what = format!("{} ({}) failed with the inputs it passed with", one.test, one.runner);
        let _ = writeln!(out, "  {}", style::plain(&what));
        for missing in &one.missing {
            let _ = writeln!(out, "    {} {}", style::warn(&missing.kind), style::plain(&missing.name));
        }
        if one.missing.is_empty() {
            let _ = writeln!(
                out,
                "    {}",
                style::dim("nothing that can be seen differs: chance, time, or a service")
            );
        }
    }
    if !audit.contradicted.is_empty() {
        out += &tripped("a receipt was contradicted", view);
    }
    out
}

fn is_bad(done: &Executed) -> bool {
    done.ended != "exit 0"
}

fn printed(done: &Executed, view: View) -> String {
    // What a program of the project printed is not trusted with the terminal.
    let text = anstream::adapter::strip_str(&done.output).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let skip = if view.verbose { 0 } else { lines.len().saturating_sub(OUTPUT) };
    let mut out = String::new();
    let _ =
        writeln!(out, "{}", style::dim(&format!("$ {} ({})", done.invocation.argv.join(" "), done.ended)));
    if skip > 0 {
        let _ =
            writeln!(out, "{}", style::dim(&format!("… {} left out (-v shows all)", count(skip, "line"))));
    }
    for line in &lines[skip..] {
        let _ = writeln!(out, "  {}", style::plain(line));
    }
    out.push('\n');
    out
}

fn failures(answer: &RunAnswer, view: View) -> String {
    let bad: Vec<&TestResult> = answer.results.iter().filter(|r| r.outcome == "failed").collect();
    let shown = view.shown(bad.len(), 20);
    let mut out = String::new();
    for result in &bad[..shown] {
        let cases = result.cases;
        let _ = writeln!(
            out,
            "  {} {} ({}, {} failed of {})",
            style::bad("failed"),
            style::plain(&result.path),
            result.runner,
            cases.failed,
            cases.passed + cases.failed + cases.skipped
        );
        if let Some(first) = result.errors.first().and_then(|text| text.lines().next()) {
            let _ = writeln!(out, "    {}", style::dim(&style::plain(first)));
        }
    }
    out += &view.rest(bad.len(), shown, "  ").unwrap_or_default();
    out
}

/// Why tests were run that might have been reused, most frequent first.
fn reasons(answer: &RunAnswer, view: View) -> String {
    let mut counted: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for why in answer.results.iter().filter(|r| r.outcome != "reused").filter_map(|r| r.denied.first()) {
        *counted.entry((&why.reason, &why.detail)).or_default() += 1;
    }
    let mut sorted: Vec<_> = counted.into_iter().collect();
    sorted.sort_by_key(|((reason, detail), n)| (std::cmp::Reverse(*n), *reason, *detail));
    let shown = view.shown(sorted.len(), 8);
    let mut out = String::new();
    if !sorted.is_empty() {
        let _ = writeln!(out, "{}", style::dim("not reused because:"));
        for ((reason, detail), n) in &sorted[..shown] {
            let _ = writeln!(out, "  {n:>5}  {} {}", style::plain(reason), style::dim(&style::plain(detail)));
        }
        out += &view.rest(sorted.len(), shown, "  ").unwrap_or_default();
    }
    out
}
