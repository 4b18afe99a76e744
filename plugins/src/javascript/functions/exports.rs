//! What is wrong with the exports of a module and neither the parser nor the scope analysis
//! looks for: names that are exported twice, and `from` at the end of the file.
//!
//! In TypeScript a type may have the name of a value, and a function may be declared several
//! times; only export lists are compared there.

use oxc_ast::ast::{BindingPattern, Declaration, ExportSpecifier, Program, Statement};
use oxc_ast_visit::Visit;
use oxc_parser::{Kind, Token};
use oxc_span::{GetSpan, Span};
use rustc_hash::FxHashMap;

use super::super::read::parse::Fault;

/// A fault for each name that is exported again, and each `from` without a module.
pub(super) fn faults(program: &Program<'_>, tokens: &[Token]) -> Vec<Fault> {
    let mut exports = Exports { seen: FxHashMap::default(), faults: Vec::new() };
    let typed = program.source_type.is_typescript();
    for statement in &program.body {
        match statement {
            Statement::ExportNamedDeclaration(it) => {
                let last = tokens.partition_point(|token| token.start() <= it.span.end);
                if tokens[..last].last().is_some_and(|token| token.kind() == Kind::From) {
                    let cause = "Expected the name of a module".to_owned();
                    exports.faults.push(Fault { cause, start: it.span.start, end: it.span.end });
                }
                exports.list(&it.specifiers, it.export_kind.is_type());
            }
            Statement::ExportFromDeclaration(it) => exports.list(&it.specifiers, it.export_kind.is_type()),
            Statement::ExportAllDeclaration(it) => {
                if let Some(name) = &it.exported {
                    exports.add(&name.name(), name.span());
                }
            }
            Statement::ExportDefaultDeclaration(it) if !typed => exports.add("default", it.span),
            Statement::ExportDeclaration(it) if !typed => exports.declaration(&it.declaration),
            _ => {}
        }
    }
    exports.faults
}

struct Exports {
    seen: FxHashMap<String, Span>,
    faults: Vec<Fault>,
}

impl Exports {
    fn add(&mut self, name: &str, span: Span) {
        if self.seen.insert(name.to_owned(), span).is_some() {
            let cause = format!("Duplicate export of '{name}'");
            self.faults.push(Fault { cause, start: span.start, end: span.end });
        }
    }

    fn list(&mut self, specifiers: &[ExportSpecifier<'_>], types: bool) {
        for specifier in specifiers {
            if !types && !specifier.export_kind.is_type() {
                self.add(&specifier.exported.name(), specifier.span);
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'_>) {
        match declaration {
            Declaration::VariableDeclaration(it) => {
                let mut names = Names { found: Vec::new() };
                for declarator in &it.declarations {
                    names.visit_binding_pattern(&declarator.id);
                }
                for (name, span) in names.found {
                    self.add(&name, span);
                }
            }
            Declaration::FunctionDeclaration(it) => it.id.iter().for_each(|id| self.add(&id.name, id.span)),
            Declaration::ClassDeclaration(it) => it.id.iter().for_each(|id| self.add(&id.name, id.span)),
            _ => {}
        }
    }
}

/// The names that a pattern binds.
struct Names {
    found: Vec<(String, Span)>,
}

impl<'a> Visit<'a> for Names {
    fn visit_binding_pattern(&mut self, it: &BindingPattern<'a>) {
        if let BindingPattern::BindingIdentifier(id) = it {
            self.found.push((id.name.to_string(), id.span));
        }
        oxc_ast_visit::walk::walk_binding_pattern(self, it);
    }

    fn visit_expression(&mut self, _: &oxc_ast::ast::Expression<'a>) {}
}
