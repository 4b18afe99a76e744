//! Paths and `import.meta` where no modelled operation consumes them.
//!
//! A constant path that is handed to unknown code is taken as read by it: a file by
//! its bytes, a directory with everything below. Configuration files name paths for
//! the runner, whose plugin reads them; there a path alone is no input.

use owed_engine::facts::{PathBase, Pin};
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression, NewExpression};
use oxc_span::{GetSpan, Span};

use super::value::{Place, Value};
use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// `__dirname` or `__filename` is being visited.
    pub(super) fn on_own_path(&mut self, span: Span) {
        if !self.is_path_part(0) {
            self.named("__dirname", "project-root", span);
        }
    }

    /// `import.meta` is being visited.
    pub(super) fn on_import_meta(&mut self) {
        let Some(AstKind::StaticMemberExpression(member)) = self.ancestor(1) else { return };
        let span = member.span;
        match member.property.name.as_str() {
            "env" => self.on_meta_env(span),
            "url" | "dirname" | "filename" if !self.is_path_part(1) => {
                self.named("import.meta.url", "project-root", span);
            }
            _ => {}
        }
    }

    fn on_meta_env(&mut self, span: Span) {
        let name = match self.ancestor(2) {
            Some(AstKind::StaticMemberExpression(it)) => Some(it.property.name.as_str()),
            Some(AstKind::ComputedMemberExpression(it)) => match &it.expression {
                Expression::StringLiteral(key) => Some(key.value.as_str()),
                _ => None,
            },
            _ => None,
        };
        match name {
            Some("MODE" | "BASE_URL" | "PROD" | "DEV" | "SSR" | "VITEST") => {
                self.named("import.meta.env", "import-meta-env", span);
            }
            Some(_) if self.is_target(2) => {}
            Some(name) => {
                self.pinned(&format!("import.meta.env.{name}"), Pin::Env(name.to_owned()), span);
                self.named("import.meta.env", "import-meta-env", span);
            }
            None => {
                self.named("import.meta.env", "whole-env", span);
                self.named("import.meta.env", "import-meta-env", span);
            }
        }
    }

    /// Whether the node `up` levels above only builds a path that is looked at itself.
    fn is_path_part(&self, up: usize) -> bool {
        let mut up = up;
        // `{ cwd: __dirname }` of a call that is looked at.
        while matches!(
            self.ancestor(up + 1),
            Some(AstKind::ObjectProperty(_) | AstKind::ObjectExpression(_) | AstKind::ArrayExpression(_))
        ) {
            up += 1;
        }
        let Some(node) = self.ancestor(up) else { return false };
        match self.ancestor(up + 1) {
            Some(
                AstKind::TemplateLiteral(_)
                | AstKind::BinaryExpression(_)
                | AstKind::VariableDeclarator(_)
                | AstKind::UnaryExpression(_)
                | AstKind::StaticMemberExpression(_)
                | AstKind::ConditionalExpression(_)
                | AstKind::LogicalExpression(_)
                | AstKind::ExpressionStatement(_),
            ) => true,
            Some(AstKind::CallExpression(call)) => {
                call.callee.span() != node.span()
                    && (self.operation(&call.callee).is_some() || self.is_require(&call.callee))
            }
            Some(AstKind::NewExpression(new)) => {
                matches!(&new.callee, Expression::Identifier(it) if it.name == "URL" || it.name == "Worker")
            }
            _ => false,
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
