//! `owed.debt.toml` as a value: reading and writing its text.
//!
//! The file is sorted and holds one entry a line, so that two branches that record
//! different debt merge without a conflict, also line by line (`merge=union`); therefore
//! order and repeated lines mean nothing when it is read. What this module refuses to do: it
//! guesses nothing. A text that is not understood is an error with its line, never an
//! empty debt.

use std::fmt::Write as _;

use serde::Deserialize;

use super::identity::{Identity, Sketch};
use crate::check::policy::{Caps, PathCap};
use crate::function::FunctionKind;

/// The name of the file, at the root of the project.
pub const FILE: &str = "owed.debt.toml";

const SCHEMA: &str = "owed.debt/1";

const HEAD: &str = "\
# Debt this project has taken on: functions over their token cap, and repeated implementations that
# were accepted. It may hold or shrink. Written by `owed check --update-debt`; one entry a line.
";

/// The recorded debt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debt {
    /// The caps when it was recorded: a function within these that is over today's was
    /// revealed by the stricter cap.
    pub caps: Caps,
    /// Language and how its tokens were counted (`tokens/1`), sorted.
    pub measures: Vec<(String, String)>,
    /// Functions over their cap.
    pub functions: Vec<Entry>,
    /// Groups of repeated implementations that were accepted.
    pub repeated: Vec<AcceptedGroup>,
}

/// One function that may stay over its cap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who it is, with the allowed number of tokens.
    pub identity: Identity,
    /// Why its growth was accepted; empty for what was there at the start.
    pub reason: String,
}

/// A group of repeated implementations that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcceptedGroup {
    /// The group's digest, 32 hexadecimal digits.
    pub shape: String,
    /// Whether its members lie in several files.
    pub across_files: bool,
    /// Path and qualified name of each member, sorted.
    pub members: Vec<(String, String)>,
    /// Why it was accepted; empty for what was there at the start.
    pub reason: String,
}

/// Why a text is no debt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebtError {
    /// 1-based line.
    pub line: u32,
    /// One sentence.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    schema: String,
    cap: u32,
    #[serde(default)]
    caps: Vec<CapText>,
    #[serde(default)]
    measures: Vec<MeasureText>,
    #[serde(default)]
    functions: Vec<toml::Spanned<FunctionText>>,
    #[serde(default)]
    repeated: Vec<toml::Spanned<GroupText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapText {
    paths: Vec<String>,
    cap: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureText {
    language: String,
    tokens: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionText {
    path: String,
    name: String,
    kind: String,
    nth: u32,
    tokens: u32,
    language: String,
    body: String,
    content: String,
    sketch: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupText {
    shape: String,
    scope: String,
    members: Vec<MemberText>,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberText {
    path: String,
    name: String,
}

const KINDS: [FunctionKind; 7] = [
    FunctionKind::Function,
    FunctionKind::Method,
    FunctionKind::Arrow,
    FunctionKind::Accessor,
    FunctionKind::Constructor,
    FunctionKind::Lambda,
    FunctionKind::Closure,
];

impl Debt {
    /// Reads the text of a debt file.
    ///
    /// # Errors
    /// When it is no TOML (a merge conflict, for example), of another schema, or an entry
    /// lacks something.
    pub fn parse(text: &str) -> Result<Self, DebtError> {
        let conflict =
            |line: &str| ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
        if let Some(at) = text.lines().position(conflict) {
            let message = "it holds a merge conflict; keep the lines of both sides, in any order".to_owned();
            return Err(DebtError { line: u32::try_from(at + 1).unwrap_or(u32::MAX), message });
        }
        let parsed: Text = toml::from_str(text).map_err(|error| DebtError {
            line: error.span().map_or(1, |span| line_at(text, span.start)),
            message: error.message().trim().replace('\n', ", "),
        })?;
        if parsed.schema != SCHEMA {
            let message = format!("its schema is `{}`, and this program knows `{SCHEMA}`", parsed.schema);
            return Err(DebtError { line: 1, message });
        }
        let mut debt = Self {
            caps: Caps {
                default: parsed.cap,
                paths: parsed.caps.into_iter().map(|c| PathCap { paths: c.paths, cap: c.cap }).collect(),
            },
            measures: parsed.measures.into_iter().map(|m| (m.language, m.tokens)).collect(),
            ..Self::default()
        };
        for function in parsed.functions {
            let line = line_at(text, function.span().start);
            let wrong =
                |what: &str| DebtError { line, message: format!("`{what}` of this entry is not understood") };
            let function = function.into_inner();
            let kind = KINDS.into_iter().find(|kind| kind.word() == function.kind);
            debt.functions.push(Entry {
                identity: Identity {
                    language: function.language,
                    path: function.path,
                    name: function.name,
                    kind: kind.ok_or_else(|| wrong("kind"))?,
                    ordinal: function.nth,
                    tokens: function.tokens,
                    body: number(&function.body).ok_or_else(|| wrong("body"))?,
                    content: number(&function.content).ok_or_else(|| wrong("content"))?,
                    sketch: bytes(&function.sketch).map(Sketch).ok_or_else(|| wrong("sketch"))?,
                    delegate: false,
                },
                reason: function.reason,
            });
        }
        for group in parsed.repeated {
            let line = line_at(text, group.span().start);
            let group = group.into_inner();
            let across_files = match group.scope.as_str() {
                "same-file" => false,
                "across-files" => true,
                _ => {
                    return Err(DebtError {
                        line,
                        message: "`scope` of this entry is not understood".to_owned(),
                    });
                }
            };
            let members = group.members.into_iter().map(|member| (member.path, member.name)).collect();
            debt.repeated.push(AcceptedGroup {
                shape: group.shape,
                across_files,
                members,
                reason: group.reason,
            });
        }
        debt.sort();
        Ok(debt)
    }

    /// The text of the file, sorted.
    pub fn render(&self) -> String {
        let mut sorted = self.clone();
        sorted.sort();
        let mut out = HEAD.to_owned();
        let _ = writeln!(out, "schema = \"{SCHEMA}\"\ncap = {}", sorted.caps.default);
        // Tables of caps keep their order: the last one that holds counts.
        list(
            &mut out,
            "caps",
            sorted.caps.paths.iter().map(|table| {
                let paths: Vec<String> = table.paths.iter().map(|path| quoted(path)).collect();
                format!("paths = [{}], cap = {}", paths.join(", "), table.cap)
            }),
        );
        list(
            &mut out,
            "measures",
            sorted.measures.iter().map(|(language, tokens)| {
                format!("language = {}, tokens = {}", quoted(language), quoted(tokens))
            }),
        );
        list(&mut out, "functions", sorted.functions.iter().map(function_line));
        list(&mut out, "repeated", sorted.repeated.iter().map(group_line));
        out
    }

    fn sort(&mut self) {
        self.measures.sort();
        self.measures.dedup();
        let key = |entry: &Entry| function_line(entry);
        self.functions.sort_by_cached_key(|entry| {
            let who = &entry.identity;
            (who.path.clone(), who.name.clone(), who.kind, who.ordinal, key(entry))
        });
        self.functions.dedup();
        for group in &mut self.repeated {
            group.members.sort();
        }
        self.repeated.sort_by(|a, b| (&a.members, a).cmp(&(&b.members, b)));
        self.repeated.dedup();
    }
}

fn function_line(entry: &Entry) -> String {
    let who = &entry.identity;
    let mut line = format!(
        "path = {}, name = {}, kind = \"{}\", nth = {}, tokens = {}, language = {}, body = \"{:016x}\", \
         content = \"{:016x}\", sketch = \"{}\"",
        quoted(&who.path),
        quoted(&who.name),
        who.kind.word(),
        who.ordinal,
        who.tokens,
        quoted(&who.language),
        who.body,
        who.content,
        who.sketch.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    );
    if !entry.reason.is_empty() {
        let _ = write!(line, ", reason = {}", quoted(&entry.reason));
    }
    line
}

fn group_line(group: &AcceptedGroup) -> String {
    let members: Vec<String> = group
        .members
        .iter()
        .map(|(path, name)| format!("{{ path = {}, name = {} }}", quoted(path), quoted(name)))
        .collect();
    let scope = if group.across_files { "across-files" } else { "same-file" };
    let mut line =
        format!("shape = {}, scope = \"{scope}\", members = [{}]", quoted(&group.shape), members.join(", "));
    if !group.reason.is_empty() {
        let _ = write!(line, ", reason = {}", quoted(&group.reason));
    }
    line
}

fn list(out: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let _ = writeln!(out, "{name} = [");
    for line in lines {
        let _ = writeln!(out, "  {{ {line} }},");
    }
    out.push_str("]\n");
}

/// A basic string of TOML, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn line_at(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    u32::try_from(before.iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
}

fn number(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    let mut out = [0; N];
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, name: &str, tokens: u32) -> Entry {
        let identity = Identity {
            language: "javascript".to_owned(),
            path: path.to_owned(),
            name: name.to_owned(),
            kind: FunctionKind::Method,
            ordinal: 1,
            tokens,
            body: 0x1234,
            content: u64::MAX,
            sketch: Sketch([7; 64]),
            delegate: false,
        };
        Entry { identity, reason: String::new() }
    }

    fn debt(functions: Vec<Entry>) -> Debt {
        let measures = vec![("javascript".to_owned(), "tokens/1".to_owned())];
        Debt { measures, functions, ..Debt::default() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut debt = debt(vec![
            entry("src/ü \"x\".ts", "<anonymous>#2 in a\u{2028}b\n", 512),
            entry("a.ts", "A", 401),
        ]);
        debt.functions[0].reason = "it's \\ here\tto stay".to_owned();
        debt.caps.paths.push(PathCap { paths: vec!["src/**".to_owned()], cap: 300 });
        debt.repeated.push(AcceptedGroup {
            shape: "ab".repeat(16),
            across_files: true,
            members: vec![("b.ts".to_owned(), "f".to_owned()), ("a.ts".to_owned(), "f".to_owned())],
            reason: String::new(),
        });
        let text = debt.render();
        let again = Debt::parse(&text).unwrap();
        assert_eq!(again.render(), text);
        debt.sort();
        assert_eq!(again, debt);
        let lines = text.lines().filter(|line| line.contains("tokens = ") && line.contains("path")).count();
        assert_eq!(lines, 2, "one entry a line:\n{text}");
    }

    #[test]
    fn the_union_of_two_branches_is_a_debt_file() {
        let with = |more: Entry| debt(vec![entry("b.ts", "B", 500), more]).render();
        let (ours, theirs) = (with(entry("a.ts", "A", 450)), with(entry("c.ts", "C", 460)));
        // What git's union driver leaves: the lines of one side, with those of the other added.
        let added: Vec<&str> = theirs.lines().filter(|line| !ours.contains(line)).collect();
        let merged = ours.replacen("functions = [\n", &format!("functions = [\n{}\n", added.join("\n")), 1);
        let names: Vec<String> =
            Debt::parse(&merged).unwrap().functions.into_iter().map(|entry| entry.identity.name).collect();
        assert_eq!(names, ["A", "B", "C"]);
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        let good = debt(vec![entry("a.ts", "A", 401)]).render();
        let line_of =
            |text: &str, word: &str| text.lines().position(|line| line.contains(word)).unwrap() as u32 + 1;
        for (from, to, word) in [
            ("owed.debt/1", "owed.debt/9", ""),
            ("kind = \"method\"", "kind = \"gizmo\"", "gizmo"),
            ("body = \"0000000000001234\"", "body = \"12\"", "body"),
            ("tokens = 401", "tokens = \"many\"", "many"),
            ("nth = 1, ", "nth = 1, more = 2, ", "more"),
            ("  { path", "<<<<<<< ours\n  { path", "<<<<<<<"),
        ] {
            let text = good.replacen(from, to, 1);
            let error = Debt::parse(&text).expect_err(to);
            let line = if word.is_empty() { 1 } else { line_of(&text, word) };
            assert_eq!(error.line, line, "{}\n{text}", error.message);
        }
    }
}
