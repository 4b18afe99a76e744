//! GitHub workflow commands: one annotation a finding. What was not checked is an error, and
//! the ledger of files is a notice, so that a run that looked at nothing shows.

use std::fmt::Write as _;

use crate::answer::check::CheckAnswer;
use crate::render::count;

/// The annotations, one a line.
pub(crate) fn annotations(answer: &CheckAnswer) -> String {
    let mut out = String::new();
    let mut say = |level: &str, place: &[(&str, String)], text: &str| {
        let place: Vec<String> =
            place.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
        let space = if place.is_empty() { "" } else { " " };
        let _ = writeln!(out, "::{level}{space}{}::{}", place.join(","), data(text));
    };
    for file in &answer.files.not_checked {
        let mut place = vec![("file", file.path.clone())];
        place.extend(file.line.map(|line| ("line", line.to_string())));
        place.push(("title", "NOT CHECKED".to_owned()));
        say("error", &place, &format!("NOT CHECKED ({}): {}", file.reason, super::reason(file.reason)));
    }
    for function in answer.functions.iter().filter(|function| function.over) {
        let passes = function.debt.as_ref().is_some_and(|debt| debt.passes);
        let place = [
            ("file", function.path.clone()),
            ("line", function.start_line.to_string()),
            ("endLine", function.end_line.to_string()),
            ("title", "function over its cap".to_owned()),
        ];
        say(if passes { "notice" } else { "error" }, &place, &super::sentence(function));
    }
    for group in answer.repeated.iter().filter(|group| group.status == "new") {
        let first = &group.members[0];
        let place = [
            ("file", first.path.clone()),
            ("line", first.start_line.to_string()),
            ("endLine", first.end_line.to_string()),
            ("title", "repeated implementation".to_owned()),
        ];
        say("notice", &place, &super::group_sentence(group));
    }
    let rules: Vec<String> =
        answer.files.excluded.iter().map(|rule| format!("{} {}", rule.rule, rule.count)).collect();
    let ledger = format!(
        "{} checked, {} NOT CHECKED, {} excluded ({})",
        count(answer.files.checked, "file"),
        answer.files.not_checked.len(),
        answer.excluded(),
        if rules.is_empty() { "no rule applied".to_owned() } else { rules.join(", ") }
    );
    say("notice", &[("title", "owed check".to_owned())], &ledger);
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
