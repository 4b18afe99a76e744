//! Test cases and suites from the query `tests`.

use std::collections::BTreeMap;

use owed_engine::facts::{Span, Test, TestKind};
use tree_sitter::Node;

use super::Dialect;
use super::lines::Lines;
use super::matches::{About, matches, span};
use super::strings::value;

/// The title of a test that is not a literal.
const COMPUTED: &str = "<computed>";

struct Gathered {
    kind: TestKind,
    skipped: bool,
    title: Option<String>,
    /// Where the first readers say that it is: in Python its name, else its call.
    place: Span,
}

/// Every test, in order, with the suites around it.
pub(super) fn read(dialect: Dialect, root: Node<'_>, text: &str, lines: &Lines) -> Vec<Test> {
    let mut gathered: BTreeMap<(u32, std::cmp::Reverse<u32>), Gathered> = BTreeMap::new();
    for one in matches(dialect, About::Tests, root, text) {
        let outer = span(one.node);
        let name = one.part("name");
        let title = name.and_then(|name| match name.kind() {
            "identifier" if dialect == Dialect::Python => Some(text[name.byte_range()].to_owned()),
            _ => value(dialect, name, text),
        });
        let place = name.filter(|_| dialect == Dialect::Python).map_or(outer, span);
        let test = gathered.entry((outer.start, std::cmp::Reverse(outer.end))).or_insert(Gathered {
            kind: TestKind::Case,
            skipped: false,
            title: None,
            place,
        });
        match one.role {
            "test.suite" => test.kind = TestKind::Suite,
            "test.skipped" => {
                test.skipped = true;
                if dialect == Dialect::Python && one.node.kind() == "class_definition" {
                    test.kind = TestKind::Suite;
                }
            }
            _ => {}
        }
        if title.is_some() {
            test.title = title;
        }
    }
    let mut open: Vec<(u32, String, bool)> = Vec::new();
    let mut tests = Vec::new();
    for ((start, std::cmp::Reverse(end)), test) in gathered {
        open.truncate(open.iter().take_while(|(until, ..)| *until > start).count());
        let title = test.title.unwrap_or_else(|| COMPUTED.to_owned());
        let skipped = test.skipped || open.last().is_some_and(|(.., skipped)| *skipped);
        tests.push(Test {
            name: open.iter().map(|(_, name, _)| name.clone()).chain([title.clone()]).collect(),
            kind: test.kind,
            skipped,
            only: false,
            line: lines.line(test.place.start as usize),
            span: test.place,
        });
        if test.kind == TestKind::Suite {
            open.push((end, title, skipped));
        }
    }
    tests
}
