//! Names, scopes and what is bound where, by Python's own rules.
//!
//! Filled while the tree is walked and asked afterwards, because a binding may follow
//! its uses. It does not know the order of execution: a name bound twice means either.

use std::num::NonZeroU32;

use ruff_python_ast::{self as ast, Expr};
use rustc_hash::{FxHashMap, FxHashSet};

/// An interned identifier: one more than its index, so that none costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Symbol(NonZeroU32);

impl Symbol {
    fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(super::text::offset(index)))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A scope of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ScopeId(pub(super) u32);

/// The scope of the file itself.
pub(super) const MODULE: ScopeId = ScopeId(0);

/// What makes a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Module,
    Function,
    Class,
    /// A comprehension or a type parameter list.
    Inner,
}

/// One scope.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) parent: ScopeId,
}

/// What a name was bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound<'a> {
    /// An import: index into [`super::walk::Walk::targets`].
    Import(u32),
    /// `name = value`.
    Value(&'a Expr),
    /// `for name in value`; the position when the target is a tuple.
    Element(&'a Expr, Option<u8>),
    /// `a, name = value`: the position.
    Unpacked(&'a Expr, u8),
    /// `with value as name`.
    Entered(&'a Expr),
    /// `def`, with the scope of its body.
    Function(&'a ast::StmtFunctionDef, ScopeId),
    /// `class`, with its scope.
    Class(&'a ast::StmtClassDef, ScopeId),
    /// A parameter, with its annotation.
    Parameter(Option<&'a Expr>),
    /// `global name`.
    Global,
    /// `nonlocal name`.
    Nonlocal,
    /// Anything else: unpacking, `except … as`, `del`, augmented assignment, patterns.
    Other,
}

/// One binding of one name in one scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding<'a> {
    pub(super) bound: Bound<'a>,
    pub(super) scope: ScopeId,
    /// The one before it with the same name and scope, plus one.
    older: u32,
}

/// Classes of names known without looking at bindings.
pub(super) mod flag {
    /// Some binding is an import.
    pub(crate) const IMPORTED: u8 = 1;
    /// Some binding is an expression that may stand for something of an import.
    pub(crate) const ALIAS: u8 = 2;
    /// A builtin with a row in the effect table.
    pub(crate) const BUILTIN: u8 = 4;
    /// Some binding is a function or class of the file.
    pub(crate) const LOCAL: u8 = 8;
    /// A parameter name that runners give a meaning (`tmp_path`, `monkeypatch`, …).
    pub(crate) const FIXTURE: u8 = 16;
    /// `self` or `cls`.
    pub(crate) const SELF: u8 = 32;
    /// Bound in some scope other than the module's.
    pub(crate) const INSIDE: u8 = 64;
    /// Bound in the module's scope.
    pub(crate) const OUTSIDE: u8 = 128;
}

/// All names of a file.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    names: Vec<&'a str>,
    flags: Vec<u8>,
    ids: FxHashMap<&'a str, Symbol>,
    pub(super) scopes: Vec<Scope>,
    bindings: Vec<Binding<'a>>,
    latest: FxHashMap<(ScopeId, Symbol), u32>,
    /// Functions by the scope of their bodies, and where each is bound.
    bodies: FxHashMap<ScopeId, (&'a ast::StmtFunctionDef, ScopeId)>,
    /// Names of the module that may not be bound when they are read: only on some way, or
    /// deleted again.
    unsure: FxHashSet<Symbol>,
    /// `self.name = value`, by the scope of the class.
    members: FxHashMap<(ScopeId, Symbol), u32>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(bytes: usize) -> Self {
        let mut scopes = Self {
            names: Vec::with_capacity(bytes / 128 + 16),
            flags: Vec::with_capacity(bytes / 128 + 16),
            scopes: Vec::with_capacity(bytes / 512 + 4),
            bindings: Vec::with_capacity(bytes / 96 + 16),
            ..Self::default()
        };
        scopes.ids.reserve(bytes / 128 + 16);
        scopes.latest.reserve(bytes / 96 + 16);
        scopes.scopes.push(Scope { kind: ScopeKind::Module, parent: MODULE });
        scopes
    }

    pub(super) fn intern(&mut self, name: &'a str) -> Symbol {
        if let Some(&symbol) = self.ids.get(name) {
            return symbol;
        }
        let symbol = Symbol::new(self.names.len());
        self.names.push(name);
        self.flags.push(intrinsic(name));
        self.ids.insert(name, symbol);
        symbol
    }

    /// The symbol of `name` when the file mentions it.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        self.ids.get(name).copied()
    }

    pub(super) fn name(&self, symbol: Symbol) -> &'a str {
        self.names[symbol.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn flags(&self, symbol: Symbol) -> u8 {
        self.flags[symbol.index()]
    }

    pub(super) fn open(&mut self, kind: ScopeKind, parent: ScopeId) -> ScopeId {
        let id = ScopeId(super::text::offset(self.scopes.len()));
        self.scopes.push(Scope { kind, parent });
        id
    }

    /// Binds `symbol` where Python would when it is bound in `scope`.
    pub(super) fn bind(&mut self, mut scope: ScopeId, symbol: Symbol, bound: Bound<'a>) {
        self.flags[symbol.index()] |= match bound {
            Bound::Import(_) => flag::IMPORTED,
            Bound::Value(value) => match value {
                Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) | Expr::BinOp(_) | Expr::If(_) => {
                    flag::ALIAS
                }
                Expr::StringLiteral(_) | Expr::FString(_) | Expr::BoolOp(_) | Expr::Await(_) => flag::ALIAS,
                _ => 0,
            },
            Bound::Element(..) | Bound::Entered(_) => flag::ALIAS,
            Bound::Function(..) | Bound::Class(..) => flag::LOCAL,
            Bound::Parameter(Some(_)) => flag::ALIAS,
            _ => 0,
        };
        // Values are looked up where they are written.
        let written = scope;
        if scope != MODULE
            && let Some(&first) = self.latest.get(&(scope, symbol))
        {
            match self.bindings[first as usize].bound {
                Bound::Global => scope = MODULE,
                Bound::Nonlocal => scope = self.outer_binding(scope, symbol),
                _ => {}
            }
        }
        self.flags[symbol.index()] |= if scope == MODULE { flag::OUTSIDE } else { flag::INSIDE };
        if let Bound::Function(def, body) = bound {
            self.bodies.insert(body, (def, scope));
        }
        let latest = super::text::offset(self.bindings.len());
        let older = self.latest.insert((scope, symbol), latest).map_or(0, |i| i + 1);
        self.bindings.push(Binding { bound, scope: written, older });
    }

    /// Records `self.name = value` in the class with the scope `class`.
    pub(super) fn bind_member(&mut self, class: ScopeId, symbol: Symbol, bound: Bound<'a>, at: ScopeId) {
        let older = self.members.get(&(class, symbol)).map_or(0, |i| i + 1);
        self.members.insert((class, symbol), super::text::offset(self.bindings.len()));
        self.bindings.push(Binding { bound, scope: at, older });
    }

    fn outer_binding(&self, scope: ScopeId, symbol: Symbol) -> ScopeId {
        let mut at = self.scope(scope).parent;
        while at != MODULE {
            if self.scope(at).kind != ScopeKind::Class && self.latest.contains_key(&(at, symbol)) {
                return at;
            }
            at = self.scope(at).parent;
        }
        MODULE
    }

    pub(super) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    /// Notes that the module may not have `symbol` when it is read. Then it is a builtin's.
    pub(super) fn doubt(&mut self, symbol: Symbol) {
        self.unsure.insert(symbol);
    }

    /// Whether `symbol`, bound in `scope`, is the module's there.
    pub(super) fn is_global(&self, scope: ScopeId, symbol: Symbol) -> bool {
        self.bindings(scope, symbol).any(|binding| matches!(binding.bound, Bound::Global))
    }

    /// Whether the module may not have `symbol` when it is read.
    pub(super) fn is_unsure(&self, symbol: Symbol) -> bool {
        self.unsure.contains(&symbol)
    }

    /// Every symbol bound in `scope`.
    pub(super) fn symbols_in(&self, scope: ScopeId) -> Vec<Symbol> {
        (0..self.names.len()).map(Symbol::new).filter(|s| self.latest.contains_key(&(scope, *s))).collect()
    }

    /// The scope in which `symbol`, read in `scope`, is bound; `None` for builtins and
    /// what a star import may bring.
    pub(super) fn resolve(&self, scope: ScopeId, symbol: Symbol) -> Option<ScopeId> {
        // Most names are bound in the module's scope only, or not at all.
        match self.flags(symbol) & (flag::INSIDE | flag::OUTSIDE) {
            0 => return None,
            flag::OUTSIDE => return Some(MODULE),
            _ => {}
        }
        let mut at = scope;
        loop {
            let here = self.scope(at);
            // A class body's names are seen in the body itself only.
            if (here.kind != ScopeKind::Class || at == scope)
                && let Some(&binding) = self.latest.get(&(at, symbol))
            {
                match self.bindings[binding as usize].bound {
                    Bound::Global => return self.latest.contains_key(&(MODULE, symbol)).then_some(MODULE),
                    Bound::Nonlocal => {}
                    _ => return Some(at),
                }
            }
            if at == MODULE {
                return None;
            }
            at = here.parent;
        }
    }

    /// All bindings of `symbol` in `scope`, latest first.
    pub(super) fn bindings(&self, scope: ScopeId, symbol: Symbol) -> impl Iterator<Item = Binding<'a>> + '_ {
        self.chain(self.latest.get(&(scope, symbol)).copied())
    }

    /// All bindings of the member `symbol` of the class with the scope `class`.
    pub(super) fn members(&self, class: ScopeId, symbol: Symbol) -> impl Iterator<Item = Binding<'a>> + '_ {
        self.chain(self.members.get(&(class, symbol)).copied())
            .chain(self.chain(self.latest.get(&(class, symbol)).copied()))
    }

    fn chain(&self, first: Option<u32>) -> impl Iterator<Item = Binding<'a>> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            let binding = self.bindings[next? as usize];
            next = binding.older.checked_sub(1);
            Some(binding)
        })
    }

    /// The class whose method (or body) `scope` is in, if any.
    pub(super) fn class_of(&self, scope: ScopeId) -> Option<ScopeId> {
        let mut at = scope;
        while at != MODULE {
            if self.scope(at).kind == ScopeKind::Class {
                return Some(at);
            }
            at = self.scope(at).parent;
        }
        None
    }

    /// The function whose body has the scope `body`, and where it is bound.
    pub(super) fn function_with(&self, body: ScopeId) -> Option<(&'a ast::StmtFunctionDef, ScopeId)> {
        self.bodies.get(&body).copied()
    }

    /// Every function of the file.
    pub(super) fn functions(&self) -> impl Iterator<Item = &'a ast::StmtFunctionDef> + '_ {
        self.bindings.iter().filter_map(|b| match b.bound {
            Bound::Function(def, _) => Some(def),
            _ => None,
        })
    }

    /// Every symbol bound in the module scope.
    pub(super) fn module_symbols(&self) -> Vec<Symbol> {
        (0..self.names.len()).map(Symbol::new).filter(|&s| self.flags(s) & flag::OUTSIDE != 0).collect()
    }
}

fn intrinsic(name: &str) -> u8 {
    match name {
        "self" | "cls" => flag::SELF,
        "open" | "exec" | "eval" | "compile" | "__import__" | "getattr" | "globals" | "vars" | "hash"
        | "id" | "input" | "breakpoint" | "locals" | "dir" | "hasattr" | "setattr" | "delattr"
        | "execfile" | "raw_input" | "reload" | "__builtins__" => flag::BUILTIN,
        "__file__" | "__path__" | "__doc__" | "__name__" | "__package__" | "__loader__" | "__spec__" => {
            flag::BUILTIN
        }
        "tmp_path"
        | "tmpdir"
        | "tmp_path_factory"
        | "tmpdir_factory"
        | "monkeypatch"
        | "mocker"
        | "request"
        | "pytestconfig"
        | "datadir"
        | "shared_datadir"
        | "original_datadir"
        | "lazy_datadir"
        | "lazy_shared_datadir"
        | "session_mocker"
        | "module_mocker"
        | "class_mocker"
        | "package_mocker"
        | "testdir"
        | "pytester" => flag::FIXTURE,
        _ => 0,
    }
}
