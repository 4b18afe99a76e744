//! From an expression to an operation of the table: which global or module it leads to
//! and by which members.
//!
//! Only an unresolved global, an import of a module of the table, or a constant that
//! holds one of them is a root. `o.process`, a parameter called `fs` and a type never
//! are.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, ChainElement, Expression, IdentifierReference};
use oxc_semantic::SymbolId;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::table::Root;
use super::usage::{is_interop, is_used};
use super::walk::{Binding, Walk};

/// How far aliases are followed.
const STEPS: u32 = 12;

/// A place in the table, or below it.
#[derive(Clone, Debug)]
pub(super) struct Op<'a> {
    /// The global or module.
    pub(super) root: &'static Root,
    /// The members read from it.
    pub(super) path: Vec<&'a str>,
}

/// Names of the global object.
fn is_global_object(name: &str) -> bool {
    matches!(name, "globalThis" | "global" | "self" | "window")
}

impl<'a> Walk<'_, 'a> {
    /// The operation an expression stands for.
    pub(super) fn operation(&self, it: &'a Expression<'a>) -> Option<Op<'a>> {
        self.lead(it, STEPS)
    }

    fn lead(&self, it: &'a Expression<'a>, steps: u32) -> Option<Op<'a>> {
        if steps == 0 {
            return None;
        }
        let steps = steps - 1;
        match it.get_inner_expression() {
            Expression::Identifier(it) => self.lead_name(it, steps),
            Expression::StaticMemberExpression(it) => {
                self.lead_member(&it.object, it.property.name.as_str(), steps)
            }
            Expression::ComputedMemberExpression(it) => match &it.expression {
                Expression::StringLiteral(key) => self.lead_member(&it.object, key.value.as_str(), steps),
                _ => None,
            },
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::StaticMemberExpression(it) => {
                    self.lead_member(&it.object, it.property.name.as_str(), steps)
                }
                ChainElement::CallExpression(it) => self.lead_call(it, steps),
                _ => None,
            },
            Expression::CallExpression(it) => self.lead_call(it, steps),
            Expression::AwaitExpression(it) => self.lead(&it.argument, steps),
            Expression::ImportExpression(it) => match &it.source {
                Expression::StringLiteral(source) => self.module(&source.value),
                _ => None,
            },
            Expression::SequenceExpression(it) => self.lead(it.expressions.last()?, steps),
            _ => None,
        }
    }

    fn lead_member(&self, object: &'a Expression<'a>, name: &'a str, steps: u32) -> Option<Op<'a>> {
        if let Expression::Identifier(it) = object.get_inner_expression()
            && self.symbol(it).is_none()
            && is_global_object(&it.name)
        {
            return self.global(name);
        }
        Some(self.member_of(self.lead(object, steps)?, name))
    }

    pub(super) fn member_of(&self, mut op: Op<'a>, name: &'a str) -> Op<'a> {
        let transparent = op.path.is_empty()
            && (op.root.is_through(name) || (name == "default" && op.root.name.contains(':')));
        if !transparent {
            op.path.push(name);
        }
        op
    }

    fn lead_name(&self, it: &IdentifierReference<'a>, steps: u32) -> Option<Op<'a>> {
        match self.symbol(it) {
            None if it.reference_id.get().is_some() => self.global(&it.name),
            None => None,
            Some(symbol) if self.known[symbol.index()].inert => None,
            Some(symbol) => self.lead_symbol(symbol, steps),
        }
    }

    /// The operation a symbol always stands for.
    pub(super) fn lead_symbol(&self, symbol: SymbolId, steps: u32) -> Option<Op<'a>> {
        match &self.known[symbol.index()].binding {
            Binding::Import { import, name } => {
                let op = self.module(&self.imports[*import].specifier)?;
                Some(match name {
                    Some(name) if *name != "default" => self.member_of(op, name),
                    _ => op,
                })
            }
            Binding::Init { init, keys } => {
                let global = match init.get_inner_expression() {
                    Expression::Identifier(it) => self.symbol(it).is_none() && is_global_object(&it.name),
                    _ => false,
                };
                let (mut op, rest) = if global {
                    (self.global(keys.first()?)?, &keys[1..])
                } else {
                    (self.lead(init, steps)?, keys.as_slice())
                };
                for key in rest {
                    op = self.member_of(op, key);
                }
                Some(op)
            }
            Binding::Each { .. } | Binding::None => None,
        }
    }

    fn global(&self, name: &str) -> Option<Op<'a>> {
        Some(Op { root: self.table.global(name)?, path: Vec::new() })
    }

    /// The root of a module specifier.
    pub(super) fn module(&self, specifier: &str) -> Option<Op<'a>> {
        Some(Op { root: self.table.module(specifier)?, path: Vec::new() })
    }

    fn lead_call(&self, it: &'a CallExpression<'a>, steps: u32) -> Option<Op<'a>> {
        let argument = it.arguments.first().and_then(Argument::as_expression);
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && callee.property.name == "bind"
        {
            return self.lead(&callee.object, steps);
        }
        if is_interop(&it.callee) {
            return self.lead(argument?, steps);
        }
        let callee = self.lead(&it.callee, steps)?;
        match (callee.root.name.as_str(), callee.path.as_slice()) {
            ("require", []) | ("process", ["getBuiltinModule"]) => match argument? {
                Expression::StringLiteral(text) => self.module(&text.value),
                _ => None,
            },
            ("node:module", ["createRequire"]) => self.global("require"),
            ("node:util", ["promisify"]) => self.lead(argument?, steps),
            _ => None,
        }
    }

    /// Whether a callee is `require`, by whatever name.
    pub(super) fn is_require(&self, callee: &'a Expression<'a>) -> bool {
        match callee {
            Expression::Identifier(it) if self.symbol(it).is_none() => it.name == "require",
            Expression::StaticMemberExpression(it) if it.property.name == "require" => {
                matches!(&it.object, Expression::Identifier(o) if self.is_global(o, "module"))
            }
            Expression::Identifier(_) | Expression::CallExpression(_) => {
                self.operation(callee).is_some_and(|op| op.root.name == "require" && op.path.is_empty())
            }
            _ => false,
        }
    }

    /// An unresolved name is being visited.
    pub(super) fn on_global(&mut self, it: &'a IdentifierReference<'a>) {
        let name = it.name.as_str();
        if self.declarations || self.table.is_pure_global(name) {
            return self.on_pure_global(name);
        }
        if matches!(name, "__dirname" | "__filename") {
            return self.on_own_path(it.span);
        }
        if is_global_object(name) {
            return self.on_global_object(it.span, false);
        }
        match self.global(name) {
            Some(op) => self.on_root(op, 0),
            None => self.on_unknown_global(it),
        }
    }

    /// A name that may stand for an operation is being visited.
    pub(super) fn on_alias(&mut self, it: &'a IdentifierReference<'a>, symbol: SymbolId) {
        match self.lead_name(it, STEPS) {
            Some(op) => self.on_root(op, 0),
            None => self.known[symbol.index()].inert = true,
        }
    }

    /// `globalThis`, by one of its names: its member is the global of that name.
    ///
    /// `bare` says that it is written as a sloppy `this`, which compilers use to keep
    /// their own helpers: names the table does not know tell nothing then.
    pub(super) fn on_global_object(&mut self, span: Span, bare: bool) {
        let above = self.wrappers(0);
        match self.ancestor(above + 1) {
            Some(AstKind::StaticMemberExpression(member)) => {
                let name = member.property.name.as_str();
                if self.is_target(above + 1) {
                    return self.mutates(&format!("globalThis.{name}"), span);
                }
                if self.table.is_pure_global(name) || is_global_object(name) {
                    return;
                }
                match self.global(name) {
                    Some(op) => self.on_root(op, above + 1),
                    None if bare => {}
                    None => self.global_pin(name, above + 1, span),
                }
            }
            Some(AstKind::VariableDeclarator(it)) => {
                let bare = it.id.get_binding_identifier().is_some_and(|id| {
                    id.symbol_id.get().is_some_and(|symbol| {
                        matches!(self.known[symbol.index()].binding, Binding::Init { .. })
                    })
                });
                // `const { fetch } = globalThis` names what it takes.
                let taken = matches!(&it.id, BindingPattern::ObjectPattern(p) if p.rest.is_none());
                if bare || !taken {
                    self.global_object_escapes(span);
                }
            }
            Some(AstKind::UnaryExpression(it)) if it.operator == UnaryOperator::Typeof => {}
            Some(AstKind::LogicalExpression(it)) if !is_used(it) && it.left.span() == span => {}
            Some(AstKind::BinaryExpression(it)) if it.operator != BinaryOperator::Addition => {
                // Compared, or asked for a member by `in`.
            }
            _ => self.global_object_escapes(span),
        }
    }

    /// How many wrappers that change nothing (`as T`, `!`, `?.`) surround the node `up`
    /// levels above.
    pub(super) fn wrappers(&self, mut up: usize) -> usize {
        while matches!(
            self.ancestor(up + 1),
            Some(
                AstKind::TSAsExpression(_)
                    | AstKind::TSSatisfiesExpression(_)
                    | AstKind::TSTypeAssertion(_)
                    | AstKind::TSNonNullExpression(_)
                    | AstKind::TSInstantiationExpression(_)
                    | AstKind::ChainExpression(_)
                    | AstKind::ParenthesizedExpression(_)
            )
        ) {
            up += 1;
        }
        up
    }
}
