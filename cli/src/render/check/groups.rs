//! Repeated implementations for people.

use std::fmt::Write as _;

use super::{Asked, frame};
use crate::answer::check::{CheckAnswer, GroupSeen, HoleSeen};
use crate::render::style::{self, Piece};
use crate::render::{View, count};

const GROUPS: usize = 8;
const MEMBERS: usize = 6;
const HOLES: usize = 6;
/// Groups that are shown with their code.
const FRAMES: usize = 5;

/// The block of groups. Those that were accepted are counted and not repeated.
pub(super) fn groups(answer: &CheckAnswer, asked: &Asked<'_>, view: View) -> String {
    let (known, new): (Vec<&GroupSeen>, Vec<&GroupSeen>) =
        answer.repeated.iter().partition(|group| group.status == "known");
    let mut out = String::new();
    let members: usize = new.iter().map(|group| group.members.len()).sum();
    let place = if asked.across_files { "" } else { " inside one file" };
    let title = if new.is_empty() {
        format!("No {}implementation is repeated{place}", if known.is_empty() { "" } else { "other " })
    } else {
        format!("Repeated implementations{place}")
    };
    let mut about = Vec::new();
    if !new.is_empty() {
        about.push(format!("{}, {}", count(new.len(), "group"), count(members, "place")));
    }
    if !known.is_empty() {
        about.push(format!("{} known and not shown", count(known.len(), "group")));
    }
    if !answer.suppressed.is_empty() {
        about.push(format!("{} kept out by a comment", count(answer.suppressed.len(), "function")));
    }
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    let _ = writeln!(out, "\n{}{}", style::bold(&title), style::dim(&about));
    let shown = view.shown(new.len(), GROUPS);
    for (at, group) in new[..shown].iter().enumerate() {
        out += &one(at + 1, group, at < FRAMES, asked, view);
    }
    out.extend(view.rest(new.len(), shown, "  "));
    if new.is_empty() && !asked.across_files && !view.quiet {
        let _ = writeln!(out, "  {}", style::dim("--across files looks for copies in other files, too"));
    }
    out
}

fn one(number: usize, group: &GroupSeen, with_code: bool, asked: &Asked<'_>, view: View) -> String {
    let mut out = String::new();
    let what = match group.advice {
        None => "same implementation".to_owned(),
        Some("near-miss") => format!("at least {:.0} % alike", group.alike * 100.0),
        Some("other-callees") => "same but for what is called".to_owned(),
        Some(_) => "same statements inside".to_owned(),
    };
    let title = format!(
        "{number}. {}, {}, {what}",
        count(group.members.len(), "place"),
        count(group.statements as usize, "statement")
    );
    let _ = writeln!(out, "\n  {}", style::bold(&title));
    let shown = view.shown(group.members.len(), MEMBERS);
    for member in &group.members[..shown] {
        let pieces = [
            Piece::new(&format!("{}:{}-{}", member.path, member.start_line, member.end_line), style::changed),
            Piece::new(&member.name, style::plain),
        ];
        let _ = writeln!(out, "     {}", style::flow(&pieces, 5, 7, view.width));
    }
    out.extend(view.rest(group.members.len(), shown, "     "));
    if with_code && !view.quiet {
        out += &frame::side_by_side(&group.members[0], &group.members[1], asked.text, view);
    }
    out += &literals(&group.literals, view);
    let _ = writeln!(out, "     {}", style::wrap(&group.suggestion, 5, 5, view.width));
    out
}

/// The matrix of literals: one line a row of values, one column a member. Holes with equal
/// values in all members are one line.
fn literals(holes: &[HoleSeen], view: View) -> String {
    let mut rows: Vec<(&[String], Vec<u32>)> = Vec::new();
    for hole in holes {
        match rows.iter_mut().find(|(values, _)| *values == hole.values) {
            Some((_, numbers)) => numbers.push(hole.hole),
            None => rows.push((&hole.values, vec![hole.hole])),
        }
    }
    let mut out = String::new();
    let shown = view.shown(rows.len(), HOLES);
    for (values, numbers) in &rows[..shown] {
        let members = view.shown(values.len(), MEMBERS);
        let times = if numbers.len() > 1 { format!(" (×{})", numbers.len()) } else { String::new() };
        let mut pieces = vec![Piece::new(&format!("literal {}{times}:", numbers[0]), style::dim)];
        for (at, value) in values[..members].iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::new("|", style::dim));
            }
            pieces.push(Piece::new(&short(value), style::plain));
        }
        let _ = writeln!(out, "     {}", style::flow(&pieces, 5, 7, view.width));
    }
    out.extend(view.rest(rows.len(), shown, "     "));
    out
}

/// A literal on one line; whole ones are in the other formats.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST {
        line
    } else {
        format!("{}…", line.chars().take(MOST - 1).collect::<String>())
    }
}
