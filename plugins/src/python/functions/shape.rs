//! What nodes say for the shape besides their children: names and literals.

use ruff_python_ast::{Expr, Parameters, Stmt, StringLiteral};
use ruff_text_size::{Ranged, TextRange};

use super::walk::Walk;
use super::words::word;
use crate::measure::requoted;

/// Kinds of literals, as in [`owed_engine::function::Symbol::Literal`].
const STRING: u8 = 0;
const NUMBER: u8 = 1;
const TEMPLATE: u8 = 3;
pub(super) const CONSTANT: u8 = 4;

impl Walk<'_, '_> {
    /// A name as it is read or bound in the scope that is open.
    pub(super) fn named(&mut self, name: &str, callee: bool) {
        match self.scopes.binding(name, self.scope()) {
            Some(binding) => self.builder.name(binding, name, callee),
            None => self.builder.free(name, callee),
        }
    }

    /// A literal; whether it was one.
    pub(super) fn literal(&mut self, expr: &Expr) -> bool {
        let (kind, text) = match expr {
            Expr::StringLiteral(it) => {
                let parts: Vec<String> = it.value.iter().map(|part| self.quoted(part)).collect();
                (STRING, parts.join(" "))
            }
            Expr::BytesLiteral(it) => {
                let parts: Vec<String> = it.value.iter().map(|part| self.bytes(part)).collect();
                (STRING, parts.join(" "))
            }
            Expr::NumberLiteral(it) => (NUMBER, number(self.written(it.range))),
            Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) => {
                (CONSTANT, self.written(expr.range()).to_owned())
            }
            _ => return false,
        };
        self.builder.literal(kind, text);
        true
    }

    pub(super) fn written(&self, range: TextRange) -> &str {
        &self.text[range.start().to_usize()..range.end().to_usize()]
    }

    /// A string, whatever quotes it is written in.
    fn quoted(&self, it: &StringLiteral) -> String {
        let raw = self.written(it.range);
        let (at, marks) = opener(raw);
        let (prefix, quotes) = raw.split_at(at);
        let inner = quotes.get(marks..quotes.len().saturating_sub(marks)).unwrap_or_default();
        let mut letters: Vec<char> = prefix.to_ascii_lowercase().chars().filter(|c| *c != 'u').collect();
        letters.sort_unstable();
        let prefix: String = letters.into_iter().collect();
        if marks == 3 {
            return format!("{prefix}\"\"\"{inner}\"\"\"");
        }
        requoted(&prefix, inner, it.flags.prefix().is_raw())
    }

    fn bytes(&self, it: &ruff_python_ast::BytesLiteral) -> String {
        let raw = self.written(it.range);
        let (at, marks) = opener(raw);
        let inner = raw.get(at + marks..raw.len().saturating_sub(marks)).unwrap_or_default();
        let is_raw = it.flags.prefix().is_raw();
        requoted(if is_raw { "br" } else { "b" }, inner, is_raw)
    }

    /// A plain string beside an f-string.
    pub(super) fn plain_part(&mut self, it: &StringLiteral) {
        let text = self.quoted(it);
        self.builder.literal(STRING, text);
    }

    /// The text between two fields.
    pub(super) fn template_part(&mut self, range: TextRange, raw: bool) {
        let text = requoted("", self.written(range), raw);
        self.builder.literal(TEMPLATE, text[1..text.len() - 1].to_owned());
    }

    /// The parameters with their kinds and defaults; annotations are erased.
    pub(super) fn parameters(&mut self, parameters: &Parameters) {
        self.builder.node(word!("parameters"));
        let groups = [(word!("/"), &parameters.posonlyargs), (word!("plain"), &parameters.args)];
        for (kind, list) in groups {
            for parameter in list {
                self.builder.node(kind);
                self.named(&parameter.parameter.name.id, false);
                self.builder.node(if parameter.default.is_some() { word!("default") } else { word!("bare") });
            }
        }
        if let Some(rest) = &parameters.vararg {
            self.builder.node(word!("*args"));
            self.named(&rest.name.id, false);
        }
        for parameter in &parameters.kwonlyargs {
            // The name of a keyword-only parameter is part of the contract, like a member.
            self.builder.node(word!("keyword only"));
            self.named(&parameter.parameter.name.id, false);
            self.builder.node(if parameter.default.is_some() { word!("default") } else { word!("bare") });
        }
        if let Some(rest) = &parameters.kwarg {
            self.builder.node(word!("**kwargs"));
            self.named(&rest.name.id, false);
        }
        self.builder.end();
    }
}

/// A number as formatters write it: in small letters, with digits around its point.
fn number(written: &str) -> String {
    let mut text = written.to_ascii_lowercase();
    if text.starts_with("0x") || !text.contains('.') {
        return text;
    }
    if text.starts_with('.') {
        text.insert(0, '0');
    }
    let at = text.find('.').map_or(0, |at| at + 1);
    if !text[at..].starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(at, '0');
    }
    text
}

/// Where a quote starts and how many marks it has.
fn opener(raw: &str) -> (usize, usize) {
    let prefix = raw.find(['"', '\'']).unwrap_or(0);
    let tripled = raw[prefix..].starts_with("\"\"\"") || raw[prefix..].starts_with("'''");
    (prefix, if tripled { 3 } else { 1 })
}

/// The string literal that documents a body.
pub(super) fn docstring(body: &[Stmt]) -> Option<TextRange> {
    match body.first()? {
        Stmt::Expr(it) => match &*it.value {
            Expr::StringLiteral(literal) => Some(literal.range),
            _ => None,
        },
        _ => None,
    }
}
