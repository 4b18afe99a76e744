//! A computed specifier becomes globs relative to the file's directory (or the runner's
//! root, with a leading `/`). Each hole may hold slashes:
//!
//! - between slashes or at the end: `./p/${x}` is `./p/**`;
//! - before a literal suffix: `./p/${x}.json` is `./p/**/*.json`; a suffix that is a
//!   script extension may stand for another one: `./p/${x}.js` is `./p/**/*.*`;
//! - after a literal prefix: `./l-${x}.json` is both `./l-*.json` and
//!   `./l-*/**/*.json`;
//! - anything else keeps only the directory before the first hole: `dir/**`.
//!
//! Special characters of the literal parts stand in brackets (`[[]id[]]`).

use owed_engine::facts::PathBase;

use super::programs::anchored;
use super::value::{Piece, Value, normal};

/// A constant specifier.
pub(super) fn specifier(value: &Value) -> Option<String> {
    match value {
        Value::Path(base, pieces) => match pieces.as_slice() {
            [] => Some(anchored(*base, "")),
            [Piece::Text(path)] => Some(anchored(*base, path)),
            _ => None,
        },
        _ => value.literal(),
    }
}

/// The globs of a computed specifier; none when nothing bounds it.
pub(super) fn globs(value: &Value) -> Vec<String> {
    let (prefix, pieces) = match value {
        Value::Text(pieces) => (String::new(), pieces.as_slice()),
        Value::Path(base, pieces) => {
            let start = match base {
                PathBase::Module => "./",
                PathBase::Cwd => "/",
                PathBase::Absolute => "",
            };
            (start.to_owned(), pieces.as_slice())
        }
        Value::Outside | Value::Module => return Vec::new(),
    };
    let first = match pieces.first() {
        Some(Piece::Text(text)) if prefix.is_empty() => text.clone(),
        Some(Piece::Text(text)) => format!("{prefix}{}", text.trim_start_matches('/')),
        Some(Piece::Hole) if !prefix.is_empty() => prefix,
        _ => return Vec::new(),
    };
    let Some(slash) = first.rfind('/') else { return Vec::new() };
    let (directory, stem) = first.split_at(slash + 1);
    let directory = match directory.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => {
            format!("./{}/", normal(rest)).replace(".//", "./").replace("./../", "../")
        }
        _ => directory.to_owned(),
    };
    if directory == "/" || directory.is_empty() {
        return Vec::new();
    }
    let tail = &pieces[usize::from(matches!(pieces.first(), Some(Piece::Text(_))))..];
    let mut tail = tail.to_vec();
    if let Some(Piece::Text(last)) = tail.last_mut()
        && let Some(query) = last.find('?')
    {
        last.truncate(query);
    }
    let directory = escaped(&directory);
    let stem = escaped(stem);
    match tail.as_slice() {
        [Piece::Hole] if stem.is_empty() => vec![format!("{directory}**")],
        [Piece::Hole] => vec![format!("{directory}{stem}*"), format!("{directory}{stem}*/**")],
        [Piece::Hole, Piece::Text(suffix)] => match suffix.strip_prefix('/') {
            Some(rest) if stem.is_empty() && has_extension(rest) => {
                vec![format!("{directory}**/{}", open_extension(rest))]
            }
            Some(_) => vec![format!("{directory}**")],
            None if suffix.contains('/') || !has_extension(suffix) => vec![format!("{directory}**")],
            None => {
                let suffix = open_extension(suffix);
                if stem.is_empty() {
                    vec![format!("{directory}**/*{suffix}")]
                } else {
                    vec![format!("{directory}{stem}*{suffix}"), format!("{directory}{stem}*/**/*{suffix}")]
                }
            }
        },
        _ => vec![format!("{directory}**")],
    }
}

fn has_extension(suffix: &str) -> bool {
    let name = suffix.rsplit('/').next().unwrap_or(suffix);
    name.rfind('.').is_some_and(|at| at + 1 < name.len())
}

/// A suffix as a glob; a script extension may be written for another one.
fn open_extension(suffix: &str) -> String {
    for script in [".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".cts"] {
        if let Some(stem) = suffix.strip_suffix(script) {
            return format!("{}.*", escaped(stem));
        }
    }
    escaped(suffix)
}

/// A literal part of a glob.
pub(super) fn escaped(text: &str) -> String {
    if !text.contains(['*', '?', '[', ']', '{', '}', '!']) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' => {
                out.push('[');
                out.push(c);
                out.push(']');
            }
            other => out.push(other),
        }
    }
    out
}
