//! `owed plan` for people: what was compared, the owed tests with the chain that owes
//! each, what was left out, and what was not understood.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::style::{self, Piece};
use super::{View, count, trouble};
use crate::answer::plan::{ChangeSeen, PlanAnswer, ReasonSeen, TestOwed};

const TESTS: usize = 20;
/// Tests shown of those that share their reasons.
const TOGETHER: usize = 6;
/// Fewer tests with the same short reason stand on lines of their own.
const FEW: usize = 4;
const REASONS: usize = 3;
const CHANGES: usize = 8;
const WIDENINGS: usize = 5;

/// The whole answer. `compared` says between what, for example
/// `working tree against HEAD (1a2b3c4)`.
pub(crate) fn plan(answer: &PlanAnswer, compared: &str, view: View) -> String {
    let mut out = header(answer, compared, view);
    out += &changes(answer, view);
    out += &widened(answer, view);
    out += &tests(answer, view);
    out += &paid(answer, view);
    out += &any_change(answer, view);
    out += &omitted(answer, view);
    out += &trouble::not_checked(&answer.not_checked, view);
    out += &trouble::problems(&answer.problems, view);
    out += &hint(answer, view);
    out
}

fn header(answer: &PlanAnswer, compared: &str, view: View) -> String {
    let owed = distinct(&answer.tests);
    let verdict = format!("{owed} of {} owed", count(answer.inventory.tests, "test file"));
    let about = if answer.changes.is_empty() && answer.base.is_none() {
        format!("{compared}:")
    } else {
        format!("{compared}: {},", count(answer.changes.len(), "change"))
    };
    let mut pieces: Vec<Piece> = about.split(' ').map(|word| Piece::new(word, style::plain)).collect();
    pieces.push(Piece::new(&verdict, style::bold));
    format!("{}\n", style::flow(&pieces, 0, 2, view.width))
}

/// What `owed run` would reuse of it, where receipts were asked.
fn paid(answer: &PlanAnswer, view: View) -> String {
    let of = |status: &str| answer.tests.iter().filter(|test| test.receipt.status == status).count();
    let (hits, misses) = (of("hit"), of("miss"));
    if hits + misses == 0 {
        return String::new();
    }
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for test in answer.tests.iter().filter(|test| test.receipt.status == "miss") {
        *causes.entry(test.receipt.reason).or_default() += 1;
    }
    let mut sentence = format!("Receipts: {hits} of {} are paid for", count(answer.tests.len(), "test"));
    if misses > 0 {
        let causes: Vec<String> = causes.into_iter().map(|(cause, n)| format!("{n} {cause}")).collect();
        sentence += &format!("; the rest would run ({})", causes.join(", "));
    }
    let mut out = format!("\n{}.\n", style::wrap(&sentence, 0, 2, view.width));
    if let Some(test) = answer.tests.iter().find(|test| test.receipt.reason == "tripped") {
        let why = test.receipt.detail.as_deref().unwrap_or_default();
        let said = format!("No receipt is reused: {why}. `owed audit status` shows it.");
        let _ = writeln!(out, "{}", style::warn(&style::plain(&style::wrap(&said, 0, 2, view.width))));
    }
    out
}

/// Test files; one that two runners claim counts once.
fn distinct(tests: &[TestOwed]) -> usize {
    let mut paths: Vec<&str> = tests.iter().map(|test| test.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.len()
}

fn changes(answer: &PlanAnswer, view: View) -> String {
    let mut out = String::new();
    // Changes that owe the most come first; the order of the answer breaks ties.
    let mut sorted: Vec<&ChangeSeen> = answer.changes.iter().collect();
    sorted.sort_by_key(|change| std::cmp::Reverse(change.owes));
    let shown = view.shown(sorted.len(), CHANGES);
    for change in &sorted[..shown] {
        let name = match &change.from {
            Some(from) => format!("{from} -> {}", change.path),
            None => change.path.clone(),
        };
        let owes = match (change.owes, change.placed) {
            (0, "inert") => "owes nothing".to_owned(),
            (0, "unknown") => "not placed".to_owned(),
            (0, _) => "reaches no test".to_owned(),
            (owes, _) => format!("owes {owes}"),
        };
        let pieces = [
            Piece::new(letter(change.kind), style::dim),
            Piece::new(&name, style::changed),
            Piece::new(&format!(" {}, {owes}", change.placed), style::dim),
        ];
        let _ = writeln!(out, "  {}", style::flow(&pieces, 2, 6, view.width));
    }
    out.extend(view.rest(sorted.len(), shown, "  "));
    out
}

/// The letter git uses.
fn letter(kind: &str) -> &'static str {
    match kind {
        "added" => "A",
        "deleted" => "D",
        "renamed" => "R",
        "type-changed" => "T",
        "untracked" => "?",
        _ => "M",
    }
}

fn widened(answer: &PlanAnswer, view: View) -> String {
    let mut out = String::new();
    if answer.widened.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{}", style::warn("Widened to all tests, because"));
    let shown = view.shown(answer.widened.len(), WIDENINGS);
    for reason in &answer.widened[..shown] {
        let sentence = if reason.path.is_empty() || reason.detail.contains(&reason.path) {
            reason.detail.clone()
        } else {
            format!("{}: {}", reason.path, reason.detail)
        };
        let _ = writeln!(
            out,
            "  {} {}",
            style::wrap(&sentence, 2, 4, view.width),
            style::dim(&format!("[{}]", reason.reason))
        );
    }
    out.extend(view.rest(answer.widened.len(), shown, "  "));
    out
}

fn tests(answer: &PlanAnswer, view: View) -> String {
    let mut out = String::new();
    let mut tests: Vec<&TestOwed> = answer.tests.iter().collect();
    tests.sort_by(|a, b| (a.runner, &a.project, &a.path).cmp(&(b.runner, &b.project, &b.path)));
    for project in tests.chunk_by(|a, b| (a.runner, &a.project) == (b.runner, &b.project)) {
        let place = match project[0].project.as_str() {
            "." => String::new(),
            dir => format!(" in {dir}"),
        };
        let _ = writeln!(
            out,
            "\n{}{} {}",
            style::bold(project[0].runner),
            style::plain(&place),
            style::dim(&format!("({})", project.len()))
        );
        let mut left = view.shown(project.len(), TESTS);
        let mut hidden = 0;
        for group in alike(project, view) {
            let shown = if view.verbose || group.len() <= TOGETHER + 1 { group.len() } else { TOGETHER };
            let shown = shown.min(left);
            left -= shown;
            if shown == 0 {
                hidden += group.len();
                continue;
            }
            out += &one_group(&group, shown, view);
        }
        out.extend(view.rest(hidden, 0, "  "));
    }
    out
}

/// Tests with the same reasons, told together when that saves lines.
fn alike<'a>(tests: &[&'a TestOwed], view: View) -> Vec<Vec<&'a TestOwed>> {
    let mut by_reasons: BTreeMap<String, Vec<&TestOwed>> = BTreeMap::new();
    for &test in tests {
        by_reasons.entry(Because::of(test, view).text(view)).or_default().push(test);
    }
    let mut groups = Vec::new();
    for group in by_reasons.into_values() {
        let short = group.iter().all(|test| Because::of(test, view).fits_beside(test, view));
        if short && group.len() < FEW {
            groups.extend(group.into_iter().map(|test| vec![test]));
        } else {
            groups.push(group);
        }
    }
    groups.sort_by(|a, b| a[0].path.cmp(&b[0].path));
    groups
}

fn one_group(group: &[&TestOwed], shown: usize, view: View) -> String {
    let because = Because::of(group[0], view);
    if group.len() == 1 && because.fits_beside(group[0], view) {
        let mut line = format!("  {}", style::bold(&group[0].path));
        if let Some(pieces) = because.lines.first() {
            let _ = write!(line, "  {}", style::flow(pieces, 0, 0, usize::MAX));
        }
        return line + "\n";
    }
    let mut out = String::new();
    for test in &group[..shown] {
        let _ = writeln!(out, "  {}", style::bold(&test.path));
    }
    out.extend(view.rest(group.len(), shown, "  "));
    out + &because.text(view)
}

/// The reasons of a test as they are shown.
struct Because {
    lines: Vec<Vec<Piece>>,
    /// How many are not shown.
    left: usize,
}

impl Because {
    fn of(test: &TestOwed, view: View) -> Self {
        let concrete = test.reasons.iter().any(|reason| !is_general(reason) && !is_any_change(reason));
        let told = |reason: &&ReasonSeen| {
            !is_general(reason) && (view.verbose || !concrete || !is_any_change(reason))
        };
        let reasons: Vec<&ReasonSeen> = test.reasons.iter().filter(told).collect();
        let shown = view.shown(reasons.len(), REASONS);
        let lines = reasons[..shown].iter().map(|reason| because(test, reason)).collect();
        Self { lines, left: reasons.len() - shown }
    }

    fn fits_beside(&self, test: &TestOwed, view: View) -> bool {
        let after = 4 + style::width(&test.path);
        match &self.lines[..] {
            [] => true,
            [line] => self.left == 0 && after + measure(line) <= view.width,
            _ => false,
        }
    }

    /// One reason a line (or more, when it is long), below the tests.
    fn text(&self, view: View) -> String {
        let mut out = String::new();
        for line in &self.lines {
            let _ = writeln!(out, "    {}", style::flow(line, 4, 6, view.width));
        }
        out.extend(view.rest(self.left, 0, "    "));
        out
    }
}

fn measure(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::width).sum::<usize>() + pieces.len().saturating_sub(1)
}

/// The chain without the test itself, and a word where the kind is not plain from it.
fn because(test: &TestOwed, reason: &ReasonSeen) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let links = match reason.chain.split_first() {
        Some((first, rest)) if *first == test.path => rest,
        _ => &reason.chain[..],
    };
    for (index, link) in links.iter().enumerate() {
        let last = index + 1 == links.len();
        // The arrow stays with the file it points from when a line breaks.
        let style = if last { style::changed } else { style::plain };
        pieces.push(Piece::new(&format!("<- {link}"), |_| format!("{} {}", style::dim("<-"), style(link))));
    }
    if let (true, Some(path)) = (links.is_empty() && reason.kind != "changed", &reason.changed) {
        pieces.push(Piece::new(&format!("<- {path}"), |_| {
            format!("{} {}", style::dim("<-"), style::changed(path))
        }));
    }
    let note = note(reason);
    if !note.is_empty() {
        pieces.extend(note.split(' ').map(|word| Piece::new(word, style::dim)));
    }
    pieces
}

/// Whether a reason only repeats that all tests are owed, which stands above the list.
fn is_general(reason: &ReasonSeen) -> bool {
    reason.kind == "requested"
        || reason.kind == "not-understood"
            && reason.detail.as_ref().is_some_and(|detail| detail.starts_with("the plan is widened"))
}

/// Whether a reason holds for every change.
fn is_any_change(reason: &ReasonSeen) -> bool {
    matches!(reason.kind, "input-opaque" | "not-understood")
}

fn note(reason: &ReasonSeen) -> String {
    let word = match reason.kind {
        "changed" => "changed itself",
        "depends" => "",
        "companion" => "companion by name",
        "snapshot" => "its snapshot",
        "declared" => "declared input",
        "observed" => "observed input",
        "shared" => "shared setup",
        "package" => "installed package",
        "negative" => "means something else now",
        "input-opaque" => "any change: input-opaque",
        "not-understood" => "any change: not understood",
        "requested" => "requested",
        other => other,
    };
    match (&reason.detail, word) {
        (None, "") => String::new(),
        (None, word) => format!("({word})"),
        (Some(detail), "") => format!("({detail})"),
        (Some(detail), word) => format!("({word}: {detail})"),
    }
}

fn omitted(answer: &PlanAnswer, view: View) -> String {
    let mut out = String::new();
    let sentence = match (answer.mode, answer.inventory.tests, answer.omitted) {
        (_, 0, _) => format!("No test files were found among {}.", count(answer.inventory.files, "file")),
        ("none", _, _) => nothing_owed(answer),
        (_, _, 0) => return out,
        (_, _, omitted) => {
            format!("Left out: {}, none of which reaches a change.", count(omitted, "test file"))
        }
    };
    let _ = writeln!(out, "\n{}", style::wrap(&sentence, 0, 2, view.width));
    out
}

/// How many of the tests any change would owe; their reasons are not all in the list.
fn any_change(answer: &PlanAnswer, view: View) -> String {
    let tests = answer.tests.iter().filter(|test| test.reasons.iter().any(is_any_change_of_its_own));
    let mut paths: Vec<&str> = tests.map(|test| test.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() || answer.mode == "none" {
        return String::new();
    }
    let are = if paths.len() == 1 { "is" } else { "are" };
    let sentence = format!(
        "{} {are} owed by any change, whatever it is (`owed doctor` names the places).",
        count(paths.len(), "test file")
    );
    format!("\n{}\n", style::wrap(&sentence, 0, 2, view.width))
}

fn is_any_change_of_its_own(reason: &ReasonSeen) -> bool {
    is_any_change(reason) && !is_general(reason)
}

/// Why nothing is owed, in one line.
fn nothing_owed(answer: &PlanAnswer) -> String {
    if answer.changes.is_empty() {
        return "Nothing is owed: nothing changed.".to_owned();
    }
    let inert = answer.changes.iter().filter(|change| change.placed == "inert").count();
    let rest = answer.changes.len() - inert;
    match (inert, rest) {
        (_, 0) => {
            "Nothing is owed: only files changed that no test reads (documentation and the like).".to_owned()
        }
        (0, 1) => "Nothing is owed: no test depends on the changed file.".to_owned(),
        (0, _) => format!("Nothing is owed: no test depends on any of the {rest} changed files."),
        (_, _) => format!(
            "Nothing is owed: no test depends on the changed files, of which {inert} can owe nothing by their kind."
        ),
    }
}

fn hint(answer: &PlanAnswer, view: View) -> String {
    if view.quiet {
        return String::new();
    }
    let hint = match (answer.tests.first(), answer.inventory.tests) {
        (Some(test), _) => format!("Next: owed why {} | owed plan --format argv", quoted(&test.path)),
        (None, 0) => "Next: owed doctor".to_owned(),
        (None, _) => return String::new(),
    };
    format!("\n{}\n", style::dim(&hint))
}

/// `path` as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./@+=:,%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
