//! Coverage that somebody else measured, as far as CRAP needs it.
//!
//! Coverage that is missing, ambiguous or older than the source can only raise a score: such
//! a function counts as not covered, and the answer says that its coverage is not known.
//! What this module refuses to do: it runs nothing, and it does not guess which of two files
//! a path means.

mod formats;

use std::collections::BTreeMap;
use std::path::Path;

pub use formats::{CoverageError, parse};

use super::report::Crap;
use crate::function::{Function, FunctionFacts};

/// What was measured of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Instrumented units (lines or statements): the 1-based line, and whether it ran.
    pub units: Vec<(u32, bool)>,
    /// Names and 1-based lines of the functions the tool saw; empty when it names none.
    pub functions: Vec<(String, u32)>,
}

/// What was measured, by the tool's own paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Path as the tool wrote it, with `/`.
    pub files: BTreeMap<String, FileCoverage>,
}

impl Coverage {
    /// The same with paths of the project `root`. A path that is neither below the root nor
    /// relative is matched by its end, when that is one file of `known` and no other.
    #[must_use]
    pub fn related(self, root: &Path, known: &[String]) -> Self {
        let root = root.to_string_lossy().replace('\\', "/");
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in known {
            by_name.entry(crate::path::basename(path)).or_default().push(path);
        }
        let mut files: BTreeMap<String, Option<FileCoverage>> = BTreeMap::new();
        for (path, coverage) in self.files {
            let Some(mine) = relate(&path, &root, known, &by_name) else { continue };
            // Two entries for one file say two things; neither is believed.
            files.entry(mine).and_modify(|known| *known = None).or_insert(Some(coverage));
        }
        Self { files: files.into_iter().filter_map(|(path, coverage)| Some((path, coverage?))).collect() }
    }
}

fn relate(path: &str, root: &str, known: &[String], by_name: &BTreeMap<&str, Vec<&str>>) -> Option<String> {
    let inside = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let path = inside.unwrap_or(path);
    let path = path.strip_prefix("./").unwrap_or(path);
    if known.binary_search_by(|file| file.as_str().cmp(path)).is_ok() {
        return Some(path.to_owned());
    }
    let same_name = by_name.get(crate::path::basename(path))?;
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let mut hits = same_name.iter().filter(|file| ends(path, file) || ends(file, path));
    match (hits.next(), hits.next()) {
        (Some(only), None) => Some((*only).to_owned()),
        _ => None,
    }
}

/// The score of function `number` of a file of `lines` lines.
pub(super) fn crap(facts: &FunctionFacts, number: usize, file: Option<&FileCoverage>, lines: u32) -> Crap {
    let function = &facts.functions[number];
    let coverage = file.and_then(|file| covered(facts, number, file, lines));
    Crap { hundredths: score(function.cyclomatic, coverage.unwrap_or(0)), coverage }
}

/// `c² · (1 − coverage)³ + c` in hundredths, for `coverage` in thousandths; rounded up.
fn score(cyclomatic: u32, coverage: u32) -> u64 {
    let c = u128::from(cyclomatic);
    let missed = u128::from(1000 - coverage.min(1000));
    let square = (c * c * missed * missed * missed * 100).div_ceil(1_000_000_000);
    u64::try_from(square + c * 100).unwrap_or(u64::MAX)
}

/// The covered part in thousandths, rounded down; `None` when the file says nothing about
/// the function, or was measured from another text.
fn covered(facts: &FunctionFacts, number: usize, file: &FileCoverage, lines: u32) -> Option<u32> {
    if file.units.iter().any(|(line, _)| *line > lines) {
        return None;
    }
    let function = &facts.functions[number];
    let holds = |line: u32| (function.start_line..=function.end_line).contains(&line);
    if !file.functions.is_empty() && !function.name.starts_with('<') {
        let simple = super::ratchet::simple(&function.name);
        let seen = |name: &str| name.rsplit(['.', '#']).next() == Some(simple);
        if !file.functions.iter().any(|(name, line)| holds(*line) && seen(name)) {
            return None;
        }
    }
    // A nested function on several lines has its lines to itself.
    let nested = |line: u32| {
        facts.functions.iter().any(|inner: &Function| {
            inner.span.start > function.span.start
                && inner.span.end <= function.span.end
                && inner.start_line < inner.end_line
                && (inner.start_line..=inner.end_line).contains(&line)
        })
    };
    let own: Vec<bool> =
        file.units.iter().filter(|(line, _)| holds(*line) && !nested(*line)).map(|(_, ran)| *ran).collect();
    let ran = own.iter().filter(|ran| **ran).count();
    // With no unit, nothing was measured.
    u32::try_from((ran * 1000).checked_div(own.len())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_that_of_the_formula() {
        assert_eq!(score(1, 1000), 100);
        assert_eq!(score(5, 0), 3000);
        assert_eq!(score(10, 500), 2250);
        assert_eq!(score(30, 0), 93_000);
    }

    fn facts() -> FunctionFacts {
        let function = Function {
            name: "Cart.total".to_owned(),
            kind: crate::function::FunctionKind::Method,
            span: crate::facts::Span { start: 0, end: 100 },
            start_line: 3,
            end_line: 8,
            own_tokens: 50,
            total_tokens: 50,
            cyclomatic: 4,
            cognitive: 0,
            statements: 5,
            has_nested: false,
            delegate: false,
            parent: None,
            digest: [0; 16],
            format_digest: [0; 16],
            shape: crate::function::Shape::default(),
        };
        FunctionFacts { functions: vec![function], damage: Vec::new() }
    }

    #[test]
    fn missing_and_stale_coverage_only_raises() {
        let facts = facts();
        let without = crap(&facts, 0, None, 20);
        assert_eq!((without.hundredths, without.coverage), (2000, None));
        let file = |units: &[(u32, bool)], functions: &[(&str, u32)]| FileCoverage {
            units: units.to_vec(),
            functions: functions.iter().map(|(name, line)| ((*name).to_owned(), *line)).collect(),
        };
        let good = file(&[(3, true), (4, true), (12, false)], &[("total", 3)]);
        assert_eq!(crap(&facts, 0, Some(&good), 20).coverage, Some(1000));
        for stale in [
            file(&[(3, true), (40, true)], &[]),
            file(&[(3, true)], &[("sum", 3)]),
            file(&[(3, true)], &[("total", 12)]),
            file(&[(12, true)], &[]),
            file(&[], &[]),
        ] {
            assert_eq!(crap(&facts, 0, Some(&stale), 20), without, "{stale:?}");
        }
    }

    #[test]
    fn a_path_that_may_be_two_files_is_none() {
        let known: Vec<String> =
            ["a/src/x.ts", "b/src/x.ts", "b/src/y.ts", "z.ts"].iter().map(|p| (*p).to_owned()).collect();
        let of = |path: &str| {
            let files = BTreeMap::from([(path.to_owned(), FileCoverage::default())]);
            Coverage { files }.related(Path::new("/checkout"), &known).files.into_keys().next()
        };
        assert_eq!(of("/checkout/z.ts").as_deref(), Some("z.ts"));
        assert_eq!(of("./z.ts").as_deref(), Some("z.ts"));
        assert_eq!(of("src/y.ts").as_deref(), Some("b/src/y.ts"));
        assert_eq!(of("/elsewhere/b/src/x.ts").as_deref(), Some("b/src/x.ts"));
        assert_eq!(of("src/x.ts"), None);
        assert_eq!(of("rc/y.ts"), None);
    }
}
