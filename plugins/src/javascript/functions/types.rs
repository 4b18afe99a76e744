//! Syntax of TypeScript that the parser lets pass and TypeScript's own does not: members of
//! a type or a `this` parameter that nothing separates from the next, a function declaration
//! without a name, a reserved word as the name of a type.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Function, FunctionType, Program, Statement, TSAsExpression, TSSignature, TSThisParameter, TSType,
    TSTypeAssertion, TSTypeName,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Kind, Token};
use oxc_span::{GetSpan, Span};

use super::super::read::parse::Fault;

/// Words that cannot name a type, for TypeScript's parser; `const` can, in `as const`.
const RESERVED: &[&str] = &[
    "break",
    "case",
    "catch",
    "class",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "null",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
];

/// The faults of a program in TypeScript.
pub(super) fn faults(program: &Program<'_>, tokens: &[Token]) -> Vec<Fault> {
    let mut types = Types { tokens, faults: Vec::new() };
    if program.source_type.is_typescript() {
        types.visit_program(program);
    }
    types.faults
}

/// Whether a program says anything that only TypeScript has.
pub(super) fn used(program: &Program<'_>) -> bool {
    let mut used = Used { found: false };
    used.visit_program(program);
    used.found
}

struct Used {
    found: bool,
}

impl<'a> Visit<'a> for Used {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.found |= match kind {
            AstKind::FormalParameter(it) => it.optional || it.accessibility.is_some() || it.readonly,
            AstKind::MethodDefinition(it) => it.accessibility.is_some() || it.optional || it.r#override,
            AstKind::PropertyDefinition(it) => {
                it.accessibility.is_some() || it.optional || it.readonly || it.declare || it.definite
            }
            AstKind::Class(it) => it.r#abstract || it.declare,
            AstKind::Function(it) => it.declare || it.body.is_none(),
            AstKind::VariableDeclaration(it) => it.declare,
            AstKind::VariableDeclarator(it) => it.definite,
            AstKind::ImportDeclaration(it) => it.import_kind.is_type(),
            AstKind::ImportSpecifier(it) => it.import_kind.is_type(),
            AstKind::ExportNamedDeclaration(it) => it.export_kind.is_type(),
            AstKind::ExportFromDeclaration(it) => it.export_kind.is_type(),
            AstKind::ExportAllDeclaration(it) => it.export_kind.is_type(),
            AstKind::ExportSpecifier(it) => it.export_kind.is_type(),
            other => other.debug_name().starts_with("TS"),
        };
    }
}

struct Types<'t> {
    tokens: &'t [Token],
    faults: Vec<Fault>,
}

impl Types<'_> {
    fn fault(&mut self, cause: &str, span: Span) {
        self.faults.push(Fault { cause: cause.to_owned(), start: span.start, end: span.end });
    }

    fn separated(&self, next: Span) -> bool {
        let at = self.tokens.partition_point(|token| token.start() < next.start);
        let (Some(first), Some(before)) = (self.tokens.get(at), at.checked_sub(1)) else { return true };
        first.is_on_new_line() || matches!(self.tokens[before].kind(), Kind::Semicolon | Kind::Comma)
    }
}

fn is_const(annotation: &TSType<'_>) -> bool {
    let TSType::TSTypeReference(reference) = annotation else { return false };
    matches!(&reference.type_name, TSTypeName::IdentifierReference(name) if name.name == "const")
}

impl<'a> Visit<'a> for Types<'_> {
    fn visit_ts_signatures(&mut self, it: &oxc_allocator::Vec<'a, TSSignature<'a>>) {
        for next in it.iter().skip(1).map(GetSpan::span) {
            if !self.separated(next) {
                self.fault("Expected `;` or `,` between the members of a type", next);
            }
        }
        walk::walk_ts_signatures(self, it);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let after = self.tokens.partition_point(|token| token.start() < it.span.end);
        let kind = self.tokens.get(after).map(Token::kind);
        if !matches!(kind, Some(Kind::Comma | Kind::RParen)) {
            self.fault("Expected `,` after a parameter", it.span);
        }
        walk::walk_ts_this_parameter(self, it);
    }

    // `as const` and `<const>` name no type.
    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        if is_const(&it.type_annotation) {
            self.visit_expression(&it.expression);
        } else {
            walk::walk_ts_as_expression(self, it);
        }
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        if is_const(&it.type_annotation) {
            self.visit_expression(&it.expression);
        } else {
            walk::walk_ts_type_assertion(self, it);
        }
    }

    fn visit_ts_type_name(&mut self, it: &TSTypeName<'a>) {
        if let TSTypeName::IdentifierReference(name) = it
            && RESERVED.contains(&name.name.as_str())
        {
            self.fault("A reserved word cannot name a type", name.span);
        }
        walk::walk_ts_type_name(self, it);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if let Statement::ExportDeclaration(export) = it
            && let oxc_ast::ast::Declaration::FunctionDeclaration(function) = &export.declaration
        {
            self.declared(function);
        }
        if let Statement::FunctionDeclaration(function) = it {
            self.declared(function);
        }
        walk::walk_statement(self, it);
    }
}

impl Types<'_> {
    fn declared(&mut self, it: &Function<'_>) {
        let declared =
            matches!(it.r#type, FunctionType::FunctionDeclaration | FunctionType::TSDeclareFunction);
        if declared && it.id.is_none() {
            self.fault("A function declaration needs a name", it.span);
        }
    }
}
