//! A small part of YAML: top-level keys with scalars, inline lists and block lists of
//! scalars, which is what `.mocharc.yml` and `pnpm-workspace.yaml` hold, and one level of
//! nested maps. Anything else (anchors, tags, block scalars, deeper nesting) makes its
//! key unknown.

use super::unknown;
use super::value::{Entry, Object, Value};

/// The value of `text`, the content of the file at `path`.
pub fn parse(text: &str, path: &str) -> Value {
    let lines: Vec<Line<'_>> = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i, without_comment(line)))
        .filter(|(_, line)| !line.trim().is_empty() && !matches!(line.trim(), "---" | "..."))
        .map(|(i, line)| Line {
            number: u32::try_from(i + 1).unwrap_or(u32::MAX),
            indent: line.len() - line.trim_start().len(),
            text: line.trim(),
        })
        .collect();
    block(&lines, path, 0)
}

struct Line<'a> {
    number: u32,
    indent: usize,
    text: &'a str,
}

fn block(lines: &[Line<'_>], path: &str, depth: u32) -> Value {
    let Some(first) = lines.first() else { return Value::Null };
    if depth > 8 {
        return unknown("YAML nested too deep", path, first.number);
    }
    if is_item(first.text) {
        return list(lines, path);
    }
    let mut object = Object::default();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        let mut end = at + 1;
        while end < lines.len()
            && (lines[end].indent > first.indent
                || (lines[end].indent == first.indent && is_item(lines[end].text)))
        {
            end += 1;
        }
        match line.text.split_once(':') {
            Some((key, rest))
                if line.indent == first.indent && (rest.is_empty() || rest.starts_with(' ')) =>
            {
                let rest = rest.trim();
                let inner = &lines[at + 1..end];
                let value = match (rest.is_empty(), inner.is_empty()) {
                    (true, true) => Value::Null,
                    (true, false) => block(inner, path, depth + 1),
                    (false, true) => scalar(rest, path, line.number),
                    (false, false) => unknown("YAML that is not read here", path, line.number),
                };
                object.0.push(Entry::Key(unquoted(key.trim()).to_owned(), value));
            }
            _ => return unknown("YAML that is not read here", path, line.number),
        }
        at = end;
    }
    Value::Object(object)
}

fn list(lines: &[Line<'_>], path: &str) -> Value {
    let indent = lines[0].indent;
    let mut items = Vec::new();
    for line in lines {
        if line.indent != indent || !is_item(line.text) {
            return unknown("YAML that is not read here", path, line.number);
        }
        items.push(scalar(line.text[1..].trim(), path, line.number));
    }
    Value::Array(items)
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

fn scalar(text: &str, path: &str, line: u32) -> Value {
    match text.as_bytes().first() {
        Some(b'[') => match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            Some(inner) if !inner.contains(['[', '{']) => Value::Array(
                inner
                    .split(',')
                    .map(str::trim)
                    .filter(|s| !s.is_empty())
                    .map(|s| scalar(s, path, line))
                    .collect(),
            ),
            _ => unknown("YAML that is not read here", path, line),
        },
        Some(b'{' | b'&' | b'*' | b'|' | b'>' | b'!') => {
            // A glob may start with `*` or `!` only in quotes; without, it is an alias or a tag.
            unknown("YAML that is not read here", path, line)
        }
        Some(b'"' | b'\'') => Value::String(unquoted(text).to_owned()),
        _ => match text {
            "true" | "yes" | "on" => Value::Bool(true),
            "false" | "no" | "off" => Value::Bool(false),
            "null" | "~" | "" => Value::Null,
            _ => match text.parse::<f64>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(text.to_owned()),
            },
        },
    }
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (i, c) in line.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return &line[..i],
            None => {}
        }
        before = c;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_files_are_read() {
        let text = "# c\nspec:\n  - 'test/**/*.js'\n  - \"b#c\" # d\nrequire: [a, \"b\"]\nrecursive: true\nui: tdd\ncatalog:\n  vitest: ^3.0.0\nx:\n- 1\n";
        let value = parse(text, ".mocharc.yml");
        let string = |s: &str| Value::String(s.to_owned());
        assert_eq!(value.get("spec"), Value::Array(vec![string("test/**/*.js"), string("b#c")]));
        assert_eq!(value.get("require"), Value::Array(vec![string("a"), string("b")]));
        assert_eq!(value.get("recursive"), Value::Bool(true));
        assert_eq!(value.at(&["catalog", "vitest"]), string("^3.0.0"));
        assert_eq!(value.get("x"), Value::Array(vec![Value::Number(1.0)]));
        assert!(matches!(parse("a: &x b\n", "m.yml").get("a"), Value::Unknown(_)));
    }
}
