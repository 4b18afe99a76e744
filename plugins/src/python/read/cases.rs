//! Test cases and suites as written, for runners to filter by their own patterns.
//!
//! Recorded broadly: functions and classes whose name speaks of a test, spec or check,
//! classes with such methods, subclasses of anything called `…TestCase`. Skipped is only what is
//! skipped for sure; a condition may turn out either way.

use owed_engine::facts::{Test, TestKind};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::TextRange;

use super::loads;
use super::text::Lines;

/// The tests of a module.
pub(super) fn tests(body: &[Stmt], lines: &Lines<'_>) -> Vec<Test> {
    let mut cases = Cases { lines, tests: Vec::new() };
    let skipped = body.iter().any(is_skipping_mark);
    cases.body(body, &mut Vec::new(), skipped, false, 0);
    cases.tests
}

struct Cases<'w> {
    lines: &'w Lines<'w>,
    tests: Vec<Test>,
}

impl Cases<'_> {
    /// `in_case`: inside a subclass of a test case. Blocks nest as far as `depth` allows;
    /// nobody writes tests deeper.
    fn body<'a>(
        &mut self,
        body: &'a [Stmt],
        path: &mut Vec<&'a str>,
        skipped: bool,
        in_case: bool,
        depth: u8,
    ) {
        if depth > 16 {
            return;
        }
        for stmt in body {
            match stmt {
                Stmt::FunctionDef(def) => {
                    let name = def.name.as_str();
                    if is_case(name) || (in_case && name == "runTest") {
                        let skipped = skipped || def.decorator_list.iter().any(|d| is_skip(&d.expression));
                        self.record(name, path, TestKind::Case, skipped, def.name.range);
                    }
                }
                Stmt::ClassDef(def) => {
                    let name = def.name.as_str();
                    let case = in_case_class(def);
                    if !case && !is_suite(name) && !holds_tests(def) {
                        continue;
                    }
                    let skipped = skipped
                        || def.decorator_list.iter().any(|d| is_skip(&d.expression))
                        || def.body.iter().any(is_skipping_mark);
                    self.record(name, path, TestKind::Suite, skipped, def.name.range);
                    path.push(name);
                    self.body(&def.body, path, skipped, case, depth + 1);
                    path.pop();
                }
                Stmt::If(s) => {
                    self.body(&s.body, path, skipped, in_case, depth + 1);
                    for clause in &s.elif_else_clauses {
                        self.body(&clause.body, path, skipped, in_case, depth + 1);
                    }
                }
                Stmt::Try(s) => {
                    self.body(&s.body, path, skipped, in_case, depth + 1);
                    for ast::ExceptHandler::ExceptHandler(handler) in &s.handlers {
                        self.body(&handler.body, path, skipped, in_case, depth + 1);
                    }
                    self.body(&s.orelse, path, skipped, in_case, depth + 1);
                    self.body(&s.finalbody, path, skipped, in_case, depth + 1);
                }
                Stmt::With(s) => self.body(&s.body, path, skipped, in_case, depth + 1),
                Stmt::For(s) => self.body(&s.body, path, skipped, in_case, depth + 1),
                _ => {}
            }
        }
    }

    fn record(&mut self, name: &str, path: &[&str], kind: TestKind, skipped: bool, range: TextRange) {
        self.tests.push(Test {
            name: path.iter().copied().chain([name]).map(str::to_owned).collect(),
            kind,
            skipped,
            only: false,
            line: self.lines.line(range.start().to_u32()),
            span: loads::span(range),
        });
    }
}

fn is_case(name: &str) -> bool {
    const STARTS: [&str; 8] = ["test", "Test", "check_", "it_", "should_", "spec_", "bench_", "benchmark_"];
    STARTS.iter().any(|s| name.starts_with(s)) || name.ends_with("_test") || name.ends_with("_should")
}

fn is_suite(name: &str) -> bool {
    ["Test", "test", "Spec", "Describe", "Check", "Should"].iter().any(|s| name.contains(s))
}

fn in_case_class(def: &ast::StmtClassDef) -> bool {
    def.bases().iter().any(|base| {
        let base = match base {
            Expr::Subscript(s) => &*s.value,
            other => other,
        };
        match base {
            Expr::Name(name) => name.id.ends_with("TestCase") || name.id.ends_with("Test"),
            Expr::Attribute(a) => a.attr.ends_with("TestCase") || a.attr.ends_with("Test"),
            _ => false,
        }
    })
}

fn holds_tests(def: &ast::StmtClassDef) -> bool {
    def.body.iter().any(|s| matches!(s, Stmt::FunctionDef(f) if is_case(f.name.as_str())))
}

/// `@pytest.mark.skip`, `@unittest.skip("why")`, `@skip`.
fn is_skip(decorator: &Expr) -> bool {
    match decorator {
        Expr::Call(call) => is_skip(&call.func) || (is_conditional(&call.func) && is_always(call)),
        Expr::Attribute(attribute) => attribute.attr.as_str() == "skip",
        Expr::Name(name) => name.id.as_str() == "skip",
        _ => false,
    }
}

fn is_conditional(func: &Expr) -> bool {
    let name = match func {
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => return false,
    };
    matches!(name, "skipif" | "skipIf")
}

fn is_always(call: &ast::ExprCall) -> bool {
    matches!(call.arguments.args.first(), Some(Expr::BooleanLiteral(b)) if b.value)
}

/// `pytestmark = pytest.mark.skip(…)`, also in a list.
fn is_skipping_mark(stmt: &Stmt) -> bool {
    let Stmt::Assign(assign) = stmt else { return false };
    let named = assign.targets.iter().any(|t| matches!(t, Expr::Name(n) if n.id.as_str() == "pytestmark"));
    named
        && match &*assign.value {
            Expr::List(list) => list.elts.iter().any(is_skip),
            value => is_skip(value),
        }
}
