//! The one traversal of a file's tree. It binds names, notes every use of a name, and
//! keeps the places that may matter (calls, attribute chains, stores) as [`Site`]s.
//!
//! It judges nothing that depends on what a name means: bindings may follow uses, so
//! [`super::effects`] and [`super::loads`] judge the sites when all names are known.

use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::scope::{Bound, MODULE, ScopeId, ScopeKind, Scopes, Symbol, flag};
use super::units::{MAIN_UNIT, MODULE_UNIT, Unit, UnitId};

/// How deep trees are walked on the caller's own stack; deeper ones get their own.
pub(super) const SHALLOW: u32 = 120;

/// What an imported name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// Dots of a relative import.
    pub(super) level: u32,
    /// The module, as far as the binding reaches: `import a.b` binds `a`.
    pub(super) module: &'a str,
    /// The name taken from it.
    pub(super) name: Option<&'a str>,
    /// Never loaded at run time.
    pub(super) type_only: bool,
}

/// An import statement, or one alias of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Statement<'a> {
    Import(&'a ast::Alias),
    From(&'a ast::StmtImportFrom),
}

/// An import statement and the block it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imported<'a> {
    pub(super) statement: Statement<'a>,
    pub(super) optional: bool,
    pub(super) type_only: bool,
}

/// A read of a name; one for each scope and unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'a> {
    pub(super) symbol: Symbol,
    pub(super) scope: ScopeId,
    pub(super) unit: UnitId,
    pub(super) later: bool,
    /// Where it is read as a value of its own: not called, no attribute taken.
    pub(super) bare: Option<&'a Expr>,
}

/// Something that may load, read or run something.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    Call(&'a ast::ExprCall, &'a Expr),
    /// The longest attribute chain that is not called.
    Chain(&'a Expr),
    /// An attribute chain in an annotation, or as a base class.
    Member(&'a Expr),
    Subscript(&'a ast::ExprSubscript),
    /// `left in container`.
    Contains(&'a Expr, &'a Expr),
    /// `left / right`: how paths are joined.
    Joined(&'a Expr),
    /// What a name is assigned.
    Assigned(&'a Expr),
    /// A name that goes into a container, is returned, or is stored in an attribute.
    Escape(&'a Expr),
    /// An assignment to an attribute or a subscript.
    Store(&'a Expr, &'a Expr),
}

/// Where such a place is, and under what it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub(super) what: What<'a>,
    pub(super) scope: ScopeId,
    pub(super) unit: UnitId,
    /// Inside a function: it happens when the unit is used, not at import.
    pub(super) later: bool,
    /// Failing to import is caught here.
    pub(super) optional: bool,
    /// Its value is sorted or counted at once.
    pub(super) orderless: bool,
    /// The name at the root of the chain, where there is one.
    pub(super) root: Option<Symbol>,
}

/// A docstring, and whether somebody may read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Docstring {
    pub(super) range: TextRange,
    pub(super) kept: bool,
}

/// Everything the traversal collects.
pub(super) struct Walk<'a> {
    pub(super) names: Scopes<'a>,
    pub(super) targets: Vec<Target<'a>>,
    pub(super) imports: Vec<Imported<'a>>,
    pub(super) uses: Vec<Use<'a>>,
    pub(super) sites: Vec<Site<'a>>,
    /// Strings that look like the name of a module, each once.
    pub(super) strings: Vec<(&'a str, TextRange)>,
    pub(super) units: Vec<Unit<'a>>,
    /// Which bytes belong to which unit: sorted by start, inner ones after outer ones.
    pub(super) ranges: Vec<(TextRange, UnitId)>,
    /// Functions that bind a module name through `global`.
    pub(super) writers: Vec<(Symbol, UnitId)>,
    pub(super) docstrings: Vec<Docstring>,
    /// `__doc__` is read somewhere.
    pub(super) reads_docs: bool,
    /// The tree is deeper than the limit; what lies below it was not seen.
    pub(super) too_deep: bool,
    pub(super) star: bool,
    seen_strings: FxHashSet<&'a str>,
    /// For each symbol, its latest use.
    last_use: Vec<u32>,
    limit: u32,
    depth: u32,
    scope: ScopeId,
    unit: UnitId,
    functions: u32,
    optional: u32,
    type_only: u32,
    annotation: bool,
    modules: bool,
}

impl<'a> Walk<'a> {
    /// Walks `body`; `stub` for `.pyi`; gives up below `limit` levels.
    pub(super) fn new(body: &'a [Stmt], bytes: usize, stub: bool, limit: u32) -> Self {
        let mut walk = Self {
            names: Scopes::new(bytes),
            targets: Vec::new(),
            imports: Vec::new(),
            uses: Vec::with_capacity(bytes / 64 + 16),
            sites: Vec::with_capacity(bytes / 64 + 16),
            strings: Vec::new(),
            units: vec![Unit::module(), Unit::main()],
            ranges: Vec::new(),
            writers: Vec::new(),
            docstrings: Vec::new(),
            reads_docs: false,
            too_deep: false,
            star: false,
            seen_strings: FxHashSet::default(),
            last_use: Vec::new(),
            limit,
            depth: 0,
            scope: MODULE,
            unit: MODULE_UNIT,
            functions: 0,
            optional: 0,
            type_only: u32::from(stub),
            annotation: false,
            modules: false,
        };
        let body = match docstring(body) {
            Some(range) => {
                walk.ranges.push((range, MODULE_UNIT));
                walk.docstrings.push(Docstring { range, kept: false });
                &body[1..]
            }
            None => body,
        };
        walk.module_body(body, false);
        walk
    }

    // ---- module level -------------------------------------------------------

    /// Statements that run when the module is loaded. `nested`: inside a compound
    /// statement, whose bytes belong to `<module>` already.
    fn module_body(&mut self, body: &'a [Stmt], nested: bool) {
        for stmt in body {
            self.module_stmt(stmt, nested);
        }
    }

    fn module_stmt(&mut self, stmt: &'a Stmt, nested: bool) {
        if !self.descend() {
            return;
        }
        self.module_stmt_inner(stmt, nested);
        self.depth -= 1;
    }

    fn module_stmt_inner(&mut self, stmt: &'a Stmt, nested: bool) {
        if self.unit != MODULE_UNIT {
            // Inside `if __name__ == "__main__"`.
            self.stmt(stmt);
            return;
        }
        if let Some(unit) = Unit::of(stmt, &mut self.names) {
            let id = UnitId(super::text::offset(self.units.len()));
            self.ranges.push((stmt.range(), id));
            self.units.push(unit);
            self.unit = id;
            self.stmt(stmt);
            self.unit = MODULE_UNIT;
            return;
        }
        let compound = match stmt {
            Stmt::If(_) | Stmt::Try(_) | Stmt::With(_) | Stmt::For(_) | Stmt::While(_) | Stmt::Match(_) => {
                true
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                if !nested && self.type_only == 0 && !super::rows::is_stdlib_import(stmt) {
                    self.ranges.push((stmt.range(), MODULE_UNIT));
                }
                self.stmt(stmt);
                return;
            }
            Stmt::Pass(_) => return,
            Stmt::Expr(e) if matches!(*e.value, Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)) => return,
            _ => false,
        };
        if let Stmt::If(branch) = stmt
            && !nested
            && branch.elif_else_clauses.is_empty()
        {
            if is_main_guard(&branch.test) {
                self.ranges.push((stmt.range(), MAIN_UNIT));
                self.unit = MAIN_UNIT;
                self.functions += 1;
                self.stmt(stmt);
                self.functions -= 1;
                self.unit = MODULE_UNIT;
                return;
            }
            if self.type_checking(&branch.test) == Some(true) && only_imports(&branch.body) {
                self.stmt(stmt);
                return;
            }
        }
        if !nested {
            self.ranges.push((stmt.range(), MODULE_UNIT));
        }
        if compound {
            self.compound(stmt, &mut |walk, body| walk.module_body(body, true));
        } else {
            self.stmt(stmt);
        }
    }

    // ---- statements ---------------------------------------------------------

    fn descend(&mut self) -> bool {
        if self.depth >= self.limit {
            self.too_deep = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
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
                if s.targets.iter().all(is_followed) {
                    self.assigned(&s.value);
                }
                self.expr(&s.value, false);
                self.modules = outer;
                for target in &s.targets {
                    self.target(target, Bound::Value(&s.value), Some(&s.value));
                }
                if !s.targets.iter().all(is_followed) {
                    self.escape(&s.value);
                }
            }
            Stmt::AnnAssign(s) => {
                self.annotation(&s.annotation);
                let value = s.value.as_deref();
                if let Some(value) = value {
                    let outer = self.modules;
                    self.modules |= matches!(&*s.target, Expr::Name(n) if lists_modules(&n.id));
                    if s.target.is_name_expr() {
                        self.assigned(value);
                    }
                    self.expr(value, false);
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
                        self.use_symbol(symbol, None);
                        self.bind(symbol, Bound::Other);
                    }
                    target => self.target(target, Bound::Other, Some(&s.value)),
                }
            }
            Stmt::Import(s) => self.import(s),
            Stmt::ImportFrom(s) => self.import_from(s),
            Stmt::Expr(s) => self.expr(&s.value, true),
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
                            self.use_symbol(symbol, None);
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
    fn compound(&mut self, stmt: &'a Stmt, block: &mut dyn FnMut(&mut Self, &'a [Stmt])) {
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
                let mut caught = false;
                for item in &s.items {
                    caught |= is_suppress(&item.context_expr);
                    self.expr(&item.context_expr, false);
                    if let Some(target) = &item.optional_vars {
                        self.target(target, Bound::Entered(&item.context_expr), None);
                    }
                }
                self.optional += u32::from(caught);
                block(self, &s.body);
                self.optional -= u32::from(caught);
            }
            Stmt::For(s) => {
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

    fn branches(&mut self, s: &'a ast::StmtIf, block: &mut dyn FnMut(&mut Self, &'a [Stmt])) {
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

    /// `Some(true)` for `TYPE_CHECKING` of the typing module, `Some(false)` for its
    /// negation. A name of the same spelling from elsewhere is an ordinary name.
    fn type_checking(&self, test: &Expr) -> Option<bool> {
        match test {
            Expr::UnaryOp(not) if not.op == ast::UnaryOp::Not => match *not.operand {
                Expr::Name(_) | Expr::Attribute(_) => self.type_checking(&not.operand).map(|found| !found),
                _ => None,
            },
            Expr::BoolOp(and) if and.op == ast::BoolOp::And => {
                and.values.iter().any(|v| self.type_checking(v) == Some(true)).then_some(true)
            }
            Expr::Name(name) => {
                let target = self.imported(&name.id)?;
                (is_typing(target.module) && target.level == 0 && target.name == Some("TYPE_CHECKING"))
                    .then_some(true)
            }
            Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => {
                let Expr::Name(root) = &*attribute.value else { return None };
                let target = self.imported(&root.id)?;
                (is_typing(target.module) && target.level == 0 && target.name.is_none()).then_some(true)
            }
            _ => None,
        }
    }

    fn imported(&self, name: &str) -> Option<&Target<'a>> {
        let symbol = self.names.find(name)?;
        let scope = self.names.resolve(self.scope, symbol)?;
        let mut bindings = self.names.bindings(scope, symbol);
        match (bindings.next()?.bound, bindings.next()) {
            (Bound::Import(target), None) => self.targets.get(target as usize),
            _ => None,
        }
    }

    fn function(&mut self, def: &'a ast::StmtFunctionDef) {
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
            walk.functions += 1;
            walk.parameters(&def.parameters);
            let body = walk.documented(&def.body, !def.decorator_list.is_empty());
            walk.body(body);
            walk.functions -= 1;
            walk.scope = outer;
        });
    }

    fn class(&mut self, def: &'a ast::StmtClassDef) {
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression, false);
        }
        let symbol = self.names.intern(def.name.as_str());
        self.in_type_scope(def.type_params.as_deref(), |walk| {
            if let Some(arguments) = &def.arguments {
                for base in &arguments.args {
                    walk.class_name(base);
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
            let read = !def.decorator_list.is_empty() || !def.bases().is_empty();
            let body = walk.documented(&def.body, read);
            walk.body(body);
            walk.scope = outer;
        });
    }

    /// Notes the docstring of a body; `read`: decorators or base classes may read it.
    fn documented(&mut self, body: &'a [Stmt], read: bool) -> &'a [Stmt] {
        match docstring(body) {
            Some(range) => {
                self.docstrings.push(Docstring { range, kept: read });
                &body[1..]
            }
            None => body,
        }
    }

    fn defaults(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = parameter.default() {
                self.expr(default, false);
            }
        }
    }

    fn parameters(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters {
            let symbol = self.names.intern(parameter.name().as_str());
            self.names.bind(self.scope, symbol, Bound::Parameter(parameter.annotation()));
        }
    }

    fn in_type_scope(&mut self, params: Option<&'a ast::TypeParams>, inside: impl FnOnce(&mut Self)) {
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

    // ---- imports ------------------------------------------------------------

    fn import(&mut self, s: &'a ast::StmtImport) {
        for alias in &s.names {
            self.note_import(Statement::Import(alias));
            let module = alias.name.as_str();
            let (local, module) = match &alias.asname {
                Some(local) => (local.as_str(), module),
                None => {
                    let first = module.split('.').next().unwrap_or(module);
                    (first, first)
                }
            };
            self.bind_import(local, Target { level: 0, module, name: None, type_only: false });
        }
    }

    fn import_from(&mut self, s: &'a ast::StmtImportFrom) {
        self.note_import(Statement::From(s));
        let module = s.module.as_ref().map_or("", |m| m.as_str());
        for alias in &s.names {
            let name = alias.name.as_str();
            if name == "*" {
                self.star = true;
                continue;
            }
            let local = alias.asname.as_ref().map_or(name, |n| n.as_str());
            self.bind_import(local, Target { level: s.level, module, name: Some(name), type_only: false });
        }
    }

    fn note_import(&mut self, statement: Statement<'a>) {
        let (optional, type_only) = (self.optional > 0, self.type_only > 0);
        self.imports.push(Imported { statement, optional, type_only });
    }

    fn bind_import(&mut self, local: &'a str, mut target: Target<'a>) {
        target.type_only = self.type_only > 0;
        let symbol = self.names.intern(local);
        let index = super::text::offset(self.targets.len());
        self.targets.push(target);
        self.bind(symbol, Bound::Import(index));
    }

    // ---- binding ------------------------------------------------------------

    fn bind(&mut self, symbol: Symbol, bound: Bound<'a>) {
        self.bind_in(self.scope, symbol, bound);
    }

    fn bind_in(&mut self, scope: ScopeId, symbol: Symbol, bound: Bound<'a>) {
        self.names.bind(scope, symbol, bound);
    }

    /// Binds an assignment target; `value` is what is stored, where there is one thing.
    fn target(&mut self, target: &'a Expr, bound: Bound<'a>, value: Option<&'a Expr>) {
        if !self.descend() {
            return;
        }
        match target {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                let is_del = name.ctx == ExprContext::Del;
                self.bind(symbol, if is_del { Bound::Other } else { bound });
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for (at, element) in elts.iter().enumerate() {
                    let inner = match bound {
                        Bound::Element(iter, None) => Bound::Element(iter, u8::try_from(at).ok()),
                        Bound::Value(Expr::Tuple(values)) if values.len() == elts.len() => {
                            Bound::Value(&values.elts[at])
                        }
                        _ => Bound::Other,
                    };
                    self.target(element, inner, None);
                }
            }
            Expr::Starred(starred) => self.target(&starred.value, Bound::Other, None),
            Expr::Attribute(attribute) => {
                if let Expr::Name(root) = &*attribute.value
                    && matches!(root.id.as_str(), "self" | "cls")
                    && let Some(class) = self.names.class_of(self.scope)
                {
                    if !matches!(bound, Bound::Value(Expr::NoneLiteral(_))) {
                        let symbol = self.names.intern(attribute.attr.as_str());
                        self.names.bind_member(class, symbol, bound, self.scope);
                    }
                } else if let Some(value) = value {
                    self.rooted(What::Store(target, value), false, &attribute.value);
                    self.depth -= 1;
                    return;
                }
                self.chain_base(&attribute.value);
            }
            Expr::Subscript(subscript) => {
                match value {
                    Some(value) => self.rooted(What::Store(target, value), false, &subscript.value),
                    None => {
                        self.chain_base(&subscript.value);
                    }
                }
                self.expr(&subscript.slice, false);
            }
            other => self.expr(other, false),
        }
        self.depth -= 1;
    }

    fn use_symbol(&mut self, symbol: Symbol, bare: Option<&'a Expr>) {
        let index = symbol.0 as usize;
        if index >= self.last_use.len() {
            self.last_use.resize(self.names.len().max(index + 1), u32::MAX);
        }
        if let Some(last) = self.uses.get_mut(self.last_use[index] as usize)
            && last.scope == self.scope
            && last.unit == self.unit
        {
            if last.bare.is_none() {
                last.bare = bare;
            }
            return;
        }
        self.last_use[index] = super::text::offset(self.uses.len());
        let later = self.functions > 0;
        self.uses.push(Use { symbol, scope: self.scope, unit: self.unit, later, bare });
    }

    fn site(&mut self, what: What<'a>, orderless: bool) {
        let (later, optional) = (self.functions > 0, self.optional > 0);
        let (scope, unit) = (self.scope, self.unit);
        self.sites.push(Site { what, scope, unit, later, optional, orderless, root: None });
    }

    fn assigned(&mut self, value: &'a Expr) {
        if matches!(
            value,
            Expr::Call(_) | Expr::BinOp(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::If(_)
        ) {
            self.site(What::Assigned(value), false);
        }
    }

    /// A site whose chain continues with `base`. It comes before the sites inside `base`.
    fn rooted(&mut self, what: What<'a>, orderless: bool, base: &'a Expr) {
        let at = self.sites.len();
        self.site(what, orderless);
        self.sites[at].root = self.chain_base(base);
    }

    /// Notes names that leave through a container, a return or an attribute.
    fn escape(&mut self, value: &'a Expr) {
        if let Expr::Name(_) = value {
            self.site(What::Escape(value), false);
        }
    }

    // ---- expressions --------------------------------------------------------

    fn optional_expr(&mut self, expr: Option<&'a Expr>) {
        if let Some(expr) = expr {
            self.expr(expr, false);
        }
    }

    fn annotation(&mut self, expr: &'a Expr) {
        let outer = std::mem::replace(&mut self.annotation, true);
        self.expr(expr, true);
        self.annotation = outer;
    }

    /// A class named to be inherited from, caught or tested for; not handed on.
    fn class_name(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Tuple(_) | Expr::Subscript(_) => self.annotation(expr),
            other => self.expr(other, false),
        }
    }

    /// `orderless`: the value's order cannot be seen by whoever takes it.
    fn expr(&mut self, expr: &'a Expr, orderless: bool) {
        if !self.descend() {
            return;
        }
        match expr {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                if name.id.as_str() == "__doc__" {
                    self.reads_docs = true;
                }
                match name.ctx {
                    ExprContext::Store | ExprContext::Del => self.bind(symbol, Bound::Other),
                    _ if self.annotation => self.use_symbol(symbol, None),
                    _ if self.names.flags(symbol) & (flag::IMPORTED | flag::BUILTIN) != 0 => {
                        self.use_symbol(symbol, None);
                        self.site(What::Chain(expr), orderless);
                        if let Some(site) = self.sites.last_mut() {
                            site.root = Some(symbol);
                        }
                    }
                    _ => self.use_symbol(symbol, Some(expr)),
                }
            }
            Expr::Attribute(attribute) => {
                if attribute.attr.as_str() == "__doc__" {
                    self.reads_docs = true;
                }
                let what = if self.annotation { What::Member(expr) } else { What::Chain(expr) };
                match root_of(expr) {
                    // Members of the instance are looked up where they are used.
                    Some(root) if matches!(root.as_str(), "self" | "cls") => {
                        self.chain_base(&attribute.value);
                    }
                    // Types have no effects; they may name a submodule.
                    None if self.annotation => {
                        self.chain_base(&attribute.value);
                    }
                    _ => self.rooted(what, orderless, &attribute.value),
                }
            }
            Expr::Call(call) => self.call(call, expr, orderless),
            Expr::Subscript(subscript) => {
                if !self.annotation && root_of(&subscript.value).is_some() {
                    self.rooted(What::Subscript(subscript), orderless, &subscript.value);
                } else {
                    self.expr(&subscript.value, orderless);
                }
                self.expr(&subscript.slice, false);
            }
            Expr::StringLiteral(string) => self.string(string),
            Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::IpyEscapeCommand(_) => {}
            Expr::BinOp(op) => {
                if op.op == ast::Operator::Div {
                    self.site(What::Joined(expr), orderless);
                }
                self.expr(&op.left, false);
                self.expr(&op.right, false);
            }
            Expr::Compare(compare) => {
                self.expr(&compare.left, true);
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    if matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn) && root_of(right).is_some() {
                        self.rooted(What::Contains(&compare.left, right), true, right);
                    } else {
                        self.expr(right, true);
                    }
                }
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|v| self.expr(v, false)),
            Expr::UnaryOp(op) => self.expr(&op.operand, op.op == ast::UnaryOp::Not),
            Expr::If(e) => {
                self.expr(&e.test, true);
                self.expr(&e.body, false);
                self.expr(&e.orelse, false);
            }
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => {
                for element in elts {
                    self.escape(element);
                    self.expr(element, false);
                }
            }
            Expr::Dict(dict) => {
                for item in &dict.items {
                    self.optional_expr(item.key.as_ref());
                    self.escape(&item.value);
                    self.expr(&item.value, false);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                let scope = self.names.open(ScopeKind::Function, self.scope);
                let outer = std::mem::replace(&mut self.scope, scope);
                self.functions += 1;
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.escape(&lambda.body);
                self.expr(&lambda.body, false);
                self.functions -= 1;
                self.scope = outer;
            }
            Expr::ListComp(e) => self.comprehension(&e.generators, &[&*e.elt], orderless),
            Expr::SetComp(e) => self.comprehension(&e.generators, &[&*e.elt], true),
            Expr::Generator(e) => self.comprehension(&e.generators, &[&*e.elt], orderless),
            Expr::DictComp(e) => match &e.key {
                Some(key) => self.comprehension(&e.generators, &[key, &*e.value], false),
                None => self.comprehension(&e.generators, &[&*e.value], false),
            },
            Expr::Named(e) => {
                self.expr(&e.value, false);
                if let Expr::Name(name) = &*e.target {
                    let symbol = self.names.intern(&name.id);
                    let mut scope = self.scope;
                    while self.names.scope(scope).kind == ScopeKind::Inner {
                        scope = self.names.scope(scope).parent;
                    }
                    self.bind_in(scope, symbol, Bound::Value(&e.value));
                }
            }
            Expr::FString(e) => {
                for part in &e.value {
                    if let ast::FStringPart::FString(f) = part {
                        self.interpolated(&f.elements);
                    }
                }
            }
            Expr::TString(e) => {
                for part in &e.value {
                    self.interpolated(&part.elements);
                }
            }
            Expr::Await(e) => self.expr(&e.value, orderless),
            Expr::Yield(e) => {
                if let Some(value) = &e.value {
                    self.escape(value);
                    self.expr(value, false);
                }
            }
            Expr::YieldFrom(e) => self.expr(&e.value, false),
            Expr::Starred(e) => self.expr(&e.value, false),
            Expr::Slice(e) => {
                self.optional_expr(e.lower.as_deref());
                self.optional_expr(e.upper.as_deref());
                self.optional_expr(e.step.as_deref());
            }
        }
        self.depth -= 1;
    }

    fn call(&mut self, call: &'a ast::ExprCall, expr: &'a Expr, orderless: bool) {
        let at = self.sites.len();
        self.site(What::Call(call, expr), orderless);
        let (mut hides_order, mut tests_class) = (false, false);
        let outer = self.modules;
        match &*call.func {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                self.use_symbol(symbol, None);
                self.sites[at].root = Some(symbol);
                match name.id.as_str() {
                    "sorted" | "set" | "frozenset" | "len" | "any" | "all" | "sum" | "max" | "min"
                    | "bool" => {
                        hides_order = true;
                    }
                    "isinstance" | "issubclass" => tests_class = true,
                    "include" => self.modules = true,
                    _ => {}
                }
            }
            Expr::Attribute(attribute) => {
                if attribute.attr.as_str() == "autodiscover_tasks" {
                    self.modules = true;
                }
                self.sites[at].root = self.chain_base(&attribute.value);
            }
            other => self.expr(other, false),
        }
        for (at, argument) in call.arguments.args.iter().enumerate() {
            if at == 1 && tests_class {
                self.class_name(argument);
            } else {
                self.expr(argument, hides_order);
            }
        }
        for keyword in &call.arguments.keywords {
            self.expr(&keyword.value, false);
        }
        self.modules = outer;
    }

    /// The part of a chain before its last attribute: its root is used, but not as a
    /// value of its own.
    fn chain_base(&mut self, value: &'a Expr) -> Option<Symbol> {
        let mut at = value;
        let depth = self.depth;
        loop {
            match at {
                Expr::Name(name) => {
                    let symbol = self.names.intern(&name.id);
                    self.use_symbol(symbol, None);
                    self.depth = depth;
                    return Some(symbol);
                }
                // Counted, because freeing the tree recurses here too.
                Expr::Attribute(attribute) if self.descend() => at = &attribute.value,
                Expr::Attribute(_) => break,
                other => {
                    self.expr(other, false);
                    break;
                }
            }
        }
        self.depth = depth;
        None
    }

    fn comprehension(&mut self, generators: &'a [ast::Comprehension], parts: &[&'a Expr], orderless: bool) {
        let scope = self.names.open(ScopeKind::Inner, self.scope);
        let outer = self.scope;
        for (at, generator) in generators.iter().enumerate() {
            // The first iterable is evaluated outside.
            if at > 0 {
                self.scope = scope;
            }
            self.expr(&generator.iter, orderless);
            self.scope = scope;
            self.target(&generator.target, Bound::Element(&generator.iter, None), None);
            for condition in &generator.ifs {
                self.expr(condition, true);
            }
        }
        for part in parts {
            self.escape(part);
            self.expr(part, false);
        }
        self.scope = outer;
    }

    fn interpolated(&mut self, elements: &'a ast::InterpolatedStringElements) {
        if !self.descend() {
            return;
        }
        for element in elements {
            if let ast::InterpolatedStringElement::Interpolation(inner) = element {
                self.expr(&inner.expression, false);
                if let Some(spec) = &inner.format_spec {
                    self.interpolated(&spec.elements);
                }
            }
        }
        self.depth -= 1;
    }

    fn string(&mut self, string: &'a ast::ExprStringLiteral) {
        let [literal] = string.value.as_slice() else { return };
        let text: &'a str = &literal.value;
        if self.annotation {
            self.forward_reference(text);
        }
        let named = is_dotted(text) || (self.modules && is_identifier(text));
        if named && self.seen_strings.insert(text) {
            self.strings.push((text, string.range));
        }
    }

    /// A quoted annotation uses the names in it.
    fn forward_reference(&mut self, text: &'a str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            let root = word.split('.').next().unwrap_or("");
            if !root.is_empty() && !root.starts_with(|c: char| c.is_ascii_digit()) {
                let symbol = self.names.intern(root);
                self.use_symbol(symbol, None);
            }
        }
    }

    fn pattern(&mut self, pattern: &'a ast::Pattern) {
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

    fn capture(&mut self, name: Option<&'a ast::Identifier>) {
        if let Some(name) = name {
            let symbol = self.names.intern(name.as_str());
            self.bind(symbol, Bound::Other);
        }
    }

    /// Whether a name may stand for something outside the file, by all its bindings.
    pub(super) fn may_matter(&self, symbol: Symbol) -> bool {
        self.names.flags(symbol) & (flag::IMPORTED | flag::ALIAS | flag::BUILTIN | flag::FIXTURE) != 0
    }
}

/// The name at the root of an attribute chain.
pub(super) fn root_of(expr: &Expr) -> Option<&ast::name::Name> {
    let mut at = expr;
    loop {
        match at {
            Expr::Name(name) => return Some(&name.id),
            Expr::Attribute(attribute) => at = &attribute.value,
            _ => return None,
        }
    }
}

/// The range of the statement, when `body` begins with a docstring.
fn docstring(body: &[Stmt]) -> Option<TextRange> {
    match body.first()? {
        Stmt::Expr(e) if e.value.is_string_literal_expr() => Some(e.range),
        _ => None,
    }
}

/// A target whose value is looked up where it is read: a name, a member of the class.
fn is_followed(target: &Expr) -> bool {
    match target {
        Expr::Name(_) => true,
        Expr::Attribute(a) => matches!(&*a.value, Expr::Name(n) if matches!(n.id.as_str(), "self" | "cls")),
        _ => false,
    }
}

/// `a.b`, `a.b:c`: at least two identifiers, at most one colon.
fn is_dotted(text: &str) -> bool {
    if text.len() > 256 {
        return false;
    }
    let (mut dots, mut colons, mut fresh) = (0, 0, true);
    for byte in text.bytes() {
        match byte {
            b'.' | b':' if fresh => return false,
            b'.' => {
                dots += 1;
                fresh = true;
            }
            b':' => {
                colons += 1;
                fresh = true;
            }
            b'0'..=b'9' if fresh => return false,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => fresh = false,
            _ => return false,
        }
    }
    !fresh && colons <= 1 && dots + colons > 0
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
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

fn is_typing(module: &str) -> bool {
    matches!(module, "typing" | "typing_extensions")
}

fn is_main_guard(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let ([ast::CmpOp::Eq], [right]) = (&*compare.ops, &*compare.comparators) else { return false };
    let is_name = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == "__name__");
    let is_main = |e: &Expr| matches!(e, Expr::StringLiteral(s) if s.value.to_str() == "__main__");
    (is_name(&compare.left) && is_main(right)) || (is_main(&compare.left) && is_name(right))
}

fn only_imports(body: &[Stmt]) -> bool {
    body.iter().all(|s| matches!(s, Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_)))
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
