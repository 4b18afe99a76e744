//! Values looked up in constant tables: `import_module(LAZY[name])`, where `LAZY` is a
//! dictionary, list or tuple literal that the file never changes nor hands on.
//!
//! A table that starts empty, or that is unpacked from another, says nothing.

use ruff_python_ast::{self as ast, Expr};

use super::super::place::Value;
use super::super::scope::{Bound, ScopeId};
use super::Eval;

/// Names followed to the table.
const HOPS: u8 = 4;

impl<'a> Eval<'_, 'a> {
    /// What looking up in a constant table may give.
    pub(super) fn chosen(&self, expr: &'a Expr, scope: ScopeId) -> Value {
        let Some(choices) = self.choices(expr, scope, HOPS) else { return Value::Unknown };
        choices.into_iter().map(|(e, s)| self.eval(e, s)).reduce(Value::or).unwrap_or(Value::Unknown)
    }

    /// The same, for one position of what is unpacked.
    pub(super) fn unpacked(&self, expr: &'a Expr, position: u8, scope: ScopeId) -> Value {
        let Some(choices) = self.choices(expr, scope, HOPS) else { return Value::Unknown };
        let mut result = None;
        for (choice, scope) in choices {
            let value = match choice {
                Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                    elts.get(usize::from(position)).map_or(Value::Unknown, |e| self.eval(e, scope))
                }
                // Unpacking it fails.
                Expr::NoneLiteral(_) => continue,
                _ => Value::Unknown,
            };
            result = Some(result.map_or(value.clone(), |r: Value| r.or(value)));
        }
        result.unwrap_or(Value::Unknown)
    }

    /// The expressions a look-up may give, each with the scope it is written in.
    fn choices(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> Option<Vec<(&'a Expr, ScopeId)>> {
        let hops = hops.checked_sub(1)?;
        match expr {
            Expr::Subscript(subscript) => self.table(&subscript.value, Some(&subscript.slice), scope),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(method) if method.attr.as_str() == "get" && !call.arguments.is_empty() => {
                    let mut found = self.table(&method.value, call.arguments.args.first(), scope)?;
                    found.extend(call.arguments.args.get(1).map(|default| (default, scope)));
                    Some(found)
                }
                _ => None,
            },
            Expr::Name(name) => {
                let names = &self.names.walk.names;
                let symbol = names.find(&name.id)?;
                let at = names.resolve(scope, symbol)?;
                let mut bindings = names.bindings(at, symbol);
                match (bindings.next()?, bindings.next()) {
                    (binding, None) => match binding.bound {
                        Bound::Value(value) => self.choices(value, binding.scope, hops),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The values of a constant table; with a literal key that it has, the one under it.
    fn table(
        &self,
        container: &'a Expr,
        key: Option<&'a Expr>,
        scope: ScopeId,
    ) -> Option<Vec<(&'a Expr, ScopeId)>> {
        let Expr::Name(name) = container else { return None };
        let walk = self.names.walk;
        let symbol = walk.names.find(&name.id)?;
        let at = walk.names.resolve(scope, symbol)?;
        let mut bindings = walk.names.bindings(at, symbol);
        let (binding, None) = (bindings.next()?, bindings.next()) else { return None };
        let Bound::Value(value) = binding.bound else { return None };
        if !walk.is_constant(symbol) {
            return None;
        }
        match value {
            Expr::Dict(dict) => {
                if let Some(Expr::StringLiteral(wanted)) = key {
                    let under = dict.items.iter().rev().find(|item| match &item.key {
                        Some(Expr::StringLiteral(key)) => key.value == wanted.value,
                        _ => false,
                    });
                    if let Some(item) = under {
                        return Some(vec![(&item.value, binding.scope)]);
                    }
                }
                let all = dict.items.iter().map(|item| {
                    item.key.as_ref()?;
                    Some((&item.value, binding.scope))
                });
                all.collect()
            }
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                let all = elts.iter().map(|e| (!e.is_starred_expr()).then_some((e, binding.scope)));
                all.collect()
            }
            _ => None,
        }
    }
}
