//! One walk over a module: opens and closes functions, gives them names, hands every node
//! to the shape, to complexity, and to the checker of what CPython refuses.

use std::cell::RefCell;

use owed_engine::facts::Span;
use owed_engine::function::{Function, FunctionKind};
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Arguments, BoolOp, Comprehension, Decorator, ElifElseClause, ExceptHandler, Expr,
    InterpolatedStringElement, Keyword, Parameters, Pattern, PatternKeyword, Singleton, Stmt, StmtClassDef,
    StmtFunctionDef, TypeParams, WithItem,
};
use ruff_python_parser::semantic_errors::{SemanticSyntaxChecker, SemanticSyntaxError};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::super::read::text::Lines;
use super::faults::Fault;
use super::scopes::{MODULE, Scopes};
use super::shape::{CONSTANT, TEMPLATE, docstring};
use super::words::{self, word};
use crate::measure::{Builder, Frames, Named, Opening, Tag, Target, hash};

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
        }
    }

    pub(super) fn module(&mut self, body: &'a [Stmt]) {
        self.visit_body(body);
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

    fn set_aside(&mut self) -> Around {
        Around {
            block: self.block,
            logic: self.logic.take(),
            in_logic: std::mem::take(&mut self.in_logic),
            receiver: self.receiver,
            loops: std::mem::take(&mut self.loops),
            blocks: std::mem::take(&mut self.blocks),
            stars: std::mem::take(&mut self.stars),
        }
    }

    fn restore(&mut self, around: Around) {
        self.block = around.block;
        self.logic = around.logic;
        self.in_logic = around.in_logic;
        self.receiver = around.receiver;
        self.loops = around.loops;
        self.blocks = around.blocks;
        self.stars = around.stars;
    }

    fn line(&self, at: TextSize) -> u32 {
        self.lines.line(at.to_u32())
    }

    // Names.

    fn name(&mut self, expr: &'a Expr, name: Named, target: Option<Target>) {
        if matches!(expr, Expr::Lambda(_) | Expr::Dict(_)) {
            self.pending = Some(Pending { range: expr.range(), name, target });
        }
    }

    fn taken(&mut self, range: TextRange) -> Option<Pending> {
        self.pending.take_if(|pending| pending.range == range)
    }

    /// A declared function or class.
    fn declared(&self, name: &str, holder: bool) -> Named {
        if self.frames.in_class() { self.frames.member(name, holder) } else { self.frames.named(name) }
    }

    fn member(&self, name: &str) -> Option<Target> {
        self.frames.holder().map(|holder| Target::Member(holder, hash(Tag::Member, name.as_bytes())))
    }

    fn bound(&self, name: &str) -> Option<Target> {
        self.scopes.binding(name, self.scope()).map(Target::Binding)
    }

    /// A value that is assigned to something with a name.
    fn assigned(&mut self, target: Option<&'a Expr>, value: &'a Expr) {
        let named = target.and_then(|target| match target {
            Expr::Name(it) => Some((it.id.to_string(), self.bound(&it.id))),
            Expr::Attribute(_) => chain(target).map(|name| (name, None)),
            _ => None,
        });
        let Some((text, target)) = named else {
            self.visit_expr(value);
            return;
        };
        let name = self.declared(&text, true);
        let frame = (self.frames.outside() && !self.frames.in_variable()) || self.frames.in_class();
        if frame {
            self.frames.variable(&name);
        }
        self.name(value, name, target);
        self.visit_expr(value);
        if frame {
            self.frames.pop();
        }
    }

    // Functions.

    fn close(&mut self) {
        self.frames.pop();
        let bindings = &self.scopes.bindings;
        self.builder.close(|binding| {
            let binding = &bindings[binding as usize];
            (binding.place.to_u32(), hash(Tag::Name, binding.name.as_bytes()))
        });
    }

    fn function(&mut self, it: &'a StmtFunctionDef) {
        for decorator in &it.decorator_list {
            self.visit_decorator(decorator);
        }
        self.named(&it.name.id, false);
        let method = self.frames.in_class();
        let name = self.declared(&it.name.id, false);
        let member = self.member(&it.name.id).filter(|_| method);
        let class = self.frames.holder().filter(|_| method);
        let start = self.first_token(it);
        let span = Span { start, end: it.range.end().to_u32() };
        let kind = if method { FunctionKind::Method } else { FunctionKind::Function };
        let around = self.set_aside();
        let bound = self.bound(&it.name.id);
        self.frames.function(&name);
        let number = self.builder.open(Opening { name: name.full(), kind, span, block: true });
        for target in member.into_iter().chain(bound.filter(|_| !method)) {
            self.builder.callable(target, number);
        }
        self.builder.format_only(it.name.as_bytes());
        if it.is_async {
            self.builder.node(word!("async"));
        }
        self.defaults(&it.parameters);
        self.within(it.range, false, |this| {
            let first = it.parameters.iter().next().map(|first| first.name().id.as_str());
            let first = first.and_then(|first| this.scopes.binding(first, this.scope()));
            match (class, first) {
                (Some(class), Some(first)) => this.receiver = Some((first, class)),
                _ if method => this.receiver = None,
                _ => {}
            }
            if let Some(parameters) = &it.type_params {
                this.visit_type_params(parameters);
            }
            this.parameters(&it.parameters);
            this.annotations(&it.parameters);
            if let Some(returns) = &it.returns {
                this.visit_annotation(returns);
            }
            this.documented(&it.body);
            let body = undocumented(&it.body);
            if let [only] = body
                && hands_on(only)
            {
                this.builder.delegates();
            }
            if let [Stmt::FunctionDef(_), Stmt::Return(_)] = body {
                this.builder.declarative();
            }
            this.visit_body(&it.body);
        });
        self.close();
        self.restore(around);
    }

    /// `async` or `def`, after the decorators.
    fn first_token(&self, it: &StmtFunctionDef) -> u32 {
        let Some(last) = it.decorator_list.last() else { return it.range.start().to_u32() };
        let after = self.tokens.partition_point(|token| token.start() < last.end());
        let starts = |token: &&Token| matches!(token.kind(), TokenKind::Async | TokenKind::Def);
        let first = self.tokens[after..].iter().find(starts);
        first.map_or(it.range.start(), Ranged::start).to_u32()
    }

    fn lambda(&mut self, it: &'a ruff_python_ast::ExprLambda) {
        let (name, target) = match self.taken(it.range) {
            Some(pending) => (pending.name, pending.target),
            None => (self.frames.anonymous(), None),
        };
        let span = Span { start: it.range.start().to_u32(), end: it.range.end().to_u32() };
        let around = self.set_aside();
        self.frames.function(&name);
        let opening = Opening { name: name.full(), kind: FunctionKind::Lambda, span, block: false };
        let number = self.builder.open(opening);
        if let Some(target) = target {
            self.builder.callable(target, number);
        }
        if let Some(parameters) = &it.parameters {
            self.defaults(parameters);
        }
        self.within(it.range, false, |this| {
            this.builder.node(word!("lambda"));
            if let Some(parameters) = &it.parameters {
                this.parameters(parameters);
            }
            if is_handing_call(&it.body) {
                this.builder.delegates();
            }
            this.visit_expr(&it.body);
        });
        self.close();
        self.restore(around);
    }

    fn class(&mut self, it: &'a StmtClassDef) {
        for decorator in &it.decorator_list {
            self.visit_decorator(decorator);
        }
        self.named(&it.name.id, false);
        let name = self.declared(&it.name.id, true);
        self.builder.holds_class();
        let mark = self.builder.open_class();
        self.builder.format_only(it.name.as_bytes());
        let around = self.set_aside();
        let body = |this: &mut Self| {
            if let Some(arguments) = &it.arguments {
                this.visit_arguments(arguments);
            }
            this.within(it.range, false, |this| {
                this.frames.class(name);
                this.documented(&it.body);
                this.visit_body(&it.body);
                this.frames.pop();
            });
        };
        match &it.type_params {
            Some(parameters) => self.within(it.range, true, |this| {
                this.visit_type_params(parameters);
                body(this);
            }),
            None => body(self),
        }
        self.restore(around);
        self.builder.close_class(mark);
    }

    /// Defaults are part of the function, but are evaluated around it.
    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(default) = parameter.default() {
                let name = self.frames.named(&parameter.name().id);
                self.name(default, name, None);
                self.visit_expr(default);
            }
        }
    }

    fn annotations(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
        }
    }

    fn documented(&mut self, body: &'a [Stmt]) {
        self.docstrings.extend(docstring(body));
    }

    /// Notes the name that is called.
    fn called(&mut self, callee: &'a Expr) {
        match callee {
            Expr::Name(it) => {
                self.callees.push(it.range.start());
                if let Some(target) = self.bound(&it.id) {
                    self.builder.calls(target);
                }
            }
            Expr::Attribute(it) => {
                self.callees.push(it.attr.start());
                if let (Expr::Name(name), Some((binding, class))) = (&*it.value, self.receiver)
                    && self.scopes.binding(&name.id, self.scope()) == Some(binding)
                {
                    self.builder.calls(Target::Member(class, hash(Tag::Member, it.attr.as_bytes())));
                }
            }
            _ => {}
        }
    }

    fn is_callee(&mut self, start: TextSize) -> bool {
        self.callees.pop_if(|callee| *callee == start).is_some()
    }

    fn structure(&mut self) {
        self.builder.structure();
        self.builder.decision();
    }

    /// A body that stands one level deeper.
    fn nested(&mut self, body: &'a [Stmt]) {
        self.builder.deeper();
        self.visit_body(body);
        self.builder.shallower();
    }

    /// A block that the compiler keeps on its stack of blocks, which takes 21 (as CPython 3.14
    /// was seen to do; `CO_MAXBLOCKS`).
    fn kept(&mut self, range: TextRange, work: impl FnOnce(&mut Self)) {
        self.blocks += 1;
        if self.blocks == 22 {
            self.more.push(("depth: too many statically nested blocks".to_owned(), range));
        }
        work(self);
        self.blocks -= 1;
    }

    fn looped(&mut self, body: &'a [Stmt], range: TextRange) {
        let stars = std::mem::take(&mut self.stars);
        self.loops += 1;
        self.kept(range, |this| this.nested(body));
        self.loops -= 1;
        self.stars = stars;
    }

    fn loop_else(&mut self, body: &'a [Stmt]) {
        if !body.is_empty() {
            self.builder.flat();
            self.nested(body);
        }
    }

    fn leaves_star(&mut self, stmt: &Stmt) {
        if self.stars > 0 {
            let cause = "'break', 'continue' and 'return' cannot appear in an 'except*' block";
            self.more.push((cause.to_owned(), stmt.range()));
        }
    }
}

/// `a.b.c` as it is said in a name.
fn chain(expr: &Expr) -> Option<String> {
    let mut names = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Name(it) => names.push(it.id.as_str()),
            Expr::Attribute(it) if names.len() < 6 => {
                names.push(it.attr.as_str());
                at = &it.value;
                continue;
            }
            Expr::Attribute(_) => names.push("…"),
            _ => return None,
        }
        names.reverse();
        return Some(names.join("."));
    }
}

fn undocumented(body: &[Stmt]) -> &[Stmt] {
    if docstring(body).is_some() { &body[1..] } else { body }
}

/// A statement that is nothing but a call with what it was given.
fn hands_on(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return(it) => it.value.as_deref().is_some_and(is_handing_call),
        Stmt::Expr(it) => is_handing_call(&it.value),
        _ => false,
    }
}

fn is_handing_call(expr: &Expr) -> bool {
    let inner = match expr {
        Expr::Await(it) => &it.value,
        other => other,
    };
    let Expr::Call(it) = inner else { return false };
    is_reference(&it.func, true)
        && it.arguments.args.iter().all(is_simple)
        && it.arguments.keywords.iter().all(|keyword| is_simple(&keyword.value))
}

/// A name or a member of one; of `super()` when it is called.
fn is_reference(expr: &Expr, called: bool) -> bool {
    let mut at = expr;
    loop {
        match at {
            Expr::Name(_) => return true,
            Expr::Attribute(it) => at = &it.value,
            Expr::Call(it) => {
                return called && matches!(&*it.func, Expr::Name(name) if name.id.as_str() == "super");
            }
            _ => return false,
        }
    }
}

fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Starred(it) => is_reference(&it.value, false),
        other => other.is_literal_expr() || is_reference(other, false),
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

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        match element {
            InterpolatedStringElement::Literal(it) => {
                let text = self.written(it.range).to_owned();
                self.builder.literal(TEMPLATE, text);
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

    // Operators.

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

impl<'a> Walk<'_, 'a> {
    fn statement(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => self.function(it),
            Stmt::ClassDef(it) => self.class(it),
            Stmt::Assign(it) => {
                for target in &it.targets {
                    self.visit_expr(target);
                }
                self.assigned(it.targets.first(), &it.value);
                self.builder.end();
            }
            Stmt::AnnAssign(it) => {
                self.visit_expr(&it.target);
                self.visit_annotation(&it.annotation);
                if let Some(value) = &it.value {
                    self.assigned(Some(&it.target), value);
                    self.builder.end();
                }
            }
            Stmt::TypeAlias(_) => {
                self.builder.erase();
                source_order::walk_stmt(self, stmt);
                self.builder.unerase();
            }
            Stmt::If(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.nested(&it.body);
                for clause in &it.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
                self.builder.end();
            }
            Stmt::For(it) => {
                self.structure();
                if it.is_async {
                    self.builder.node(word!("async"));
                }
                self.visit_expr(&it.target);
                self.visit_expr(&it.iter);
                self.looped(&it.body, it.range);
                self.loop_else(&it.orelse);
                self.builder.end();
            }
            Stmt::While(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.looped(&it.body, it.range);
                self.loop_else(&it.orelse);
                self.builder.end();
            }
            Stmt::With(it) => {
                if it.is_async {
                    self.builder.node(word!("async"));
                }
                for item in &it.items {
                    self.visit_with_item(item);
                }
                self.kept(it.range, |this| this.visit_body(&it.body));
            }
            Stmt::Match(it) => {
                self.builder.structure();
                self.visit_expr(&it.subject);
                self.builder.deeper();
                for case in &it.cases {
                    if case.guard.is_some() || !case.pattern.is_irrefutable() {
                        self.builder.decision();
                    }
                    self.builder.node(word!("case"));
                    self.visit_pattern(&case.pattern);
                    if let Some(guard) = &case.guard {
                        self.builder.node(word!("guard"));
                        self.visit_expr(guard);
                    }
                    self.visit_body(&case.body);
                }
                self.builder.shallower();
                self.builder.end();
            }
            Stmt::Try(it) => self.attempt(it),
            Stmt::ImportFrom(it) => {
                self.builder.node(hash(Tag::Node, &it.level.to_le_bytes()));
                self.builder.member(it.module.as_ref().map_or("", |module| module.as_str()), false);
                for alias in &it.names {
                    self.visit_alias(alias);
                }
                self.builder.end();
            }
            Stmt::Global(it) => {
                for name in &it.names {
                    self.named(&name.id, false);
                }
                self.builder.end();
            }
            Stmt::Nonlocal(it) => {
                for name in &it.names {
                    self.named(&name.id, false);
                    self.judge_nonlocal(&name.id, it.range);
                }
                self.builder.end();
            }
            Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_) => {
                self.leaves_star(stmt);
                source_order::walk_stmt(self, stmt);
                self.builder.end();
            }
            _ => {
                source_order::walk_stmt(self, stmt);
                self.builder.end();
            }
        }
    }

    fn judge_nonlocal(&mut self, name: &str, range: TextRange) {
        let scope = &self.scopes.list[self.scope() as usize];
        if scope.globals.contains_key(name) {
            self.more.push((format!("name '{name}' is nonlocal and global"), range));
        }
    }

    fn attempt(&mut self, it: &'a ruff_python_ast::StmtTry) {
        if it.is_star {
            self.builder.node(word!("*"));
        }
        let in_try = std::mem::replace(&mut self.in_try, true);
        for ExceptHandler::ExceptHandler(handler) in it.handlers.iter().rev().skip(1) {
            if handler.type_.is_none() {
                self.more.push(("default 'except:' must be last".to_owned(), handler.range));
            }
        }
        let body = |this: &mut Self| {
            if it.handlers.is_empty() {
                this.visit_body(&it.body);
            } else {
                this.kept(it.range, |this| this.visit_body(&it.body));
            }
            for handler in &it.handlers {
                this.stars += u32::from(it.is_star);
                // The handler itself and its cleaning up.
                this.kept(handler.range(), |this| {
                    this.kept(handler.range(), |this| this.visit_except_handler(handler))
                });
                this.stars -= u32::from(it.is_star);
            }
            if !it.orelse.is_empty() {
                this.builder.node(word!("else"));
                this.visit_body(&it.orelse);
            }
        };
        if it.finalbody.is_empty() {
            body(self);
        } else {
            self.kept(it.range, body);
            self.builder.node(word!("finally"));
            self.visit_body(&it.finalbody);
        }
        self.in_try = in_try;
        self.builder.end();
    }

    fn expression(&mut self, expr: &'a Expr) {
        if self.literal(expr) {
            return;
        }
        if let Some(word) = words::expression(expr) {
            self.builder.node(word);
        }
        match expr {
            Expr::Name(it) => {
                let callee = self.is_callee(it.range.start());
                let scope = &self.scopes.list[self.scope() as usize];
                if scope.nonlocals.get(it.id.as_str()).is_some_and(|range| it.range.start() < range.start()) {
                    let cause = format!("name '{}' is used prior to nonlocal declaration", it.id);
                    self.more.push((cause, it.range));
                }
                self.named(&it.id, callee);
            }
            Expr::Attribute(it) => {
                if !it.ctx.is_load() && it.attr.as_str() == "__debug__" {
                    self.more.push(("cannot assign to __debug__".to_owned(), it.range));
                }
                self.visit_expr(&it.value);
                let callee = self.is_callee(it.attr.start());
                self.builder.member(&it.attr.id, callee);
            }
            Expr::Call(it) => self.call(it),
            Expr::Lambda(it) => self.lambda(it),
            Expr::Dict(it) => self.dict(it),
            Expr::Named(it) => {
                self.visit_expr(&it.target);
                self.assigned(Some(&it.target), &it.value);
            }
            Expr::If(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.builder.deeper();
                self.visit_expr(&it.body);
                self.visit_expr(&it.orelse);
                self.builder.shallower();
            }
            Expr::BoolOp(it) => self.boolean(it),
            Expr::ListComp(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr)
            }
            Expr::SetComp(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr)
            }
            Expr::Generator(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr);
            }
            Expr::DictComp(it) => {
                let elements = it.key.iter().chain([&it.value]).map(|element| &**element);
                self.comprehension(&it.generators, elements, expr);
            }
            Expr::Slice(it) => {
                for part in [&it.lower, &it.upper, &it.step] {
                    match part {
                        Some(part) => self.visit_expr(part),
                        None => self.builder.end(),
                    }
                }
            }
            _ => {
                source_order::walk_expr(self, expr);
                self.builder.end();
            }
        }
    }

    fn call(&mut self, it: &'a ruff_python_ast::ExprCall) {
        self.called(&it.func);
        self.visit_expr(&it.func);
        let callee = chain(&it.func).map(|name| name.rsplit('.').next().unwrap_or_default().to_owned());
        for argument in it.arguments.iter_source_order() {
            match argument {
                ruff_python_ast::ArgOrKeyword::Arg(argument) => self.visit_expr(argument),
                ruff_python_ast::ArgOrKeyword::Keyword(keyword) => {
                    if let (Some(callee), Some(name)) = (&callee, &keyword.arg) {
                        let name = self.frames.named(&format!("{}@{callee}", name.id));
                        self.name(&keyword.value, name, None);
                    }
                    self.visit_keyword(keyword);
                }
            }
        }
        self.builder.end();
    }

    fn dict(&mut self, it: &'a ruff_python_ast::ExprDict) {
        let name = self.taken(it.range).map(|pending| pending.name);
        self.frames.object(name);
        for item in &it.items {
            match &item.key {
                Some(key) => {
                    self.visit_expr(key);
                    if let Expr::StringLiteral(key) = key {
                        let holder = matches!(item.value, Expr::Dict(_));
                        let name = self.frames.member(key.value.to_str(), holder);
                        self.name(&item.value, name, None);
                    }
                }
                None => self.builder.node(word!("**")),
            }
            self.visit_expr(&item.value);
        }
        self.frames.pop();
        self.builder.end();
    }

    fn boolean(&mut self, it: &'a ruff_python_ast::ExprBoolOp) {
        self.builder.node(words::boolean(it.op));
        let saved = (self.logic, self.in_logic);
        if !self.in_logic {
            (self.logic, self.in_logic) = (None, true);
        }
        for (at, value) in it.values.iter().enumerate() {
            if at > 0 {
                self.builder.decision();
                if self.logic != Some(it.op) {
                    self.builder.flat();
                    self.logic = Some(it.op);
                }
            }
            self.visit_expr(value);
        }
        if !saved.1 {
            (self.logic, self.in_logic) = saved;
        }
        self.builder.end();
    }

    /// The first iterable is evaluated around the comprehension, everything else in it.
    fn comprehension(
        &mut self,
        generators: &'a [Comprehension],
        elements: impl Iterator<Item = &'a Expr>,
        expr: &'a Expr,
    ) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.within(expr.range(), false, |this| {
            for (at, generator) in generators.iter().enumerate() {
                this.generator(generator, at > 0);
            }
            for element in elements {
                this.visit_expr(element);
            }
        });
        self.builder.end();
    }

    fn generator(&mut self, it: &'a Comprehension, iterable: bool) {
        self.builder.decision();
        self.builder.node(if it.is_async { word!("async for in") } else { word!("for in") });
        self.visit_expr(&it.target);
        if iterable {
            self.visit_expr(&it.iter);
        }
        for test in &it.ifs {
            self.builder.decision();
            self.builder.node(word!("if in"));
            self.visit_expr(test);
        }
    }
}
