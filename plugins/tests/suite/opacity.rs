//! Compares the classes of tests with the `opacity` block of a case:
//! `test | class | reason/operation | chain`, the last two optional.
//!
//! One line a test is its class and strongest reason; several are all of its reasons, in
//! order. Every test of the project must have a line.

use std::fmt::Write as _;

use owed_engine::opacity::{OpacityReport, ReasonFor, TestOpacity};
use owed_engine::selection::Opacity;

use crate::case::{Case, Part};

/// One line.
pub(crate) struct Line<'a> {
    test: &'a str,
    class: &'a str,
    reason: Option<&'a str>,
    chain: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// Reads a line.
    pub(crate) fn parse(line: &'a str) -> Result<Self, String> {
        let mut cells = line.split(" | ");
        let test = cells.next().unwrap_or_default();
        let class = cells.next().ok_or_else(|| format!("{line:?} has no class"))?;
        let known = [
            Opacity::Pure,
            Opacity::Pinned,
            Opacity::Bounded,
            Opacity::TimeOpaque,
            Opacity::Unknown,
            Opacity::InputOpaque,
        ];
        if known.iter().all(|known| known.word() != class) {
            return Err(format!("{class:?} is no class"));
        }
        Ok(Self { test, class, reason: cells.next(), chain: cells.next() })
    }

    fn accepts(&self, class: Opacity, reason: Option<&ReasonFor>) -> bool {
        let right = |reason: &ReasonFor| {
            self.reason.is_none_or(|wanted| wanted == word(reason))
                && self.chain.is_none_or(|wanted| wanted == reason.chain.join(" -> "))
        };
        self.class == class.word()
            && match reason {
                Some(reason) => right(reason),
                None => self.reason.is_none() && self.chain.is_none(),
            }
    }
}

fn word(reason: &ReasonFor) -> String {
    format!("{}/{}", reason.place.reason, reason.place.operation)
}

/// What differs between the block and the answer.
pub(crate) fn compare(case: &Case, classes: &OpacityReport) -> Vec<String> {
    let Some(block) = case.block(Part::Opacity) else { return Vec::new() };
    let lines: Vec<Line<'_>> =
        block.lines.iter().map(|line| Line::parse(line).expect("checked when the case was read")).collect();
    let mut diffs = Vec::new();
    for test in &classes.tests {
        let own: Vec<&Line<'_>> = lines.iter().filter(|line| line.test == test.path).collect();
        let right = match own.as_slice() {
            [] => false,
            [one] => one.accepts(test.class, test.reasons.first()),
            many => {
                many.len() == test.reasons.len()
                    && many.iter().zip(&test.reasons).all(|(line, r)| line.accepts(r.place.class, Some(r)))
            }
        };
        if !right {
            diffs.push(format!("opacity: got\n{}", of(test)));
        }
    }
    for line in &lines {
        if classes.tests.iter().all(|test| test.path != line.test) {
            diffs.push(format!("opacity: there is no test {}", line.test));
        }
    }
    diffs
}

/// All classes as lines.
pub(crate) fn lines(classes: &OpacityReport) -> String {
    classes.tests.iter().map(of).collect()
}

fn of(test: &TestOpacity) -> String {
    let mut text = String::new();
    if test.reasons.is_empty() {
        let _ = writeln!(text, "{} | {}", test.path, test.class.word());
    }
    for reason in &test.reasons {
        let class = reason.place.class.word();
        let _ = writeln!(text, "{} | {class} | {} | {}", test.path, word(reason), reason.chain.join(" -> "));
    }
    text
}

#[cfg(test)]
mod tests {
    use owed_engine::opacity::{Budget, OpacityOptions, opacity_with};
    use owed_engine::project::{Plugins, Project, Reading, Settings};
    use owed_engine::runner::NoLoader;
    use owed_engine::tree::MemoryTree;

    use super::*;

    fn with(budget: Budget) -> OpacityReport {
        let files = [
            (
                "package.json",
                r#"{ "scripts": { "test": "node --test" }, "dependencies": { "big": "1", "small": "1" } }"#,
            ),
            ("node_modules/big/package.json", r#"{ "name": "big", "main": "index.js" }"#),
            ("node_modules/big/index.js", "require('./a');\nrequire('./b');\nrequire('./c');\n"),
            ("node_modules/big/a.js", "exports.a = 1;\n"),
            ("node_modules/big/b.js", "exports.b = 1;\n"),
            ("node_modules/big/c.js", "exports.c = 1;\n"),
            ("node_modules/small/package.json", r#"{ "name": "small", "main": "index.js" }"#),
            ("node_modules/small/index.js", "exports.small = 1;\n"),
            ("big.test.js", "require('node:test').test('t', () => require('big'));\n"),
            ("small.test.js", "require('node:test').test('t', () => require('small'));\n"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let tree = MemoryTree::new(files);
        let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
        let mut project = Project::read(&tree, plugins, Settings::default(), Reading::Declarations);
        project.discover(&NoLoader);
        project.resolve();
        opacity_with(&project, &OpacityOptions { packages: Some(budget), ..OpacityOptions::default() })
    }

    #[test]
    fn a_package_over_the_budget_is_not_taken_for_harmless() {
        let all = "big.test.js | pure\nsmall.test.js | pure\n";
        assert_eq!(lines(&with(Budget::default())), all);
        assert_eq!(lines(&with(Budget { files: 4, ..Budget::default() })), all);
        let way = "big.test.js -> node_modules/big/index.js";
        let over =
            |line: &str| format!("big.test.js | input-opaque | {line} | {way}\nsmall.test.js | pure\n");
        assert_eq!(lines(&with(Budget { files: 3, ..Budget::default() })), over("budget/./c"));
        // The first level is read, and its bytes are counted after that.
        let few = lines(&with(Budget { bytes: 1, ..Budget::default() }));
        assert!(few.starts_with("big.test.js | input-opaque | budget/./a"), "{few}");
        let none = lines(&with(Budget { all_files: 0, ..Budget::default() }));
        assert_eq!(
            none,
            "big.test.js | input-opaque | budget/big | big.test.js\nsmall.test.js | input-opaque | budget/small | small.test.js\n"
        );
    }
}
