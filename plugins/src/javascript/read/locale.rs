//! Dates, locales and zones: what a literal argument settles.

use owed_engine::facts::{EffectClass, Opaque, Pin};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression, ObjectPropertyKind};
use oxc_span::Span;
use oxc_syntax::operator::UnaryOperator;

use super::operations::Op;
use super::usage::Usage;
use super::walk::{Binding, Walk, static_key};
use super::watched::Kind;

/// What the default locale comes from.
const LOCALE: &[&str] = &["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE", "NODE_ICU_DATA"];

impl<'a> Walk<'_, 'a> {
    /// `new Date(0).getTime()` depends on nothing: the zone counts only when another
    /// part of the date is used.
    pub(super) fn forgives_date(&mut self, op: &Op<'a>, usage: Usage<'a>, span: Span, up: usize) -> bool {
        let Usage::New(new) = usage else { return false };
        let [argument] = new.arguments.as_slice() else { return false };
        if !op.path.is_empty() || !argument.as_expression().is_some_and(|e| self.is_fixed_time(e, 6)) {
            return false;
        }
        let zone = EffectClass::Pinned(Pin::Named("TZ".to_owned()));
        self.watch(Kind::Date, up + 1, vec![("Date".to_owned(), zone, span)]);
        true
    }

    /// A number, or a text with a zone.
    pub(super) fn is_fixed_time(&self, it: &'a Expression<'a>, steps: u32) -> bool {
        if steps == 0 {
            return false;
        }
        let steps = steps - 1;
        match it.get_inner_expression() {
            Expression::NumericLiteral(_) => true,
            Expression::StringLiteral(text) => has_zone(&text.value),
            Expression::TemplateLiteral(_) => super::walk::key(it).is_some_and(has_zone),
            Expression::UnaryExpression(it) => {
                it.operator == UnaryOperator::UnaryNegation && self.is_fixed_time(&it.argument, steps)
            }
            Expression::BinaryExpression(it) => is_number(&it.left, steps) && is_number(&it.right, steps),
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } => keys.is_empty() && self.is_fixed_time(init, steps),
                _ => false,
            },
            _ => false,
        }
    }

    /// A constructor of `Intl`: a literal locale and zone leave only the ICU data.
    pub(super) fn locale(&mut self, op: &Op<'a>, usage: Usage<'a>, span: Span, up: usize) {
        let arguments = match usage {
            Usage::Call(call) | Usage::Super(call) => call.arguments.as_slice(),
            Usage::New(new) => new.arguments.as_slice(),
            _ => &[],
        };
        let shown = super::effects::shown(op);
        if !matches!(op.path.as_slice(), ["getCanonicalLocales" | "supportedValuesOf", ..]) {
            self.settle_locale(&shown, arguments, span);
        }
        if op.path.as_slice() != ["DateTimeFormat"] {
            return;
        }
        if !self.has_zone_option(arguments.get(1)) {
            self.named(&shown, "TZ", span);
        }
        let now = (format!("{shown}.format"), EffectClass::Opaque(Opaque::Clock), span);
        match usage {
            Usage::Call(_) | Usage::New(_) => self.watch(Kind::Format, up + 1, vec![now]),
            _ => self.effect(&now.0, now.1, span),
        }
    }

    fn settle_locale(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let literal = match arguments.first().and_then(Argument::as_expression) {
            Some(e) => {
                self.literal(e).is_some()
                    || self.elements(e, 1).is_some_and(|list| {
                        !list.is_empty() && list.iter().all(|e| self.literal(e).is_some())
                    })
            }
            None => false,
        };
        if !literal {
            for name in LOCALE {
                self.pinned(shown, Pin::Env((*name).to_owned()), span);
            }
        }
    }

    /// `x.toLocaleString("en", { timeZone: "UTC" })`.
    pub(super) fn locale_arguments(&mut self, object: Option<&'a Expression<'a>>, name: &str, span: Span) {
        let arguments = match self.ancestor(self.wrappers(0) + 1) {
            Some(AstKind::CallExpression(call)) if oxc_span::GetSpan::span(&call.callee) == span => {
                call.arguments.as_slice()
            }
            _ => &[],
        };
        let skip = usize::from(name == "localeCompare").min(arguments.len());
        let rest = &arguments[skip..];
        self.settle_locale(name, rest, span);
        let number = object.is_some_and(|object| is_number(object, 4));
        let dates = matches!(name, "toLocaleString" | "toLocaleDateString" | "toLocaleTimeString");
        if dates && !number && !self.has_zone_option(rest.get(1)) {
            self.named(name, "TZ", span);
        }
    }

    fn has_zone_option(&self, argument: Option<&'a Argument<'a>>) -> bool {
        let Some(Argument::ObjectExpression(object)) = argument else { return false };
        object.properties.iter().any(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => {
                static_key(&it.key) == Some("timeZone") && self.literal(&it.value).is_some()
            }
            ObjectPropertyKind::SpreadProperty(_) => false,
        })
    }
}

fn is_number(it: &Expression<'_>, steps: u32) -> bool {
    match it.get_inner_expression() {
        Expression::NumericLiteral(_) | Expression::BigIntLiteral(_) => true,
        Expression::UnaryExpression(it) => steps > 0 && is_number(&it.argument, steps - 1),
        Expression::BinaryExpression(it) => {
            steps > 0 && is_number(&it.left, steps - 1) && is_number(&it.right, steps - 1)
        }
        _ => false,
    }
}

/// `2020-01-01T00:00:00Z`, `…+02:00`; a date without a time is UTC too.
fn has_zone(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', ' ']) else {
        return text.len() <= 10
            && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
            && text.contains('-');
    };
    date.contains('-') && (time.ends_with('Z') || time.contains('+') || time.contains('-'))
}
