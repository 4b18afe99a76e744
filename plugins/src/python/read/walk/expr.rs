//! Expressions: uses of names, and the places that may matter.

use ruff_python_ast::{self as ast, Expr, ExprContext};

use super::super::scope::{Bound, ScopeKind, Symbol, flag};
use super::{Walk, What, root_of};

impl<'a> Walk<'a> {
    pub(super) fn optional_expr(&mut self, expr: Option<&'a Expr>) {
        if let Some(expr) = expr {
            self.expr(expr, false);
        }
    }

    pub(super) fn annotation(&mut self, expr: &'a Expr) {
        let outer = std::mem::replace(&mut self.annotation, true);
        self.expr(expr, true);
        self.annotation = outer;
    }

    /// A class named to be inherited from, caught or tested for; not handed on.
    pub(super) fn class_name(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Tuple(_) | Expr::Subscript(_) => self.annotation(expr),
            other => self.expr(other, false),
        }
    }

    /// `orderless`: the value's order cannot be seen by whoever takes it.
    pub(super) fn expr(&mut self, expr: &'a Expr, orderless: bool) {
        if !self.descend() {
            return;
        }
        match expr {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                if name.id.as_str() == "__doc__" {
                    self.reads_docs = true;
                }
                match name.ctx {
                    ExprContext::Store | ExprContext::Del => self.bind(symbol, Bound::Other),
                    _ if self.annotation => self.use_symbol(symbol, None, name.range),
                    _ if self.names.flags(symbol) & (flag::IMPORTED | flag::BUILTIN) != 0 => {
                        self.use_symbol(symbol, None, name.range);
                        self.site(What::Chain(expr), orderless);
                        if let Some(site) = self.sites.last_mut() {
                            site.root = Some(symbol);
                        }
                    }
                    _ => self.use_symbol(symbol, Some(expr), name.range),
                }
            }
            Expr::Attribute(attribute) => {
                if attribute.attr.as_str() == "__doc__" {
                    self.reads_docs = true;
                }
                if attribute.attr.as_str() == "__subclasses__"
                    && let Some(members) = &mut self.members
                {
                    members.subclasses.insert(self.unit);
                }
                let what = if self.annotation { What::Member(expr) } else { What::Chain(expr) };
                match root_of(expr) {
                    // Members of the instance are looked up where they are used.
                    Some(root) if matches!(root.as_str(), "self" | "cls") => {
                        self.chain_base(&attribute.value, Some(attribute.attr.as_str()));
                    }
                    // Types have no effects; they may name a submodule.
                    None if self.annotation => {
                        self.chain_base(&attribute.value, Some(attribute.attr.as_str()));
                    }
                    _ => self.rooted(what, orderless, &attribute.value, Some(attribute.attr.as_str())),
                }
            }
            Expr::Call(call) => self.call(call, expr, orderless),
            Expr::Subscript(subscript) => {
                let named = root_of(&subscript.value).is_some();
                if !self.annotation && !named && subscript.value.is_call_expr() {
                    self.site(What::Subscript(subscript), orderless);
                }
                if !self.annotation && named {
                    self.rooted(What::Subscript(subscript), orderless, &subscript.value, None);
                } else {
                    self.expr(&subscript.value, orderless);
                }
                self.slice(&subscript.slice);
            }
            Expr::StringLiteral(string) => self.string(string),
            Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::IpyEscapeCommand(_) => {}
            Expr::BinOp(op) => {
                if op.op == ast::Operator::Div {
                    self.site(What::Joined(expr), orderless);
                } else if op.op == ast::Operator::Mod && op.left.is_string_literal_expr() {
                    match &*op.right {
                        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|e| self.shown(e)),
                        other => self.shown(other),
                    }
                }
                self.expr(&op.left, false);
                self.expr(&op.right, false);
            }
            Expr::Compare(compare) => {
                let identity = compare.ops.iter().all(|op| {
                    matches!(op, ast::CmpOp::Is | ast::CmpOp::IsNot | ast::CmpOp::Eq | ast::CmpOp::NotEq)
                });
                if identity {
                    self.compared(&compare.left);
                    compare.comparators.iter().for_each(|right| self.compared(right));
                    self.depth -= 1;
                    return;
                }
                self.expr(&compare.left, false);
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    if matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn) && root_of(right).is_some() {
                        let pair = self.pair(&compare.left, right);
                        self.rooted(What::Contains(pair), true, right, None);
                    } else {
                        self.expr(right, matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn));
                    }
                }
            }
            Expr::BoolOp(op) => op.values.iter().for_each(|v| self.expr(v, false)),
            Expr::UnaryOp(op) => self.expr(&op.operand, op.op == ast::UnaryOp::Not),
            Expr::If(e) => {
                self.expr(&e.test, true);
                self.expr(&e.body, false);
                self.expr(&e.orelse, false);
            }
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => {
                for element in elts {
                    self.escape(element);
                    self.expr(element, false);
                }
            }
            Expr::Dict(dict) => {
                for item in &dict.items {
                    if let Some(key) = &item.key {
                        self.slice(key);
                    }
                    self.escape(&item.value);
                    self.expr(&item.value, false);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                let scope = self.names.open(ScopeKind::Function, self.scope);
                let outer = std::mem::replace(&mut self.scope, scope);
                let guard = std::mem::replace(&mut self.guard, 0);
                self.functions += 1;
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.escape(&lambda.body);
                self.expr(&lambda.body, false);
                self.functions -= 1;
                self.guard = guard;
                self.scope = outer;
            }
            Expr::ListComp(e) => self.comprehension(&e.generators, &[&*e.elt], orderless),
            Expr::SetComp(e) => self.comprehension(&e.generators, &[&*e.elt], true),
            Expr::Generator(e) => {
                // It may run when nothing holds any more.
                let guard = std::mem::replace(&mut self.guard, 0);
                self.comprehension(&e.generators, &[&*e.elt], orderless);
                self.guard = guard;
            }
            Expr::DictComp(e) => match &e.key {
                Some(key) => self.comprehension(&e.generators, &[key, &*e.value], false),
                None => self.comprehension(&e.generators, &[&*e.value], false),
            },
            Expr::Named(e) => {
                self.aliased(&e.value);
                if let Expr::Name(name) = &*e.target {
                    let symbol = self.names.intern(&name.id);
                    let mut scope = self.scope;
                    while self.names.scope(scope).kind == ScopeKind::Inner {
                        scope = self.names.scope(scope).parent;
                    }
                    self.bind_in(scope, symbol, Bound::Value(&e.value));
                }
            }
            Expr::FString(e) => {
                for part in &e.value {
                    if let ast::FStringPart::FString(f) = part {
                        self.interpolated(&f.elements);
                    }
                }
            }
            Expr::TString(e) => {
                for part in &e.value {
                    self.interpolated(&part.elements);
                }
            }
            Expr::Await(e) => self.expr(&e.value, orderless),
            Expr::Yield(e) => {
                self.generators.insert(self.scope);
                if let Some(value) = &e.value {
                    self.escape(value);
                    self.expr(value, false);
                }
            }
            Expr::YieldFrom(e) => {
                self.generators.insert(self.scope);
                self.in_order(&e.value);
                self.expr(&e.value, false);
            }
            Expr::Starred(e) => {
                self.in_order(&e.value);
                self.expr(&e.value, false);
            }
            Expr::Slice(e) => {
                self.optional_expr(e.lower.as_deref());
                self.optional_expr(e.upper.as_deref());
                self.optional_expr(e.step.as_deref());
            }
        }
        self.depth -= 1;
    }

    pub(super) fn call(&mut self, call: &'a ast::ExprCall, expr: &'a Expr, orderless: bool) {
        let at = self.sites.len();
        self.site(What::Call(expr), orderless);
        let (mut hides_order, mut tests_class) = (false, false);
        let outer = self.modules;
        // What a call in an annotation is given is code.
        let annotation = std::mem::replace(&mut self.annotation, false);
        match &*call.func {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                self.use_symbol(symbol, None, name.range);
                self.sites[at].root = Some(symbol);
                match name.id.as_str() {
                    "sorted" | "set" | "frozenset" | "len" | "any" | "all" | "sum" | "max" | "min"
                    | "bool" => {
                        hides_order = true;
                    }
                    "isinstance" | "issubclass" => tests_class = true,
                    "list" | "tuple" | "iter" | "next" | "enumerate" | "reversed" | "zip" | "deque"
                    | "chain" | "islice" | "accumulate" | "permutations" | "combinations" | "product"
                    | "cycle" => {
                        call.arguments.args.iter().for_each(|a| self.in_order(a));
                    }
                    "map" | "filter" => call.arguments.args.iter().skip(1).for_each(|a| self.in_order(a)),
                    "str" | "repr" | "ascii" | "print" | "format" => {
                        call.arguments.args.iter().for_each(|a| self.shown(a));
                    }
                    "include" => self.modules = true,
                    _ => {}
                }
            }
            Expr::Attribute(attribute) => {
                match attribute.attr.as_str() {
                    "autodiscover_tasks" => self.modules = true,
                    "join" | "extend" | "fromkeys" | "from_iterable" | "deque" | "chain" | "islice"
                    | "accumulate" | "permutations" | "combinations" | "product" | "cycle" => {
                        call.arguments.args.iter().for_each(|a| self.in_order(a))
                    }
                    "format" => call.arguments.args.iter().for_each(|a| self.shown(a)),
                    "pop" if call.arguments.is_empty() => self.in_order(&attribute.value),
                    _ => {}
                }
                if attribute.attr.as_str() == "__subclasses__"
                    && let Some(members) = &mut self.members
                {
                    members.subclasses.insert(self.unit);
                }
                self.sites[at].root = self.chain_base(&attribute.value, Some(attribute.attr.as_str()));
            }
            other => self.expr(other, false),
        }
        for (at, argument) in call.arguments.args.iter().enumerate() {
            if at == 1 && tests_class {
                self.class_name(argument);
            } else {
                self.expr(argument, hides_order);
            }
        }
        for keyword in &call.arguments.keywords {
            self.expr(&keyword.value, false);
        }
        self.annotation = annotation;
        self.modules = outer;
    }

    /// The part of a chain before its last attribute: its root is used, but not as a
    /// value of its own. `last` is that attribute, when all that is done is to read it.
    pub(super) fn chain_base(&mut self, value: &'a Expr, last: Option<&'a str>) -> Option<Symbol> {
        let mut at = value;
        let depth = self.depth;
        // Only declarations ask for the attributes.
        let mut chain: Vec<&'a str> = last.filter(|_| self.members.is_some()).into_iter().collect();
        loop {
            match at {
                Expr::Name(name) => {
                    let symbol = self.names.intern(&name.id);
                    chain.reverse();
                    self.use_members(symbol, chain, name.range);
                    self.depth = depth;
                    return Some(symbol);
                }
                // Counted, because freeing the tree recurses here too.
                Expr::Attribute(attribute) if self.descend() => {
                    if self.members.is_some() {
                        chain.push(attribute.attr.as_str());
                    }
                    at = &attribute.value;
                }
                Expr::Attribute(_) => break,
                other => {
                    self.expr(other, false);
                    break;
                }
            }
        }
        self.depth = depth;
        None
    }

    pub(super) fn comprehension(
        &mut self,
        generators: &'a [ast::Comprehension],
        parts: &[&'a Expr],
        orderless: bool,
    ) {
        let scope = self.names.open(ScopeKind::Inner, self.scope);
        let outer = self.scope;
        for (at, generator) in generators.iter().enumerate() {
            // The first iterable is evaluated outside.
            if at > 0 {
                self.scope = scope;
            }
            if !orderless {
                self.in_order(&generator.iter);
            }
            self.expr(&generator.iter, orderless);
            self.scope = scope;
            self.target(&generator.target, Bound::Element(&generator.iter, None), None);
            for condition in &generator.ifs {
                self.expr(condition, true);
            }
        }
        for part in parts {
            self.escape(part);
            self.expr(part, false);
        }
        self.scope = outer;
    }

    pub(super) fn interpolated(&mut self, elements: &'a ast::InterpolatedStringElements) {
        if !self.descend() {
            return;
        }
        for element in elements {
            if let ast::InterpolatedStringElement::Interpolation(inner) = element {
                self.shown(&inner.expression);
                self.expr(&inner.expression, false);
                if let Some(spec) = &inner.format_spec {
                    self.site(What::Format(inner), false);
                    self.interpolated(&spec.elements);
                }
            }
        }
        self.depth -= 1;
    }
}
