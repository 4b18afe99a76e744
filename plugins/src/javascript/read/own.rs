//! Whether a member certainly belongs to something the file itself defines: `this.stack`
//! of a class with a `stack`, `.format` of an object literal.
//!
//! The answer errs towards no: a parameter, a call's result, an import may be anything.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Class, ClassElement, Expression, ObjectExpression, ObjectPropertyKind, TSSignature, TSType, TSTypeName,
};
use oxc_semantic::SymbolFlags;

use super::members::is_pool_member;
use super::walk::{Binding, Walk, static_key};

/// Typed arrays and what they are views of.
const VIEWS: &[&str] = &[
    "ArrayBuffer",
    "DataView",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
];

impl<'a> Walk<'_, 'a> {
    /// Whether `object.name` is certainly the file's own.
    pub(super) fn is_own_member(&self, object: &'a Expression<'a>, name: &str) -> bool {
        self.owns(object, name, 8)
    }

    /// Whether an object is a literal with a member `constructor` of its own, by a constant
    /// that nothing else is said of.
    pub(super) fn is_own_object(&self, object: &'a Expression<'a>) -> bool {
        match object.get_inner_expression() {
            Expression::ObjectExpression(it) => object_has(it, "constructor"),
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } if keys.is_empty() => {
                    matches!(init.get_inner_expression(), Expression::ObjectExpression(it)
                        if object_has(it, "constructor"))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn owns(&self, object: &'a Expression<'a>, name: &str, steps: u32) -> bool {
        if steps == 0 {
            return false;
        }
        let steps = steps - 1;
        match object.get_inner_expression() {
            Expression::ThisExpression(_) => self.this_has(name),
            Expression::ObjectExpression(it) => object_has(it, name),
            Expression::NewExpression(it) => match it.callee.get_inner_expression() {
                Expression::Identifier(callee) => match self.class_of(callee) {
                    Some(class) => self.class_has(class, name, false, steps),
                    None => VIEWS.iter().any(|view| self.is_global(callee, view)),
                },
                Expression::ClassExpression(class) => self.class_has(class, name, false, steps),
                _ => false,
            },
            Expression::Identifier(it) => {
                if let Some(class) = self.class_of(it) {
                    return self.class_has(class, name, true, steps);
                }
                let Some(symbol) = self.symbol(it) else { return false };
                match &self.known[symbol.index()].binding {
                    Binding::Init { init, keys } if keys.is_empty() => self.owns(init, name, steps),
                    Binding::Import { import, name: None } => {
                        self.imports[*import].specifier.starts_with('.')
                    }
                    _ => {
                        let known = &self.known[symbol.index()];
                        known.typed.is_some_and(|typed| self.type_has(typed, name))
                            || self
                                .scoping
                                .symbol_flags(symbol)
                                .intersects(SymbolFlags::Enum | SymbolFlags::ValueModule)
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether a type written in the file has the member, with a type that the built-in one
    /// does not have: an `Error` may pass for `{ stack: string }`, not for
    /// `{ stack: Frame[] }`.
    fn type_has(&self, typed: &'a TSType<'a>, name: &str) -> bool {
        let members: &'a [TSSignature<'a>] = match typed {
            TSType::TSTypeLiteral(literal) => &literal.members,
            TSType::TSTypeReference(reference) => match &reference.type_name {
                TSTypeName::IdentifierReference(it) => match self.shapes.get(it.name.as_str()) {
                    Some(members) => members,
                    None => return false,
                },
                _ => return false,
            },
            _ => return false,
        };
        members.iter().any(|member| match member {
            TSSignature::TSPropertySignature(it) if static_key(&it.key) == Some(name) => {
                let structured = it.type_annotation.as_ref().is_some_and(|annotation| {
                    matches!(
                        annotation.type_annotation,
                        TSType::TSArrayType(_) | TSType::TSTypeLiteral(_) | TSType::TSTupleType(_)
                    )
                });
                is_pool_member(name) || (name == "stack" && structured)
            }
            _ => false,
        })
    }

    /// The class or object literal that `this` belongs to has a member of that name.
    fn this_has(&self, name: &str) -> bool {
        let mut nodes = self.stack.iter().rev().peekable();
        while let Some(node) = nodes.next() {
            match node {
                AstKind::Function(_) => match nodes.peek() {
                    Some(AstKind::MethodDefinition(_)) => {}
                    Some(AstKind::ObjectProperty(_)) => {
                        nodes.next();
                        return matches!(nodes.next(), Some(AstKind::ObjectExpression(object))
                            if object_has(object, name));
                    }
                    _ => return false,
                },
                AstKind::Class(class) => {
                    if self.class_has(class, name, false, 4) || self.class_has(class, name, true, 4) {
                        return true;
                    }
                    let text = &self.source[class.span.start as usize..class.span.end as usize];
                    return assigns(text, name);
                }
                _ => {}
            }
        }
        false
    }

    fn class_has(&self, class: &'a Class<'a>, name: &str, of_class: bool, steps: u32) -> bool {
        let declared = class.body.body.iter().any(|element| {
            let element_is_own = element.r#static() == of_class;
            let named = element.property_key().and_then(static_key).is_some_and(|key| key == name);
            let parameter = matches!(element, ClassElement::MethodDefinition(it)
                if it.kind.is_constructor()
                    && it.value.params.items.iter().any(|parameter| parameter.has_modifier()
                        && parameter.pattern.get_binding_identifier().is_some_and(|id| id.name == name)));
            (element_is_own && named) || (!of_class && parameter)
        });
        if declared {
            return true;
        }
        match class.heritage_expression() {
            None => !of_class,
            Some(Expression::Identifier(base)) if steps > 0 => {
                self.class_of(base).is_some_and(|base| self.class_has(base, name, of_class, steps - 1))
            }
            Some(_) => false,
        }
    }
}

fn object_has(object: &ObjectExpression<'_>, name: &str) -> bool {
    object.properties.iter().any(|property| match property {
        ObjectPropertyKind::ObjectProperty(it) => static_key(&it.key) == Some(name),
        ObjectPropertyKind::SpreadProperty(_) => false,
    })
}

/// Whether a class gives `this` the member: `this.name = …`.
fn assigns(text: &str, name: &str) -> bool {
    let member = format!("this.{name}");
    text.match_indices(&member).any(|(at, _)| {
        let rest = text[at + member.len()..].trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    })
}
