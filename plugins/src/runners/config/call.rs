//! Calls: functions of the file, methods of strings and arrays, constructors.

use oxc_ast::ast::{Argument, CallExpression, NewExpression};

use super::function::Locals;
use super::merge;
use super::module::Module;
use super::package::url;
use super::value::{Unknown, Value};

impl Module<'_, '_> {
    /// The value of a call.
    pub(super) fn call_expression(&self, call: &CallExpression<'_>, locals: &Locals) -> Value {
        let at = call.span.start;
        let arguments = self.arguments(&call.arguments, locals);
        if let Some(member) = call.callee.get_inner_expression().as_member_expression()
            && let Some(method) = member.static_property_name()
        {
            let object = self.value(member.object(), locals);
            if let Some(value) = self.method(&object, method, &arguments, at) {
                return value;
            }
        }
        let callee = self.value(&call.callee, locals);
        self.called(&callee, arguments, at)
    }

    /// The value of `new X(…)`.
    pub(super) fn new_expression(&self, it: &NewExpression<'_>, locals: &Locals) -> Value {
        let at = it.span.start;
        let arguments = self.arguments(&it.arguments, locals);
        if it.callee.is_specific_id("URL") {
            return match arguments.as_slice() {
                [Value::String(rest), Value::String(base)] if base.starts_with("file://") => {
                    Value::String(url(rest, base))
                }
                [Value::String(whole)] => Value::String(whole.clone()),
                _ => self.unknown("a computed URL", at),
            };
        }
        if it.callee.is_specific_id("RegExp") {
            return match arguments.as_slice() {
                [Value::String(source)] => Value::Regex(source.clone(), String::new()),
                [Value::Regex(source, flags)] => Value::Regex(source.clone(), flags.clone()),
                [Value::String(source), Value::String(flags)] => Value::Regex(source.clone(), flags.clone()),
                _ => self.unknown("a computed regular expression", at),
            };
        }
        match self.value(&it.callee, locals) {
            Value::Package(module, name) if module != "globalThis" => {
                self.foreign(module, name, arguments, at)
            }
            _ => self.unknown("a constructed object", at),
        }
    }

    fn arguments(&self, arguments: &[Argument<'_>], locals: &Locals) -> Vec<Value> {
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => match self.value(&spread.argument, locals) {
                    Value::Array(items) => values.extend(items),
                    other => values.push(Value::Unknown(other.unknown("a spread"))),
                },
                other => {
                    if let Some(expression) = other.as_expression() {
                        values.push(self.value(expression, locals));
                    }
                }
            }
        }
        values
    }

    fn called(&self, callee: &Value, arguments: Vec<Value>, at: u32) -> Value {
        match callee {
            Value::Function(function) => {
                if function.path == self.path {
                    self.call_at(function, &arguments)
                } else {
                    self.reader.call(function, &arguments)
                }
            }
            Value::Package(module, name) => self.package_call(module, name, arguments, at),
            Value::Module(path) => {
                let default = self.reader.export(path, "default");
                if matches!(default, Value::Function(_)) {
                    self.called(&default, arguments, at)
                } else {
                    self.unknown("a call", at)
                }
            }
            Value::Either(values) => {
                Value::either(values.iter().map(|v| self.called(v, arguments.clone(), at)).collect())
            }
            Value::Call(inner) if self.reader.wrappers.contains_key(&inner.module) => {
                let adds = self.reader.wrappers.get(&inner.module).cloned().unwrap_or_default();
                let config = arguments.into_iter().next().unwrap_or_default();
                merge(&adds, &self.reader.apply(config))
            }
            // Only such a wrapper gives an object that is called: a function of it.
            Value::Object(_) if arguments.is_empty() => callee.clone(),
            // `nextJest({…})(config)`: the outer call is named like the inner one.
            Value::Call(inner) => {
                self.foreign(inner.module.clone(), format!("{}()", inner.name), arguments, at)
            }
            other => Value::Unknown(match other {
                Value::Unknown(unknown) => unknown.clone(),
                _ => match self.unknown("a call", at) {
                    Value::Unknown(unknown) => unknown,
                    _ => Unknown { reason: "a call".to_owned(), path: self.path.to_owned(), line: 0 },
                },
            }),
        }
    }

    /// Methods of arrays and strings; `None` when this is not one.
    fn method(&self, object: &Value, method: &str, arguments: &[Value], at: u32) -> Option<Value> {
        match (object, method, arguments) {
            (Value::Array(items), "concat", more) => {
                let mut items = items.clone();
                for one in more {
                    match one {
                        Value::Array(inner) => items.extend(inner.iter().cloned()),
                        Value::Unknown(_) | Value::Call(_) | Value::Either(_) => {
                            items.push(Value::Unknown(one.unknown("a list")));
                        }
                        other => items.push(other.clone()),
                    }
                }
                Some(Value::Array(items))
            }
            (Value::Array(items), "filter", [Value::Package(module, name)])
                if module == "globalThis" && name == "Boolean" =>
            {
                Some(Value::Array(items.iter().filter(|i| i.truthy() != Some(false)).cloned().collect()))
            }
            (Value::Array(items), "filter", [function @ Value::Function(_)]) => Some(Value::Array(
                items
                    .iter()
                    .filter_map(|item| match self.called(function, vec![item.clone()], at).truthy() {
                        Some(true) => Some(item.clone()),
                        Some(false) => None,
                        None => Some(Value::either(vec![item.clone(), Value::Undefined])),
                    })
                    .collect(),
            )),
            (Value::Array(items), "map" | "flatMap", [function @ Value::Function(_)]) => {
                let mut mapped = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let index = Value::Number(f64::from(u32::try_from(index).unwrap_or(u32::MAX)));
                    match (method, self.called(function, vec![item.clone(), index], at)) {
                        ("flatMap", Value::Array(inner)) => mapped.extend(inner),
                        (_, value) => mapped.push(value),
                    }
                }
                Some(Value::Array(mapped))
            }
            (Value::Array(items), "flat", []) => {
                let mut flat = Vec::new();
                for item in items {
                    match item {
                        Value::Array(inner) => flat.extend(inner.iter().cloned()),
                        Value::Unknown(_) | Value::Call(_) | Value::Either(_) => {
                            flat.push(Value::Unknown(item.unknown("a list")));
                        }
                        other => flat.push(other.clone()),
                    }
                }
                Some(Value::Array(flat))
            }
            (Value::Array(items), "join", [Value::String(separator)]) => {
                let parts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                Some(match parts {
                    Some(parts) => Value::String(parts.join(separator)),
                    None => self.unknown("a computed string", at),
                })
            }
            (Value::Array(items), "includes", [Value::String(wanted)]) => {
                let known = items.iter().all(|i| i.as_str().is_some());
                Some(if known {
                    Value::Bool(items.iter().any(|i| i.as_str() == Some(wanted)))
                } else {
                    self.unknown("a computed list", at)
                })
            }
            (Value::String(s), "toString" | "trim", []) => Some(Value::String(s.clone())),
            (Value::String(s), "replace", [Value::String(from), Value::String(to)]) => {
                Some(Value::String(s.replacen(from.as_str(), to, 1)))
            }
            (Value::String(s), "endsWith", [Value::String(end)]) => {
                Some(Value::Bool(s.ends_with(end.as_str())))
            }
            (Value::String(s), "startsWith", [Value::String(start)]) => {
                Some(Value::Bool(s.starts_with(start.as_str())))
            }
            (Value::String(_) | Value::Array(_), ..) => {
                Some(self.unknown(format!("a call of `{method}`"), at))
            }
            (Value::Unknown(unknown), ..) => Some(Value::Unknown(unknown.clone())),
            _ => None,
        }
    }
}
