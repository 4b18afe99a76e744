//! Whether evaluating a top-level statement at import may have effects: run code of the
//! project or of a package, register something, or fail because another declaration
//! changed. Only what is known to do none of this is pure.
//!
//! Pure are literals, names, displays, lambdas, type expressions, paths built from
//! constants, and calls that the effect table calls harmless. Attributes of modules
//! outside the standard library, operators on names, and all other calls are not.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::eval::Eval;
use super::names::Names;
use super::place::Value;
use super::rows::{Arguments, TABLE, is_stdlib};
use super::scope::{Bound, MODULE, ScopeId};

/// Base classes are followed this far.
const HOPS: u8 = 8;

/// Judges statements of one walked file.
pub(super) struct Purity<'w, 'a> {
    pub(super) names: &'w Names<'w, 'a>,
    pub(super) eval: &'w Eval<'w, 'a>,
}

impl<'a> Purity<'_, 'a> {
    /// Whether evaluating the unit's statement may have effects.
    pub(super) fn has_effects(&self, stmt: &'a Stmt) -> bool {
        !self.statement(stmt, MODULE)
    }

    fn statement(&self, stmt: &'a Stmt, scope: ScopeId) -> bool {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def, scope),
            Stmt::ClassDef(def) => self.class(def, scope, HOPS),
            Stmt::Assign(s) => s.targets.iter().all(is_plain_target) && self.pure(&s.value, scope),
            Stmt::AnnAssign(s) => {
                s.target.is_name_expr() && s.value.as_deref().is_none_or(|v| self.pure(v, scope))
            }
            Stmt::TypeAlias(_) | Stmt::Pass(_) => true,
            Stmt::Expr(s) => matches!(*s.value, Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)),
            _ => false,
        }
    }

    fn function(&self, def: &'a ast::StmtFunctionDef, scope: ScopeId) -> bool {
        def.decorator_list.iter().all(|d| self.decorator(&d.expression, scope))
            && def
                .parameters
                .iter_non_variadic_params()
                .filter_map(|p| p.default())
                .all(|default| self.pure(default, scope))
    }

    fn decorator(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        let (callee, call) = match expr {
            Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        // `@name.setter` of a property of the same class.
        if let Expr::Attribute(attribute) = callee
            && matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter")
            && attribute.value.is_name_expr()
        {
            return true;
        }
        self.is_harmless(callee, scope, Arguments::Any)
            && call.is_none_or(|c| self.arguments(&c.arguments, scope, Arguments::Any))
    }

    fn class(&self, def: &'a ast::StmtClassDef, scope: ScopeId, hops: u8) -> bool {
        let Some(symbol) = self.names.walk.names.find(def.name.as_str()) else { return false };
        let inner = self.names.walk.names.bindings(scope, symbol).find_map(|b| match b.bound {
            Bound::Class(found, inner) if std::ptr::eq(found, def) => Some(inner),
            _ => None,
        });
        let Some(inner) = inner else { return false };
        def.decorator_list.iter().all(|d| self.decorator(&d.expression, scope))
            && def.bases().iter().all(|base| self.base(base, scope, hops))
            && def.keywords().iter().all(|k| match k.arg.as_ref().map(|a| a.as_str()) {
                Some("metaclass") => self.is_stdlib_name(&k.value, scope),
                Some("total" | "closed" | "extra_items" | "frozen" | "boundary") => true,
                _ => false,
            })
            && def.body.iter().all(|s| self.statement(s, inner))
    }

    /// Whether inheriting from `base` runs nothing.
    fn base(&self, base: &'a Expr, scope: ScopeId, hops: u8) -> bool {
        if hops == 0 {
            return false;
        }
        let base = match base {
            Expr::Subscript(s) => &*s.value,
            other => other,
        };
        if self.is_stdlib_name(base, scope) {
            return true;
        }
        let Expr::Name(name) = base else { return false };
        let names = &self.names.walk.names;
        let Some(symbol) = names.find(&name.id) else { return false };
        let Some(at) = names.resolve(scope, symbol) else { return is_builtin_class(&name.id) };
        let mut bindings = names.bindings(at, symbol);
        match (bindings.next(), bindings.next()) {
            (Some(binding), None) => match binding.bound {
                Bound::Class(def, _) => {
                    let hooks = def
                        .body
                        .iter()
                        .any(|s| matches!(s, Stmt::FunctionDef(f) if f.name.as_str() == "__init_subclass__"));
                    let meta = def.keywords().iter().any(|k| {
                        k.arg.as_ref().is_none_or(|a| a.as_str() == "metaclass")
                            && !self.is_stdlib_name(&k.value, at)
                    });
                    !hooks && !meta && def.bases().iter().all(|b| self.base(b, at, hops - 1))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether `expr` is a chain on an import of the standard library.
    fn is_stdlib_name(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        let mut root = expr;
        while let Expr::Attribute(attribute) = root {
            root = &attribute.value;
        }
        self.names
            .import_of(root, scope)
            .is_some_and(|t| t.level == 0 && (is_stdlib(t.module) || is_types(t.module)))
    }

    /// Whether evaluating `expr` runs nothing and cannot fail by the change of another
    /// declaration.
    fn pure(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        match expr {
            Expr::Name(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_) => true,
            Expr::Lambda(lambda) => lambda.parameters.as_deref().is_none_or(|p| {
                p.iter_non_variadic_params().filter_map(|p| p.default()).all(|d| self.pure(d, scope))
            }),
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => elts.iter().all(|e| self.pure(e, scope)),
            Expr::Dict(dict) => dict
                .items
                .iter()
                .all(|i| i.key.as_ref().is_some_and(|k| self.pure(k, scope)) && self.pure(&i.value, scope)),
            Expr::FString(f) => f.value.elements().all(|e| match e {
                ast::InterpolatedStringElement::Literal(_) => true,
                ast::InterpolatedStringElement::Interpolation(i) => {
                    i.format_spec.is_none() && self.pure(&i.expression, scope)
                }
            }),
            Expr::If(e) => {
                self.pure(&e.test, scope) && self.pure(&e.body, scope) && self.pure(&e.orelse, scope)
            }
            Expr::BoolOp(e) => e.values.iter().all(|v| self.pure(v, scope)),
            Expr::UnaryOp(e) if e.op == ast::UnaryOp::Not => self.pure(&e.operand, scope),
            Expr::Compare(e) if e.ops.iter().all(|o| matches!(o, ast::CmpOp::Is | ast::CmpOp::IsNot)) => {
                self.pure(&e.left, scope) && e.comparators.iter().all(|c| self.pure(c, scope))
            }
            Expr::Attribute(_) => self.is_stdlib_name(expr, scope) || self.is_path(expr, scope),
            Expr::Subscript(s) => self.is_generic(&s.value, scope) && is_type(&s.slice),
            Expr::Call(call) => {
                self.is_harmless(&call.func, scope, Arguments::Any)
                    && self.arguments(&call.arguments, scope, Arguments::Any)
                    || self.is_harmless(&call.func, scope, Arguments::Constant)
                        && self.arguments(&call.arguments, scope, Arguments::Constant)
                    || self.is_path(expr, scope)
            }
            Expr::BinOp(_) => is_constant(expr) || self.is_path(expr, scope),
            other => is_constant(other),
        }
    }

    fn is_path(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        matches!(self.eval.value(expr, scope), Value::Place(_) | Value::Home)
    }

    fn is_generic(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        if let Expr::Name(name) = expr
            && self.names.is_builtin(&name.id, scope)
        {
            return matches!(name.id.as_str(), "list" | "dict" | "tuple" | "set" | "frozenset" | "type");
        }
        self.is_stdlib_name(expr, scope)
    }

    /// Whether the table says that calling `callee` is harmless, given such arguments.
    fn is_harmless(&self, callee: &'a Expr, scope: ScopeId, arguments: Arguments) -> bool {
        let mut known = None;
        self.names.each(callee, scope, &mut |name| {
            let harmless = TABLE
                .row(name)
                .and_then(|r| r.arguments)
                .is_some_and(|known| known == arguments || known == Arguments::Any);
            // Patching restores what it changes, and nothing is changed by decorating.
            let harmless = harmless || (arguments == Arguments::Any && name.starts_with("unittest.mock."));
            known = Some(known.unwrap_or(true) && harmless);
        });
        known == Some(true)
    }

    fn arguments(&self, arguments: &'a ast::Arguments, scope: ScopeId, kind: Arguments) -> bool {
        let fits = |e: &'a Expr| match kind {
            Arguments::Any => self.pure(e, scope) || is_type(e),
            Arguments::Constant => is_constant(e),
        };
        arguments.args.iter().all(fits)
            && arguments.keywords.iter().all(|k| k.arg.is_some() && fits(&k.value))
    }
}

fn is_plain_target(target: &Expr) -> bool {
    // Unpacking depends on the value's length.
    target.is_name_expr()
}

/// A value of this statement's own text.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::EllipsisLiteral(_)
        | Expr::Lambda(_) => true,
        Expr::List(ast::ExprList { elts, .. })
        | Expr::Tuple(ast::ExprTuple { elts, .. })
        | Expr::Set(ast::ExprSet { elts, .. }) => elts.iter().all(is_constant),
        Expr::Dict(dict) => {
            dict.items.iter().all(|i| i.key.as_ref().is_some_and(is_constant) && is_constant(&i.value))
        }
        Expr::UnaryOp(e) => is_constant(&e.operand),
        Expr::BinOp(e) => is_constant(&e.left) && is_constant(&e.right),
        Expr::Compare(e) => is_constant(&e.left) && e.comparators.iter().all(is_constant),
        // Flags: `re.compile("x", re.I)`.
        Expr::Attribute(attribute) => {
            matches!(&*attribute.value, Expr::Name(n) if matches!(n.id.as_str(), "re" | "logging" | "decimal"))
        }
        _ => false,
    }
}

/// An expression as annotations are written.
fn is_type(expr: &Expr) -> bool {
    match expr {
        Expr::Name(_) | Expr::StringLiteral(_) | Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => true,
        Expr::Attribute(attribute) => is_type(&attribute.value),
        Expr::Subscript(s) => is_type(&s.value) && is_type(&s.slice),
        Expr::BinOp(op) => op.op == ast::Operator::BitOr && is_type(&op.left) && is_type(&op.right),
        Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
            elts.iter().all(is_type)
        }
        Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) | Expr::BytesLiteral(_) => true,
        _ => false,
    }
}

fn is_types(module: &str) -> bool {
    matches!(module, "typing_extensions" | "attr" | "attrs")
}

fn is_builtin_class(name: &str) -> bool {
    matches!(
        name,
        "object"
            | "dict"
            | "list"
            | "tuple"
            | "set"
            | "frozenset"
            | "str"
            | "bytes"
            | "bytearray"
            | "int"
            | "float"
            | "complex"
            | "type"
            | "property"
            | "BaseException"
            | "Exception"
            | "ExceptionGroup"
            | "StopIteration"
            | "KeyboardInterrupt"
            | "SystemExit"
            | "GeneratorExit"
            | "StopAsyncIteration"
    ) || name.ends_with("Error")
        || name.ends_with("Warning")
}
