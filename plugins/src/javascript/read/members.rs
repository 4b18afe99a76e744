//! Nodes that are no use of a root: members of any value, `with`, `this`, constructions.

use owed_engine::facts::Opaque;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, CallExpression, ComputedMemberExpression, Expression, NewExpression, StaticMemberExpression,
    WithStatement,
};
use oxc_span::GetSpan;

use super::effects::is_empty;
use super::table::{Class, Use};
use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// Assigning to a pure global or its prototype changes it for everyone.
    pub(super) fn on_pure_global(&mut self, name: &str) {
        if self.declarations || matches!(name, "module" | "exports" | "undefined") {
            return;
        }
        let Some(AstKind::StaticMemberExpression(it)) = self.ancestor(1) else { return };
        let (up, span) = (1, it.span);
        let prototype = it.property.name == "prototype";
        let up = if prototype && matches!(self.ancestor(2), Some(AstKind::StaticMemberExpression(_))) {
            up + 1
        } else {
            up
        };
        let dom = matches!(name, "document" | "location" | "history" | "vi" | "jest" | "expect" | "Cypress");
        if self.is_target(up) && !dom {
            self.mutates(&format!("{name}.{}", it.property.name), span);
        }
    }

    /// A static member of any value is being visited.
    pub(super) fn on_member(&mut self, it: &'a StaticMemberExpression<'a>) {
        let name = it.property.name.as_str();
        if name == "constructor" {
            return self.on_constructor(it);
        }
        if name == "format" || name == "formatToParts" || name == "resolvedOptions" {
            return self.on_format(it);
        }
        if !self.table.has_member(name) || self.operation(&it.object).is_some() {
            return;
        }
        let empty =
            matches!(self.ancestor(1), Some(AstKind::CallExpression(call)) if is_empty(&call.arguments));
        let when = if empty { Use::CallEmpty } else { Use::Call };
        match self.table.member(name, when).cloned() {
            Some(Class::Pinned(pin)) => {
                self.named(name, &pin, it.span);
                if name.starts_with("toLocale") || name == "localeCompare" {
                    self.locale_arguments(name, it.span);
                }
            }
            Some(Class::Opaque(reason)) => self.opaque(name, reason, it.span),
            _ => {}
        }
    }

    /// A computed member of any value is being visited.
    pub(super) fn on_computed(&mut self, it: &'a ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(key) = &it.expression
            && key.value == "constructor"
            && matches!(self.ancestor(1), Some(AstKind::CallExpression(_) | AstKind::NewExpression(_)))
        {
            self.opaque("constructor", Opaque::Eval, it.span);
        }
    }

    /// `.constructor` of a function is `Function`: calling it makes code from text.
    fn on_constructor(&mut self, it: &'a StaticMemberExpression<'a>) {
        let of_function = match it.object.get_inner_expression() {
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => true,
            Expression::StaticMemberExpression(inner) => inner.property.name == "constructor",
            Expression::Identifier(name) => self.symbol(name).is_some_and(|symbol| {
                self.scoping.symbol_flags(symbol).contains(oxc_semantic::SymbolFlags::Function)
            }),
            Expression::CallExpression(call) => {
                call.callee.is_specific_member_access("Object", "getPrototypeOf")
                    && call
                        .arguments
                        .first()
                        .and_then(Argument::as_expression)
                        .is_some_and(Expression::is_function)
            }
            _ => false,
        };
        let (read, text) = match self.ancestor(1) {
            Some(AstKind::StaticMemberExpression(outer)) => (outer.property.name == "name", false),
            Some(AstKind::BinaryExpression(_)) => (true, false),
            Some(AstKind::CallExpression(call)) if call.callee.span() == it.span => {
                (false, makes_code(&call.arguments))
            }
            Some(AstKind::NewExpression(new)) if new.callee.span() == it.span => {
                (false, makes_code(&new.arguments) && !matches!(it.object, Expression::ThisExpression(_)))
            }
            _ => (false, false),
        };
        if !read && (of_function || text && !matches!(it.object, Expression::ThisExpression(_))) {
            self.opaque("constructor", Opaque::Eval, it.span);
        }
    }

    /// `with` hides which names are global.
    pub(super) fn on_with(&mut self, it: &'a WithStatement<'a>) {
        self.opaque("with", Opaque::Eval, it.span);
    }

    /// A sloppy `this` at the top is the global object.
    pub(super) fn on_this(&mut self) {
        if self.receivers > 0 {
            return;
        }
        if let Some(AstKind::Program(program)) = self.stack.first()
            && !program.source_type.is_module()
            && let Some(span) = self.ancestor(0).map(|node| node.span())
        {
            self.on_global_object(span, true);
        }
    }

    /// A construction is being visited.
    pub(super) fn on_new(&mut self, it: &'a NewExpression<'a>) {
        if self.declarations {
            return;
        }
        self.on_path(it.span, Some(it));
    }

    /// The arguments of a construction that make it clear that nothing is hidden.
    pub(super) fn call_above(&self, up: usize) -> Option<(&'a CallExpression<'a>, &'a str)> {
        let AstKind::StaticMemberExpression(member) = self.ancestor(up)? else { return None };
        match self.ancestor(up + 1)? {
            AstKind::CallExpression(call) if call.callee.span() == member.span => {
                Some((call, member.property.name.as_str()))
            }
            _ => None,
        }
    }
}

fn makes_code(arguments: &[Argument<'_>]) -> bool {
    matches!(
        arguments.last(),
        Some(Argument::StringLiteral(_) | Argument::TemplateLiteral(_) | Argument::BinaryExpression(_))
    )
}
