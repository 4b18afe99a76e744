//! Collects scopes and their bindings in one walk over the tree.

use std::cell::Cell;

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ExprContext, Identifier, ModModule, Parameters, Pattern, Stmt, TypeParams,
};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashMap;

use super::super::depth::LEVELS;
use super::{Binding, Kind, MODULE, Scope, Scopes};

/// The scopes of a module; `None` when the tree is too deep to be walked.
pub(super) fn collect(module: &ModModule) -> Option<Scopes<'_>> {
    let scopes = Scopes {
        list: vec![Scope::new(Kind::Module, None)],
        bindings: Vec::new(),
        opened: FxHashMap::default(),
        steps: Cell::new(0),
        future_annotations: false,
    };
    let mut collect = Collect { scopes, at: MODULE, level: 0, too_deep: false };
    collect.visit_body(&module.body);
    (!collect.too_deep).then_some(collect.scopes)
}

struct Collect<'a> {
    scopes: Scopes<'a>,
    at: u32,
    level: u32,
    too_deep: bool,
}

impl<'a> Collect<'a> {
    fn here(&mut self) -> &mut Scope<'a> {
        &mut self.scopes.list[self.at as usize]
    }

    fn bind_in(&mut self, scope: u32, name: &'a str, place: TextSize) {
        let next = u32::try_from(self.scopes.bindings.len()).unwrap_or(u32::MAX);
        let names = &mut self.scopes.list[scope as usize].names;
        if let Some(known) = names.get(name) {
            let known = &mut self.scopes.bindings[*known as usize];
            known.place = known.place.min(place);
        } else {
            names.insert(name, next);
            self.scopes.bindings.push(Binding { name, place });
        }
    }

    fn bind(&mut self, name: &'a str, place: TextSize) {
        let here = self.here();
        if here.globals.contains_key(name) {
            // The module's, wherever it is assigned.
            self.bind_in(MODULE, name, TextSize::new(u32::MAX));
        } else if !here.nonlocals.contains_key(name) {
            self.bind_in(self.at, name, place);
        }
    }

    fn identifier(&mut self, name: &'a Identifier) {
        self.bind(&name.id, name.start());
    }

    /// Names that are declared to be elsewhere's are not bound here, wherever in the body
    /// the declaration stands.
    fn within(&mut self, kind: Kind, range: TextRange, outer: bool, work: impl FnOnce(&mut Self)) {
        let number = u32::try_from(self.scopes.list.len()).unwrap_or(u32::MAX);
        self.scopes.list.push(Scope::new(kind, Some(self.at)));
        self.scopes.opened.insert((range, outer), number);
        let around = std::mem::replace(&mut self.at, number);
        work(self);
        self.at = around;
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            self.identifier(parameter.name());
            let name = parameter.name().id.as_str();
            self.here().parameters.push(name);
        }
    }

    /// What is evaluated before the function is called.
    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
    }

    fn annotations(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
        }
    }

    fn type_parameters(&mut self, parameters: &'a TypeParams) {
        for parameter in parameters {
            self.identifier(parameter.name());
        }
        self.visit_type_params(parameters);
    }

    fn comprehension(&mut self, expr: &'a Expr, kind: Kind) {
        let (elements, generators) = match expr {
            Expr::ListComp(it) => (vec![&*it.elt], &it.generators),
            Expr::SetComp(it) => (vec![&*it.elt], &it.generators),
            Expr::Generator(it) => (vec![&*it.elt], &it.generators),
            Expr::DictComp(it) => {
                (it.key.iter().map(|key| &**key).chain([&*it.value]).collect(), &it.generators)
            }
            _ => return,
        };
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.within(kind, expr.range(), false, |this| {
            for (at, generator) in generators.iter().enumerate() {
                this.visit_expr(&generator.target);
                if at > 0 {
                    this.visit_expr(&generator.iter);
                }
                for test in &generator.ifs {
                    this.visit_expr(test);
                }
            }
            for element in elements {
                this.visit_expr(element);
            }
        });
    }

    /// `global` and `nonlocal` of a body, before its names are bound.
    fn declarations(&mut self, body: &'a [Stmt]) {
        let mut declarations = Declarations { found: Vec::new() };
        declarations.visit_body(body);
        for (name, range, global) in declarations.found {
            let here = self.here();
            let list = if global { &mut here.globals } else { &mut here.nonlocals };
            list.entry(name).or_insert(range);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Collect<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        stacker::maybe_grow(128 << 10, 4 << 20, || self.statement(stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.level > LEVELS {
            self.too_deep = true;
            return;
        }
        self.level += 1;
        stacker::maybe_grow(128 << 10, 4 << 20, || self.expression(expr));
        self.level -= 1;
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        if let Some(name) = &it.name {
            self.identifier(name);
        }
        source_order::walk_except_handler(self, handler);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        match &alias.asname {
            Some(name) => self.identifier(name),
            None if alias.name.as_str() != "*" => {
                let name = alias.name.as_str().split('.').next().unwrap_or_default();
                self.bind(name, alias.name.start());
            }
            None => {}
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(it) => it.name.iter().for_each(|name| self.identifier(name)),
            Pattern::MatchStar(it) => it.name.iter().for_each(|name| self.identifier(name)),
            Pattern::MatchMapping(it) => it.rest.iter().for_each(|name| self.identifier(name)),
            _ => {}
        }
        if self.level > LEVELS {
            self.too_deep = true;
            return;
        }
        self.level += 1;
        stacker::maybe_grow(128 << 10, 4 << 20, || source_order::walk_pattern(self, pattern));
        self.level -= 1;
    }
}

impl<'a> Collect<'a> {
    fn statement(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => {
                for decorator in &it.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                self.identifier(&it.name);
                self.defaults(&it.parameters);
                self.within(Kind::Function { is_async: it.is_async }, it.range, false, |this| {
                    this.declarations(&it.body);
                    if let Some(parameters) = &it.type_params {
                        this.type_parameters(parameters);
                    }
                    this.parameters(&it.parameters);
                    this.annotations(&it.parameters);
                    if let Some(returns) = &it.returns {
                        this.visit_annotation(returns);
                    }
                    this.visit_body(&it.body);
                });
            }
            Stmt::ClassDef(it) => {
                for decorator in &it.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                self.identifier(&it.name);
                let body = |this: &mut Self| {
                    if let Some(arguments) = &it.arguments {
                        this.visit_arguments(arguments);
                    }
                    this.within(Kind::Class, it.range, false, |this| {
                        this.declarations(&it.body);
                        this.visit_body(&it.body);
                    });
                };
                match &it.type_params {
                    Some(parameters) => self.within(Kind::TypeParameters, it.range, true, |this| {
                        this.type_parameters(parameters);
                        body(this);
                    }),
                    None => body(self),
                }
            }
            Stmt::ImportFrom(it) => {
                if it.module.as_ref().is_some_and(|module| module.as_str() == "__future__") {
                    self.scopes.future_annotations |=
                        it.names.iter().any(|name| name.name.as_str() == "annotations");
                }
                source_order::walk_stmt(self, stmt);
            }
            _ => source_order::walk_stmt(self, stmt),
        }
    }

    fn expression(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) => {
                if matches!(it.ctx, ExprContext::Store | ExprContext::Del) {
                    self.bind(&it.id, it.start());
                }
            }
            Expr::Named(it) => {
                // Bound in the function around comprehensions.
                if let Expr::Name(name) = &*it.target {
                    let mut scope = self.at;
                    while let Kind::Comprehension { .. } | Kind::Generator =
                        self.scopes.list[scope as usize].kind
                    {
                        scope = self.scopes.list[scope as usize].parent.unwrap_or(MODULE);
                    }
                    let around = std::mem::replace(&mut self.at, scope);
                    self.bind(&name.id, name.start());
                    self.at = around;
                }
                self.visit_expr(&it.value);
            }
            Expr::Lambda(it) => {
                if let Some(parameters) = &it.parameters {
                    self.defaults(parameters);
                }
                self.within(Kind::Lambda, it.range, false, |this| {
                    if let Some(parameters) = &it.parameters {
                        this.parameters(parameters);
                    }
                    this.visit_expr(&it.body);
                });
            }
            Expr::ListComp(it) => {
                let is_async = it.generators.iter().any(|generator| generator.is_async);
                self.comprehension(expr, Kind::Comprehension { is_async });
            }
            Expr::SetComp(it) => {
                let is_async = it.generators.iter().any(|generator| generator.is_async);
                self.comprehension(expr, Kind::Comprehension { is_async });
            }
            Expr::DictComp(it) => {
                let is_async = it.generators.iter().any(|generator| generator.is_async);
                self.comprehension(expr, Kind::Comprehension { is_async });
            }
            Expr::Generator(_) => self.comprehension(expr, Kind::Generator),
            _ => source_order::walk_expr(self, expr),
        }
    }
}

/// `global` and `nonlocal` statements of one body, not of functions and classes in it.
struct Declarations<'a> {
    found: Vec<(&'a str, TextRange, bool)>,
}

impl<'a> SourceOrderVisitor<'a> for Declarations<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Global(it) => {
                self.found.extend(it.names.iter().map(|name| (name.id.as_str(), it.range, true)));
            }
            Stmt::Nonlocal(it) => {
                self.found.extend(it.names.iter().map(|name| (name.id.as_str(), it.range, false)));
            }
            Stmt::If(_) | Stmt::For(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_) => {
                stacker::maybe_grow(128 << 10, 4 << 20, || source_order::walk_stmt(self, stmt));
            }
            _ => {}
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}

    fn visit_pattern(&mut self, _: &'a Pattern) {}
}
