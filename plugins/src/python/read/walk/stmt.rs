//! Statements, definitions and patterns.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::super::rows::is_stdlib;
use super::super::scope::{Bound, MODULE, ScopeId, ScopeKind};
use super::{Docstring, Holds, Walk, What, docstring, root_of};

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
                        }
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

    pub(super) fn function(&mut self, def: &'a ast::StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression, false);
        }
        let symbol = self.names.intern(def.name.as_str());
        self.defaults(&def.parameters);
        self.in_type_scope(def.type_params.as_deref(), |walk| {
            for parameter in &def.parameters {
                if let Some(annotation) = parameter.annotation() {
                    walk.annotation(annotation);
                }
            }
            if let Some(returns) = &def.returns {
                walk.annotation(returns);
            }
            let scope = walk.names.open(ScopeKind::Function, walk.scope);
            // The name belongs to the scope around the type parameters.
            let around =
                if def.type_params.is_some() { walk.names.scope(walk.scope).parent } else { walk.scope };
            walk.bind_in(around, symbol, Bound::Function(def, scope));
            let outer = std::mem::replace(&mut walk.scope, scope);
            let guard = std::mem::replace(&mut walk.guard, 0);
            walk.functions += 1;
            walk.parameters(&def.parameters);
            walk.guards_of(def, around, scope);
            let class_decorators = std::mem::take(&mut walk.class_decorators);
            let body = walk.documented(&def.body, !def.decorator_list.is_empty());
            walk.body(body);
            walk.class_decorators = class_decorators;
            walk.functions -= 1;
            walk.guard = guard;
            walk.scope = outer;
        });
    }

    pub(super) fn class(&mut self, def: &'a ast::StmtClassDef) {
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression, false);
        }
        let symbol = self.names.intern(def.name.as_str());
        self.in_type_scope(def.type_params.as_deref(), |walk| {
            if let Some(arguments) = &def.arguments {
                for base in &arguments.args {
                    walk.class_name(base);
                    walk.base(base);
                }
                for keyword in &arguments.keywords {
                    walk.expr(&keyword.value, false);
                }
            }
            let scope = walk.names.open(ScopeKind::Class, walk.scope);
            let around =
                if def.type_params.is_some() { walk.names.scope(walk.scope).parent } else { walk.scope };
            walk.bind_in(around, symbol, Bound::Class(def, scope));
            let outer = std::mem::replace(&mut walk.scope, scope);
            let inherits = def.bases().iter().any(|base| walk.is_foreign(base));
            let inherits = std::mem::replace(&mut walk.inherits, inherits);
            let class_decorators = std::mem::replace(&mut walk.class_decorators, &def.decorator_list);
            let guard = std::mem::replace(&mut walk.guard, 0);
            let read = !def.decorator_list.is_empty() || !def.bases().is_empty();
            let body = walk.documented(&def.body, read);
            walk.body(body);
            walk.guard = guard;
            walk.class_decorators = class_decorators;
            walk.inherits = inherits;
            walk.scope = outer;
        });
    }

    /// Whether an assignment gives something another name that is followed: not in a class,
    /// where it becomes a member.
    fn makes_aliases(&self, targets: &[Expr]) -> bool {
        targets.iter().all(Expr::is_name_expr) && self.names.scope(self.scope).kind != ScopeKind::Class
    }

    /// A base class: whoever makes an instance of the class may be in another file.
    fn base(&mut self, base: &'a Expr) {
        let base = match base {
            Expr::Subscript(subscript) => &*subscript.value,
            other => other,
        };
        if let Some(root) = root_of(base) {
            let symbol = self.names.intern(root);
            self.functions += 1;
            self.site(What::Base(base), false);
            self.functions -= 1;
            if let Some(site) = self.sites.last_mut() {
                site.root = Some(symbol);
            }
        }
    }

    /// What holds while the body of `def` runs: what its decorators, those of its class,
    /// and its fixtures set up.
    fn guards_of(&mut self, def: &'a ast::StmtFunctionDef, around: ScopeId, scope: ScopeId) {
        let is_test = def.name.as_str().starts_with("test");
        let is_fixture = def.decorator_list.iter().any(|d| is_fixture(&d.expression));
        if is_test {
            for decorator in self.class_decorators {
                self.guarded(Holds::Decorator(&decorator.expression, scope), around);
            }
        }
        for decorator in &def.decorator_list {
            self.guarded(Holds::Decorator(&decorator.expression, scope), around);
        }
        if !is_test && !is_fixture {
            return;
        }
        for parameter in def.parameters.iter_non_variadic_params() {
            let parameter = &parameter.parameter;
            self.site(What::Fixture(parameter), false);
            self.guarded(Holds::Fixture(parameter.name.as_str()), around);
        }
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

    /// Whether a base class may be one of the project's.
    fn is_foreign(&self, base: &Expr) -> bool {
        let mut root = base;
        while let Expr::Attribute(ast::ExprAttribute { value, .. })
        | Expr::Subscript(ast::ExprSubscript { value, .. }) = root
        {
            root = value;
        }
        let Expr::Name(name) = root else { return true };
        match self.imported(&name.id) {
            Some(target) => target.level > 0 || !is_stdlib(target.module),
            None => self.names.find(&name.id).is_some_and(|s| self.names.resolve(self.scope, s).is_some()),
        }
    }

    /// Notes the docstring of a body; `read`: decorators or base classes may read it.
    pub(super) fn documented(&mut self, body: &'a [Stmt], read: bool) -> &'a [Stmt] {
        match docstring(body) {
            Some(range) => {
                self.docstrings.push(Docstring { range, kept: read });
                &body[1..]
            }
            None => body,
        }
    }

    pub(super) fn defaults(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = parameter.default() {
                self.expr(default, false);
            }
        }
    }

    pub(super) fn parameters(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters {
            let symbol = self.names.intern(parameter.name().as_str());
            self.names.bind(self.scope, symbol, Bound::Parameter(parameter.annotation()));
        }
    }

    pub(super) fn in_type_scope(
        &mut self,
        params: Option<&'a ast::TypeParams>,
        inside: impl FnOnce(&mut Self),
    ) {
        let Some(params) = params else { return inside(self) };
        let scope = self.names.open(ScopeKind::Inner, self.scope);
        let outer = std::mem::replace(&mut self.scope, scope);
        for param in &params.type_params {
            let (name, parts) = match param {
                ast::TypeParam::TypeVar(p) => (&p.name, [p.bound.as_deref(), p.default.as_deref()]),
                ast::TypeParam::TypeVarTuple(p) => (&p.name, [None, p.default.as_deref()]),
                ast::TypeParam::ParamSpec(p) => (&p.name, [None, p.default.as_deref()]),
            };
            let symbol = self.names.intern(name.as_str());
            self.bind(symbol, Bound::Other);
            for part in parts.into_iter().flatten() {
                self.annotation(part);
            }
        }
        inside(self);
        self.scope = outer;
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
                self.expr(&p.cls, false);
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

/// `@fixture`, `@pytest.fixture(…)`, `@pytest_asyncio.fixture`.
pub(in crate::python::read) fn is_fixture(decorator: &Expr) -> bool {
    match decorator {
        Expr::Call(call) => is_fixture(&call.func),
        Expr::Attribute(a) => matches!(a.attr.as_str(), "fixture" | "yield_fixture"),
        Expr::Name(n) => n.id.as_str() == "fixture",
        _ => false,
    }
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
