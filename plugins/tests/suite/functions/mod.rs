//! The cases of `corpus/functions/`: what the languages say about the functions of a file.
//!
//! `FUNCTIONS=substring` runs only the cases whose path holds the substring;
//! `UPDATE_CORPUS=1` rewrites the blocks of answers as in the corpus of selection.

mod budget;
mod case;
mod hostile;
mod reference;

use std::fmt::Write as _;

use owed_engine::function::{Function, FunctionFacts, Symbol};
use owed_engine::language::SourceFile;
use owed_plugins::languages;

use crate::store;
use case::{Case, Part};

/// Every case, parsed.
fn cases() -> Vec<(Case, store::Entry)> {
    let filter = store::variable("FUNCTIONS").unwrap_or_default();
    let entries = store::cases_in(&["functions"]);
    let wanted = entries.into_iter().filter(|entry| entry.name.contains(&filter));
    let parsed = wanted.map(|entry| match Case::parse(&entry.text, entry.tree.clone()) {
        Ok(case) => (case, entry),
        Err(message) => panic!("corpus/{} cannot be read: {message}", entry.name),
    });
    parsed.collect()
}

/// What a language says about one file.
fn facts(path: &str, bytes: &[u8]) -> FunctionFacts {
    let language = languages().iter().find(|language| language.reads(path));
    let language = language.unwrap_or_else(|| panic!("no language reads {path}"));
    language.functions(SourceFile { path, bytes }).unwrap_or_else(|| panic!("{path} is not measured"))
}

#[test]
fn functions_are_measured_as_the_corpus_says() {
    let update = store::variable("UPDATE_CORPUS").is_some_and(|value| value == "1");
    let continuous = store::variable("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(!(update && continuous), "UPDATE_CORPUS is refused under CI");
    let mut titles = std::collections::BTreeMap::new();
    let mut failures = String::new();
    let cases = cases();
    assert!(!cases.is_empty(), "no case matches");
    for (case, entry) in &cases {
        if let Some(other) = titles.insert(case.title.clone(), &entry.name) {
            let _ = writeln!(failures, "\n==== corpus/{}\nhas the same title as {other}", entry.name);
        }
        let answers = Answers::of(case);
        let mut text = entry.text.clone();
        let mut faults = Vec::new();
        for block in case.blocks.iter().rev() {
            let actual = match block.part {
                Part::Functions => answers.functions.clone(),
                Part::Unchecked => answers.unchecked.clone(),
                Part::Same => {
                    faults.extend(block.lines.iter().filter_map(|line| answers.judge(line).err()));
                    continue;
                }
            };
            if actual == block.lines {
                continue;
            }
            if update && !actual.is_empty() && !block.lines.is_empty() {
                text = case::replaced(&text, &block.at, &actual);
            } else {
                faults.push(format!(
                    "expected\n  {}\nfound\n  {}",
                    block.lines.join("\n  "),
                    actual.join("\n  ")
                ));
            }
        }
        if !case.blocks.iter().any(|block| block.part == Part::Unchecked) && !answers.unchecked.is_empty() {
            faults.push(format!("is not checked: {}", answers.unchecked.join(", ")));
        }
        let measured = case.blocks.iter().any(|block| block.part == Part::Functions);
        if !measured && answers.unchecked.len() != case.files.len() {
            faults.push(format!("{} of {} files are refused", answers.unchecked.len(), case.files.len()));
        }
        if text != entry.text {
            store::rewrite(entry, &text);
        }
        if !faults.is_empty() {
            let _ =
                writeln!(failures, "\n==== corpus/{}\n# {}\n{}", entry.name, case.title, faults.join("\n"));
        }
    }
    println!("{} cases of functions", cases.len());
    assert!(failures.is_empty(), "{failures}");
}

/// All answers about the files of one case.
struct Answers {
    functions: Vec<String>,
    unchecked: Vec<String>,
    all: Vec<Function>,
}

impl Answers {
    fn of(case: &Case) -> Self {
        let mut answers = Self { functions: Vec::new(), unchecked: Vec::new(), all: Vec::new() };
        let several = case.files.len() > 1;
        for (path, bytes) in &case.files {
            let prefix = if several { format!("{path}: ") } else { String::new() };
            let facts = facts(path, bytes);
            assert_eq!(facts, self::facts(path, bytes), "{path}: asked twice");
            invariants(path, bytes, &facts);
            if let Some(damage) = facts.damage.first() {
                answers.unchecked.push(format!("{prefix}{} | {}", damage.cause, damage.line));
            }
            answers.functions.extend(facts.functions.iter().map(|it| format!("{prefix}{}", shown(it))));
            answers.all.extend(facts.functions);
        }
        answers
    }

    /// `shape: a = b` or `shape: a != b`, with `digest`, `format` or `shape`.
    fn judge(&self, line: &str) -> Result<(), String> {
        let (what, rest) = line.split_once(": ").ok_or_else(|| format!("{line:?} compares nothing"))?;
        let (left, right, equal) = match (rest.split_once(" != "), rest.split_once(" = ")) {
            (Some((left, right)), _) => (left, right, false),
            (None, Some((left, right))) => (left, right, true),
            _ => return Err(format!("{line:?} compares nothing")),
        };
        let (left, right) = (self.find(left)?, self.find(right)?);
        let same = match what {
            "digest" => left.digest == right.digest,
            "format" => left.format_digest == right.format_digest,
            "shape" => renumbered(left) == renumbered(right),
            "literals" => left.shape.literals == right.shape.literals,
            _ => return Err(format!("{what:?} cannot be compared")),
        };
        if same == equal {
            return Ok(());
        }
        let shapes = match what {
            "shape" => format!("\n  {:?}\n  {:?}", renumbered(left), renumbered(right)),
            _ => format!("\n  {:?}\n  {:?}", left.shape.literals, right.shape.literals),
        };
        Err(format!("{line}: is not so{}", if equal { shapes } else { String::new() }))
    }

    /// A function by its name, or by its place: `@2` is the second.
    fn find(&self, name: &str) -> Result<&Function, String> {
        if let Some(place) = name.strip_prefix('@').and_then(|place| place.parse::<usize>().ok()) {
            return self.all.get(place - 1).ok_or_else(|| format!("there is no function {name}"));
        }
        let mut found = self.all.iter().filter(|function| function.name == name);
        match (found.next(), found.next()) {
            (Some(function), None) => Ok(function),
            (None, _) => Err(format!("there is no function {name}")),
            _ => Err(format!("there are several functions {name}")),
        }
    }
}

fn shown(it: &Function) -> String {
    let flags = match (it.has_nested, it.delegate) {
        (true, true) => " | nested, delegate",
        (true, false) => " | nested",
        (false, true) => " | delegate",
        (false, false) => "",
    };
    format!(
        "{} | {} | {}-{} | own {} | total {} | cyclomatic {} | cognitive {} | statements {}{flags}",
        it.name,
        it.kind.word(),
        it.start_line,
        it.end_line,
        it.own_tokens,
        it.total_tokens,
        it.cyclomatic,
        it.cognitive,
        it.statements
    )
}

/// Symbols with locals numbered by their first occurrence.
fn renumbered(function: &Function) -> Vec<Symbol> {
    let mut seen = Vec::new();
    let numbered = |symbol: &Symbol| match symbol {
        Symbol::Local(binding) => {
            let place = seen.iter().position(|known| known == binding).unwrap_or_else(|| {
                seen.push(*binding);
                seen.len() - 1
            });
            Symbol::Local(u32::try_from(place).unwrap())
        }
        other => *other,
    };
    function.shape.symbols.iter().map(numbered).collect()
}

/// What holds for every file.
fn invariants(path: &str, bytes: &[u8], facts: &FunctionFacts) {
    assert!(facts.damage.is_empty() || facts.functions.is_empty(), "{path}: damaged and measured");
    for (at, function) in facts.functions.iter().enumerate() {
        let name = &function.name;
        assert!(function.span.start < function.span.end, "{path}: {name} is empty");
        assert!(function.own_tokens <= function.total_tokens, "{path}: {name} has more own tokens");
        assert!(function.own_tokens > 0, "{path}: {name} has no tokens");
        let shape = &function.shape;
        let holes = shape.symbols.iter().filter(|symbol| matches!(symbol, Symbol::Literal(_))).count();
        assert_eq!(holes, shape.literals.len(), "{path}: {name}: holes without literals");
        for statement in &shape.statements {
            let range = statement.start as usize..statement.end as usize;
            assert!(shape.symbols.get(range).is_some(), "{path}: {name}: a statement without symbols");
            assert!(statement.lines.0 <= statement.lines.1, "{path}: {name}: lines of a statement");
        }
        if let Some(parent) = function.parent {
            assert!((parent as usize) < at, "{path}: {name} comes before the function around it");
            let around = facts.functions[parent as usize].span;
            assert!(around.start <= function.span.start && function.span.end <= around.end, "{path}: {name}");
        }
        assert!(function.span.end as usize <= bytes.len().max(1) * 3, "{path}: {name} ends outside");
    }
    let starts: Vec<_> =
        facts.functions.iter().map(|it| (it.span.start, std::cmp::Reverse(it.span.end))).collect();
    assert!(starts.is_sorted(), "{path}: functions are not in order");
}
