//! Gives meaning to Python's imports: absolute and relative ones, each `__init__.py` on
//! the way, namespace packages, stubs, native modules, names in strings, scripts and
//! globs. It runs nothing and asks no interpreter: which of several equal names on
//! different source roots a run would find depends on the order tests are collected in,
//! so all of them are given.
//!
//! Directories searched for an absolute name, all with equal right: the source roots of
//! the options, and what pytest inserts for the conftests and tests at or above the
//! importing file. Only when none of them has the name, and it is no standard library
//! name: the file's own directory (it may be run as a script) and, for a name that no
//! manifest declares as a dependency, every directory of the repository that has it.

mod dotted;
mod index;
mod installed;
mod pattern;
mod walk;
mod written;

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use owed_engine::facts::{Import, ImportKind, Name, Names, Presence};
use owed_engine::path;
use owed_engine::resolve::{
    AliasFind, Installed, Resolution, ResolveOptions, Resolver, Target, UnknownImport,
};
use owed_engine::tree::Tree;
use rustc_hash::FxHashMap;

use self::index::{Child, Forms, Index, Place, join, within};
pub(crate) use self::installed::environments;
use self::walk::{End, Trail, walk};
use crate::python::project::Layout;
use crate::python::project::names::{is_identifier, is_stdlib};

/// A resolver over `tree` under `options`. Without source roots in the options, those of
/// the manifests hold.
pub fn resolver<'a>(tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
    Box::new(PythonResolver::new(tree, options))
}

/// On how many roots, besides those that hold the importing file, a new file of a name
/// that they do not have yet is watched for. In a repository of fifty distributions each
/// import would otherwise name a hundred absent files.
const NEAR_ROOTS: usize = 8;
/// The same for a string that may or may not name a module.
const STRING_ROOTS: usize = 4;

pub(crate) struct PythonResolver<'a> {
    index: Index<'a>,
    roots: Vec<Place>,
    /// Dotted package to its directory, when they differ in name.
    aliases: Vec<(Vec<String>, Place)>,
    starts: Vec<String>,
    /// Directories with installed packages.
    sites: OnceLock<Vec<String>>,
    layout: OnceLock<Layout>,
    /// Top-level modules of declared distributions.
    declared: OnceLock<BTreeSet<String>>,
    /// What `from package import *` loads besides the package, by its directory.
    stars: Mutex<FxHashMap<String, Vec<Target>>>,
}

/// What one import asks for, besides the dotted name.
#[derive(Clone, Copy)]
struct Ask<'i> {
    from: &'i str,
    /// Names taken out of the module.
    wanted: &'i [Name],
    star: bool,
    types: bool,
    /// Names left over may be attributes (`mock.patch("a.b.attr")`, `"a.b:attr"`).
    attributes: bool,
    optional: bool,
}

impl Resolver for PythonResolver<'_> {
    fn resolve(&self, from: &str, import: &Import) -> Resolution {
        let wanted: &[Name] = match &import.names {
            Names::List(names) => names,
            Names::Effects | Names::Namespace(_) => &[],
        };
        let ask = Ask {
            from,
            wanted,
            star: import.kind == ImportKind::Star,
            types: import.kind == ImportKind::TypeOnly,
            attributes: matches!(import.kind, ImportKind::StringRef | ImportKind::Mock),
            optional: import.presence == Presence::Optional || import.kind == ImportKind::TypeOnly,
        };
        let specifier = import.specifier.as_str();
        let mut found = match import.kind {
            ImportKind::Script => self.script(specifier, &ask),
            ImportKind::Computed | ImportKind::Glob => self.glob(specifier, &ask),
            ImportKind::StringRef => self.string(specifier, &ask),
            _ if specifier.starts_with('.') => self.relative(specifier, &ask),
            _ => self.dotted(specifier, &ask),
        };
        tidy(from, &mut found);
        found
    }

    fn installed(&self, from: &str, import: &Import) -> Installed {
        self.package_of(from, import)
    }
}

/// Drops repetitions and the importing file itself.
fn tidy(from: &str, found: &mut Resolution) {
    found.targets.retain(|target| !matches!(target, Target::File(path) if path == from));
    distinct(&mut found.targets);
    distinct(&mut found.absent);
}

/// Keeps the first of equal items. Most lists are short: a hash of each would cost more.
fn distinct<T: Eq + std::hash::Hash + Clone>(items: &mut Vec<T>) {
    if items.len() > 24 {
        let mut seen = rustc_hash::FxHashSet::default();
        items.retain(|item| seen.insert(item.clone()));
        return;
    }
    let mut at = 1;
    while at < items.len() {
        if items[..at].contains(&items[at]) {
            items.remove(at);
        } else {
            at += 1;
        }
    }
}

impl<'a> PythonResolver<'a> {
    pub(crate) fn new(tree: &'a dyn Tree, options: &ResolveOptions) -> Self {
        let index = Index::new(tree);
        let layout = OnceLock::new();
        let (mut roots, mut aliases) = (options.source_roots.clone(), options.aliases.clone());
        if roots.is_empty() {
            let read = Layout::read(tree);
            for root in options.all_roots() {
                let (found, renamed) = read.roots_for(root);
                roots.extend(found);
                aliases.extend(renamed);
            }
            let _ = layout.set(read);
        }
        for root in options.all_roots() {
            if !roots.iter().any(|known| known == root) {
                roots.push(root.to_owned());
            }
        }
        let mut places: Vec<Place> = Vec::new();
        for place in roots.iter().filter_map(|root| index.place(root)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let aliases = aliases
            .iter()
            .filter_map(|alias| match &alias.find {
                AliasFind::Prefix(name) | AliasFind::Exact(name) => {
                    let place = index.place(alias.replacement.strip_prefix('/')?)?;
                    Some((name.split('.').map(str::to_owned).collect(), place))
                }
                AliasFind::Regex(_) => None,
            })
            .collect();
        let starts = options.all_roots().map(str::to_owned).collect();
        Self {
            index,
            roots: places,
            aliases,
            starts,
            sites: OnceLock::new(),
            layout,
            declared: OnceLock::new(),
            stars: Mutex::default(),
        }
    }

    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::read(self.index.tree()))
    }

    fn declares(&self, top: &str) -> bool {
        self.declared.get_or_init(|| self.layout().declared_imports()).contains(top)
    }

    /// The directories searched first for what `from` imports.
    fn search(&self, from: &str) -> Vec<Place> {
        let mut places = self.roots.clone();
        for number in self.index.inserted_above(from) {
            let place = Place::Known(number);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// All walks of `names` for the file `from`: from each directory searched, and from
    /// renamed packages.
    fn trails(&self, from: &str, names: &[&str], types: bool) -> Vec<Trail> {
        let places = self.search(from);
        let mut trails: Vec<Trail> = Vec::with_capacity(places.len());
        for (at, place) in places.iter().enumerate() {
            let near = at < NEAR_ROOTS || path::is_within(from, self.index.path(place));
            let mut trail = walk(&self.index, place, names, types, near);
            if !near && (trail.is_complete(names.len()) || trail.regular) {
                trail = walk(&self.index, place, names, types, true);
            } else if !near && trail.depth > 0 {
                // `__init__.py` would make the bare directory a package before all others.
                trail.absent.push(within(self.index.path(place), names[0], "/__init__.py"));
            }
            trails.push(trail);
        }
        for (package, place) in &self.aliases {
            let inside = names.len() >= package.len() && package.iter().zip(names).all(|(a, b)| a == b);
            if inside {
                let mut trail = walk(&self.index, place, &names[package.len()..], types, true);
                trail.depth += package.len();
                trail.regular = true;
                if self.index.is_package(place) {
                    trail.files.insert(0, self.index.source(place, "__init__"));
                }
                trails.push(trail);
            }
        }
        trails
    }
}

#[cfg(test)]
mod tests;
