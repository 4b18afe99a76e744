//! `owed: allow repeated — reason`, in a comment on, in or right above a function.

/// What a comment says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Allowed {
    /// 1-based line of the comment.
    pub(super) line: u32,
    /// The reason; empty when none is given, and then nothing is allowed.
    pub(super) reason: String,
}

const WORDS: &str = "owed: allow repeated";

/// The comment that speaks for the function in the lines `start` to `end` (1-based,
/// inclusive) of `text`, which may be left empty when it holds no such comment.
pub(super) fn find(text: &[&str], start: u32, end: u32) -> Option<Allowed> {
    let first = usize::try_from(start).ok()?.checked_sub(1)?;
    let last = usize::try_from(end).ok()?.min(text.len());
    let mut above = first.min(text.len());
    while above > 0 && is_attached(text[above - 1]) {
        above -= 1;
    }
    (above..last).find_map(|at| {
        let reason = reason(text.get(at)?)?;
        Some(Allowed { line: u32::try_from(at + 1).unwrap_or(u32::MAX), reason })
    })
}

/// Whether a line above a function belongs to it: a comment, a decorator, `export`.
fn is_attached(line: &str) -> bool {
    let line = line.trim();
    ["//", "/*", "*", "#", "@", "export"].iter().any(|start| line.starts_with(start)) || line.ends_with("*/")
}

fn reason(line: &str) -> Option<String> {
    let at = line.find(WORDS)?;
    let opens = ["//", "#", "/*", "*"].iter().any(|open| line[..at].contains(open));
    if !opens {
        return None;
    }
    let rest = line[at + WORDS.len()..].trim_start();
    let rest = rest.trim_start_matches(['—', '–', '-', ':']).trim();
    let rest = rest.strip_suffix("*/").or_else(|| rest.strip_suffix("-->")).unwrap_or(rest);
    Some(rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, start: u32, end: u32) -> Option<(u32, String)> {
        let lines: Vec<&str> = text.lines().collect();
        find(&lines, start, end).map(|allowed| (allowed.line, allowed.reason))
    }

    #[test]
    fn a_comment_speaks_for_the_function_it_is_at() {
        let said = |line, reason: &str| Some((line, reason.to_owned()));
        assert_eq!(
            check("// owed: allow repeated — two protocols\nfunction a() {\n}\n", 2, 3),
            said(1, "two protocols")
        );
        assert_eq!(check("def a():\n    # owed: allow repeated - x\n    pass\n", 1, 3), said(2, "x"));
        assert_eq!(check("/* owed: allow repeated: x */\n@dec\n// y\nf() {}\n", 4, 4), said(1, "x"));
        assert_eq!(check("// owed: allow repeated\nf() {}\n", 2, 2), said(1, ""));
        assert_eq!(check("// owed: allow repeated — x\n\nf() {}\n", 3, 3), None, "a blank line is between");
        assert_eq!(check("f() {}\ng() {} // owed: allow repeated — x\n", 1, 1), None);
        assert_eq!(check("f() { return 'owed: allow repeated — x' }\n", 1, 1), None, "no comment");
    }
}
