//! What functions, classes and objects are called from where they stand.

use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};

use super::super::shape::symbol_number;
use super::{Pending, Walk};
use crate::measure::{Named, Target};

impl<'t, 'a> Walk<'t, 'a> {
    /// Gives `expression` a name, if it is a function, a class or an object.
    pub(super) fn name(&mut self, expression: &Expression<'a>, name: Named, target: Option<Target>) {
        let inner = expression.get_inner_expression();
        if holds_name(inner) {
            self.pending = Some(Pending { span: inner.span(), name, target });
        }
    }

    pub(super) fn taken(&mut self, span: Span) -> Option<Pending> {
        self.pending.take_if(|pending| pending.span == span)
    }

    /// The name of a function or class expression, or of an anonymous declaration.
    pub(super) fn named(&mut self, span: Span, own: Option<&str>) -> (Named, Option<Target>) {
        if let Some(pending) = self.taken(span) {
            return (pending.name, pending.target);
        }
        match own {
            Some(own) => (self.frames.named(own), None),
            None => (self.frames.anonymous(), None),
        }
    }

    /// A key as it is said in a name.
    pub(super) fn key(&self, key: &PropertyKey<'a>, computed: bool) -> String {
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
    pub(super) fn assigned(&self, target: &AssignmentTarget<'a>) -> Option<(String, Option<Target>)> {
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

    /// A value that has a name: a function in it that has none of its own is counted in it,
    /// outside functions.
    pub(super) fn initialised(&mut self, value: &Expression<'a>, name: Named, target: Option<Target>) {
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
}

/// What can have a name from where it stands.
pub(super) fn holds_name(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::FunctionExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ClassExpression(_)
            | Expression::ObjectExpression(_)
    )
}

/// `a.b.c` or `this.a`.
pub(super) fn chain(expression: &Expression<'_>) -> Option<String> {
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
