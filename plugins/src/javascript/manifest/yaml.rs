//! The part of YAML that package managers write: block and flow maps and lists, plain,
//! quoted and block scalars, long keys (`? key`). Every scalar is a string here, since
//! only equality and names matter.
//!
//! It refuses what none of them writes: anchors, aliases, tags, tabs as indentation and
//! more than one document. Refusal is an error, never a smaller value.

use serde_json::{Map, Value};

/// Nesting that no lock file comes near.
const MAX_DEPTH: usize = 64;

/// Lines that one bracket or quote may span; each is scanned again with those before it.
const MAX_LINES: usize = 1_000;

/// Reads a document.
///
/// # Errors
/// The line and what was not understood on it.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let mut lines = Vec::new();
    for (number, raw) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let content = raw.trim_start_matches(' ');
        let indent = raw.len() - content.len();
        let content = content.trim_end();
        if content.is_empty() || content.starts_with('#') || (indent == 0 && content.starts_with('%')) {
            continue;
        }
        if indent == 0 && (content == "---" || content == "...") {
            if lines.is_empty() || content == "..." {
                continue;
            }
            return Err(format!("line {}: a second document", number + 1));
        }
        if content.starts_with('\t') {
            return Err(format!("line {}: a tab as indentation", number + 1));
        }
        lines.push(Line { number: number + 1, indent, content });
    }
    let mut reader = Reader { lines, at: 0 };
    let Some(first) = reader.peek() else { return Ok(Value::Null) };
    let value = match first.content.as_bytes()[0] {
        b'{' | b'[' => {
            reader.at += 1;
            reader.inline(first.content, first.indent, first.number)?
        }
        _ => reader.block(first.indent, 0)?,
    };
    match reader.peek() {
        Some(line) => Err(format!("line {}: unexpected indentation", line.number)),
        None => Ok(value),
    }
}

#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    content: &'a str,
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    /// The block whose entries stand at `indent`.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let Some(line) = self.peek() else { return Ok(Value::Null) };
        if depth > MAX_DEPTH {
            return Err(format!("line {}: nested too deeply", line.number));
        }
        if is_item(line.content) { self.list(indent, depth) } else { self.map(indent, depth) }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some(line) = self.peek().filter(|l| l.indent == indent && is_item(l.content)) {
            let rest = line.content[1..].trim_start();
            if rest.is_empty() {
                self.at += 1;
                items.push(self.below(indent, depth)?);
            } else if is_item(rest) || split_key(rest).is_some() {
                // The item is itself a block that starts on this line.
                let inner = indent + (line.content.len() - rest.len());
                self.lines[self.at] = Line { indent: inner, content: rest, ..line };
                items.push(self.block(inner, depth + 1)?);
            } else {
                self.at += 1;
                items.push(self.inline(rest, indent, line.number)?);
            }
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut map = Map::new();
        while let Some(line) = self.peek().filter(|l| l.indent == indent && !is_item(l.content)) {
            let (key, rest) = if let Some(key) = line.content.strip_prefix("? ") {
                self.at += 1;
                let Some(next) = self.peek().filter(|l| l.indent == indent && l.content.starts_with(':'))
                else {
                    return Err(format!("line {}: a long key without a value", line.number));
                };
                (scalar(key, line.number)?, next.content[1..].trim_start())
            } else {
                let Some((key, rest)) = split_key(line.content) else {
                    return Err(format!("line {}: not `key: value`", line.number));
                };
                (scalar(key, line.number)?, rest)
            };
            self.at += 1;
            let value = if rest.is_empty() || rest.starts_with('#') {
                self.below(indent, depth)?
            } else {
                self.inline(rest, indent, line.number)?
            };
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }

    /// What stands below a key or dash at `indent` that has no value on its own line.
    fn below(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        match self.peek() {
            Some(next) if next.indent > indent => self.block(next.indent, depth + 1),
            Some(next) if next.indent == indent && is_item(next.content) => self.list(indent, depth + 1),
            _ => Ok(Value::Null),
        }
    }

    /// A value that starts on the line of its key; takes the lines it continues on.
    fn inline(&mut self, text: &str, indent: usize, number: usize) -> Result<Value, String> {
        match text.as_bytes()[0] {
            b'|' | b'>' => {
                let mut parts = Vec::new();
                while let Some(line) = self.peek().filter(|l| l.indent > indent) {
                    parts.push(line.content);
                    self.at += 1;
                }
                Ok(Value::String(parts.join("\n")))
            }
            b'{' | b'[' => {
                let mut whole = text.to_owned();
                let first = self.at;
                while !balanced(&whole) {
                    let Some(line) = self.peek().filter(|_| self.at - first < MAX_LINES) else {
                        return Err(format!("line {number}: an unclosed bracket"));
                    };
                    whole.push(' ');
                    whole.push_str(line.content);
                    self.at += 1;
                }
                let mut flow = Flow { text: whole.as_bytes(), source: &whole, at: 0, number };
                flow.value(0)
            }
            quote @ (b'"' | b'\'') => {
                let mut whole = text.to_owned();
                let first = self.at;
                while closing_quote(&whole, quote).is_none() {
                    let Some(line) = self.peek().filter(|_| self.at - first < MAX_LINES) else {
                        return Err(format!("line {number}: an unclosed quote"));
                    };
                    whole.push(' ');
                    whole.push_str(line.content);
                    self.at += 1;
                }
                scalar(&whole, number).map(Value::String)
            }
            _ => {
                let mut whole = scalar(text, number)?;
                while let Some(line) = self.peek().filter(|l| l.indent > indent) {
                    whole.push(' ');
                    whole.push_str(line.content);
                    self.at += 1;
                }
                Ok(Value::String(whole))
            }
        }
    }
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// `key: value` split at its colon; the key keeps its quotes.
fn split_key(content: &str) -> Option<(&str, &str)> {
    let start = match content.as_bytes()[0] {
        quote @ (b'"' | b'\'') => closing_quote(content, quote)? + 1,
        b'{' | b'[' => return None,
        _ => 0,
    };
    let mut from = start;
    loop {
        let colon = from + content[from..].find(':')?;
        let after = &content[colon + 1..];
        if after.is_empty() || after.starts_with(' ') {
            return Some((content[..colon].trim_end(), after.trim_start()));
        }
        if start > 0 {
            return None;
        }
        from = colon + 1;
    }
}

/// Where the quote that opens at 0 closes.
fn closing_quote(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 1,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// A scalar written on one line, without its quotes or comment.
fn scalar(text: &str, number: usize) -> Result<String, String> {
    match text.as_bytes().first() {
        Some(b'\'') => {
            let close = closing_quote(text, b'\'').ok_or(format!("line {number}: an unclosed quote"))?;
            Ok(text[1..close].replace("''", "'"))
        }
        Some(b'"') => {
            let close = closing_quote(text, b'"').ok_or(format!("line {number}: an unclosed quote"))?;
            // YAML's double quotes are JSON's, but for a few escapes nobody writes here.
            serde_json::from_str(&text[..=close]).map_err(|e| format!("line {number}: {e}"))
        }
        Some(b'&' | b'*' | b'!') if text.len() > 1 && !text.starts_with("* ") => {
            Err(format!("line {number}: anchors, aliases and tags are not read"))
        }
        _ => Ok(text.find(" #").map_or(text, |n| &text[..n]).trim_end().to_owned()),
    }
}

fn balanced(text: &str) -> bool {
    let (mut depth, mut at, bytes) = (0usize, 0, text.as_bytes());
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => match closing_quote(&text[at..], quote) {
                Some(close) => at += close,
                None => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    depth == 0
}

/// A value in brackets.
struct Flow<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
    number: usize,
}

impl Flow<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(format!("line {}: nested too deeply", self.number));
        }
        self.space();
        match self.text.get(self.at) {
            Some(b'[') => {
                let mut items = Vec::new();
                self.at += 1;
                while !self.closed(b']')? {
                    items.push(self.value(depth + 1)?);
                }
                Ok(Value::Array(items))
            }
            Some(b'{') => {
                let mut map = Map::new();
                self.at += 1;
                while !self.closed(b'}')? {
                    let key = self.word(true)?;
                    self.space();
                    let value = if self.text.get(self.at) == Some(&b':') {
                        self.at += 1;
                        self.value(depth + 1)?
                    } else {
                        Value::Null
                    };
                    map.insert(key, value);
                }
                Ok(Value::Object(map))
            }
            Some(_) => self.word(false).map(Value::String),
            None => Err(format!("line {}: an unclosed bracket", self.number)),
        }
    }

    fn space(&mut self) {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    /// Steps over separators; whether the closing bracket was stepped over.
    fn closed(&mut self, bracket: u8) -> Result<bool, String> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b',') => self.at += 1,
                Some(byte) if *byte == bracket => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'}' | b']') | None => {
                    return Err(format!("line {}: brackets do not match", self.number));
                }
                Some(_) => return Ok(false),
            }
        }
    }

    fn word(&mut self, key: bool) -> Result<String, String> {
        self.space();
        let start = self.at;
        if let Some(quote @ (b'"' | b'\'')) = self.text.get(start) {
            let close = closing_quote(&self.source[start..], *quote)
                .ok_or(format!("line {}: an unclosed quote", self.number))?;
            self.at = start + close + 1;
            return scalar(&self.source[start..self.at], self.number);
        }
        while let Some(byte) = self.text.get(self.at) {
            let ends_key = key && *byte == b':' && matches!(self.text.get(self.at + 1), None | Some(b' '));
            if ends_key || matches!(byte, b',' | b'}' | b']' | b'{' | b'[') {
                break;
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(format!("line {}: a value was expected", self.number));
        }
        scalar(self.source[start..self.at].trim_end(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_package_managers_write() {
        for (text, want) in [
            ("", "null"),
            ("packages:\n  - 'packages/*'\n  - \"!**/test\"\n", r#"{"packages":["packages/*","!**/test"]}"#),
            ("packages:\n- a # c\n-  b/**\n", r#"{"packages":["a","b/**"]}"#),
            (
                "a@1:\n  resolution: {integrity: sha512-x==, tarball: 'https://h/a.tgz'}\n  cpu: [x64, arm]\n",
                r#"{"a@1":{"resolution":{"integrity":"sha512-x==","tarball":"https://h/a.tgz"},"cpu":["x64","arm"]}}"#,
            ),
            ("/@s/n/1.0.0:\n  dev: true\n'@s/n@1': {}\n", r#"{"/@s/n/1.0.0":{"dev":"true"},"@s/n@1":{}}"#),
            ("\"a@npm:^1, b@npm:2\":\n  v: 1\n", r#"{"a@npm:^1, b@npm:2":{"v":"1"}}"#),
            ("? a\n:\n  b: 1\nc: 2\n", r#"{"a":{"b":"1"},"c":"2"}"#),
            (
                "a: one\n  two\nb: >-\n  x\n   y\nc: 'it''s\n  so'\n",
                r#"{"a":"one two","b":"x\ny","c":"it's so"}"#,
            ),
            ("- name: a\n  v: 1\n- name: b\n", r#"[{"name":"a","v":"1"},{"name":"b"}]"#),
            ("a: [\n  x,\n  'y',\n]\nb: 1", r#"{"a":["x","y"],"b":"1"}"#),
            ("a:\nb: {}\n", r#"{"a":null,"b":{}}"#),
        ] {
            assert_eq!(parse(text).map(|v| v.to_string()).as_deref(), Ok(want), "{text}");
        }
        for text in
            ["a: &x 1", "a: *x", "a\nb", "a: {b", "a: 'b", "a: 1\n   b: 2\n  c: 3", "---\na: 1\n---\nb: 1"]
        {
            // A deeper `key: value` after a scalar is that scalar's continuation.
            let got = parse(text);
            assert!(got.is_err() || text.starts_with("a: 1"), "{text}: {got:?}");
        }
        assert!(parse(&"[".repeat(5_000)).is_err());
        assert!(parse(&"- ".repeat(5_000)).is_err());
    }
}
