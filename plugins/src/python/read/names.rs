//! What a name or an attribute chain stands for outside the file: `o.path.join` after
//! `import os as o` is `os.path.join`, and so is an alias of it.
//!
//! A name with several bindings stands for each of them. What is bound to a value the
//! file does not show (a parameter, a loop variable) stands for nothing here.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use super::declare::is_builtin;
use super::loads;
use super::modules::{
    fixture, imported, is_module_with_effects, is_pure_builtin, module_of, unwrapped, without_builtins,
};
use super::rows::{Class, Entry, TABLE, is_stdlib};
use super::scope::{Binding, Bound, MODULE, ScopeId, ScopeKind, Symbol, flag};
use super::walk::{Statement, Target, Walk};

/// Names answered for within one another; longer chains of aliases are given up, and said so.
const HOPS: u32 = 48;
/// Steps for all names of a file; more means aliases that go round in circles.
const BUDGET: u32 = 1 << 20;

pub(super) type Roots = Rc<[String]>;

/// Looks names up in one walked file.
pub(super) struct Names<'w, 'a> {
    pub(super) walk: &'w Walk<'a>,
    /// What each name stands for, once asked; apart for reading it and reading a member.
    roots: RefCell<FxHashMap<(ScopeId, Symbol, bool), Answer>>,
    hops: Cell<u32>,
    budget: Cell<u32>,
    /// A name was asked about while it was being answered.
    circular: Cell<bool>,
}

#[derive(Clone)]
enum Answer {
    Busy(Roots),
    Done(Roots),
}

impl<'w, 'a> Names<'w, 'a> {
    pub(super) fn new(walk: &'w Walk<'a>) -> Self {
        Self {
            walk,
            roots: RefCell::default(),
            hops: Cell::new(0),
            budget: Cell::new(BUDGET),
            circular: Cell::new(false),
        }
    }

    /// Whether some name was given up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    /// Calls `found` with each qualified name that the effect table may know.
    pub(super) fn each(&self, expr: &'a Expr, scope: ScopeId, found: &mut dyn FnMut(&str)) {
        let (mut count, mut root) = (0, expr);
        while let Expr::Attribute(attribute) = root {
            count += 1;
            root = &attribute.value;
        }
        let roots = self.of(root, scope, count > 0);
        if count == 0 {
            roots.iter().for_each(|r| found(without_builtins(r)));
            return;
        }
        // Most chains end here, before anything is put together.
        if roots.is_empty() && count < 2 {
            return;
        }
        let mut attributes: Vec<&'a str> = Vec::with_capacity(count);
        let mut at = expr;
        while let Expr::Attribute(attribute) = at {
            attributes.push(attribute.attr.as_str());
            at = &attribute.value;
        }
        if roots.is_empty() {
            if let Some(name) = self.through(root, scope, &attributes) {
                found(&name);
            }
            return;
        }
        let mut name = String::with_capacity(48);
        for root in roots.iter() {
            name.clear();
            name.push_str(root);
            // The class of an instance has the instance's members.
            for attribute in attributes.iter().rev().filter(|a| **a != "__class__") {
                name.push('.');
                name.push_str(attribute);
            }
            found(without_builtins(&name));
        }
    }

    /// `helpers.time.time`, where `helpers` is a module of the project: it may have imported
    /// `time`. Not if the file imports `helpers.time` as a module itself.
    fn through(&self, root: &'a Expr, scope: ScopeId, attributes: &[&'a str]) -> Option<String> {
        let (first, _) = attributes.split_last()?;
        if !is_module_with_effects(first) {
            return None;
        }
        let target = self.import_of(root, scope)?;
        let is_module = match target.name {
            None => target.level > 0 || !is_stdlib(target.module),
            Some(name) => target.level > 0 && name.starts_with(|c: char| c.is_lowercase()),
        };
        if !is_module || target.type_only {
            return None;
        }
        let submodule = format!("{}.{first}", loads::dotted(target));
        let imported = self.walk.imports.iter().any(|import| match import.statement {
            Statement::Import(alias) => alias.name.as_str() == submodule,
            Statement::From(from) => from.module.as_ref().is_some_and(|m| m.as_str() == submodule),
        });
        let name = attributes.iter().rev().copied().collect::<Vec<_>>().join(".");
        let has_effects = TABLE.row(&name).is_some_and(|row| row.class != Class::Pure);
        (!imported && has_effects).then_some(name)
    }

    /// Whether the root of the chain `expr` is an import or an alias of one, and nothing
    /// else: what is stored in it is stored in the module or class itself.
    pub(super) fn is_imported(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        let mut at = (expr, scope);
        for _ in 0..8 {
            let mut root = at.0;
            while let Expr::Attribute(attribute) = root {
                root = &attribute.value;
            }
            let Expr::Name(name) = root else { return false };
            let names = &self.walk.names;
            let Some(symbol) = names.find(&name.id) else { return false };
            let Some(bound) = names.resolve(at.1, symbol) else {
                return matches!(name.id.as_str(), "__builtins__");
            };
            let mut bindings = names.bindings(bound, symbol);
            let Some(first) = bindings.next() else { return false };
            match first.bound {
                Bound::Import(_) => return bindings.all(|b| matches!(b.bound, Bound::Import(_))),
                Bound::Value(value @ (Expr::Name(_) | Expr::Attribute(_))) if bindings.next().is_none() => {
                    at = (value, first.scope);
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether `test` holds for a qualified name of `expr`.
    pub(super) fn any(&self, expr: &'a Expr, scope: ScopeId, mut test: impl FnMut(&str) -> bool) -> bool {
        let mut hit = false;
        self.each(expr, scope, &mut |name| hit |= test(name));
        hit
    }

    /// Whether `expr` stands for exactly this name, by one of its bindings.
    pub(super) fn is(&self, expr: &'a Expr, scope: ScopeId, name: &str) -> bool {
        self.any(expr, scope, |n| n == name)
    }

    /// What `expr` stands for; `member`: an attribute of it is taken.
    fn of(&self, expr: &'a Expr, scope: ScopeId, member: bool) -> Roots {
        match expr {
            Expr::Name(name) => self.of_name(name, scope, member),
            Expr::Attribute(_) => {
                let mut all = Vec::new();
                self.each(expr, scope, &mut |name| all.push(name.to_owned()));
                all.into()
            }
            Expr::Call(call) => self.of_call(call, scope, member),
            Expr::Subscript(subscript) => match &*subscript.slice {
                Expr::StringLiteral(name) if self.is(&subscript.value, scope, "sys.modules") => {
                    let module = name.value.to_str();
                    imported(Target {
                        level: 0,
                        module,
                        name: None,
                        type_only: false,
                        range: subscript.range,
                    })
                    .map_or_else(nothing, |name| Rc::new([name]))
                }
                _ => nothing(),
            },
            Expr::Await(inner) => self.of(&inner.value, scope, member),
            Expr::Named(inner) => self.of(&inner.value, scope, member),
            Expr::If(choice) => {
                let (body, other) =
                    (self.of(&choice.body, scope, member), self.of(&choice.orelse, scope, member));
                either(&body, &other)
            }
            Expr::BoolOp(choice) => choice
                .values
                .iter()
                .map(|v| self.of(v, scope, member))
                .reduce(|a, b| either(&a, &b))
                .unwrap_or_else(nothing),
            _ => nothing(),
        }
    }

    /// What a call gives: the module it imports, the attribute it gets, an instance of
    /// the class it makes or is known to return.
    fn of_call(&self, call: &'a ast::ExprCall, scope: ScopeId, member: bool) -> Roots {
        let args = &call.arguments.args;
        let mut all: Vec<String> = Vec::new();
        let mut plain = false;
        self.each(&call.func, scope, &mut |function| match function {
            "__import__" | "importlib.import_module" | "importlib.__import__" | "pytest.importorskip" => {
                if let Some(Expr::StringLiteral(text)) = args.first() {
                    let text = text.value.to_str();
                    // `__import__("a.b")` gives `a`.
                    let top = function.ends_with("__import__") && call.arguments.len() == 1;
                    let module = if top { text.split('.').next().unwrap_or(text) } else { text };
                    let range = call.arguments.range;
                    all.extend(imported(Target { level: 0, module, name: None, type_only: false, range }));
                }
            }
            "getattr" => {
                if let [object, Expr::StringLiteral(name), ..] = &**args {
                    let of = self.of(object, scope, true);
                    all.extend(of.iter().map(|root| format!("{root}.{}", name.value.to_str())));
                }
            }
            "type" if args.len() == 1 => all.extend(self.of(&args[0], scope, true).iter().cloned()),
            "importlib.reload" => {
                if let Some(module) = args.first() {
                    all.extend(self.of(module, scope, member).iter().cloned());
                }
            }
            "datetime.datetime" | "datetime.date" | "datetime.time" if member => {
                all.push(function.to_owned())
            }
            name if member => match TABLE.row(name).and_then(|row| row.returns.as_deref()) {
                Some(class) => all.push(class.to_owned()),
                None => plain = true,
            },
            _ => {}
        });
        if all.is_empty() {
            // Members of an instance are those of its class.
            let class =
                member && (plain || matches!(&*call.func, Expr::Name(_))) && is_class_like(&call.func);
            return if class { self.of(&call.func, scope, true) } else { nothing() };
        }
        all.into()
    }

    fn of_name(&self, name: &'a ast::ExprName, scope: ScopeId, member: bool) -> Roots {
        let names = &self.walk.names;
        let Some(symbol) = names.find(&name.id) else { return nothing() };
        match names.resolve(scope, symbol) {
            // In the body of a class, a name that is not bound there yet is that of the module.
            Some(at)
                if at == scope
                    && names.scope(at).kind == ScopeKind::Class
                    && !self.is_bound_before(at, symbol, name.range) =>
            {
                let mut around = names.scope(at).parent;
                while names.scope(around).kind == ScopeKind::Class {
                    around = names.scope(around).parent;
                }
                let outer = match names.resolve(around, symbol) {
                    Some(outer) => self.of_symbol(outer, symbol, member),
                    None => self.unbound(&name.id, symbol),
                };
                either(&self.of_symbol(at, symbol, member), &outer)
            }
            Some(MODULE) if names.is_unsure(symbol) => {
                either(&self.of_symbol(MODULE, symbol, member), &self.unbound(&name.id, symbol))
            }
            Some(at) => self.of_symbol(at, symbol, member),
            None => self.unbound(&name.id, symbol),
        }
    }

    /// Whether the body of a class certainly binds a name before the place `read`.
    fn is_bound_before(&self, class: ScopeId, symbol: Symbol, read: TextRange) -> bool {
        let names = &self.walk.names;
        !names.is_unsure(symbol)
            && names.bindings(class, symbol).any(|binding| {
                let written = match binding.bound {
                    Bound::Value(value) => value.range(),
                    Bound::Function(def, _) => def.range,
                    Bound::Class(def, _) => def.range,
                    Bound::Import(target) => match self.walk.targets.get(target as usize) {
                        Some(target) => target.range,
                        None => return false,
                    },
                    _ => return false,
                };
                written.end() <= read.start()
            })
    }

    /// What a name that no scope of the file binds stands for.
    fn unbound(&self, name: &str, symbol: Symbol) -> Roots {
        match name {
            "__builtins__" => Rc::new(["builtins".to_owned()]),
            _ if self.walk.names.flags(symbol) & flag::BUILTIN != 0 || is_pure_builtin(name) => {
                either(&(Rc::new([name.to_owned()]) as Roots), &self.starred(name))
            }
            _ => self.starred(name),
        }
    }

    /// Whether a star import of the standard library may bring this name.
    pub(super) fn is_starred(&self, name: &str) -> bool {
        self.walk.star && is_module_with_effects(name)
            || self.walk.stars.iter().any(|module| {
                let full = format!("{}.{name}", module_of(module));
                !matches!(TABLE.entry(&full), Entry::Unlisted)
                    || name.bytes().all(|b| !b.is_ascii_lowercase())
            })
    }

    /// What a star import of a known module may bring under this name.
    fn starred(&self, name: &str) -> Roots {
        let mut all: Vec<String> = Vec::new();
        for module in &self.walk.stars {
            let full = format!("{}.{name}", module_of(module));
            if TABLE.is_holder(&full) || TABLE.row(&full).is_some_and(|_| !is_builtin(name)) {
                all.push(full);
            }
        }
        // `from .base import *` brings the modules that `base` imports, under their names.
        let elsewhere = self.walk.stars.len() < self.walk.star_count;
        if all.is_empty() && elsewhere && is_module_with_effects(name) {
            all.push(name.to_owned());
        }
        if all.is_empty() { nothing() } else { all.into() }
    }

    /// What a name that is bound in the scope `at` stands for.
    pub(super) fn symbol(&self, at: ScopeId, symbol: Symbol) -> Roots {
        self.of_symbol(at, symbol, false)
    }

    fn of_symbol(&self, at: ScopeId, symbol: Symbol, member: bool) -> Roots {
        if !self.walk.may_matter(symbol) && self.walk.names.flags(symbol) & flag::LOCAL == 0 {
            return nothing();
        }
        if !self.walk.names.bindings(at, symbol).any(|b| may_lead(b.bound, member)) {
            return nothing();
        }
        let key = (at, symbol, member);
        match self.roots.borrow().get(&key) {
            Some(Answer::Done(roots)) => return Rc::clone(roots),
            Some(Answer::Busy(roots)) => {
                self.circular.set(true);
                return Rc::clone(roots);
            }
            None => {}
        }
        if self.hops.get() >= HOPS {
            self.budget.set(0);
            return nothing();
        }
        self.hops.set(self.hops.get() + 1);
        let outer = self.circular.replace(false);
        self.roots.borrow_mut().insert(key, Answer::Busy(nothing()));
        let mut roots = self.all_bindings(at, symbol, member);
        if self.circular.get() {
            // Once more, with what is known now: `x = os`, `x = x.path`.
            self.roots.borrow_mut().insert(key, Answer::Busy(Rc::clone(&roots)));
            roots = self.all_bindings(at, symbol, member);
        }
        self.hops.set(self.hops.get() - 1);
        if self.circular.get() && self.hops.get() > 0 {
            // What was answered within a circle holds for the one who asked first only.
            self.roots.borrow_mut().remove(&key);
        } else {
            self.circular.set(outer);
            self.roots.borrow_mut().insert(key, Answer::Done(Rc::clone(&roots)));
        }
        roots
    }

    fn all_bindings(&self, at: ScopeId, symbol: Symbol, member: bool) -> Roots {
        let names = &self.walk.names;
        let mut all: Vec<String> = Vec::new();
        let mut add = |roots: &[String]| {
            for root in roots.iter() {
                if !all.contains(root) {
                    all.push(root.clone());
                }
            }
        };
        for binding in names.bindings(at, symbol) {
            let Some(budget) = self.budget.get().checked_sub(1) else { break };
            self.budget.set(budget);
            match binding.bound {
                Bound::Import(target) => {
                    if let Some(name) = self.walk.targets.get(target as usize).and_then(|t| imported(*t)) {
                        add(&[name]);
                    }
                }
                Bound::Value(value) => add(&self.of(value, binding.scope, member)),
                Bound::Entered(value) if member => add(&self.of(value, binding.scope, member)),
                Bound::Class(def, _) if member => {
                    for base in def.bases() {
                        add(&self.of(base, binding.scope, true));
                    }
                }
                Bound::Parameter(annotation) => {
                    if let Some(fixture) = fixture(names.name(symbol)) {
                        add(&[fixture.to_owned()]);
                    } else if let Some(annotation) = annotation
                        && member
                    {
                        // The annotation is evaluated around the function.
                        add(&self.of(unwrapped(annotation), names.scope(at).parent, true));
                    }
                }
                _ => {}
            }
        }
        if all.is_empty() { nothing() } else { all.into() }
    }

    /// The import that `expr`, a bare name, is bound to, when that is its only binding.
    pub(super) fn import_of(&self, expr: &Expr, scope: ScopeId) -> Option<Target<'a>> {
        let Expr::Name(name) = expr else { return None };
        let symbol = self.walk.names.find(&name.id)?;
        let at = self.walk.names.resolve(scope, symbol)?;
        let mut only = None;
        for binding in self.walk.names.bindings(at, symbol) {
            match (binding.bound, only) {
                (Bound::Import(target), None) => only = self.walk.targets.get(target as usize).copied(),
                _ => return None,
            }
        }
        only
    }

    /// The qualified name of an import binding.
    pub(super) fn name_of_import(&self, binding: &Binding<'a>) -> Option<String> {
        match binding.bound {
            Bound::Import(target) => self.walk.targets.get(target as usize).and_then(|t| imported(*t)),
            _ => None,
        }
    }

    /// Whether `name`, read in `scope`, is the builtin (or module attribute) of that name.
    pub(super) fn is_builtin(&self, name: &str, scope: ScopeId) -> bool {
        self.walk.names.find(name).is_none_or(|symbol| self.walk.names.resolve(scope, symbol).is_none())
    }

    /// The parameter binding of a bare name.
    pub(super) fn is_parameter(&self, expr: &Expr, scope: ScopeId) -> bool {
        let Expr::Name(name) = expr else { return false };
        let Some(symbol) = self.walk.names.find(&name.id) else { return false };
        let Some(at) = self.walk.names.resolve(scope, symbol) else { return false };
        at != MODULE && self.walk.names.bindings(at, symbol).all(|b| matches!(b.bound, Bound::Parameter(_)))
    }
}

/// Whether a binding can stand for anything at all, by its form.
fn may_lead(bound: Bound<'_>, member: bool) -> bool {
    match bound {
        Bound::Import(_) => true,
        Bound::Value(value) => matches!(
            value,
            Expr::Call(_)
                | Expr::Name(_)
                | Expr::Attribute(_)
                | Expr::Await(_)
                | Expr::Named(_)
                | Expr::If(_)
                | Expr::BoolOp(_)
                | Expr::Subscript(_)
        ),
        Bound::Entered(_) | Bound::Class(..) => member,
        Bound::Parameter(_) => true,
        _ => false,
    }
}

fn nothing() -> Roots {
    thread_local! {
        static NOTHING: Roots = Rc::new([]);
    }
    NOTHING.with(Rc::clone)
}

fn either(a: &Roots, b: &Roots) -> Roots {
    if a.is_empty() {
        return Rc::clone(b);
    }
    let extra = b.iter().filter(|name| !a.contains(name));
    a.iter().chain(extra).cloned().collect()
}

pub(super) fn is_class_like(func: &Expr) -> bool {
    let last = match func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    last.starts_with(|c: char| c.is_uppercase()) || matches!(last, "datetime" | "date" | "local")
}
