//! The value of an expression.

use oxc_ast::ast::{
    ArrayExpressionElement, BinaryExpression, BinaryOperator, ChainElement, Expression, LogicalOperator,
    ObjectExpression, ObjectPropertyKind, PropertyKind, TemplateLiteral, UnaryOperator,
};
use oxc_span::GetSpan;

use super::function::Locals;
use super::module::Module;
use super::value::{Entry, Object, Value};

impl Module<'_, '_> {
    /// The value of `expression` where `locals` are visible.
    pub(super) fn value(&self, expression: &Expression<'_>, locals: &Locals) -> Value {
        let at = expression.span().start;
        self.reader.deeper(self.path, || self.line(at), || self.value_of(expression, locals, at))
    }

    fn value_of(&self, expression: &Expression<'_>, locals: &Locals, at: u32) -> Value {
        match expression {
            Expression::BooleanLiteral(it) => Value::Bool(it.value),
            Expression::NullLiteral(_) => Value::Null,
            Expression::NumericLiteral(it) => Value::Number(it.value),
            Expression::StringLiteral(it) => Value::String(it.value.to_string()),
            Expression::RegExpLiteral(it) => {
                Value::Regex(it.regex.pattern.text.to_string(), it.regex.flags.to_string())
            }
            Expression::TemplateLiteral(it) => self.template(it, locals, at),
            Expression::Identifier(it) => self.name(&it.name, locals, at),
            Expression::ArrayExpression(it) => {
                let mut items = Vec::new();
                for element in &it.elements {
                    match element {
                        ArrayExpressionElement::SpreadElement(spread) => {
                            self.spread_items(&self.value(&spread.argument, locals), &mut items);
                        }
                        ArrayExpressionElement::Elision(_) => items.push(Value::Undefined),
                        other => {
                            if let Some(expression) = other.as_expression() {
                                items.push(self.value(expression, locals));
                            }
                        }
                    }
                }
                Value::Array(items)
            }
            Expression::ObjectExpression(it) => self.object(it, locals),
            Expression::ArrowFunctionExpression(it) => self.function_value(it.span.start, locals),
            Expression::FunctionExpression(it) => self.function_value(it.span.start, locals),
            Expression::AwaitExpression(it) => self.value(&it.argument, locals),
            Expression::ParenthesizedExpression(it) => self.value(&it.expression, locals),
            Expression::TSAsExpression(it) => self.value(&it.expression, locals),
            Expression::TSSatisfiesExpression(it) => self.value(&it.expression, locals),
            Expression::TSTypeAssertion(it) => self.value(&it.expression, locals),
            Expression::TSNonNullExpression(it) => self.value(&it.expression, locals),
            Expression::TSInstantiationExpression(it) => self.value(&it.expression, locals),
            Expression::SequenceExpression(it) => {
                it.expressions.last().map_or(Value::Undefined, |last| self.value(last, locals))
            }
            Expression::ConditionalExpression(it) => match self.value(&it.test, locals).truthy() {
                Some(true) => self.value(&it.consequent, locals),
                Some(false) => self.value(&it.alternate, locals),
                None => {
                    Value::either(vec![self.value(&it.consequent, locals), self.value(&it.alternate, locals)])
                }
            },
            Expression::LogicalExpression(it) => {
                let left = self.value(&it.left, locals);
                let takes_right = match it.operator {
                    LogicalOperator::And => left.truthy(),
                    LogicalOperator::Or => left.truthy().map(|t| !t),
                    LogicalOperator::Coalesce => nullish(&left),
                };
                match takes_right {
                    Some(true) => self.value(&it.right, locals),
                    Some(false) => left,
                    None => {
                        let left = match (it.operator, &left) {
                            // What is left of `condition && x` when it fails is falsy.
                            (LogicalOperator::And, _) => Value::Bool(false),
                            (_, Value::Either(values)) => Value::either(
                                values.iter().filter(|v| v.truthy() != Some(false)).cloned().collect(),
                            ),
                            _ => left,
                        };
                        Value::either(vec![left, self.value(&it.right, locals)])
                    }
                }
            }
            Expression::UnaryExpression(it) => {
                let value = self.value(&it.argument, locals);
                match (it.operator, &value) {
                    (UnaryOperator::LogicalNot, value) => match value.truthy() {
                        Some(truthy) => Value::Bool(!truthy),
                        None => Value::either(vec![Value::Bool(true), Value::Bool(false)]),
                    },
                    (UnaryOperator::Void, _) => Value::Undefined,
                    (UnaryOperator::UnaryNegation, Value::Number(n)) => Value::Number(-n),
                    _ => self.unknown("a computed value", at),
                }
            }
            Expression::BinaryExpression(it) => self.binary(it, locals, at),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(call) => self.call_expression(call, locals),
                ChainElement::TSNonNullExpression(inner) => self.value(&inner.expression, locals),
                other => match other.as_member_expression() {
                    Some(member) => self.member_expression(member, locals, at),
                    None => self.unknown("an optional chain", at),
                },
            },
            Expression::CallExpression(it) => self.call_expression(it, locals),
            Expression::NewExpression(it) => self.new_expression(it, locals),
            Expression::ImportExpression(it) => match self.value(&it.source, locals) {
                Value::String(source) => self.reader.import(self, &source, "*"),
                _ => self.unknown("a computed import", at),
            },
            Expression::ImportMeta(_) => Value::Package("import.meta".to_owned(), "*".to_owned()),
            other => match other.as_member_expression() {
                Some(member) => self.member_expression(member, locals, at),
                None => self.unknown("an expression that is not read", at),
            },
        }
    }

    fn name(&self, name: &str, locals: &Locals, at: u32) -> Value {
        if let Some((_, value)) = locals.iter().rev().find(|(n, _)| n == name) {
            return value.clone();
        }
        if let Some(value) = self.binding(name) {
            return value;
        }
        match name {
            "undefined" => Value::Undefined,
            "__dirname" => Value::String(self.dir()),
            "__filename" => Value::String(self.reader.absolute(self.path)),
            "process" | "Promise" | "Object" | "JSON" | "Array" | "require" | "module" | "Boolean"
            | "String" => Value::Package("globalThis".to_owned(), name.to_owned()),
            _ => self.unknown(format!("`{name}`"), at),
        }
    }

    fn template(&self, template: &TemplateLiteral<'_>, locals: &Locals, at: u32) -> Value {
        let mut parts = Vec::new();
        for (index, quasi) in template.quasis.iter().enumerate() {
            let text = quasi.value.cooked.as_ref().unwrap_or(&quasi.value.raw);
            parts.push(Value::String(text.to_string()));
            if let Some(expression) = template.expressions.get(index) {
                parts.push(self.value(expression, locals));
            }
        }
        parts
            .into_iter()
            .reduce(|a, b| self.concatenated(&a, &b, at))
            .unwrap_or_else(|| Value::String(String::new()))
    }

    fn binary(&self, it: &BinaryExpression<'_>, locals: &Locals, at: u32) -> Value {
        let (left, right) = (self.value(&it.left, locals), self.value(&it.right, locals));
        match it.operator {
            BinaryOperator::Addition => self.concatenated(&left, &right, at),
            BinaryOperator::StrictEquality | BinaryOperator::Equality => self.equal(&left, &right, false),
            BinaryOperator::StrictInequality | BinaryOperator::Inequality => self.equal(&left, &right, true),
            _ => self.unknown("a computed value", at),
        }
    }

    fn equal(&self, left: &Value, right: &Value, negate: bool) -> Value {
        let known = |v: &Value| {
            matches!(v, Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Null | Value::Undefined)
        };
        if known(left) && known(right) {
            Value::Bool((left == right) != negate)
        } else {
            Value::either(vec![Value::Bool(true), Value::Bool(false)])
        }
    }

    fn concatenated(&self, left: &Value, right: &Value, at: u32) -> Value {
        let mut results = Vec::new();
        for a in left.alternatives() {
            for b in right.alternatives() {
                results.push(match (text(a), text(b)) {
                    (Some(a), Some(b)) => Value::String(a + &b),
                    _ => self.unknown("a computed string", at),
                });
            }
            if results.len() > 16 {
                return self.unknown("a string with many possible values", at);
            }
        }
        Value::either(results)
    }

    fn object(&self, it: &ObjectExpression<'_>, locals: &Locals) -> Value {
        let mut object = Value::Object(Object::default());
        for property in &it.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let value = self.value(&spread.argument, locals);
                    object = self.spread_into(object, value, spread.span.start);
                }
                ObjectPropertyKind::ObjectProperty(property) => {
                    let at = property.span.start;
                    let key = match property.key.static_name() {
                        Some(name) if !property.computed => Some(name.into_owned()),
                        _ => property.key.as_expression().and_then(|e| text(&self.value(e, locals))),
                    };
                    let value = match property.kind {
                        PropertyKind::Init => self.value(&property.value, locals),
                        PropertyKind::Get => match self.value(&property.value, locals) {
                            Value::Function(f) => self.reader.call(&f, &[]),
                            other => other,
                        },
                        PropertyKind::Set => continue,
                    };
                    let entry = match (key, self.unknown("a computed key", at)) {
                        (Some(key), _) => Entry::Key(key, value),
                        (None, Value::Unknown(unknown)) => Entry::Open(unknown),
                        (None, _) => continue,
                    };
                    object = add(object, &entry);
                }
            }
        }
        object
    }

    /// `object` with the keys of `value` over its own, as `{...object, ...value}`.
    pub(super) fn spread_into(&self, object: Value, value: Value, at: u32) -> Value {
        let mut results = Vec::new();
        for base in object.alternatives() {
            for over in value.alternatives() {
                let mut one = base.clone();
                match over {
                    Value::Object(over) => {
                        for entry in &over.0 {
                            one = add(one, entry);
                        }
                    }
                    Value::Undefined | Value::Null | Value::Bool(_) | Value::Number(_) => {}
                    other => {
                        let reason = match other {
                            Value::Unknown(u) => u.clone(),
                            other => {
                                let mut u = other.unknown("a spread");
                                if u.path.is_empty() {
                                    (u.path, u.line) = (self.path.to_owned(), self.line(at));
                                }
                                u
                            }
                        };
                        one = add(one, &Entry::Open(reason));
                    }
                }
                results.push(one);
            }
        }
        if results.len() > 16 {
            return self.unknown("an object with many possible values", at);
        }
        Value::either(results)
    }

    fn spread_items(&self, value: &Value, items: &mut Vec<Value>) {
        let alternatives = value.alternatives();
        for one in alternatives {
            match one {
                Value::Array(inner) if alternatives.len() == 1 => items.extend(inner.iter().cloned()),
                Value::Array(inner) => {
                    items.extend(inner.iter().map(|v| Value::either(vec![v.clone(), Value::Undefined])));
                }
                Value::Undefined | Value::Null | Value::Bool(_) => {}
                other => items.push(Value::Unknown(other.unknown("a spread"))),
            }
        }
    }
}

fn add(object: Value, entry: &Entry) -> Value {
    match object {
        Value::Object(mut object) => {
            object.0.push(entry.clone());
            Value::Object(object)
        }
        Value::Either(values) => Value::either(values.into_iter().map(|v| add(v, entry)).collect()),
        other => other,
    }
}

fn nullish(value: &Value) -> Option<bool> {
    match value {
        Value::Undefined | Value::Null => Some(true),
        Value::Unknown(_) | Value::Call(_) => None,
        Value::Either(values) => {
            let first = nullish(values.first()?)?;
            values.iter().all(|v| nullish(v) == Some(first)).then_some(first)
        }
        _ => Some(false),
    }
}

/// The text of a primitive in a template.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        // A regular expression given where a string is wanted prints as its literal.
        Value::Regex(source, flags) => Some(format!("/{source}/{flags}")),
        _ => None,
    }
}
