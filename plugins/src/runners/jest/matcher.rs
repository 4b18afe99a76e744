//! The rule that tells which files are tests of a jest project.

use owed_engine::runner::View;

use crate::runners::claims;
use crate::runners::glob::Globs;
use crate::runners::regex::Pattern;

/// Stands for the absolute path of the repository, so that patterns on absolute paths
/// mean the same wherever it lies.
pub(super) const ROOT: &str = "/\u{1}";

/// Which files are tests.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The directories below which they lie.
    pub(super) roots: Vec<String>,
    /// Their extensions, without dot.
    pub(super) extensions: Vec<String>,
    /// Each possible list of patterns; in a list `true` marks a negated one.
    pub(super) lists: Vec<Vec<(Globs, bool)>>,
    pub(super) regexes: Vec<Pattern>,
    /// A file is ignored when every possible list ignores it.
    pub(super) ignore: Vec<Vec<Pattern>>,
    pub(super) ignore_modules: Vec<Pattern>,
    /// Whether anything that defines tests may be one.
    pub(super) anything: bool,
}

impl Matcher {
    /// Whether the patterns are not known, so that anything may be a test.
    pub(super) fn anything(&self) -> bool {
        self.anything
    }

    /// Whether `file` is, or may be, a test.
    pub(super) fn may_match(&self, view: &View<'_>, file: &str) -> bool {
        if !self.extensions.iter().any(|e| ends_with_extension(file, e)) {
            return false;
        }
        let hit = self.lists.iter().any(|list| in_list(list, file))
            || (!self.regexes.is_empty() && {
                let absolute = format!("{ROOT}/{file}");
                self.regexes.iter().any(|r| r.is_match(&absolute))
            })
            || (self.anything && claims::defines_tests((view.facts)(file)));
        hit && !self.ignored(file)
    }

    /// Whether jest does not see `file` at all, or not as a test.
    fn ignored(&self, file: &str) -> bool {
        if self.ignore.is_empty() && self.ignore_modules.is_empty() {
            return false;
        }
        let absolute = format!("{ROOT}/{file}");
        (!self.ignore.is_empty() && self.ignore.iter().all(|l| l.iter().any(|p| p.is_match(&absolute))))
            || self.ignore_modules.iter().any(|p| p.is_match(&absolute))
    }
}

fn ends_with_extension(file: &str, extension: &str) -> bool {
    file.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

fn in_list(list: &[(Globs, bool)], file: &str) -> bool {
    let mut kept = None;
    for (globs, negated) in list {
        if globs.is_match(file) {
            kept = Some(!negated);
        }
    }
    match kept {
        Some(kept) => kept,
        // A list of nothing but exclusions keeps the rest.
        None => !list.is_empty() && list.iter().all(|(_, negated)| *negated),
    }
}
