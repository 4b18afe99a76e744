//! `owed doctor` for people.

use std::fmt::Write as _;

use super::{View, count, style, trouble};
use crate::answer::doctor::{DoctorAnswer, RunnerFound};

const COSTS: usize = 10;

/// The whole answer.
pub(crate) fn doctor(answer: &DoctorAnswer, view: View) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", style::bold("Tools"));
    for tool in &answer.tools {
        let mark = mark(tool.version.is_some(), tool.needed);
        let version = tool.version.as_deref().unwrap_or("not found");
        let _ = writeln!(out, "  {mark} {} {version}  {}", style::plain(tool.name), style::dim(tool.purpose));
    }
    let _ = writeln!(out, "\n{}", style::bold("Repository"));
    for finding in &answer.repository {
        let _ = writeln!(
            out,
            "  {} {}",
            mark(finding.fine, false),
            style::wrap(&finding.detail, 5, 5, view.width)
        );
    }
    let config = answer.config.as_deref().unwrap_or("none (the defaults hold; `owed init` writes one)");
    let _ = writeln!(out, "  {} configuration: {config}", mark(true, false));
    let _ = writeln!(
        out,
        "\n{} {}",
        style::bold("Runner projects"),
        style::dim(&format!(
            "({} in {} considered)",
            count(answer.tests, "test file"),
            count(answer.files, "file")
        ))
    );
    if answer.projects.is_empty() {
        let sentence =
            "No test runner was recognised: vitest, jest, mocha, node:test, pytest and unittest are known.";
        let _ = writeln!(out, "  {} {}", mark(false, false), style::wrap(sentence, 5, 5, view.width));
    }
    for project in &answer.projects {
        out += &runner(project, view);
    }
    out += &costs(answer, view);
    out += &trouble::not_checked(&answer.not_checked, view);
    out
}

fn runner(project: &RunnerFound, view: View) -> String {
    let mut out = String::new();
    let name = project.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let installed = match project.installed {
        Some(true) => "installed",
        Some(false) => "not installed (plans do not need it; running does)",
        None => "installation not looked for",
    };
    let settled = if project.settled { "configuration understood" } else { "configuration not settled" };
    let line = format!(
        "{} in {}{name}: {}, {settled}, {installed}",
        project.runner,
        project.project,
        count(project.tests, "test file")
    );
    let _ = writeln!(out, "  {} {}", mark(project.settled, false), style::wrap(&line, 5, 7, view.width));
    let shown = view.shown(project.unsettled.len(), 3);
    for reason in &project.unsettled[..shown] {
        let _ = writeln!(out, "       {}", style::wrap(reason, 7, 9, view.width));
    }
    out.extend(view.rest(project.unsettled.len(), shown, "       "));
    out
}

fn costs(answer: &DoctorAnswer, view: View) -> String {
    let mut out = format!("\n{}\n", style::bold("What costs precision"));
    if answer.costs.is_empty() {
        let _ = writeln!(out, "  {} nothing that was found", mark(true, false));
    }
    let shown = view.shown(answer.costs.len(), COSTS);
    for cost in &answer.costs[..shown] {
        let sentence = format!("{}: {}", count(cost.tests, "test file"), cost.detail);
        let _ = writeln!(out, "  {} {}", mark(false, false), style::wrap(&sentence, 5, 7, view.width));
    }
    out.extend(view.rest(answer.costs.len(), shown, "  "));
    out
}

fn mark(fine: bool, needed: bool) -> String {
    match (fine, needed) {
        (true, _) => style::good("ok"),
        (false, true) => style::bad("!!"),
        (false, false) => style::warn("--"),
    }
}
