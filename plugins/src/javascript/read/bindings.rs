//! What the variables of a file stand for, as far as their declarations tell.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, BindingPattern, Class, Expression, FormalParameter,
    VariableDeclarator,
};
use oxc_span::GetSpan;
use oxc_syntax::operator::AssignmentOperator;

use super::walk::{Binding, Walk, static_key};

impl<'a> Walk<'_, 'a> {
    /// Notes what the variables of a declarator stand for.
    pub(super) fn bind(&mut self, it: &'a VariableDeclarator<'a>, constant: bool) {
        let Some(init) = &it.init else {
            if let Some(id) = it.id.get_binding_identifier()
                && let Some(symbol) = id.symbol_id.get()
            {
                self.known[symbol.index()].blank = true;
            }
            return;
        };
        if worth_following(init) {
            self.bind_pattern(&it.id, init, &mut Vec::new(), constant);
        }
    }

    /// Notes what a class declaration stands for.
    pub(super) fn bind_class(&mut self, it: &'a Class<'a>) {
        if let Some(symbol) = it.id.as_ref().and_then(|id| id.symbol_id.get())
            && !self.scoping.symbol_is_mutated(symbol)
            && !it.declare
        {
            self.known[symbol.index()].binding = Binding::Class(it);
        }
    }

    pub(super) fn bind_pattern(
        &mut self,
        pattern: &'a BindingPattern<'a>,
        init: &'a Expression<'a>,
        keys: &mut Vec<&'a str>,
        constant: bool,
    ) {
        match pattern {
            BindingPattern::BindingIdentifier(it) => {
                let Some(symbol) = it.symbol_id.get() else { return };
                if constant || !self.scoping.symbol_is_mutated(symbol) {
                    let known = &mut self.known[symbol.index()];
                    known.binding = Binding::Init { init, keys: keys.clone() };
                    // A use came before the declaration and was not followed.
                    if std::mem::take(&mut known.inert) {
                        self.escape_alias(symbol, init.span());
                    }
                }
            }
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    let Some(key) = static_key(&property.key) else { continue };
                    keys.push(key);
                    self.bind_pattern(&property.value, init, keys, constant);
                    keys.pop();
                }
            }
            BindingPattern::AssignmentPattern(it) => self.bind_pattern(&it.left, init, keys, constant),
            BindingPattern::ArrayPattern(_) => {}
        }
    }

    /// `let dir; beforeEach(() => { dir = mkdtempSync(…) })`: once all writes of a
    /// variable that starts empty were seen to agree, it stands for what they assign.
    pub(super) fn on_assignment(&mut self, it: &'a AssignmentExpression<'a>) {
        let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else { return };
        let Some(symbol) = self.symbol(target) else { return };
        if it.operator != AssignmentOperator::Assign || !self.known[symbol.index()].blank {
            return;
        }
        let known = &self.known[symbol.index()];
        let (agrees, assigned) = match known.assigned {
            _ if it.right.is_null_or_undefined() => (true, known.assigned),
            None => (worth_following(&it.right), Some(&it.right)),
            Some(first) => (self.value(first).agrees(&self.value(&it.right)), Some(first)),
        };
        let known = &mut self.known[symbol.index()];
        known.assigned = assigned;
        known.writes += usize::from(agrees);
        let writes = known.writes;
        let all = self.scoping.get_resolved_references(symbol).filter(|r| r.is_write()).count();
        if let Some(init) = assigned
            && writes == all
        {
            let known = &mut self.known[symbol.index()];
            known.binding = Binding::Init { init, keys: Vec::new() };
            if std::mem::take(&mut known.inert) {
                self.escape_alias(symbol, init.span());
            }
        }
    }

    pub(super) fn bind_each(
        &mut self,
        left: &'a oxc_ast::ast::ForStatementLeft<'a>,
        list: &'a Expression<'a>,
    ) {
        let oxc_ast::ast::ForStatementLeft::VariableDeclaration(declaration) = left else { return };
        let Some(BindingPattern::BindingIdentifier(it)) = declaration.declarations.first().map(|d| &d.id)
        else {
            return;
        };
        let Some(symbol) = it.symbol_id.get() else { return };
        if !self.scoping.get_resolved_references(symbol).any(|r| r.is_write()) || declaration.kind.is_const()
        {
            self.known[symbol.index()].binding = Binding::Each { list };
        }
    }

    /// Notes which parameters a caller may leave out.
    pub(super) fn on_parameter(&mut self, it: &'a FormalParameter<'a>) {
        let Some(symbol) = it.pattern.get_binding_identifier().and_then(|id| id.symbol_id.get()) else {
            return;
        };
        let may_lack = match &it.type_annotation {
            _ if it.optional => true,
            _ if it.initializer.is_some() => {
                it.initializer.as_ref().is_some_and(|value| super::effects::is_undefined(value))
            }
            Some(annotation) => {
                let span = annotation.span;
                let text = &self.source[span.start as usize..span.end as usize];
                ["undefined", "any", "unknown", "void"].iter().any(|word| has_word(text, word))
            }
            // A callback is called by a function that gives its arguments.
            None => !matches!(self.ancestor(3), Some(AstKind::CallExpression(_))),
        };
        let known = &mut self.known[symbol.index()];
        known.may_lack = may_lack;
        known.typed = it.type_annotation.as_ref().map(|annotation| &annotation.type_annotation);
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    text.match_indices(word).any(|(at, _)| {
        let bytes = text.as_bytes();
        let before = at > 0 && is_name(bytes[at - 1]);
        let after = bytes.get(at + word.len()).is_some_and(|b| is_name(*b));
        !before && !after
    })
}

/// Whether an initialiser may stand for a module, an operation or a path.
fn worth_following(init: &Expression<'_>) -> bool {
    !matches!(
        init,
        Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::JSXElement(_)
            | Expression::JSXFragment(_)
            | Expression::UnaryExpression(_)
            | Expression::UpdateExpression(_)
            | Expression::ThisExpression(_)
    )
}
