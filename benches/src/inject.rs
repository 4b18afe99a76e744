//! Copies of real functions with known edits, for measuring what a search for repeated
//! implementations finds.
//!
//! - Type 1: other white space and comments.
//! - Type 2: also other names for what is declared inside, and other literals.
//! - Type 3: Type 2, and up to a fifth of the statements replaced, removed or added.
//!
//! An edit works on text and is careful: a name that also stands after a dot, as a key or in
//! a string is left alone, so that a copy is what it claims to be. What does not parse
//! afterwards is not counted.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::function::{Function, FunctionKind};

/// The kind of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// White space and comments.
    Layout,
    /// Names and literals.
    Names,
    /// Statements.
    Statements,
}

/// A language that copies can be made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// TypeScript and JavaScript.
    Script,
    /// Python.
    Python,
}

/// A small deterministic generator (`SplitMix64`, Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound.max(1) as u64).unwrap_or_default()
    }
}

/// A file that holds an edited copy of `function` of `text`, and how many statements were
/// edited; `None` when the function cannot stand alone in a file.
pub fn copy(
    language: Language,
    text: &str,
    function: &Function,
    edit: Edit,
    random: &mut Random,
) -> Option<(String, usize)> {
    let (start, end) = (function.span.start as usize, function.span.end as usize);
    let source = text.get(start..end)?;
    if language == Language::Script && (source.contains('#') || source.contains("super")) {
        return None;
    }
    let column = text[..start].len() - text[..start].rfind('\n').map_or(0, |at| at + 1);
    let lead = &text[start - column..start];
    let indent: String = lead.chars().take_while(|c| c.is_whitespace()).collect();
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let mut edited = 0;
    if edit == Edit::Statements {
        edited = statements(language, function, &mut lines, random);
        if edited == 0 {
            return None;
        }
    }
    let mut body = lines.join("\n");
    if edit != Edit::Layout {
        body = rename(language, &body);
        body = literals(&body);
    }
    body = match language {
        Language::Script => body
            .lines()
            .enumerate()
            .map(|(at, line)| {
                if at % 3 == 1 && !in_template(&body) {
                    format!("  {line} // note {at}\n")
                } else {
                    format!("{line}\n")
                }
            })
            .collect(),
        Language::Python => body.clone() + "\n",
    };
    Some((wrap(language, function, &indent, &body), edited))
}

/// Comments at line ends would stand inside of a template.
fn in_template(body: &str) -> bool {
    body.contains('`') || body.contains("\\\n") || body.contains("/*")
}

fn wrap(language: Language, function: &Function, indent: &str, body: &str) -> String {
    match (language, function.kind) {
        (Language::Python, _) if indent.is_empty() => body.to_owned(),
        (Language::Python, _) => format!("class Injected:\n{indent}{body}"),
        (_, FunctionKind::Function) => format!("export default {body}"),
        (_, FunctionKind::Arrow) => format!("export const injected = {body};\n"),
        (_, _) => format!("export class Injected {{\n{body}\n}}\n"),
    }
}

/// Edits up to a fifth of the statements that stand on a line of their own.
fn statements(language: Language, function: &Function, lines: &mut [String], random: &mut Random) -> usize {
    let base = function.start_line;
    let mut per_line: BTreeMap<u32, usize> = BTreeMap::new();
    let mut siblings: BTreeMap<u32, usize> = BTreeMap::new();
    for statement in &function.shape.statements {
        *per_line.entry(statement.lines.0).or_default() += 1;
        *siblings.entry(statement.block).or_default() += 1;
    }
    let mut free: Vec<(usize, u32)> = function
        .shape
        .statements
        .iter()
        .filter(|s| {
            s.lines.0 == s.lines.1
                && s.lines.0 > base
                && s.lines.1 < function.end_line
                && per_line[&s.lines.0] == 1
        })
        .filter_map(|s| {
            Some(((s.lines.0 - base) as usize, s.block)).filter(|(at, _)| alone(language, lines, *at))
        })
        .collect();
    let most = (function.statements as usize / 5).max(1);
    let mut done = 0;
    let mut edits: Vec<(usize, String)> = Vec::new();
    while done < most && !free.is_empty() {
        let (at, block) = free.swap_remove(random.below(free.len()));
        let line = &lines[at];
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        let end = if language == Language::Script { ";" } else { "" };
        let new = format!("{indent}auditStep{done}(\"injected\", {done}){end}");
        let declares = ["const ", "let ", "var "].iter().any(|word| line.trim_start().starts_with(word));
        match random.below(3) {
            0 if siblings[&block] > 1 && !declares => {
                edits.push((at, String::new()));
                *siblings.entry(block).or_default() -= 1;
            }
            1 => edits.push((at, format!("{line}\n{new}"))),
            _ => edits.push((at, new)),
        }
        done += 1;
    }
    for (at, text) in edits {
        lines[at] = text;
    }
    done
}

/// Whether the line holds a whole statement of a block, not the branch of an `if` without
/// braces or the end of something longer.
fn alone(language: Language, lines: &[String], at: usize) -> bool {
    let Some(line) = lines.get(at).map(|line| line.trim()) else { return false };
    let before = lines[..at].iter().rev().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or("");
    match language {
        Language::Script => {
            let starts_block =
                [";", "{", "}", "*/"].iter().any(|end| before.ends_with(end)) || before.starts_with("//");
            let simple =
                !["if", "for", "while", "switch", "else", "case", "default", "}", "return {", "try", "do"]
                    .iter()
                    .any(|word| line.starts_with(word));
            starts_block
                && simple
                && !before.starts_with("case ")
                && (line.ends_with(';') || !line.ends_with(['{', '(', ',']))
        }
        Language::Python => {
            !line.ends_with([':', ',', '(', '[', '{', '\\'])
                && !before.ends_with([',', '(', '[', '{', '\\'])
                && !line.contains("\"\"\"")
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The words of a text with where they start; words in strings and comments included.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Other names for what is declared inside, where that is safe to say from the text alone.
fn rename(language: Language, text: &str) -> String {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let list = words(text);
    for pair in list.windows(2) {
        if language == Language::Script && ["const", "let", "var"].contains(&pair[0].1) {
            names.insert(pair[1].1);
        }
    }
    if language == Language::Python {
        for line in text.lines().skip(1) {
            if let Some((name, rest)) = line.trim_start().split_once(" = ")
                && name.chars().all(is_word)
                && !rest.is_empty()
            {
                names.insert(name);
            }
        }
    }
    names.retain(|name| {
        !["self", "cls", "_"].contains(name)
            && name.chars().next().is_some_and(|c| !c.is_ascii_digit())
            && list.iter().filter(|(_, word)| word == name).all(|(at, word)| {
                let before = text[..*at].chars().next_back().unwrap_or(' ');
                let after = text[at + word.len()..].trim_start();
                let next = after.chars().next().unwrap_or(' ');
                let in_quotes = ['"', '\'', '`'].contains(&before) || text[..*at].ends_with("${");
                // `f(name=value)`; an assignment has blanks around it.
                let keyword = language == Language::Python
                    && text[at + word.len()..].starts_with('=')
                    && !after.starts_with("==");
                let shorthand = language == Language::Script
                    && (next == ',' || next == '}' || after.starts_with("= "))
                    && text[..*at].trim_end().ends_with(['{', ',']);
                !(before == '.' || in_quotes || next == ':' || keyword || shorthand)
            })
    });
    // A name in a comment or in running text cannot be told from one in code.
    let prose = |name: &str| {
        text.lines().any(|line| {
            (line.contains("//")
                || line.contains('#')
                || line.contains('"')
                || line.contains('\'')
                || line.contains('`'))
                && words(line).iter().any(|(_, word)| *word == name)
        })
    };
    names.retain(|name| !prose(name));
    let mut out = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for (at, word) in list {
        out.push_str(&text[done..at]);
        out.push_str(word);
        if names.contains(word) {
            out.push_str("Other");
        }
        done = at + word.len();
    }
    out.push_str(&text[done..]);
    out
}

/// Other numbers: a digit more for each number that stands alone.
fn literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for (at, word) in words(text) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let after = text[at + word.len()..].chars().next().unwrap_or(' ');
        let number = word.bytes().all(|byte| byte.is_ascii_digit()) && !word.starts_with('0');
        if number && before.is_whitespace() && (after == ';' || after == ')' || after == '\n') {
            out.push_str(&text[done..at]);
            out.push_str(word);
            out.push('7');
            done = at + word.len();
        }
    }
    out.push_str(&text[done..]);
    out
}
