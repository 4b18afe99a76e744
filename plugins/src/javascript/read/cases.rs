//! Test cases and suites: `describe`, `it`, `test` and their relatives, with
//! `.only`, `.skip`, `.each` and so on.

use owed_engine::facts::{Test, TestKind};
use oxc_ast::ast::{Argument, CallExpression, Expression, IdentifierReference};

use super::walk::{Binding, Walk};

/// The title of a test that is not a literal.
const COMPUTED: &str = "<computed>";

/// A suite that encloses what is being visited.
#[derive(Debug)]
pub(super) struct Suite {
    name: String,
    /// Its call, which ends it.
    call: oxc_span::Span,
    skipped: bool,
    only: bool,
}

/// What a name of the test vocabulary means.
struct Word {
    kind: TestKind,
    skipped: bool,
    only: bool,
}

fn word(name: &str) -> Option<Word> {
    let (kind, skipped, only) = match name {
        "describe" | "suite" | "context" => (TestKind::Suite, false, false),
        "it" | "test" | "specify" | "bench" => (TestKind::Case, false, false),
        "xdescribe" | "xcontext" | "xsuite" => (TestKind::Suite, true, false),
        "xit" | "xtest" | "xspecify" => (TestKind::Case, true, false),
        "fdescribe" | "fcontext" => (TestKind::Suite, false, true),
        "fit" | "ftest" => (TestKind::Case, false, true),
        _ => return None,
    };
    Some(Word { kind, skipped, only })
}

/// Modifiers that change nothing about what the call defines.
fn is_neutral(name: &str) -> bool {
    matches!(
        name,
        "concurrent"
            | "sequential"
            | "shuffle"
            | "parallel"
            | "serial"
            | "each"
            | "for"
            | "fails"
            | "failing"
            | "skipIf"
            | "runIf"
            | "if"
            | "todoIf"
            | "extend"
            | "default"
    )
}

impl<'a> Walk<'_, 'a> {
    /// A call is about to be visited.
    pub(super) fn enter_case(&mut self, it: &'a CallExpression<'a>) {
        let Some(word) = self.case_word(&it.callee) else { return };
        // `it.each(table)` makes a function, `it.each(table)(title, body)` calls it.
        let Some(title) = it.arguments.first().and_then(Argument::as_expression) else { return };
        if !is_title(title) || (it.arguments.len() < 2 && !matches!(title, Expression::StringLiteral(_))) {
            return;
        }
        let outer = self.suites.last();
        let skipped =
            word.skipped || outer.is_some_and(|s| s.skipped) || has_flag(it, "skip") || has_flag(it, "todo");
        let only = word.only || outer.is_some_and(|s| s.only) || has_flag(it, "only");
        let name = self.literal(title).unwrap_or_else(|| COMPUTED.to_owned());
        let (line, span) = self.place(it.span);
        let path = self.suites.iter().map(|s| s.name.clone()).chain([name.clone()]).collect();
        self.tests.push(Test { name: path, kind: word.kind, skipped, only, line, span });
        if word.kind == TestKind::Suite {
            self.suites.push(Suite { name, call: it.span, skipped, only });
        }
    }

    /// What a call defines.
    pub(super) fn defines(&self, it: &'a CallExpression<'a>) -> Option<TestKind> {
        self.case_word(&it.callee).map(|word| word.kind)
    }

    /// A call was visited.
    pub(super) fn leave_case(&mut self, it: &CallExpression<'a>) {
        if self.suites.last().is_some_and(|suite| suite.call == it.span) {
            self.suites.pop();
        }
    }

    /// What the callee defines: `it`, `describe.only`, `test.concurrent.each(…)`.
    fn case_word(&self, callee: &Expression<'a>) -> Option<Word> {
        let mut modifiers: Vec<&str> = Vec::new();
        let mut at = callee;
        let mut steps = 0;
        let base = loop {
            steps += 1;
            if steps > 16 {
                return None;
            }
            match at {
                Expression::Identifier(it) => break it,
                Expression::StaticMemberExpression(it) => {
                    modifiers.push(it.property.name.as_str());
                    at = &it.object;
                }
                Expression::CallExpression(it) => at = &it.callee,
                Expression::TaggedTemplateExpression(it) => at = &it.tag,
                _ => return None,
            }
        };
        let mut found = self.base_word(base, &modifiers)?;
        for modifier in modifiers {
            match modifier {
                "skip" | "todo" => found.skipped = true,
                "only" => found.only = true,
                "describe" | "suite" if found.kind == TestKind::Case => found.kind = TestKind::Suite,
                "test" | "it" => found.kind = TestKind::Case,
                other if is_neutral(other) => {}
                _ => return None,
            }
        }
        Some(found)
    }

    fn base_word(&self, base: &IdentifierReference<'a>, modifiers: &[&str]) -> Option<Word> {
        let Some(symbol) = self.symbol(base) else { return word(&base.name) };
        match &self.known[symbol.index()].binding {
            Binding::Import { name: Some(name), import } => match *name {
                "default" => {
                    let specifier = self.imports[*import].specifier.as_str();
                    (specifier == "node:test" || specifier == "test")
                        .then(|| word("test"))
                        .flatten()
                        .or_else(|| word(&base.name))
                }
                name => word(name).or_else(|| word(&base.name)),
            },
            Binding::Init { .. } => word(&base.name),
            // `import * as v from "vitest"; v.it(…)`, `t.test(…)` inside a case.
            Binding::Import { name: None, .. } => modifiers.last().and_then(|name| word(name)),
            Binding::None if self.is_case_parameter(base) => modifiers.last().and_then(|name| word(name)),
            Binding::None | Binding::Class(_) | Binding::Each { .. } => None,
        }
    }

    /// `t` of `test("x", (t) => t.test("y", …))`: node's subtests.
    fn is_case_parameter(&self, base: &IdentifierReference<'a>) -> bool {
        base.name == "t" && !self.tests.is_empty()
    }
}

/// Titles are strings, templates, names and members (a class, `fn.name`).
fn is_title(it: &Expression<'_>) -> bool {
    matches!(
        it.get_inner_expression(),
        Expression::StringLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::BinaryExpression(_)
            | Expression::Identifier(_)
            | Expression::StaticMemberExpression(_)
            | Expression::ComputedMemberExpression(_)
            | Expression::CallExpression(_)
            | Expression::ConditionalExpression(_)
    )
}

/// `test("x", { skip: true }, …)`.
fn has_flag(it: &CallExpression<'_>, flag: &str) -> bool {
    it.arguments.iter().skip(1).any(|argument| match argument {
        Argument::ObjectExpression(object) => object.properties.iter().any(|property| {
            property.as_property().is_some_and(|p| {
                p.key.is_specific_id(flag)
                    && !matches!(&p.value, Expression::BooleanLiteral(value) if !value.value)
                    && !p.value.is_undefined()
            })
        }),
        _ => false,
    })
}
