//! Statements and control structures.

use ruff_python_ast::visitor::source_order::{self, SourceOrderVisitor};
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::words::word;
use super::Walk;
use crate::measure::{Tag, hash};

impl<'a> Walk<'_, 'a> {
    pub(super) fn structure(&mut self) {
        self.builder.structure();
        self.builder.decision();
    }

    /// A body that stands one level deeper.
    pub(super) fn nested(&mut self, body: &'a [Stmt]) {
        self.builder.deeper();
        self.visit_body(body);
        self.builder.shallower();
    }

    /// A block that the compiler keeps on its stack of blocks, which takes 21 (as CPython 3.14
    /// was seen to do; `CO_MAXBLOCKS`).
    pub(super) fn kept(&mut self, range: TextRange, work: impl FnOnce(&mut Self)) {
        self.blocks += 1;
        if self.blocks == 22 {
            self.more.push(("depth: too many statically nested blocks".to_owned(), range));
        }
        work(self);
        self.blocks -= 1;
    }

    pub(super) fn looped(&mut self, body: &'a [Stmt], range: TextRange) {
        let stars = std::mem::take(&mut self.stars);
        self.loops += 1;
        self.kept(range, |this| this.nested(body));
        self.loops -= 1;
        self.stars = stars;
    }

    pub(super) fn loop_else(&mut self, body: &'a [Stmt]) {
        if !body.is_empty() {
            self.builder.flat();
            self.nested(body);
        }
    }

    pub(super) fn leaves_star(&mut self, stmt: &Stmt) {
        if self.stars > 0 {
            let cause = "'break', 'continue' and 'return' cannot appear in an 'except*' block";
            self.more.push((cause.to_owned(), stmt.range()));
        }
    }

    pub(super) fn statement(&mut self, stmt: &'a Stmt) {
        let value = match stmt {
            Stmt::Expr(it) => Some(&*it.value),
            Stmt::Assign(it) => Some(&*it.value),
            Stmt::AugAssign(it) => Some(&*it.value),
            Stmt::AnnAssign(it) => it.value.as_deref(),
            _ => None,
        };
        if let Some(Expr::Starred(starred)) = value {
            self.more.push(("can't use starred expression here".to_owned(), starred.range));
        }
        match stmt {
            Stmt::FunctionDef(it) => self.function(it),
            Stmt::ClassDef(it) => self.class(it),
            Stmt::Assign(it) => {
                for target in &it.targets {
                    self.visit_expr(target);
                }
                self.assigned(it.targets.first(), &it.value);
                self.builder.end();
            }
            Stmt::AnnAssign(it) => {
                self.visit_expr(&it.target);
                self.visit_annotation(&it.annotation);
                if let Some(value) = &it.value {
                    self.assigned(Some(&it.target), value);
                    self.builder.end();
                }
            }
            Stmt::TypeAlias(_) => {
                self.builder.erase();
                source_order::walk_stmt(self, stmt);
                self.builder.unerase();
            }
            Stmt::If(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.nested(&it.body);
                for clause in &it.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
                self.builder.end();
            }
            Stmt::For(it) => {
                self.structure();
                if it.is_async {
                    self.builder.node(word!("async"));
                }
                self.visit_expr(&it.target);
                self.visit_expr(&it.iter);
                self.looped(&it.body, it.range);
                self.loop_else(&it.orelse);
                self.builder.end();
            }
            Stmt::While(it) => {
                self.structure();
                self.visit_expr(&it.test);
                self.looped(&it.body, it.range);
                self.loop_else(&it.orelse);
                self.builder.end();
            }
            Stmt::With(it) => {
                if it.is_async {
                    self.builder.node(word!("async"));
                }
                for item in &it.items {
                    self.visit_with_item(item);
                }
                self.kept(it.range, |this| this.visit_body(&it.body));
            }
            Stmt::Match(it) => {
                self.builder.structure();
                self.visit_expr(&it.subject);
                self.builder.deeper();
                for case in &it.cases {
                    if case.guard.is_some() || !case.pattern.is_irrefutable() {
                        self.builder.decision();
                    }
                    self.builder.node(word!("case"));
                    self.visit_pattern(&case.pattern);
                    if let Some(guard) = &case.guard {
                        self.builder.node(word!("guard"));
                        self.visit_expr(guard);
                    }
                    self.visit_body(&case.body);
                }
                self.builder.shallower();
                self.builder.end();
            }
            Stmt::Try(it) => self.attempt(it),
            Stmt::ImportFrom(it) => {
                self.builder.node(hash(Tag::Node, &it.level.to_le_bytes()));
                self.builder.member(it.module.as_ref().map_or("", |module| module.as_str()), false);
                for alias in &it.names {
                    self.visit_alias(alias);
                }
                self.builder.end();
            }
            Stmt::Global(it) => {
                for name in &it.names {
                    self.named(&name.id, false);
                }
                self.builder.end();
            }
            Stmt::Nonlocal(it) => {
                for name in &it.names {
                    self.named(&name.id, false);
                    self.judge_nonlocal(&name.id, it.range);
                }
                self.builder.end();
            }
            Stmt::Return(_) | Stmt::Break(_) | Stmt::Continue(_) => {
                self.leaves_star(stmt);
                source_order::walk_stmt(self, stmt);
                self.builder.end();
            }
            _ => {
                source_order::walk_stmt(self, stmt);
                self.builder.end();
            }
        }
    }

    pub(super) fn judge_nonlocal(&mut self, name: &str, range: TextRange) {
        let scope = &self.scopes.list[self.scope() as usize];
        if scope.globals.contains_key(name) {
            self.more.push((format!("name '{name}' is nonlocal and global"), range));
        }
    }

    pub(super) fn attempt(&mut self, it: &'a ruff_python_ast::StmtTry) {
        if it.is_star {
            self.builder.node(word!("*"));
        }
        let in_try = std::mem::replace(&mut self.in_try, true);
        for ExceptHandler::ExceptHandler(handler) in it.handlers.iter().rev().skip(1) {
            if handler.type_.is_none() {
                self.more.push(("default 'except:' must be last".to_owned(), handler.range));
            }
        }
        let body = |this: &mut Self| {
            if it.handlers.is_empty() {
                this.visit_body(&it.body);
            } else {
                this.kept(it.range, |this| this.visit_body(&it.body));
            }
            for handler in &it.handlers {
                this.stars += u32::from(it.is_star);
                // The handler itself and its cleaning up.
                this.kept(handler.range(), |this| {
                    this.kept(handler.range(), |this| this.visit_except_handler(handler))
                });
                this.stars -= u32::from(it.is_star);
            }
            if !it.orelse.is_empty() {
                this.builder.node(word!("else"));
                this.visit_body(&it.orelse);
            }
        };
        if it.finalbody.is_empty() {
            body(self);
        } else {
            self.kept(it.range, body);
            self.builder.node(word!("finally"));
            self.visit_body(&it.finalbody);
        }
        self.in_try = in_try;
        self.builder.end();
    }
}
