//! JavaScript regular expressions on paths. Most mean the same to a finite automaton,
//! which is fast; those with look-around or back-references are run by a backtracking
//! engine that follows ECMAScript.

use regex_automata::meta::Regex;

/// A compiled JavaScript regular expression.
#[derive(Debug)]
pub enum Pattern {
    /// By automaton.
    Fast(Box<Regex>),
    /// By backtracking.
    Slow(Box<regress::Regex>),
}

impl Pattern {
    /// Compiles `source` with `flags` (only `i` matters here).
    pub fn new(source: &str, flags: &str) -> Option<Self> {
        let prefix = if flags.contains('i') { "(?i)" } else { "" };
        if let Ok(regex) = Regex::new(&format!("{prefix}{source}")) {
            return Some(Self::Fast(Box::new(regex)));
        }
        regress::Regex::with_flags(source, flags).ok().map(|r| Self::Slow(Box::new(r)))
    }

    /// Whether it matches somewhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Fast(regex) => regex.is_match(text),
            Self::Slow(regex) => regex.find(text).is_some(),
        }
    }
}

/// `text` with everything special in regular expressions escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation()
            && !matches!(
                c,
                '/' | '_'
                    | '-'
                    | '@'
                    | '~'
                    | ','
                    | ':'
                    | ' '
                    | '='
                    | '#'
                    | '%'
                    | '&'
                    | '"'
                    | '\''
                    | ';'
                    | '<'
                    | '>'
                    | '!'
                    | '`'
            )
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_answer() {
        let cases = [
            (r"(/__tests__/.*|(\.|/)(test|spec))\.[jt]sx?$", "/a/__tests__/b.js", true, true),
            (r"(\.|\/)test\.ts$", "/a/b.test.ts", true, true),
            (r"/(?!dist)[a-z]+/x\.js$", "/dist/x.js", false, false),
            (r"/(?!dist)[a-z]+/x\.js$", "/src/x.js", false, true),
        ];
        for (source, text, fast, expected) in cases {
            let pattern = Pattern::new(source, "").unwrap();
            assert_eq!(matches!(pattern, Pattern::Fast(_)), fast, "{source}");
            assert_eq!(pattern.is_match(text), expected, "{source} on {text}");
        }
        assert!(Pattern::new("(", "").is_none());
        assert!(Pattern::new(&escape("a.b(c)+"), "").unwrap().is_match("a.b(c)+"));
    }
}
