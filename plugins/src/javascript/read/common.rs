//! CommonJS exports: `exports.a = …`, `module.exports = { a, b() {} }`.
//!
//! They are split into declarations only when every use of `module` and `exports` in
//! the file is such a statement at the top level. Any other shape stays in `<module>`,
//! which every importer reaches together with all it refers to.

use owed_engine::facts::Export;
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, Expression, ObjectExpression, ObjectPropertyKind, Statement,
};
use oxc_ast_visit::Visit;
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;
use oxc_syntax::operator::AssignmentOperator;

use super::statements::value_kind;
use super::walk::{Walk, static_key};

/// What one statement exports.
enum Shape<'a> {
    /// `exports.name = value`
    Member(&'a str, &'a Expression<'a>),
    /// `module.exports = { … }`
    Object(&'a ObjectExpression<'a>),
    /// `module.exports = value`
    Whole(&'a Expression<'a>),
    /// `Object.defineProperty(exports, "__esModule", …)`
    Marker,
}

impl<'a> Walk<'_, 'a> {
    /// Whether the file's CommonJS exports can be split.
    pub(super) fn common_exports(&mut self, body: &'a [Statement<'a>]) -> bool {
        let unresolved = self.scoping.root_unresolved_references();
        let uses = |name: &'static str| unresolved.get(name).map_or(0, |list| list.len());
        let all = uses("module") + uses("exports");
        if all == 0 || self.whole || self.declarations {
            return false;
        }
        let mut wholes = 0;
        let mut understood = 0;
        let mut bindings = Vec::new();
        for statement in body {
            let shape = self.shape(statement);
            match &shape {
                Some(Shape::Member(_, value) | Shape::Whole(value)) => bindings.extend(self.own(value)),
                Some(Shape::Object(object)) => {
                    let values = object.properties.iter().filter_map(|p| p.as_property());
                    bindings.extend(values.filter_map(|property| self.own(&property.value)));
                }
                Some(Shape::Marker) | None => {}
            }
            match shape {
                Some(Shape::Object(_) | Shape::Whole(_)) => {
                    wholes += 1;
                    understood += 1;
                }
                Some(_) => understood += 1,
                None => {}
            }
        }
        let split = understood == all && wholes <= 1;
        if split {
            self.exported.extend(bindings);
        }
        split
    }

    /// The binding of the file that a value names.
    fn own(&self, value: &Expression<'a>) -> Option<SymbolId> {
        match value.get_inner_expression() {
            Expression::Identifier(it) => self
                .symbol(it)
                .filter(|&symbol| self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id()),
            _ => None,
        }
    }

    fn shape(&self, statement: &'a Statement<'a>) -> Option<Shape<'a>> {
        let Statement::ExpressionStatement(statement) = statement else { return None };
        match &statement.expression {
            Expression::AssignmentExpression(it) => self.assignment_shape(it),
            Expression::CallExpression(it) => {
                let marker = it.callee.is_specific_member_access("Object", "defineProperty")
                    && it.arguments.len() == 3
                    && it.arguments[0].as_expression().is_some_and(|e| e.is_specific_id("exports"))
                    && it.arguments[1]
                        .as_expression()
                        .is_some_and(|e| e.is_specific_string_literal("__esModule"));
                marker.then_some(Shape::Marker)
            }
            _ => None,
        }
    }

    fn assignment_shape(&self, it: &'a AssignmentExpression<'a>) -> Option<Shape<'a>> {
        if it.operator != AssignmentOperator::Assign {
            return None;
        }
        let AssignmentTarget::StaticMemberExpression(target) = &it.left else { return None };
        let name = target.property.name.as_str();
        match &target.object {
            Expression::Identifier(object) if self.is_global(object, "exports") => {
                Some(Shape::Member(name, &it.right))
            }
            Expression::Identifier(object) if self.is_global(object, "module") && name == "exports" => {
                Some(match &it.right {
                    Expression::ObjectExpression(value) if self.splits(value) => Shape::Object(value),
                    value => Shape::Whole(value),
                })
            }
            Expression::StaticMemberExpression(inner) => match &inner.object {
                Expression::Identifier(object)
                    if self.is_global(object, "module") && inner.property.name == "exports" =>
                {
                    Some(Shape::Member(name, &it.right))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the properties of an exported object stand for themselves: no spread, no
    /// computed key, no accessor, no `this` that could reach a sibling.
    fn splits(&self, it: &ObjectExpression<'a>) -> bool {
        let span = it.span;
        !self.source[span.start as usize..span.end as usize].contains("this")
            && it.properties.iter().all(|property| match property {
                ObjectPropertyKind::ObjectProperty(it) => {
                    !it.computed
                        && it.kind == oxc_ast::ast::PropertyKind::Init
                        && static_key(&it.key).is_some_and(|key| key != "__proto__")
                }
                ObjectPropertyKind::SpreadProperty(_) => false,
            })
    }

    /// Reads one export statement; false when it is none.
    pub(super) fn common_export(&mut self, statement: &'a Statement<'a>) -> bool {
        match self.shape(statement) {
            Some(Shape::Marker) => {}
            Some(Shape::Member(name, value)) => self.common_member(name, value, statement.span()),
            Some(Shape::Whole(value)) => self.common_member("default", value, statement.span()),
            Some(Shape::Object(object)) => {
                for property in &object.properties {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                    let Some(name) = static_key(&property.key) else { continue };
                    self.common_member(name, &property.value, property.span);
                }
            }
            None => return false,
        }
        true
    }

    fn common_member(&mut self, name: &'a str, value: &'a Expression<'a>, span: oxc_span::Span) {
        let local = match self.own(value) {
            Some(symbol) => self.scoping.symbol_name(symbol).to_owned(),
            None => {
                let local = format!("exports.{name}");
                let unit = self.units.of_text(&local, value_kind(value));
                self.units.extend(unit, span);
                self.units.at(unit).effects |= !self.is_pure(value);
                self.units.current = unit;
                self.visit_expression(value);
                local
            }
        };
        self.exports.push(Export { name: name.to_owned(), local });
    }
}
