//! Reading and writing `owed.debt.toml`.

use owed_engine::check::{DEBT_FILE, Debt, Policy, Report, update};

use crate::complaint::Complaint;
use crate::host;
use crate::render::{count, style};
use crate::session::Session;

/// The recorded debt; `None` when there is no file.
pub(super) fn read(session: &Session) -> anyhow::Result<Option<Debt>> {
    let tree = session.tree();
    if tree.kind(DEBT_FILE).is_none() {
        return Ok(None);
    }
    let text = tree.text(DEBT_FILE).ok_or_else(|| {
        Complaint::new(
            format!("{DEBT_FILE} cannot be read"),
            "make it readable UTF-8; without it, debt would seem new",
        )
    })?;
    let debt = Debt::parse(&text).map_err(|error| {
        let next = format!("correct it, or take it from git: git checkout HEAD -- {DEBT_FILE}");
        Complaint::new(format!("{DEBT_FILE}:{}: {}", error.line, error.message), next)
    })?;
    Ok(Some(debt))
}

/// Writes what `report` justifies, and says what that is.
pub(super) fn write(
    session: &Session,
    recorded: Option<&Debt>,
    report: &Report,
    policy: &Policy,
    measures: &[(String, String)],
    accept: Option<&str>,
) -> anyhow::Result<String> {
    if accept.is_some_and(|reason| reason.trim().is_empty()) {
        return Err(Complaint::new("--accept-growth needs a reason", "say why the debt may grow").into());
    }
    let next = update(recorded, report, policy, measures, accept.map(str::trim));
    let text = next.render();
    let same = recorded.is_some_and(|debt| debt.render() == text);
    if !same {
        host::write(&session.site.root.join(DEBT_FILE), &text)?;
    }
    let left_out = report.functions.iter().filter_map(|function| function.debt.as_ref()).filter(|debt| {
        let raised = next.functions.iter().any(|entry| entry.identity == debt.identity);
        !debt.passes && !raised
    });
    let left_out = left_out.count();
    let did = match (recorded, same) {
        (None, _) => "written",
        (Some(_), true) => "unchanged",
        (Some(_), false) => "updated",
    };
    let entries = count(next.functions.len(), "function");
    let groups = count(next.repeated.len(), "accepted group");
    let mut said = format!("{DEBT_FILE} {did}: {entries}, {groups}");
    if left_out > 0 {
        said += &style::warn(&format!(
            "; {left_out} left out, because new, grown and revealed debt needs --accept-growth REASON"
        ));
    }
    Ok(said)
}
