//! From an operation and its use to effects.

use owed_engine::facts::{Effect, EffectClass, Opaque, PathBase, PathExpr, Pin, When};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, CallExpression, ComputedMemberExpression, Expression, IdentifierReference, NewExpression,
    StaticMemberExpression, WithStatement,
};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};

use super::operations::{Op, Site, Usage};
use super::table::{Act, Class, Use};
use super::walk::{Binding, Walk, static_key};

impl<'a> Walk<'_, 'a> {
    /// Notes an effect.
    pub(super) fn effect(&mut self, operation: &str, class: EffectClass, span: Span) {
        if self.declarations {
            return;
        }
        let (line, span) = self.place(span);
        let effect = Effect { operation: operation.to_owned(), class, when: When::Import, line, span };
        self.effects.push((self.units.current, effect));
    }

    /// Notes that something cannot be named.
    pub(super) fn opaque(&mut self, operation: &str, reason: Opaque, span: Span) {
        self.effect(operation, EffectClass::Opaque(reason), span);
    }

    /// Notes an input.
    pub(super) fn pinned(&mut self, operation: &str, pin: Pin, span: Span) {
        self.effect(operation, EffectClass::Pinned(pin), span);
    }

    /// Notes that everything below a directory may be read.
    pub(super) fn bounded(&mut self, operation: &str, path: PathExpr, span: Span) {
        self.effect(operation, EffectClass::Bounded(path), span);
    }

    /// Notes an input that has only a name.
    pub(super) fn named(&mut self, operation: &str, name: &str, span: Span) {
        self.pinned(operation, Pin::Named(name.to_owned()), span);
    }

    /// Something built in is replaced.
    pub(super) fn mutates(&mut self, operation: &str, span: Span) {
        self.opaque(operation, Opaque::MutateGlobal, span);
    }

    /// An operation is used.
    pub(super) fn classify(&mut self, site: Site<'a>) {
        let Site { op, usage, span, up } = site;
        let shown = shown(&op);
        let when = match usage {
            Usage::Call(call) if is_empty(&call.arguments) => Use::CallEmpty,
            Usage::Call(_) | Usage::Hidden => Use::Call,
            Usage::New(new) if is_empty(&new.arguments) => Use::NewEmpty,
            Usage::New(_) => Use::New,
            _ => Use::Read,
        };
        let Some((class, covered)) = op.root.find(&op.path, when) else {
            if matches!(usage, Usage::Test | Usage::Patch) {
                return;
            }
            return self.opaque(&shown, Opaque::Unlisted, span);
        };
        let whole = op.path.is_empty();
        if names_a_module(&op, usage) {
            return;
        }
        if op.root.name == "Function" && whole && gives_global_object(usage) {
            return self.global_object_escapes(span);
        }
        match usage {
            Usage::Alias | Usage::Patch => {}
            // Asking whether a function is there does not run it; a value is read.
            // (`require.main === module` is such a question.)
            Usage::Test if whole || op.path.as_slice() == ["main"] || matches!(class, Class::Acts(_)) => {}
            Usage::Write if matches!(class, Class::Env) => {
                if covered == op.path.len() {
                    self.named(&shown, "whole-env", span);
                }
            }
            Usage::Write if op.root.name == "process" && op.path.as_slice() == ["exitCode"] => {}
            Usage::Write => self.mutates(&shown, span),
            Usage::Pattern(pattern) if matches!(class, Class::Env) && covered == op.path.len() => {
                let names: Option<Vec<&str>> =
                    pattern.properties.iter().map(|property| static_key(&property.key)).collect();
                match names {
                    Some(names) if pattern.rest.is_none() => {
                        for name in names {
                            self.environment(name, span);
                        }
                    }
                    _ => self.named(&shown, "whole-env", span),
                }
            }
            Usage::Pattern(pattern) if self.is_followed(pattern) => {}
            Usage::Has(key) if matches!(class, Class::Env) => match self.value(key).literal() {
                Some(name) => self.environment(&name, span),
                None => self.named(&shown, "whole-env", span),
            },
            Usage::Has(_) => {}
            Usage::Pattern(_) | Usage::Computed | Usage::Escape if whole => {
                self.root_escapes(&op, span);
            }
            _ => self.act(&op, &shown, class, covered, usage, span, up),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one place, one use: they belong together")]
    fn act(
        &mut self,
        op: &Op<'a>,
        shown: &str,
        class: &Class,
        covered: usize,
        usage: Usage<'a>,
        span: Span,
        up: usize,
    ) {
        match class {
            Class::Pure => self.pure_extras(op, usage, span),
            Class::Pinned(_) if self.is_anchored(op, usage) => {}
            Class::Pinned(pin) => {
                self.named(shown, pin, span);
                if op.root.name == "Date" {
                    self.forgive_date(usage, up);
                }
                if op.root.name == "Intl" {
                    self.locale(op, usage, span, up);
                }
            }
            Class::Opaque(reason) => self.opaque(shown, *reason, span),
            Class::Env => match op.path.get(covered) {
                Some(name) => self.environment(name, span),
                None => self.named(shown, "whole-env", span),
            },
            Class::Acts(act) => self.on_act(*act, shown, usage, span, up),
        }
    }

    /// `path.resolve(__dirname, "x")` does not ask for the working directory.
    fn is_anchored(&self, op: &Op<'a>, usage: Usage<'a>) -> bool {
        match usage {
            Usage::Call(call) if op.root.name == "node:path" && op.path.as_slice() == ["resolve"] => {
                matches!(
                    self.evaluate_call(call, 12),
                    super::value::Value::Path(PathBase::Module | PathBase::Absolute, _)
                )
            }
            _ => false,
        }
    }

    fn environment(&mut self, name: &str, span: Span) {
        self.pinned(&format!("process.env.{name}"), Pin::Env(name.to_owned()), span);
    }

    /// Pure by the table, but not with these arguments.
    fn pure_extras(&mut self, op: &Op<'a>, usage: Usage<'a>, span: Span) {
        match (op.root.name.as_str(), op.path.as_slice(), usage) {
            ("Event", [], Usage::New(_)) | ("AbortSignal", ["any" | "abort"], _) => {}
            ("File", [], Usage::New(_)) => {}
            ("process", ["on" | "once"], Usage::Call(call)) => {
                if let Some(Argument::StringLiteral(event)) = call.arguments.first()
                    && event.value == "message"
                {
                    self.opaque("process.on", Opaque::Subprocess, span);
                }
            }
            _ => {}
        }
    }

    /// The root itself goes where it is not followed: its worst member counts.
    fn root_escapes(&mut self, op: &Op<'a>, span: Span) {
        let shown = shown(op);
        match &op.root.worst {
            None | Some(Class::Pure) => {}
            Some(Class::Pinned(pin)) => self.named(&shown, pin, span),
            Some(Class::Env) => self.named(&shown, "whole-env", span),
            Some(Class::Opaque(reason)) => self.opaque(&shown, *reason, span),
            Some(Class::Acts(Act::Spawn | Act::Shell | Act::Run(_))) => {
                self.opaque(&shown, Opaque::Subprocess, span);
            }
            Some(Class::Acts(Act::Worker)) => self.opaque(&shown, Opaque::Concurrency, span),
            Some(Class::Acts(Act::Write)) => self.opaque(&shown, Opaque::FsMeta, span),
            Some(Class::Acts(_)) => self.opaque(&shown, Opaque::ComputedLoad, span),
        }
    }

    /// A symbol that may stand for an operation leaves the file.
    pub(super) fn escape_alias(&mut self, symbol: SymbolId, span: Span) {
        if let Some(op) = self.lead_symbol(symbol, 12) {
            self.classify(Site { op, usage: Usage::Escape, span, up: 0 });
        }
    }

    /// Exported aliases leave the file.
    pub(super) fn exported_aliases(&mut self) {
        let mut symbols: Vec<SymbolId> = self.exported.iter().copied().collect();
        symbols.sort_unstable_by_key(|symbol| symbol.index());
        self.units.current = super::units::MODULE;
        for symbol in symbols {
            if !matches!(self.known[symbol.index()].binding, Binding::None) {
                self.escape_alias(symbol, self.scoping.symbol_span(symbol));
            }
        }
    }

    /// A module of the table is re-exported, whole or by name.
    pub(super) fn on_reexport(&mut self, import: usize, name: Option<&'a str>, span: Span) {
        let Some(mut op) = self.module(&self.imports[import].specifier) else { return };
        op.path.extend(name.filter(|name| *name != "default"));
        self.classify(Site { op, usage: Usage::Escape, span, up: 0 });
    }

    /// A global that the table does not know: it comes from the runner, from setup, or
    /// from another module of the closure. It has a name, so it is a pin.
    pub(super) fn on_unknown_global(&mut self, it: &'a IdentifierReference<'a>) {
        self.global_pin(it.name.as_str(), 0, it.span);
    }

    /// A member of the global object that the table does not know.
    pub(super) fn global_pin(&mut self, name: &str, up: usize, span: Span) {
        let asked = matches!(self.ancestor(up + 1), Some(AstKind::UnaryExpression(it))
            if it.operator == oxc_syntax::operator::UnaryOperator::Typeof);
        if !asked {
            self.named(name, &format!("global:{name}"), span);
        }
    }

    /// The global object itself is passed on: anything of it may be replaced or read.
    pub(super) fn global_object_escapes(&mut self, span: Span) {
        self.mutates("globalThis", span);
    }

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

/// The name of an operation in answers.
pub(super) fn shown(op: &Op<'_>) -> String {
    let mut shown = op.root.shown.clone();
    for member in &op.path {
        shown.push('.');
        shown.push_str(member);
    }
    shown
}

/// Whether a call has no argument, or a first one that may be `undefined`.
pub(super) fn is_empty(arguments: &[Argument<'_>]) -> bool {
    match arguments.first() {
        None | Some(Argument::SpreadElement(_)) => true,
        Some(argument) => argument.as_expression().is_some_and(|e| e.is_undefined() || e.is_void()),
    }
}

/// `process.getBuiltinModule("fs")`: what is done with the module counts.
fn names_a_module(op: &Op<'_>, usage: Usage<'_>) -> bool {
    op.root.name == "process"
        && op.path.as_slice() == ["getBuiltinModule"]
        && matches!(usage, Usage::Call(call) if matches!(call.arguments.first(), Some(Argument::StringLiteral(_))))
}

/// `Function("return this")()`: the old way to the global object.
fn gives_global_object(usage: Usage<'_>) -> bool {
    let arguments = match usage {
        Usage::Call(call) => call.arguments.as_slice(),
        Usage::New(new) => new.arguments.as_slice(),
        _ => return false,
    };
    matches!(arguments, [Argument::StringLiteral(code)] if code.value.trim_end_matches(';') == "return this")
}

fn makes_code(arguments: &[Argument<'_>]) -> bool {
    matches!(
        arguments.last(),
        Some(Argument::StringLiteral(_) | Argument::TemplateLiteral(_) | Argument::BinaryExpression(_))
    )
}
