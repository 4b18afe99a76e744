//! From an operation and its use to effects.

use owed_engine::facts::{Effect, EffectClass, Opaque, PathBase, PathExpr, Pin, When};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, IdentifierReference};
use oxc_semantic::SymbolId;
use oxc_span::Span;

use super::operations::Op;
use super::table::{Act, Class, Use};
use super::usage::{Site, Usage};
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

    /// Pure by the table, but not with these arguments: `process.on("message", f)` hears
    /// another process.
    fn pure_extras(&mut self, op: &Op<'a>, usage: Usage<'a>, span: Span) {
        if let ("process", ["on" | "once"], Usage::Call(call)) =
            (op.root.name.as_str(), op.path.as_slice(), usage)
            && matches!(call.arguments.first(), Some(Argument::StringLiteral(event)) if event.value == "message")
        {
            self.opaque("process.on", Opaque::Subprocess, span);
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
