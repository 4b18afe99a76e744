//! JSON with comments and trailing commas, as configuration values. Not a validator: it
//! accepts a little more than the tools do, and says what it cannot read.

use super::unknown;
use super::value::{Entry, Object, Value};

/// The value of `text`, the content of the file at `path`.
pub fn parse(text: &str, path: &str) -> Value {
    match serde_json::from_str::<serde_json::Value>(&strict(text)) {
        Ok(value) => from_json(&value),
        Err(error) => unknown(
            format!("JSON that cannot be read ({error})"),
            path,
            u32::try_from(error.line()).unwrap_or(1),
        ),
    }
}

/// The same value as a configuration value. `{"$regex": [source, flags]}`,
/// `{"$unknown": reason}` and `{"$function": true}` are what the child programs print for
/// things JSON cannot hold.
pub fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(*b),
        serde_json::Value::Number(n) => Value::Number(n.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(s) => Value::String(s.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        serde_json::Value::Object(map) => {
            if let Some(parts) = map.get("$regex").and_then(|r| r.as_array())
                && let [source, flags] = parts.as_slice()
                && let (Some(source), Some(flags)) = (source.as_str(), flags.as_str())
            {
                return Value::Regex(source.to_owned(), flags.to_owned());
            }
            if let Some(reason) = map.get("$unknown").and_then(|r| r.as_str()) {
                return unknown(reason, "", 0);
            }
            Value::Object(Object(map.iter().map(|(k, v)| Entry::Key(k.clone(), from_json(v))).collect()))
        }
    }
}

/// `text` without comments and trailing commas; positions are kept.
pub fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut pending_comma: Option<usize> = None;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                pending_comma = None;
                out.push(c);
                while let Some(c) = chars.next() {
                    out.push(c);
                    if c == '\\' {
                        out.extend(chars.next());
                    } else if c == '"' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                    out.push(' ');
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                out.push_str("  ");
                let mut star = false;
                for c in chars.by_ref() {
                    out.push(if c == '\n' { '\n' } else { ' ' });
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
            }
            ',' => {
                pending_comma = Some(out.len());
                out.push(c);
            }
            '}' | ']' => {
                if let Some(at) = pending_comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(c);
            }
            c if c.is_whitespace() => out.push(c),
            c => {
                pending_comma = None;
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "{\n // a, b\n \"a\": [1, 2, /* x */ ],\n \"b\": \"//no, ]\",\n}\n";
        let value = parse(text, "x.json");
        assert_eq!(value.get("a"), Value::Array(vec![Value::Number(1.0), Value::Number(2.0)]));
        assert_eq!(value.get("b"), Value::String("//no, ]".into()));
        assert!(matches!(parse("{", "x.json"), Value::Unknown(_)));
    }
}
