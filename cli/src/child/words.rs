//! What a failed program said, as one line for a person.

use std::path::Path;

/// Places of this machine must not reach an answer.
pub(super) fn strip(text: &str, places: &[(&Path, &str)]) -> String {
    places.iter().fold(text.to_owned(), |text, (place, replacement)| {
        let place = place.to_string_lossy();
        if replacement.is_empty() {
            text.replace(&format!("{place}/"), "")
        } else {
            text.replace(&format!("{place}/"), "").replace(&*place, replacement)
        }
    })
}

/// The line of an error output that says what is wrong: the first one that names an
/// error, else the last one of a Python traceback, else the first.
pub(super) fn first_line(text: &str) -> String {
    let plain = without_colours(text);
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.iter().find(|line| names_error(line)).or(match lines.first() {
        Some(first) if first.starts_with("Traceback") => lines.last(),
        first => first,
    });
    let line = line.copied().unwrap_or_default();
    match line.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// `TypeError: …`, `Error [ERR_X]: …`, `error: …`, `vite.ConfigError: …`.
fn names_error(line: &str) -> bool {
    let Some((head, rest)) = line.split_once(':') else { return false };
    let word = head.split_whitespace().next().unwrap_or_default();
    let is_name = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'));
    let names = ["Error", "Exception", "error"];
    is_name && !rest.is_empty() && names.iter().any(|end| word.ends_with(end))
}

/// Text without the escape sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| ('@'..='~').contains(&c)).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_found() {
        let node = "file:///a/b.mjs:3\n  throw x\n  ^\n\nError [ERR_X]: bad\n    at c (d:1:2)\n";
        assert_eq!(first_line(node), "Error [ERR_X]: bad");
        assert_eq!(first_line("\u{1b}[31mfailed to load\u{1b}[0m\nmore"), "failed to load");
        assert_eq!(first_line("Traceback (most recent call last):\n  x\nSystemExit: 3"), "SystemExit: 3");
        assert_eq!(first_line("at x: y"), "at x: y");
        assert_eq!(first_line(""), "");
        assert!(first_line(&"ü".repeat(400)).ends_with("ü…"));
    }
}
