//! Import statements, and which of them are for type checkers only.

use ruff_python_ast::{self as ast, Expr};

use super::super::rows::is_stdlib;
use super::super::scope::{Bound, ScopeKind};
use super::{Imported, Statement, Target, Walk, What};

impl<'a> Walk<'a> {
    /// `Some(true)` for `TYPE_CHECKING` of the typing module, `Some(false)` for its
    /// negation. A name of the same spelling from elsewhere is an ordinary name.
    pub(super) fn type_checking(&self, test: &Expr) -> Option<bool> {
        match test {
            Expr::UnaryOp(not) if not.op == ast::UnaryOp::Not => match *not.operand {
                Expr::Name(_) | Expr::Attribute(_) => self.type_checking(&not.operand).map(|found| !found),
                _ => None,
            },
            Expr::BoolOp(and) if and.op == ast::BoolOp::And => {
                and.values.iter().any(|v| self.type_checking(v) == Some(true)).then_some(true)
            }
            Expr::Name(name) => {
                let target = self.imported(&name.id)?;
                (is_typing(target.module) && target.level == 0 && target.name == Some("TYPE_CHECKING"))
                    .then_some(true)
            }
            Expr::Attribute(attribute) if attribute.attr.as_str() == "TYPE_CHECKING" => {
                let Expr::Name(root) = &*attribute.value else { return None };
                let target = self.imported(&root.id)?;
                (is_typing(target.module) && target.level == 0 && target.name.is_none()).then_some(true)
            }
            _ => None,
        }
    }

    pub(super) fn imported(&self, name: &str) -> Option<&Target<'a>> {
        let symbol = self.names.find(name)?;
        let scope = self.names.resolve(self.scope, symbol)?;
        let mut bindings = self.names.bindings(scope, symbol);
        match (bindings.next()?.bound, bindings.next()) {
            (Bound::Import(target), None) => self.targets.get(target as usize),
            _ => None,
        }
    }

    pub(super) fn import(&mut self, s: &'a ast::StmtImport) {
        for alias in &s.names {
            self.note_import(Statement::Import(alias));
            let module = alias.name.as_str();
            let (local, module) = match &alias.asname {
                Some(local) => (local.as_str(), module),
                None => {
                    let first = module.split('.').next().unwrap_or(module);
                    (first, first)
                }
            };
            let range = alias.range;
            self.bind_import(local, Target { level: 0, module, name: None, type_only: false, range });
        }
    }

    pub(super) fn import_from(&mut self, s: &'a ast::StmtImportFrom) {
        self.note_import(Statement::From(s));
        let module = s.module.as_ref().map_or("", |m| m.as_str());
        for alias in &s.names {
            let name = alias.name.as_str();
            if name == "*" {
                self.star = true;
                self.star_count += 1;
                if s.level == 0 && is_stdlib(module) {
                    self.stars.push(module);
                }
                continue;
            }
            let local = alias.asname.as_ref().map_or(name, |n| n.as_str());
            let (level, range) = (s.level, alias.range);
            self.bind_import(local, Target { level, module, name: Some(name), type_only: false, range });
        }
    }

    pub(super) fn note_import(&mut self, statement: Statement<'a>) {
        let (optional, type_only) = (self.optional > 0, self.type_only > 0);
        self.imports.push(Imported { statement, optional, type_only });
    }

    fn bind_import(&mut self, local: &'a str, mut target: Target<'a>) {
        target.type_only = self.type_only > 0;
        let symbol = self.names.intern(local);
        let index = crate::python::read::text::offset(self.targets.len());
        self.targets.push(target);
        self.bind(symbol, Bound::Import(index));
        if self.names.scope(self.scope).kind == ScopeKind::Class {
            self.site(What::Held(index), false);
        }
    }
}

fn is_typing(module: &str) -> bool {
    matches!(module, "typing" | "typing_extensions")
}
