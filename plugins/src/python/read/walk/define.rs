//! Functions and classes: what is evaluated where they are defined, the scopes of their
//! bodies, and what holds while a body runs.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::super::rows::is_stdlib;
use super::super::scope::{Bound, ScopeId, ScopeKind};
use super::{Docstring, Holds, Walk, What, docstring, root_of};

impl<'a> Walk<'a> {
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
