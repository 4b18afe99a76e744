//! Every file of queries is embedded, and every pattern of every file matches something in
//! the corpus: a pattern that nothing shows is one that nobody knows to be right.

#![allow(clippy::disallowed_methods, reason = "the queries and the corpus lie on the disk")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use owed_plugins::grammar::partial::Partial;
use owed_plugins::grammar::{SheetKind, sources};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn below(dir: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { below(&entry, into) } else { into.push(entry) }
    }
}

#[test]
fn every_file_of_queries_is_embedded() {
    let mut files = Vec::new();
    below(&root().join("queries"), &mut files);
    let on_disk: BTreeSet<(String, String)> = files
        .iter()
        .filter(|file| file.extension().is_some_and(|it| it == "scm"))
        .map(|file| {
            let folder = file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            (folder, fs::read_to_string(file).unwrap())
        })
        .collect();
    let embedded: BTreeSet<(String, String)> = sources::ALL
        .iter()
        .flat_map(|source| source.folders)
        .flat_map(|folder| {
            folder.queries.iter().map(|(_, text)| (folder.name.to_owned(), (*text).to_owned()))
        })
        .collect();
    assert!(on_disk == embedded, "a file of queries is not in `sources.rs`, or another is there");
}

/// The blocks of a case that are files with one of these extensions.
fn blocks(text: &str, extensions: &[&str], into: &mut Vec<String>) {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix('`').and_then(|rest| rest.split('`').next());
        let is_it = name
            .is_some_and(|name| extensions.iter().any(|extension| name.ends_with(&format!(".{extension}"))));
        if !is_it || !line.ends_with(':') {
            continue;
        }
        let Some(fence) = lines.next().filter(|fence| fence.starts_with("```")) else { continue };
        let fence = "`".repeat(fence.len() - fence.trim_start_matches('`').len());
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        into.push(body.join("\n") + "\n");
    }
}

#[test]
fn every_pattern_has_a_case() {
    let mut cases = Vec::new();
    below(&root().join("corpus"), &mut cases);
    let mut missing = Vec::new();
    for source in sources::ALL.iter().filter(|source| source.functions.is_some()) {
        let grammar = source.compile().unwrap();
        let mut texts = Vec::new();
        for case in &cases {
            match case.extension().and_then(|it| it.to_str()) {
                Some("md") => blocks(&fs::read_to_string(case).unwrap(), source.extensions, &mut texts),
                Some(other) if source.extensions.contains(&other) => {
                    texts.extend(fs::read_to_string(case));
                }
                _ => {}
            }
        }
        assert!(texts.len() > 20, "{} has {} files in the corpus", source.name, texts.len());
        for (sheet, patterns) in grammar.sheets() {
            let mut seen = vec![false; patterns];
            for text in &texts {
                let parsed = grammar.parse(text).unwrap();
                for one in grammar.matches(sheet, &parsed).unwrap() {
                    seen[one.pattern] = true;
                }
            }
            let unseen = seen.iter().enumerate().filter(|(_, seen)| !**seen);
            missing.extend(
                unseen.map(|(number, _)| format!("{}/{}.scm: pattern {number}", source.name, sheet.stem())),
            );
        }
    }
    assert!(missing.is_empty(), "no file of the corpus shows\n{}", missing.join("\n"));
}

/// What is compiled for one text finds in it what the whole file of queries finds.
#[test]
fn patterns_that_a_text_cannot_need_are_not_missed() {
    let mut cases = Vec::new();
    below(&root().join("corpus"), &mut cases);
    let cases: Vec<String> = cases.iter().filter_map(|case| fs::read_to_string(case).ok()).collect();
    let mut found = 0;
    for source in sources::ALL {
        let mut texts = Vec::new();
        cases.iter().for_each(|case| blocks(case, source.extensions, &mut texts));
        let grammar = source.compile().unwrap();
        // After the first few it compiles everything: one for some texts each.
        let some: Vec<&String> = texts.iter().step_by(texts.len() / 60 + 1).collect();
        for texts in some.chunks(6) {
            let partial = Partial::new(source);
            for text in texts {
                let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                for text in [text.as_str(), &text[half..]] {
                    let parsed = grammar.parse(text).unwrap();
                    let kinds = partial.kinds(&parsed);
                    for kind in SheetKind::ALL {
                        let whole = grammar.matches(kind, &parsed).unwrap();
                        assert_eq!(partial.matches(kind, &parsed, &kinds).unwrap(), whole, "{text}");
                        found += whole.len();
                    }
                }
            }
        }
    }
    assert!(found > 1_000, "only {found} matches");
}
