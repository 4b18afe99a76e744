//! Expressions: names, calls, sequences of operators, comprehensions.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{Comprehension, Expr};
use ruff_text_size::Ranged;

use super::super::words::{self, word};
use super::Walk;
use super::naming::chain;

impl<'a> Walk<'_, 'a> {
    pub(super) fn expression(&mut self, expr: &'a Expr) {
        if self.literal(expr) {
            return;
        }
        if let Some(word) = words::expression(expr) {
            self.builder.node(word);
        }
        match expr {
            Expr::Name(it) => {
                let callee = self.is_callee(it.range.start());
                let scope = &self.scopes.list[self.scope() as usize];
                if scope.nonlocals.get(it.id.as_str()).is_some_and(|range| it.range.start() < range.start()) {
                    let cause = format!("name '{}' is used prior to nonlocal declaration", it.id);
                    self.more.push((cause, it.range));
                }
                self.named(&it.id, callee);
            }
            Expr::Attribute(it) => {
                if !it.ctx.is_load() && it.attr.as_str() == "__debug__" {
                    self.more.push(("cannot assign to __debug__".to_owned(), it.range));
                }
                self.visit_expr(&it.value);
                let callee = self.is_callee(it.attr.start());
                self.builder.member(&it.attr.id, callee);
            }
            Expr::Call(it) => self.call(it),
            Expr::Lambda(it) => self.lambda(it),
            Expr::Dict(it) => self.dict(it),
            Expr::Named(it) => {
                self.visit_expr(&it.target);
                self.assigned(Some(&it.target), &it.value);
            }
            Expr::If(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.builder.deeper();
                self.visit_expr(&it.body);
                self.visit_expr(&it.orelse);
                self.builder.shallower();
            }
            Expr::BoolOp(it) => self.boolean(it),
            Expr::ListComp(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr)
            }
            Expr::SetComp(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr)
            }
            Expr::Generator(it) => {
                self.comprehension(&it.generators, [&it.elt].into_iter().map(|e| &**e), expr);
            }
            Expr::DictComp(it) => {
                let elements = it.key.iter().chain([&it.value]).map(|element| &**element);
                self.comprehension(&it.generators, elements, expr);
            }
            Expr::Slice(it) => {
                for part in [&it.lower, &it.upper, &it.step] {
                    match part {
                        Some(part) => self.visit_expr(part),
                        None => self.builder.end(),
                    }
                }
            }
            _ => {
                source_order::walk_expr(self, expr);
                self.builder.end();
            }
        }
    }

    pub(super) fn call(&mut self, it: &'a ruff_python_ast::ExprCall) {
        self.called(&it.func);
        self.visit_expr(&it.func);
        let callee = chain(&it.func).map(|name| name.rsplit('.').next().unwrap_or_default().to_owned());
        for argument in it.arguments.iter_source_order() {
            match argument {
                ruff_python_ast::ArgOrKeyword::Arg(argument) => self.visit_expr(argument),
                ruff_python_ast::ArgOrKeyword::Keyword(keyword) => {
                    if let (Some(callee), Some(name)) = (&callee, &keyword.arg) {
                        let name = self.frames.named(&format!("{}@{callee}", name.id));
                        self.name(&keyword.value, name, None);
                    }
                    self.visit_keyword(keyword);
                }
            }
        }
        self.builder.end();
    }

    pub(super) fn dict(&mut self, it: &'a ruff_python_ast::ExprDict) {
        let name = self.taken(it.range).map(|pending| pending.name);
        self.frames.object(name);
        for item in &it.items {
            match &item.key {
                Some(key) => {
                    self.visit_expr(key);
                    if let Expr::StringLiteral(key) = key {
                        let holder = matches!(item.value, Expr::Dict(_));
                        let name = self.frames.member(key.value.to_str(), holder);
                        self.name(&item.value, name, None);
                    }
                }
                None => self.builder.node(word!("**")),
            }
            self.visit_expr(&item.value);
        }
        self.frames.pop();
        self.builder.end();
    }

    pub(super) fn boolean(&mut self, it: &'a ruff_python_ast::ExprBoolOp) {
        self.builder.node(words::boolean(it.op));
        let saved = (self.logic, self.in_logic);
        if !self.in_logic {
            (self.logic, self.in_logic) = (None, true);
        }
        for (at, value) in it.values.iter().enumerate() {
            if at > 0 {
                self.builder.decision();
                if self.logic != Some(it.op) {
                    self.builder.flat();
                    self.logic = Some(it.op);
                }
            }
            self.visit_expr(value);
        }
        if !saved.1 {
            (self.logic, self.in_logic) = saved;
        }
        self.builder.end();
    }

    /// The first iterable is evaluated around the comprehension, everything else in it.
    pub(super) fn comprehension(
        &mut self,
        generators: &'a [Comprehension],
        elements: impl Iterator<Item = &'a Expr>,
        expr: &'a Expr,
    ) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.within(expr.range(), false, |this| {
            for (at, generator) in generators.iter().enumerate() {
                this.generator(generator, at > 0);
            }
            for element in elements {
                this.visit_expr(element);
            }
        });
        self.builder.end();
    }

    pub(super) fn generator(&mut self, it: &'a Comprehension, iterable: bool) {
        self.builder.decision();
        self.builder.node(if it.is_async { word!("async for in") } else { word!("for in") });
        self.visit_expr(&it.target);
        if iterable {
            self.visit_expr(&it.iter);
        }
        for test in &it.ifs {
            self.builder.decision();
            self.builder.node(word!("if in"));
            self.visit_expr(test);
        }
    }
}
