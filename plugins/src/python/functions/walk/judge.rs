//! Small questions about the form of a body.

use ruff_python_ast::{Expr, Stmt};

use super::super::shape::docstring;

pub(super) fn undocumented(body: &[Stmt]) -> &[Stmt] {
    if docstring(body).is_some() { &body[1..] } else { body }
}

/// A statement that is nothing but a call with what it was given.
pub(super) fn hands_on(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return(it) => it.value.as_deref().is_some_and(is_handing_call),
        Stmt::Expr(it) => is_handing_call(&it.value),
        _ => false,
    }
}

pub(super) fn is_handing_call(expr: &Expr) -> bool {
    let inner = match expr {
        Expr::Await(it) => &it.value,
        other => other,
    };
    let Expr::Call(it) = inner else { return false };
    is_reference(&it.func, true)
        && it.arguments.args.iter().all(is_simple)
        && it.arguments.keywords.iter().all(|keyword| is_simple(&keyword.value))
}

/// A name or a member of one; of `super()` when it is called.
pub(super) fn is_reference(expr: &Expr, called: bool) -> bool {
    let mut at = expr;
    loop {
        match at {
            Expr::Name(_) => return true,
            Expr::Attribute(it) => at = &it.value,
            Expr::Call(it) => {
                return called && matches!(&*it.func, Expr::Name(name) if name.id.as_str() == "super");
            }
            _ => return false,
        }
    }
}

pub(super) fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Starred(it) => is_reference(&it.value, false),
        other => other.is_literal_expr() || is_reference(other, false),
    }
}
