//! Compares an answer with the blocks of its case, and rewrites them on request.

use std::collections::BTreeSet;

use owed_engine::selection::{Mode, OwedTest, Reason, ReasonKind, Selection};

use crate::case::{Block, Case, Expected, Part};
use crate::render;

/// The differences; empty when the case is right.
pub(crate) fn compare(case: &Case, selection: &Selection) -> Vec<String> {
    let mut diffs: Vec<String> = case.blocks.iter().flat_map(|block| differences(block, selection)).collect();
    let widening = case.block(Part::Affected).is_some_and(|b| b.lines == ["all"]);
    let asked = case.block(Part::Affected).is_some();
    if asked && !widening && case.one_sided.is_none() && selection.omitted == 0 {
        diffs.push("affected: the case has no test that must stay unselected".to_owned());
    }
    if case.one_sided.is_some() && selection.omitted > 0 {
        diffs.push("affected: the case is marked one-sided, but is not: delete the mark".to_owned());
    }
    diffs
}

/// The Markdown with the differing blocks replaced.
pub(crate) fn rewrite(case: &Case, text: &str, selection: &Selection) -> Result<String, String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut blocks: Vec<&Block> = case.blocks.iter().collect();
    blocks.sort_by_key(|b| std::cmp::Reverse(b.at.start));
    for block in blocks {
        if differences(block, selection).is_empty() {
            continue;
        }
        let new = actual(block, selection);
        if new.is_empty() != block.lines.is_empty() {
            return Err(format!(
                "{}: from {} to {} is an edit for a person, not for UPDATE_CORPUS",
                name(block.part),
                if block.lines.is_empty() { "`none`" } else { "an answer" },
                if new.is_empty() { "`none`" } else { "an answer" },
            ));
        }
        lines.splice(block.at.clone(), new);
    }
    Ok(lines.join("\n") + "\n")
}

fn name(part: Part) -> &'static str {
    match part {
        Part::Affected => "affected",
        Part::Widened => "widened",
        Part::Problems => "problems",
        Part::Unchecked => "unchecked",
        Part::Placed => "placed",
        Part::Opacity => "opacity",
    }
}

fn differences(block: &Block, selection: &Selection) -> Vec<String> {
    let name = name(block.part);
    match block.part {
        Part::Affected => return affected(block, selection),
        // Compared by its own module: a selection does not hold reasons of classes.
        Part::Opacity => return Vec::new(),
        _ => {}
    }
    let actual = rows(block.part, selection);
    let missing = block.lines.iter().filter(|line| !actual.iter().any(|a| same(line, a)));
    let extra = actual.iter().filter(|a| !block.lines.iter().any(|line| same(line, a)));
    let missing = missing.map(|line| format!("{name}: missing   {line}"));
    missing.chain(extra.map(|line| format!("{name}: unexpected {line}"))).collect()
}

/// Whether a line of a case accepts a row: equal, `*` for a word, and no line number
/// where the case gives none.
fn same(line: &str, row: &str) -> bool {
    let cells = |text: &str| text.split_once(" | ").map(|(a, b)| (a.to_owned(), b.to_owned()));
    let (Some(line), Some(row)) = (cells(line), cells(row)) else { return line == row };
    let cell = |expected: &str, actual: &str| {
        let unnumbered = actual.rsplit_once(':').map_or(actual, |(text, _)| text);
        expected == "*" || expected == actual || expected == unnumbered
    };
    cell(&line.0, &row.0) && cell(&line.1, &row.1)
}

fn rows(part: Part, selection: &Selection) -> Vec<String> {
    match part {
        Part::Opacity => Vec::new(),
        Part::Affected => selection.tests.iter().flat_map(|t| lines_of(t, 1)).collect(),
        Part::Widened => selection.widened.iter().map(|w| format!("{} | {}", w.reason, w.path)).collect(),
        Part::Problems => {
            let line = |line: Option<u32>| line.map_or(String::new(), |l| format!(":{l}"));
            let problems = selection.problems.iter();
            problems.map(|p| format!("{} | {}{}", p.code, p.path, line(p.line))).collect()
        }
        Part::Unchecked => selection.not_checked.iter().map(render::unchecked).collect(),
        Part::Placed => {
            let changes = selection.changes.iter();
            changes.map(|c| format!("{} | {}", c.change.path, c.placed.word())).collect()
        }
    }
}

fn lines_of(test: &OwedTest, count: usize) -> Vec<String> {
    test.reasons.iter().take(count).map(|r| format!("{} | {}", test.path, render::reason(r))).collect()
}

/// What UPDATE_CORPUS writes: lines that are right stay as they are.
fn actual(block: &Block, selection: &Selection) -> Vec<String> {
    if block.part != Part::Affected {
        let rows = rows(block.part, selection);
        let keep = |row: String| block.lines.iter().find(|l| same(l, &row)).cloned().unwrap_or(row);
        return rows.into_iter().map(keep).collect();
    }
    if selection.mode == Mode::Widened {
        return vec!["all".to_owned()];
    }
    let groups = groups(block);
    let mut lines = Vec::new();
    for test in &selection.tests {
        let group = groups.iter().find(|g| g.names(test));
        match group {
            Some(group) if group.judge(test).is_empty() => lines.extend(group.lines.iter().cloned()),
            Some(group) => lines.extend(lines_of(test, group.lines.len())),
            None => lines.extend(lines_of(test, 1)),
        }
    }
    lines
}

/// The lines of `affected` for one test.
struct Group {
    path: String,
    runner: Option<String>,
    lines: Vec<String>,
    reasons: Vec<Expected>,
}

impl Group {
    fn names(&self, test: &OwedTest) -> bool {
        test.path == self.path && self.runner.as_ref().is_none_or(|r| r == test.runner)
    }

    /// One line is the strongest reason; several are all of them, in order.
    fn judge(&self, test: &OwedTest) -> Vec<String> {
        let listed = test.reasons.len() == self.reasons.len() || self.reasons.len() == 1;
        let right = listed && self.reasons.iter().zip(&test.reasons).all(|(e, a)| accepts(e, a));
        if right {
            return Vec::new();
        }
        let expected = self.lines.iter().map(|l| format!("affected: expected   {l}"));
        let count = if self.reasons.len() == 1 { 1 } else { test.reasons.len() };
        let got = lines_of(test, count).into_iter().map(|l| format!("affected: got        {l}"));
        expected.chain(got).collect()
    }
}

fn groups(block: &Block) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in &block.lines {
        let Some((left, right)) = line.split_once(" | ") else { continue };
        let (path, runner) = match left.strip_suffix(']').and_then(|l| l.rsplit_once(" [")) {
            Some((path, runner)) => (path.to_owned(), Some(runner.to_owned())),
            None => (left.to_owned(), None),
        };
        let reason = Expected::parse(right).expect("checked when the case was read");
        match groups.iter_mut().find(|g| g.path == path && g.runner == runner) {
            Some(group) => {
                group.lines.push(line.clone());
                group.reasons.push(reason);
            }
            None => groups.push(Group { path, runner, lines: vec![line.clone()], reasons: vec![reason] }),
        }
    }
    groups
}

fn affected(block: &Block, selection: &Selection) -> Vec<String> {
    if block.lines == ["all"] {
        let right = selection.mode == Mode::Widened && selection.inventory.tests > 0;
        return if right { Vec::new() } else { vec!["affected: expected a widened plan".to_owned()] };
    }
    let mut diffs = Vec::new();
    if selection.mode == Mode::Widened {
        diffs.push("affected: the plan is widened".to_owned());
    }
    let groups = groups(block);
    for group in &groups {
        let tests: Vec<&OwedTest> = selection.tests.iter().filter(|t| group.names(t)).collect();
        if tests.is_empty() {
            diffs.extend(group.lines.iter().map(|l| format!("affected: missing    {l}")));
        }
        diffs.extend(tests.iter().flat_map(|t| group.judge(t)));
    }
    let unexpected = selection.tests.iter().filter(|t| !groups.iter().any(|g| g.names(t)));
    let unexpected: BTreeSet<String> = unexpected
        .map(|t| format!("affected: unexpected {} [{}]", lines_of(t, 1).join(""), t.runner))
        .collect();
    diffs.extend(unexpected);
    diffs
}

fn accepts(expected: &Expected, actual: &Reason) -> bool {
    if expected.kind.is_some_and(|kind| kind != actual.kind) {
        return false;
    }
    let Some(detail) = &expected.detail else { return true };
    match actual.kind {
        ReasonKind::Depends => *detail == actual.chain.join(" -> "),
        ReasonKind::Package | ReasonKind::InputOpaque | ReasonKind::NotUnderstood => {
            let texts = [actual.detail.as_ref(), actual.changed.as_ref()];
            texts.into_iter().flatten().any(|text| text.contains(detail.as_str()))
        }
        _ => actual.changed.as_ref() == Some(detail),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use owed_engine::selection::{Inventory, Opacity};

    use super::*;

    fn reason(kind: ReasonKind, changed: &str, chain: &[&str]) -> Reason {
        let chain = chain.iter().map(|&s| s.to_owned()).collect();
        Reason { kind, changed: Some(changed.to_owned()), chain, detail: Some("fs.read a.ts:3".to_owned()) }
    }

    fn answer(tests: &[(&str, Vec<Reason>)]) -> Selection {
        let test = |(path, reasons): &(&str, Vec<Reason>)| OwedTest {
            path: (*path).to_owned(),
            runner: "vitest",
            project: String::new(),
            reasons: reasons.clone(),
            opacity: Opacity::Pure,
        };
        Selection {
            mode: if tests.is_empty() { Mode::None } else { Mode::Selective },
            widened: Vec::new(),
            changes: Vec::new(),
            tests: tests.iter().map(test).collect(),
            omitted: 1,
            inventory: Inventory { files: 3, tests: tests.len() + 1, ..Inventory::default() },
            not_checked: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn text(affected: &str) -> String {
        format!("# T\n\nA paragraph that says why.\n\n```changed\nnone\n```\n```affected\n{affected}\n```\n")
    }

    fn case(affected: &str) -> Case {
        Case::parse(&text(affected), BTreeMap::new()).unwrap()
    }

    #[test]
    fn reasons_are_compared_as_far_as_written() {
        let owed = answer(&[(
            "t.ts",
            vec![
                reason(ReasonKind::Depends, "a.ts", &["t.ts", "a.ts"]),
                reason(ReasonKind::InputOpaque, "a.ts", &[]),
            ],
        )]);
        for (affected, right) in [
            ("t.ts | t.ts -> a.ts", true),
            ("t.ts [vitest] | depends", true),
            ("t.ts [jest] | depends", false),
            ("t.ts | t.ts -> b.ts", false),
            ("t.ts | changed", false),
            ("none", false),
            ("all", false),
            ("t.ts | depends\nu.ts | depends", false),
            ("t.ts | depends\nt.ts | input-opaque: fs.read", true),
            ("t.ts | depends\nt.ts | input-opaque: clock", false),
            ("t.ts | depends\nt.ts | input-opaque\nt.ts | requested", false),
        ] {
            assert_eq!(compare(&case(affected), &owed).is_empty(), right, "{affected}");
        }
    }

    #[test]
    fn a_case_needs_a_test_that_stays_unselected() {
        let mut owed = answer(&[("t.ts", vec![reason(ReasonKind::Changed, "t.ts", &["t.ts"])])]);
        owed.omitted = 0;
        assert_eq!(compare(&case("t.ts | changed"), &owed).len(), 1);
        assert!(
            compare(&case("t.ts | changed\n```\n\n<!-- one-sided: x -->\n\n```placed\nnone"), &owed)
                .is_empty()
        );
    }

    #[test]
    fn updates_never_cross_none() {
        let owed = answer(&[("t.ts", vec![reason(ReasonKind::Changed, "t.ts", &["t.ts"])])]);
        let old = text("u.ts | depends");
        assert_eq!(rewrite(&case("u.ts | depends"), &old, &owed).unwrap(), text("t.ts | changed"));
        assert!(rewrite(&case("none"), &text("none"), &owed).is_err());
        assert!(rewrite(&case("u.ts | depends"), &old, &answer(&[])).is_err());
    }

    #[test]
    fn line_numbers_are_compared_when_written() {
        assert!(same("a.ts | unparsable", "a.ts | unparsable:3"));
        assert!(same("a.ts | unparsable:3", "a.ts | unparsable:3"));
        assert!(!same("a.ts | unparsable:4", "a.ts | unparsable:3"));
        assert!(same("* | a.ts", "unresolved-import | a.ts:1"));
    }
}
