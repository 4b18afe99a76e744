//! `owed why` for people: each reason as a chain that reads downwards, or the proof
//! that there is none.

use std::fmt::Write as _;

use super::plan::quoted;
use super::style::{self, Piece};
use super::{View, count, trouble};
use crate::answer::plan::WideningReason;
use crate::answer::why::{AbsenceProof, Answer, ReasonChain, WhyAnswer};

const REASONS: usize = 12;

/// The whole answer.
pub(crate) fn why(answer: &WhyAnswer, compared: &str, view: View) -> String {
    let mut out = String::new();
    for (index, one) in answer.answers.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out += &headline(one, compared, view);
        out += &widened(&answer.widened, view);
        let shown = view.shown(one.reasons.len(), REASONS);
        for (number, reason) in one.reasons[..shown].iter().enumerate() {
            out += &chain(number + 1, one, reason, view);
        }
        out.extend(view.rest(one.reasons.len(), shown, "  "));
        if let Some(proof) = &one.absence {
            out += &absence(proof, answer, view);
        }
    }
    out += &trouble::not_checked(&answer.not_checked, view);
    out += &trouble::problems(&answer.problems, view);
    out
}

fn headline(answer: &Answer, compared: &str, view: View) -> String {
    let place = match answer.project.as_str() {
        "." => answer.runner.to_owned(),
        project => format!("{} in {project}", answer.runner),
    };
    let verdict = match (answer.owed, answer.reasons.len()) {
        (false, _) => style::good("is not owed"),
        (true, 0) => style::warn("is owed because the plan widens"),
        (true, 1) => style::warn("is owed, for one reason"),
        (true, reasons) => style::warn(&format!("is owed, for {reasons} independent reasons")),
    };
    let about = format!("{compared}; opacity: {}", answer.opacity);
    format!(
        "{} ({}) {verdict}\n  {}\n",
        style::bold(&answer.path),
        style::plain(&place),
        style::wrap(&about, 2, 2, view.width)
    )
}

fn widened(reasons: &[WideningReason], view: View) -> String {
    let mut out = String::new();
    for reason in reasons {
        let sentence = if reason.path.is_empty() {
            format!("all tests are owed: {}", reason.detail)
        } else {
            format!("all tests are owed: {}: {}", reason.path, reason.detail)
        };
        let _ = writeln!(out, "\n  {}", style::wrap(&sentence, 2, 4, view.width));
    }
    out
}

fn chain(number: usize, answer: &Answer, reason: &ReasonChain, view: View) -> String {
    let mut out = String::new();
    let title = match &reason.changed {
        Some(changed) if *changed == answer.path => "the test file itself changed".to_owned(),
        Some(changed) => format!("{}: {changed} changed", reason.kind),
        None => reason.kind.to_owned(),
    };
    let _ = writeln!(out, "\n  {}", style::wrap(&format!("{number}. {title}"), 2, 5, view.width));
    if let Some(detail) = &reason.detail {
        let _ = writeln!(out, "     {}", style::wrap(detail, 5, 5, view.width));
    }
    if reason.chain.len() < 2 {
        return out;
    }
    for (depth, link) in reason.chain.iter().enumerate() {
        let last = depth + 1 == reason.chain.len();
        let step = depth.checked_sub(1).and_then(|index| {
            let from = &reason.chain[index];
            reason.steps.iter().find(|step| step.from == *from && step.to == *link)
        });
        let note = step.map(|step| match step.line {
            Some(line) => format!("{}, line {line} of {}", step.kind, basename(&step.from)),
            None => step.kind.to_owned(),
        });
        // Long chains would wander off to the right; the order is told by the lines alone.
        let indent = 5 + 2 * depth.min(12);
        let arrow = if depth == 0 { "" } else { "-> " };
        let mark = |name: &str| if last { style::changed(name) } else { style::plain(name) };
        let mut pieces =
            vec![Piece::new(&format!("{arrow}{link}"), |_| format!("{}{}", style::dim(arrow), mark(link)))];
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        pieces.extend(note.split(' ').skip(1).map(|word| Piece::new(word, style::dim)));
        let _ =
            writeln!(out, "{}{}", " ".repeat(indent), style::flow(&pieces, indent, indent + 5, view.width));
    }
    out
}

fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn absence(proof: &AbsenceProof, answer: &WhyAnswer, view: View) -> String {
    let mut out = String::new();
    let mut sentences = Vec::new();
    if proof.changes == 0 {
        sentences.push("Nothing changed. Ask about a file with --changed PATH.".to_owned());
    } else {
        let looked = match &answer.changes[..] {
            [one] => format!("{one} is not among them"),
            many => format!("none of {} is among them", count(many.len(), "changed path")),
        };
        sentences.push(format!("It depends on {}; {looked}.", count(proof.closure, "file")));
        match &proof.nearest_common {
            Some(common) => sentences.push(format!(
                "Nearest: both this test and an importer of the change reach {common}, but no chain leads from the test to the change."
            )),
            None => sentences.push("It shares no file with what depends on the change.".to_owned()),
        }
    }
    out.push('\n');
    for sentence in sentences {
        let _ = writeln!(out, "  {}", style::wrap(&sentence, 2, 2, view.width));
    }
    if !proof.others.is_empty() {
        let _ = writeln!(out, "\n  {}", style::dim("Tests that do depend on the change:"));
        for other in &proof.others {
            let _ = writeln!(out, "    {}", style::plain(other));
        }
        if !view.quiet
            && let Some(first) = proof.others.first()
        {
            let _ = writeln!(out, "\n{}", style::dim(&format!("Next: owed why {}", quoted(first))));
        }
    }
    out
}
