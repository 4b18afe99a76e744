//! Evaluates expressions to paths and texts ([`Value`]), through the names of the file.
//!
//! It runs nothing and never guesses: a value that a parameter, another file or the
//! environment decides is [`Value::Unknown`]. Every evaluation has a budget.

mod call;
mod constant;
mod parameter;

use std::cell::{Cell, RefCell};

use owed_engine::facts::PathBase;
use ruff_python_ast::{self as ast, Expr, Stmt};
use rustc_hash::FxHashMap;

use super::loads;
use super::names::Names;
use super::place::{Place, Value};
use super::rows::is_stdlib;
use super::scope::{Binding, Bound, ScopeId, Symbol};

/// Steps one evaluation may take.
const BUDGET: u32 = 400;
/// Expressions nested or names followed deeper than this are unknown.
const DEPTH: u32 = 40;

/// Evaluates expressions of one file.
pub(in crate::python::read) struct Eval<'w, 'a> {
    pub(in crate::python::read) names: &'w Names<'w, 'a>,
    /// The file's name, with extension.
    file: &'a str,
    budget: Cell<u32>,
    depth: Cell<u32>,
    /// Values of names; unknown while being evaluated.
    known: RefCell<FxHashMap<(ScopeId, Symbol), Value>>,
}

impl<'w, 'a> Eval<'w, 'a> {
    pub(in crate::python::read) fn new(names: &'w Names<'w, 'a>, file: &'a str) -> Self {
        Self { names, file, budget: Cell::new(0), depth: Cell::new(0), known: RefCell::default() }
    }

    /// The value of `expr`, read in `scope`.
    pub(in crate::python::read) fn value(&self, expr: &'a Expr, scope: ScopeId) -> Value {
        self.budget.set(BUDGET);
        self.depth.set(0);
        self.eval(expr, scope)
    }

    /// The file itself.
    pub(in crate::python::read) fn own_file(&self) -> Place {
        Place::new(PathBase::Module, self.file)
    }

    /// The file's name without extension.
    pub(in crate::python::read) fn stem(&self) -> &'a str {
        self.file.rsplit_once('.').map_or(self.file, |(stem, _)| stem)
    }

    fn eval(&self, expr: &'a Expr, scope: ScopeId) -> Value {
        let Some(budget) = self.budget.get().checked_sub(1) else { return Value::Unknown };
        self.budget.set(budget);
        if self.depth.get() >= DEPTH {
            return Value::Unknown;
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.eval_inner(expr, scope);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn eval_inner(&self, expr: &'a Expr, scope: ScopeId) -> Value {
        match expr {
            Expr::StringLiteral(s) => Value::text(s.value.to_str()),
            Expr::FString(f) => self.f_string(f, scope),
            Expr::BytesLiteral(b) => {
                let bytes: Vec<u8> = b.value.bytes().collect();
                String::from_utf8(bytes).map_or(Value::Memory, Value::text)
            }
            Expr::Name(name) => self.name(name, scope),
            Expr::Attribute(attribute) => self.attribute(attribute, expr, scope),
            Expr::Call(call) => match self.call(call, scope) {
                Value::Unknown => self.chosen(expr, scope),
                value => value,
            },
            Expr::BinOp(op) => match op.op {
                ast::Operator::Div => self.eval(&op.left, scope).join(self.eval(&op.right, scope)),
                ast::Operator::Add => self.eval(&op.left, scope).concat(self.eval(&op.right, scope)),
                ast::Operator::Mod => match self.eval(&op.left, scope) {
                    Value::Text { text, package: false, .. } => prefix(&text, '%'),
                    _ => Value::Unknown,
                },
                _ => Value::Memory,
            },
            Expr::Subscript(s) => match (self.eval(&s.value, scope), &*s.slice) {
                // `os.path.split(path)[0]`
                (Value::Text { .. }, Expr::NumberLiteral(n)) if matches!(&n.value, ast::Number::Int(i) if i.as_u8() == Some(0)) => {
                    match &*s.value {
                        Expr::Call(call) if self.names.is(&call.func, scope, "os.path.split") => {
                            let path = call.arguments.args.first();
                            path.map_or(Value::Unknown, |p| self.eval(p, scope)).parent()
                        }
                        _ => Value::some_text(),
                    }
                }
                (Value::Parents(place), Expr::NumberLiteral(n)) => match &n.value {
                    ast::Number::Int(i) => {
                        let mut place = place.parent();
                        for _ in 0..i.as_u8().unwrap_or(0) {
                            place = place.parent();
                        }
                        Value::Place(place)
                    }
                    _ => Value::Unknown,
                },
                (Value::Tmp, _) => Value::Tmp,
                (package @ Value::Package { .. }, _) => package,
                (Value::Text { text, package: false, .. }, _) if text.is_empty() => Value::some_text(),
                (Value::Entries(place), _) => Value::Place(place.inside()),
                _ => self.chosen(expr, scope),
            },
            Expr::If(e) => self.eval(&e.body, scope).or(self.eval(&e.orelse, scope)),
            Expr::BoolOp(e) => {
                e.values.iter().map(|v| self.eval(v, scope)).reduce(Value::or).unwrap_or(Value::Unknown)
            }
            Expr::Named(e) => self.eval(&e.value, scope),
            Expr::Await(e) => self.eval(&e.value, scope),
            Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::Dict(_)
            | Expr::Lambda(_)
            | Expr::Compare(_) => Value::Memory,
            Expr::ListComp(e) => self.element_of(&e.elt, scope),
            Expr::Generator(e) => self.element_of(&e.elt, scope),
            _ => Value::Unknown,
        }
    }

    fn element_of(&self, element: &'a Expr, scope: ScopeId) -> Value {
        // The element's own scope is not at hand; only what needs none is followed.
        match self.eval(element, scope) {
            Value::Place(place) => Value::Entries(place.inside()),
            _ => Value::Unknown,
        }
    }

    fn f_string(&self, f: &'a ast::ExprFString, scope: ScopeId) -> Value {
        let mut value = Value::text("");
        for part in &f.value {
            match part {
                ast::FStringPart::Literal(literal) => value = value.concat(Value::text(&*literal.value)),
                ast::FStringPart::FString(f) => {
                    for element in &f.elements {
                        value = value.concat(match element {
                            ast::InterpolatedStringElement::Literal(literal) => Value::text(&*literal.value),
                            ast::InterpolatedStringElement::Interpolation(inner)
                                if inner.format_spec.is_none() && inner.debug_text.is_none() =>
                            {
                                match self.eval(&inner.expression, scope) {
                                    Value::Memory => Value::some_text(),
                                    value => value,
                                }
                            }
                            ast::InterpolatedStringElement::Interpolation(_) => Value::some_text(),
                        });
                    }
                }
            }
        }
        // An unknown first part may be any path.
        match value {
            Value::Unknown if starts_unknown(f) => Value::Unknown,
            value => value,
        }
    }

    fn name(&self, name: &'a ast::ExprName, scope: ScopeId) -> Value {
        let names = &self.names.walk.names;
        let Some(symbol) = names.find(&name.id) else { return Value::Unknown };
        let Some(at) = names.resolve(scope, symbol) else {
            return match name.id.as_str() {
                "__file__" => Value::Place(self.own_file()),
                "__name__" | "__package__" => Value::Text { text: String::new(), exact: true, package: true },
                "__path__" => Value::Entries(Place::new(PathBase::Module, "")),
                _ => Value::Unknown,
            };
        };
        if let Some(known) = self.known.borrow().get(&(at, symbol)) {
            return known.clone();
        }
        self.known.borrow_mut().insert((at, symbol), Value::Unknown);
        let mut result = None;
        for binding in names.bindings(at, symbol) {
            let value = self.binding(&binding, name, at);
            result = Some(result.map_or(value.clone(), |r: Value| r.or(value)));
            if result == Some(Value::Unknown) {
                break;
            }
        }
        let result = result.unwrap_or(Value::Unknown);
        self.known.borrow_mut().insert((at, symbol), result.clone());
        result
    }

    fn binding(&self, binding: &Binding<'a>, name: &'a ast::ExprName, at: ScopeId) -> Value {
        match binding.bound {
            Bound::Value(value) => self.eval(value, binding.scope),
            Bound::Element(iter, position) => self.element(iter, position, binding.scope),
            Bound::Entered(value) => self.entered(value, binding.scope),
            Bound::Unpacked(value, position) => self.unpacked(value, position, binding.scope),
            Bound::Parameter(_) => self.parameter(name, at),
            Bound::Import(_) => {
                self.constant(|found| self.names.name_of_import(binding).iter().for_each(|n| found(n)))
            }
            _ => Value::Unknown,
        }
    }

    /// A constant of the standard library.
    fn constant(&self, each: impl FnOnce(&mut dyn FnMut(&str))) -> Value {
        let mut value = Value::Unknown;
        each(&mut |name| match name {
            "os.curdir" => value = Value::text("."),
            "os.pardir" => value = Value::text(".."),
            "os.sep" | "os.path.sep" => value = Value::text("/"),
            "os.devnull" => value = Value::Memory,
            "sys.executable" | "sys.prefix" => value = Value::Memory,
            _ => {}
        });
        value
    }

    fn attribute(&self, attribute: &'a ast::ExprAttribute, expr: &'a Expr, scope: ScopeId) -> Value {
        let attr = attribute.attr.as_str();
        if let Expr::Name(root) = &*attribute.value {
            match root.id.as_str() {
                "self" | "cls" => return self.member(attr, scope),
                "__spec__" if attr == "parent" => {
                    return Value::Text { text: String::new(), exact: true, package: true };
                }
                "request"
                    if matches!(attr, "path" | "fspath")
                        && self.names.is_parameter(&attribute.value, scope) =>
                {
                    return if self.is_test_file() { Value::Place(self.own_file()) } else { Value::Unknown };
                }
                "pytestconfig" if matches!(attr, "rootpath" | "rootdir") => {
                    return Value::Place(Place::new(PathBase::Cwd, ""));
                }
                _ => {}
            }
            // The file of an imported module lies in the directory of that module.
            if matches!(attr, "__file__" | "__path__")
                && let Some(target) = self.names.import_of(&attribute.value, scope)
                && !(target.level == 0 && is_stdlib(target.module))
            {
                let path = if attr == "__file__" { attr.to_owned() } else { String::new() };
                return Value::Package { name: loads::dotted(target), path, exact: true };
            }
        }
        if matches!(attr, "rootpath" | "rootdir" | "path" | "fspath")
            && let Expr::Attribute(inner) = &*attribute.value
            && matches!(&*inner.value, Expr::Name(n) if n.id.as_str() == "request")
            && self.names.is_parameter(&inner.value, scope)
        {
            return match (inner.attr.as_str(), attr) {
                ("config", "rootpath" | "rootdir") => Value::Place(Place::new(PathBase::Cwd, "")),
                ("node", "path" | "fspath") if self.is_test_file() => Value::Place(self.own_file()),
                _ => Value::Unknown,
            };
        }
        match attr {
            "parent" | "dirpath" | "dirname" => return self.eval(&attribute.value, scope).parent(),
            "parents" => {
                return match self.eval(&attribute.value, scope).into_path() {
                    Value::Place(place) => Value::Parents(place),
                    Value::Tmp => Value::Tmp,
                    _ => Value::Unknown,
                };
            }
            "name" | "stem" | "suffix" | "parts" => {
                return match self.eval(&attribute.value, scope) {
                    Value::Place(place) if place.exact && attr == "name" => Value::text(place.name()),
                    Value::Tmp => Value::Tmp,
                    _ => Value::some_text(),
                };
            }
            "path" | "absolute" | "strpath" => {
                // `entry.path` of scandir, `py.path.local(…).strpath`.
                let value = self.eval(&attribute.value, scope);
                if !matches!(value, Value::Unknown | Value::Memory) {
                    return value;
                }
            }
            _ => {}
        }
        let known = self.constant(|found| self.names.each(expr, scope, found));
        if known != Value::Unknown {
            return known;
        }
        // A member of a class of this file.
        if let Expr::Name(root) = &*attribute.value {
            let names = &self.names.walk.names;
            if let Some(symbol) = names.find(&root.id)
                && let Some(at) = names.resolve(scope, symbol)
            {
                for binding in names.bindings(at, symbol) {
                    if let Bound::Class(_, class) = binding.bound {
                        return self.member_of(class, attr);
                    }
                }
            }
        }
        match self.eval(&attribute.value, scope) {
            Value::Tmp => Value::Tmp,
            _ => Value::Unknown,
        }
    }

    fn member(&self, attr: &'a str, scope: ScopeId) -> Value {
        match self.names.walk.names.class_of(scope) {
            Some(class) => self.member_of(class, attr),
            None => Value::Unknown,
        }
    }

    fn member_of(&self, class: ScopeId, attr: &str) -> Value {
        let names = &self.names.walk.names;
        let Some(symbol) = names.find(attr) else { return Value::Unknown };
        let mut result = None;
        for binding in names.members(class, symbol) {
            let value = match binding.bound {
                Bound::Value(value) => self.eval(value, binding.scope),
                Bound::Function(def, inner) if !def.decorator_list.is_empty() => self.returned(def, inner),
                _ => Value::Unknown,
            };
            result = Some(result.map_or(value.clone(), |r: Value| r.or(value)));
        }
        result.unwrap_or(Value::Unknown)
    }

    /// What a function of the file returns or yields, whatever it is given.
    fn returned(&self, def: &'a ast::StmtFunctionDef, inner: ScopeId) -> Value {
        let mut values = Vec::new();
        if !results(&def.body, &mut values, 4) || values.is_empty() || values.len() > 6 {
            return Value::Unknown;
        }
        values.into_iter().map(|v| self.eval(v, inner)).reduce(Value::or).unwrap_or(Value::Unknown)
    }

    fn element(&self, iter: &'a Expr, position: Option<u8>, scope: ScopeId) -> Value {
        match iter {
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. })
                if position.is_none() =>
            {
                return elts.iter().map(|e| self.eval(e, scope)).reduce(Value::or).unwrap_or(Value::Unknown);
            }
            Expr::Call(call) => {
                if let Expr::Name(name) = &*call.func
                    && let Some(first) = call.arguments.args.first()
                {
                    match (name.id.as_str(), position) {
                        ("sorted" | "list" | "tuple" | "set" | "reversed" | "iter", position) => {
                            return self.element(first, position, scope);
                        }
                        ("enumerate", Some(1)) => return self.element(first, None, scope),
                        ("range", _) | ("enumerate", Some(0)) => return Value::some_text(),
                        _ => {}
                    }
                }
                let mut walked = None;
                self.names.each(&call.func, scope, &mut |name| {
                    if matches!(name, "os.walk" | "os.fwalk" | "pathlib.Path.walk") {
                        walked = Some(());
                    }
                });
                if walked.is_some() {
                    let top = match call.arguments.args.first() {
                        Some(top) => self.eval(top, scope),
                        None => Value::Unknown,
                    };
                    return match (position, top.into_path()) {
                        (Some(0), Value::Place(place)) => Value::Place(place.inside()),
                        (Some(0), Value::Tmp) => Value::Tmp,
                        (Some(1 | 2), _) => Value::some_text(),
                        _ => Value::Unknown,
                    };
                }
            }
            _ => {}
        }
        match (self.eval(iter, scope), position) {
            (Value::Entries(place), None) => Value::Place(place.inside()),
            (Value::Tmp, None) => Value::Tmp,
            (Value::Text { .. }, None) => Value::some_text(),
            _ => Value::Unknown,
        }
    }

    fn entered(&self, value: &'a Expr, scope: ScopeId) -> Value {
        match self.eval(value, scope) {
            value @ (Value::Tmp | Value::Memory | Value::Package { .. } | Value::Place(_)) => value,
            Value::Entries(place) => Value::Entries(place),
            _ => Value::Unknown,
        }
    }
}

fn starts_unknown(f: &ast::ExprFString) -> bool {
    match f.value.iter().next() {
        Some(ast::FStringPart::FString(f)) => {
            matches!(f.elements.first(), Some(ast::InterpolatedStringElement::Interpolation(_)))
        }
        _ => false,
    }
}

/// The values a body may return or yield, blocks included; false when some lie deeper.
fn results<'a>(body: &'a [Stmt], values: &mut Vec<&'a Expr>, depth: u8) -> bool {
    if depth == 0 {
        return body.is_empty();
    }
    body.iter().all(|stmt| match stmt {
        Stmt::Return(ast::StmtReturn { value: Some(value), .. }) => {
            values.push(value);
            true
        }
        Stmt::Expr(e) => {
            match &*e.value {
                Expr::Yield(ast::ExprYield { value: Some(value), .. }) => values.push(value),
                Expr::YieldFrom(_) => return false,
                _ => {}
            }
            true
        }
        Stmt::With(s) => results(&s.body, values, depth - 1),
        Stmt::For(s) => results(&s.body, values, depth - 1) && results(&s.orelse, values, depth - 1),
        Stmt::While(s) => results(&s.body, values, depth - 1) && results(&s.orelse, values, depth - 1),
        Stmt::If(s) => {
            results(&s.body, values, depth - 1)
                && s.elif_else_clauses.iter().all(|clause| results(&clause.body, values, depth - 1))
        }
        Stmt::Match(s) => s.cases.iter().all(|case| results(&case.body, values, depth - 1)),
        Stmt::Try(s) => {
            results(&s.body, values, depth - 1)
                && s.handlers
                    .iter()
                    .all(|ast::ExceptHandler::ExceptHandler(h)| results(&h.body, values, depth - 1))
                && results(&s.orelse, values, depth - 1)
                && results(&s.finalbody, values, depth - 1)
        }
        _ => true,
    })
}

/// The text before the first placeholder.
fn prefix(text: &str, mark: char) -> Value {
    match text.find(mark) {
        Some(at) => Value::Text { text: text[..at].to_owned(), exact: false, package: false },
        None => Value::text(text),
    }
}
