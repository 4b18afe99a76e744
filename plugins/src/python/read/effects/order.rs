//! Order and identity: sets whose order is seen, hashes, and addresses in text.
//!
//! The order of a set of texts depends on the hash seed, that of a set of objects on where
//! they lie in memory. Numbers have one order. A set whose elements are not seen is taken
//! for one of texts.

use owed_engine::facts::Opaque;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::super::scope::{Bound, ScopeId};
use super::super::walk::Site;
use super::Judge;

/// Names and expressions are followed this far.
const HOPS: u8 = 5;

/// On what the hash of a value depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hash {
    /// On the value: numbers.
    Value,
    /// On the seed of the process, too.
    Seed,
    /// On its address.
    Address,
}

impl<'a> Judge<'_, 'a> {
    /// Something whose order is seen.
    pub(super) fn ordered(&mut self, expr: &'a Expr, site: &Site<'a>) {
        match self.set(expr, site.scope, HOPS) {
            Some(Hash::Seed) => self.named("set order", "PYTHONHASHSEED", expr.range(), site),
            Some(Hash::Address) => self.opaque("set order of objects", Opaque::Addr, expr.range(), site),
            Some(Hash::Value) | None => {}
        }
    }

    /// Something turned into text: a set shows its order, an object its address.
    pub(super) fn repr(&mut self, expr: &'a Expr, site: &Site<'a>) {
        self.ordered(expr, site);
        if self.shows_address(expr, site.scope, HOPS) {
            self.opaque("default repr", Opaque::Addr, expr.range(), site);
        }
    }

    /// `hash(value)`.
    pub(super) fn hash(&mut self, call: &'a ast::ExprCall, site: &Site<'a>) {
        let Some(value) = call.arguments.args.first() else { return };
        match self.element(value, site.scope, HOPS) {
            Hash::Value => {}
            Hash::Seed => self.named("hash", "PYTHONHASHSEED", call.range(), site),
            Hash::Address => self.opaque("hash", Opaque::Addr, call.range(), site),
        }
    }

    /// What the order of a set depends on; `None` for what is no set.
    fn set(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> Option<Hash> {
        let hops = hops.checked_sub(1)?;
        match expr {
            Expr::Set(set) => Some(self.elements(&set.elts, scope, hops)),
            Expr::SetComp(e) => Some(self.produced(&e.elt, &e.generators, scope, hops)),
            Expr::Call(call) => match &*call.func {
                Expr::Name(name)
                    if matches!(name.id.as_str(), "set" | "frozenset")
                        && self.names.is_builtin(&name.id, scope) =>
                {
                    match call.arguments.args.first() {
                        // Filled later.
                        None => Some(Hash::Seed),
                        Some(elements) => Some(self.iterable(elements, scope, hops)),
                    }
                }
                Expr::Attribute(attribute) => match attribute.attr.as_str() {
                    "union" | "intersection" | "difference" | "symmetric_difference" | "copy" => {
                        let own = self.set(&attribute.value, scope, hops)?;
                        let others = call.arguments.args.iter().map(|a| self.iterable(a, scope, hops));
                        Some(others.fold(own, Hash::max))
                    }
                    _ => None,
                },
                _ => None,
            },
            Expr::BinOp(op)
                if matches!(
                    op.op,
                    ast::Operator::BitOr | ast::Operator::BitAnd | ast::Operator::BitXor | ast::Operator::Sub
                ) =>
            {
                match (self.set(&op.left, scope, hops), self.set(&op.right, scope, hops)) {
                    (Some(left), Some(right)) => Some(left.max(right)),
                    (one, other) => one.or(other),
                }
            }
            Expr::If(e) => {
                let (body, other) = (self.set(&e.body, scope, hops), self.set(&e.orelse, scope, hops));
                body.max(other)
            }
            Expr::Named(e) => self.set(&e.value, scope, hops),
            Expr::Name(name) => {
                let names = &self.walk.names;
                let symbol = names.find(&name.id)?;
                let at = names.resolve(scope, symbol)?;
                names
                    .bindings(at, symbol)
                    .filter_map(|b| match b.bound {
                        Bound::Value(value) => self.set(value, b.scope, hops),
                        Bound::Parameter(Some(annotation)) => annotated(annotation),
                        _ => None,
                    })
                    .max()
            }
            _ => None,
        }
    }

    /// The elements of something that a set is made of.
    fn iterable(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> Hash {
        let Some(hops) = hops.checked_sub(1) else { return Hash::Seed };
        match expr {
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                self.elements(elts, scope, hops)
            }
            Expr::ListComp(e) => self.produced(&e.elt, &e.generators, scope, hops),
            Expr::Generator(e) => self.produced(&e.elt, &e.generators, scope, hops),
            Expr::Call(call)
                if matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "range"
                    && self.names.is_builtin("range", scope)) =>
            {
                Hash::Value
            }
            Expr::BytesLiteral(_) => Hash::Value,
            Expr::Name(name) => {
                if let Some(known) = self.set(expr, scope, hops) {
                    return known;
                }
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return Hash::Seed };
                let Some(at) = names.resolve(scope, symbol) else { return Hash::Seed };
                let bindings = names.bindings(at, symbol).map(|b| match b.bound {
                    Bound::Value(value) => self.iterable(value, b.scope, hops),
                    Bound::Parameter(Some(annotation)) => annotated(annotation).unwrap_or(Hash::Seed),
                    _ => Hash::Seed,
                });
                bindings.max().unwrap_or(Hash::Seed)
            }
            other => self.set(other, scope, hops).unwrap_or(Hash::Seed),
        }
    }

    /// The elements of a comprehension.
    fn produced(
        &self,
        element: &'a Expr,
        generators: &'a [ast::Comprehension],
        scope: ScopeId,
        hops: u8,
    ) -> Hash {
        // The variable of the loop itself has the elements of what is looped over.
        if let ([generator], Expr::Name(name)) = (generators, element)
            && matches!(&generator.target, Expr::Name(target) if target.id == name.id)
        {
            return self.iterable(&generator.iter, scope, hops);
        }
        match element {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => Hash::Seed,
            other => self.element(other, scope, hops),
        }
    }

    fn elements(&self, elements: &'a [Expr], scope: ScopeId, hops: u8) -> Hash {
        elements.iter().map(|e| self.element(e, scope, hops)).max().unwrap_or(Hash::Value)
    }

    fn element(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> Hash {
        let Some(hops) = hops.checked_sub(1) else { return Hash::Seed };
        match expr {
            Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) => Hash::Value,
            // Before Python 3.12 it lies somewhere, as other objects do.
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) | Expr::Lambda(_) => Hash::Address,
            Expr::UnaryOp(op) => self.element(&op.operand, scope, hops),
            Expr::BinOp(op) => self.element(&op.left, scope, hops).max(self.element(&op.right, scope, hops)),
            Expr::Tuple(tuple) => self.elements(&tuple.elts, scope, hops),
            Expr::If(e) => self.element(&e.body, scope, hops).max(self.element(&e.orelse, scope, hops)),
            Expr::Starred(e) => self.iterable(&e.value, scope, hops),
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) if self.names.is_builtin(&name.id, scope) => match name.id.as_str() {
                    "object" | "type" => Hash::Address,
                    "int" | "float" | "bool" | "len" | "ord" | "abs" | "round" | "complex" | "sum" => {
                        Hash::Value
                    }
                    _ => Hash::Seed,
                },
                Expr::Name(_) if self.is_plain_object(expr, scope, hops) => Hash::Address,
                _ => Hash::Seed,
            },
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return Hash::Seed };
                let Some(at) = names.resolve(scope, symbol) else {
                    // Types and functions that are builtin.
                    return Hash::Address;
                };
                let bindings = names.bindings(at, symbol).map(|b| match b.bound {
                    Bound::Value(value) => self.element(value, b.scope, hops),
                    Bound::Class(..) | Bound::Function(..) => Hash::Address,
                    Bound::Import(_)
                        if name.id.starts_with(|c: char| c.is_uppercase())
                            && name.id.chars().any(|c| c.is_lowercase()) =>
                    {
                        Hash::Address
                    }
                    Bound::Parameter(Some(annotation)) if is_number(annotation) => Hash::Value,
                    _ => Hash::Seed,
                });
                bindings.max().unwrap_or(Hash::Seed)
            }
            _ => Hash::Seed,
        }
    }

    /// Whether the text of a value holds an address.
    fn shows_address(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> bool {
        let Some(hops) = hops.checked_sub(1) else { return false };
        match expr {
            Expr::Lambda(_) | Expr::Generator(_) => true,
            Expr::Name(name) => {
                let names = &self.walk.names;
                let Some(symbol) = names.find(&name.id) else { return false };
                let Some(at) = names.resolve(scope, symbol) else { return false };
                names.bindings(at, symbol).any(|b| match b.bound {
                    Bound::Function(def, _) => def.decorator_list.is_empty(),
                    Bound::Value(value @ (Expr::Lambda(_) | Expr::Call(_) | Expr::Name(_))) => {
                        self.shows_address(value, b.scope, hops)
                    }
                    _ => false,
                })
            }
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) if self.names.is_builtin(&name.id, scope) => {
                    name.id.as_str() == "object" && call.arguments.is_empty()
                }
                _ => self.is_plain_object(expr, scope, hops) && self.has_default_text(call, scope),
            },
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                elts.iter().any(|e| self.shows_address(e, scope, hops))
            }
            _ => false,
        }
    }

    /// An instance of a class of this file that says nothing about its hash.
    fn is_plain_object(&self, expr: &'a Expr, scope: ScopeId, hops: u8) -> bool {
        hops > 0
            && self.class_of_call(expr, scope).is_some_and(|def| {
                def.decorator_list.is_empty()
                    && def.bases().iter().all(is_object)
                    && !defines(def, &["__hash__", "__eq__"])
            })
    }

    fn has_default_text(&self, call: &'a ast::ExprCall, scope: ScopeId) -> bool {
        self.class_named(&call.func, scope)
            .is_some_and(|def| !defines(def, &["__repr__", "__str__", "__format__"]))
    }

    fn class_of_call(&self, expr: &'a Expr, scope: ScopeId) -> Option<&'a ast::StmtClassDef> {
        let Expr::Call(call) = expr else { return None };
        self.class_named(&call.func, scope)
    }

    fn class_named(&self, expr: &'a Expr, scope: ScopeId) -> Option<&'a ast::StmtClassDef> {
        let Expr::Name(name) = expr else { return None };
        let names = &self.walk.names;
        let symbol = names.find(&name.id)?;
        let at = names.resolve(scope, symbol)?;
        let mut bindings = names.bindings(at, symbol);
        match (bindings.next()?.bound, bindings.next()) {
            (Bound::Class(def, _), None) => Some(def),
            _ => None,
        }
    }
}

fn is_object(base: &Expr) -> bool {
    matches!(base, Expr::Name(n) if n.id.as_str() == "object")
}

fn defines(def: &ast::StmtClassDef, names: &[&str]) -> bool {
    def.body.iter().any(|stmt| match stmt {
        ast::Stmt::FunctionDef(f) => names.contains(&f.name.as_str()),
        ast::Stmt::Assign(a) => {
            a.targets.iter().any(|t| matches!(t, Expr::Name(n) if names.contains(&n.id.as_str())))
        }
        _ => false,
    })
}

/// `set[str]`, `frozenset[int]`, `Set[...]`.
fn annotated(annotation: &Expr) -> Option<Hash> {
    let (base, element) = match annotation {
        Expr::Subscript(s) => (&*s.value, Some(&*s.slice)),
        other => (other, None),
    };
    let name = match base {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    if !matches!(name, "set" | "frozenset" | "Set" | "FrozenSet" | "AbstractSet" | "MutableSet") {
        return None;
    }
    Some(if element.is_some_and(is_number) { Hash::Value } else { Hash::Seed })
}

fn is_number(annotation: &Expr) -> bool {
    matches!(annotation, Expr::Name(n) if matches!(n.id.as_str(), "int" | "float" | "bool" | "complex"))
}
