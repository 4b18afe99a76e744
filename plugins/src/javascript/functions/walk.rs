//! One walk over a program: opens and closes functions, gives them names, and hands every
//! node to the shape and to complexity.

use oxc_ast::AstKind;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Token;
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use owed_engine::facts::Span as Place;
use owed_engine::function::{Function as Measured, FunctionKind};

use super::super::read::lines::Lines;
use super::super::read::parse::Fault;
use super::shape::symbol_number;
use crate::measure::{Builder, Frames, Named, Opening, Tag, Target, hash};

/// The name that the expression at a place gets from where it stands.
struct Pending {
    span: Span,
    name: Named,
    /// What it can be called by.
    target: Option<Target>,
}

/// How a function is met.
struct Met<'n> {
    kind: FunctionKind,
    /// From its first token to its last.
    span: Span,
    name: Named,
    target: Option<Target>,
    block: bool,
    /// Its own name and what else is written before the parameters.
    head: Option<&'n str>,
}

/// Where `break` and `continue` can go.
#[derive(Clone, Debug, Default)]
struct Jumps {
    loops: u32,
    switches: u32,
    labels: Vec<String>,
}

/// State of the expression that is read, which a function in it does not share.
struct Around<'t> {
    branch: Branch,
    logic: Option<LogicalOperator>,
    in_logic: bool,
    element: Option<&'t str>,
    jumps: Jumps,
}

/// What a branch of a statement is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// A statement of a list.
    Listed(u32),
    /// The only statement of a branch.
    Alone,
    /// What a label stands at.
    Labelled(u32),
}

pub(super) struct Walk<'t, 'a> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    pub(super) scoping: &'t Scoping,
    lines: &'t Lines,
    pub(super) builder: Builder,
    frames: Frames,
    pending: Option<Pending>,
    /// Starts of the names that are called, innermost last.
    callees: Vec<u32>,
    branch: Branch,
    else_if: bool,
    /// The last operator of the logical expression that is read.
    logic: Option<LogicalOperator>,
    in_logic: bool,
    /// The class or object that `this` is, if it is one of this file.
    this: Option<u32>,
    /// The element whose attributes are read.
    element: Option<&'t str>,
    /// A `return` outside any function.
    pub(super) lone_return: Option<Span>,
    /// Jumps out of nothing; the scope analysis does not see that an arrow is a border.
    pub(super) faults: Vec<Fault>,
    jumps: Jumps,
    marker: std::marker::PhantomData<&'a ()>,
}

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn new(text: &'t str, tokens: &'t [Token], scoping: &'t Scoping, lines: &'t Lines) -> Self {
        Self {
            text,
            tokens,
            scoping,
            lines,
            builder: Builder::default(),
            frames: Frames::new("<anonymous>"),
            pending: None,
            callees: Vec::new(),
            branch: Branch::Alone,
            else_if: false,
            logic: None,
            in_logic: false,
            this: None,
            element: None,
            lone_return: None,
            faults: Vec::new(),
            jumps: Jumps::default(),
            marker: std::marker::PhantomData,
        }
    }

    pub(super) fn program(&mut self, program: &Program<'a>) {
        self.visit_program(program);
    }

    pub(super) fn finish(self) -> Vec<Measured> {
        let lines = self.lines;
        self.builder.finish(|offset| lines.line(offset))
    }

    /// Whether the name at `span` is the one that is called; asked once for each.
    pub(super) fn is_callee(&mut self, span: Span) -> bool {
        self.callees.pop_if(|start| *start == span.start).is_some()
    }

    // Names.

    /// Gives `expression` a name, if it is a function, a class or an object.
    fn name(&mut self, expression: &Expression<'a>, name: Named, target: Option<Target>) {
        let inner = expression.get_inner_expression();
        if holds_name(inner) {
            self.pending = Some(Pending { span: inner.span(), name, target });
        }
    }

    fn taken(&mut self, span: Span) -> Option<Pending> {
        self.pending.take_if(|pending| pending.span == span)
    }

    /// The name of a function or class expression, or of an anonymous declaration.
    fn named(&mut self, span: Span, own: Option<&str>) -> (Named, Option<Target>) {
        if let Some(pending) = self.taken(span) {
            return (pending.name, pending.target);
        }
        match own {
            Some(own) => (self.frames.named(own), None),
            None => (self.frames.anonymous(), None),
        }
    }

    /// A key as it is said in a name.
    fn key(&self, key: &PropertyKey<'a>, computed: bool) -> String {
        match key {
            PropertyKey::StaticIdentifier(it) => it.name.to_string(),
            PropertyKey::PrivateIdentifier(it) => format!("#{}", it.name),
            PropertyKey::StringLiteral(it) => it.value.to_string(),
            _ => {
                let text = key.span().source_text(self.text);
                let short: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let short: String = short.chars().take(40).collect();
                if computed { format!("[{short}]") } else { short }
            }
        }
    }

    /// What an assignment assigns to, as it is said in a name.
    fn assigned(&self, target: &AssignmentTarget<'a>) -> Option<(String, Option<Target>)> {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(it) => {
                let symbol = it.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
                Some((it.name.to_string(), symbol.map(|symbol| Target::Binding(symbol_number(symbol)))))
            }
            AssignmentTarget::StaticMemberExpression(it) => {
                Some((format!("{}.{}", chain(&it.object)?, it.property.name), None))
            }
            AssignmentTarget::PrivateFieldExpression(it) => {
                Some((format!("{}.#{}", chain(&it.object)?, it.field.name), None))
            }
            AssignmentTarget::ComputedMemberExpression(it) => match &it.expression {
                Expression::StringLiteral(key) => {
                    Some((format!("{}.{}", chain(&it.object)?, key.value), None))
                }
                _ => None,
            },
            _ => None,
        }
    }

    // Functions.

    fn open(&mut self, met: &Met<'_>) {
        let span = Place { start: met.span.start, end: met.span.end };
        self.frames.function(&met.name);
        let opening = Opening { name: met.name.full(), kind: met.kind, span, block: met.block };
        let number = self.builder.open(opening);
        if let Some(target) = met.target {
            self.builder.callable(target, number);
        }
        self.builder.format_only(met.kind.word().as_bytes());
        if let Some(head) = met.head {
            self.builder.format_only(head.as_bytes());
        }
    }

    fn close(&mut self) {
        self.frames.pop();
        let scoping = self.scoping;
        self.builder.close(|binding| {
            let symbol = oxc_syntax::symbol::SymbolId::from_usize(binding as usize);
            (scoping.symbol_span(symbol).start, hash(Tag::Name, scoping.symbol_name(symbol).as_bytes()))
        });
    }

    /// A function with a body. `key` is read as part of it (a computed one).
    fn function(&mut self, met: &Met<'_>, it: &Function<'a>, key: Option<&PropertyKey<'a>>) {
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

    fn body(&mut self, body: &FunctionBody<'a>) {
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

    fn set_aside(&mut self) -> Around<'t> {
        self.else_if = false;
        Around {
            branch: std::mem::replace(&mut self.branch, Branch::Alone),
            logic: self.logic.take(),
            in_logic: std::mem::take(&mut self.in_logic),
            element: self.element.take(),
            jumps: std::mem::take(&mut self.jumps),
        }
    }

    fn restore(&mut self, around: Around<'t>) {
        self.branch = around.branch;
        self.logic = around.logic;
        self.in_logic = around.in_logic;
        self.element = around.element;
        self.jumps = around.jumps;
    }

    /// A jump must have somewhere to go in its own function.
    fn jump(&mut self, word: &str, label: Option<&LabelIdentifier<'a>>, possible: bool, span: Span) {
        let known = match label {
            Some(label) => self.jumps.labels.iter().any(|known| *known == label.name.as_str()),
            None => possible,
        };
        if !known {
            let cause = format!("`{word}` has nothing to leave in its function");
            self.faults.push(Fault { cause, start: span.start, end: span.end });
        }
    }

    /// From the first token after the decorators.
    fn undecorated(&self, span: Span, decorators: &[Decorator<'a>]) -> Span {
        let Some(last) = decorators.last() else { return span };
        let from = last.span.end.max(span.start);
        let first = self.tokens.partition_point(|token| token.start() < from);
        self.tokens.get(first).map_or(span, |token| Span::new(token.start().min(span.end), span.end))
    }

    // Complexity.

    fn structure(&mut self) {
        self.builder.structure();
        self.builder.decision();
    }

    /// A loop: what stands in its body is nested.
    fn looped(&mut self, body: &Statement<'a>) {
        self.jumps.loops += 1;
        self.nested(body);
        self.jumps.loops -= 1;
    }

    /// A branch that stands one level deeper.
    fn nested(&mut self, body: &Statement<'a>) {
        self.builder.deeper();
        self.branch(body);
        self.builder.shallower();
    }

    /// The statement of a branch; one without braces is a block of one.
    fn branch(&mut self, body: &Statement<'a>) {
        self.branch = Branch::Alone;
        self.visit_statement(body);
    }
}

/// What can have a name from where it stands.
fn holds_name(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_)
            | Expression::ObjectExpression(_)
    )
}

/// `a.b.c` or `this.a`.
fn chain(expression: &Expression<'_>) -> Option<String> {
    let mut names = Vec::new();
    let mut at = expression.get_inner_expression();
    loop {
        match at {
            Expression::Identifier(it) => names.push(it.name.to_string()),
            Expression::ThisExpression(_) => names.push("this".to_owned()),
            Expression::StaticMemberExpression(it) => {
                names.push(it.property.name.to_string());
                at = it.object.get_inner_expression();
                if names.len() < 6 {
                    continue;
                }
                names.push("…".to_owned());
            }
            _ => return None,
        }
        names.reverse();
        return Some(names.join("."));
    }
}

/// Whether a body only declares, so that the function stands in for a class.
fn is_declarative(statements: &[Statement<'_>]) -> bool {
    let assigns = |expression: &Expression<'_>| {
        matches!(expression.get_inner_expression(), Expression::AssignmentExpression(it)
            if holds_name(it.right.get_inner_expression()))
    };
    let (last, rest) = match statements.split_last() {
        Some((Statement::ReturnStatement(_), rest)) => (true, rest),
        _ => (false, statements),
    };
    (last || !rest.is_empty())
        && rest.iter().all(|statement| match statement {
            Statement::VariableDeclaration(_)
            | Statement::FunctionDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_) => true,
            Statement::ExpressionStatement(it) => assigns(&it.expression),
            _ => false,
        })
}

/// A statement that is nothing but a call with what it was given.
fn hands_on(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(it) => it.argument.as_ref().is_some_and(is_handing_call),
        Statement::ExpressionStatement(it) => is_handing_call(&it.expression),
        _ => false,
    }
}

fn is_handing_call(expression: &Expression<'_>) -> bool {
    let inner = match expression.get_inner_expression() {
        Expression::AwaitExpression(it) => it.argument.get_inner_expression(),
        other => other,
    };
    let simple = |argument: &Argument<'_>| match argument {
        Argument::SpreadElement(it) => is_simple(&it.argument),
        other => other.as_expression().is_some_and(is_simple),
    };
    match inner {
        Expression::CallExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
        Expression::NewExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
        Expression::ChainExpression(it) => match &it.expression {
            ChainElement::CallExpression(it) => is_reference(&it.callee) && it.arguments.iter().all(simple),
            _ => false,
        },
        _ => false,
    }
}

/// A name, a member of one, or `this`.
fn is_reference(expression: &Expression<'_>) -> bool {
    let mut at = expression.get_inner_expression();
    loop {
        match at {
            Expression::Identifier(_) | Expression::ThisExpression(_) | Expression::Super(_) => return true,
            Expression::StaticMemberExpression(it) => at = it.object.get_inner_expression(),
            Expression::PrivateFieldExpression(it) => at = it.object.get_inner_expression(),
            _ => return false,
        }
    }
}

fn is_simple(expression: &Expression<'_>) -> bool {
    let inner = expression.get_inner_expression();
    inner.is_literal() || is_reference(inner)
}

/// Whether a `&&` only chooses whether an element is shown.
fn chooses_element(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::LogicalExpression(it)
        if it.operator == LogicalOperator::And
            && matches!(it.right.get_inner_expression(), Expression::JSXElement(_) | Expression::JSXFragment(_)))
}

impl<'a> Visit<'a> for Walk<'_, 'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if !self.builder.outside() {
            self.enter(kind);
        } else if let AstKind::IdentifierReference(it) = kind {
            self.is_callee(it.span);
        } else if let AstKind::IdentifierName(it) = kind {
            self.is_callee(it.span);
        } else if let AstKind::PrivateIdentifier(it) = kind {
            self.is_callee(it.span);
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if !self.builder.outside() {
            self.leave(kind);
        }
    }

    // Functions and what gives them names.

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
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
        let met = Met { kind: FunctionKind::Function, span: it.span, name, target, block: true, head: own };
        self.function(&met, it, None);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let (name, target) = self.named(it.span, None);
        let block = matches!(it.body, ArrowFunctionBody::FunctionBody(_));
        let saved = self.set_aside();
        self.open(&Met { kind: FunctionKind::Arrow, span: it.span, name, target, block, head: None });
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

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
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
        let head = Span::new(span.start, it.value.params.span.start).source_text(self.text);
        let met = Met { kind, span, name, target, block: true, head: Some(head) };
        self.function(&met, &it.value, Some(&it.key).filter(|_| it.computed));
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        let kind = match it.kind {
            PropertyKind::Get | PropertyKind::Set => Some(FunctionKind::Accessor),
            PropertyKind::Init if it.method => Some(FunctionKind::Method),
            PropertyKind::Init => None,
        };
        let key = self.key(&it.key, it.computed);
        let target =
            self.frames.holder().map(|holder| Target::Member(holder, hash(Tag::Member, key.as_bytes())));
        let node = AstKind::ObjectProperty(self.alloc(it));
        self.enter_node(node);
        if let (Some(kind), Expression::FunctionExpression(value)) = (kind, &it.value) {
            let name = self.frames.member(&key, false);
            if !it.computed {
                self.visit_property_key(&it.key);
            }
            let head = Span::new(it.span.start, value.params.span.start).source_text(self.text);
            let met = Met { kind, span: it.span, name, target, block: true, head: Some(head) };
            self.function(&met, value, Some(&it.key).filter(|_| it.computed));
        } else {
            self.visit_property_key(&it.key);
            let holder = matches!(
                it.value.get_inner_expression(),
                Expression::ObjectExpression(_) | Expression::ClassExpression(_)
            );
            let name = self.frames.member(&key, holder);
            self.name(&it.value, name, target);
            self.visit_expression(&it.value);
        }
        self.leave_node(node);
    }

    fn visit_object_expression(&mut self, it: &ObjectExpression<'a>) {
        let name = self.taken(it.span).map(|pending| pending.name);
        self.frames.object(name);
        walk::walk_object_expression(self, it);
        self.frames.pop();
    }

    fn visit_class(&mut self, it: &Class<'a>) {
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

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        let head = self.undecorated(it.span, &it.decorators);
        let end = it.value.as_ref().map_or(it.span.end, |value| value.span().start);
        self.format_text(Span::new(head.start, end.max(head.start)));
        self.field(&it.key, it.computed, it.value.as_ref());
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.visit_decorators(&it.decorators);
        let head = self.undecorated(it.span, &it.decorators);
        let end = it.value.as_ref().map_or(it.span.end, |value| value.span().start);
        self.format_text(Span::new(head.start, end.max(head.start)));
        self.field(&it.key, it.computed, it.value.as_ref());
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        let name = self.frames.member("static", true);
        self.frames.variable(&name);
        self.builder.format_only(b"static");
        walk::walk_static_block(self, it);
        self.frames.pop();
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let node = AstKind::VariableDeclarator(self.alloc(it));
        self.enter_node(node);
        self.visit_binding_pattern(&it.id);
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(init) = &it.init {
            match &it.id {
                BindingPattern::BindingIdentifier(id) => {
                    let name = self.frames.named(&id.name);
                    let target = id.symbol_id.get().map(|symbol| Target::Binding(symbol_number(symbol)));
                    self.initialised(init, name, target);
                }
                _ => self.visit_expression(init),
            }
        }
        self.leave_node(node);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let node = AstKind::FormalParameter(self.alloc(it));
        self.enter_node(node);
        self.visit_decorators(&it.decorators);
        self.visit_binding_pattern(&it.pattern);
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(init) = &it.initializer {
            if let BindingPattern::BindingIdentifier(id) = &it.pattern {
                let name = self.frames.named(&id.name);
                self.name(init, name, None);
            }
            self.visit_expression(init);
        }
        self.leave_node(node);
    }

    fn visit_assignment_pattern(&mut self, it: &AssignmentPattern<'a>) {
        let node = AstKind::AssignmentPattern(self.alloc(it));
        self.enter_node(node);
        self.visit_binding_pattern(&it.left);
        if let BindingPattern::BindingIdentifier(id) = &it.left {
            let name = self.frames.named(&id.name);
            self.name(&it.right, name, None);
        }
        self.visit_expression(&it.right);
        self.leave_node(node);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let node = AstKind::AssignmentExpression(self.alloc(it));
        self.enter_node(node);
        if it.operator.is_logical() {
            self.builder.decision();
        }
        self.visit_assignment_target(&it.left);
        match self.assigned(&it.left) {
            Some((name, target)) => {
                let name = self.frames.named(&name);
                self.initialised(&it.right, name, target);
            }
            None => self.visit_expression(&it.right),
        }
        self.leave_node(node);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        let name = self.frames.named("default");
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_none() => {
                self.pending = Some(Pending { span: function.span, name, target: None });
                self.visit_export_default_declaration_kind(&it.declaration);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_none() => {
                self.pending = Some(Pending { span: class.span, name, target: None });
                self.visit_export_default_declaration_kind(&it.declaration);
            }
            other => match other.as_expression() {
                Some(expression) => self.initialised(expression, name, None),
                None => self.visit_export_default_declaration_kind(other),
            },
        }
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        let name = self.frames.named("export=");
        self.initialised(&it.expression, name, None);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.frames.namespace(&it.id.name);
        self.visit_ts_namespace_declaration_body(&it.body);
        self.frames.pop();
    }

    fn visit_jsx_opening_element(&mut self, it: &JSXOpeningElement<'a>) {
        let element = self.element.replace(it.name.span().source_text(self.text));
        walk::walk_jsx_opening_element(self, it);
        self.element = element;
    }

    fn visit_jsx_closing_element(&mut self, _: &JSXClosingElement<'a>) {
        self.builder.format_only(b"</");
    }

    fn visit_jsx_attribute(&mut self, it: &JSXAttribute<'a>) {
        let node = AstKind::JSXAttribute(self.alloc(it));
        self.enter_node(node);
        self.visit_jsx_attribute_name(&it.name);
        if let Some(value) = &it.value {
            if let (JSXAttributeValue::ExpressionContainer(container), Some(element)) = (value, self.element)
                && let Some(expression) = container.expression.as_expression()
            {
                let label = format!("{}@{element}", it.name.span().source_text(self.text));
                let name = self.frames.named(&label);
                self.name(expression, name, None);
            }
            self.visit_jsx_attribute_value(value);
        }
        self.leave_node(node);
    }

    fn visit_jsx_expression_container(&mut self, it: &JSXExpressionContainer<'a>) {
        let saved = (self.logic, self.in_logic);
        if let Some(expression) = it.expression.as_expression()
            && chooses_element(expression.get_inner_expression())
        {
            (self.logic, self.in_logic) = (Some(LogicalOperator::And), true);
        }
        walk::walk_jsx_expression_container(self, it);
        (self.logic, self.in_logic) = saved;
    }

    // Calls.

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.called(&it.callee);
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.called(&it.callee);
        walk::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.called(&it.tag);
        walk::walk_tagged_template_expression(self, it);
    }

    // Statements.

    fn visit_statements(&mut self, it: &oxc_allocator::Vec<'a, Statement<'a>>) {
        let block = self.builder.block();
        for statement in it {
            self.branch = Branch::Listed(block);
            self.visit_statement(statement);
        }
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        let branch = std::mem::replace(&mut self.branch, Branch::Alone);
        if let Statement::LabeledStatement(labelled) = it {
            let block = match branch {
                Branch::Listed(block) | Branch::Labelled(block) => block,
                Branch::Alone => self.builder.block(),
            };
            let node = AstKind::LabeledStatement(self.alloc(labelled));
            self.enter_node(node);
            self.visit_label_identifier(&labelled.label);
            self.branch = Branch::Labelled(block);
            self.jumps.labels.push(labelled.label.name.to_string());
            self.visit_statement(&labelled.body);
            self.jumps.labels.pop();
            self.leave_node(node);
            return;
        }
        let plain = matches!(it, Statement::BlockStatement(_) | Statement::EmptyStatement(_));
        let wrapped = branch == Branch::Alone && !matches!(it, Statement::BlockStatement(_));
        let wrapped = wrapped && !self.else_if && !self.builder.outside();
        if wrapped {
            self.builder.node(const { hash(Tag::Node, b"block") });
        }
        let erased =
            matches!(it, Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_))
                || matches!(it, Statement::FunctionDeclaration(function) if function.body.is_none());
        let number = if plain || erased || self.builder.outside() {
            None
        } else {
            let block = match branch {
                Branch::Listed(block) | Branch::Labelled(block) => block,
                Branch::Alone => self.builder.block(),
            };
            let span = it.span();
            let lines = (self.lines.line(span.start), self.lines.line(span.end.saturating_sub(1)));
            self.builder.open_statement(block, lines)
        };
        walk::walk_statement(self, it);
        self.builder.close_statement(number);
        if wrapped {
            self.builder.end();
        }
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.builder.outside() && self.lone_return.is_none() {
            self.lone_return = Some(it.span);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        let chained = std::mem::take(&mut self.else_if);
        self.builder.decision();
        if chained {
            self.builder.flat()
        } else {
            self.builder.structure()
        }
        let node = AstKind::IfStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.test);
        self.nested(&it.consequent);
        match &it.alternate {
            Some(chain @ Statement::IfStatement(_)) => {
                self.else_if = true;
                self.branch(chain);
                self.else_if = false;
            }
            Some(other) => {
                self.builder.flat();
                self.nested(other);
            }
            None => {}
        }
        self.leave_node(node);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.structure();
        let node = AstKind::ForStatement(self.alloc(it));
        self.enter_node(node);
        if let Some(init) = &it.init {
            self.visit_for_statement_init(init);
        }
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        if let Some(update) = &it.update {
            self.visit_expression(update);
        }
        self.looped(&it.body);
        self.leave_node(node);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.structure();
        let node = AstKind::ForInStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.looped(&it.body);
        self.leave_node(node);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.structure();
        let node = AstKind::ForOfStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_for_statement_left(&it.left);
        self.visit_expression(&it.right);
        self.looped(&it.body);
        self.leave_node(node);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.structure();
        let node = AstKind::WhileStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.test);
        self.looped(&it.body);
        self.leave_node(node);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.structure();
        let node = AstKind::DoWhileStatement(self.alloc(it));
        self.enter_node(node);
        self.looped(&it.body);
        self.visit_expression(&it.test);
        self.leave_node(node);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.builder.structure();
        let node = AstKind::SwitchStatement(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.discriminant);
        self.builder.deeper();
        self.jumps.switches += 1;
        for case in &it.cases {
            if case.test.is_some() {
                self.builder.decision();
            }
            self.visit_switch_case(case);
        }
        self.jumps.switches -= 1;
        self.builder.shallower();
        self.leave_node(node);
    }

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        self.structure();
        self.builder.deeper();
        walk::walk_catch_clause(self, it);
        self.builder.shallower();
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.structure();
        let node = AstKind::ConditionalExpression(self.alloc(it));
        self.enter_node(node);
        self.visit_expression(&it.test);
        self.builder.deeper();
        self.visit_expression(&it.consequent);
        self.visit_expression(&it.alternate);
        self.builder.shallower();
        self.leave_node(node);
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        let possible = self.jumps.loops + self.jumps.switches > 0;
        self.jump("break", it.label.as_ref(), possible, it.span);
        if it.label.is_some() {
            self.builder.flat();
        }
        walk::walk_break_statement(self, it);
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        let possible = self.jumps.loops > 0;
        self.jump("continue", it.label.as_ref(), possible, it.span);
        if it.label.is_some() {
            self.builder.flat();
        }
        walk::walk_continue_statement(self, it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        // Only what is directly an operand continues a sequence of operators.
        if matches!(it.get_inner_expression(), Expression::LogicalExpression(_)) || !self.in_logic {
            walk::walk_expression(self, it);
            return;
        }
        let saved = (self.logic, self.in_logic);
        (self.logic, self.in_logic) = (None, false);
        walk::walk_expression(self, it);
        (self.logic, self.in_logic) = saved;
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.builder.decision();
        let node = AstKind::LogicalExpression(self.alloc(it));
        self.enter_node(node);
        let saved = (self.logic, self.in_logic);
        if it.operator == LogicalOperator::Coalesce {
            (self.logic, self.in_logic) = (None, false);
            self.visit_expression(&it.left);
            self.visit_expression(&it.right);
            (self.logic, self.in_logic) = saved;
        } else {
            if !self.in_logic {
                (self.logic, self.in_logic) = (None, true);
            }
            self.visit_expression(&it.left);
            if self.logic != Some(it.operator) {
                self.builder.flat();
                self.logic = Some(it.operator);
            }
            self.visit_expression(&it.right);
            if !saved.1 {
                (self.logic, self.in_logic) = saved;
            }
        }
        self.leave_node(node);
    }

    // Types.

    fn visit_ts_type(&mut self, it: &TSType<'a>) {
        self.format_text(it.span());
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.format_text(it.span);
    }

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.format_text(it.span);
    }
}

impl<'a> Walk<'_, 'a> {
    /// A value that has a name: a function in it that has none of its own is counted in it,
    /// outside functions.
    fn initialised(&mut self, value: &Expression<'a>, name: Named, target: Option<Target>) {
        let frame = self.frames.outside() && !self.frames.in_variable();
        if frame {
            self.frames.variable(&name);
        }
        self.name(value, name, target);
        self.visit_expression(value);
        if frame {
            self.frames.pop();
        }
    }

    fn field(&mut self, key: &PropertyKey<'a>, computed: bool, value: Option<&Expression<'a>>) {
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

    /// Notes the name that is called.
    fn called(&mut self, callee: &Expression<'a>) {
        match callee.get_inner_expression() {
            Expression::Identifier(it) => {
                self.callees.push(it.span.start);
                let symbol = it.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
                if let Some(symbol) = symbol {
                    self.builder.calls(Target::Binding(symbol_number(symbol)));
                }
            }
            Expression::StaticMemberExpression(it) => {
                self.callees.push(it.property.span.start);
                if let (Expression::ThisExpression(_), Some(this)) = (&it.object, self.this) {
                    self.builder.calls(Target::Member(this, hash(Tag::Member, it.property.name.as_bytes())));
                }
            }
            Expression::PrivateFieldExpression(it) => {
                self.callees.push(it.field.span.start);
                if let (Expression::ThisExpression(_), Some(this)) = (&it.object, self.this) {
                    let name = format!("#{}", it.field.name);
                    self.builder.calls(Target::Member(this, hash(Tag::Member, name.as_bytes())));
                }
            }
            _ => {}
        }
    }
}
