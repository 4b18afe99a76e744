//! What was not checked and what was not understood, as every human answer ends.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{View, style};
use crate::answer::{NotCheckedFile, ProblemSeen};

const FILES: usize = 8;
const CODES: usize = 6;
const EACH: usize = 2;

/// The block of files that were not checked; empty when there are none.
pub(crate) fn not_checked(files: &[NotCheckedFile], view: View) -> String {
    let mut out = String::new();
    if files.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{} {}", style::bad("NOT CHECKED"), style::dim(&format!("({})", files.len())));
    let shown = view.shown(files.len(), FILES);
    for file in &files[..shown] {
        let at = place(&file.path, file.line);
        let _ = write!(out, "  {}  ", style::bold(&at));
        let at = style::width(&at) + 4;
        let _ = writeln!(out, "{}", style::wrap(unchecked(file.reason), at, 6, view.width));
    }
    out.extend(view.rest(files.len(), shown, "  "));
    out
}

/// One line about files that were not checked, for formats that cannot hold it.
pub(crate) fn not_checked_line(files: &[NotCheckedFile]) -> Option<String> {
    let first = files.first()?;
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    Some(format!(
        "NOT CHECKED: {} ({}){more}; --format json names them all",
        style::plain(&place(&first.path, first.line)),
        first.reason
    ))
}

fn unchecked(reason: &str) -> &'static str {
    match reason {
        "unparsable" => "it does not parse; what depends on it is owed by any change",
        "too-large" => "it is larger than limits.file_size",
        "binary" => "it holds binary data",
        "not-utf8" => "it is not UTF-8",
        "unreadable" => "it cannot be read",
        "depth" => "it is nested too deeply",
        _ => "it was not read",
    }
}

/// The block of problems, grouped by code; empty when there are none.
pub(crate) fn problems(problems: &[ProblemSeen], view: View) -> String {
    let mut out = String::new();
    if problems.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{} {}", style::warn("Problems"), style::dim(&format!("({})", problems.len())));
    let mut by_code: BTreeMap<&str, Vec<&ProblemSeen>> = BTreeMap::new();
    for problem in problems {
        by_code.entry(&problem.code).or_default().push(problem);
    }
    let codes: Vec<(&str, Vec<&ProblemSeen>)> = by_code.into_iter().collect();
    let shown = view.shown(codes.len(), CODES);
    for (code, list) in &codes[..shown] {
        let _ = writeln!(out, "  {} {}", style::bold(code), style::dim(&format!("×{}", list.len())));
        let each = view.shown(list.len(), EACH);
        for problem in &list[..each] {
            let at = place(&problem.path, problem.line);
            let sentence =
                if at.is_empty() { problem.detail.clone() } else { format!("{at}  {}", problem.detail) };
            let _ = writeln!(out, "    {}", style::wrap(&sentence, 4, 6, view.width));
        }
        out.extend(view.rest(list.len(), each, "    "));
    }
    out.extend(view.rest(codes.len(), shown, "  "));
    out
}

/// `src/a.ts:3`, or the path alone.
pub(crate) fn place(path: &str, line: Option<u32>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}
