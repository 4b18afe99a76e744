//! `owed status` for people.

use std::fmt::Write as _;

use super::{View, count, style};
use crate::answer::status::{Job, PendingRequest, StatusAnswer};

/// The whole answer.
pub(crate) fn status(answer: &StatusAnswer, view: View) -> String {
    let mut out = String::new();
    let ago = |ms: u64| age(answer.observed_ms.saturating_sub(ms));
    match answer.pending.len() {
        0 => drop(writeln!(out, "{} nothing is pending", style::good("✓"))),
        n => drop(writeln!(out, "{} without a verdict:", style::warn(&count(n, "request")))),
    }
    let shown = view.shown(answer.pending.len(), 10);
    for request in &answer.pending[..shown] {
        out += &pending(request, &ago, view);
    }
    out += &view.rest(answer.pending.len(), shown, "  ").unwrap_or_default();
    for held in &answer.held {
        let _ = writeln!(
            out,
            "{} .owed/queue/requests/{} is no request: {}; what it asked for is not known",
            style::bad("held"),
            style::plain(&held.name),
            held.why
        );
    }
    for word in &answer.acknowledged {
        let because = if word.because.is_empty() { "no reason given" } else { &word.because };
        let _ = writeln!(
            out,
            "{} {} {} ago: {}",
            style::bold("acknowledged"),
            word.id,
            ago(word.at_ms),
            style::plain(because)
        );
    }
    match &answer.job {
        Some(job) => out += &seen(job, &ago),
        None => drop(writeln!(out, "no job was seen here yet")),
    }
    let receipts = &answer.receipts;
    let ignored = match receipts.ignored {
        0 => String::new(),
        n => format!(", {} ignored (owed receipts list)", count(n, "file")),
    };
    let _ = writeln!(
        out,
        "{} of {} kept{ignored}",
        count(receipts.kept, "receipt"),
        count(receipts.tests, "test file")
    );
    if !answer.pending.is_empty() && !view.quiet {
        let _ = writeln!(out, "{}", style::dim("owed run works them off"));
    }
    out
}

fn pending(request: &PendingRequest, ago: &dyn Fn(u64) -> String, view: View) -> String {
    let mut what = match (request.full, request.paths.len()) {
        (true, _) => "every test".to_owned(),
        (false, n) => {
            let shown = view.shown(n, 3);
            let more = if shown < n { format!(" and {} more", n - shown) } else { String::new() };
            format!("{}{more}", style::plain(&request.paths[..shown].join(", ")))
        }
    };
    if request.coverage {
        what.push_str(", with coverage");
    }
    let awaited = if request.awaited > 0 { ", waited for" } else { "" };
    let mut out = format!(
        "  {} {what} {}\n",
        request.id,
        style::dim(&format!(
            "({}{awaited}, made {} ago by process {})",
            request.priority,
            ago(request.created_ms),
            request.pid
        ))
    );
    if let Some(why) = &request.deferred {
        let line = format!("put off {} ago: {} {}", ago(why.at_ms), why.reason, why.detail);
        let _ = writeln!(out, "    {}", style::wrap(&line, 4, 6, view.width));
    }
    out
}

fn seen(job: &Job, ago: &dyn Fn(u64) -> String) -> String {
    let requests = count(job.requests.len(), "request");
    match (job.ended_ms, &job.verdict) {
        (Some(ended), Some(verdict)) => {
            format!("last job: {requests} by process {}, ended {} ago: {verdict}\n", job.pid, ago(ended))
        }
        _ => format!(
            "last job: {requests}, begun {} ago by process {}; nobody has seen its end, and whether the \
             process still works is not known\n",
            ago(job.since_ms),
            job.pid
        ),
    }
}

/// `3 s`, `12 min`, `5 h`, `2 d`.
fn age(ms: u64) -> String {
    match ms / 1_000 {
        s @ 0..=119 => format!("{s} s"),
        s @ 120..=7_199 => format!("{} min", s / 60),
        s @ 7_200..=172_799 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}
