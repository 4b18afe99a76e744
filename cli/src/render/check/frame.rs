//! Two members of a group, side by side.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::answer::check::MemberSeen;
use crate::render::{View, style};

const LINES: usize = 14;
const INDENT: usize = 5;
/// Narrower columns show nothing that helps.
const NARROWEST: usize = 24;

/// The first lines of both. A line that is not the same in both is marked.
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
    let all = a.len().max(b.len());
    let shown = view.shown(all, LINES);
    let mut out = String::new();
    for at in 0..shown {
        let cell = |lines: &[String], start: u32| match lines.get(at) {
            Some(line) => {
                let number_text = format!("{:>number$} | ", start as usize + at);
                (number_text, fit(line, column))
            }
            None => (" ".repeat(number + 3), fit("", column)),
        };
        let (left_number, left_code) = cell(&a, left.start_line);
        let (right_number, right_code) = cell(&b, right.start_line);
        let same = a.get(at).map(|line| line.trim()) == b.get(at).map(|line| line.trim());
        let mark = if same { " " } else { "≠" };
        let _ = writeln!(
            out,
            "{}{}{} {} {}{}",
            " ".repeat(INDENT),
            style::dim(&left_number),
            style::plain(&left_code),
            style::warn(mark),
            style::dim(&right_number),
            style::plain(right_code.trim_end()),
        );
    }
    out.extend(
        view.rest(all, shown, &" ".repeat(INDENT)).map(|rest| rest.replace(" more (", " more lines (")),
    );
    out
}

/// The lines of a member without what they are all indented by.
fn lines(member: &MemberSeen, text: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let text = text(&member.path)?;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let first = (member.start_line as usize).checked_sub(1)?;
    let count = (member.end_line as usize).checked_sub(first)?;
    let lines: Vec<String> =
        text.split('\n').skip(first).take(count).map(|line| line.replace('\t', "    ")).collect();
    // The first line may begin in the middle of another one.
    let indent = |line: &String| line.len() - line.trim_start().len();
    let common = lines.iter().skip(1).filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let own = lines.first().map_or(0, indent);
    let cut = common.min(own.max(common.saturating_sub(4)));
    Some(lines.iter().map(|line| line.get(cut.min(indent(line))..).unwrap_or("").to_owned()).collect())
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

    #[test]
    fn lines_that_differ_are_marked() {
        let member = |path: &str, start, end| MemberSeen {
            path: path.to_owned(),
            name: "f".to_owned(),
            start_line: start,
            end_line: end,
        };
        let text = |path: &str| Some(format!("x\n  function f() {{\n    return {path};\n  }}\n"));
        let view = View { width: 80, verbose: false, quiet: false };
        let frame = side_by_side(&member("a", 2, 4), &member("b", 2, 4), &text, view);
        let plain = anstream::adapter::strip_str(&frame).to_string();
        let rows: Vec<&str> = plain.lines().collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[0].contains("2 | function f() {") && !rows[0].contains('≠'), "{plain}");
        assert!(rows[1].contains("3 |   return a;") && rows[1].contains("≠ 3 |   return b;"), "{plain}");
    }
}
