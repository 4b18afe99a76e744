//! The graph of units: for each part of each file, which parts its use brings to life.
//!
//! The rules are those of selection below the file, used here for effects only:
//!
//! - loading a module evaluates it, and what its statements refer to;
//! - a declaration without effects at import comes to life by a reference;
//! - a name is followed through re-exports to the declaration behind it;
//! - a module that is taken whole (a namespace that escapes, a computed load, a name in a
//!   string, a mock) comes to life with all of its names;
//! - what is not understood reaches the whole module;
//! - what a type checker reads leads to whatever it imports, types included, and runs nothing.

use rayon::prelude::*;

use super::lookup::{Lookup, Member, Offer};
use super::module::{Module, Part, Taken, UnitId, is_chain};
use crate::facts::{DeclarationKind, Import, ImportKind, Names};

/// Edges between units, by number of the unit.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// By unit: where its edges begin; one more at the end.
    starts: Vec<u32>,
    targets: Vec<UnitId>,
}

impl Units {
    /// From edges by unit.
    pub(crate) fn new(edges: impl IntoIterator<Item = Vec<UnitId>>) -> Self {
        let mut units = Self { starts: vec![0], targets: Vec::new() };
        for list in edges {
            units.targets.extend(list);
            units.starts.push(offset(units.targets.len()));
        }
        units
    }

    /// How many units there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// What the use of `unit` brings to life.
    pub(crate) fn of(&self, unit: UnitId) -> &[UnitId] {
        let unit = unit as usize;
        &self.targets[self.starts[unit] as usize..self.starts[unit + 1] as usize]
    }

    /// The same edges the other way round; lists stay sorted.
    pub(crate) fn reversed(&self) -> Self {
        let mut starts = vec![0_u32; self.starts.len()];
        for &target in &self.targets {
            starts[target as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; self.targets.len()];
        for from in 0..self.len() {
            let from = offset(from);
            for &to in self.of(from) {
                let place = &mut next[to as usize];
                targets[*place as usize] = from;
                *place += 1;
            }
        }
        Self { starts, targets }
    }
}

fn offset(number: usize) -> u32 {
    u32::try_from(number).expect("there are fewer than four thousand million edges")
}

/// What a declaration refers to that asks classes for their subclasses.
const SUBCLASSES: &str = "<subclasses>";

/// The edges of every unit of these modules, in order.
pub(crate) fn edges(modules: &[Module<'_>]) -> Vec<Vec<UnitId>> {
    let asks = |module: &Module<'_>| {
        let names = module.facts.declarations.iter().flat_map(|declaration| &declaration.references);
        names.into_iter().any(|name| name == SUBCLASSES)
    };
    // Whoever asks may have any class; then every class leads to those below it.
    let subclasses = modules.par_iter().any(asks);
    let each =
        (0..modules.len()).into_par_iter().map(|number| of_module(modules, offset(number), subclasses));
    each.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// From each class of a module to the classes of it that refer to it: those it may be a
/// base of. A base in another module makes a class one with effects at import.
fn downward(module: &Module<'_>, edges: &mut [Vec<UnitId>]) {
    for (at, below) in module.facts.declarations.iter().enumerate() {
        if below.kind != DeclarationKind::Class {
            continue;
        }
        for name in &below.references {
            if let Some(Part::Declaration(base)) = module.declaration(name)
                && module.facts.declarations[base as usize].kind == DeclarationKind::Class
            {
                let slot = module.unit(Part::Declaration(base)) - module.first;
                edges[slot as usize].push(module.unit(Part::Declaration(offset(at))));
            }
        }
    }
}

/// The edges of the units of one module.
fn of_module(modules: &[Module<'_>], number: u32, subclasses: bool) -> Vec<Vec<UnitId>> {
    let module = &modules[number as usize];
    let mut edges: Vec<Vec<UnitId>> = vec![Vec::new(); module.size() as usize];
    let slot = |part: Part| (module.unit(part) - module.first) as usize;
    let (evaluation, whole) = (module.unit(Part::Evaluation), module.unit(Part::Whole));
    edges[slot(Part::Own)].push(evaluation);
    edges[slot(Part::Whole)].push(module.unit(Part::Own));
    if module.checked {
        let read = module.loads.iter().map(|(_, to)| modules[*to as usize].unit(Part::Checked));
        edges[slot(Part::Checked)].extend(read);
    }
    if !module.split {
        edges[slot(Part::Evaluation)].push(whole);
        let all = module.loads.iter().filter(|(import, _)| runs(&module.facts.imports[*import as usize]));
        let all =
            all.flat_map(|(_, to)| [Part::Evaluation, Part::Whole].map(|p| modules[*to as usize].unit(p)));
        edges[slot(Part::Evaluation)].extend(all);
        return tidied(edges);
    }
    for (at, declaration) in module.facts.declarations.iter().enumerate() {
        let at = offset(at);
        let part = Part::Declaration(at);
        let list = &mut edges[slot(part)];
        list.push(evaluation);
        references(modules, number, &declaration.references, list);
        if !module.is_program(at) {
            edges[slot(Part::Own)].push(module.unit(part));
        }
        if declaration.effects_at_import || declaration.kind == DeclarationKind::Module {
            edges[slot(Part::Evaluation)].push(module.unit(part));
        }
    }
    if subclasses {
        downward(module, &mut edges);
    }
    for (at, import) in module.facts.imports.iter().enumerate().filter(|(_, import)| runs(import)) {
        let at = offset(at);
        let owner = module.owner(at);
        let list = &mut edges[slot(owner)];
        loaded(modules, module, at, import, list);
        if is_named(import) {
            let by_reference = |to: &u32| is_chain(import) && module.imports_by_name(*to);
            let targets: Vec<u32> = module.targets(at).filter(|to| !by_reference(to)).collect();
            let mut lookup = Lookup::new(modules);
            lookup.dotted(&import.specifier, &targets);
            list.extend(lookup.answer());
            if is_chain(import) {
                list.extend(module.targets(at).flat_map(|to| by_the_way(&modules[to as usize], import)));
            }
            continue;
        }
        if let Part::Declaration(declaration) = owner {
            // Names of an inner scope are no references of the declaration.
            let referred = &module.facts.declarations[declaration as usize].references;
            let mut lookup = Lookup::new(modules);
            for taken in taken(import, at) {
                if referred.binary_search_by(|r| r.as_str().cmp(taken.0)).is_err() {
                    lookup.take(number, taken.1, Offer::Whole);
                }
            }
            list.extend(lookup.answer());
        }
    }
    for (part, names) in [(Part::Own, module.unused()), (Part::Whole, module.all_imported())] {
        let mut lookup = Lookup::new(modules);
        for taken in names {
            lookup.take(number, taken, Offer::No);
        }
        edges[slot(part)].extend(lookup.answer());
    }
    for &star in module.stars() {
        let whole = module.targets(star).map(|to| modules[to as usize].unit(Part::Whole));
        edges[slot(Part::Own)].extend(whole);
    }
    tidied(edges)
}

/// The operations of `target` that a chain of attributes names: `helpers.clock.time`, where
/// `helpers` has a module under another name than its own.
fn by_the_way<'m>(target: &'m Module<'_>, chain: &'m Import) -> impl Iterator<Item = UnitId> + 'm {
    let names = chain.specifier.split('.').filter(|name| !target.is_own_name(name));
    names.filter_map(|name| target.offered(name)).map(|part| target.unit(part))
}

/// Whether an import is a dotted name of a module or of something in one.
fn is_named(import: &Import) -> bool {
    let kind = matches!(import.kind, ImportKind::StringRef | ImportKind::Mock);
    kind && !import.specifier.contains('/') && (import.names == Names::Effects || is_chain(import))
}

/// Whether an import makes anything run.
fn runs(import: &Import) -> bool {
    import.kind != ImportKind::TypeOnly
}

/// The local names of an import, with what they take.
fn taken(import: &Import, number: u32) -> Vec<(&str, Taken<'_>)> {
    let of = |name| Taken { import: number, name };
    match &import.names {
        Names::Effects => Vec::new(),
        Names::Namespace(local) => vec![(local, of(None))],
        Names::List(list) => list.iter().map(|n| (n.local.as_str(), of(Some(n.imported.as_str())))).collect(),
    }
}

/// What loading the target of an import brings to life, names aside.
fn loaded(modules: &[Module<'_>], module: &Module<'_>, at: u32, import: &Import, list: &mut Vec<UnitId>) {
    // A statement that takes no name needs none; of any other load it is not known what
    // is done with the module.
    let nameless = import.names == Names::Effects
        && !is_named(import)
        && !matches!(
            import.kind,
            ImportKind::Static | ImportKind::Require | ImportKind::ReExport | ImportKind::Star
        );
    for to in module.targets(at) {
        let target = &modules[to as usize];
        list.push(target.unit(Part::Evaluation));
        if nameless || import.kind == ImportKind::Script {
            list.push(target.unit(Part::Whole));
        }
        if import.kind == ImportKind::Script {
            list.extend(target.program().map(|part| target.unit(part)));
        }
    }
}

/// What the names that a declaration refers to stand for.
pub(crate) fn references<'p>(
    modules: &[Module<'p>],
    number: u32,
    names: &'p [String],
    list: &mut Vec<UnitId>,
) {
    let module = &modules[number as usize];
    let mut lookup = Lookup::new(modules);
    for name in names.iter().filter(|name| *name != SUBCLASSES) {
        let declared = module.declaration(name);
        list.extend(declared.map(|part| module.unit(part)));
        let imported = module.imported(name);
        for &taken in imported {
            let evaluated = module.targets(taken.import);
            list.extend(evaluated.map(|to| modules[to as usize].unit(Part::Evaluation)));
            lookup.take(number, taken, Offer::Whole);
        }
        if declared.is_none() && imported.is_empty() && member(modules, number, name, &mut lookup, list) {
            continue;
        }
        if declared.is_none() && imported.is_empty() && !module.is_erased(name) {
            if module.stars().is_empty() {
                list.push(module.unit(Part::Whole));
            } else {
                lookup.star(number, name);
            }
        }
    }
    list.extend(lookup.answer());
}

/// `m.attr`, where `m` is imported: asks for the attribute. False when it is no such name.
fn member<'p>(
    modules: &[Module<'p>],
    number: u32,
    name: &'p str,
    lookup: &mut Lookup<'_, 'p>,
    list: &mut Vec<UnitId>,
) -> bool {
    let module = &modules[number as usize];
    let Some((root, chain)) = name.split_once('.') else { return false };
    let imported = module.imported(root);
    if imported.is_empty() {
        return module.is_erased(root);
    }
    // Of `import a.b` and `import a.c`, the one that `a.b.x` goes on from.
    let fits = |import: u32| {
        let specifier = module.facts.imports[import as usize].specifier.as_str();
        if name.starts_with(specifier) { specifier.len() } else { 0 }
    };
    let best = imported.iter().filter(|taken| taken.name.is_none()).map(|taken| fits(taken.import)).max();
    for &taken in imported {
        if taken.name.is_none() && Some(fits(taken.import)) != best {
            continue;
        }
        let evaluated = module.targets(taken.import);
        list.extend(evaluated.map(|to| modules[to as usize].unit(Part::Evaluation)));
        lookup.take_member(number, taken, Member { local: root, chain });
        for along in module.chains_along(&written(module, taken, root, chain)) {
            let targets: Vec<u32> = module.targets(along).collect();
            lookup.dotted(&module.facts.imports[along as usize].specifier, &targets);
        }
    }
    true
}

/// `root.chain` as the dotted name of a module and what is read of it.
fn written(module: &Module<'_>, taken: Taken<'_>, root: &str, chain: &str) -> String {
    let specifier = module.facts.imports[taken.import as usize].specifier.as_str();
    let dot = if specifier.ends_with('.') { "" } else { "." };
    match taken.name {
        // `import a.b` binds `a`.
        None if specifier.starts_with(root) && specifier[root.len()..].starts_with('.') => {
            format!("{root}.{chain}")
        }
        None => format!("{specifier}{dot}{chain}"),
        Some(name) => format!("{specifier}{dot}{name}.{chain}"),
    }
}

fn tidied(mut edges: Vec<Vec<UnitId>>) -> Vec<Vec<UnitId>> {
    for list in &mut edges {
        list.sort_unstable();
        list.dedup();
    }
    edges
}
