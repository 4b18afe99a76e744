//! Compares what was found in snippets with their labels, and keeps the sums.

use std::collections::BTreeMap;

use owed_engine::facts::{EffectClass, FileFacts, Import, PathBase, PathExpr, Pin, When};

use super::snippet::Snippet;

/// The sums over all snippets.
#[derive(Default)]
pub(super) struct Score {
    snippets: usize,
    pure: usize,
    /// Labelled effects, and how many of them were found.
    labelled: usize,
    right: usize,
    /// Effects found, labelled or not.
    found: usize,
    pub(super) known_wrong: Vec<String>,
    faults: Vec<String>,
}

/// The effects of a file as labels write them, sorted.
fn effects(facts: &FileFacts) -> Vec<String> {
    let line = |effect: &owed_engine::facts::Effect| {
        let class = match &effect.class {
            EffectClass::Pinned(Pin::Env(name)) => format!("pinned | env {name}"),
            EffectClass::Pinned(Pin::File(path)) => format!("pinned | file {}", place(path)),
            EffectClass::Pinned(Pin::Listing { dir, glob }) => format!("pinned | list {} {glob}", place(dir)),
            EffectClass::Pinned(Pin::Named(name)) => format!("pinned | {name}"),
            EffectClass::Bounded(path) => format!("bounded | {}", place(path)),
            EffectClass::Opaque(reason) => match reason.label() {
                Some(label) => format!("opaque | {} {label}", reason.word()),
                None => format!("opaque | {}", reason.word()),
            },
        };
        let when = match &effect.when {
            When::Import => "import",
            When::Call(_) => "call",
        };
        format!("{class} | {} | {when}", effect.operation)
    };
    let mut lines: Vec<String> = facts.effects.iter().map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// `./x` beside the file, `cwd:x` in the working directory, `/x` as it is.
fn place(path: &PathExpr) -> String {
    match path.base {
        PathBase::Module => format!("./{}", path.path),
        PathBase::Cwd => format!("cwd:{}", path.path),
        PathBase::Absolute => path.path.clone(),
    }
}

fn edge(import: &Import) -> String {
    let kind = format!("{:?}", import.kind);
    let mut word = String::new();
    for (at, c) in kind.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            word.push('-');
        }
        word.push(c.to_ascii_lowercase());
    }
    format!("{word} | {}", import.specifier)
}

impl Score {
    /// Something is wrong with the snippets themselves.
    pub(super) fn fault(&mut self, message: String) {
        self.faults.push(message);
    }

    /// A title names one snippet.
    pub(super) fn duplicates(&mut self, snippets: &[Snippet]) {
        let mut seen: BTreeMap<&str, String> = BTreeMap::new();
        for snippet in snippets {
            if let Some(other) = seen.insert(&snippet.code, snippet.name()) {
                self.faults.push(format!("{}: the same code as {other}", snippet.name()));
            }
        }
    }

    /// Every operation of a table has a case.
    pub(super) fn rows_without_case(&mut self, operations: &[(String, bool)], snippets: &[Snippet]) {
        let all: String = snippets.iter().map(|snippet| snippet.code.as_str()).collect();
        let mut missing = Vec::new();
        for (operation, pure) in operations {
            // `module.*` is any member without a row of its own.
            let part = match operation.strip_suffix('*') {
                Some(members) => format!(" | {members}"),
                None => format!(" | {operation} | "),
            };
            let has = if *pure {
                has_word(&all, operation.strip_suffix(".*").unwrap_or(operation))
            } else {
                snippets.iter().any(|snippet| snippet.effects.iter().any(|effect| effect.contains(&part)))
            };
            if !has {
                missing.push(operation.as_str());
            }
        }
        if !missing.is_empty() {
            self.faults.push(format!("{} operations without a case: {}", missing.len(), missing.join(", ")));
        }
    }

    /// Compares what was found with the labels.
    pub(super) fn judge(&mut self, snippet: &Snippet, facts: &FileFacts) {
        let found = effects(facts);
        self.snippets += 1;
        self.pure += usize::from(snippet.is_pure());
        self.labelled += snippet.effects.len();
        self.found += found.len();
        self.right += found.iter().filter(|line| snippet.effects.contains(line)).count();
        let mut diffs = Vec::new();
        for line in snippet.effects.iter().filter(|line| !found.contains(line)) {
            diffs.push(format!("    missing {line}"));
        }
        for line in found.iter().filter(|line| !snippet.effects.contains(line)) {
            diffs.push(format!("    found   {line}"));
        }
        if facts.damage.is_empty() == snippet.unknown {
            diffs.push(format!("    damage  {:?}", facts.damage));
        }
        let edges: Vec<String> = facts.imports.iter().map(edge).collect();
        for line in snippet.edges.iter().filter(|line| !edges.contains(line)) {
            diffs.push(format!("    no edge {line}, but {edges:?}"));
        }
        match (&snippet.known_wrong, diffs.is_empty()) {
            (None, true) => {}
            (None, false) => {
                self.faults.push(format!(
                    "{}\n{}{}",
                    snippet.name(),
                    indent(&snippet.code),
                    diffs.join("\n")
                ));
            }
            (Some(reason), false) => self.known_wrong.push(format!("{}: {reason}", snippet.name())),
            (Some(reason), true) => self.faults.push(format!(
                "{} is marked known-wrong ({reason}) and has become right: delete the mark",
                snippet.name()
            )),
        }
    }

    /// The sums in one line.
    pub(super) fn summary(&self) -> String {
        let share = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        format!(
            "{} snippets, {} of them pure; recall {:.2} % ({} of {} effects), precision {:.2} % ({} of {} found); {} known to be wrong",
            self.snippets,
            self.pure,
            share(self.right, self.labelled),
            self.right,
            self.labelled,
            share(self.right, self.found),
            self.right,
            self.found,
            self.known_wrong.len(),
        )
    }

    /// Nothing listed may be missed, little else may be found, and nothing may differ
    /// without saying so.
    pub(super) fn settle(&self, at_least: (usize, usize)) {
        assert!(
            self.faults.is_empty(),
            "{}\n\n{} faults; {}",
            self.faults.join("\n"),
            self.faults.len(),
            self.summary()
        );
        assert!(self.right == self.labelled, "an effect is missed: {}", self.summary());
        assert!(self.right * 100 >= self.found * 95, "too much is found: {}", self.summary());
        let (snippets, pure) = at_least;
        assert!(self.snippets >= snippets && self.pure >= pure, "too few snippets: {}", self.summary());
    }
}

fn indent(code: &str) -> String {
    code.lines().map(|line| format!("    > {line}\n")).collect()
}

/// Whether `text` holds `word` with no name character or dot right before or after it
/// (a dot may follow: `Math.abs.name` names `Math.abs`).
fn has_word(text: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(|c| is_name(c) || c == '.') && !after.is_some_and(is_name)
    })
}
