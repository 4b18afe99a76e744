//! Reading a key of a value: objects, strings, arrays, namespaces, `import.meta`,
//! `process.env`.

use oxc_ast::ast::MemberExpression;

use super::expression::text;
use super::function::Locals;
use super::module::Module;
use super::value::Value;

impl Module<'_, '_> {
    /// `object.key` and `object["key"]`.
    pub(super) fn member_expression(&self, member: &MemberExpression<'_>, locals: &Locals, at: u32) -> Value {
        let object = self.value(member.object(), locals);
        match member {
            MemberExpression::StaticMemberExpression(it) => self.member(&object, &it.property.name, at),
            MemberExpression::ComputedMemberExpression(it) => match self.value(&it.expression, locals) {
                key if text(&key).is_some() => self.member(&object, &text(&key).unwrap_or_default(), at),
                _ => self.unknown("a computed key", at),
            },
            MemberExpression::PrivateFieldExpression(_) => self.unknown("a private field", at),
        }
    }

    /// The key `key` of `value`.
    pub(super) fn member(&self, value: &Value, key: &str, at: u32) -> Value {
        Value::either(value.alternatives().iter().map(|one| self.member_of(one, key, at)).collect())
    }

    fn member_of(&self, value: &Value, key: &str, at: u32) -> Value {
        match value {
            Value::Object(object) => match object.get(key) {
                // CommonJS seen as a namespace: the module itself is its default.
                Value::Undefined if key == "default" => value.clone(),
                other => other,
            },
            Value::Module(path) => self.reader.export(path, key),
            Value::Package(module, name) => self.package_member(module, name, key, at),
            Value::Array(items) => match (key, key.parse::<usize>()) {
                ("length", _) => number(items.len()),
                (_, Ok(index)) => items.get(index).cloned().unwrap_or_default(),
                _ => self.unknown(format!("`{key}` of an array"), at),
            },
            Value::String(s) => match key {
                "pathname" if s.starts_with("file://") => Value::String(s["file://".len()..].to_owned()),
                "href" if s.starts_with("file://") => Value::String(s.clone()),
                "length" => number(s.len()),
                _ => self.unknown(format!("`{key}` of a string"), at),
            },
            Value::Unknown(unknown) => Value::Unknown(unknown.clone()),
            Value::Call(call) => Value::Unknown(call.at.clone()),
            _ => self.unknown(format!("`{key}`"), at),
        }
    }

    fn package_member(&self, module: &str, name: &str, key: &str, at: u32) -> Value {
        match (module, name, key) {
            ("import.meta", "*", "url") => {
                Value::String(format!("file://{}", self.reader.absolute(self.path)))
            }
            ("import.meta", "*", "dirname") => Value::String(self.dir()),
            ("import.meta", "*", "filename") => Value::String(self.reader.absolute(self.path)),
            ("import.meta", "*", "env") => self.unknown("`import.meta.env`", at),
            ("globalThis", "process", "env") => Value::Package("process".to_owned(), "env".to_owned()),
            ("process", "env", name) => match self.reader.environment.get(name) {
                Some(value) => value.clone(),
                None => self.unknown(format!("the environment name `{name}`"), at),
            },
            ("node:process" | "process", "*" | "default", "env") => {
                Value::Package("process".to_owned(), "env".to_owned())
            }
            (module, "*" | "default", key) => {
                // `import path from "node:path"` and `import * as path` are the same here.
                let known = self.reader.known.get(&(module.to_owned(), key.to_owned()));
                known.cloned().unwrap_or_else(|| Value::Package(module.to_owned(), key.to_owned()))
            }
            (module, name, key) => Value::Package(module.to_owned(), format!("{name}.{key}")),
        }
    }
}

fn number(length: usize) -> Value {
    Value::Number(f64::from(u32::try_from(length).unwrap_or(u32::MAX)))
}
