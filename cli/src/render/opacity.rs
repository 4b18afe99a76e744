//! `owed opacity` for people: how many tests have which class, what holds most of them
//! back, and for the files asked about every reason with the way to it.

use std::fmt::Write as _;

use owed_engine::facts::Opaque;
use owed_engine::selection::Opacity;

use super::{View, count, style, trouble};
use crate::answer::opacity::{ClassCount, OpacityAnswer, Pin, PlaceCost, Reason, TestClass};

const REASONS: usize = 8;
const PLACES: usize = 12;
const EACH: usize = 6;
const FEW: usize = 12;

/// The whole answer; `narrowed` when it is about some files only.
pub(crate) fn opacity(answer: &OpacityAnswer, narrowed: bool, view: View) -> String {
    let mut out = headline(answer, view);
    if narrowed || view.verbose {
        for test in &answer.tests {
            out += &one(&test.path, test.class, &test.pins, &test.reasons, Some(test), view);
        }
        if narrowed {
            let is_test = |path: &str| answer.tests.iter().any(|test| test.path == path);
            for file in answer.files.iter().filter(|file| !is_test(&file.path)) {
                if answer.tests.is_empty() || !file.reasons.is_empty() {
                    out += &one(&file.path, file.class, &file.pins, &file.reasons, None, view);
                }
            }
        }
    }
    // Of a few tests every reason was just shown.
    if !narrowed || answer.tests.is_empty() || answer.tests.len() > FEW {
        out += &reasons(answer, view);
        out += &places(answer, view);
        out += &common(answer, view);
    }
    if !narrowed && !view.verbose && !view.quiet && !answer.tests.is_empty() {
        let example = answer.tests.iter().find(|test| !test.reasons.is_empty());
        if let Some(test) = example {
            let next = format!("Next: owed opacity {}", super::plan::quoted(&test.path));
            let _ = writeln!(out, "\n{}", style::dim(&next));
        }
    }
    out += &trouble::not_checked(&answer.not_checked, view);
    out += &trouble::problems(&answer.problems, view);
    out
}

fn headline(answer: &OpacityAnswer, view: View) -> String {
    if answer.tests.is_empty() {
        let what = match answer.files.len() {
            0 => "No test file, and no source.".to_owned(),
            files => format!("No test file; {}.", count(files, "source")),
        };
        return format!("{what}\n");
    }
    let classes: Vec<String> = answer.summary.classes.iter().filter(|c| c.tests > 0).map(counted).collect();
    let text = format!("{}: {}", count(answer.tests.len(), "test file"), classes.join(", "));
    format!("{}\n", style::wrap(&text, 0, 2, view.width))
}

fn counted(class: &ClassCount) -> String {
    format!("{} {}", class.tests, class.class)
}

fn one(
    path: &str,
    class: &str,
    pins: &[Pin],
    reasons: &[Reason],
    test: Option<&TestClass>,
    view: View,
) -> String {
    let mut out = String::new();
    let runner = test.map(|test| match test.project.as_str() {
        "." => format!(" ({})", test.runner),
        project => format!(" ({} in {project})", test.runner),
    });
    let _ = writeln!(
        out,
        "\n{}{} is {}",
        style::bold(path),
        style::plain(&runner.unwrap_or_default()),
        styled(class)
    );
    if !pins.is_empty() {
        let names: Vec<String> = pins.iter().map(named).collect();
        let shown = view.shown(names.len(), REASONS);
        let mut text = format!("pinned to {}", names[..shown].join(", "));
        if shown < names.len() {
            let _ = write!(text, " and {} more", names.len() - shown);
        }
        let _ = writeln!(out, "  {}", style::wrap(&text, 2, 4, view.width));
    }
    let shown = view.shown(reasons.len(), EACH);
    for reason in &reasons[..shown] {
        out += &because(reason, view);
    }
    out.extend(view.rest(reasons.len(), shown, "  "));
    out
}

fn because(reason: &Reason, view: View) -> String {
    let mut out = String::new();
    let at = place(&reason.path, reason.line);
    let when = match &reason.declaration {
        Some(declaration) => format!(", when {declaration} is used"),
        None => String::new(),
    };
    let more = match reason.places {
        0 | 1 => String::new(),
        places => format!(", and at {} more", count(places - 1, "place")),
    };
    let label = reason.label.map_or_else(String::new, |label| format!(", {label}"));
    let text = format!("{}: {} ({}{label}{when}{more})", reason.class, reason.operation, reason.reason);
    let _ = writeln!(
        out,
        "  {}  {}",
        style::changed(&at),
        style::wrap(&text, style::width(&at) + 4, 6, view.width)
    );
    if reason.chain.len() > 1 {
        let chain = format!("{}{}", reason.chain.join(" -> "), if reason.shared { " (shared)" } else { "" });
        let _ = writeln!(out, "    {}", style::wrap(&chain, 4, 6, view.width));
    }
    let _ = writeln!(out, "    {}", style::wrap(&format!("to lift it: {}", reason.fix), 4, 6, view.width));
    out
}

fn reasons(answer: &OpacityAnswer, view: View) -> String {
    let mut out = String::new();
    let reasons = &answer.summary.reasons;
    if reasons.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{}", style::bold("What decides"));
    let shown = view.shown(reasons.len(), REASONS);
    for cost in &reasons[..shown] {
        let lifts = match cost.lifts {
            0 => String::new(),
            lifts => format!("; without it {} would be better", count(lifts, "test")),
        };
        let text = format!(
            "{} ({}): {}, {}{lifts}",
            cost.class,
            cost.reason,
            count(cost.tests, "test"),
            count(cost.places, "place")
        );
        let _ = writeln!(out, "  {}", style::wrap(&text, 2, 4, view.width));
    }
    out.extend(view.rest(reasons.len(), shown, "  "));
    out
}

fn places(answer: &OpacityAnswer, view: View) -> String {
    let mut out = String::new();
    let (missing, places): (Vec<&PlaceCost>, Vec<&PlaceCost>) =
        answer.summary.places.iter().partition(|cost| is_missing(cost));
    if answer.summary.places.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{}", style::bold("Where, most tests first"));
    out += &not_installed(answer, &missing, view);
    let shown = view.shown(places.len(), PLACES);
    for cost in &places[..shown] {
        let at = place(&cost.path, cost.line);
        let text = style::wrap(&sentence(cost), style::width(&at) + 4, 6, view.width);
        let _ = writeln!(out, "  {}  {text}", style::changed(&at));
        let lift = style::wrap(&format!("to lift it: {}", cost.fix), 6, 8, view.width);
        let _ = writeln!(out, "      {}", style::dim(&lift));
    }
    out.extend(view.rest(places.len(), shown, "  "));
    out
}

/// What configuration does: said, because people look for it here.
fn common(answer: &OpacityAnswer, view: View) -> String {
    let mut out = String::new();
    let common = &answer.summary.common;
    if common.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{}", style::bold("In every identity, so that no class is lower for it"));
    let shown = view.shown(common.len(), EACH);
    for reason in &common[..shown] {
        let at = place(&reason.path, reason.line);
        let text = format!("{} ({})", reason.operation, reason.reason);
        let text = style::wrap(&text, style::width(&at) + 4, 6, view.width);
        let _ = writeln!(out, "  {}  {text}", style::changed(&at));
    }
    out.extend(view.rest(common.len(), shown, "  "));
    out
}

/// Whether a place imports something that is not installed.
fn is_missing(cost: &PlaceCost) -> bool {
    cost.reason == Opaque::Unresolved.word() && cost.class == Opacity::InputOpaque.word()
}

/// One line for all packages that are not installed: they have one remedy.
fn not_installed(answer: &OpacityAnswer, missing: &[&PlaceCost], view: View) -> String {
    let reason =
        answer.summary.reasons.iter().find(|cost| {
            cost.reason == Opaque::Unresolved.word() && cost.class == Opacity::InputOpaque.word()
        });
    let (Some(first), Some(reason)) = (missing.first(), reason) else { return String::new() };
    let mut names: Vec<&str> = missing.iter().map(|cost| cost.operation.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let shown = view.shown(names.len(), 4);
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "{}{more} cannot be looked into: {} {}; {}",
        names[..shown].join(", "),
        count(reason.tests, "test"),
        reason.class,
        first.fix
    );
    format!("  {}\n", style::wrap(&text, 2, 4, view.width))
}

fn sentence(cost: &PlaceCost) -> String {
    let becomes: Vec<String> = cost.becomes.iter().rev().map(counted).collect();
    let lifted = match becomes.is_empty() {
        true => String::new(),
        false => format!("; without it {}", becomes.join(", ")),
    };
    format!("{} makes {} {}{lifted}", cost.operation, count(cost.tests, "test"), cost.class)
}

fn named(pin: &Pin) -> String {
    match (pin.kind, &pin.name, &pin.path) {
        ("env", Some(name), _) => format!("${name}"),
        ("listing", Some(glob), Some(path)) if path.is_empty() => glob.clone(),
        ("listing", Some(glob), Some(path)) => format!("{path}/{glob}"),
        ("directory", _, Some(path)) => format!("{path}/"),
        (_, _, Some(path)) => path.clone(),
        (_, Some(name), _) => name.clone(),
        (kind, ..) => kind.to_owned(),
    }
}

fn place(path: &str, line: u32) -> String {
    trouble::place(path, (line > 0).then_some(line))
}

fn styled(class: &str) -> String {
    match class {
        "pure" | "pinned" | "bounded" => style::good(class),
        "time-opaque" => style::warn(class),
        _ => style::bad(class),
    }
}
