//! Functions, classes and their members: where they start and end, and what belongs to them.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use owed_engine::facts::Span as Place;
use owed_engine::function::FunctionKind;

use super::super::shape::symbol_number;
use super::judge::{hands_on, is_declarative, is_handing_call};
use super::{Around, Branch, Head, Met, Walk};
use crate::measure::{Opening, Tag, Target, hash};

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn open(&mut self, met: &Met<'_>) {
        let span = Place { start: met.span.start, end: met.span.end };
        self.frames.function(&met.name);
        let opening = Opening { name: met.name.full(), kind: met.kind, span, block: met.block };
        let number = self.builder.open(opening);
        if let Some(target) = met.target {
            self.builder.callable(target, number);
        }
        self.builder.format_only(met.kind.word().as_bytes());
        match met.head {
            Head::None => {}
            Head::Name(name) => self.builder.format_only(name.as_bytes()),
            Head::Tokens(span) => self.format_text(span),
        }
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
        let scoping = self.scoping;
        self.builder.close(|binding| {
            let symbol = oxc_syntax::symbol::SymbolId::from_usize(binding as usize);
            (scoping.symbol_span(symbol).start, hash(Tag::Name, scoping.symbol_name(symbol).as_bytes()))
        });
    }

    /// A function with a body. `key` is read as part of it (a computed one).
    pub(super) fn function(&mut self, met: &Met<'_>, it: &Function<'a>, key: Option<&PropertyKey<'a>>) {
        let Some(body) = &it.body else { return };
        let saved = self.set_aside();
        let this = std::mem::replace(&mut self.this, self.frames.holder());
        let callable = it.id.as_ref().and_then(|id| id.symbol_id.get());
        self.open(met);
        if let (Some(symbol), Some(number)) = (callable, self.builder.current()) {
            self.builder.callable(Target::Binding(symbol_number(symbol)), number);
        }
        if let Some(key) = key {
            self.visit_property_key(key);
        }
        self.flags(&[(it.r#async, "async"), (it.generator, "generator")]);
        if let Some(parameters) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(parameters);
        }
        if let Some(parameter) = &it.this_param {
            self.visit_ts_this_parameter(parameter);
        }
        self.visit_formal_parameters(&it.params);
        if let Some(annotation) = &it.return_type {
            self.visit_ts_type_annotation(annotation);
        }
        self.body(body);
        self.close();
        self.this = this;
        self.restore(saved);
    }

    pub(super) fn body(&mut self, body: &FunctionBody<'a>) {
        if is_declarative(&body.statements) {
            self.builder.declarative();
        }
        if let [only] = body.statements.as_slice()
            && hands_on(only)
        {
            self.builder.delegates();
        }
        self.visit_function_body(body);
    }

    pub(super) fn set_aside(&mut self) -> Around<'t> {
        self.else_if = false;
        Around {
            branch: std::mem::replace(&mut self.branch, Branch::Alone),
            logic: self.logic.take(),
            in_logic: std::mem::take(&mut self.in_logic),
            element: self.element.take(),
            jumps: std::mem::take(&mut self.jumps),
        }
    }

    pub(super) fn restore(&mut self, around: Around<'t>) {
        self.branch = around.branch;
        self.logic = around.logic;
        self.in_logic = around.in_logic;
        self.element = around.element;
        self.jumps = around.jumps;
    }

    /// From the first token after the decorators.
    pub(super) fn undecorated(&self, span: Span, decorators: &[Decorator<'a>]) -> Span {
        let Some(last) = decorators.last() else { return span };
        let from = last.span.end.max(span.start);
        let first = self.tokens.partition_point(|token| token.start() < from);
        self.tokens.get(first).map_or(span, |token| Span::new(token.start().min(span.end), span.end))
    }

    pub(super) fn field(&mut self, key: &PropertyKey<'a>, computed: bool, value: Option<&Expression<'a>>) {
        self.builder.node(const { hash(Tag::Node, b"field") });
        if computed {
            self.visit_property_key(key);
        }
        let Some(value) = value else { return };
        let key = self.key(key, computed);
        let target =
            self.frames.holder().map(|holder| Target::Member(holder, hash(Tag::Member, key.as_bytes())));
        let this = std::mem::replace(&mut self.this, self.frames.holder());
        let name = self.frames.member(&key, true);
        self.frames.variable(&name);
        self.name(value, name, target);
        self.visit_expression(value);
        self.frames.pop();
        self.this = this;
    }

    pub(super) fn any_function(&mut self, it: &Function<'a>) {
        if it.body.is_none() {
            // An overload signature or an ambient function: a type.
            self.format_text(it.span);
            return;
        }
        let own = it.id.as_ref().map(|id| id.name.as_str());
        let declared = it.is_declaration();
        let (name, target) = match own {
            Some(own) if declared => (self.frames.named(own), None),
            _ => self.named(it.span, own),
        };
        if declared && let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        let met = Met {
            kind: FunctionKind::Function,
            span: it.span,
            name,
            target,
            block: true,
            head: own.map_or(Head::None, Head::Name),
        };
        self.function(&met, it, None);
    }

    pub(super) fn arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let (name, target) = self.named(it.span, None);
        let block = matches!(it.body, ArrowFunctionBody::FunctionBody(_));
        let saved = self.set_aside();
        self.open(&Met { kind: FunctionKind::Arrow, span: it.span, name, target, block, head: Head::None });
        self.flags(&[(it.r#async, "async"), (!block, "=>")]);
        if let Some(parameters) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(parameters);
        }
        self.visit_formal_parameters(&it.params);
        if let Some(annotation) = &it.return_type {
            self.visit_ts_type_annotation(annotation);
        }
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => self.body(body),
            other => {
                if let Some(expression) = other.as_expression() {
                    if is_handing_call(expression) {
                        self.builder.delegates();
                    }
                    self.visit_expression(expression);
                }
            }
        }
        self.close();
        self.restore(saved);
    }

    pub(super) fn method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        let span = self.undecorated(it.span, &it.decorators);
        if it.value.body.is_none() {
            self.format_text(span);
            return;
        }
        let kind = match it.kind {
            MethodDefinitionKind::Constructor => FunctionKind::Constructor,
            MethodDefinitionKind::Method => FunctionKind::Method,
            MethodDefinitionKind::Get | MethodDefinitionKind::Set => FunctionKind::Accessor,
        };
        let key = self.key(&it.key, it.computed);
        let target =
            self.frames.holder().map(|holder| Target::Member(holder, hash(Tag::Member, key.as_bytes())));
        let name = self.frames.member(&key, false);
        let head = Head::Tokens(Span::new(span.start, it.key.span().end));
        let met = Met { kind, span, name, target, block: true, head };
        self.function(&met, &it.value, Some(&it.key).filter(|_| it.computed));
    }

    pub(super) fn class(&mut self, it: &Class<'a>) {
        self.visit_decorators(&it.decorators);
        let own = it.id.as_ref().map(|id| id.name.as_str());
        let name = match (self.taken(it.span), own) {
            (_, Some(own)) if it.is_declaration() => self.frames.named(own),
            (Some(pending), _) => pending.name,
            (None, Some(own)) => self.frames.named(own),
            (None, None) => self.frames.named("<class>"),
        };
        if it.is_declaration()
            && let Some(id) = &it.id
        {
            self.visit_binding_identifier(id);
        }
        self.builder.holds_class();
        let mark = self.builder.open_class();
        let head = Span::new(self.undecorated(it.span, &it.decorators).start, it.body.span.start);
        self.format_text(head);
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
        }
        self.frames.class(name);
        self.visit_class_body(&it.body);
        self.frames.pop();
        self.builder.close_class(mark);
    }

    pub(super) fn property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.property(it.span, &it.decorators, (&it.key, it.computed), it.value.as_ref());
    }

    pub(super) fn accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.property(it.span, &it.decorators, (&it.key, it.computed), it.value.as_ref());
    }

    fn property(
        &mut self,
        span: Span,
        decorators: &oxc_allocator::Vec<'a, Decorator<'a>>,
        (key, computed): (&PropertyKey<'a>, bool),
        value: Option<&Expression<'a>>,
    ) {
        self.visit_decorators(decorators);
        let head = self.undecorated(span, decorators);
        let end = value.map_or(span.end, |value| value.span().start);
        self.format_text(Span::new(head.start, end.max(head.start)));
        self.field(key, computed, value);
    }

    pub(super) fn static_block(&mut self, it: &StaticBlock<'a>) {
        let name = self.frames.member("static", true);
        self.frames.variable(&name);
        self.builder.format_only(b"static");
        walk::walk_static_block(self, it);
        self.frames.pop();
    }
}
