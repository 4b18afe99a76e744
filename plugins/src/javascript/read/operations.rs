//! From an expression to an operation of the table: which global or module it leads to
//! and by which members.
//!
//! Only an unresolved global, an import of a module of the table, or a constant that
//! holds one of them is a root. `o.process`, a parameter called `fs` and a type never
//! are.

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, CallExpression, ChainElement, Class, Expression, IdentifierReference};
use oxc_semantic::SymbolId;

use super::table::Root;
use super::usage::is_interop;
use super::value::{Place, Value};
use super::walk::{Binding, Walk, key};

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
            Expression::ComputedMemberExpression(it) => {
                self.lead_member(&it.object, key(&it.expression)?, steps)
            }
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::StaticMemberExpression(it) => {
                    self.lead_member(&it.object, it.property.name.as_str(), steps)
                }
                ChainElement::ComputedMemberExpression(it) => {
                    self.lead_member(&it.object, key(&it.expression)?, steps)
                }
                ChainElement::CallExpression(it) => self.lead_call(it, steps),
                _ => None,
            },
            Expression::ClassExpression(it) => self.lead(it.heritage_expression()?, steps),
            Expression::Super(_) => self.lead(self.base_of_static()?, steps),
            Expression::CallExpression(it) => self.lead_call(it, steps),
            Expression::AwaitExpression(it) => self.lead(&it.argument, steps),
            Expression::ImportExpression(it) => self.module(&self.constant_text(&it.source, steps)?),
            Expression::SequenceExpression(it) => self.lead(it.expressions.last()?, steps),
            _ => None,
        }
    }

    fn lead_member(&self, object: &'a Expression<'a>, name: &'a str, steps: u32) -> Option<Op<'a>> {
        if let Expression::Identifier(it) = object.get_inner_expression()
            && self.class_of(it).is_some_and(|class| is_own_static(class, name))
        {
            return None;
        }
        Some(self.member_of(self.lead(object, steps)?, name))
    }

    pub(super) fn member_of(&self, mut op: Op<'a>, name: &'a str) -> Op<'a> {
        if !op.path.is_empty() {
            op.path.push(name);
            return op;
        }
        let other = match op.root.name.as_str() {
            "globalThis" => self.table.global(name),
            _ => self.table.lead(op.root, name),
        };
        if let Some(root) = other {
            return Op { root, path: Vec::new() };
        }
        if !(op.root.is_through(name) || (name == "default" && op.root.name.contains(':'))) {
            op.path.push(name);
        }
        op
    }

    /// The class an identifier always stands for.
    pub(super) fn class_of(&self, it: &IdentifierReference<'a>) -> Option<&'a Class<'a>> {
        match self.binding(it) {
            Binding::Class(class) => Some(class),
            Binding::Init { init, keys } if keys.is_empty() => match init.get_inner_expression() {
                Expression::ClassExpression(class) => Some(class),
                _ => None,
            },
            _ => None,
        }
    }

    /// The class around the node being visited.
    pub(super) fn class_around(&self) -> Option<&'a Class<'a>> {
        self.stack.iter().rev().find_map(|node| match node {
            AstKind::Class(class) => Some(*class),
            _ => None,
        })
    }

    /// The base class, where `super` is used in a static part of a class: there its
    /// members are the base's own.
    fn base_of_static(&self) -> Option<&'a Expression<'a>> {
        for node in self.stack.iter().rev() {
            match node {
                AstKind::MethodDefinition(it) if !it.r#static => return None,
                AstKind::PropertyDefinition(it) if !it.r#static => return None,
                AstKind::Class(class) => return class.heritage_expression(),
                _ => {}
            }
        }
        None
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
                let mut op = self.lead(init, steps)?;
                for key in keys {
                    op = self.member_of(op, key);
                }
                Some(op)
            }
            Binding::Class(class) => self.lead(class.heritage_expression()?, steps),
            Binding::Each { .. } | Binding::None => None,
        }
    }

    fn global(&self, name: &str) -> Option<Op<'a>> {
        Some(Op { root: self.table.global(name)?, path: Vec::new() })
    }

    /// The global object.
    pub(super) fn global_object(&self) -> Option<Op<'a>> {
        self.global("globalThis")
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
            return if it.arguments.len() > 1 { None } else { self.lead(&callee.object, steps) };
        }
        if is_interop(&it.callee) {
            return self.lead(argument?, steps);
        }
        let callee = self.lead(&it.callee, steps)?;
        match (callee.root.name.as_str(), callee.path.as_slice()) {
            ("require", []) | ("process", ["getBuiltinModule"]) => {
                self.module(&self.constant_text(argument?, steps)?)
            }
            ("node:module", ["createRequire"]) if self.is_own_place(argument?) => self.global("require"),
            ("node:util", ["promisify"]) => self.lead(argument?, steps),
            _ => None,
        }
    }

    /// Whether a path is this file or one beside it, so that specifiers mean the same.
    fn is_own_place(&self, it: &'a Expression<'a>) -> bool {
        match self.value(it) {
            Value::Path(..) => match self.value(it).place() {
                Place::At(path) => {
                    path.base == owed_engine::facts::PathBase::Module && !path.path.contains('/')
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a callee is `require`, by whatever name.
    pub(super) fn is_require(&self, callee: &'a Expression<'a>) -> bool {
        if let Expression::StaticMemberExpression(it) = callee
            && it.property.name == "require"
            && matches!(&it.object, Expression::Identifier(o) if self.is_global(o, "module"))
        {
            return true;
        }
        self.operation(callee).is_some_and(|op| op.root.name == "require" && op.path.is_empty())
    }

    /// An unresolved name is being visited.
    pub(super) fn on_global(&mut self, it: &'a IdentifierReference<'a>) {
        let name = it.name.as_str();
        if self.declarations {
            return;
        }
        if matches!(name, "__dirname" | "__filename") {
            return self.on_own_path(0, "__dirname", it.span);
        }
        match self.global(name) {
            Some(op) => self.on_root(op, 0),
            None => self.on_unknown_global(name, 0, it.span),
        }
    }

    /// `super.x` in a static part of a class.
    pub(super) fn on_super(&mut self) {
        if matches!(self.ancestor(1), Some(AstKind::CallExpression(_))) || self.declarations {
            return;
        }
        if let Some(op) = self.base_of_static().and_then(|base| self.operation(base)) {
            self.on_root(op, 0);
        }
    }

    /// A name that may stand for an operation is being visited.
    pub(super) fn on_alias(&mut self, it: &'a IdentifierReference<'a>, symbol: SymbolId) {
        let Some(op) = self.lead_name(it, STEPS) else {
            self.known[symbol.index()].inert = true;
            return;
        };
        // Giving the variable another value changes nothing it stood for.
        if self.written(0).is_some() {
            return;
        }
        // A subclass has its own prototype and static members.
        if let Some(class) = self.class_of(it) {
            let above = self.wrappers(0) + 1;
            let own = match self.ancestor(above) {
                Some(AstKind::StaticMemberExpression(member)) => {
                    is_own_static(class, member.property.name.as_str()) || self.is_target(above)
                }
                Some(AstKind::ComputedMemberExpression(_)) => self.is_target(above),
                Some(AstKind::NewExpression(new)) => {
                    matches!(&new.callee, Expression::Identifier(callee) if callee.span == it.span)
                        && has_constructor(class)
                }
                _ => false,
            };
            if own {
                return;
            }
        }
        self.on_root(op, 0);
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

/// Whether a class answers for a static member itself.
fn is_own_static(class: &Class<'_>, name: &str) -> bool {
    matches!(name, "prototype" | "name" | "length")
        || class.body.body.iter().any(|element| {
            element.r#static()
                && element.property_key().is_some_and(|k| k.static_name().is_some_and(|n| n == name))
        })
}

/// Whether a class has a constructor of its own, whose `super(…)` says what becomes of
/// the base.
fn has_constructor(class: &Class<'_>) -> bool {
    class.body.body.iter().any(|element| {
        matches!(element, oxc_ast::ast::ClassElement::MethodDefinition(it) if it.kind.is_constructor())
    })
}
