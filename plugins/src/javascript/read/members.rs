//! Nodes that are no use of a root: members of any value, `with`, `this`, `super(…)`,
//! constructions.

use std::borrow::Cow;

use owed_engine::facts::{EffectClass, Opaque};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    BindingPattern, BindingProperty, CallExpression, ComputedMemberExpression, Expression, NewExpression,
    Program, StaticMemberExpression, WithStatement,
};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::UnaryOperator;

use super::class::{Act, Class, Use};
use super::effects::is_empty;
use super::usage::{Site, Usage, is_expectation};
use super::walk::{Walk, key, static_key};
use super::watched::Kind;

impl<'a> Walk<'_, 'a> {
    /// A static member of any value is being visited.
    pub(super) fn on_member(&mut self, it: &'a StaticMemberExpression<'a>) {
        self.on_member_of(&it.object, it.property.name.as_str(), it.span);
    }

    /// A computed member of any value is being visited.
    pub(super) fn on_computed(&mut self, it: &'a ComputedMemberExpression<'a>) {
        if let Some(name) = key(&it.expression) {
            self.on_member_of(&it.object, name, it.span);
        } else if !self.declarations
            && let Some(name) = self.constant_text(&it.expression, 8)
        {
            self.on_member_of(&it.object, &name, it.span);
        }
    }

    fn on_member_of(&mut self, object: &'a Expression<'a>, name: &str, span: Span) {
        let pool = is_pool_member(name);
        if is_file_time(name) {
            return self.on_file_time(span);
        }
        if is_waiting_query(name) && self.operation(object).is_none_or(|op| op.path.last() == Some(&"screen"))
        {
            return self.on_waiting_query(name, span);
        }
        if !(pool || name == "constructor" || self.table.has_member(name)) || self.declarations {
            return;
        }
        let above = self.wrappers(0);
        let asked = matches!(self.ancestor(above + 1), Some(AstKind::UnaryExpression(it))
            if it.operator == UnaryOperator::Typeof);
        if asked || matches!(self.written(above), Some(Usage::Write)) {
            return;
        }
        if name == "constructor" {
            return self.on_constructor(object, span);
        }
        if self.operation(object).is_some_and(|op| !op.root.harmless) || self.is_own_member(object, name) {
            return;
        }
        if pool {
            return self.on_pool_member(name, span);
        }
        let when = match self.ancestor(above + 1) {
            Some(AstKind::CallExpression(call)) if call.callee.span() == span => {
                if is_empty(&call.arguments) { Use::CallEmpty } else { Use::Call }
            }
            _ => Use::Read,
        };
        self.member_row(Some(object), name, when, span);
    }

    fn member_row(&mut self, object: Option<&'a Expression<'a>>, name: &str, when: Use, span: Span) {
        match self.table.member(name, when).cloned() {
            Some(Class::Pinned(pins)) => {
                for pin in pins {
                    self.pinned(name, pin, span);
                }
                if name.starts_with("toLocale") || name == "localeCompare" {
                    self.locale_arguments(object, name, span);
                }
            }
            Some(Class::Opaque(reason)) => self.opaque(name, reason, span),
            Some(Class::Acts(act @ (Act::Snapshot | Act::InlineSnapshot)))
                if object.is_some_and(is_expectation) =>
            {
                self.snapshot(name, act == Act::Snapshot, span);
            }
            _ => {}
        }
    }

    /// A property of a pattern is being visited: `const { stack } = error`.
    pub(super) fn on_binding_property(&mut self, it: &'a BindingProperty<'a>) {
        let name = match static_key(&it.key) {
            Some(name) => Some(Cow::Borrowed(name)),
            None if self.declarations => None,
            None => it.key.as_expression().and_then(|key| self.constant_text(key, 8)).map(Cow::Owned),
        };
        let Some(name) = name.as_deref() else { return };
        if is_waiting_query(name) {
            return self.on_waiting_query(name, it.span);
        }
        if !(is_pool_member(name) || name == "constructor" || self.table.has_member(name))
            || self.declarations
        {
            return;
        }
        if let Some(AstKind::VariableDeclarator(declarator)) = self.ancestor(2)
            && let Some(init) = &declarator.init
            && (self.operation(init).is_some_and(|op| !op.root.harmless)
                || (name != "constructor" && self.is_own_member(init, name)))
        {
            return;
        }
        if name == "constructor" {
            let symbol = match &it.value {
                BindingPattern::BindingIdentifier(id) => id.symbol_id.get(),
                _ => None,
            };
            let otherwise = self.noted("constructor", EffectClass::Opaque(Opaque::Eval), it.span);
            match symbol {
                Some(symbol) => self.watch_symbol(Kind::Constructor, symbol, vec![otherwise]),
                None => self.effects.push(otherwise),
            }
        } else {
            self.taken_member(name, it.span);
        }
    }

    /// The same in an assignment: `({ stack } = error)`, or by `Reflect.get`.
    pub(super) fn on_assigned_property(&mut self, name: &str, span: Span) {
        if name == "constructor" {
            self.opaque("constructor", Opaque::Eval, span);
        } else {
            self.taken_member(name, span);
        }
    }

    fn taken_member(&mut self, name: &str, span: Span) {
        if is_pool_member(name) {
            self.on_pool_member(name, span);
        } else if self.table.has_member(name) {
            self.member_row(None, name, Use::Read, span);
        }
    }

    /// `.constructor` of a function is `Function`: calling it makes code from text. Only
    /// naming and comparing it is harmless, and `this.constructor` of an instance.
    fn on_constructor(&mut self, object: &'a Expression<'a>, span: Span) {
        let own = match object.get_inner_expression() {
            Expression::ThisExpression(_) => self.is_instance(),
            Expression::ObjectExpression(_) | Expression::Identifier(_) => self.is_own_object(object),
            _ => false,
        };
        if !own {
            let otherwise = ("constructor".to_owned(), EffectClass::Opaque(Opaque::Eval), span);
            self.watch(Kind::Constructor, 0, vec![otherwise]);
        }
    }

    /// Whether `this` is an instance of the class around it.
    fn is_instance(&self) -> bool {
        let mut nodes = self.stack.iter().rev().peekable();
        while let Some(node) = nodes.next() {
            match node {
                AstKind::Function(_) => {
                    return matches!(nodes.peek(), Some(AstKind::MethodDefinition(it)) if !it.r#static);
                }
                AstKind::PropertyDefinition(it) => return !it.r#static,
                AstKind::AccessorProperty(it) => return !it.r#static,
                AstKind::Class(_) => return false,
                _ => {}
            }
        }
        false
    }

    /// `with` hides which names are global.
    pub(super) fn on_with(&mut self, it: &'a WithStatement<'a>) {
        self.opaque("with", Opaque::Eval, it.span);
    }

    /// A sloppy `this` at the top is the global object, also that of a function that is
    /// called on nothing, and one that a function gives away. Compilers use it to keep their
    /// own helpers: names the table does not know tell nothing then.
    pub(super) fn on_this(&mut self) {
        if !self.is_sloppy() {
            return;
        }
        if let Some(op) = self.global_object() {
            self.bare_this = true;
            self.on_root(op, 0);
            self.bare_this = false;
        }
    }

    fn is_sloppy(&self) -> bool {
        let strict = |directives: &[oxc_ast::ast::Directive<'a>]| {
            directives.iter().any(|directive| directive.directive == "use strict")
        };
        let Some(AstKind::Program(Program { source_type, directives, .. })) = self.stack.first() else {
            return false;
        };
        if source_type.is_module() || strict(directives) {
            return false;
        }
        let mut nodes = self.stack.iter().rev().peekable();
        while let Some(node) = nodes.next() {
            match node {
                AstKind::Class(_) => return false,
                AstKind::Function(function) => {
                    let body = function.body.as_ref();
                    let returned = function.is_declaration()
                        && matches!(self.ancestor(1), Some(AstKind::ReturnStatement(_)));
                    let plain = returned
                        || matches!(nodes.peek(), Some(AstKind::CallExpression(call))
                        if call.callee.span() == function.span);
                    return plain && !body.is_some_and(|body| strict(&body.directives));
                }
                _ => {}
            }
        }
        true
    }

    /// `super(…)` constructs the base with these arguments.
    pub(super) fn on_super_call(&mut self, it: &'a CallExpression<'a>) {
        let Some(base) = self.class_around().and_then(|class| class.heritage_expression()) else { return };
        if let Some(op) = self.operation(base) {
            self.classify(Site { op, usage: Usage::Super(it), span: it.span, up: 0 });
        }
    }

    /// A construction is being visited.
    pub(super) fn on_new(&mut self, it: &'a NewExpression<'a>) {
        if self.declarations {
            return;
        }
        self.on_path(it.span, Some(it));
    }

    /// The call of a method of the node `up - 1` levels above, whose name is read `up`
    /// levels above.
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

/// `findByText`, `findAllByRole`.
fn is_waiting_query(name: &str) -> bool {
    let rest = name.strip_prefix("findBy").or_else(|| name.strip_prefix("findAllBy"));
    rest.is_some_and(|rest| {
        matches!(
            rest,
            "AltText"
                | "DisplayValue"
                | "LabelText"
                | "PlaceholderText"
                | "Role"
                | "TestId"
                | "Text"
                | "Title"
        )
    })
}

/// Members of a `Stats` object that tell when something was done to a file.
fn is_file_time(name: &str) -> bool {
    matches!(
        name,
        "mtime"
            | "mtimeMs"
            | "mtimeNs"
            | "atime"
            | "atimeMs"
            | "ctime"
            | "ctimeMs"
            | "birthtime"
            | "birthtimeMs"
            | "ino"
    )
}

/// Members of a buffer that tell where it lies in node's pool.
pub(super) fn is_pool_member(name: &str) -> bool {
    matches!(name, "buffer" | "byteOffset" | "offset" | "parent")
}
