//! Which parts of a class are types that nothing keeps at run time.
//!
//! A decorator may make the compiler emit the types of the class (`design:type`), so
//! in a class with any decorator types count as code.

use oxc_ast::ast::{Class, ClassElement};
use oxc_span::{GetSpan, Span};

use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// Leaves a type out of the digest, unless it may be emitted.
    pub(super) fn erase(&mut self, span: Span) {
        if self.decorated == 0 && !self.keep_types {
            self.erasures.add(span, false);
        }
    }

    /// Leaves out ` as T` and ` satisfies T`.
    pub(super) fn erase_after_keyword(&mut self, annotation: Span, whole: Span) {
        if self.decorated == 0 && !self.keep_types {
            self.erasures.add(Span::new(annotation.start, whole.end), true);
        }
    }

    /// Called for every class, before its parts.
    pub(super) fn enter_class(&mut self, it: &'a Class<'a>) {
        self.receivers += 1;
        if self.known_class(it) {
            self.bind_class(it);
        }
        if is_decorated(it) {
            self.decorated += 1;
            self.keep_types = true;
        }
        if !it.implements.is_empty() {
            let before = [
                it.heritage.as_ref().map(|h| h.expression.span().end),
                it.heritage.as_ref().and_then(|h| h.type_arguments.as_ref()).map(|t| t.span.end),
                it.type_parameters.as_ref().map(|t| t.span.end),
                it.id.as_ref().map(|id| id.span.end),
            ];
            let start = before.into_iter().flatten().max().unwrap_or(it.implements[0].span.start);
            self.erase(Span::new(start, it.body.span.start));
        }
    }

    /// Whether a class has a name that is not bound yet.
    fn known_class(&self, it: &'a Class<'a>) -> bool {
        it.id
            .as_ref()
            .and_then(|id| id.symbol_id.get())
            .is_some_and(|symbol| matches!(self.known[symbol.index()].binding, super::walk::Binding::None))
    }

    /// Called for every class, after its parts.
    pub(super) fn leave_class(&mut self, it: &'a Class<'a>) {
        self.receivers -= 1;
        if is_decorated(it) {
            self.decorated -= 1;
            self.keep_types = self.decorated > 0;
        }
    }
}

fn is_decorated(it: &Class<'_>) -> bool {
    !it.decorators.is_empty()
        || it.body.body.iter().any(|element| match element {
            ClassElement::MethodDefinition(it) => {
                !it.decorators.is_empty() || it.value.params.items.iter().any(|p| !p.decorators.is_empty())
            }
            ClassElement::PropertyDefinition(it) => !it.decorators.is_empty(),
            ClassElement::AccessorProperty(it) => !it.decorators.is_empty(),
            ClassElement::StaticBlock(_) | ClassElement::TSIndexSignature(_) => false,
        })
}
