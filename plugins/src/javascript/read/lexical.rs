//! A tolerant scan for imports in text that the parser rejects.
//!
//! It knows comments, strings, templates and words, and nothing of the grammar. It
//! finds every `from "x"`, `import "x"`, `import("x")`, `require("x")` and mock of a
//! literal, and says that anything else may be loaded (the caller adds damage). It
//! errs towards more imports; it never claims that there are no others.

use owed_engine::facts::{FileFacts, Import, ImportKind, LoadMode, Names, Presence, Span};

use super::lines::Lines;

/// A word, a string or a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item<'t> {
    Word(&'t str),
    Text(&'t str),
    Mark(u8),
}

/// Everything the scan finds.
pub(super) fn read(text: &str) -> FileFacts {
    let lines = Lines::new(text);
    let mut facts = FileFacts::default();
    for (specifier, kind, start, end) in scan(text) {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        let names = match kind {
            ImportKind::Static => Names::Effects,
            _ => Names::Namespace(format!("{kind:?}({specifier:?})")),
        };
        facts.imports.push(Import {
            specifier: specifier.to_owned(),
            kind,
            mode: if kind == ImportKind::Require { LoadMode::Cjs } else { LoadMode::Esm },
            presence: Presence::Required,
            names,
            line: lines.line(start),
            span: Span { start, end },
        });
    }
    facts
}

/// Adds what the scan finds and the parser did not.
pub(super) fn complete(facts: &mut FileFacts, text: &str) {
    for import in read(text).imports {
        if !facts.imports.iter().any(|known| known.specifier == import.specifier) {
            facts.imports.push(import);
        }
    }
}

fn scan(text: &str) -> Vec<(&str, ImportKind, usize, usize)> {
    let mut found = Vec::new();
    let mut scanner = Scanner { bytes: text.as_bytes(), text, at: 0, templates: Vec::new(), last: None };
    // The last four items, newest first.
    let mut recent: [Option<(Item<'_>, usize)>; 4] = [None; 4];
    while let Some((item, start)) = scanner.next() {
        if let Item::Text(specifier) = item {
            let kind = match (recent[0].map(|r| r.0), recent[1].map(|r| r.0)) {
                (Some(Item::Word("from")), _) => Some(ImportKind::Static),
                (Some(Item::Word("import")), _) => Some(ImportKind::Static),
                (Some(Item::Mark(b'(')), Some(Item::Word(word))) => match word {
                    "import" | "importActual" => Some(ImportKind::Dynamic),
                    "require" | "requireActual" => Some(ImportKind::Require),
                    "resolve" => Some(ImportKind::Resolve),
                    "mock"
                    | "doMock"
                    | "unmock"
                    | "doUnmock"
                    | "requireMock"
                    | "importMock"
                    | "createMockFromModule"
                    | "unstable_mockModule" => Some(ImportKind::Mock),
                    "glob" => Some(ImportKind::Glob),
                    _ => None,
                },
                _ => None,
            };
            let resolves = kind != Some(ImportKind::Resolve)
                || matches!(recent[3].map(|r| r.0), Some(Item::Word("require" | "meta")));
            if let Some(kind) = kind.filter(|_| resolves && !specifier.is_empty()) {
                let first = recent[1].or(recent[0]).map_or(start, |(_, at)| at);
                found.push((specifier, kind, first, start + specifier.len() + 2));
            }
        }
        recent = [Some((item, start)), recent[0], recent[1], recent[2]];
    }
    found
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Open `${` of templates, with the braces open inside each.
    templates: Vec<usize>,
    /// The last byte of code: decides whether `/` starts a regular expression.
    last: Option<u8>,
}

impl<'t> Scanner<'t> {
    fn next(&mut self) -> Option<(Item<'t>, usize)> {
        loop {
            let start = self.at;
            let byte = *self.bytes.get(start)?;
            self.at += 1;
            match byte {
                b'/' if self.bytes.get(self.at) == Some(&b'/') => self.skip_line(),
                b'/' if self.bytes.get(self.at) == Some(&b'*') => self.skip_block(),
                b'/' if self.starts_regex() => {
                    self.skip_regex();
                    self.last = Some(b'/');
                }
                b'\'' | b'"' => {
                    let item = self.string(byte);
                    self.last = Some(byte);
                    return Some((item, start));
                }
                b'`' => {
                    self.last = Some(b'"');
                    if let Some(item) = self.template() {
                        return Some((item, start));
                    }
                }
                b'{' => {
                    if let Some(open) = self.templates.last_mut() {
                        *open += 1;
                    }
                    self.last = Some(byte);
                    return Some((Item::Mark(byte), start));
                }
                b'}' => {
                    self.last = Some(byte);
                    match self.templates.last_mut() {
                        Some(0) => {
                            self.templates.pop();
                            self.template();
                        }
                        Some(open) => *open -= 1,
                        None => {}
                    }
                    return Some((Item::Mark(byte), start));
                }
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ if is_word(byte) => {
                    while self.bytes.get(self.at).copied().is_some_and(is_word) {
                        self.at += 1;
                    }
                    let word = &self.text[start..self.at];
                    let operand = !matches!(
                        word,
                        "return"
                            | "typeof"
                            | "case"
                            | "in"
                            | "of"
                            | "delete"
                            | "void"
                            | "throw"
                            | "new"
                            | "else"
                    );
                    self.last = Some(if operand { b'a' } else { b'(' });
                    return Some((Item::Word(word), start));
                }
                other => {
                    self.last = Some(other);
                    return Some((Item::Mark(other), start));
                }
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    fn skip_block(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        self.at += 1 + memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
    }

    fn starts_regex(&self) -> bool {
        !matches!(self.last, Some(b'a' | b')' | b']' | b'}' | b'"' | b'\'' | b'/'))
    }

    /// A regular expression ends on its line; otherwise the slash was a division.
    fn skip_regex(&mut self) {
        let mut class = false;
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            at += 1;
            match byte {
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.at = at.min(self.bytes.len());
                    return;
                }
                b'\n' | b'\r' => return,
                _ => {}
            }
        }
    }

    /// A string ends at its quote, or at the end of a broken line.
    fn string(&mut self, quote: u8) -> Item<'t> {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'\n' | b'\r' => return Item::Mark(quote),
                _ if byte == quote => {
                    self.at += 1;
                    return Item::Text(&self.text[start..self.at - 1]);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
        Item::Mark(quote)
    }

    /// Up to the end of a template or its next hole; a text when it has no hole.
    fn template(&mut self) -> Option<Item<'t>> {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => return Some(Item::Text(self.text.get(start..self.at - 1).unwrap_or_default())),
                b'$' if self.bytes.get(self.at) == Some(&b'{') => {
                    self.at += 1;
                    self.templates.push(0);
                    return None;
                }
                _ => {}
            }
        }
        self.at = self.bytes.len();
        None
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_loads_and_respects_comments_and_strings() {
        let text = r#"
            import a, { b } from "./a"; import "./side"
            // import "./comment"
            /* require("./block") */
            const s = "import './string'"; const re = /import "x"/;
            const t = `import "./template" ${ require("./hole") } from "./text"`;
            export * from './star' @@@ const d = await import( "./dynamic" )
            vi.mock("./mocked"); require.resolve("./resolved"); path.resolve("./not")
            const u = import(`./plain`);
        "#;
        let found: Vec<&str> = scan(text).iter().map(|f| f.0).collect();
        assert_eq!(
            found,
            ["./a", "./side", "./hole", "./star", "./dynamic", "./mocked", "./resolved", "./plain"]
        );
    }

    #[test]
    fn never_panics_on_cut_text() {
        let text = "import a from './a'; `${`é${'x'}`}` /re[/]gex/ \"\\";
        for (end, _) in text.char_indices() {
            read(&text[..end]);
        }
        read("\\`\\é'\\é`\\é");
    }
}
