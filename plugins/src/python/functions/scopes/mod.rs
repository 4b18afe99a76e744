//! The scopes of a module and what each binds, by Python's rules: a name that is bound
//! anywhere in a function is its own everywhere in it.

mod collect;

use std::cell::Cell;

use ruff_python_ast::ModModule;
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashMap;

/// What kind of scope it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Module,
    Class,
    Function {
        is_async: bool,
    },
    Lambda,
    /// A list, set or dictionary comprehension.
    Comprehension {
        is_async: bool,
    },
    /// A generator expression.
    Generator,
    /// The type parameters of a class.
    TypeParameters,
}

/// What binds names.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) kind: Kind,
    pub(super) parent: Option<u32>,
    /// Number of each binding.
    names: FxHashMap<&'a str, u32>,
    /// Names that are declared to be of the module, or of a function around.
    pub(super) globals: FxHashMap<&'a str, TextRange>,
    pub(super) nonlocals: FxHashMap<&'a str, TextRange>,
    pub(super) parameters: Vec<&'a str>,
}

/// A name that is bound in a scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding<'a> {
    pub(super) name: &'a str,
    /// Where it is bound first.
    pub(super) place: TextSize,
}

/// All scopes of a module.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    pub(super) list: Vec<Scope<'a>>,
    pub(super) bindings: Vec<Binding<'a>>,
    /// The scope that a node opens, by its range.
    opened: FxHashMap<(TextRange, bool), u32>,
    /// Steps that may still be made from a scope to the one around it.
    steps: Cell<u64>,
    /// Whether the annotations of the file are strings.
    pub(super) future_annotations: bool,
}

/// The scope of the module.
pub(super) const MODULE: u32 = 0;

impl<'a> Scopes<'a> {
    /// `None` when the tree is too deep to be walked.
    pub(super) fn of(module: &'a ModModule, steps: u64) -> Option<Self> {
        let mut scopes = collect::collect(module)?;
        scopes.steps = Cell::new(steps);
        Some(scopes)
    }

    /// One step from a scope to the one around it; `false` when no more may be made.
    pub(super) fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Whether all steps were made: what was asked since then has no answer.
    pub(super) fn exhausted(&self) -> bool {
        self.steps.get() == 0
    }

    /// The scope that the node at `range` opens. A class with type parameters opens two.
    pub(super) fn opened(&self, range: TextRange, outer: bool) -> Option<u32> {
        self.opened.get(&(range, outer)).copied()
    }

    /// The binding that `name` means in `scope`.
    pub(super) fn binding(&self, name: &str, scope: u32) -> Option<u32> {
        let mut at = Some(scope);
        let mut first = true;
        while let Some(number) = at.filter(|_| self.step()) {
            let here = &self.list[number as usize];
            if here.globals.contains_key(name) {
                return self.list[MODULE as usize].names.get(name).copied();
            }
            if !here.nonlocals.contains_key(name)
                && (first || here.kind != Kind::Class)
                && let Some(binding) = here.names.get(name)
            {
                return Some(*binding);
            }
            first = false;
            at = here.parent;
        }
        None
    }

    /// Whether a function around `scope` binds `name`.
    pub(super) fn has_nonlocal(&self, name: &str, scope: u32) -> bool {
        let mut at = self.list[scope as usize].parent;
        while let Some(number) = at.filter(|_| self.step()) {
            let here = &self.list[number as usize];
            let function = !matches!(here.kind, Kind::Module | Kind::Class);
            if here.globals.contains_key(name) {
                return false;
            }
            if function && !here.nonlocals.contains_key(name) && here.names.contains_key(name) {
                return true;
            }
            at = here.parent;
        }
        // `__class__` is bound around the methods of a class.
        name == "__class__" && self.in_class(scope)
    }

    fn in_class(&self, scope: u32) -> bool {
        let mut at = self.list[scope as usize].parent;
        while let Some(number) = at.filter(|_| self.step()) {
            if self.list[number as usize].kind == Kind::Class {
                return true;
            }
            at = self.list[number as usize].parent;
        }
        false
    }
}

impl Scope<'_> {
    fn new(kind: Kind, parent: Option<u32>) -> Self {
        Self {
            kind,
            parent,
            names: FxHashMap::default(),
            globals: FxHashMap::default(),
            nonlocals: FxHashMap::default(),
            parameters: Vec::new(),
        }
    }
}
