//! What every operation of the effect tables makes of a file: each snippet of
//! `corpus/operations/<language>/*.md` is read by the real reader, and its effects are
//! compared word by word with those written under it. The format is in
//! `corpus/README.md`.
//!
//! Besides, every operation of a table must be named by a snippet: one that has an
//! effect in an `expect` line, a pure one in the code.
//!
//! `SNIPPETS=substring` runs only the snippets whose file or title holds the substring.

mod javascript;
mod python;
mod score;
mod snippet;

use owed_engine::facts::FileFacts;
use owed_engine::language::{Language, SourceFile};

use crate::store;
use score::Score;
use snippet::Snippet;

/// What one language brings.
struct Half {
    /// Its folder below `corpus/operations/`.
    folder: &'static str,
    language: &'static dyn Language,
    /// Operations of its table as answers show them, and whether they are pure.
    operations: Vec<(String, bool)>,
    /// At least this many snippets, and this many that must be pure.
    at_least: (usize, usize),
}

impl Half {
    fn read(&self, snippet: &Snippet) -> FileFacts {
        assert!(self.language.reads(&snippet.path), "{:?} is not read", snippet.path);
        self.language.read(SourceFile { path: &snippet.path, bytes: snippet.code.as_bytes() })
    }
}

/// Reads every snippet of a language and judges the sum.
#[allow(clippy::print_stdout, reason = "the sums of a run of the suite")]
fn check(half: &Half) {
    let filter = store::variable("SNIPPETS").unwrap_or_default();
    let mut score = Score::default();
    let mut snippets = Vec::new();
    for (name, text) in store::snippets(half.folder) {
        match snippet::parse(&name, &text) {
            Ok(list) => snippets.extend(list),
            Err(message) => score.fault(format!("{name}: {message}")),
        }
    }
    score.duplicates(&snippets);
    let whole = filter.is_empty();
    if whole {
        score.rows_without_case(&half.operations, &snippets);
    }
    for snippet in snippets.iter().filter(|s| s.name().contains(&filter)) {
        score.judge(snippet, &half.read(snippet));
    }
    println!("{}: {}", half.folder, score.summary());
    for line in &score.known_wrong {
        println!("known wrong: {line}");
    }
    score.settle(if whole { half.at_least } else { (1, 0) });
}
