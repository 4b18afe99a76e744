//! From an operation and its use to effects.

use owed_engine::facts::{Effect, EffectClass, Opaque, PathExpr, Pin, When};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression};
use oxc_semantic::SymbolId;
use oxc_span::Span;

use super::class::{Act, Class, Use};
use super::clocks::Body;
use super::operations::Op;
use super::usage::{Site, Usage};
use super::value::{Piece, Value};
use super::walk::{Binding, Walk, static_key};

/// An effect as it was found.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    /// The unit it was seen in.
    pub(super) unit: u32,
    /// The effect; when it happens is settled at the end.
    pub(super) effect: Effect,
    /// Whether it is inside a method, which runs only when it is called.
    pub(super) in_method: bool,
    /// The functions around it, when it reads the clock.
    pub(super) bodies: Vec<Body>,
}

impl<'a> Walk<'_, 'a> {
    /// An effect at the node being visited, not noted yet.
    pub(super) fn noted(&self, operation: &str, class: EffectClass, span: Span) -> Noted {
        let clock = class == EffectClass::Opaque(Opaque::Clock);
        let (line, span) = self.place(span);
        Noted {
            unit: self.units.current,
            effect: Effect { operation: operation.to_owned(), class, when: When::Import, line, span },
            in_method: self.bodies.iter().any(|body| body.is_method()),
            bodies: if clock { self.bodies.clone() } else { Vec::new() },
        }
    }

    /// Notes an effect.
    pub(super) fn effect(&mut self, operation: &str, class: EffectClass, span: Span) {
        if !self.declarations {
            let noted = self.noted(operation, class, span);
            self.effects.push(noted);
        }
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
        if matches!(usage, Usage::Alias | Usage::Typeof) {
            return;
        }
        if op.root.harmless && !matches!(usage, Usage::Write | Usage::Update) {
            return;
        }
        self.note_flags(&op, usage);
        if matches!(usage, Usage::Patch) {
            return;
        }
        let when = match usage {
            Usage::Call(call) if is_empty(&call.arguments) => Use::CallEmpty,
            Usage::Call(_) | Usage::Hidden => Use::Call,
            Usage::New(new) if is_empty(&new.arguments) => Use::NewEmpty,
            Usage::Super(call) if is_empty(&call.arguments) => Use::NewEmpty,
            Usage::New(_) | Usage::Super(_) => Use::New,
            _ => Use::Read,
        };
        let found = op.root.find(&op.path, when);
        if matches!(usage, Usage::Write | Usage::Update) {
            return self.writes(&op, found, usage, span);
        }
        let Some((class, covered)) = found else {
            if !matches!(usage, Usage::Test) {
                self.unlisted(&op, span);
            }
            return;
        };
        let shown = shown(&op);
        let whole = op.path.is_empty();
        match usage {
            // Asking whether a function is there does not run it; a value is read.
            Usage::Test if whole || matches!(class, Class::Acts(_)) => {}
            Usage::Pattern(pattern) if self.is_followed(pattern) => {}
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
            Usage::Has(key) if matches!(class, Class::Env) => {
                let names: Option<Vec<String>> = self.values(key).iter().map(Value::literal).collect();
                match names {
                    Some(names) => {
                        for name in names {
                            self.environment(&name, span);
                        }
                    }
                    None => self.named(&shown, "whole-env", span),
                }
            }
            Usage::Has(_) => {}
            Usage::Escape
                if whole
                    && op.root.name == "console"
                    && matches!(
                        (self.ancestor(up + 1), self.ancestor(up + 2)),
                        (Some(AstKind::SpreadElement(_)), Some(AstKind::ObjectExpression(_)))
                    ) =>
            {
                let otherwise = (shown, EffectClass::Opaque(Opaque::Clock), span);
                self.watch(super::watched::Kind::Console, up + 2, vec![otherwise]);
            }
            Usage::Pattern(_) | Usage::Computed | Usage::Escape if whole => {
                self.root_escapes(&op, span);
            }
            _ => self.act(&op, &shown, class, covered, usage, span, up),
        }
    }

    /// Something is assigned to.
    fn writes(&mut self, op: &Op<'a>, found: Option<(&Class, usize)>, usage: Usage<'a>, span: Span) {
        // What a browser or runner has may be changed (`document.title`), not replaced
        // (`window.scrollTo`, `HTMLElement.prototype.click`), but for flags.
        let name = op.root.name.as_str();
        let replaced = match op.path.first() {
            None => !matches!(name, "exports" | "arguments") && !is_flag(name),
            Some(first) => *first == "prototype",
        };
        if !op.root.builtin && !replaced {
            return;
        }
        let shown = shown(op);
        match (op.root.name.as_str(), found) {
            (_, Some((Class::Env, covered))) => match op.path.get(covered) {
                Some(name) if matches!(usage, Usage::Update) => self.environment(name, span),
                Some(_) => {}
                None if self.assigns_names(span) => {}
                None => {
                    self.named(&shown, "whole-env", span);
                    if matches!(usage, Usage::Write) && self.is_replaced(span) {
                        self.mutates(&shown, span);
                    }
                }
            },
            ("process", _) if op.path.as_slice() == ["exitCode"] => {}
            ("module", _) if matches!(op.path.first(), Some(&"exports") | None) => {}
            (_, Some((Class::Opaque(Opaque::Loader), covered))) => {
                let hook = Op { root: op.root, path: op.path[..covered].to_vec() };
                self.opaque(&super::effects::shown(&hook), Opaque::Loader, span);
            }
            ("globalThis", _) => {
                if op.path.is_empty() && matches!(usage, Usage::Update) {
                    self.root_escapes(op, span);
                }
                if let Some(name) = op.path.first() {
                    self.held.assigned.insert(name);
                }
                self.mutates(&shown, span);
            }
            _ => self.mutates(&shown, span),
        }
    }

    /// `process.env = {}`: the thing itself gets another value, and not a member of it.
    fn is_replaced(&self, target: Span) -> bool {
        self.stack.iter().rev().any(|node| {
            matches!(node, AstKind::AssignmentExpression(it) if oxc_span::GetSpan::span(&it.left) == target)
        })
    }

    /// `Object.assign(process.env, { A: "1" })`: only literal names are set.
    fn assigns_names(&self, target: Span) -> bool {
        let call = self.stack.iter().rev().find_map(|node| match node {
            AstKind::CallExpression(call) => Some(*call),
            _ => None,
        });
        call.is_some_and(|call| match call.arguments.as_slice() {
            [first, Argument::ObjectExpression(object)] => {
                oxc_span::GetSpan::span(first) == target
                    && object.properties.iter().all(|property| {
                        property.as_property().is_some_and(|property| static_key(&property.key).is_some())
                    })
            }
            _ => false,
        })
    }

    /// A member that the table does not know.
    fn unlisted(&mut self, op: &Op<'a>, span: Span) {
        match (op.root.name.as_str(), op.path.as_slice()) {
            ("globalThis", [name, ..]) => self.unlisted_global(name, span),
            _ => self.opaque(&shown(op), Opaque::Unlisted, span),
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
            Class::Pinned(_) if op.root.name == "Date" && self.forgives_date(op, usage, span, up) => {}
            Class::Pinned(pins) => {
                for pin in pins {
                    self.pinned(shown, pin.clone(), span);
                }
                if op.root.name == "Intl" {
                    self.locale(op, usage, span, up);
                }
            }
            Class::Opaque(Opaque::Network) if self.is_loopback(op, usage) => {
                self.opaque(shown, Opaque::Loopback, span);
            }
            Class::Opaque(reason) => self.opaque(shown, *reason, span),
            Class::Env => match op.path.get(covered) {
                Some(&"hasOwnProperty") if matches!(usage, Usage::Call(_)) => {
                    let Usage::Call(call) = usage else { return };
                    match call
                        .arguments
                        .first()
                        .and_then(Argument::as_expression)
                        .and_then(|e| self.literal(e))
                    {
                        Some(name) => self.environment(&name, span),
                        None => self.named(shown, "whole-env", span),
                    }
                }
                Some(name) => self.environment(name, span),
                None => self.named(shown, "whole-env", span),
            },
            Class::Acts(act) => self.on_act(*act, shown, usage, span, up),
        }
    }

    /// `path.resolve(__dirname, "x")` does not ask for the working directory.
    fn is_anchored(&self, op: &Op<'a>, usage: Usage<'a>) -> bool {
        let Usage::Call(call) = usage else { return false };
        let anchored = |value: &Value| match value {
            Value::Path(base, _) => *base != owed_engine::facts::PathBase::Cwd,
            Value::Outside | Value::Module => true,
            Value::Text(pieces) => matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with('/')),
        };
        let mut arguments = call.arguments.iter().map(|a| a.as_expression().map(|e| self.value(e)));
        match (op.root.name.as_str(), op.path.as_slice()) {
            ("node:path", ["resolve"]) => anchored(&self.evaluate_call(call, 12)),
            ("node:path", ["relative"]) => {
                call.arguments.len() == 2 && arguments.all(|value| value.as_ref().is_some_and(anchored))
            }
            ("node:url", ["pathToFileURL"]) => arguments.next().flatten().as_ref().is_some_and(anchored),
            _ => false,
        }
    }

    pub(super) fn environment(&mut self, name: &str, span: Span) {
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
            Some(Class::Pinned(pins)) => {
                for pin in pins {
                    self.pinned(&shown, pin.clone(), span);
                }
            }
            Some(Class::Env) => self.named(&shown, "whole-env", span),
            Some(Class::Opaque(reason)) => self.opaque(&shown, *reason, span),
            Some(Class::Acts(act)) => {
                let reason = match act {
                    Act::Spawn | Act::Shell | Act::Run(_) => Opaque::Subprocess,
                    Act::Worker => Opaque::Concurrency,
                    Act::Write(_) | Act::Move | Act::Descriptor => Opaque::FsMeta,
                    Act::Code | Act::Wasm => Opaque::Eval,
                    Act::File | Act::ConsoleTime => Opaque::Clock,
                    Act::Body(_) => Opaque::Random,
                    Act::ParseArgs => return self.named(&shown, "argv", span),
                    Act::StubEnv | Act::Snapshot | Act::InlineSnapshot => return,
                    Act::Read(_)
                    | Act::Stat(_)
                    | Act::List(_)
                    | Act::Tree(_)
                    | Act::Glob(_)
                    | Act::Copy
                    | Act::CopyTree
                    | Act::Open
                    | Act::EnvFile => Opaque::ComputedLoad,
                };
                self.opaque(&shown, reason, span);
            }
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
        if let Some(name) = name.filter(|name| *name != "default") {
            op = self.member_of(op, name);
        }
        self.classify(Site { op, usage: Usage::Escape, span, up: 0 });
    }

    /// A global that the table does not know. Nothing says what it does.
    pub(super) fn on_unknown_global(&mut self, name: &'a str, up: usize, span: Span) {
        let up = self.wrappers(up);
        // `$count` in a component reads the store `count`.
        if self.whole && name.strip_prefix('$').is_some_and(|store| self.root_symbol(store).is_some()) {
            return;
        }
        if matches!(self.ancestor(up + 1), Some(AstKind::UnaryExpression(it))
            if it.operator == oxc_syntax::operator::UnaryOperator::Typeof)
        {
            return;
        }
        match self.written(up) {
            // `$: double = count * 2` declares a variable of the component.
            Some(_) if self.whole => {
                self.held.assigned.insert(name);
            }
            Some(usage) => {
                self.held.assigned.insert(name);
                self.mutates(name, span);
                if matches!(usage, Usage::Update) {
                    self.unlisted_global(name, span);
                }
            }
            None => self.unlisted_global(name, span),
        }
    }

    /// Unlisted, unless the file itself gives the global its value.
    fn unlisted_global(&mut self, name: &'a str, span: Span) {
        if !self.declarations && !self.bare_this {
            let noted = self.noted(name, EffectClass::Opaque(Opaque::Unlisted), span);
            self.held.unlisted.push((name, noted));
        }
    }
}

/// `IS_REACT_ACT_ENVIRONMENT`, `__SOME_HOOK__`: names that are only looked at.
fn is_flag(name: &str) -> bool {
    name.starts_with("__") || name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
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
        Some(argument) => argument.as_expression().is_some_and(is_undefined),
    }
}

/// `undefined`, `void 0`.
pub(super) fn is_undefined(it: &Expression<'_>) -> bool {
    let it = it.get_inner_expression();
    it.is_undefined() || it.is_void()
}
