//! Statements, definitions and patterns.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::super::scope::{Bound, MODULE, ScopeKind};
use super::{Holds, Walk};

impl<'a> Walk<'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        if !self.descend() {
            return;
        }
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Assign(s) => {
                let outer = self.modules;
                if s.targets.iter().any(|t| matches!(t, Expr::Name(n) if lists_modules(&n.id))) {
                    self.modules = true;
                }
                if s.targets.iter().all(|t| self.is_followed(t)) {
                    self.assigned(&s.value);
                }
                if self.makes_aliases(&s.targets) {
                    self.aliased(&s.value);
                } else {
                    self.expr(&s.value, false);
                }
                self.modules = outer;
                for target in &s.targets {
                    if matches!(target, Expr::Tuple(_) | Expr::List(_)) {
                        self.in_order(&s.value);
                    }
                    self.target(target, Bound::Value(&s.value), Some(&s.value));
                }
                if !s.targets.iter().all(|t| self.is_followed(t)) {
                    self.escape(&s.value);
                }
            }
            Stmt::AnnAssign(s) => {
                self.annotation(&s.annotation);
                let value = s.value.as_deref();
                if let Some(value) = value {
                    let outer = self.modules;
                    self.modules |= matches!(&*s.target, Expr::Name(n) if lists_modules(&n.id));
                    if self.is_followed(&s.target) {
                        self.assigned(value);
                    }
                    if self.makes_aliases(std::slice::from_ref(&*s.target)) {
                        self.aliased(value);
                    } else {
                        self.expr(value, false);
                    }
                    self.modules = outer;
                }
                self.target(&s.target, value.map_or(Bound::Other, Bound::Value), value);
            }
            Stmt::AugAssign(s) => {
                let outer = self.modules;
                self.modules |= matches!(&*s.target, Expr::Name(n) if lists_modules(&n.id));
                self.expr(&s.value, false);
                self.modules = outer;
                match &*s.target {
                    Expr::Name(name) => {
                        let symbol = self.names.intern(&name.id);
                        self.use_symbol(symbol, None, name.range);
                        self.bind(symbol, Bound::Other);
                    }
                    target => self.target(target, Bound::Other, Some(&s.value)),
                }
            }
            Stmt::Import(s) => self.import(s),
            Stmt::ImportFrom(s) => self.import_from(s),
            // A string as a statement is a comment.
            Stmt::Expr(s) if s.value.is_string_literal_expr() => {}
            Stmt::Expr(s) => self.expr(&s.value, false),
            Stmt::Return(s) => {
                if let Some(value) = &s.value {
                    self.escape(value);
                    self.expr(value, false);
                }
            }
            Stmt::Delete(s) => {
                for target in &s.targets {
                    match target {
                        Expr::Name(name) => {
                            let symbol = self.names.intern(&name.id);
                            self.use_symbol(symbol, None, name.range);
                            if self.scope == MODULE || self.names.is_global(self.scope, symbol) {
                                self.names.doubt(symbol);
                            }
                        }
                        // What others may read is gone: the same as giving it another value.
                        Expr::Attribute(_) => self.target(target, Bound::Other, Some(target)),
                        other => self.expr(other, false),
                    }
                }
            }
            Stmt::Global(s) => {
                for name in &s.names {
                    let symbol = self.names.intern(name.as_str());
                    if self.scope != MODULE {
                        self.names.bind(self.scope, symbol, Bound::Global);
                        self.writers.push((symbol, self.unit));
                    }
                }
            }
            Stmt::Nonlocal(s) => {
                for name in &s.names {
                    let symbol = self.names.intern(name.as_str());
                    self.names.bind(self.scope, symbol, Bound::Nonlocal);
                }
            }
            Stmt::TypeAlias(s) => {
                self.target(&s.name, Bound::Other, None);
                self.in_type_scope(s.type_params.as_deref(), |walk| walk.annotation(&s.value));
            }
            Stmt::Raise(s) => {
                self.optional_expr(s.exc.as_deref());
                self.optional_expr(s.cause.as_deref());
            }
            Stmt::Assert(s) => {
                self.expr(&s.test, true);
                self.optional_expr(s.msg.as_deref());
            }
            Stmt::Pass(_) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::IpyEscapeCommand(_) => {}
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => {
                self.compound(stmt, &mut |walk, body| walk.body(body));
            }
        }
        self.depth -= 1;
    }

    /// Statements that hold blocks; each block is given to `block`.
    pub(super) fn compound(&mut self, stmt: &'a Stmt, block: &mut dyn FnMut(&mut Self, &'a [Stmt])) {
        match stmt {
            Stmt::If(s) => self.branches(s, block),
            Stmt::Try(s) => {
                let caught = s.handlers.iter().any(|ast::ExceptHandler::ExceptHandler(h)| {
                    h.type_.as_deref().is_none_or(catches_import_error)
                });
                self.optional += u32::from(caught);
                block(self, &s.body);
                for ast::ExceptHandler::ExceptHandler(handler) in &s.handlers {
                    if let Some(class) = &handler.type_ {
                        self.class_name(class);
                    }
                    if let Some(name) = &handler.name {
                        let symbol = self.names.intern(name.as_str());
                        self.bind(symbol, Bound::Other);
                    }
                    block(self, &handler.body);
                }
                self.optional -= u32::from(caught);
                block(self, &s.orelse);
                block(self, &s.finalbody);
            }
            Stmt::With(s) => {
                let (mut caught, guard) = (false, self.guard);
                for item in &s.items {
                    caught |= is_suppress(&item.context_expr);
                    self.expr(&item.context_expr, false);
                    if let Some(target) = &item.optional_vars {
                        self.target(target, Bound::Entered(&item.context_expr), None);
                    }
                    self.guarded(Holds::With(&item.context_expr), self.scope);
                }
                self.optional += u32::from(caught);
                block(self, &s.body);
                self.optional -= u32::from(caught);
                self.guard = guard;
            }
            Stmt::For(s) => {
                self.in_order(&s.iter);
                self.expr(&s.iter, false);
                self.target(&s.target, Bound::Element(&s.iter, None), None);
                block(self, &s.body);
                block(self, &s.orelse);
            }
            Stmt::While(s) => {
                self.expr(&s.test, true);
                block(self, &s.body);
                block(self, &s.orelse);
            }
            Stmt::Match(s) => {
                self.expr(&s.subject, false);
                for case in &s.cases {
                    self.pattern(&case.pattern);
                    self.optional_expr(case.guard.as_deref());
                    block(self, &case.body);
                }
            }
            _ => {}
        }
    }

    pub(super) fn branches(&mut self, s: &'a ast::StmtIf, block: &mut dyn FnMut(&mut Self, &'a [Stmt])) {
        self.expr(&s.test, true);
        let checking = self.type_checking(&s.test);
        self.type_only += u32::from(checking == Some(true));
        block(self, &s.body);
        self.type_only -= u32::from(checking == Some(true));
        // After `if not TYPE_CHECKING:` the rest is for type checkers.
        let mut rest = checking == Some(false);
        for clause in &s.elif_else_clauses {
            let mut only_types = rest;
            if let Some(test) = &clause.test {
                self.expr(test, true);
                match self.type_checking(test) {
                    Some(true) => only_types = true,
                    Some(false) => rest = true,
                    None => {}
                }
            }
            self.type_only += u32::from(only_types);
            block(self, &clause.body);
            self.type_only -= u32::from(only_types);
        }
    }

    /// Whether an assignment gives something another name that is followed: not in a class,
    /// where it becomes a member.
    fn makes_aliases(&self, targets: &[Expr]) -> bool {
        targets.iter().all(Expr::is_name_expr) && self.names.scope(self.scope).kind != ScopeKind::Class
    }

    /// A target whose value is looked up where it is read: a name, a member of the class.
    /// A member that a base class in another file may read is judged where it is set.
    fn is_followed(&self, target: &Expr) -> bool {
        match target {
            Expr::Name(_) => !self.inherits || self.names.scope(self.scope).kind != ScopeKind::Class,
            Expr::Attribute(a) => {
                !self.inherits
                    && matches!(&*a.value, Expr::Name(n) if matches!(n.id.as_str(), "self" | "cls"))
            }
            _ => false,
        }
    }

    pub(super) fn pattern(&mut self, pattern: &'a ast::Pattern) {
        if !self.descend() {
            return;
        }
        match pattern {
            ast::Pattern::MatchValue(p) => self.expr(&p.value, false),
            ast::Pattern::MatchSingleton(_) => {}
            ast::Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| self.pattern(p)),
            ast::Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| self.pattern(p)),
            ast::Pattern::MatchMapping(p) => {
                p.keys.iter().for_each(|k| self.expr(k, false));
                p.patterns.iter().for_each(|p| self.pattern(p));
                self.capture(p.rest.as_ref());
            }
            ast::Pattern::MatchClass(p) => {
                self.class_name(&p.cls);
                p.arguments.patterns.iter().for_each(|p| self.pattern(p));
                p.arguments.keywords.iter().for_each(|k| self.pattern(&k.pattern));
            }
            ast::Pattern::MatchStar(p) => self.capture(p.name.as_ref()),
            ast::Pattern::MatchAs(p) => {
                if let Some(inner) = &p.pattern {
                    self.pattern(inner);
                }
                self.capture(p.name.as_ref());
            }
        }
        self.depth -= 1;
    }

    pub(super) fn capture(&mut self, name: Option<&'a ast::Identifier>) {
        if let Some(name) = name {
            let symbol = self.names.intern(name.as_str());
            self.bind(symbol, Bound::Other);
        }
    }
}

/// Names whose strings are modules by convention of a framework.
fn lists_modules(name: &str) -> bool {
    matches!(
        name,
        "pytest_plugins"
            | "INSTALLED_APPS"
            | "MIDDLEWARE"
            | "ROOT_URLCONF"
            | "CELERY_IMPORTS"
            | "CELERY_INCLUDE"
    ) || (name.ends_with("_APPS") && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

fn catches_import_error(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => {
            matches!(name.id.as_str(), "ImportError" | "ModuleNotFoundError" | "Exception" | "BaseException")
        }
        Expr::Attribute(a) => matches!(a.attr.as_str(), "ImportError" | "ModuleNotFoundError"),
        Expr::Tuple(tuple) => tuple.iter().any(catches_import_error),
        _ => false,
    }
}

fn is_suppress(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    let named = match &*call.func {
        Expr::Name(name) => name.id.as_str() == "suppress",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "suppress",
        _ => false,
    };
    named && call.arguments.args.iter().any(catches_import_error)
}
