//! Two members of a group, side by side: lines that are the same stand in one row.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::answer::check::MemberSeen;
use crate::render::{View, style};

const ROWS: usize = 14;
const INDENT: usize = 5;
/// Narrower columns show nothing that helps.
const NARROWEST: usize = 24;
/// Longer members are shown row by row without looking for what is the same.
const LONGEST: usize = 400;

/// The first rows of both. A row whose lines are not the same is marked.
pub(super) fn side_by_side(
    left: &MemberSeen,
    right: &MemberSeen,
    text: &dyn Fn(&str) -> Option<String>,
    view: View,
) -> String {
    let (Some(a), Some(b)) = (lines(left, text), lines(right, text)) else { return String::new() };
    let number = digits(left.end_line.max(right.end_line));
    // `     12 | code   12 | code`, with a mark between the columns.
    let column = view.width.saturating_sub(INDENT + 3 + 2 * (number + 3)) / 2;
    if column < NARROWEST {
        return String::new();
    }
    let rows = rows(&a, &b);
    let shown = view.shown(rows.len(), ROWS);
    let mut out = String::new();
    for row in &rows[..shown] {
        let cell = |lines: &[String], at: Option<usize>, start: u32| match at {
            Some(at) => (format!("{:>number$} | ", start as usize + at), fit(&lines[at], column)),
            None => (" ".repeat(number + 3), fit("", column)),
        };
        let (left_number, left_code) = cell(&a, row.0, left.start_line);
        let (right_number, right_code) = cell(&b, row.1, right.start_line);
        let same = matches!(*row, (Some(x), Some(y)) if a[x].trim() == b[y].trim());
        let mark = if same { " " } else { "≠" };
        let line = format!(
            "{}{}{} {} {}{}",
            " ".repeat(INDENT),
            style::dim(&left_number),
            style::plain(&left_code),
            style::warn(mark),
            style::dim(&right_number),
            style::plain(right_code.trim_end()),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let rest = view.rest(rows.len(), shown, &" ".repeat(INDENT));
    out.extend(rest.map(|rest| rest.replace(" more (", " more lines (")));
    out
}

/// The lines of a member without what they are all indented by.
fn lines(member: &MemberSeen, text: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let text = text(&member.path)?.replace("\r\n", "\n").replace('\r', "\n");
    let first = (member.start_line as usize).checked_sub(1)?;
    let count = (member.end_line as usize).checked_sub(first)?;
    let lines: Vec<String> =
        text.split('\n').skip(first).take(count).map(|line| line.replace('\t', "    ")).collect();
    // The first line may begin in the middle of another one.
    let indent = |line: &String| line.len() - line.trim_start().len();
    let cut = lines.iter().skip(1).filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let cut = cut.min(lines.first().map_or(0, indent).max(cut.saturating_sub(4)));
    Some(lines.iter().map(|line| line.get(cut.min(indent(line))..).unwrap_or("").to_owned()).collect())
}

type Row = (Option<usize>, Option<usize>);

/// Which line stands beside which: equal ones, by a longest common subsequence, and between
/// them what is left, in order.
fn rows(a: &[String], b: &[String]) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (x, y) in equal(a, b).into_iter().chain([(a.len(), b.len())]) {
        while i < x || j < y {
            rows.push(((i < x).then_some(i), (j < y).then_some(j)));
            (i, j) = ((i + 1).min(x), (j + 1).min(y));
        }
        if x < a.len() && y < b.len() {
            rows.push((Some(x), Some(y)));
            (i, j) = (x + 1, y + 1);
        }
    }
    rows
}

fn equal(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    if a.len() > LONGEST || b.len() > LONGEST {
        return Vec::new();
    }
    let same = |i: usize, j: usize| a[i].trim() == b[j].trim();
    let width = b.len() + 1;
    let mut table = vec![0u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = if same(i, j) {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let (mut pairs, mut i, mut j) = (Vec::new(), 0, 0);
    while i < a.len() && j < b.len() {
        if same(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

fn digits(number: u32) -> usize {
    number.to_string().len()
}

/// The text in exactly `columns` columns.
fn fit(text: &str, columns: usize) -> String {
    let text = style::plain(text);
    let mut out = String::new();
    let mut used = 0;
    let fits = text.width() <= columns;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if !fits && used + wide > columns - 1 {
            out.push('…');
            used += 1;
            break;
        }
        out.push(c);
        used += wide;
    }
    out.push_str(&" ".repeat(columns.saturating_sub(used)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_its_columns() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("漢字漢字", 5), "漢字…");
    }

    fn frame(left: &str, right: &str) -> Vec<String> {
        let member = |path: &str, text: &str| MemberSeen {
            path: path.to_owned(),
            name: "f".to_owned(),
            start_line: 2,
            end_line: 1 + text.lines().count() as u32,
        };
        let text = |path: &str| Some(format!("first\n{}\n", if path == "a" { left } else { right }));
        let view = View { width: 80, verbose: false, quiet: false };
        let frame = side_by_side(&member("a", left), &member("b", right), &text, view);
        anstream::adapter::strip_str(&frame).to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_that_differ_are_marked() {
        let rows = frame("  function f() {\n    return a;\n  }", "  function f() {\n    return b;\n  }");
        assert_eq!(rows.len(), 3, "{rows:#?}");
        assert!(rows[0].contains("2 | function f() {") && !rows[0].contains('≠'), "{rows:#?}");
        assert!(rows[1].contains("3 |   return a;") && rows[1].contains("≠ 3 |   return b;"), "{rows:#?}");
    }

    #[test]
    fn a_line_more_moves_nothing_else() {
        let rows = frame("f() {\n  a()\n  b()\n}", "f() {\n  // why\n  a()\n  b()\n}");
        let marked: Vec<bool> = rows.iter().map(|row| row.contains('≠')).collect();
        assert_eq!(marked, [false, true, false, false, false], "{rows:#?}");
    }
}
