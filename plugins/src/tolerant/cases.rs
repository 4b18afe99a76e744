//! Test cases and suites from the query `tests`.

use std::collections::BTreeMap;

use super::Dialect;
use super::lines::Lines;
use super::matches::Syntax;
use super::strings::value;
use crate::grammar::{Part, Role, SheetKind};
use owed_engine::facts::{Span, Test, TestKind};

/// The title of a test that is not a literal.
const COMPUTED: &str = "<computed>";

struct Gathered {
    kind: TestKind,
    skipped: bool,
    title: Option<String>,
    /// Where the first readers say that it is: in Python its name, else its call.
    place: Span,
}

/// Every test, in order, with the suites around it; `None` when finding them would take too
/// long.
pub(super) fn read(syntax: &Syntax<'_>, lines: &Lines) -> Option<Vec<Test>> {
    let (dialect, text) = (syntax.dialect, syntax.text());
    let mut gathered: BTreeMap<(u32, std::cmp::Reverse<u32>), Gathered> = BTreeMap::new();
    for one in syntax.matches(SheetKind::Tests)? {
        let outer = one.span();
        let name = one.part(Part::Name);
        let title = name.and_then(|name| match name.kind() {
            "identifier" if dialect == Dialect::Python => Some(text[name.byte_range()].to_owned()),
            _ => value(dialect, name, text),
        });
        let place =
            name.filter(|_| dialect == Dialect::Python).map_or(outer, |name| syntax.parsed.span(name));
        let test = gathered.entry((outer.start, std::cmp::Reverse(outer.end))).or_insert(Gathered {
            kind: TestKind::Case,
            skipped: false,
            title: None,
            place,
        });
        match one.role {
            Role::Suite => test.kind = TestKind::Suite,
            Role::SkippedTest => {
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
    Some(tests)
}
