//! Whether evaluating an expression at import can have effects: change something
//! outside it, run code of another declaration, or throw because another declaration
//! has changed.
//!
//! The answer errs towards effects: a property of an unknown value may be a getter or
//! throw, a call may do anything.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, Class, ClassElement, Expression, ObjectPropertyKind, PropertyKey,
};
use oxc_semantic::{SymbolFlags, SymbolId};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::class::{Class as Row, Use};
use super::walk::{Binding, Walk};

/// Globals that build a value from pure arguments and do nothing else.
const BUILDERS: &[&str] = &[
    "Array",
    "BigInt",
    "Boolean",
    "Error",
    "Map",
    "Number",
    "RangeError",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "WeakMap",
    "WeakSet",
    "RegExp",
    "URL",
    "AsyncLocalStorage",
];

/// Static methods that do nothing but build a value from pure arguments.
const BUILDER_METHODS: &[(&str, &str)] = &[
    ("Object", "freeze"),
    ("Object", "seal"),
    ("Object", "create"),
    ("Object", "fromEntries"),
    ("Symbol", "for"),
    ("Array", "of"),
    ("Number", "parseFloat"),
    ("Number", "parseInt"),
    ("BigInt", "asIntN"),
];

impl<'a> Walk<'_, 'a> {
    /// Whether evaluating `it` has no effect.
    pub(super) fn is_pure(&self, it: &'a Expression<'a>) -> bool {
        self.pure(it, 0)
    }

    /// Whether evaluating a class definition has no effect.
    pub(super) fn is_pure_class(&self, it: &'a Class<'a>) -> bool {
        self.pure_class(it, 0)
    }

    fn pure(&self, it: &'a Expression<'a>, depth: u32) -> bool {
        if depth > 64 {
            return false;
        }
        let depth = depth + 1;
        match it.get_inner_expression() {
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::StringLiteral(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::ThisExpression(_)
            | Expression::ImportMeta(_)
            | Expression::Identifier(_) => true,
            Expression::ClassExpression(it) => self.pure_class(it, depth),
            Expression::TemplateLiteral(it) => it.expressions.iter().all(|e| self.pure(e, depth)),
            Expression::ArrayExpression(it) => it.elements.iter().all(|element| match element {
                ArrayExpressionElement::SpreadElement(spread) => {
                    matches!(spread.argument.get_inner_expression(), Expression::ArrayExpression(_))
                        && self.pure(&spread.argument, depth)
                }
                ArrayExpressionElement::Elision(_) => true,
                _ => element.as_expression().is_some_and(|e| self.pure(e, depth)),
            }),
            Expression::ObjectExpression(it) => it.properties.iter().all(|property| match property {
                ObjectPropertyKind::ObjectProperty(it) => {
                    self.pure_key(&it.key, it.computed, depth) && self.pure(&it.value, depth)
                }
                ObjectPropertyKind::SpreadProperty(it) => self.pure(&it.argument, depth),
            }),
            Expression::UnaryExpression(it) => {
                it.operator != UnaryOperator::Delete && self.pure(&it.argument, depth)
            }
            Expression::BinaryExpression(it) => {
                !matches!(it.operator, BinaryOperator::In | BinaryOperator::Instanceof)
                    && self.pure(&it.left, depth)
                    && self.pure(&it.right, depth)
            }
            Expression::LogicalExpression(it) => self.pure(&it.left, depth) && self.pure(&it.right, depth),
            Expression::ConditionalExpression(it) => {
                self.pure(&it.test, depth)
                    && self.pure(&it.consequent, depth)
                    && self.pure(&it.alternate, depth)
            }
            Expression::SequenceExpression(it) => it.expressions.iter().all(|e| self.pure(e, depth)),
            Expression::StaticMemberExpression(it) => self.safe_to_read(&it.object),
            Expression::NewExpression(it) => {
                self.is_builder(&it.callee) && self.pure_arguments(&it.arguments, depth)
            }
            Expression::CallExpression(it) => {
                (self.is_builder(&it.callee) || self.is_pure_operation(&it.callee))
                    && self.pure_arguments(&it.arguments, depth)
            }
            _ => false,
        }
    }

    fn pure_arguments(&self, arguments: &'a [Argument<'a>], depth: u32) -> bool {
        arguments.iter().all(|a| a.as_expression().is_some_and(|e| self.pure(e, depth) && !self.is_name(e)))
    }

    fn pure_key(&self, key: &'a PropertyKey<'a>, computed: bool, depth: u32) -> bool {
        !computed || key.as_expression().is_none_or(|e| self.pure(e, depth))
    }

    fn pure_class(&self, it: &'a Class<'a>, depth: u32) -> bool {
        let heritage = it.heritage_expression().is_none_or(|e| match e.get_inner_expression() {
            Expression::Identifier(_) | Expression::NullLiteral(_) => true,
            Expression::StaticMemberExpression(it) => self.safe_to_read(&it.object),
            _ => false,
        });
        heritage
            && it.decorators.is_empty()
            && it.body.body.iter().all(|element| match element {
                ClassElement::StaticBlock(_) => false,
                ClassElement::MethodDefinition(it) => {
                    it.decorators.is_empty()
                        && it.value.params.items.iter().all(|p| p.decorators.is_empty())
                        && self.pure_key(&it.key, it.computed, depth)
                }
                ClassElement::PropertyDefinition(it) => {
                    it.decorators.is_empty()
                        && self.pure_key(&it.key, it.computed, depth)
                        && (!it.r#static || it.value.as_ref().is_none_or(|e| self.pure(e, depth)))
                }
                ClassElement::AccessorProperty(it) => {
                    it.decorators.is_empty()
                        && self.pure_key(&it.key, it.computed, depth)
                        && (!it.r#static || it.value.as_ref().is_none_or(|e| self.pure(e, depth)))
                }
                ClassElement::TSIndexSignature(_) => true,
            })
    }

    /// Whether a property of it can be read without running a getter or throwing.
    fn safe_to_read(&self, object: &Expression<'a>) -> bool {
        match object.get_inner_expression() {
            Expression::Identifier(it) => match self.symbol(it) {
                None => {
                    matches!(it.name.as_str(), "Math" | "Number" | "Symbol" | "process" | "Object" | "Array")
                }
                Some(symbol) => self.is_plain_object(symbol),
            },
            Expression::StaticMemberExpression(it) => {
                // `process.env.X`, `import.meta.env.X`
                it.property.name == "env"
                    && match &it.object {
                        Expression::Identifier(it) => self.is_global(it, "process"),
                        Expression::ImportMeta(_) => true,
                        _ => false,
                    }
            }
            Expression::ImportMeta(_) => true,
            _ => false,
        }
    }

    fn is_plain_object(&self, symbol: SymbolId) -> bool {
        let flags = self.scoping.symbol_flags(symbol);
        if flags.intersects(SymbolFlags::Enum | SymbolFlags::Class | SymbolFlags::Function) {
            return true;
        }
        match &self.known[symbol.index()].binding {
            Binding::Import { name: None, .. } => true,
            // What a package gives changes only with the package.
            Binding::Import { import, .. } => is_package(&self.imports[*import].specifier),
            _ => false,
        }
    }

    /// Functions of node's modules that only compute, such as `path.join`.
    fn is_pure_operation(&self, callee: &'a Expression<'a>) -> bool {
        self.operation(callee).is_some_and(|op| {
            matches!(op.root.name.as_str(), "node:path" | "node:url")
                && matches!(op.root.find(&op.path, Use::Call), Some((Row::Pure | Row::Pinned(_), _)))
        })
    }

    /// A binding of the program as an argument: a builder may iterate it, and it may be
    /// of any kind.
    fn is_name(&self, it: &Expression<'a>) -> bool {
        matches!(it.get_inner_expression(), Expression::Identifier(it)
            if self.symbol(it).is_some() || !matches!(it.name.as_str(), "__dirname" | "__filename" | "undefined"))
    }

    fn is_builder(&self, callee: &Expression<'a>) -> bool {
        match callee {
            Expression::Identifier(it) => {
                it.reference_id.get().is_some()
                    && self.symbol(it).is_none()
                    && BUILDERS.contains(&it.name.as_str())
            }
            Expression::StaticMemberExpression(it) => match &it.object {
                Expression::Identifier(object) => {
                    self.symbol(object).is_none()
                        && BUILDER_METHODS.contains(&(object.name.as_str(), it.property.name.as_str()))
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether a specifier looks like a package, not like a path or an alias of one.
fn is_package(specifier: &str) -> bool {
    let name = specifier.strip_prefix('@').unwrap_or(specifier);
    name.starts_with(|c: char| c.is_ascii_lowercase())
}
