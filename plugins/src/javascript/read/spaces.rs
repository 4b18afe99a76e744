//! Modules held by a variable: `import * as ns`, `const x = require("./a")`,
//! `import("./a").then((m) => …)`.
//!
//! As long as every use reads a static member, the import takes these members only:
//! its names become a list with locals such as `ns.a`, and declarations refer to
//! `ns.a`. One other use (passed, spread, indexed, assigned) and it takes the whole
//! module under its name. Exporting it is no use of this file: the import is then there
//! twice, once with the members read here and once whole, for whoever imports the name.

use std::collections::BTreeSet;

use owed_engine::facts::{Import, Name, Names};
use oxc_ast::AstKind;
use oxc_ast::ast::Expression;
use oxc_span::GetSpan;

use super::walk::Walk;

/// One variable that holds a module.
#[derive(Debug)]
pub(super) struct Space<'a> {
    /// Index of its import.
    pub(super) import: usize,
    /// Its name in references.
    pub(super) prefix: String,
    /// Members read, with the unit that reads them.
    members: Vec<(u32, &'a str)>,
    /// Units in which it escapes.
    escapes: Vec<u32>,
    /// Other files can reach it by name.
    exported: bool,
}

impl<'a> Walk<'_, 'a> {
    /// The import at `import` is held by `symbol`, called `prefix` in references.
    pub(super) fn add_space(&mut self, symbol: oxc_semantic::SymbolId, import: usize, prefix: String) {
        let exported = self.exported.contains(&symbol);
        self.spaces.push(Space { import, prefix, members: Vec::new(), escapes: Vec::new(), exported });
        let number = u32::try_from(self.spaces.len()).expect("fewer than 2^32 imports");
        self.known[symbol.index()].space = number;
    }

    /// The identifier being visited names a module.
    pub(super) fn on_space(&mut self, space: usize) {
        let unit = self.units.current;
        let member = match self.member_above() {
            Some((name, above)) if !self.is_target(above) => Some(name),
            _ => None,
        };
        let space = &mut self.spaces[space];
        match member {
            Some(name) => {
                if space.members.last() != Some(&(unit, name)) {
                    space.members.push((unit, name));
                }
            }
            None => space.escapes.push(unit),
        }
    }

    /// The static member that the parent reads of the node being visited, and how many
    /// levels above it that parent is.
    fn member_above(&self) -> Option<(&'a str, usize)> {
        let child = self.ancestor(0)?.span();
        let mut up = 1;
        loop {
            return match self.ancestor(up)? {
                AstKind::StaticMemberExpression(it) => Some((it.property.name.as_str(), up)),
                AstKind::ComputedMemberExpression(it) if it.object.span() == child => match &it.expression {
                    Expression::StringLiteral(key) => Some((key.value.as_str(), up)),
                    _ => None,
                },
                AstKind::JSXMemberExpression(it) => Some((it.property.name.as_str(), up)),
                AstKind::TSQualifiedName(it) => Some((it.right.name.as_str(), up)),
                AstKind::TSNonNullExpression(_) | AstKind::TSAsExpression(_) => {
                    up += 1;
                    continue;
                }
                _ => None,
            };
        }
    }

    /// Whether the node `up` levels above is written to.
    pub(super) fn is_target(&self, up: usize) -> bool {
        let Some(node) = self.ancestor(up) else { return false };
        match self.ancestor(up + 1) {
            Some(AstKind::AssignmentExpression(it)) => it.left.span() == node.span(),
            Some(AstKind::UpdateExpression(_)) => true,
            Some(AstKind::UnaryExpression(it)) => it.operator == oxc_syntax::operator::UnaryOperator::Delete,
            _ => false,
        }
    }

    /// Gives every import that a variable holds its names, and the units their
    /// references.
    pub(super) fn settle_spaces(&mut self) {
        for space in std::mem::take(&mut self.spaces) {
            let Space { import, prefix, members, escapes, exported } = space;
            let units = &mut self.units;
            if !escapes.is_empty() {
                let all = members.iter().map(|&(unit, _)| unit).chain(escapes);
                units.texts.extend(all.map(|unit| (unit, prefix.clone())));
                self.imports[import].names = Names::Namespace(prefix);
                continue;
            }
            if exported {
                let whole =
                    Import { names: Names::Namespace(prefix.clone()), ..self.imports[import].clone() };
                if members.is_empty() {
                    self.imports[import] = whole;
                    continue;
                }
                self.imports.push(whole);
            }
            let names: BTreeSet<&str> = members.iter().map(|&(_, name)| name).collect();
            let names = names
                .iter()
                .map(|name| Name { imported: (*name).to_owned(), local: format!("{prefix}.{name}") })
                .collect();
            self.imports[import].names = if members.is_empty() { Names::Effects } else { Names::List(names) };
            units.texts.extend(members.iter().map(|(unit, name)| (*unit, format!("{prefix}.{name}"))));
        }
    }
}
