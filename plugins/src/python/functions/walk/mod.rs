//! One walk over a module: opens and closes functions, gives them names, hands every node
//! to the shape, to complexity, and to the checker of what CPython refuses.

mod expressions;
mod functions;
mod judge;
mod naming;
mod statements;

use std::cell::RefCell;

use owed_engine::function::Function;
use ruff_python_ast::token::Token;
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Arguments, BoolOp, Comprehension, Decorator, ElifElseClause, ExceptHandler, Expr, FString,
    InterpolatedStringElement, Keyword, Pattern, PatternKeyword, Singleton, Stmt, StringLiteral, TString,
    TypeParams, WithItem,
};
use ruff_python_parser::semantic_errors::{SemanticSyntaxChecker, SemanticSyntaxError};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::read::text::Lines;
use super::faults::Fault;
use super::scopes::{MODULE, Scopes};
use super::shape::CONSTANT;
use super::words::{self, word};
use crate::measure::{Builder, Frames, Named, Tag, Target, hash};

/// The name that the expression at a place gets from where it stands.
struct Pending {
    range: TextRange,
    name: Named,
    target: Option<Target>,
}

/// State that a function body does not share with what is around it.
struct Around {
    block: u32,
    logic: Option<BoolOp>,
    in_logic: bool,
    receiver: Option<(u32, u32)>,
    loops: u32,
    blocks: u32,
    stars: u32,
}

pub(super) struct Walk<'t, 'a> {
    pub(super) text: &'t str,
    tokens: &'t [Token],
    pub(super) scopes: &'t Scopes<'a>,
    lines: &'t Lines<'t>,
    pub(super) stub: bool,
    pub(super) builder: Builder,
    frames: Frames,
    pending: Option<Pending>,
    /// Starts of the names that are called, innermost last.
    callees: Vec<TextSize>,
    /// Scopes around the place that is read.
    pub(super) open: Vec<u32>,
    block: u32,
    logic: Option<BoolOp>,
    in_logic: bool,
    /// What the first parameter of a method is bound to, and the number of its class.
    receiver: Option<(u32, u32)>,
    docstrings: Vec<TextRange>,
    checker: SemanticSyntaxChecker,
    pub(super) errors: RefCell<Vec<SemanticSyntaxError>>,
    pub(super) loops: u32,
    /// Blocks that the interpreter keeps on its stack of blocks.
    blocks: u32,
    /// `except*` blocks around.
    stars: u32,
    pub(super) in_try: bool,
    more: Vec<Fault>,
    /// Whether the formatted string that is read is raw.
    raw: bool,
    /// The statement in which the budget of steps ran out.
    exhausted: Option<TextSize>,
}

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn new(
        text: &'t str,
        tokens: &'t [Token],
        scopes: &'t Scopes<'a>,
        lines: &'t Lines<'t>,
        stub: bool,
    ) -> Self {
        Self {
            text,
            tokens,
            scopes,
            lines,
            stub,
            builder: Builder::default(),
            frames: Frames::new("<lambda>"),
            pending: None,
            callees: Vec::new(),
            open: vec![MODULE],
            block: 0,
            logic: None,
            in_logic: false,
            receiver: None,
            docstrings: Vec::new(),
            checker: SemanticSyntaxChecker::new(),
            errors: RefCell::default(),
            loops: 0,
            blocks: 0,
            stars: 0,
            in_try: false,
            more: Vec::new(),
            raw: false,
            exhausted: None,
        }
    }

    pub(super) fn module(&mut self, body: &'a [Stmt]) {
        self.visit_body(body);
    }

    /// Where the budget of steps ran out: then nothing that was found may be used.
    pub(super) fn exhausted(&self) -> Option<u32> {
        self.exhausted.map(|at| at.to_u32())
    }

    /// What CPython refuses.
    pub(super) fn faults(&mut self) -> Vec<Fault> {
        let errors = self.errors.take();
        let found = errors.into_iter().map(|error| (error.to_string(), error.range));
        found.chain(self.more.drain(..)).collect()
    }

    /// The functions and the sorted places of docstrings.
    pub(super) fn finish(mut self) -> (Vec<Function>, Vec<TextRange>) {
        let lines = self.lines;
        self.docstrings.sort_by_key(|range| range.start());
        (self.builder.finish(|offset| lines.line(offset)), self.docstrings)
    }

    pub(super) fn scope(&self) -> u32 {
        self.open.last().copied().unwrap_or(MODULE)
    }

    fn check(&mut self, work: impl FnOnce(&mut SemanticSyntaxChecker, &Self)) {
        let mut checker = std::mem::take(&mut self.checker);
        work(&mut checker, self);
        self.checker = checker;
    }

    fn within(&mut self, range: TextRange, outer: bool, work: impl FnOnce(&mut Self)) {
        let scope = self.scopes.opened(range, outer);
        self.open.extend(scope);
        work(self);
        if scope.is_some() {
            self.open.pop();
        }
    }

    fn line(&self, at: TextSize) -> u32 {
        self.lines.line(at.to_u32())
    }
}

impl<'a> SourceOrderVisitor<'a> for Walk<'_, 'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        let around = self.block;
        self.block = self.builder.block();
        for stmt in body {
            self.visit_stmt(stmt);
        }
        self.block = around;
        self.builder.end();
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.check(|checker, context| checker.visit_stmt(stmt, context));
        if let Stmt::Expr(it) = stmt
            && self.docstrings.last().is_some_and(|docstring| *docstring == it.value.range())
        {
            return;
        }
        let start = match stmt {
            Stmt::FunctionDef(it) => TextSize::new(self.first_token(it)),
            other => other.start(),
        };
        let lines = (self.line(start), self.lines.line(stmt.end().to_u32().saturating_sub(1)));
        let number = self.builder.open_statement(self.block, lines);
        self.builder.node(words::statement(stmt));
        stacker::maybe_grow(128 << 10, 4 << 20, || self.statement(stmt));
        self.builder.close_statement(number);
        if self.exhausted.is_none() && self.scopes.exhausted() {
            self.exhausted = Some(stmt.start());
        }
    }

    fn visit_annotation(&mut self, expr: &'a Expr) {
        self.builder.erase();
        self.builder.format_only(b":");
        self.visit_expr(expr);
        self.builder.unerase();
    }

    fn visit_type_params(&mut self, parameters: &'a TypeParams) {
        self.builder.erase();
        self.builder.format_only(b"[");
        for parameter in parameters {
            self.builder.format_only(parameter.name().as_bytes());
        }
        source_order::walk_type_params(self, parameters);
        self.builder.unerase();
    }

    fn visit_decorator(&mut self, decorator: &'a Decorator) {
        self.builder.node(word!("@"));
        self.visit_expr(&decorator.expression);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.check(|checker, context| checker.visit_expr(expr, context));
        if matches!(expr, Expr::BoolOp(_)) || !self.in_logic {
            stacker::maybe_grow(128 << 10, 4 << 20, || self.expression(expr));
            return;
        }
        let saved = (self.logic, self.in_logic);
        (self.logic, self.in_logic) = (None, false);
        stacker::maybe_grow(128 << 10, 4 << 20, || self.expression(expr));
        (self.logic, self.in_logic) = saved;
    }

    fn visit_arguments(&mut self, arguments: &'a Arguments) {
        source_order::walk_arguments(self, arguments);
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        match &keyword.arg {
            Some(name) => {
                if name.as_str() == "__debug__" {
                    self.more.push(("cannot assign to __debug__".to_owned(), name.range()));
                }
                self.builder.node(word!("keyword"));
                self.builder.member(&name.id, false);
            }
            None => self.builder.node(word!("**")),
        }
        self.visit_expr(&keyword.value);
    }

    fn visit_with_item(&mut self, item: &'a WithItem) {
        self.builder.node(if item.optional_vars.is_some() { word!("with as") } else { word!("with item") });
        source_order::walk_with_item(self, item);
    }

    fn visit_alias(&mut self, alias: &'a ruff_python_ast::Alias) {
        self.builder.node(word!("alias"));
        self.builder.member(&alias.name.id, false);
        if let Some(name) = &alias.asname {
            self.named(&name.id, false);
        }
        self.builder.end();
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        self.structure();
        self.builder.node(word!("except"));
        if let Some(expr) = &it.type_ {
            self.visit_expr(expr);
        }
        if let Some(name) = &it.name {
            self.named(&name.id, false);
        }
        self.nested(&it.body);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        self.builder.flat();
        let number = match &clause.test {
            Some(test) => {
                self.builder.decision();
                let lines =
                    (self.line(clause.start()), self.lines.line(clause.end().to_u32().saturating_sub(1)));
                // An `elif` is the only statement of an `else`.
                let block = self.builder.block();
                let number = self.builder.open_statement(block, lines);
                self.builder.node(word!("elif"));
                self.visit_expr(test);
                number
            }
            None => {
                self.builder.node(word!("else"));
                None
            }
        };
        self.nested(&clause.body);
        self.builder.close_statement(number);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        self.builder.node(words::pattern(pattern));
        match pattern {
            Pattern::MatchStar(it) => it.name.iter().for_each(|name| self.named(&name.id, false)),
            Pattern::MatchAs(it) => it.name.iter().for_each(|name| self.named(&name.id, false)),
            Pattern::MatchMapping(it) => it.rest.iter().for_each(|name| self.named(&name.id, false)),
            _ => {}
        }
        stacker::maybe_grow(128 << 10, 4 << 20, || source_order::walk_pattern(self, pattern));
        self.builder.end();
    }

    fn visit_pattern_keyword(&mut self, keyword: &'a PatternKeyword) {
        self.builder.node(word!("keyword pattern"));
        self.builder.member(&keyword.attr.id, false);
        self.visit_pattern(&keyword.pattern);
    }

    fn visit_singleton(&mut self, singleton: &'a Singleton) {
        let text = match singleton {
            Singleton::None => "None",
            Singleton::True => "True",
            Singleton::False => "False",
        };
        self.builder.literal(CONSTANT, text.to_owned());
    }

    fn visit_f_string(&mut self, it: &'a FString) {
        let around = std::mem::replace(&mut self.raw, it.flags.prefix().is_raw());
        self.builder.node(if self.raw { word!("raw part") } else { word!("part") });
        source_order::walk_f_string(self, it);
        self.raw = around;
    }

    fn visit_t_string(&mut self, it: &'a TString) {
        let around = std::mem::replace(&mut self.raw, it.flags.prefix().is_raw());
        self.builder.node(if self.raw { word!("raw part") } else { word!("part") });
        source_order::walk_t_string(self, it);
        self.raw = around;
    }

    fn visit_string_literal(&mut self, it: &'a StringLiteral) {
        self.plain_part(it);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        match element {
            InterpolatedStringElement::Literal(it) => {
                let raw = self.raw;
                self.template_part(it.range, raw);
            }
            InterpolatedStringElement::Interpolation(it) => {
                self.builder.node(word!("interpolation"));
                self.builder.node(hash(Tag::Node, &[it.conversion as u8]));
                if it.debug_text.is_some() {
                    self.builder.node(word!("debug"));
                }
                self.visit_expr(&it.expression);
                if let Some(spec) = &it.format_spec {
                    self.builder.node(word!("format"));
                    for element in &spec.elements {
                        self.visit_interpolated_string_element(element);
                    }
                }
                self.builder.end();
            }
        }
    }

    fn visit_comprehension(&mut self, it: &'a Comprehension) {
        self.generator(it, true);
    }

    fn visit_operator(&mut self, operator: &'a ruff_python_ast::Operator) {
        self.builder.node(words::binary(*operator));
    }

    fn visit_unary_op(&mut self, operator: &'a ruff_python_ast::UnaryOp) {
        self.builder.node(words::unary(*operator));
    }

    fn visit_cmp_op(&mut self, operator: &'a ruff_python_ast::CmpOp) {
        self.builder.node(words::compare(*operator));
    }
}
