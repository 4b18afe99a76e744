//! Paths and `import.meta` where no modelled operation consumes them.
//!
//! A constant path that is handed to unknown code is taken as read by it: a file by
//! its bytes, a directory with everything below. Configuration files name paths for
//! the runner, whose plugin reads them; there a path alone is no input.

use owed_engine::facts::{Opaque, PathBase, Pin};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, AssignmentTarget, BindingPattern, Expression, NewExpression};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::value::{Place, Value};
use super::walk::{Walk, key, static_key};

/// Who takes a path in the end.
enum Leads {
    /// Something that is looked at itself.
    Consumed,
    /// A variable: its uses say more.
    Held(SymbolId),
    /// Anyone.
    Escapes,
}

/// What a callee does with a path.
enum Takes {
    /// Makes another path of it.
    Builds,
    /// Uses it as a path, and is looked at itself.
    Path,
    /// Anything.
    Other,
}

impl<'a> Walk<'_, 'a> {
    /// The place of this file is read by the node `up` levels above, as a value or as
    /// part of a path.
    pub(super) fn on_own_path(&mut self, up: usize, operation: &str, span: Span) {
        match self.leads_to(up) {
            Leads::Consumed => {}
            Leads::Held(symbol) => {
                let exported = self.exported.contains(&symbol);
                let known = &mut self.known[symbol.index()];
                known.own_path = true;
                if exported || known.met {
                    self.named(operation, "project-root", span);
                }
            }
            Leads::Escapes => self.named(operation, "project-root", span),
        }
    }

    /// Follows a path that is being built to whoever takes it.
    fn leads_to(&self, mut up: usize) -> Leads {
        if self.is_configuration() {
            return Leads::Consumed;
        }
        loop {
            up = self.wrappers(up);
            let Some(node) = self.ancestor(up).map(|node| node.span()) else { return Leads::Escapes };
            match self.ancestor(up + 1) {
                // Part of a text, of options, of one of several values.
                Some(
                    AstKind::TemplateLiteral(_)
                    | AstKind::AwaitExpression(_)
                    | AstKind::ObjectProperty(_)
                    | AstKind::ObjectExpression(_)
                    | AstKind::ArrayExpression(_)
                    | AstKind::LogicalExpression(_),
                ) => {}
                Some(AstKind::BinaryExpression(it)) if it.operator == BinaryOperator::Addition => {}
                Some(AstKind::ConditionalExpression(it)) if it.test.span() == node => return Leads::Consumed,
                Some(AstKind::ConditionalExpression(_)) => {}
                Some(AstKind::StaticMemberExpression(it)) => match it.property.name.as_str() {
                    "href" | "pathname" => {}
                    "toString" => up += 1,
                    _ => return Leads::Escapes,
                },
                Some(AstKind::VariableDeclarator(it)) => return self.held_by(&it.id),
                Some(AstKind::AssignmentExpression(it)) => {
                    let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else {
                        return Leads::Escapes;
                    };
                    return match self.symbol(target) {
                        Some(symbol) => Leads::Held(symbol),
                        None => Leads::Escapes,
                    };
                }
                Some(AstKind::UnaryExpression(it)) if it.operator == UnaryOperator::Typeof => {
                    return Leads::Consumed;
                }
                Some(AstKind::ExpressionStatement(_) | AstKind::ImportExpression(_)) => {
                    return Leads::Consumed;
                }
                Some(AstKind::CallExpression(call)) => match self.takes_path(&call.callee) {
                    Takes::Builds => {}
                    Takes::Path => return Leads::Consumed,
                    Takes::Other => return Leads::Escapes,
                },
                Some(AstKind::NewExpression(new)) => match self.constructs_path(&new.callee) {
                    Takes::Builds => {}
                    Takes::Path => return Leads::Consumed,
                    Takes::Other => return Leads::Escapes,
                },
                _ => return Leads::Escapes,
            }
            up += 1;
        }
    }

    fn held_by(&self, id: &BindingPattern<'a>) -> Leads {
        match id.get_binding_identifier().and_then(|id| id.symbol_id.get()) {
            Some(symbol) => Leads::Held(symbol),
            None => Leads::Escapes,
        }
    }

    fn takes_path(&self, callee: &'a Expression<'a>) -> Takes {
        if self.is_require(callee) {
            return Takes::Path;
        }
        if let Expression::StaticMemberExpression(it) = callee
            && it.property.name == "resolve"
            && (matches!(it.object, Expression::ImportMeta(_)) || self.is_require(&it.object))
        {
            return Takes::Path;
        }
        let Some(op) = self.operation(callee) else { return Takes::Other };
        match (op.root.name.as_str(), op.path.as_slice()) {
            ("node:path", ["basename" | "extname" | "isAbsolute"]) => Takes::Path,
            ("node:path", ["relative" | "parse" | "format" | "matchesGlob"]) => Takes::Other,
            ("node:path" | "node:url", _) | ("String", []) | ("node:fs", ["realpath" | "realpathSync"]) => {
                Takes::Builds
            }
            ("node:util" | "node:assert" | "node:events" | "node:crypto" | "node:buffer", _) => Takes::Other,
            ("process", ["chdir" | "loadEnvFile"]) | ("vi", _) | ("require", _) => Takes::Path,
            (name, _) if name.contains(':') => Takes::Path,
            _ => Takes::Other,
        }
    }

    fn constructs_path(&self, callee: &'a Expression<'a>) -> Takes {
        match self.operation(callee) {
            Some(op) => match (op.root.name.as_str(), op.path.as_slice()) {
                ("URL", []) => Takes::Builds,
                ("Worker" | "SharedWorker", []) | ("node:worker_threads", ["Worker"]) => Takes::Path,
                _ => Takes::Other,
            },
            None => Takes::Other,
        }
    }

    /// `import.meta` is being visited.
    pub(super) fn on_import_meta(&mut self) {
        if self.declarations {
            return;
        }
        let up = self.wrappers(0);
        let Some(span) = self.ancestor(up).map(|node| node.span()) else { return };
        match self.ancestor(up + 1) {
            Some(AstKind::StaticMemberExpression(it)) => {
                self.on_meta_member(it.property.name.as_str(), up + 1, it.span);
            }
            Some(AstKind::ComputedMemberExpression(it)) if key(&it.expression).is_some() => {
                let name = key(&it.expression).expect("just asked");
                self.on_meta_member(name, up + 1, it.span);
            }
            Some(AstKind::VariableDeclarator(it)) => self.on_meta_pattern(&it.id, span),
            Some(AstKind::UnaryExpression(it)) if it.operator == UnaryOperator::Typeof => {}
            _ => self.meta_escapes(span),
        }
    }

    fn on_meta_member(&mut self, name: &'a str, up: usize, span: Span) {
        match name {
            "env" => self.on_meta_env(up, span),
            "url" | "dirname" | "filename" => self.on_own_path(up, "import.meta.url", span),
            // Their calls are looked at; as values they may load anything.
            "resolve" | "glob" | "globEager" if !self.is_callee(up) => {
                self.opaque(&format!("import.meta.{name}"), Opaque::ComputedLoad, span);
            }
            "resolve" | "glob" | "globEager" | "hot" | "vitest" | "webpackHot" | "jest" => {}
            "main" => self.opaque("import.meta.main", Opaque::Loader, span),
            _ => {
                let asked = matches!(self.ancestor(self.wrappers(up) + 1), Some(AstKind::UnaryExpression(it))
                    if it.operator == UnaryOperator::Typeof);
                if !asked {
                    self.opaque(&format!("import.meta.{name}"), Opaque::Unlisted, span);
                }
            }
        }
    }

    /// `const { url, env } = import.meta`.
    fn on_meta_pattern(&mut self, id: &'a BindingPattern<'a>, span: Span) {
        let BindingPattern::ObjectPattern(pattern) = id else { return self.meta_escapes(span) };
        for property in &pattern.properties {
            match (static_key(&property.key), &property.value) {
                (Some("url" | "dirname" | "filename"), BindingPattern::BindingIdentifier(id)) => {
                    if let Some(symbol) = id.symbol_id.get() {
                        self.known[symbol.index()].own_path = true;
                    }
                }
                (Some("env"), BindingPattern::ObjectPattern(names)) if names.rest.is_none() => {
                    for name in &names.properties {
                        match static_key(&name.key) {
                            Some(name) => self.meta_name(name, span),
                            None => self.meta_environment(span),
                        }
                    }
                }
                (Some("hot" | "vitest" | "jest"), _) => {}
                (Some(name @ ("resolve" | "glob" | "globEager")), _) => {
                    self.opaque(&format!("import.meta.{name}"), Opaque::ComputedLoad, span);
                }
                _ => self.meta_escapes(span),
            }
        }
        if pattern.rest.is_some() {
            self.meta_escapes(span);
        }
    }

    fn meta_escapes(&mut self, span: Span) {
        self.meta_environment(span);
        self.named("import.meta", "project-root", span);
    }

    fn meta_environment(&mut self, span: Span) {
        self.named("import.meta.env", "whole-env", span);
        self.named("import.meta.env", "import-meta-env", span);
    }

    fn meta_name(&mut self, name: &str, span: Span) {
        if !matches!(name, "MODE" | "BASE_URL" | "PROD" | "DEV" | "SSR" | "VITEST") {
            self.pinned(&format!("import.meta.env.{name}"), Pin::Env(name.to_owned()), span);
        }
        self.named("import.meta.env", "import-meta-env", span);
    }

    /// `import.meta.env`, `up` levels above.
    fn on_meta_env(&mut self, up: usize, span: Span) {
        let up = self.wrappers(up);
        let node = self.ancestor(up).map_or(span, |node| node.span());
        let name = match self.ancestor(up + 1) {
            Some(AstKind::StaticMemberExpression(it)) => Some(it.property.name.as_str()),
            Some(AstKind::ComputedMemberExpression(it)) if it.object.span() == node => key(&it.expression),
            Some(AstKind::VariableDeclarator(it)) => {
                if let BindingPattern::ObjectPattern(pattern) = &it.id
                    && pattern.rest.is_none()
                {
                    for property in &pattern.properties {
                        match static_key(&property.key) {
                            Some(name) => self.meta_name(name, span),
                            None => self.meta_environment(span),
                        }
                    }
                    return;
                }
                None
            }
            Some(AstKind::BinaryExpression(it)) if it.operator == BinaryOperator::In => {
                match self.value(&it.left).literal() {
                    Some(name) => self.meta_name(&name, span),
                    None => self.meta_environment(span),
                }
                return;
            }
            Some(AstKind::UnaryExpression(it)) if it.operator == UnaryOperator::Typeof => return,
            _ => None,
        };
        match name {
            Some(name) => {
                let member = self.wrappers(up + 1);
                if !matches!(self.written(member), Some(super::usage::Usage::Write)) {
                    self.meta_name(name, span);
                }
            }
            None => self.meta_environment(span),
        }
    }

    /// A call or construction is being visited that may build a path.
    pub(super) fn on_path(&mut self, span: Span, new: Option<&'a NewExpression<'a>>) {
        if let Some(new) = new {
            return self.on_url(new);
        }
        let value = match self.ancestor(0) {
            Some(AstKind::CallExpression(call)) => {
                let builds = self
                    .operation(&call.callee)
                    .is_some_and(|op| matches!(op.root.name.as_str(), "node:path" | "node:url"));
                if !builds || self.is_configuration() || !self.is_handed_on() {
                    return;
                }
                self.evaluate_call(call, 12)
            }
            _ => return,
        };
        let Value::Path(base, _) = &value else { return };
        if *base == PathBase::Absolute {
            return;
        }
        self.handed_on("path", &value, span);
    }

    pub(super) fn handed_on(&mut self, shown: &str, value: &Value, span: Span) {
        match value.place() {
            Place::At(path) if is_file(&path.path) => self.pinned(shown, Pin::File(path), span),
            Place::At(path) if path.base == PathBase::Module || !path.path.is_empty() => {
                self.bounded(shown, path, span);
            }
            Place::Below(path) => self.bounded(shown, path, span),
            _ => {}
        }
    }

    /// `new URL("./asset.png", import.meta.url)`: a bundler ships the file.
    fn on_url(&mut self, new: &'a NewExpression<'a>) {
        let in_new = matches!(self.ancestor(1), Some(AstKind::NewExpression(outer))
            if matches!(&outer.callee, Expression::Identifier(it)
                if matches!(it.name.as_str(), "URL" | "Worker" | "SharedWorker")));
        if new.arguments.len() != 2 || in_new {
            return;
        }
        let value = self.new_value(new);
        let Value::Path(..) = &value else { return };
        match value.place() {
            Place::At(path) if is_file(&path.path) => self.pinned("URL", Pin::File(path), new.span),
            _ if self.is_handed_on() && !self.is_configuration() => self.handed_on("URL", &value, new.span),
            _ => {}
        }
    }

    /// Whether the value being visited is an argument or option of a call that is not
    /// looked at itself.
    fn is_handed_on(&self) -> bool {
        let mut up = 0;
        loop {
            let Some(node) = self.ancestor(up).map(|node| node.span()) else { return false };
            match self.ancestor(up + 1) {
                Some(
                    AstKind::ObjectProperty(_)
                    | AstKind::ObjectExpression(_)
                    | AstKind::ArrayExpression(_)
                    | AstKind::TSAsExpression(_)
                    | AstKind::TSNonNullExpression(_),
                ) => up += 1,
                Some(AstKind::StaticMemberExpression(it))
                    if matches!(it.property.name.as_str(), "href" | "pathname") =>
                {
                    up += 1;
                }
                Some(AstKind::CallExpression(call)) => {
                    return call.callee.span() != node && !self.looks_at(&call.callee);
                }
                Some(AstKind::NewExpression(new)) => {
                    return new.callee.span() != node
                        && !matches!(&new.callee, Expression::Identifier(it) if it.name == "URL" || it.name == "Worker");
                }
                _ => return false,
            }
        }
    }

    /// Whether a callee decides about its paths itself.
    fn looks_at(&self, callee: &'a Expression<'a>) -> bool {
        self.is_require(callee)
            || self
                .operation(callee)
                .is_some_and(|op| op.root.name.contains(':') || op.root.name == "process")
            || matches!(callee, Expression::StaticMemberExpression(it)
                if matches!(&it.object, Expression::Identifier(o) if matches!(o.name.as_str(), "console" | "expect")))
            || matches!(callee, Expression::Identifier(it) if it.name == "expect" || it.name == "String")
    }

    /// `vitest.config.ts`, `jest.setup.js` and the like.
    fn is_configuration(&self) -> bool {
        self.file.contains(".config.") || self.file.starts_with("vitest.") || self.file.starts_with("jest.")
    }

    fn new_value(&self, new: &'a NewExpression<'a>) -> Value {
        match new.arguments.get(1).and_then(Argument::as_expression) {
            Some(base) if matches!(self.value(base), Value::Path(..)) => self.evaluate_new(new, 12),
            _ => Value::unknown(),
        }
    }
}

/// Whether a path names a file, by its extension.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').is_some_and(|at| at > 0 && at + 1 < name.len()) && name != ".."
}
