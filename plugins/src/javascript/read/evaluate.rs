//! Evaluates string and path expressions, as far as constants tell: literals,
//! templates, `+`, constants bound once, `path.join(__dirname, …)`,
//! `fileURLToPath(new URL("…", import.meta.url))`, `process.cwd()`.

use owed_engine::facts::PathBase;
use oxc_ast::ast::{Argument, ArrayExpressionElement, CallExpression, Expression, NewExpression};
use oxc_semantic::SymbolId;
use oxc_syntax::operator::BinaryOperator;

use super::value::{Piece, Value, constant};
use super::walk::{Binding, Walk};

/// How far constants are followed.
const STEPS: u32 = 12;

impl<'a> Walk<'_, 'a> {
    /// The constant text of an expression.
    pub(super) fn literal(&self, it: &'a Expression<'a>) -> Option<String> {
        self.value(it).literal()
    }

    /// The text of an expression that is put together from literals and constants only:
    /// no call is looked at.
    pub(super) fn constant_text(&self, it: &'a Expression<'a>, steps: u32) -> Option<String> {
        let steps = steps.checked_sub(1)?;
        match it.get_inner_expression() {
            Expression::StringLiteral(it) if !it.lone_surrogates => Some(it.value.to_string()),
            Expression::TemplateLiteral(it) => {
                let mut text = String::new();
                for (at, quasi) in it.quasis.iter().enumerate() {
                    text.push_str(quasi.value.cooked.as_ref()?);
                    if let Some(hole) = it.expressions.get(at) {
                        text.push_str(&self.constant_text(hole, steps)?);
                    }
                }
                Some(text)
            }
            Expression::BinaryExpression(it) if it.operator == BinaryOperator::Addition => {
                let left = self.constant_text(&it.left, steps)?;
                Some(left + &self.constant_text(&it.right, steps)?)
            }
            Expression::Identifier(it) => match self.binding(it) {
                Binding::Init { init, keys } if keys.is_empty() => self.constant_text(init, steps),
                _ => None,
            },
            _ => None,
        }
    }

    /// What an expression holds.
    pub(super) fn value(&self, it: &'a Expression<'a>) -> Value {
        self.evaluate(it, STEPS)
    }

    /// The values `it` may have: those of its alternatives, and of every element when it
    /// holds the variable of a loop over a constant list.
    pub(super) fn values(&mut self, it: &'a Expression<'a>) -> Vec<Value> {
        let mut values = Vec::new();
        for it in self.alternatives(it) {
            match self.loop_variable(it, STEPS) {
                Some((symbol, elements)) => {
                    for element in elements {
                        self.chosen = Some((symbol, element));
                        values.push(self.value(it));
                    }
                    self.chosen = None;
                }
                None => values.push(self.value(it)),
            }
        }
        values
    }

    /// The first loop variable over a constant list that a text is built from.
    fn loop_variable(
        &self,
        it: &'a Expression<'a>,
        steps: u32,
    ) -> Option<(SymbolId, Vec<&'a Expression<'a>>)> {
        let steps = steps.checked_sub(1)?;
        match it.get_inner_expression() {
            Expression::Identifier(name) => match self.binding(name) {
                Binding::Each { list } => Some((self.symbol(name)?, self.elements(list, steps)?)),
                Binding::Init { init, keys } if keys.is_empty() => self.loop_variable(init, steps),
                _ => None,
            },
            Expression::BinaryExpression(it) => {
                self.loop_variable(&it.left, steps).or_else(|| self.loop_variable(&it.right, steps))
            }
            Expression::TemplateLiteral(it) => {
                it.expressions.iter().find_map(|hole| self.loop_variable(hole, steps))
            }
            Expression::CallExpression(it) => it
                .arguments
                .iter()
                .filter_map(Argument::as_expression)
                .find_map(|argument| self.loop_variable(argument, steps)),
            Expression::NewExpression(it) => it
                .arguments
                .first()
                .and_then(Argument::as_expression)
                .and_then(|a| self.loop_variable(a, steps)),
            _ => None,
        }
    }

    /// The expressions `it` may stand for: both arms of a conditional, both sides of
    /// `||` and `??`, the elements that a loop variable runs over.
    pub(super) fn alternatives(&self, it: &'a Expression<'a>) -> Vec<&'a Expression<'a>> {
        let mut found = Vec::new();
        self.spread(it, &mut found, STEPS);
        found
    }

    fn spread(&self, it: &'a Expression<'a>, found: &mut Vec<&'a Expression<'a>>, steps: u32) {
        let it = it.get_inner_expression();
        if steps == 0 || found.len() > 64 {
            found.push(it);
            return;
        }
        let steps = steps - 1;
        match it {
            Expression::ConditionalExpression(it) => {
                self.spread(&it.consequent, found, steps);
                self.spread(&it.alternate, found, steps);
            }
            Expression::LogicalExpression(it) => {
                self.spread(&it.left, found, steps);
                self.spread(&it.right, found, steps);
            }
            Expression::Identifier(name) => match self.binding(name) {
                Binding::Init { init, keys } if keys.is_empty() => match init.get_inner_expression() {
                    init @ (Expression::ConditionalExpression(_) | Expression::LogicalExpression(_)) => {
                        self.spread(init, found, steps);
                    }
                    _ => found.push(it),
                },
                Binding::Each { list } => match self.elements(list, steps) {
                    Some(elements) => {
                        for element in elements {
                            self.spread(element, found, steps);
                        }
                    }
                    None => found.push(it),
                },
                _ => found.push(it),
            },
            _ => found.push(it),
        }
    }

    /// The elements of a constant array.
    pub(super) fn elements(&self, it: &'a Expression<'a>, steps: u32) -> Option<Vec<&'a Expression<'a>>> {
        match it.get_inner_expression() {
            Expression::ArrayExpression(it) => it
                .elements
                .iter()
                .map(|element| match element {
                    ArrayExpressionElement::SpreadElement(_) | ArrayExpressionElement::Elision(_) => None,
                    _ => element.as_expression(),
                })
                .collect(),
            Expression::Identifier(it) if steps > 0 => match self.binding(it) {
                Binding::Init { init, keys } if keys.is_empty() => self.elements(init, steps - 1),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the symbol of an identifier stands for.
    pub(super) fn binding(&self, it: &oxc_ast::ast::IdentifierReference<'a>) -> &Binding<'a> {
        match self.symbol(it) {
            Some(symbol) => &self.known[symbol.index()].binding,
            None => &Binding::None,
        }
    }

    pub(super) fn evaluate(&self, it: &'a Expression<'a>, steps: u32) -> Value {
        if steps == 0 {
            return Value::unknown();
        }
        let steps = steps - 1;
        match it.get_inner_expression() {
            Expression::StringLiteral(it) if !it.lone_surrogates => Value::text(&it.value),
            Expression::NumericLiteral(it) => it.raw.map_or_else(Value::unknown, |raw| Value::text(&raw)),
            Expression::TemplateLiteral(it) => {
                let mut value = Value::Text(Vec::new());
                for (at, quasi) in it.quasis.iter().enumerate() {
                    let text = quasi.value.cooked.as_ref().map_or_else(Value::unknown, |t| Value::text(t));
                    value = begin(value, text);
                    if let Some(hole) = it.expressions.get(at) {
                        value = begin(value, self.evaluate(hole, steps));
                    }
                }
                value
            }
            Expression::BinaryExpression(it) if it.operator == BinaryOperator::Addition => {
                let left = self.evaluate(&it.left, steps);
                left.then(self.evaluate(&it.right, steps))
            }
            Expression::Identifier(name) => self.evaluate_name(name, steps),
            Expression::StaticMemberExpression(it) => match it.property.name.as_str() {
                "url" | "filename" if matches!(it.object, Expression::ImportMeta(_)) => self.own_file(),
                "dirname" if matches!(it.object, Expression::ImportMeta(_)) => module(""),
                "sep" if self.is_path(&it.object) => Value::text("/"),
                // Of a URL or path value.
                "href" | "pathname" => self.evaluate(&it.object, steps),
                _ => Value::unknown(),
            },
            Expression::CallExpression(it) => self.evaluate_call(it, steps),
            Expression::NewExpression(it) => self.evaluate_new(it, steps),
            Expression::AwaitExpression(it) => self.evaluate(&it.argument, steps),
            // `__dirname ?? x` never falls back; two ways to say the same are one.
            Expression::LogicalExpression(it) => match self.evaluate(&it.left, steps) {
                path @ (Value::Path(..) | Value::Outside | Value::Module) => path,
                Value::Text(_) => Value::unknown(),
            },
            Expression::ConditionalExpression(it) => {
                let value = self.evaluate(&it.consequent, steps);
                if value.agrees(&self.evaluate(&it.alternate, steps)) { value } else { Value::unknown() }
            }
            _ => Value::unknown(),
        }
    }

    fn own_file(&self) -> Value {
        module(self.file)
    }

    fn is_path(&self, it: &'a Expression<'a>) -> bool {
        self.operation(it).is_some_and(|op| op.root.name == "node:path")
    }

    fn evaluate_name(&self, it: &'a oxc_ast::ast::IdentifierReference<'a>, steps: u32) -> Value {
        if self.symbol(it).is_none() {
            return match it.name.as_str() {
                "__dirname" => module(""),
                "__filename" => self.own_file(),
                _ => Value::unknown(),
            };
        }
        match self.binding(it) {
            Binding::Init { init, keys } => match self.evaluate(init, steps) {
                value if keys.is_empty() => value,
                Value::Outside => Value::Outside,
                _ => Value::unknown(),
            },
            Binding::Each { .. } => match self.chosen {
                Some((symbol, element)) if self.symbol(it) == Some(symbol) => self.evaluate(element, steps),
                _ => Value::unknown(),
            },
            Binding::Import { name: Some("sep"), .. } => Value::text("/"),
            _ => Value::unknown(),
        }
    }

    pub(super) fn evaluate_call(&self, it: &'a CallExpression<'a>, steps: u32) -> Value {
        let argument = |at: usize| match it.arguments.get(at).and_then(Argument::as_expression) {
            Some(e) => self.evaluate(e, steps),
            None => Value::unknown(),
        };
        if let Expression::Identifier(callee) = &it.callee
            && self.is_global(callee, "String")
        {
            return argument(0);
        }
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && matches!(callee.property.name.as_str(), "toString" | "normalize")
            && it.arguments.is_empty()
        {
            return self.evaluate(&callee.object, steps);
        }
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && callee.property.name == "resolve"
            && (matches!(callee.object, Expression::ImportMeta(_))
                || matches!(&callee.object, Expression::Identifier(o) if self.is_global(o, "require")))
        {
            return match argument(0).literal() {
                Some(text) if text.starts_with("./") || text.starts_with("../") => module(&text),
                _ => Value::Module,
            };
        }
        let Some(op) = self.operation(&it.callee) else { return Value::unknown() };
        let spread = it.arguments.iter().any(Argument::is_spread);
        match (op.root.name.as_str(), op.path.as_slice()) {
            ("node:path", ["join"]) => {
                let mut value = Value::Text(Vec::new());
                for at in 0..it.arguments.len() {
                    value = value.join(argument(at));
                }
                value
            }
            ("node:path", ["resolve"]) => {
                let mut value = Value::Path(PathBase::Cwd, Vec::new());
                for at in 0..it.arguments.len() {
                    let next = argument(at);
                    value = match &next {
                        Value::Path(..) | Value::Outside | Value::Module => next,
                        Value::Text(pieces) if matches!(pieces.first(), Some(Piece::Text(t)) if t.starts_with('/')) => {
                            Value::Path(PathBase::Absolute, next.pieces())
                        }
                        Value::Text(_) => value.join(next),
                    };
                }
                value
            }
            _ if spread => Value::unknown(),
            ("node:path", ["dirname"]) => argument(0).directory(),
            ("node:path", ["normalize" | "toNamespacedPath"]) => argument(0),
            ("node:path", ["basename"]) => match argument(0).literal() {
                Some(text) if it.arguments.len() == 1 => {
                    Value::text(text.rsplit('/').next().unwrap_or_default())
                }
                _ => Value::unknown(),
            },
            ("node:url", ["fileURLToPath" | "pathToFileURL"]) => argument(0),
            ("process", ["cwd"]) => Value::Path(PathBase::Cwd, Vec::new()),
            ("node:os", ["tmpdir"]) => Value::Outside,
            ("node:fs", ["mkdtemp" | "mkdtempSync"]) | ("npm:tmp" | "npm:tempy", _) => Value::Outside,
            ("node:fs", ["realpath" | "realpathSync"]) => argument(0),
            _ => Value::unknown(),
        }
    }

    pub(super) fn evaluate_new(&self, it: &'a NewExpression<'a>, steps: u32) -> Value {
        let url = match &it.callee {
            Expression::Identifier(callee) if self.is_global(callee, "URL") => true,
            callee => self
                .operation(callee)
                .is_some_and(|op| op.root.name == "node:url" && matches!(op.path.as_slice(), ["URL"])),
        };
        let argument = |at: usize| match it.arguments.get(at).and_then(Argument::as_expression) {
            Some(e) => self.evaluate(e, steps),
            None => Value::unknown(),
        };
        match it.arguments.len() {
            1 if url => match argument(0) {
                Value::Text(pieces) => match constant(&pieces) {
                    Some(text) => match text.strip_prefix("file://") {
                        Some(path) => Value::text(path),
                        None => Value::unknown(),
                    },
                    None => Value::unknown(),
                },
                path => path,
            },
            2 if url => match (argument(0), argument(1)) {
                (Value::Text(relative), Value::Path(base, pieces)) => {
                    if matches!(relative.first(), Some(Piece::Text(t)) if t.contains(':') || t.starts_with('/'))
                    {
                        return Value::unknown();
                    }
                    let is_directory =
                        constant(&relative).is_some_and(|t| matches!(t.rsplit('/').next(), Some("." | "..")));
                    let url = Value::Path(base, url_directory(pieces)).then(Value::Text(relative));
                    if is_directory { url.then(Value::text("/")) } else { url }
                }
                (path @ Value::Path(..), _) => path,
                (_, outside @ (Value::Outside | Value::Module)) => outside,
                _ => Value::unknown(),
            },
            _ => Value::unknown(),
        }
    }
}

/// The first piece of a template decides whether it is a path.
fn begin(value: Value, next: Value) -> Value {
    match &value {
        Value::Text(pieces) if constant(pieces).is_some_and(|text| text.is_empty() || text == "file://") => {
            next
        }
        _ => value.then(next),
    }
}

fn module(path: &str) -> Value {
    Value::Path(
        PathBase::Module,
        if path.is_empty() { Vec::new() } else { vec![Piece::Text(path.to_owned())] },
    )
}

/// What a relative URL is resolved against: everything up to the last `/`.
fn url_directory(mut pieces: Vec<Piece>) -> Vec<Piece> {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => match last.rfind('/') {
            Some(at) => last.truncate(at + 1),
            None if pieces.len() == 1 => pieces.clear(),
            None => pieces.push(Piece::Text("/../".to_owned())),
        },
        Some(Piece::Hole) => pieces.push(Piece::Text("/../".to_owned())),
        None => {}
    }
    pieces
}
