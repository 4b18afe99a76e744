//! Expressions: what gives names, sequences of operators, and calls.

use oxc_ast::AstKind;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::super::shape::{cleaned, symbol_number};
use super::judge::chooses_element;
use super::{Head, Met, Pending, Walk};
use crate::measure::{Tag, Target, hash};
use owed_engine::function::FunctionKind;

impl<'t, 'a> Walk<'t, 'a> {
    /// Notes the name that is called.
    pub(super) fn called(&mut self, callee: &Expression<'a>) {
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

    pub(super) fn object_property(&mut self, it: &ObjectProperty<'a>) {
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
            let head = Head::Tokens(Span::new(it.span.start, it.key.span().end));
            let met = Met { kind, span: it.span, name, target, block: true, head };
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

    pub(super) fn variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
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

    pub(super) fn formal_parameter(&mut self, it: &FormalParameter<'a>) {
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

    pub(super) fn assignment_pattern(&mut self, it: &AssignmentPattern<'a>) {
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

    pub(super) fn assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
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

    pub(super) fn export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
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

    /// Text and `{" "}` between other children are one text.
    pub(super) fn children(&mut self, it: &oxc_allocator::Vec<'a, JSXChild<'a>>) {
        let mut text = String::new();
        for child in it {
            match child {
                JSXChild::Text(it) => text.push_str(&cleaned(it.span.source_text(self.text))),
                JSXChild::ExpressionContainer(container) => match &container.expression {
                    JSXExpression::StringLiteral(it) if it.value.trim().is_empty() => {
                        text.push_str(&it.value)
                    }
                    _ => {
                        self.shown_text(std::mem::take(&mut text));
                        self.visit_jsx_child(child);
                    }
                },
                _ => {
                    self.shown_text(std::mem::take(&mut text));
                    self.visit_jsx_child(child);
                }
            }
        }
        self.shown_text(text);
    }

    pub(super) fn jsx_attribute(&mut self, it: &JSXAttribute<'a>) {
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

    pub(super) fn jsx_expression_container(&mut self, it: &JSXExpressionContainer<'a>) {
        let saved = (self.logic, self.in_logic);
        if let Some(expression) = it.expression.as_expression()
            && chooses_element(expression.get_inner_expression())
        {
            (self.logic, self.in_logic) = (Some(LogicalOperator::And), true);
        }
        walk::walk_jsx_expression_container(self, it);
        (self.logic, self.in_logic) = saved;
    }

    pub(super) fn conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
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

    pub(super) fn expression(&mut self, it: &Expression<'a>) {
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

    pub(super) fn logical_expression(&mut self, it: &LogicalExpression<'a>) {
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
}
