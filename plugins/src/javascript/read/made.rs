//! What is made of literal arguments: code of a text, a module of bytes, a request of a
//! body. Each is harmless when its argument is written in the file and says so.

use owed_engine::facts::{EffectClass, Opaque};
use oxc_ast::ast::{Argument, Expression};
use oxc_span::Span;

use super::acts::{has_spread, option};
use super::walk::{Binding, Walk, key};

impl<'a> Walk<'_, 'a> {
    /// `new Function("")` only asks whether code may be made at all.
    pub(super) fn makes_no_code(&self, shown: &str, arguments: &'a [Argument<'a>]) -> bool {
        let literal = |argument: &'a Argument<'a>| {
            argument.as_expression().and_then(key).is_some_and(|text| text.trim().is_empty())
        };
        match arguments {
            [] => true,
            [code] => literal(code),
            _ => shown != "eval" && arguments.iter().all(literal),
        }
    }

    /// Bytes, or a module made of them, that are written in the file.
    pub(super) fn is_literal_bytes(&self, it: &'a Expression<'a>, steps: u32) -> bool {
        if steps == 0 {
            return false;
        }
        let steps = steps - 1;
        let numbers = |list: &'a Expression<'a>| {
            self.elements(list, 2).is_some_and(|list| {
                list.iter().all(|e| matches!(e.get_inner_expression(), Expression::NumericLiteral(_)))
            })
        };
        match it.get_inner_expression() {
            Expression::AwaitExpression(it) => self.is_literal_bytes(&it.argument, steps),
            Expression::StaticMemberExpression(it) if it.property.name == "buffer" => {
                self.is_literal_bytes(&it.object, steps)
            }
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } => keys.is_empty() && self.is_literal_bytes(init, steps),
                _ => false,
            },
            Expression::NewExpression(it) => {
                let [argument] = it.arguments.as_slice() else { return false };
                let Some(argument) = argument.as_expression() else { return false };
                match self.operation(&it.callee) {
                    Some(op) if op.root.name == "Uint8Array" => numbers(argument),
                    Some(op) if op.root.name == "WebAssembly" && op.path.as_slice() == ["Module"] => {
                        self.is_literal_bytes(argument, steps)
                    }
                    _ => false,
                }
            }
            Expression::CallExpression(it) => {
                let Some(op) = self.operation(&it.callee) else { return false };
                let first = it.arguments.first().and_then(Argument::as_expression);
                match (op.root.name.as_str(), op.path.as_slice()) {
                    ("Uint8Array" | "Buffer", ["from"]) => {
                        first.is_some_and(|first| numbers(first) || self.literal(first).is_some())
                    }
                    ("Uint8Array", ["of"]) => {
                        it.arguments.iter().all(|a| matches!(a, Argument::NumericLiteral(_)))
                    }
                    ("WebAssembly", ["compile"]) => {
                        first.is_some_and(|first| self.is_literal_bytes(first, steps))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The body of a request or response.
    pub(super) fn body(&mut self, shown: &str, arguments: &'a [Argument<'a>], at: usize, span: Span) {
        let body = match arguments.get(at).and_then(Argument::as_expression) {
            None if arguments.iter().any(Argument::is_spread) => None,
            None => return,
            Some(e) if at == 0 => Some(e),
            Some(e) => match e.get_inner_expression() {
                Expression::ObjectExpression(o) if has_spread(o) => None,
                Expression::ObjectExpression(o) => match option(o, "body") {
                    Some(body) => Some(body),
                    None => return,
                },
                _ => None,
            },
        };
        match body.map(|body| self.is_form_body(body, 4)) {
            Some(Some(true)) => self.opaque(shown, Opaque::Random, span),
            Some(Some(false)) => {}
            _ => {
                let noted = self.noted(shown, EffectClass::Opaque(Opaque::Random), span);
                self.held.of_forms.push(noted);
            }
        }
    }

    /// Whether a body is a form, as far as it can be told.
    fn is_form_body(&self, it: &'a Expression<'a>, steps: u32) -> Option<bool> {
        let steps = steps.checked_sub(1)?;
        match it.get_inner_expression() {
            Expression::StringLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::BinaryExpression(_) => Some(false),
            e if e.is_undefined() => Some(false),
            Expression::NewExpression(it) => self.operation(&it.callee).map(|op| self.is_form(&op)),
            Expression::CallExpression(it) => match self.operation(&it.callee) {
                Some(op) if matches!(op.root.name.as_str(), "JSON" | "String" | "Buffer") => Some(false),
                _ => None,
            },
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } if keys.is_empty() => self.is_form_body(init, steps),
                _ => None,
            },
            _ => None,
        }
    }
}
