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
                    _ if self.annotation => self.use_symbol(symbol, None),
                    _ if self.names.flags(symbol) & (flag::IMPORTED | flag::BUILTIN) != 0 => {
                        self.use_symbol(symbol, None);
                        self.site(What::Chain(expr), orderless);
                        if let Some(site) = self.sites.last_mut() {
                            site.root = Some(symbol);
                        }
                    }
                    _ => self.use_symbol(symbol, Some(expr)),
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
                if !self.annotation && root_of(&subscript.value).is_some() {
                    self.rooted(What::Subscript(subscript), orderless, &subscript.value, None);
                } else {
                    self.expr(&subscript.value, orderless);
                }
                self.expr(&subscript.slice, false);
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
                }
                self.expr(&op.left, false);
                self.expr(&op.right, false);
            }
            Expr::Compare(compare) => {
                self.expr(&compare.left, true);
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    if matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn) && root_of(right).is_some() {
                        let pair = self.pair(&compare.left, right);
                        self.rooted(What::Contains(pair), true, right, None);
                    } else {
                        self.expr(right, true);
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
                    self.optional_expr(item.key.as_ref());
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
                self.functions += 1;
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.escape(&lambda.body);
                self.expr(&lambda.body, false);
                self.functions -= 1;
                self.scope = outer;
            }
            Expr::ListComp(e) => self.comprehension(&e.generators, &[&*e.elt], orderless),
            Expr::SetComp(e) => self.comprehension(&e.generators, &[&*e.elt], true),
            Expr::Generator(e) => self.comprehension(&e.generators, &[&*e.elt], orderless),
            Expr::DictComp(e) => match &e.key {
                Some(key) => self.comprehension(&e.generators, &[key, &*e.value], false),
                None => self.comprehension(&e.generators, &[&*e.value], false),
            },
            Expr::Named(e) => {
                self.expr(&e.value, false);
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
                if let Some(value) = &e.value {
                    self.escape(value);
                    self.expr(value, false);
                }
            }
            Expr::YieldFrom(e) => self.expr(&e.value, false),
            Expr::Starred(e) => self.expr(&e.value, false),
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
        match &*call.func {
            Expr::Name(name) => {
                let symbol = self.names.intern(&name.id);
                self.use_symbol(symbol, None);
                self.sites[at].root = Some(symbol);
                match name.id.as_str() {
                    "sorted" | "set" | "frozenset" | "len" | "any" | "all" | "sum" | "max" | "min"
                    | "bool" => {
                        hides_order = true;
                    }
                    "isinstance" | "issubclass" => tests_class = true,
                    "include" => self.modules = true,
                    _ => {}
                }
            }
            Expr::Attribute(attribute) => {
                if attribute.attr.as_str() == "autodiscover_tasks" {
                    self.modules = true;
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
        self.modules = outer;
    }

    /// The part of a chain before its last attribute: its root is used, but not as a
    /// value of its own. `last` is that attribute, when all that is done is to read it.
    pub(super) fn chain_base(&mut self, value: &'a Expr, last: Option<&'a str>) -> Option<Symbol> {
        let mut at = value;
        let depth = self.depth;
        let mut chain: Vec<&'a str> = last.into_iter().collect();
        loop {
            match at {
                Expr::Name(name) => {
                    let symbol = self.names.intern(&name.id);
                    chain.reverse();
                    self.use_members(symbol, chain);
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
                self.expr(&inner.expression, false);
                if let Some(spec) = &inner.format_spec {
                    self.interpolated(&spec.elements);
                }
            }
        }
        self.depth -= 1;
    }

    pub(super) fn string(&mut self, string: &'a ast::ExprStringLiteral) {
        let [literal] = string.value.as_slice() else { return };
        let text: &'a str = &literal.value;
        if self.annotation {
            self.forward_reference(text);
        }
        let named = is_dotted(text) || is_file(text) || (self.modules && is_identifier(text));
        if named && self.seen_strings.insert(text) {
            self.strings.push((text, string.range));
        }
    }

    /// A quoted annotation uses the names in it.
    pub(super) fn forward_reference(&mut self, text: &'a str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            let mut parts = word.split('.');
            let root = parts.next().unwrap_or("");
            if !root.is_empty() && !root.starts_with(|c: char| c.is_ascii_digit()) {
                let symbol = self.names.intern(root);
                self.use_members(symbol, parts.filter(|part| !part.is_empty()).collect());
            }
        }
    }
}

/// `a.b`, `a.b:c`: at least two identifiers, at most one colon.
fn is_dotted(text: &str) -> bool {
    if text.len() > 256 {
        return false;
    }
    let (mut dots, mut colons, mut fresh) = (0, 0, true);
    for byte in text.bytes() {
        match byte {
            b'.' | b':' if fresh => return false,
            b'.' => {
                dots += 1;
                fresh = true;
            }
            b':' => {
                colons += 1;
                fresh = true;
            }
            b'0'..=b'9' if fresh => return false,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => fresh = false,
            _ => return false,
        }
    }
    !fresh && colons <= 1 && dots + colons > 0
}

/// `dir/name.ext`: a relative path with a directory and an extension.
fn is_file(text: &str) -> bool {
    if text.len() > 256 {
        return false;
    }
    let Some((dir, name)) = text.rsplit_once('/') else { return false };
    !dir.is_empty()
        && !text.starts_with('/')
        && !text.contains("//")
        && name.find('.').is_some_and(|at| at > 0 && at + 1 < name.len())
        && text.bytes().all(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+' | b'@') || b >= 0x80
        })
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
