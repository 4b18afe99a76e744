//! Units: the pieces of a file that change and are reached on their own. A top-level
//! binding is one; everything else that runs at import is `<module>`, and the body of
//! `if __name__ == "__main__"`, which no importer runs, is `<main>`.

use owed_engine::facts::DeclarationKind;
use ruff_python_ast::{self as ast, Expr, Stmt};

use super::scope::{Scopes, Symbol};

/// Index of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UnitId(pub(super) u32);

/// All statements with effects at import.
pub(super) const MODULE_UNIT: UnitId = UnitId(0);
/// What runs when the file is run as a program.
pub(super) const MAIN_UNIT: UnitId = UnitId(1);

/// The name of the declaration of [`MODULE_UNIT`].
pub(super) const MODULE: &str = "<module>";
/// The name of the declaration of [`MAIN_UNIT`].
pub(super) const MAIN: &str = "<main>";

/// What a unit refers to that asks classes for their subclasses.
pub(super) const SUBCLASSES: &str = "<subclasses>";

/// One unit.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) kind: DeclarationKind,
    /// What it binds; empty for the two pseudo-units.
    pub(super) names: Vec<Symbol>,
    pub(super) stmt: Option<&'a Stmt>,
}

impl<'a> Unit<'a> {
    pub(super) fn module() -> Self {
        Self { kind: DeclarationKind::Module, names: Vec::new(), stmt: None }
    }

    pub(super) fn main() -> Self {
        Self { kind: DeclarationKind::Function, names: Vec::new(), stmt: None }
    }

    /// The unit that `stmt` at module level is; `None` when it belongs to `<module>`.
    pub(super) fn of(stmt: &'a Stmt, names: &mut Scopes<'a>) -> Option<Self> {
        let (kind, bound) = match stmt {
            Stmt::FunctionDef(def) => (DeclarationKind::Function, vec![names.intern(def.name.as_str())]),
            Stmt::ClassDef(def) => (DeclarationKind::Class, vec![names.intern(def.name.as_str())]),
            Stmt::Assign(assign) => {
                let mut bound = Vec::with_capacity(assign.targets.len());
                if !assign.targets.iter().all(|t| only_names(t, names, &mut bound)) {
                    return None;
                }
                (DeclarationKind::Value, bound)
            }
            Stmt::AnnAssign(ast::StmtAnnAssign { target, .. }) => match &**target {
                Expr::Name(name) => (DeclarationKind::Value, vec![names.intern(&name.id)]),
                _ => return None,
            },
            Stmt::TypeAlias(ast::StmtTypeAlias { name, .. }) => match &**name {
                Expr::Name(name) => (DeclarationKind::Type, vec![names.intern(&name.id)]),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { kind, names: bound, stmt: Some(stmt) })
    }
}

fn only_names<'a>(target: &'a Expr, names: &mut Scopes<'a>, bound: &mut Vec<Symbol>) -> bool {
    match target {
        Expr::Name(name) => {
            bound.push(names.intern(&name.id));
            true
        }
        Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
            // One level is what unpacking constants looks like; more is a statement.
            elts.iter().all(|e| match e {
                Expr::Name(name) => {
                    bound.push(names.intern(&name.id));
                    true
                }
                _ => false,
            })
        }
        _ => false,
    }
}
