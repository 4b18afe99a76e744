//! Questions about a walked file that need more than one of its places.

use ruff_python_ast::{self as ast, Expr};

use super::super::scope::{ScopeId, Symbol, flag};
use super::{Walk, What};

impl<'a> Walk<'a> {
    /// Whether a container keeps what it was made with: nothing in the file stores into it,
    /// and it is not handed on.
    pub(in crate::python::read) fn is_constant(&self, symbol: Symbol) -> bool {
        let changed =
            self.sites.iter().filter(|site| site.root == Some(symbol)).any(|site| match site.what {
                What::Store(_) | What::Escape(_) => true,
                What::Call(Expr::Call(call)) => match &*call.func {
                    Expr::Attribute(method) => !matches!(
                        method.attr.as_str(),
                        "get" | "items" | "keys" | "values" | "index" | "count" | "copy"
                    ),
                    _ => false,
                },
                _ => false,
            });
        !changed && !self.uses.iter().any(|u| u.symbol == symbol && u.bare.is_some())
    }

    /// All calls of the function that `symbol` is in the function scope `around`, and where
    /// each is; `None` when it is also used in another way.
    pub(in crate::python::read) fn calls_of(
        &self,
        symbol: Symbol,
        around: ScopeId,
    ) -> Option<Vec<(&'a ast::ExprCall, ScopeId)>> {
        if self.names.bindings(around, symbol).count() != 1 {
            return None;
        }
        let mut calls = Vec::new();
        for site in &self.sites {
            if let What::Call(Expr::Call(call)) = site.what
                && let Expr::Name(name) = &*call.func
                && self.names.find(&name.id) == Some(symbol)
                && self.names.resolve(site.scope, symbol) == Some(around)
            {
                calls.push((call, site.scope));
            }
        }
        let handed_on = self.uses.iter().any(|u| {
            u.symbol == symbol && u.bare.is_some() && self.names.resolve(u.scope, symbol) == Some(around)
        });
        (!handed_on).then_some(calls)
    }

    /// Whether a name may stand for something outside the file, by all its bindings.
    pub(in crate::python::read) fn may_matter(&self, symbol: Symbol) -> bool {
        let flags = self.names.flags(symbol);
        flags & (flag::IMPORTED | flag::ALIAS | flag::BUILTIN | flag::FIXTURE) != 0
            || self.star && flags & (flag::INSIDE | flag::OUTSIDE) == 0
    }
}
