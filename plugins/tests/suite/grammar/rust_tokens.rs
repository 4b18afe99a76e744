//! Rust's tokens beside rustc's own scanner (`rustc_lexer`), which knows no grammar: every
//! function of the sources of this repository, of the corpus, and of what `OWED_RUST` names
//! (folders, separated by `:`).

#![allow(clippy::disallowed_methods, reason = "sources lie on the disk")]

use std::fs;
use std::path::{Path, PathBuf};

use owed_engine::language::{Language as _, SourceFile};
use owed_plugins::rust::RUST;
use ra_ap_rustc_lexer::{FrontmatterAllowed, TokenKind, strip_shebang, tokenize};

/// The punctuation of several characters of the Rust Reference, longest first.
const JOINED: &[&str] = &[
    "<<=", ">>=", "...", "..=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "==",
    "!=", ">=", "<=", "..", "::", "->", "=>", "<-",
];

/// First bytes of the tokens of a text, as the Reference counts them: rustc's scanner gives
/// every mark alone.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = strip_shebang(text).unwrap_or(0);
    let mut run: Option<(usize, usize)> = None;
    let end = |run: &mut Option<(usize, usize)>, starts: &mut Vec<usize>| {
        let Some((mut at, end)) = run.take() else { return };
        while at < end {
            starts.push(at);
            let joined = JOINED.iter().find(|word| text[at..end].starts_with(*word));
            at += joined.map_or(1, |word| word.len());
        }
    };
    for token in tokenize(&text[at..], FrontmatterAllowed::No) {
        let length = token.len as usize;
        let is_mark =
            length == 1 && text.as_bytes()[at].is_ascii_punctuation() && text.as_bytes()[at] != b'_';
        match token.kind {
            TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. } => {
                end(&mut run, &mut starts);
            }
            _ if is_mark => match &mut run {
                Some((_, last)) => *last += 1,
                None => run = Some((at, at + 1)),
            },
            _ => {
                end(&mut run, &mut starts);
                starts.push(at);
            }
        }
        at += length;
    }
    end(&mut run, &mut starts);
    starts
}

fn below(path: &Path, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if matches!(name, "target" | "node_modules" | ".git") {
            return;
        }
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        entries.iter().for_each(|entry| below(entry, into));
    } else if path.extension().is_some_and(|it| it == "rs") && !path.is_symlink() {
        into.push(path.to_owned());
    }
}

#[test]
fn tokens_of_rust_are_those_of_rustcs_scanner() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["engine/src", "plugins/src/grammar", "plugins/src/rust"] {
        below(&root.join(folder), &mut files);
    }
    let more = crate::store::variable("OWED_RUST");
    more.iter().flat_map(|more| more.split(':')).for_each(|folder| below(Path::new(folder), &mut files));
    let (mut functions, mut refused, mut faults) = (0, Vec::new(), Vec::new());
    for path in &files {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let shown = path.display().to_string();
        let facts = RUST.functions(SourceFile { path: &shown, bytes: text.as_bytes() }).unwrap();
        if let Some(damage) = facts.damage.first() {
            refused.push(format!("{shown}:{}: {}", damage.line, damage.cause));
            continue;
        }
        let starts = starts(&text);
        functions += facts.functions.len();
        for function in &facts.functions {
            let (from, to) = (function.span.start as usize, function.span.end as usize);
            let theirs = starts.partition_point(|at| *at < to) - starts.partition_point(|at| *at < from);
            if function.total_tokens as usize != theirs {
                let (name, ours) = (&function.name, function.total_tokens);
                faults.push(format!("{shown}:{}: {name}: {ours}, rustc {theirs}", function.start_line));
            }
        }
    }
    println!("{functions} functions in {} files, {} refused", files.len(), refused.len());
    refused.iter().for_each(|it| println!("  {it}"));
    assert!(
        faults.is_empty(),
        "{} counts differ\n{}",
        faults.len(),
        faults[..faults.len().min(60)].join("\n")
    );
    assert!(functions > 500, "only {functions} functions");
    assert!(more.is_some() || refused.is_empty(), "sources of this repository are refused");
}
