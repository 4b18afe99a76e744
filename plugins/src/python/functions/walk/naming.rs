//! What functions, classes and dictionaries are called from where they stand.

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_text_size::{Ranged, TextRange};

use super::{Pending, Walk};
use crate::measure::{Named, Tag, Target, hash};

impl<'a> Walk<'_, 'a> {
    pub(super) fn name(&mut self, expr: &'a Expr, name: Named, target: Option<Target>) {
        if matches!(expr, Expr::Lambda(_) | Expr::Dict(_)) {
            self.pending = Some(Pending { range: expr.range(), name, target });
        }
    }

    pub(super) fn taken(&mut self, range: TextRange) -> Option<Pending> {
        self.pending.take_if(|pending| pending.range == range)
    }

    /// A declared function or class.
    pub(super) fn declared(&self, name: &str, holder: bool) -> Named {
        if self.frames.in_class() { self.frames.member(name, holder) } else { self.frames.named(name) }
    }

    pub(super) fn member(&self, name: &str) -> Option<Target> {
        self.frames.holder().map(|holder| Target::Member(holder, hash(Tag::Member, name.as_bytes())))
    }

    pub(super) fn bound(&self, name: &str) -> Option<Target> {
        self.scopes.binding(name, self.scope()).map(Target::Binding)
    }

    /// A value that is assigned to something with a name.
    pub(super) fn assigned(&mut self, target: Option<&'a Expr>, value: &'a Expr) {
        let named = target.and_then(|target| match target {
            Expr::Name(it) => Some((it.id.to_string(), self.bound(&it.id))),
            Expr::Attribute(_) => chain(target).map(|name| (name, None)),
            _ => None,
        });
        let Some((text, target)) = named else {
            self.visit_expr(value);
            return;
        };
        let name = self.declared(&text, true);
        let frame = (self.frames.outside() && !self.frames.in_variable()) || self.frames.in_class();
        if frame {
            self.frames.variable(&name);
        }
        self.name(value, name, target);
        self.visit_expr(value);
        if frame {
            self.frames.pop();
        }
    }
}

/// `a.b.c` as it is said in a name.
pub(super) fn chain(expr: &Expr) -> Option<String> {
    let mut names = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Name(it) => names.push(it.id.as_str()),
            Expr::Attribute(it) if names.len() < 6 => {
                names.push(it.attr.as_str());
                at = &it.value;
                continue;
            }
            Expr::Attribute(_) => names.push("…"),
            _ => return None,
        }
        names.reverse();
        return Some(names.join("."));
    }
}
