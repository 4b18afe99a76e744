//! What a node says for the shape besides its children: names, operators, flags, literals.

use oxc_ast::AstKind;
use oxc_ast::ast::{ArrayPattern, FormalParameter, PropertyKind};
use oxc_span::Span;

use super::walk::Walk;
use super::words::{Word, word};
use crate::measure::{Tag, hash, requoted};

/// Kinds of literals, as in [`owed_engine::function::Symbol::Literal`].
const STRING: u8 = 0;
const NUMBER: u8 = 1;
const REGEX: u8 = 2;
const TEMPLATE: u8 = 3;
const CONSTANT: u8 = 4;

impl Walk<'_, '_> {
    /// The symbols of a node before its children.
    pub(super) fn enter(&mut self, kind: AstKind<'_>) {
        match word(kind) {
            Word::Fixed(word) | Word::Open(word) => self.builder.node(word),
            Word::None => {}
        }
        match kind {
            AstKind::IdentifierReference(it) => {
                let callee = self.is_callee(it.span);
                let symbol = it.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
                match symbol {
                    Some(symbol) => self.builder.name(symbol_number(symbol), &it.name, callee),
                    None => self.builder.free(&it.name, callee),
                }
            }
            AstKind::BindingIdentifier(it) => match it.symbol_id.get() {
                Some(symbol) => self.builder.name(symbol_number(symbol), &it.name, false),
                None => self.builder.free(&it.name, false),
            },
            AstKind::IdentifierName(it) => {
                let callee = self.is_callee(it.span);
                self.builder.member(&it.name, callee);
            }
            AstKind::PrivateIdentifier(it) => {
                let callee = self.is_callee(it.span);
                self.builder.member(&format!("#{}", it.name), callee);
            }
            AstKind::LabelIdentifier(it) => self.builder.member(&it.name, false),
            AstKind::JSXIdentifier(it) => self.builder.member(&it.name, false),
            AstKind::StringLiteral(it) => {
                let text = quoted(it.span.source_text(self.text));
                self.builder.literal(STRING, text);
            }
            AstKind::NumericLiteral(it) => self.written(NUMBER, it.span),
            AstKind::BigIntLiteral(it) => self.written(NUMBER, it.span),
            AstKind::RegExpLiteral(it) => self.written(REGEX, it.span),
            AstKind::TemplateElement(it) => self.builder.literal(TEMPLATE, it.value.raw.to_string()),
            AstKind::BooleanLiteral(it) => self.written(CONSTANT, it.span),
            AstKind::NullLiteral(it) => self.written(CONSTANT, it.span),
            AstKind::Directive(it) => {
                self.flag(format_args!("directive {}", it.directive));
            }
            AstKind::UnaryExpression(it) => self.flag(format_args!("{}", it.operator.as_str())),
            AstKind::BinaryExpression(it) => self.flag(format_args!("{}", it.operator.as_str())),
            AstKind::LogicalExpression(it) => self.flag(format_args!("{}", it.operator.as_str())),
            AstKind::AssignmentExpression(it) => self.flag(format_args!("{}", it.operator.as_str())),
            AstKind::UpdateExpression(it) => {
                let side = if it.prefix { "before" } else { "after" };
                self.flag(format_args!("{} {side}", it.operator.as_str()));
            }
            AstKind::ObjectProperty(it) => {
                match it.kind {
                    PropertyKind::Init => {}
                    PropertyKind::Get => self.flag(format_args!("get")),
                    PropertyKind::Set => self.flag(format_args!("set")),
                }
                self.flags(&[(it.computed, "computed"), (it.method, "method")]);
                self.format_flag(it.shorthand, "shorthand");
            }
            AstKind::BindingProperty(it) => {
                self.flags(&[(it.computed, "computed")]);
                self.format_flag(it.shorthand, "shorthand");
            }
            AstKind::AssignmentTargetPropertyProperty(it) => self.flags(&[(it.computed, "computed")]),
            AstKind::ComputedMemberExpression(it) => self.flags(&[(it.optional, "?.")]),
            AstKind::StaticMemberExpression(it) => self.flags(&[(it.optional, "?.")]),
            AstKind::PrivateFieldExpression(it) => self.flags(&[(it.optional, "?.")]),
            AstKind::CallExpression(it) => self.flags(&[(it.optional, "?.")]),
            AstKind::VariableDeclaration(it) => {
                self.flag(format_args!("{}", it.kind.as_str()));
                self.format_flag(it.declare, "declare");
            }
            AstKind::VariableDeclarator(it) => self.format_flag(it.definite, "definite"),
            AstKind::ForOfStatement(it) => self.flags(&[(it.r#await, "await")]),
            AstKind::ForStatement(it) => self.flags(&[
                (it.init.is_some(), "init"),
                (it.test.is_some(), "test"),
                (it.update.is_some(), "update"),
            ]),
            AstKind::SwitchCase(it) => self.flags(&[(it.test.is_none(), "default")]),
            AstKind::TryStatement(it) => self.flags(&[(it.finalizer.is_some(), "finally")]),
            AstKind::YieldExpression(it) => self.flags(&[(it.delegate, "delegate")]),
            AstKind::ArrayPattern(it) => self.holes(it),
            AstKind::ArrayAssignmentTarget(it) => {
                for (at, _) in it.elements.iter().enumerate().filter(|(_, element)| element.is_none()) {
                    self.flag(format_args!("hole {at}"));
                }
            }
            AstKind::FormalParameter(it) => self.parameter(it),
            AstKind::ImportExpression(it) => {
                if let Some(phase) = &it.phase {
                    self.flag(format_args!("{}", phase.as_str()));
                }
            }
            AstKind::V8IntrinsicExpression(it) => self.format_text(it.span),
            AstKind::TSAsExpression(_) => self.builder.format_only(b"as"),
            AstKind::TSSatisfiesExpression(_) => self.builder.format_only(b"satisfies"),
            AstKind::TSTypeAssertion(_) => self.builder.format_only(b"<>"),
            AstKind::TSNonNullExpression(_) => self.builder.format_only(b"!"),
            AstKind::TSInstantiationExpression(_) => self.builder.format_only(b"<"),
            AstKind::BlockStatement(_) => self.builder.format_only(b"{"),
            _ => {}
        }
    }

    /// The symbols of a node after its children.
    pub(super) fn leave(&mut self, kind: AstKind<'_>) {
        if let Word::Open(_) = word(kind) {
            self.builder.end();
        }
    }

    /// An operator or a flag that is set.
    pub(super) fn flag(&mut self, word: std::fmt::Arguments<'_>) {
        if self.builder.outside() {
            return;
        }
        let hash = match word.as_str() {
            Some(word) => hash(Tag::Node, word.as_bytes()),
            None => hash(Tag::Node, word.to_string().as_bytes()),
        };
        self.builder.node(hash);
    }

    pub(super) fn flags(&mut self, flags: &[(bool, &'static str)]) {
        for (_, word) in flags.iter().filter(|(set, _)| *set) {
            self.builder.node(hash(Tag::Node, word.as_bytes()));
        }
    }

    fn format_flag(&mut self, set: bool, word: &str) {
        if set {
            self.builder.format_only(word.as_bytes());
        }
    }

    fn written(&mut self, kind: u8, span: Span) {
        let text = &self.text[span.start as usize..span.end as usize];
        // Formatters write numbers in small letters.
        let text = if kind == NUMBER { text.to_ascii_lowercase() } else { text.to_owned() };
        self.builder.literal(kind, text);
    }

    /// The text between two children of an element, as it is shown.
    pub(super) fn shown_text(&mut self, text: String) {
        if !text.is_empty() {
            self.builder.literal(STRING, text);
        }
    }

    fn holes(&mut self, it: &ArrayPattern<'_>) {
        for (at, _) in it.elements.iter().enumerate().filter(|(_, element)| element.is_none()) {
            self.flag(format_args!("hole {at}"));
        }
    }

    /// A parameter that declares a field does more than one that does not.
    fn parameter(&mut self, it: &FormalParameter<'_>) {
        let field = it.accessibility.is_some() || it.readonly || it.r#override;
        self.flags(&[(field, "field")]);
        self.format_flag(it.optional, "?");
        if field {
            let end = oxc_span::GetSpan::span(&it.pattern).start;
            let start = it.decorators.last().map_or(it.span.start, |last| last.span.end);
            self.format_text(Span::new(start, end));
        }
    }

    /// Tokens that only a formatter keeps: types and modifiers, without the separators that
    /// formatters change.
    pub(super) fn format_text(&mut self, span: Span) {
        use oxc_parser::Kind;
        if self.builder.outside() {
            return;
        }
        let first = self.tokens.partition_point(|token| token.start() < span.start);
        // Separators say nothing (a line break is as good as one), except before what would
        // otherwise belong to the word before it: `[A, [B]]` is not `[A[B]]`.
        let mut held = false;
        // Whether an operand came before: a `|` in front of a union is layout.
        let mut operand = false;
        for token in self.tokens[first..].iter().take_while(|token| token.start() < span.end) {
            let text = &self.text.as_bytes()[token.start() as usize..token.end() as usize];
            if matches!(token.kind(), Kind::Comma | Kind::Semicolon) {
                held = true;
                operand = false;
                continue;
            }
            if matches!(token.kind(), Kind::Pipe | Kind::Amp) && !operand {
                continue;
            }
            let closes = matches!(token.kind(), Kind::RCurly | Kind::RBrack | Kind::RParen | Kind::RAngle);
            let joins = matches!(token.kind(), Kind::LBrack | Kind::LParen | Kind::LAngle);
            held |= operand && token.is_on_new_line();
            if std::mem::take(&mut held) && joins {
                self.builder.format_only(b",");
            }
            operand = closes
                || !matches!(
                    token.kind(),
                    Kind::LParen
                        | Kind::LBrack
                        | Kind::LCurly
                        | Kind::LAngle
                        | Kind::Colon
                        | Kind::Eq
                        | Kind::Arrow
                        | Kind::Question
                        | Kind::Pipe
                        | Kind::Amp
                        | Kind::Extends
                );
            match token.kind() {
                Kind::Str => {
                    let text = quoted(token.span().source_text(self.text));
                    self.builder.format_only(text.as_bytes());
                }
                _ => self.builder.format_only(text),
            }
        }
    }
}

/// The number of a binding.
pub(super) fn symbol_number(symbol: oxc_syntax::symbol::SymbolId) -> u32 {
    u32::try_from(symbol.index()).unwrap_or(u32::MAX)
}

/// A string, whatever quotes it is written in.
fn quoted(raw: &str) -> String {
    requoted("", raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default(), false)
}

/// What React makes of the text between two children: lines without their indentation, joined
/// by a space; the spaces at the very start and end count.
pub(super) fn cleaned(text: &str) -> String {
    let breaks = |c: char| matches!(c, '\n' | '\r');
    let blank = |c: char| matches!(c, ' ' | '\t');
    let lines: Vec<&str> = text.split(breaks).collect();
    let last = lines.len() - 1;
    let trimmed = lines.iter().enumerate().map(|(at, line)| {
        let line = if at > 0 { line.trim_start_matches(blank) } else { line };
        if at < last { line.trim_end_matches(blank) } else { line }
    });
    trimmed.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
