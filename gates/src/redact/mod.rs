//! Taking secrets out of text before it is stored or shown.
//!
//! Each text field is redacted by itself, before it becomes part of a record: a pattern
//! that runs to the end of a line or of a text can then never swallow the fields beside
//! it, and the identity of a record survives whatever its output held.
//!
//! What is known: headers that carry credentials, values behind names that say "secret",
//! flags of that kind, credentials in URLs, private keys, the forms of common tokens, and
//! the values of environment variables whose names say so. A secret of no known form
//! behind no telling name is not found; redaction makes a record safer, not public.

mod rules;

use std::ffi::OsString;

use rules::{RULES, Rule, is_secret_name};

/// Takes secrets out of text.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Values that are secret wherever they stand, longest first.
    values: Vec<String>,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The text; `[redacted:KIND]` stands for each secret.
    pub text: String,
    /// How many were taken out.
    pub count: u32,
}

/// Where a text was cut out of a longer one. What stands at a cut may be half of a
/// secret, which has no form to know it by: it is taken out up to the next blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// It is whole.
    None,
    /// Something before it is missing.
    Start,
    /// Something after it is missing.
    End,
}

/// Shorter values of variables are too likely to be words of the output.
const SHORTEST: usize = 8;

impl Redactor {
    /// One that knows forms and names only.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that knows the values of an environment's secret variables, too.
    pub fn knowing(environment: &[(OsString, OsString)]) -> Self {
        let mut values: Vec<String> = environment
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(is_secret_name))
            .filter_map(|(_, value)| value.to_str())
            .filter(|value| value.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        values.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        values.dedup();
        Self { values }
    }

    /// A whole text field.
    pub fn field(&self, text: &str) -> Redacted {
        self.part(text, Edge::None)
    }

    /// A part of a text.
    pub fn part(&self, text: &str, edge: Edge) -> Redacted {
        let mut done = Redacted { text: cut(text, edge).to_owned(), count: 0 };
        for value in &self.values {
            let found = done.text.matches(value.as_str()).count();
            if found > 0 {
                done.text = done.text.replace(value.as_str(), "[redacted:environment]");
                done.count += u32::try_from(found).unwrap_or(u32::MAX);
            }
        }
        if edge == Edge::Start
            && let Some(rest) = rules::after_key_end(&done.text)
        {
            done.text = format!("[redacted:private-key]{rest}");
            done.count += 1;
        }
        for rule in RULES.iter() {
            apply(rule, &mut done);
        }
        done
    }
}

fn cut(text: &str, edge: Edge) -> &str {
    let blank = |c: char| c.is_whitespace();
    match edge {
        Edge::None => text,
        Edge::Start => text.find(blank).map_or("", |at| &text[at..]),
        Edge::End => text.rfind(blank).map_or("", |at| &text[..=at]).trim_end(),
    }
}

fn apply(rule: &Rule, done: &mut Redacted) {
    let mut out = String::new();
    let mut from = 0;
    for captures in rule.regex.captures_iter(done.text.as_str()) {
        let Some(span) = captures.get_group(rule.group) else { continue };
        let value = &done.text[span.start..span.end];
        if value.starts_with("[redacted:") || !(rule.is_secret)(value) {
            continue;
        }
        out.push_str(&done.text[from..span.start]);
        out.push_str("[redacted:");
        out.push_str(rule.kind);
        out.push(']');
        from = span.end;
        done.count += 1;
    }
    if from > 0 {
        out.push_str(&done.text[from..]);
        done.text = out;
    }
}

#[cfg(test)]
mod tests;
