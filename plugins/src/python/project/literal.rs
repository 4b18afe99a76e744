//! Reads values out of Python sources without running them: literals, names bound once
//! to literals, concatenations. What is not such a value is [`Value::Unknown`].

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Operator, Stmt};

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A string.
    Text(String),
    /// A list, tuple or set.
    List(Vec<Value>),
    /// A dictionary with its entries in order.
    Map(Vec<(Value, Value)>),
    /// A call of a function with that last name, its positional and keyword arguments.
    Call(String, Vec<Value>, Vec<(String, Value)>),
    /// Anything else.
    Unknown,
}

impl Value {
    /// The string, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The strings of a list, or the lines of a string; other entries are left out.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::List(items) => items.iter().filter_map(Self::text).collect(),
            Self::Text(text) => text.lines().map(str::trim).filter(|l| !l.is_empty()).collect(),
            _ => Vec::new(),
        }
    }
}

/// The top-level constants and the calls of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Module {
    constants: BTreeMap<String, Value>,
    calls: BTreeMap<String, Vec<Value>>,
}

/// How deep an expression is followed.
const DEPTH: u32 = 40;
/// A source with more brackets open at once, or operators in a statement, than this is
/// read on a stack of its own, and not at all when it is long.
const DEEP: usize = 200;
const DEEP_LENGTH: usize = 100_000;
const DEEP_STACK: usize = 64 << 20;

impl Module {
    /// Reads `source`; `None` when it is no Python, or nested beyond reason.
    pub(crate) fn parse(source: &str) -> Option<Self> {
        if !is_deep(source) {
            return Self::read(source);
        }
        if source.len() > DEEP_LENGTH {
            return None;
        }
        std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(DEEP_STACK);
            builder.spawn_scoped(scope, || Self::read(source)).ok()?.join().ok()?
        })
    }

    fn read(source: &str) -> Option<Self> {
        let parsed = ruff_python_parser::parse_module(source).ok()?;
        let mut module = Self::default();
        let body = &parsed.syntax().body;
        for statement in body {
            let (target, value) = match statement {
                Stmt::Assign(assign) if assign.targets.len() == 1 => (&assign.targets[0], &*assign.value),
                Stmt::AnnAssign(assign) => match &assign.value {
                    Some(value) => (&*assign.target, &**value),
                    None => continue,
                },
                _ => continue,
            };
            if let Expr::Name(name) = target {
                let value = evaluate(value, &module.constants, DEPTH);
                let again = module.constants.contains_key(name.id.as_str());
                let value = if again { Value::Unknown } else { value };
                module.constants.insert(name.id.to_string(), value);
            }
        }
        let mut calls = Calls { constants: &module.constants, found: BTreeMap::new() };
        body.iter().for_each(|statement| calls.visit_stmt(statement));
        module.calls = calls.found;
        Some(module)
    }

    /// The value of a name bound once at top level.
    pub(crate) fn constant(&self, name: &str) -> Option<&Value> {
        self.constants.get(name)
    }

    /// Every call, anywhere, of a function whose last name is `name`.
    pub(crate) fn calls(&self, name: &str) -> &[Value] {
        self.calls.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Whether the source may nest deeply: brackets, or a long chain of operators. Counted
/// without regard for strings, which only makes it say yes too often.
fn is_deep(source: &str) -> bool {
    let (mut open, mut chain) = (0_usize, 0_usize);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'|' | b'&' | b'^' | b'.' | b'<' | b'>' | b'~' | b'@' => {
                chain += 1
            }
            b'\n' if open == 0 => chain = 0,
            _ => {}
        }
        if open > DEEP || chain > DEEP * 5 {
            return true;
        }
    }
    false
}

struct Calls<'m> {
    constants: &'m BTreeMap<String, Value>,
    found: BTreeMap<String, Vec<Value>>,
}

impl<'a> Visitor<'a> for Calls<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr
            && let Some(name) = last_name(&call.func)
        {
            let value = evaluate_call(call, self.constants, DEPTH);
            self.found.entry(name.to_owned()).or_default().push(value);
        }
        walk_expr(self, expr);
    }
}

fn last_name(callee: &Expr) -> Option<&str> {
    match callee {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

fn evaluate(expr: &Expr, constants: &BTreeMap<String, Value>, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Unknown };
    let each = |items: &[Expr]| items.iter().map(|item| evaluate(item, constants, depth)).collect();
    match expr {
        Expr::StringLiteral(text) => Value::Text(text.value.to_str().to_owned()),
        Expr::List(list) => Value::List(each(&list.elts)),
        Expr::Tuple(tuple) => Value::List(each(&tuple.elts)),
        Expr::Set(set) => Value::List(each(&set.elts)),
        Expr::Dict(dict) => Value::Map(
            dict.items
                .iter()
                .map(|item| {
                    let key = item.key.as_ref().map_or(Value::Unknown, |k| evaluate(k, constants, depth));
                    (key, evaluate(&item.value, constants, depth))
                })
                .collect(),
        ),
        Expr::Name(name) => constants.get(name.id.as_str()).cloned().unwrap_or(Value::Unknown),
        Expr::BinOp(sum) if sum.op == Operator::Add => {
            match (evaluate(&sum.left, constants, depth), evaluate(&sum.right, constants, depth)) {
                (Value::Text(a), Value::Text(b)) => Value::Text(a + &b),
                (Value::List(mut a), Value::List(b)) => {
                    a.extend(b);
                    Value::List(a)
                }
                (Value::List(mut a), _) => {
                    a.push(Value::Unknown);
                    Value::List(a)
                }
                _ => Value::Unknown,
            }
        }
        Expr::Call(call) => evaluate_call(call, constants, depth),
        _ => Value::Unknown,
    }
}

fn evaluate_call(call: &ExprCall, constants: &BTreeMap<String, Value>, depth: u32) -> Value {
    let Some(name) = last_name(&call.func) else { return Value::Unknown };
    let positional = call.arguments.args.iter().map(|a| evaluate(a, constants, depth)).collect();
    let keywords = call
        .arguments
        .keywords
        .iter()
        .filter_map(|k| Some((k.arg.as_ref()?.to_string(), evaluate(&k.value, constants, depth))))
        .collect();
    Value::Call(name.to_owned(), positional, keywords)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_calls_with_literal_arguments() {
        let module = Module::parse(
            "from setuptools import setup\nbase = ['a']\nif True:\n    setup(package_dir={'': 'src'}, install_requires=base + ['b'] + read())\n",
        )
        .unwrap();
        let calls = module.calls("setup");
        let Value::Call(_, _, keywords) = &calls[0] else { panic!() };
        assert_eq!(keywords[0].1, Value::Map(vec![(Value::Text(String::new()), Value::Text("src".into()))]));
        assert_eq!(keywords[1].1.texts(), ["a", "b"]);
    }

    #[test]
    fn a_name_bound_twice_is_unknown() {
        let module = Module::parse("x = 'a'\nx = 'b'\ny = ['c']\n").unwrap();
        assert_eq!(module.constant("x"), Some(&Value::Unknown));
        assert_eq!(module.constant("y").unwrap().texts(), ["c"]);
        assert!(Module::parse("def (").is_none());
    }

    #[test]
    fn deep_sources_do_not_overflow() {
        let nested = format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
        let chain = format!("x = 1{}\n", " + 1".repeat(20_000));
        for source in [nested, chain] {
            let module = Module::parse(&source);
            assert!(module.is_none_or(|m| m.constant("x") == Some(&Value::Unknown)));
        }
    }
}
