//! What a name or an attribute chain stands for outside the file: `o.path.join` after
//! `import os as o` is `os.path.join`, and so is an alias of it.
//!
//! A name with several bindings stands for each of them. What is bound to a value the
//! file does not show (a parameter, a loop variable) stands for nothing here.

use ruff_python_ast::{self as ast, Expr};

use super::rows::TABLE;
use super::scope::{Binding, Bound, MODULE, ScopeId, flag};
use super::walk::{Target, Walk};

/// Aliases are followed this far.
const HOPS: u8 = 6;

/// Looks names up in one walked file.
#[derive(Clone, Copy)]
pub(super) struct Names<'w, 'a> {
    pub(super) walk: &'w Walk<'a>,
}

impl<'a> Names<'_, 'a> {
    /// Calls `found` with each qualified name that the effect table may know.
    pub(super) fn each(&self, expr: &'a Expr, scope: ScopeId, found: &mut dyn FnMut(&str)) {
        let mut tail = Vec::new();
        self.follow(expr, scope, HOPS, &mut tail, found);
    }

    /// The first qualified name for which `test` holds.
    pub(super) fn any(&self, expr: &'a Expr, scope: ScopeId, mut test: impl FnMut(&str) -> bool) -> bool {
        let mut hit = false;
        self.each(expr, scope, &mut |name| hit |= test(name));
        hit
    }

    /// Whether `expr` stands for exactly this name, by one of its bindings.
    pub(super) fn is(&self, expr: &'a Expr, scope: ScopeId, name: &str) -> bool {
        self.any(expr, scope, |n| n == name)
    }

    fn follow(
        &self,
        expr: &'a Expr,
        scope: ScopeId,
        hops: u8,
        tail: &mut Vec<&'a str>,
        found: &mut dyn FnMut(&str),
    ) {
        match expr {
            Expr::Attribute(attribute) => {
                tail.push(attribute.attr.as_str());
                self.follow(&attribute.value, scope, hops, tail, found);
                tail.pop();
            }
            Expr::Name(name) => self.name(name, scope, hops, tail, found),
            // Members of an instance are those of its class.
            Expr::Call(call) if !tail.is_empty() && is_class_like(&call.func) => {
                self.follow(&call.func, scope, hops, tail, found);
            }
            Expr::Await(inner) => self.follow(&inner.value, scope, hops, tail, found),
            Expr::If(choice) if hops > 0 => {
                self.follow(&choice.body, scope, hops - 1, tail, found);
                self.follow(&choice.orelse, scope, hops - 1, tail, found);
            }
            Expr::BoolOp(choice) if hops > 0 && tail.is_empty() => {
                for value in &choice.values {
                    self.follow(value, scope, hops - 1, tail, found);
                }
            }
            _ => {}
        }
    }

    fn name(
        &self,
        name: &'a ast::ExprName,
        scope: ScopeId,
        hops: u8,
        tail: &mut Vec<&'a str>,
        found: &mut dyn FnMut(&str),
    ) {
        let names = &self.walk.names;
        let Some(symbol) = names.find(&name.id) else { return };
        let Some(at) = names.resolve(scope, symbol) else {
            if names.flags(symbol) & flag::BUILTIN != 0 || is_pure_builtin(&name.id) {
                found(&joined(&[name.id.as_str()], tail));
            }
            return;
        };
        if hops == 0 {
            return;
        }
        for binding in names.bindings(at, symbol) {
            match binding.bound {
                Bound::Import(target) => {
                    if let Some(target) = self.walk.targets.get(target as usize) {
                        imported(*target, tail, found);
                    }
                }
                Bound::Value(value) => self.follow(value, binding.scope, hops - 1, tail, found),
                Bound::Entered(value) if !tail.is_empty() => {
                    self.follow(value, binding.scope, hops - 1, tail, found);
                }
                Bound::Class(def, _) if !tail.is_empty() => {
                    for base in def.bases() {
                        self.follow(base, binding.scope, hops - 1, tail, found);
                    }
                }
                Bound::Parameter(annotation) => {
                    if let Some(fixture) = fixture(&name.id) {
                        found(&joined(&[fixture], tail));
                    } else if let Some(annotation) = annotation
                        && !tail.is_empty()
                    {
                        // The annotation is evaluated around the function.
                        let outer = names.scope(at).parent;
                        self.follow(unwrapped(annotation), outer, hops - 1, tail, found);
                    }
                }
                _ => {}
            }
        }
    }

    /// The import that `expr`, a bare name, is bound to, when that is its only binding.
    pub(super) fn import_of(&self, expr: &Expr, scope: ScopeId) -> Option<Target<'a>> {
        let Expr::Name(name) = expr else { return None };
        let symbol = self.walk.names.find(&name.id)?;
        let at = self.walk.names.resolve(scope, symbol)?;
        let mut only = None;
        for binding in self.walk.names.bindings(at, symbol) {
            match (binding.bound, only) {
                (Bound::Import(target), None) => only = self.walk.targets.get(target as usize).copied(),
                _ => return None,
            }
        }
        only
    }

    /// Calls `found` with the qualified name of an import binding.
    pub(super) fn each_import(&self, binding: &Binding<'a>, found: &mut dyn FnMut(&str)) {
        if let Bound::Import(target) = binding.bound
            && let Some(target) = self.walk.targets.get(target as usize)
        {
            imported(*target, &[], found);
        }
    }

    /// Whether `name`, read in `scope`, is the builtin (or module attribute) of that name.
    pub(super) fn is_builtin(&self, name: &str, scope: ScopeId) -> bool {
        self.walk.names.find(name).is_none_or(|symbol| self.walk.names.resolve(scope, symbol).is_none())
    }

    /// The parameter binding of a bare name.
    pub(super) fn is_parameter(&self, expr: &Expr, scope: ScopeId) -> bool {
        let Expr::Name(name) = expr else { return false };
        let Some(symbol) = self.walk.names.find(&name.id) else { return false };
        let Some(at) = self.walk.names.resolve(scope, symbol) else { return false };
        at != MODULE && self.walk.names.bindings(at, symbol).all(|b| matches!(b.bound, Bound::Parameter(_)))
    }
}

fn imported(target: Target<'_>, tail: &[&str], found: &mut dyn FnMut(&str)) {
    if target.level > 0 {
        return;
    }
    let module = match target.module {
        "mock" => "unittest.mock",
        "posixpath" | "ntpath" => "os.path",
        "pathlib2" => "pathlib",
        "importlib_resources" => "importlib.resources",
        "cPickle" | "_pickle" => "pickle",
        module => module,
    };
    let root = module.split('.').next().unwrap_or(module);
    if !TABLE.knows(root) && root != "setuptools" {
        return;
    }
    match target.name {
        Some(name) => found(&joined(&[module, name], tail)),
        None => found(&joined(&[module], tail)),
    }
}

fn joined(head: &[&str], tail: &[&str]) -> String {
    let mut name = String::with_capacity(48);
    for part in head.iter().chain(tail.iter().rev()) {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(part);
    }
    name
}

/// What the fixtures of pytest and pytest-mock stand for.
fn fixture(name: &str) -> Option<&'static str> {
    Some(match name {
        "monkeypatch" => "pytest.MonkeyPatch",
        "mocker" | "session_mocker" | "module_mocker" | "class_mocker" | "package_mocker" => "unittest.mock",
        "testdir" | "pytester" => "pytest.Pytester",
        _ => return None,
    })
}

/// Builtins with a row that says their call is harmless at import.
fn is_pure_builtin(name: &str) -> bool {
    matches!(
        name,
        "set"
            | "frozenset"
            | "dict"
            | "list"
            | "tuple"
            | "str"
            | "int"
            | "float"
            | "bool"
            | "bytes"
            | "bytearray"
            | "complex"
            | "range"
            | "slice"
            | "len"
            | "sorted"
            | "min"
            | "max"
            | "sum"
            | "abs"
            | "round"
            | "chr"
            | "ord"
            | "repr"
            | "type"
            | "object"
            | "staticmethod"
            | "classmethod"
            | "property"
    )
}

fn is_class_like(func: &Expr) -> bool {
    let last = match func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    last.starts_with(|c: char| c.is_uppercase()) || matches!(last, "datetime" | "date" | "local")
}

/// `Optional[X]`, `X | None`, `Annotated[X, …]`: the first class in an annotation.
fn unwrapped(annotation: &Expr) -> &Expr {
    match annotation {
        Expr::Subscript(s) => match &*s.slice {
            Expr::Tuple(t) => t.elts.first().map_or(annotation, unwrapped),
            inner => unwrapped(inner),
        },
        Expr::BinOp(op) if op.op == ast::Operator::BitOr => match &*op.left {
            Expr::NoneLiteral(_) | Expr::StringLiteral(_) => unwrapped(&op.right),
            Expr::Name(name) if name.id.as_str() == "str" => unwrapped(&op.right),
            left => unwrapped(left),
        },
        other => other,
    }
}
