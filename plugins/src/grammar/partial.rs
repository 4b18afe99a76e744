//! Queries of which only what a text can need is compiled.
//!
//! tree-sitter analyses a query against its whole grammar, which takes some hundred million
//! instructions for the files of one language, where most texts need three patterns of them.
//! Who reads few files by queries ([`crate::tolerant`]) finds here what [`Grammar::matches`]
//! finds: a pattern is left out of a text only when it names a kind of node that the text's
//! tree does not have, or a predicate of it wants a word that the text does not hold. Patterns
//! are independent of each other, so the others match as before; only the limit on matches
//! under way is reached later.
//!
//! It refuses to be clever: kinds below `[…]` and patterns with quantifiers narrow nothing.
//!
//! [`Grammar::matches`]: super::Grammar::matches

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tree_sitter::{Language, Query};

use super::sources::Source;
use super::vocabulary::{self, Capture};
use super::{Event, Match, Overflow, Parsed, Refused, SheetKind, parse, run, sort};

/// Choices of patterns that are compiled for one file of queries; after these, all of them.
const CHOICES: usize = 16;

/// A grammar whose queries are compiled when a text needs them.
pub struct Partial {
    language: Language,
    sheets: Vec<Sheet>,
}

struct Sheet {
    kind: SheetKind,
    /// Of all its files, one after the other.
    text: String,
    patterns: Vec<Pattern>,
    /// By the numbers of the patterns.
    compiled: Mutex<Vec<Arc<Compiled>>>,
}

struct Compiled {
    numbers: Vec<usize>,
    query: Query,
    captures: Vec<Capture>,
}

/// One pattern of a file of queries, and what a text must have for it to match.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pattern {
    /// Up to the next pattern.
    text: Range<usize>,
    /// Kinds of nodes, all of them.
    kinds: Vec<u16>,
    /// Of each list at least one word.
    words: Vec<Vec<String>>,
}

/// The kinds of nodes in a tree, by number.
pub struct Kinds(Vec<bool>);

impl Partial {
    /// The grammar and queries of `source`, whose files of queries are known to be valid.
    pub fn new(source: &Source) -> Self {
        let language = Language::new(source.grammar);
        let sheet = |kind: SheetKind| {
            let files = source.folders.iter().flat_map(|folder| folder.queries);
            let texts: Vec<&str> =
                files.filter(|(stem, _)| kind.stem() == *stem).map(|(_, text)| *text).collect();
            let text = texts.join("\n");
            let patterns = patterns(&language, &text);
            (!texts.is_empty()).then(|| Sheet { kind, text, patterns, compiled: Mutex::default() })
        };
        let sheets = SheetKind::ALL.into_iter().filter_map(sheet).collect();
        Self { language, sheets }
    }

    /// Parses one file.
    ///
    /// # Errors
    /// As [`super::Grammar::parse`].
    pub fn parse<'s>(&self, text: &'s str) -> Result<Parsed<'s>, Refused> {
        parse::parse(&self.language, text)
    }

    /// The kinds of nodes in a tree of this grammar.
    pub fn kinds(&self, parsed: &Parsed<'_>) -> Kinds {
        let mut kinds = vec![false; self.language.node_kind_count()];
        let events = parsed.events();
        for event in events {
            if let Event::Enter(node) = event
                && let Some(kind) = kinds.get_mut(usize::from(node.kind_id()))
            {
                *kind = true;
            }
        }
        Kinds(kinds)
    }

    /// What [`super::Grammar::matches`] gives; `kinds` are those of `parsed`.
    ///
    /// # Errors
    /// Some matches would be missing.
    pub fn matches<'t>(
        &self,
        kind: SheetKind,
        parsed: &'t Parsed<'_>,
        kinds: &Kinds,
    ) -> Result<Vec<Match<'t>>, Overflow> {
        let Some(sheet) = self.sheets.iter().find(|sheet| sheet.kind == kind) else {
            return Ok(Vec::new());
        };
        let may = |pattern: &Pattern| pattern.may_match(kinds, parsed.text());
        let numbers: Vec<usize> =
            (0..sheet.patterns.len()).filter(|number| may(&sheet.patterns[*number])).collect();
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let compiled = sheet.compiled(&self.language, numbers);
        let mut found = Vec::new();
        run(&compiled.query, &compiled.captures, parsed, |number| compiled.numbers[number], &mut found)?;
        sort(&mut found);
        Ok(found)
    }
}

impl Sheet {
    /// The query of these patterns, or of all.
    fn compiled(&self, language: &Language, mut numbers: Vec<usize>) -> Arc<Compiled> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() >= CHOICES {
            numbers = (0..self.patterns.len()).collect();
        }
        if let Some(known) = compiled.iter().find(|known| known.numbers == numbers) {
            return Arc::clone(known);
        }
        let texts = numbers.iter().map(|number| &self.text[self.patterns[*number].text.clone()]);
        let text: Vec<&str> = texts.collect();
        let query = Query::new(language, &text.join("\n")).expect("a test compiles every pattern");
        let captures = vocabulary::captures(self.kind, &query).expect("a test looks at every capture");
        let new = Arc::new(Compiled { numbers, query, captures });
        compiled.push(Arc::clone(&new));
        new
    }
}

impl Pattern {
    fn may_match(&self, kinds: &Kinds, text: &str) -> bool {
        self.kinds.iter().all(|kind| kinds.0.get(usize::from(*kind)).is_none_or(|is_there| *is_there))
            && self.words.iter().all(|words| words.iter().any(|word| text.contains(word.as_str())))
    }
}

/// The patterns of a file of queries.
fn patterns(language: &Language, text: &str) -> Vec<Pattern> {
    let mut found: Vec<Pattern> = Vec::new();
    let mut form = Form::default();
    let rest = Scanner { text, at: 0 };
    for (at, token) in rest {
        let opens = matches!(token, "(" | "[") || token.starts_with('"');
        if opens && form.round + form.square == 0 {
            if let Some(last) = found.last_mut() {
                form.end(last, at);
            }
            form = Form::default();
            found.push(Pattern { text: at..text.len(), ..Pattern::default() });
        }
        let Some(pattern) = found.last_mut() else { continue };
        form.take(language, pattern, token);
    }
    if let Some(last) = found.last_mut() {
        form.end(last, text.len());
    }
    found
}

/// What was seen of a pattern so far.
#[derive(Default)]
struct Form<'t> {
    round: usize,
    square: usize,
    /// Behind a `(`.
    opened: bool,
    /// The operator of the predicate that is open, with its words.
    predicate: Option<(&'t str, Vec<String>)>,
    /// Whether something in it need not be there although it stands outside of `[…]`.
    quantified: bool,
    /// Whether a capture need not be there: what a predicate says of it may say nothing.
    optional: bool,
}

impl<'t> Form<'t> {
    fn take(&mut self, language: &Language, pattern: &mut Pattern, token: &'t str) {
        let behind = std::mem::replace(&mut self.opened, token == "(");
        let need = |pattern: &mut Pattern, name: &str, named: bool| {
            let kind = language.id_for_node_kind(name, named);
            if kind != 0 && !language.node_kind_is_supertype(kind) {
                pattern.kinds.push(kind);
            }
        };
        match token {
            "(" => self.round += 1,
            "[" => self.square += 1,
            "]" => self.square = self.square.saturating_sub(1),
            ")" => {
                self.round = self.round.saturating_sub(1);
                if let Some((operator, words)) = self.predicate.take()
                    && matches!(operator, "#eq?" | "#any-of?")
                    && !words.is_empty()
                {
                    pattern.words.push(words);
                }
            }
            "?" | "*" | "+" => self.quantified = true,
            _ if token.starts_with('"') => {
                let word = token[1..token.len() - 1].to_owned();
                match &mut self.predicate {
                    Some((_, words)) => words.push(word),
                    // What is escaped is not looked up.
                    None if self.square == 0 && !word.contains('\\') => need(pattern, &word, false),
                    None => {}
                }
            }
            _ if token.starts_with('@') => self.optional |= self.square > 0,
            _ if token.starts_with('#') && behind => self.predicate = Some((token, Vec::new())),
            // `ERROR` and `MISSING` are no kinds; a supertype may be followed by a kind of it.
            _ if behind && self.square == 0 && !matches!(token, "_" | "ERROR" | "MISSING") => {
                need(pattern, token.split('/').next().unwrap_or(token), true);
            }
            _ => {}
        }
    }

    fn end(&self, pattern: &mut Pattern, at: usize) {
        pattern.text.end = at;
        if self.quantified {
            pattern.kinds.clear();
        }
        // Words with escapes are written otherwise in the text.
        if self.quantified || self.optional {
            pattern.words.clear();
        }
        pattern.words.retain(|words| words.iter().all(|word| !word.contains('\\')));
    }
}

/// Splits the text of queries into brackets, strings, quantifiers and words; comments are
/// left out.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Scanner<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            match byte {
                b';' => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let start = self.at;
        match bytes[start] {
            b'"' => {
                self.at += 1;
                while let Some(byte) = bytes.get(self.at).filter(|byte| **byte != b'"') {
                    self.at += 1 + usize::from(*byte == b'\\');
                }
                self.at = (self.at + 1).min(bytes.len());
            }
            b'(' | b')' | b'[' | b']' | b'*' | b'+' | b'?' | b'.' | b'!' | b':' => self.at += 1,
            // Operators end in `?`.
            b'#' => self.at = self.end_of_word(start + 1, b"?!"),
            _ => self.at = self.end_of_word(start + 1, b""),
        }
        Some((start, &self.text[start..self.at]))
    }
}

impl Scanner<'_> {
    fn end_of_word(&self, from: usize, more: &[u8]) -> usize {
        let goes_on = |byte: &u8| {
            byte.is_ascii_alphanumeric() || b"_-./".contains(byte) || more.contains(byte) || !byte.is_ascii()
        };
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().position(|byte| !goes_on(byte)).unwrap_or(rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sources::ALL;
    use super::*;

    #[test]
    fn patterns_are_those_of_the_query() {
        for source in ALL {
            let language = Language::new(source.grammar);
            for (folder, (stem, text)) in
                source.folders.iter().flat_map(|folder| folder.queries.iter().map(|file| (folder.name, file)))
            {
                let found = patterns(&language, text);
                let query = Query::new(&language, text).unwrap();
                let starts: Vec<usize> =
                    (0..query.pattern_count()).map(|n| query.start_byte_for_pattern(n)).collect();
                let ours: Vec<usize> = found.iter().map(|pattern| pattern.text.start).collect();
                assert_eq!(ours, starts, "{folder}/{stem}");
                // Each is a pattern by itself, so that any choice of them compiles.
                for pattern in &found {
                    let alone = Query::new(&language, &text[pattern.text.clone()]).unwrap();
                    assert_eq!(alone.pattern_count(), 1, "{}", &text[pattern.text.clone()]);
                    let kind = SheetKind::ALL.into_iter().find(|kind| kind.stem() == *stem).unwrap();
                    vocabulary::captures(kind, &alone).unwrap();
                }
            }
        }
    }

    #[test]
    fn what_a_pattern_needs() {
        let language = Language::new(tree_sitter_javascript::LANGUAGE);
        let text = r#"; A file.
; export * from
(export_statement "*" @name source: [(string) (number)] @source !alias)
(call_expression function: (identifier) @_a (#any-of? @_a "b" "c") (#not-eq? @_a "d")) ; "x" (y)
(class_body (method_definition)* @m)
[(identifier) (string)] @_e
(expression [(identifier) @_f] (#eq? @_f "f"))
"#;
        let found = patterns(&language, text);
        let id = |name: &str, named| language.id_for_node_kind(name, named);
        let kinds: Vec<&[u16]> = found.iter().map(|it| &it.kinds[..]).collect();
        assert_eq!(kinds[0], [id("export_statement", true), id("*", false)]);
        assert_eq!(kinds[1], [id("call_expression", true), id("identifier", true)]);
        assert_eq!(kinds[2..], [&[] as &[u16], &[], &[]]);
        assert_eq!(found[1].words, [["b", "c"]]);
        assert!(found[4].words.is_empty(), "the capture need not be there");
    }
}
