//! Dotted globs: `pkg.plugins.*`, `..sub.**`, `pkg.plugin_*`.

use globset::GlobBuilder;
use owed_engine::path;

/// A dotted glob in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Leading dots.
    pub(super) dots: usize,
    /// Literal names before the first wildcard.
    pub(super) prefix: Vec<String>,
    /// The rest as path globs without extension (`*`, `**/*`, `plugin_*`).
    pub(super) globs: Vec<String>,
}

impl Pattern {
    /// Reads `text`; `None` when it is empty or no glob of names.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches('.');
        let dots = text.len() - rest.len();
        let mut prefix = Vec::new();
        let mut glob: Vec<&str> = Vec::new();
        for segment in rest.split('.').filter(|segment| !segment.is_empty()) {
            let valid = segment.chars().all(|c| c == '_' || c == '*' || c == '?' || c.is_alphanumeric());
            if !valid {
                return None;
            }
            if glob.is_empty() && !segment.contains(['*', '?']) {
                prefix.push(segment.to_owned());
            } else {
                glob.push(segment);
            }
        }
        if glob.is_empty() {
            // No wildcard: the module itself and what lies directly in it.
            glob.push("*");
        }
        if dots == 0 && prefix.is_empty() {
            return None;
        }
        // Literal names after the last wildcard are modules (`apps.*.models`) or attributes
        // of what it matches (`pkg.*.Handler`).
        let last =
            glob.iter().rposition(|segment| segment.contains(['*', '?'])).map_or(glob.len(), |at| at + 1);
        let globs = (last..=glob.len()).map(|end| path_glob(&glob[..end])).collect();
        Some(Self { dots, prefix, globs })
    }
}

fn path_glob(segments: &[&str]) -> String {
    let mut glob = segments.join("/");
    if glob.ends_with("**") {
        glob.push_str("/*");
    }
    glob
}

/// The files of the inventory below `dir` that match `glob`.
pub(super) fn matching<'f>(files: &'f [String], dir: &str, glob: &str) -> Vec<&'f String> {
    let Ok(matcher) = GlobBuilder::new(glob).literal_separator(true).build() else { return Vec::new() };
    let matcher = matcher.compile_matcher();
    path::below(files, dir)
        .iter()
        .filter(|file| path::strip(file, dir).is_some_and(|inner| matcher.is_match(inner)))
        .collect()
}
