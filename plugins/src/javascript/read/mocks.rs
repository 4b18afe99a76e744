//! Loads by the name of another function: mocks of the runners, `proxyquire`, AMD
//! `define`.

use owed_engine::facts::{ImportKind, LoadMode};
use oxc_ast::ast::{Argument, ArrayExpressionElement, CallExpression, Expression};
use oxc_semantic::SymbolId;

use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// Calls of functions that load modules by another name.
    pub(super) fn on_named_call(&mut self, it: &'a CallExpression<'a>) {
        let Expression::Identifier(callee) = &it.callee else { return };
        let Some(source) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let symbol = self.symbol(callee);
        if symbol.is_none() && callee.name == "define" {
            let list = it.arguments.iter().find_map(|argument| match argument {
                Argument::ArrayExpression(list) => Some(list),
                _ => None,
            });
            for source in
                list.iter().flat_map(|list| &list.elements).filter_map(ArrayExpressionElement::as_expression)
            {
                if self.literal(source).is_some_and(|text| text != "require" && text != "exports") {
                    self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
                }
            }
            return;
        }
        let Some(symbol) = symbol else { return };
        let (module, _) = match self.origin(symbol) {
            Some(origin) => origin,
            None => return,
        };
        match module.as_str() {
            "proxyquire" | "rewire" | "import-fresh" | "require-uncached" | "esmock" => {
                self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
            }
            _ => {}
        }
    }

    /// The module and name that a symbol comes from.
    fn origin(&self, symbol: SymbolId) -> Option<(String, Option<&'a str>)> {
        match &self.known[symbol.index()].binding {
            super::walk::Binding::Import { import, name } => {
                Some((self.imports[*import].specifier.clone(), *name))
            }
            super::walk::Binding::Init { init, keys } => {
                let mut at = init.get_inner_expression();
                // `proxyquire = require("proxyquire").noCallThru()`.
                for _ in 0..8 {
                    at = match at {
                        Expression::CallExpression(call) if self.is_require(&call.callee) => {
                            return match call.arguments.first() {
                                Some(Argument::StringLiteral(text)) => {
                                    Some((text.value.to_string(), keys.first().copied()))
                                }
                                _ => None,
                            };
                        }
                        Expression::CallExpression(call) => call.callee.get_inner_expression(),
                        Expression::StaticMemberExpression(it) => it.object.get_inner_expression(),
                        _ => return None,
                    };
                }
                None
            }
            _ => None,
        }
    }

    /// `vi.mock("x")`, `jest.requireActual("x")`, `mock.module("x")`.
    pub(super) fn on_mock(&mut self, it: &'a CallExpression<'a>, name: &str, object: &'a Expression<'a>) {
        let kind = match name {
            "mock"
            | "doMock"
            | "unmock"
            | "doUnmock"
            | "dontMock"
            | "setMock"
            | "deepUnmock"
            | "unstable_mockModule"
            | "unstable_unmockModule"
            | "createMockFromModule"
            | "genMockFromModule"
            | "requireMock"
            | "importMock" => ImportKind::Mock,
            "module" => ImportKind::Mock,
            "requireActual" => ImportKind::Require,
            "importActual" => ImportKind::Dynamic,
            "replaceEsm" | "replace" => ImportKind::Mock,
            "load" | "noCallThru" => ImportKind::Require,
            _ => return,
        };
        if !self.is_mocker(object, name, 32) {
            return;
        }
        let Some(source) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let mode = if self.is_jest(object) { LoadMode::Cjs } else { LoadMode::Esm };
        match source.get_inner_expression() {
            // `vi.mock(import("./x"))`
            Expression::ImportExpression(import) => {
                self.load_whole(kind, "mock", &import.source, it.span, mode);
            }
            _ if kind == ImportKind::Mock => self.load_whole(kind, "mock", source, it.span, mode),
            _ => self.load(kind, name, source, it.span, mode),
        }
    }

    fn is_jest(&self, object: &Expression<'a>) -> bool {
        matches!(object, Expression::Identifier(it) if it.name == "jest")
    }

    /// Whether an object is the mocking interface of a runner.
    pub(super) fn is_mocker(&self, object: &'a Expression<'a>, method: &str, steps: u32) -> bool {
        match object {
            _ if steps == 0 => false,
            Expression::Identifier(it) => match self.symbol(it) {
                None => matches!(
                    it.name.as_str(),
                    "vi" | "jest" | "vitest" | "mock" | "td" | "proxyquire" | "sinon" | "sandbox"
                ),
                Some(symbol) => match (self.origin(symbol), it.name.as_str()) {
                    (Some((module, _)), _) => matches!(
                        module.as_str(),
                        "vitest"
                            | "@jest/globals"
                            | "node:test"
                            | "bun:test"
                            | "testdouble"
                            | "proxyquire"
                            | "sinon"
                    ),
                    // The test context: `t.mock.module`.
                    (None, "mock") => method == "module",
                    (None, _) => false,
                },
            },
            Expression::StaticMemberExpression(it) => {
                it.property.name == "mock"
                    && matches!(method, "module" | "method" | "getter" | "setter" | "property")
            }
            // Chained: `vi.mock("./a").mock("./b")`.
            Expression::CallExpression(it) => match &it.callee {
                Expression::StaticMemberExpression(callee) => {
                    self.is_mocker(&callee.object, method, steps - 1)
                }
                _ => false,
            },
            _ => false,
        }
    }
}
