//! Values whose uses decide: a date of which only the zoneless parts are read, a format
//! that is always called with an argument, a `Stats` object asked only for kind and
//! size, a constructor that is only compared or named.
//!
//! A value that is used at once is judged at once. One that a constant holds is judged
//! by every use of the constant; a use that was not seen, an export, anything else than
//! the harmless uses makes the effect count.

use owed_engine::facts::EffectClass;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, Expression, ObjectPattern};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::effects::{Noted, is_undefined};
use super::walk::{Binding, Walk, key, static_key};

/// What kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A date that does not come from the clock.
    Date,
    /// An `Intl.DateTimeFormat`.
    Format,
    /// The `Stats` of a file.
    Stats,
    /// What `.constructor` gave.
    Constructor,
    /// A copy of the methods of `console`, kept to put them back.
    Console,
}

/// A value that a constant holds.
#[derive(Debug)]
pub(super) struct Watched {
    kind: Kind,
    symbol: SymbolId,
    /// Uses that were seen and are harmless.
    harmless: usize,
    /// What counts if any use is not.
    otherwise: Vec<Noted>,
}

enum Verdict {
    Harmless,
    Held(SymbolId),
    Counts,
}

/// Fields of a `Stats` object that depend on the content only.
const KINDS: &[&str] = &[
    "isFile",
    "isDirectory",
    "isSymbolicLink",
    "isBlockDevice",
    "isCharacterDevice",
    "isFIFO",
    "isSocket",
    "size",
];

impl<'a> Walk<'_, 'a> {
    /// The value `up` levels above has the effects `otherwise` unless all its uses are
    /// harmless.
    pub(super) fn watch(&mut self, kind: Kind, up: usize, otherwise: Vec<(String, EffectClass, Span)>) {
        if self.declarations {
            return;
        }
        let verdict = self.judge(kind, up);
        let otherwise: Vec<Noted> =
            otherwise.into_iter().map(|(shown, class, span)| self.noted(&shown, class, span)).collect();
        match verdict {
            Verdict::Harmless => {}
            Verdict::Counts => self.effects.extend(otherwise),
            Verdict::Held(symbol) => self.watch_symbol(kind, symbol, otherwise),
        }
    }

    /// The same for a variable that holds such a value.
    pub(super) fn watch_symbol(&mut self, kind: Kind, symbol: SymbolId, otherwise: Vec<Noted>) {
        let known = &mut self.known[symbol.index()];
        if known.watched != 0 || self.exported.contains(&symbol) {
            return self.effects.extend(otherwise);
        }
        self.watched.push(Watched { kind, symbol, harmless: 0, otherwise });
        known.watched = u32::try_from(self.watched.len()).expect("fewer than 2^32 variables");
    }

    /// A variable that is watched is being visited.
    pub(super) fn on_watched(&mut self, at: usize, up: usize) {
        let verdict = self.judge(self.watched[at].kind, up);
        if matches!(verdict, Verdict::Harmless) {
            self.watched[at].harmless += 1;
        }
    }

    /// Judges the variables once all their uses were seen.
    pub(super) fn settle_watched(&mut self) {
        for watched in std::mem::take(&mut self.watched) {
            let uses = self.scoping.get_resolved_references(watched.symbol).filter(|r| r.is_value()).count();
            if uses != watched.harmless {
                self.effects.extend(watched.otherwise);
            }
        }
    }

    fn judge(&self, kind: Kind, up: usize) -> Verdict {
        let mut up = self.wrappers(up);
        if kind == Kind::Stats {
            while let Some(AstKind::AwaitExpression(_)) = self.ancestor(up + 1) {
                up = self.wrappers(up + 1);
            }
        }
        let Some(node) = self.ancestor(up).map(|node| node.span()) else { return Verdict::Counts };
        let harmless = match self.ancestor(up + 1) {
            Some(AstKind::StaticMemberExpression(it)) => {
                let name = it.property.name.as_str();
                if kind == Kind::Stats && matches!(name, "then" | "catch" | "finally") {
                    return self.judge_promise(name, up);
                }
                self.is_harmless_member(kind, name, up + 1)
            }
            Some(AstKind::ComputedMemberExpression(it)) if it.object.span() == node => {
                key(&it.expression).is_some_and(|name| self.is_harmless_member(kind, name, up + 1))
            }
            Some(AstKind::VariableDeclarator(it)) => return self.judge_pattern(kind, &it.id),
            Some(AstKind::UnaryExpression(it)) => match it.operator {
                UnaryOperator::Typeof | UnaryOperator::LogicalNot | UnaryOperator::Void => true,
                UnaryOperator::UnaryPlus | UnaryOperator::UnaryNegation => kind == Kind::Date,
                _ => false,
            },
            Some(AstKind::BinaryExpression(it)) => match it.operator {
                BinaryOperator::Addition => false,
                operator if operator.is_equality() => true,
                BinaryOperator::Instanceof => true,
                _ => kind == Kind::Date,
            },
            // What it is when it is false tells nothing.
            Some(AstKind::LogicalExpression(it)) if it.left.span() == node && !super::usage::is_used(it) => {
                true
            }
            Some(AstKind::ConditionalExpression(it)) if it.test.span() == node => true,
            // The value is what the whole expression is.
            Some(AstKind::LogicalExpression(_) | AstKind::ConditionalExpression(_)) => {
                return self.judge(kind, up + 1);
            }
            Some(AstKind::IfStatement(_)) => true,
            Some(AstKind::ExpressionStatement(_)) => true,
            Some(AstKind::CallExpression(call)) if kind == Kind::Constructor => {
                matches!(&call.callee, Expression::Identifier(it) if it.name == "expect")
                    && call.callee.span() != node
            }
            // `Object.assign(console, copy)`.
            Some(AstKind::CallExpression(call)) if kind == Kind::Console => {
                let is_console = |argument: &Argument<'a>| {
                    argument.as_expression().is_some_and(|e| {
                        matches!(e.get_inner_expression(), Expression::Identifier(it)
                            if self.is_global(it, "console"))
                    })
                };
                self.operation(&call.callee)
                    .is_some_and(|op| op.root.name == "Object" && op.path.as_slice() == ["assign"])
                    && call.arguments.first().is_some_and(is_console)
            }
            _ => false,
        };
        if harmless { Verdict::Harmless } else { Verdict::Counts }
    }

    fn judge_pattern(&self, kind: Kind, id: &'a BindingPattern<'a>) -> Verdict {
        match id {
            BindingPattern::BindingIdentifier(it) => match it.symbol_id.get() {
                Some(symbol) if !self.scoping.symbol_is_mutated(symbol) => Verdict::Held(symbol),
                _ => Verdict::Counts,
            },
            BindingPattern::ObjectPattern(it) if only_kinds(kind, it) => Verdict::Harmless,
            _ => Verdict::Counts,
        }
    }

    /// `stat(path).then((s) => s.isFile())`.
    fn judge_promise(&self, name: &str, up: usize) -> Verdict {
        let Some((call, _)) = self.call_above(up + 1) else { return Verdict::Counts };
        let callback = call.arguments.first().and_then(Argument::as_expression);
        match (name, callback) {
            ("then", Some(callback)) => match first_parameter(callback) {
                Some(Some(pattern)) => self.judge_pattern(Kind::Stats, pattern),
                Some(None) => Verdict::Harmless,
                None => Verdict::Counts,
            },
            _ => self.judge(Kind::Stats, up + 2),
        }
    }

    fn is_harmless_member(&self, kind: Kind, name: &str, member: usize) -> bool {
        if self.written(member).is_some() {
            return false;
        }
        match kind {
            Kind::Date => is_zoneless(name),
            Kind::Stats => KINDS.contains(&name),
            Kind::Constructor => matches!(name, "name" | "prototype"),
            Kind::Console => !name.starts_with("time"),
            Kind::Format => match name {
                "resolvedOptions" | "formatRange" | "formatRangeToParts" => true,
                "format" | "formatToParts" => match self.ancestor(member + 1) {
                    Some(AstKind::CallExpression(call)) if self.is_callee(member) => {
                        match call.arguments.first() {
                            Some(Argument::SpreadElement(_)) | None => false,
                            Some(argument) => argument.as_expression().is_some_and(|e| !self.may_lack(e, 4)),
                        }
                    }
                    _ => false,
                },
                _ => false,
            },
        }
    }

    /// Whether an expression may be `undefined`.
    pub(super) fn may_lack(&self, it: &'a Expression<'a>, steps: u32) -> bool {
        if steps == 0 {
            return true;
        }
        let steps = steps - 1;
        match it.get_inner_expression() {
            it if is_undefined(it) => true,
            Expression::ChainExpression(_) => true,
            Expression::ConditionalExpression(it) => {
                self.may_lack(&it.consequent, steps) || self.may_lack(&it.alternate, steps)
            }
            Expression::LogicalExpression(it) if super::usage::is_used(it) => self.may_lack(&it.right, steps),
            Expression::LogicalExpression(it) => {
                self.may_lack(&it.left, steps) || self.may_lack(&it.right, steps)
            }
            Expression::SequenceExpression(it) => {
                it.expressions.last().is_some_and(|last| self.may_lack(last, steps))
            }
            Expression::AwaitExpression(it) => self.may_lack(&it.argument, steps),
            Expression::Identifier(it) => match self.symbol(it) {
                None => false,
                Some(symbol) => match &self.known[symbol.index()].binding {
                    Binding::Init { init, keys } if keys.is_empty() => self.may_lack(init, steps),
                    _ => self.known[symbol.index()].may_lack || self.known[symbol.index()].blank,
                },
            },
            _ => false,
        }
    }
}

/// The first parameter of a function written at that place; `None` when it is none.
fn first_parameter<'a>(it: &'a Expression<'a>) -> Option<Option<&'a BindingPattern<'a>>> {
    match it.get_inner_expression() {
        Expression::ArrowFunctionExpression(it) => Some(super::taken::arrow_params(it)),
        Expression::FunctionExpression(it) => Some(super::taken::function_params(it)),
        _ => None,
    }
}

fn only_kinds(kind: Kind, pattern: &ObjectPattern<'_>) -> bool {
    pattern.rest.is_none()
        && pattern.properties.iter().all(|property| {
            static_key(&property.key).is_some_and(|name| match kind {
                Kind::Stats => KINDS.contains(&name),
                Kind::Constructor => name == "name",
                Kind::Console => !name.starts_with("time"),
                Kind::Date | Kind::Format => false,
            })
        })
}

/// Members of a date that no zone can change.
fn is_zoneless(name: &str) -> bool {
    matches!(
        name,
        "getTime" | "valueOf" | "toISOString" | "toJSON" | "setTime" | "toUTCString" | "toGMTString"
    ) || name.starts_with("getUTC")
        || name.starts_with("setUTC")
}
