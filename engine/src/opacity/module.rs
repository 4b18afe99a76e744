//! One source file, taken apart into what can be reached on its own: its evaluation, each
//! of its declarations, and all of it.
//!
//! What the facts do not settle is never dropped: a file with damage, or one that was read
//! without declarations, is not split, and reaching any of it reaches all of it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{DeclarationKind, FileFacts, Import, ImportKind, Names, When};
use crate::graph::Origin;

/// A number in [`super::units::Units`].
pub(crate) type UnitId = u32;

/// The name of the declaration that holds all statements with effects at import.
const STATEMENTS: &str = "<module>";
/// The name of the declaration of the program that no importer runs.
const PROGRAM: &str = "<main>";
/// A module that exports this name answers for every other name.
const ANY_NAME: &str = "__getattr__";

/// Which part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What runs when it is loaded.
    Evaluation,
    /// Everything that it declares, names that it imports and does not use, and what it
    /// takes by stars: what a runner may find in a test or a setup file.
    Own,
    /// Everything in it and everything its names stand for.
    Whole,
    /// What a type checker reads of it: its text, and all that it imports.
    Checked,
    /// The declaration with this number.
    Declaration(u32),
    /// The operation behind the offered name with this number.
    Offered(u32),
}

/// A file as it takes part in the search.
#[derive(Debug)]
pub(crate) struct Module<'p> {
    /// Project-relative path.
    pub(crate) path: &'p str,
    /// Its facts.
    pub(crate) facts: &'p FileFacts,
    /// Targets of its imports: number of the import, number of the module.
    pub(crate) loads: Vec<(u32, u32)>,
    /// The number of its first unit.
    pub(crate) first: UnitId,
    /// Whether its declarations are told apart.
    pub(crate) split: bool,
    /// Whether it is read by a type checker, and not run.
    pub(crate) checked: bool,
    declarations: FxHashMap<&'p str, u32>,
    offered: FxHashMap<&'p str, u32>,
    exports: FxHashMap<&'p str, Vec<&'p str>>,
    locals: FxHashMap<&'p str, Vec<Taken<'p>>>,
    reexports: FxHashMap<&'p str, Vec<Taken<'p>>>,
    erased: FxHashSet<&'p str>,
    stars: Vec<u32>,
    chains: Vec<u32>,
    owners: Vec<Part>,
}

/// A name taken out of the module of an import; `None`: all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken<'p> {
    /// The number of the import.
    pub(crate) import: u32,
    /// The name there.
    pub(crate) name: Option<&'p str>,
}

impl<'p> Module<'p> {
    /// Takes a file apart; one that was not read with its declarations (`whole`) stays in one
    /// piece.
    pub(crate) fn new(path: &'p str, facts: &'p FileFacts, first: UnitId, whole: bool) -> Self {
        // A file of imports only has no declarations, and yet operations to offer.
        let has_parts = !facts.declarations.is_empty()
            || facts.exports.is_empty()
            || !facts.offered.is_empty() && has_only_imports(facts);
        let split = whole && facts.damage.is_empty() && has_parts;
        let mut module = Self {
            path,
            facts,
            loads: Vec::new(),
            first,
            split,
            checked: false,
            declarations: FxHashMap::default(),
            offered: FxHashMap::default(),
            exports: FxHashMap::default(),
            locals: FxHashMap::default(),
            reexports: FxHashMap::default(),
            erased: FxHashSet::default(),
            stars: Vec::new(),
            chains: Vec::new(),
            owners: Vec::new(),
        };
        if split {
            for (number, declaration) in facts.declarations.iter().enumerate() {
                module.declarations.insert(&declaration.name, index(number));
            }
            for effect in &facts.offered {
                if let When::Call(name) = &effect.when {
                    let next = index(module.offered.len());
                    module.offered.entry(name).or_insert(next);
                }
            }
            for export in &facts.exports {
                module.exports.entry(&export.name).or_default().push(&export.local);
            }
            for (number, import) in facts.imports.iter().enumerate() {
                module.add_import(index(number), import);
            }
        }
        module
    }

    /// Says what its imports lead to.
    pub(crate) fn lead(&mut self, mut loads: Vec<(u32, u32)>) {
        loads.sort_unstable();
        loads.dedup();
        self.loads = loads;
    }

    fn add_import(&mut self, number: u32, import: &'p Import) {
        self.owners.push(self.owner_by_place(import));
        let names = match import.kind {
            ImportKind::TypeOnly => {
                match &import.names {
                    Names::Effects => {}
                    Names::Namespace(local) => _ = self.erased.insert(local),
                    Names::List(list) => self.erased.extend(list.iter().map(|name| name.local.as_str())),
                }
                return;
            }
            ImportKind::Star => {
                self.stars.push(number);
                return;
            }
            ImportKind::ReExport => &mut self.reexports,
            // What a chain of attributes reads is among the references, by the name at its
            // root.
            ImportKind::StringRef if is_chain(import) => {
                self.chains.push(number);
                return;
            }
            _ => &mut self.locals,
        };
        match &import.names {
            Names::Effects => {}
            Names::Namespace(local) => {
                names.entry(local).or_default().push(Taken { import: number, name: None });
            }
            Names::List(list) => {
                for name in list {
                    let taken = Taken { import: number, name: Some(&name.imported) };
                    names.entry(&name.local).or_default().push(taken);
                }
            }
        }
    }

    /// The function or class that an import stands in; it is loaded when that is used.
    /// Anything else is loaded with the file.
    fn owner_by_place(&self, import: &Import) -> Part {
        // A string is noted where it stands first, and may stand anywhere else.
        let anywhere = import.kind == ImportKind::StringRef;
        if anywhere || (import.kind == ImportKind::Static && import.names == Names::Effects) {
            return Part::Evaluation;
        }
        let holds = |d: &crate::facts::Declaration| {
            matches!(d.kind, DeclarationKind::Function | DeclarationKind::Class)
                && !d.name.starts_with('<')
                && d.span.start <= import.span.start
                && import.span.end <= d.span.end
        };
        let found = self.facts.declarations.iter().position(holds);
        found.map_or(Part::Evaluation, |number| Part::Declaration(index(number)))
    }

    /// How many units it has.
    pub(crate) fn size(&self) -> u32 {
        let parts = self.facts.declarations.len() + self.offered.len();
        4 + if self.split { index(parts) } else { 0 }
    }

    /// The unit of a part.
    pub(crate) fn unit(&self, part: Part) -> UnitId {
        match part {
            Part::Evaluation => self.first,
            Part::Own => self.first + 1,
            Part::Whole => self.first + 2,
            Part::Checked => self.first + 3,
            Part::Declaration(number) => self.first + 4 + number,
            Part::Offered(number) => self.first + 4 + index(self.facts.declarations.len()) + number,
        }
    }

    /// The operation that whoever takes `name` out of the file gets, without the file
    /// offering it on purpose.
    pub(crate) fn offered(&self, name: &str) -> Option<Part> {
        self.offered.get(name).copied().map(Part::Offered)
    }

    /// Whether `local` is a module that is imported under its own name (`import time`): what
    /// is read of it elsewhere is judged by the reader, member by member.
    pub(crate) fn is_own_name(&self, local: &str) -> bool {
        let own = |taken: &Taken<'_>| {
            taken.name.is_none() && self.facts.imports[taken.import as usize].specifier == local
        };
        let imported = self.imported(local);
        !imported.is_empty() && imported.iter().all(own) && self.declaration(local).is_none()
    }

    /// The declaration called `name`.
    pub(crate) fn declaration(&self, name: &str) -> Option<Part> {
        if name == STATEMENTS || name == "<links>" {
            return Some(Part::Evaluation);
        }
        self.declarations.get(name).copied().map(Part::Declaration)
    }

    /// Whether the declaration with this number is only run by whoever starts the file as
    /// a program.
    pub(crate) fn is_program(&self, number: u32) -> bool {
        self.facts.declarations[number as usize].name == PROGRAM
    }

    /// What runs when the file is started as a program, besides its evaluation.
    pub(crate) fn program(&self) -> Option<Part> {
        self.declarations.get(PROGRAM).copied().map(Part::Declaration)
    }

    /// What the file imports by names that none of its declarations refers to.
    pub(crate) fn unused(&self) -> Vec<Taken<'p>> {
        let references = self.facts.declarations.iter().flat_map(|d| &d.references);
        let used: FxHashSet<&str> =
            references.flat_map(|name| [name.as_str(), name.split('.').next().unwrap_or(name)]).collect();
        let unused = self.locals.iter().filter(|(local, _)| !used.contains(*local));
        let mut unused: Vec<Taken<'p>> = unused.flat_map(|(_, taken)| taken).copied().collect();
        unused.sort_unstable_by_key(|taken| (taken.import, taken.name));
        unused
    }

    /// What the local name stands for in other modules.
    pub(crate) fn imported(&self, local: &str) -> &[Taken<'p>] {
        self.locals.get(local).map_or(&[], Vec::as_slice)
    }

    /// Whether the local name is only there for types, so that nothing runs because of it.
    pub(crate) fn is_erased(&self, local: &str) -> bool {
        self.erased.contains(local)
    }

    /// Every local name that stands for something of another module.
    pub(crate) fn all_imported(&self) -> Vec<Taken<'p>> {
        let mut all: Vec<Taken<'p>> =
            self.locals.values().chain(self.reexports.values()).flatten().copied().collect();
        all.sort_unstable_by_key(|taken| (taken.import, taken.name));
        all
    }

    /// The local bindings behind an exported name, and what is re-exported under it.
    pub(crate) fn exported(&self, name: &str) -> (&[&'p str], &[Taken<'p>]) {
        let locals = self.exports.get(name).map_or(&[][..], Vec::as_slice);
        (locals, self.reexports.get(name).map_or(&[], Vec::as_slice))
    }

    /// Whether it may have names that its facts do not list.
    pub(crate) fn is_open(&self) -> bool {
        self.exports.contains_key(ANY_NAME)
    }

    /// The imports that take every name of their module.
    pub(crate) fn stars(&self) -> &[u32] {
        &self.stars
    }

    /// Whether an import that names a module leads to `target`, so that what is read of it
    /// is among the references. A namespace of a function is in none.
    pub(crate) fn imports_by_name(&self, target: u32) -> bool {
        let is_static = |number: u32| self.facts.imports[number as usize].kind == ImportKind::Static;
        let hidden = |(number, import): (usize, &Import)| {
            import.kind == ImportKind::Static
                && matches!(import.names, Names::Namespace(_))
                && self.owners.get(number).is_some_and(|owner| *owner != Part::Evaluation)
        };
        self.loads.iter().any(|&(number, to)| to == target && is_static(number))
            && !self.facts.imports.iter().enumerate().any(hidden)
    }

    /// The chains of attributes that begin as `full` does, or as which it begins: what is
    /// read may be of a module that something else has loaded.
    pub(crate) fn chains_along(&self, full: &str) -> impl Iterator<Item = u32> + '_ {
        let full = full.to_owned();
        self.chains.iter().copied().filter(move |&number| {
            let chain = self.facts.imports[number as usize].specifier.as_str();
            let begins = |long: &str, short: &str| {
                long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            begins(chain, &full) || begins(&full, chain)
        })
    }

    /// The modules that an import leads to.
    pub(crate) fn targets(&self, import: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.loads.partition_point(|(number, _)| *number < import);
        self.loads[start..].iter().take_while(move |(number, _)| *number == import).map(|(_, to)| *to)
    }

    /// The part in which an import is loaded.
    pub(crate) fn owner(&self, import: u32) -> Part {
        self.owners.get(import as usize).copied().unwrap_or(Part::Evaluation)
    }

    /// The part whose use brings about what the fact at `origin` says.
    pub(crate) fn part_of(&self, origin: Origin) -> Part {
        if !self.split {
            return Part::Evaluation;
        }
        match origin {
            Origin::File => Part::Evaluation,
            Origin::Offered(number) => match &self.facts.offered[number as usize].when {
                When::Import => Part::Evaluation,
                When::Call(name) => self.offered(name).unwrap_or(Part::Evaluation),
            },
            Origin::Import(number) | Origin::Taken(number) => self.owner(number),
            Origin::Effect(number) => match &self.facts.effects[number as usize].when {
                When::Import => Part::Evaluation,
                When::Call(name) => self.declaration(name).unwrap_or(Part::Evaluation),
            },
        }
    }

    /// What the file may be called: by its own name, or by that of its directory, as the
    /// file of a package is.
    pub(crate) fn names(&self) -> [&'p str; 2] {
        let file = crate::path::basename(self.path);
        let stem = file.split('.').next().unwrap_or(file);
        [stem, crate::path::basename(crate::path::dirname(self.path))]
    }

    /// Whether `name` taken out of an import by this specifier may be this file itself
    /// (`from package import module`), and not something in it.
    pub(crate) fn may_be(&self, name: &str, specifier: &str) -> bool {
        if specifier.contains('/') {
            return false;
        }
        let last = specifier.rsplit('.').next().unwrap_or(specifier);
        let [stem, directory] = self.names();
        let above = crate::path::basename(crate::path::dirname(crate::path::dirname(self.path)));
        // `from a.b import b` means the file `b` of the directory `b`, not the one it names.
        (stem == name && (last != name || directory == name))
            || (directory == name && (last != name || above == name))
    }
}

/// Whether an import stands for attributes read of a module, which is imported elsewhere.
pub(crate) fn is_chain(import: &Import) -> bool {
    import.kind == ImportKind::StringRef && matches!(import.names, Names::List(_))
}

/// Whether every name that a file has is one that it imports.
fn has_only_imports(facts: &FileFacts) -> bool {
    let imports = facts.imports.iter().filter(|import| !is_chain(import));
    let locals: FxHashSet<&str> = imports
        .flat_map(|import| match &import.names {
            Names::Effects => Vec::new(),
            Names::Namespace(local) => vec![local.as_str()],
            Names::List(list) => list.iter().map(|name| name.local.as_str()).collect(),
        })
        .collect();
    facts.exports.iter().all(|export| locals.contains(export.local.as_str()))
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("a file has fewer than four thousand million of anything")
}
