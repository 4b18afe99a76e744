//! Dates, locales and zones: what a literal argument settles.

use owed_engine::facts::Opaque;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression, ObjectPropertyKind, StaticMemberExpression};
use oxc_span::Span;

use super::effects::is_empty;
use super::operations::Op;
use super::usage::Usage;
use super::walk::{Walk, static_key};

/// Members of a date that no zone can change.
fn is_zoneless(name: &str) -> bool {
    matches!(name, "getTime" | "valueOf" | "toISOString" | "toJSON") || name.starts_with("getUTC")
}

impl<'a> Walk<'_, 'a> {
    /// `new Date(0).getTime()` depends on nothing: takes back the pin just noted.
    pub(super) fn forgive_date(&mut self, usage: Usage<'a>, up: usize) {
        let Usage::New(new) = usage else { return };
        let [argument] = new.arguments.as_slice() else { return };
        let fixed = match argument.as_expression().map(Expression::get_inner_expression) {
            Some(Expression::NumericLiteral(_)) => true,
            Some(Expression::StringLiteral(text)) => has_zone(&text.value),
            _ => false,
        };
        let member = match self.ancestor(up + 2) {
            Some(AstKind::StaticMemberExpression(it)) => is_zoneless(&it.property.name),
            _ => false,
        };
        if fixed && member {
            self.effects.pop();
        }
    }

    /// A constructor of `Intl`: a literal locale and zone leave only the ICU data.
    pub(super) fn locale(&mut self, op: &Op<'a>, usage: Usage<'a>, span: Span, up: usize) {
        let arguments = match usage {
            Usage::Call(call) => call.arguments.as_slice(),
            Usage::New(new) => new.arguments.as_slice(),
            _ => &[],
        };
        let shown = super::effects::shown(op);
        self.settle_locale(&shown, arguments, span);
        if op.path.first() != Some(&"DateTimeFormat") {
            return;
        }
        if !has_option(arguments.get(1), "timeZone") {
            self.named(&shown, "TZ", span);
        }
        if let Some((call, "format" | "formatToParts")) = self.call_above(up + 2)
            && is_empty(&call.arguments)
        {
            self.opaque(&format!("{shown}.format"), Opaque::Clock, span);
        }
    }

    fn settle_locale(&mut self, shown: &str, arguments: &'a [Argument<'a>], span: Span) {
        let literal = match arguments.first().and_then(Argument::as_expression) {
            Some(e) => self.literal(e).is_some() || self.elements(e, 1).is_some_and(|list| !list.is_empty()),
            None => false,
        };
        if !literal {
            self.named(shown, "locale", span);
        }
    }

    /// `x.toLocaleString("en", { timeZone: "UTC" })`.
    pub(super) fn locale_arguments(&mut self, name: &str, span: Span) {
        let arguments = match self.ancestor(1) {
            Some(AstKind::CallExpression(call)) => call.arguments.as_slice(),
            _ => &[],
        };
        let skip = usize::from(name == "localeCompare").min(arguments.len());
        let rest = &arguments[skip..];
        self.settle_locale(name, rest, span);
        let dates = matches!(name, "toLocaleString" | "toLocaleDateString" | "toLocaleTimeString");
        if dates && !has_option(rest.get(1), "timeZone") {
            self.named(name, "TZ", span);
        }
    }

    /// `.format()` without an argument prints today when it is a date format.
    pub(super) fn on_format(&mut self, it: &'a StaticMemberExpression<'a>) {
        let Some(AstKind::CallExpression(call)) = self.ancestor(1) else { return };
        if it.property.name == "resolvedOptions" || !is_empty(&call.arguments) {
            return;
        }
        let made_by = match it.object.get_inner_expression() {
            Expression::Identifier(name) => match self.binding(name) {
                super::walk::Binding::Init { init, keys } if keys.is_empty() => Some(*init),
                _ => None,
            },
            _ => None,
        };
        let callee = match made_by.map(Expression::get_inner_expression) {
            Some(Expression::NewExpression(it)) => &it.callee,
            Some(Expression::CallExpression(it)) => &it.callee,
            _ => return,
        };
        if self
            .operation(callee)
            .is_some_and(|op| op.root.name == "Intl" && op.path.first() == Some(&"DateTimeFormat"))
        {
            self.opaque("Intl.DateTimeFormat.format", Opaque::Clock, it.span);
        }
    }
}

fn has_option(argument: Option<&Argument<'_>>, name: &str) -> bool {
    let Some(Argument::ObjectExpression(object)) = argument else { return false };
    object.properties.iter().any(|property| match property {
        ObjectPropertyKind::ObjectProperty(it) => {
            static_key(&it.key) == Some(name) && matches!(it.value, Expression::StringLiteral(_))
        }
        ObjectPropertyKind::SpreadProperty(_) => false,
    })
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
