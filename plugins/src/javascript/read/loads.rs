//! Loads that are calls: `require`, `import()`, `require.resolve`, mocks,
//! `import.meta.glob`, `require.context`.
//!
//! What such a call takes from its module is called by the call's own text in
//! references: `import("./a")`, `require("./a").b`.

use owed_engine::facts::{ImportKind, LoadMode, Names, Opaque, PathBase, PathExpr, Pin, Presence};
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, ImportExpression};
use oxc_span::Span;

use super::acts::{option, options, split_glob};
use super::globs::{escaped, globs, specifier};
use super::taken::{Taken, arrow_params, function_params};
use super::value::{Value, below, normal};
use super::walk::{Binding, Walk, key};

impl<'a> Walk<'_, 'a> {
    /// Whether an initialiser is a load of a literal module, or a member of one.
    pub(super) fn is_load_shape(&self, init: &Expression<'a>) -> bool {
        let mut at = init.get_inner_expression();
        if let Expression::StaticMemberExpression(it) = at {
            at = it.object.get_inner_expression();
        }
        if let Expression::AwaitExpression(it) = at {
            at = it.argument.get_inner_expression();
        }
        match at {
            Expression::CallExpression(it) => {
                matches!(&it.callee, Expression::Identifier(c) if self.is_global(c, "require"))
                    && matches!(it.arguments.as_slice(), [Argument::StringLiteral(_)])
            }
            Expression::ImportExpression(it) => matches!(it.source, Expression::StringLiteral(_)),
            _ => false,
        }
    }

    /// `import(x)`.
    pub(super) fn on_import_expression(&mut self, it: &'a ImportExpression<'a>) {
        self.load(ImportKind::Dynamic, "import", &it.source, it.span, LoadMode::Esm);
        if let Some(op) = self.constant_text(&it.source, 8).and_then(|source| self.module(&source)) {
            self.on_root(op, 0);
        }
    }

    /// A call is being visited.
    pub(super) fn on_call(&mut self, it: &'a CallExpression<'a>) {
        if self.declarations {
            return;
        }
        match &it.callee {
            Expression::Super(_) => self.on_super_call(it),
            Expression::StaticMemberExpression(callee) => {
                let name = callee.property.name.as_str();
                match (name, &callee.object) {
                    ("require", _) if self.is_require(&it.callee) => return self.on_require(it),
                    ("resolve", Expression::ImportMeta(_)) => {
                        self.named("import.meta.resolve", "resolution", it.span);
                        self.resolve(it, LoadMode::Esm);
                    }
                    ("resolve", object) if self.is_require(object) => self.resolve(it, LoadMode::Cjs),
                    ("glob" | "globEager", Expression::ImportMeta(_)) => self.meta_glob(it),
                    ("context", object) if self.is_require(object) => self.context(it),
                    ("toMatchFileSnapshot", _) => self.file_snapshot(it),
                    ("forEach" | "map" | "flatMap" | "filter" | "some" | "every" | "find", list) => {
                        self.bind_callback(it, list);
                    }
                    ("then", promise) => self.bind_module(it, promise),
                    ("get" | "getOwnPropertyDescriptor", Expression::Identifier(object))
                        if self.is_global(object, "Reflect") || self.is_global(object, "Object") =>
                    {
                        if let Some(name) =
                            it.arguments.get(1).and_then(Argument::as_expression).and_then(key)
                        {
                            self.on_assigned_property(name, it.span);
                        }
                    }
                    ("useRealTimers" | "useFakeTimers" | "setSystemTime", _) => self.on_timer_call(name, it),
                    ("stubGlobal", object) if self.is_mocker(object, name, 32) => {
                        if let Some(name) =
                            it.arguments.first().and_then(Argument::as_expression).and_then(key)
                        {
                            self.held.assigned.insert(name);
                        }
                    }
                    ("formData", _) => self.held.forms = true,
                    (name, object) => self.on_mock(it, name, object),
                }
            }
            callee => {
                if self.is_require(callee) {
                    return self.on_require(it);
                }
                if self.asks_elsewhere(callee) {
                    self.unbounded("createRequire", ImportKind::Computed, it.span);
                }
                self.on_named_call(it);
            }
        }
        self.on_path(it.span, None);
    }

    /// `createRequire(elsewhere)("x")`: what it loads lies elsewhere.
    fn asks_elsewhere(&self, callee: &'a Expression<'a>) -> bool {
        let made_by = match callee.get_inner_expression() {
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } if keys.is_empty() => init.get_inner_expression(),
                _ => return false,
            },
            other => other,
        };
        matches!(made_by, Expression::CallExpression(made) if self.operation(&made.callee)
            .is_some_and(|op| op.root.name == "node:module" && op.path.as_slice() == ["createRequire"]))
    }

    /// `import("fs").then((fs) => …)`.
    fn bind_module(&mut self, it: &'a CallExpression<'a>, promise: &'a Expression<'a>) {
        if !matches!(promise, Expression::ImportExpression(_)) || self.operation(promise).is_none() {
            return;
        }
        let parameter = match it.arguments.first().and_then(Argument::as_expression) {
            Some(Expression::ArrowFunctionExpression(it)) => arrow_params(it),
            Some(Expression::FunctionExpression(it)) => function_params(it),
            _ => return,
        };
        if let Some(pattern) = parameter {
            self.bind_pattern(pattern, promise, &mut Vec::new(), false);
        }
    }

    /// `["a", "b"].forEach((name) => require(`./${name}`))`.
    fn bind_callback(&mut self, it: &'a CallExpression<'a>, list: &'a Expression<'a>) {
        let Some(callback) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let parameter = match callback {
            Expression::ArrowFunctionExpression(it) => arrow_params(it),
            Expression::FunctionExpression(it) => function_params(it),
            _ => return,
        };
        if let Some(id) = parameter.and_then(BindingPattern::get_binding_identifier)
            && let Some(symbol) = id.symbol_id.get()
            && self.elements(list, 4).is_some()
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.known[symbol.index()].binding = super::walk::Binding::Each { list };
        }
    }

    /// `expect(x).toMatchFileSnapshot("./a.txt")`, relative to the test file.
    fn file_snapshot(&mut self, it: &'a CallExpression<'a>) {
        let Some(path) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let anchored = match self.value(path) {
            Value::Text(pieces) => Value::Path(PathBase::Module, pieces),
            other => other,
        };
        self.handed_on("toMatchFileSnapshot", &anchored, it.span);
        self.snapshot_flags("toMatchFileSnapshot", it.span);
    }

    fn call_root(&self, it: &'a CallExpression<'a>) -> Option<super::operations::Op<'a>> {
        self.module(&self.constant_text(it.arguments.first()?.as_expression()?, 8)?)
    }

    fn on_require(&mut self, it: &'a CallExpression<'a>) {
        match it.arguments.first() {
            // AMD: `require(["./a"], (a) => …)`.
            Some(Argument::ArrayExpression(list)) => {
                for element in &list.elements {
                    if let Some(source) = element.as_expression() {
                        self.load_whole(ImportKind::Require, "require", source, it.span, LoadMode::Cjs);
                    }
                }
            }
            Some(argument) => match argument.as_expression() {
                Some(source) => self.load(ImportKind::Require, "require", source, it.span, LoadMode::Cjs),
                None => self.unbounded("require", ImportKind::Computed, it.span),
            },
            None => {}
        }
        if let Some(op) = self.call_root(it) {
            self.on_root(op, 0);
        }
    }

    fn resolve(&mut self, it: &'a CallExpression<'a>, mode: LoadMode) {
        if let Some(source) = it.arguments.first().and_then(Argument::as_expression) {
            self.load_whole(ImportKind::Resolve, "resolve", source, it.span, mode);
            // Whoever asks where a manifest lies wants the directory of its package.
            if let Some(text) = self.value(source).literal()
                && let Some(package) = text.strip_suffix("/package.json")
                && !text.starts_with(['.', '/'])
            {
                self.add_load(&format!("{package}/**"), ImportKind::Glob, "resolve", it.span, mode);
            }
        }
    }

    /// `import.meta.glob(patterns, options)`.
    fn meta_glob(&mut self, it: &'a CallExpression<'a>) {
        let Some(patterns) = it.arguments.first().and_then(Argument::as_expression) else { return };
        let base = options(&it.arguments, 1).and_then(|o| option(o, "base")).and_then(|e| self.literal(e));
        let list = self.elements(patterns, 4).unwrap_or_else(|| vec![patterns]);
        for pattern in list {
            match self.literal(pattern) {
                Some(pattern) => {
                    let pattern = match (&base, pattern.starts_with('.')) {
                        (Some(base), true) => format!("./{}", normal(&format!("{base}/{pattern}"))),
                        _ => pattern,
                    };
                    self.listed("import.meta.glob", &pattern, it.span);
                    self.add_load(&pattern, ImportKind::Glob, "glob", it.span, LoadMode::Esm);
                }
                None => self.unbounded("glob", ImportKind::Computed, it.span),
            }
        }
    }

    /// What matches a pattern is an input, besides what the files say.
    fn listed(&mut self, operation: &str, pattern: &str, span: Span) {
        let (base, rest) = match (pattern.strip_prefix('/'), pattern.starts_with('.')) {
            _ if pattern.starts_with('!') => return,
            (Some(rest), _) => (PathBase::Cwd, rest),
            (None, true) => (PathBase::Module, pattern),
            // An alias: the project says where it leads.
            (None, false) => return self.named(operation, "listing", span),
        };
        let (dir, glob) = split_glob(rest);
        let dir = PathExpr { base, path: below(base, &dir) };
        self.pinned(operation, Pin::Listing { dir, glob }, span);
    }

    /// `require.context(directory, recursive, pattern)`: the pattern only narrows.
    fn context(&mut self, it: &'a CallExpression<'a>) {
        let directory = it.arguments.first().and_then(Argument::as_expression).and_then(|e| self.literal(e));
        let flat = matches!(it.arguments.get(1), Some(Argument::BooleanLiteral(deep)) if !deep.value);
        match directory {
            Some(directory) => {
                let glob = if flat { "*" } else { "**" };
                let specifier = format!("{}/{glob}", escaped(directory.trim_end_matches('/')));
                self.listed("require.context", &specifier, it.span);
                self.add_load(&specifier, ImportKind::Glob, "glob", it.span, LoadMode::Cjs);
            }
            None => self.unbounded("glob", ImportKind::Computed, it.span),
        }
    }

    /// A load whose result may be used in part.
    pub(super) fn load(
        &mut self,
        kind: ImportKind,
        verb: &str,
        source: &'a Expression<'a>,
        span: Span,
        mode: LoadMode,
    ) {
        let values = self.values(source);
        let (taken, caught) = if values.len() == 1 { self.taken() } else { (Taken::Whole, false) };
        let optional = caught || self.tries.last().is_some_and(|depth| *depth > 0);
        for value in values {
            let first = self.imports.len();
            match specifier(&value) {
                Some(specifier) => self.take(&specifier, kind, verb, &taken, span, mode),
                None => self.computed(&value, verb, span, mode),
            }
            if optional {
                self.may_be_absent(first, verb, span);
            }
        }
    }

    /// A load whose target is an input as a whole.
    pub(super) fn load_whole(
        &mut self,
        kind: ImportKind,
        verb: &str,
        source: &'a Expression<'a>,
        span: Span,
        mode: LoadMode,
    ) {
        let optional = self.tries.last().is_some_and(|depth| *depth > 0) && kind != ImportKind::Mock;
        for value in self.values(source) {
            let first = self.imports.len();
            match specifier(&value) {
                Some(specifier) => {
                    self.add_load(&specifier, kind, verb, span, mode);
                }
                None => self.computed(&value, verb, span, mode),
            }
            if optional {
                self.may_be_absent(first, verb, span);
            }
        }
    }

    /// The program goes on without the module: whether it is there is an input.
    fn may_be_absent(&mut self, first: usize, verb: &str, span: Span) {
        for import in &mut self.imports[first..] {
            import.presence = Presence::Optional;
        }
        self.named(verb, "absence", span);
    }

    pub(super) fn add_load(
        &mut self,
        specifier: &str,
        kind: ImportKind,
        verb: &str,
        span: Span,
        mode: LoadMode,
    ) {
        let local = format!("{verb}({specifier:?})");
        let import = self.add_import(specifier, kind, Names::Namespace(local.clone()), span);
        self.imports[import].mode = mode;
        self.units.refer_text(local);
    }

    fn computed(&mut self, value: &Value, verb: &str, span: Span, mode: LoadMode) {
        let globs = globs(value);
        if globs.is_empty() {
            if !matches!(value, Value::Module) {
                self.unbounded(verb, ImportKind::Computed, span);
            }
            return;
        }
        for glob in globs {
            self.add_load(&glob, ImportKind::Computed, verb, span, mode);
        }
    }

    /// A load that may reach anything.
    fn unbounded(&mut self, verb: &str, kind: ImportKind, span: Span) {
        self.add_load("", kind, verb, span, LoadMode::Esm);
        self.opaque(verb, Opaque::ComputedLoad, span);
    }
}
