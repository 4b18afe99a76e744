//! The sources in the corpus: the blocks of its Markdown files, and the files of its trees.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use owed_plugins::tolerant::Dialect;

/// A source of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is, for a person: `bad/cycle.md:14 src/a.ts`.
    pub name: String,
    /// Its path in the case.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Every source in the folder `corpus`, in order.
///
/// # Errors
/// A file that cannot be read.
pub fn sources(corpus: &Path) -> Result<Vec<Source>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in ignore::WalkBuilder::new(corpus).standard_filters(false).build() {
        let entry = entry?;
        if entry.file_type().is_some_and(|it| it.is_file()) {
            paths.push(entry.into_path());
        }
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let bytes = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let name = path.strip_prefix(corpus).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if name.ends_with(".md") {
            let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
            blocks(&name, &text, &mut found);
        } else if Dialect::of(&name).is_some() {
            found.push(Source { path: name.clone(), name, bytes });
        }
    }
    Ok(found)
}

/// The fenced blocks of a case: a path in backquotes above a block is its name, else the word
/// behind the fence is its extension, and a second word a whole path.
fn blocks(case: &str, text: &str, into: &mut Vec<Source>) {
    let mut label: Option<&str> = None;
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_end();
        let fence = trimmed.len() - trimmed.trim_start_matches('`').len();
        if fence < 3 {
            if !trimmed.is_empty() {
                label = trimmed.strip_prefix('`').and_then(|rest| Some(rest.split_once('`')?.0));
            }
            continue;
        }
        let mut words = trimmed[fence..].split_whitespace();
        let (word, path) = (words.next().unwrap_or_default(), words.next());
        let extension = if word == "python" { "py" } else { word };
        let path = label.take().or(path).map_or_else(|| format!("snippet.{extension}"), str::to_owned);
        let closing = &trimmed[..fence];
        let body: String =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim_end() != closing).collect();
        if Dialect::of(&path).is_some() {
            into.push(Source {
                name: format!("{case}:{} {path}", number + 1),
                path,
                bytes: body.into_bytes(),
            });
        }
    }
}
