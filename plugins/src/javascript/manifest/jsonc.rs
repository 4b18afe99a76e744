//! JSON with comments and trailing commas (`tsconfig.json`, `bun.lock`), read into a
//! [`Value`]. Plain JSON is accepted as it is.
//!
//! It refuses what `serde_json` refuses otherwise: single quotes, bare keys, and
//! nesting deeper than its limit of 128.

use serde_json::Value;

/// Reads JSON with comments.
///
/// # Errors
/// What `serde_json` says about the text without its comments.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(&plain(text)).map_err(|e| e.to_string())
}

/// `text` with comments and trailing commas blanked out, so that positions stay.
fn plain(text: &str) -> String {
    let bytes = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    // Where in `out` the last significant byte stands, when that byte is a comma.
    let mut comma = None;
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'"' => string_end(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n);
                out.resize(out.len() + (end - at), b' ');
                at = end;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let close = bytes[at + 2..].windows(2).position(|w| w == b"*/");
                let end = close.map_or(bytes.len(), |n| at + 2 + n + 2);
                out.resize(out.len() + (end - at), b' ');
                at = end;
                continue;
            }
            _ => at + 1,
        };
        match bytes[at] {
            b',' => comma = Some(out.len()),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        out.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    String::from_utf8(out).expect("only whole comments and ASCII commas were replaced, by spaces")
}

/// One past the closing quote of the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_go_strings_stay() {
        for (text, want) in [
            (r#"{"a": "// no", /* ü */ "b": [1, 2, ], } // end"#, r#"{"a":"// no","b":[1,2]}"#),
            ("{\"p\": {\"@/*\": [\"./src/*\"], /* x */ },}", r#"{"p":{"@/*":["./src/*"]}}"#),
            (r#"["a\"//b", ",]"]"#, r#"["a\"//b",",]"]"#),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), want);
        }
        assert!(parse("{,}").is_ok(), "more lenient than JSON, which no tool relies on");
        assert!(parse("{\"a\": \"unclosed").is_err());
        assert!(parse("/*").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
