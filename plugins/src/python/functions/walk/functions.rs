//! Functions, lambdas and classes: where they start and end, and what belongs to them.

use owed_engine::facts::Span;
use owed_engine::function::FunctionKind;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::{Expr, Parameters, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};

use super::super::shape::docstring;
use super::super::words::word;
use super::judge::{hands_on, is_handing_call, undocumented};
use super::{Around, Walk};
use crate::measure::{Opening, Tag, Target, hash};

impl<'a> Walk<'_, 'a> {
    pub(super) fn set_aside(&mut self) -> Around {
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

    pub(super) fn restore(&mut self, around: Around) {
        self.block = around.block;
        self.logic = around.logic;
        self.in_logic = around.in_logic;
        self.receiver = around.receiver;
        self.loops = around.loops;
        self.blocks = around.blocks;
        self.stars = around.stars;
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
        let bindings = &self.scopes.bindings;
        self.builder.close(|binding| {
            let binding = &bindings[binding as usize];
            (binding.place.to_u32(), hash(Tag::Name, binding.name.as_bytes()))
        });
    }

    pub(super) fn function(&mut self, it: &'a StmtFunctionDef) {
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
    pub(super) fn first_token(&self, it: &StmtFunctionDef) -> u32 {
        let Some(last) = it.decorator_list.last() else { return it.range.start().to_u32() };
        let after = self.tokens.partition_point(|token| token.start() < last.end());
        let starts = |token: &&Token| matches!(token.kind(), TokenKind::Async | TokenKind::Def);
        let first = self.tokens[after..].iter().find(starts);
        first.map_or(it.range.start(), Ranged::start).to_u32()
    }

    pub(super) fn lambda(&mut self, it: &'a ruff_python_ast::ExprLambda) {
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

    pub(super) fn class(&mut self, it: &'a StmtClassDef) {
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
    pub(super) fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(default) = parameter.default() {
                let name = self.frames.named(&parameter.name().id);
                self.name(default, name, None);
                self.visit_expr(default);
            }
        }
    }

    pub(super) fn annotations(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
        }
    }

    pub(super) fn documented(&mut self, body: &'a [Stmt]) {
        self.docstrings.extend(docstring(body));
    }

    /// Notes the name that is called.
    pub(super) fn called(&mut self, callee: &'a Expr) {
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

    pub(super) fn is_callee(&mut self, start: TextSize) -> bool {
        self.callees.pop_if(|callee| *callee == start).is_some()
    }
}
