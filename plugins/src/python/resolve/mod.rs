//! Gives meaning to Python's imports: absolute and relative ones, each `__init__.py` on
//! the way, namespace packages, stubs, native modules, names in strings, scripts and
//! globs. It runs nothing and asks no interpreter: which of several equal names on
//! different source roots a run would find depends on the order tests are collected in,
//! so all of them are given.
//!
//! Directories searched for an absolute name, all with equal right: the source roots of
//! the options, and what pytest inserts for the conftests and tests at or above the
//! importing file. Only when none of them has the name, and it is no standard library
//! name: the file's own directory (it may be run as a script) and every other directory
//! that pytest inserts.

mod index;
mod pattern;
mod walk;

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use owed_engine::facts::{Import, ImportKind, Name, Names, Presence};
use owed_engine::path;
use owed_engine::resolve::{AliasFind, Listing, Resolution, ResolveOptions, Resolver, Target, UnknownImport};
use owed_engine::tree::Tree;
use rustc_hash::FxHashMap;

use self::index::{Child, Forms, Index, Place, join};
use self::walk::{End, Trail, missing, walk};
use crate::python::project::Layout;
use crate::python::project::literal::{Module, Value};
use crate::python::project::names::{is_identifier, is_stdlib};

/// A resolver over `tree` under `options`. Without source roots in the options, those of
/// the manifests hold.
pub fn resolver<'a>(tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
    Box::new(PythonResolver::new(tree, options))
}

/// On how many roots a shadowing file of an external name is watched for.
const SHADOW_ROOTS: usize = 32;
/// The same for a string that may or may not name a module.
const STRING_ROOTS: usize = 4;

pub(crate) struct PythonResolver<'a> {
    index: Index<'a>,
    roots: Vec<Place>,
    /// Dotted package to its directory, when they differ in name.
    aliases: Vec<(Vec<String>, Place)>,
    root: String,
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
            let (found, renamed) = read.roots_for(&options.root);
            roots = found;
            aliases.extend(renamed);
            let _ = layout.set(read);
        }
        if !roots.contains(&options.root) {
            roots.push(options.root.clone());
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
        let root = options.root.clone();
        Self {
            index,
            roots: places,
            aliases,
            root,
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

    /// All walks of `names`: from each directory searched, and from renamed packages.
    fn trails(&self, places: &[Place], names: &[&str], types: bool) -> Vec<Trail> {
        let mut trails: Vec<Trail> =
            places.iter().map(|place| walk(&self.index, place, names, types)).collect();
        for (package, place) in &self.aliases {
            let inside = names.len() >= package.len() && package.iter().zip(names).all(|(a, b)| a == b);
            if inside {
                let mut trail = walk(&self.index, place, &names[package.len()..], types);
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

    /// `a.b.c`, from wherever it is searched.
    fn dotted(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let specifier = specifier.split(':').next().unwrap_or(specifier);
        let names: Vec<&str> = specifier.split('.').collect();
        if !names.iter().all(|name| is_identifier(name)) {
            let unknown = (!ask.attributes && !ask.optional).then_some(UnknownImport::Unresolved);
            return Resolution { unknown, ..Resolution::default() };
        }
        let top = names[0];
        let stdlib = is_stdlib(top);
        let mut trails = self.trails(&self.search(ask.from), &names, ask.types);
        if stdlib && top != "test" {
            // A bare directory never wins over a module of the standard library.
            trails.retain(|trail| trail.regular || trail.depth == 0);
        }
        let mut found = Resolution::default();
        if !self.take(&trails, &names, ask, &mut found) {
            self.external(&trails, &names, ask, stdlib, &mut found);
        }
        if ask.types {
            self.stubs(&names, &mut found);
        }
        found
    }

    /// Takes the first-party meanings out of `trails`; false when there is none.
    fn take(&self, trails: &[Trail], names: &[&str], ask: &Ask<'_>, found: &mut Resolution) -> bool {
        let leads = |trail: &&Trail| {
            let bare = trail.is_complete(names.len()) && self.ends_in_python(trail);
            trail.regular || (trail.depth > 0 && (!trail.files.is_empty() || trail.native || bare))
        };
        let complete: Vec<&Trail> =
            trails.iter().filter(|t| t.is_complete(names.len())).filter(leads).collect();
        let absent = trails.iter().enumerate().filter(|(at, t)| t.depth > 0 || *at < SHADOW_ROOTS);
        if !complete.is_empty() {
            found.absent.extend(absent.flat_map(|(_, t)| t.absent.iter().cloned()));
            found.targets.extend(complete.iter().flat_map(|t| &t.files).cloned().map(Target::File));
            if complete.iter().any(|t| t.native) {
                found.unknown = native(ask);
            }
            self.take_names(&complete, ask, found);
            if complete.iter().all(|t| !t.regular) {
                // An installed package of that name would win over bare directories.
                self.package(names[0], found);
            }
            return true;
        }
        let Some(depth) = trails.iter().filter(leads).map(|t| t.depth).max() else { return false };
        found.absent.extend(absent.flat_map(|(_, t)| t.absent.iter().cloned()));
        let partial: Vec<&Trail> = trails.iter().filter(leads).filter(|t| t.depth == depth).collect();
        found.targets.extend(partial.iter().flat_map(|t| &t.files).cloned().map(Target::File));
        if partial.iter().any(|t| t.native) {
            found.unknown = native(ask);
        } else if !ask.attributes && partial.iter().all(|t| matches!(t.end, End::Nothing { .. })) {
            found.unknown = self.why_missing(&partial, names, ask);
        }
        true
    }

    fn ends_in_python(&self, trail: &Trail) -> bool {
        match &trail.end {
            End::Package(place) | End::Namespace(place) => self.index.holds_python(place),
            End::Module => true,
            End::Nothing { .. } => false,
        }
    }

    /// Modules among the names taken out of packages.
    fn take_names(&self, complete: &[&Trail], ask: &Ask<'_>, found: &mut Resolution) {
        let mut places: Vec<&Place> = Vec::new();
        let mut possible = false;
        for trail in complete {
            match &trail.end {
                End::Package(place) => {
                    let package = self.index.is_package(place);
                    possible |= package;
                    places.push(place);
                    if ask.star && package {
                        found.targets.extend(self.star(place));
                    }
                }
                End::Namespace(place) => places.push(place),
                End::Module => possible = true,
                End::Nothing { .. } => {}
            }
        }
        let mut lost = false;
        for name in ask.wanted {
            let mut met = false;
            for place in &places {
                met |= self.take_name(place, &name.imported, ask, found);
            }
            lost |= !met;
        }
        // From a directory without `__init__.py` only modules can be taken.
        if !possible && lost && !ask.optional && !ask.attributes && found.unknown.is_none() {
            found.unknown = Some(UnknownImport::Unresolved);
        }
    }

    /// Adds the module `name` of `place`; false when there is none.
    fn take_name(&self, place: &Place, name: &str, ask: &Ask<'_>, found: &mut Resolution) -> bool {
        if !is_identifier(name) {
            return true;
        }
        let trail = walk(&self.index, place, &[name], ask.types);
        found.absent.extend(trail.absent);
        found.targets.extend(trail.files.into_iter().map(Target::File));
        if trail.native {
            found.unknown = native(ask);
        }
        trail.depth == 1 || trail.native
    }

    /// What `from package import *` loads besides the package itself: the modules that
    /// its `__all__` names, all of them when that is computed.
    fn star(&self, place: &Place) -> Vec<Target> {
        let dir = self.index.path(place).to_owned();
        let mut stars = self.stars.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = stars.get(&dir) {
            return known.clone();
        }
        let init = self.index.source(place, "__init__");
        let all = self
            .index
            .tree()
            .text(&init)
            .filter(|text| text.contains("__all__"))
            .and_then(|text| Some(Module::parse(&text)?.constant("__all__")?.clone()));
        let targets = match all {
            None => Vec::new(),
            Some(Value::List(items)) if !items.contains(&Value::Unknown) => {
                let names = items.iter().filter_map(Value::text).filter(|name| is_identifier(name));
                let files = names.flat_map(|name| walk(&self.index, place, &[name], false).files);
                files.map(Target::File).collect()
            }
            Some(_) => {
                let mut found = Resolution::default();
                self.expand(&dir, "*", &mut found);
                found.targets
            }
        };
        stars.insert(dir, targets.clone());
        targets
    }

    /// Why a name below a first-party package leads nowhere; `None` when that is in order.
    fn why_missing(&self, partial: &[&Trail], names: &[&str], ask: &Ask<'_>) -> Option<UnknownImport> {
        let layout = self.layout();
        for trail in partial {
            let End::Nothing { within } = &trail.end else { continue };
            let candidate = join(self.index.path(within), &format!("{}.py", names[trail.depth]));
            let distribution = layout.of(&candidate);
            if distribution.generated.contains(&candidate) {
                // Written by the build from version control; its absent path is an input.
                return None;
            }
            let dotted = names[..=trail.depth].join(".");
            let named = layout.distributions.iter().any(|d| d.native_modules.contains(&dotted));
            if named || (distribution.native && names[trail.depth].starts_with('_')) {
                return native(ask);
            }
        }
        (!ask.optional).then_some(UnknownImport::Unresolved)
    }

    /// A name that no directory searched first has.
    fn external(
        &self,
        trails: &[Trail],
        names: &[&str],
        ask: &Ask<'_>,
        stdlib: bool,
        found: &mut Resolution,
    ) {
        let top = names[0];
        let absent = trails.iter().take(SHADOW_ROOTS).flat_map(|t| t.absent.iter());
        found.absent.extend(absent.cloned());
        if stdlib && top != "test" {
            return;
        }
        let mut places: Vec<Place> = Vec::new();
        // A file of a package may be run as a script too, but then its neighbours seldom
        // have the names of what it declares to depend on.
        let own = self.index.place(path::dirname(ask.from));
        let own = own.filter(|place| !self.index.is_package(place) || !self.declares(top));
        let base = self.index.base(ask.from).map(Place::Known);
        let inserted = self.index.inserted_with(top).iter().copied().map(Place::Known);
        for place in own.into_iter().chain(base).chain(inserted) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let nearby = places.iter().map(|place| walk(&self.index, place, names, ask.types));
        let nearby: Vec<Trail> = nearby.filter(|trail| trail.is_complete(names.len())).collect();
        if !nearby.is_empty() && self.take(&nearby, names, ask, found) {
            self.package(top, found);
            return;
        }
        if stdlib {
            return;
        }
        self.package(top, found);
        if ask.optional || ask.attributes {
            return;
        }
        let bare = trails.iter().any(|t| t.depth > 0 && !t.regular && self.holds_first(t));
        if trails.iter().any(|t| t.native) {
            found.unknown = Some(UnknownImport::Native);
        } else if bare && !self.declares(top) {
            found.unknown = Some(UnknownImport::Unresolved);
        } else if let Some(own) = self
            .layout()
            .distributions
            .iter()
            .find(|d| d.name.as_deref().is_some_and(|n| n.replace('-', "_") == top))
            && !self.declares(top)
        {
            // The repository's own distribution, and no module of it is here.
            found.unknown = Some(if own.native { UnknownImport::Native } else { UnknownImport::Unresolved });
        }
    }

    /// Whether the bare directory a trail went through has Python in it.
    fn holds_first(&self, trail: &Trail) -> bool {
        match &trail.end {
            End::Package(place) | End::Namespace(place) | End::Nothing { within: place } => {
                self.index.holds_python(place)
            }
            End::Module => true,
        }
    }

    fn package(&self, top: &str, found: &mut Resolution) {
        if !is_stdlib(top) {
            found.targets.push(Target::Package(format!("pypi:{top}")));
        }
    }

    /// Stub trees: `stubs/a/b.pyi`, `typings/a/b.pyi`, `a-stubs/b.pyi`.
    fn stubs(&self, names: &[&str], found: &mut Resolution) {
        let roots: Vec<String> = self.roots.iter().map(|place| self.index.path(place).to_owned()).collect();
        for root in roots.iter().take(SHADOW_ROOTS) {
            let beside = format!("{}-stubs", names[0]);
            for (dir, rest) in [
                (join(root, "stubs"), names),
                (join(root, "typings"), names),
                (join(root, &beside), &names[1..]),
            ] {
                if self.index.place(&dir).is_none() {
                    continue;
                }
                let stem = rest.iter().fold(dir, |at, name| join(&at, name));
                for file in [format!("{stem}.pyi"), format!("{stem}/__init__.pyi")] {
                    if self.index.is_file(&file) {
                        found.targets.push(Target::File(file));
                    }
                }
            }
        }
    }

    /// `.x`, `..`, from the directory of the importing file.
    fn relative(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let rest = specifier.trim_start_matches('.');
        let dots = specifier.len() - rest.len();
        let names: Vec<&str> = rest.split('.').filter(|name| !name.is_empty()).collect();
        let mut found = Resolution::default();
        let unresolved = || (!ask.optional && !ask.attributes).then_some(UnknownImport::Unresolved);
        let up = vec![".."; dots - 1].join("/");
        let place = path::join(path::dirname(ask.from), &up).and_then(|dir| self.index.place(&dir));
        let Some(place) = place else {
            found.unknown = unresolved();
            return found;
        };
        let package = self.index.is_package(&place);
        let mut trail = walk(&self.index, &place, &names, ask.types);
        if names.is_empty() && package {
            trail.files.push(self.index.source(&place, "__init__"));
        }
        trail.regular = true;
        let at_root = self.roots.contains(&place) || self.index.path(&place).is_empty();
        if trail.is_complete(names.len()) {
            found.absent.append(&mut trail.absent);
            found.targets.extend(trail.files.iter().cloned().map(Target::File));
            if trail.native {
                found.unknown = native(ask);
            }
            self.take_names(&[&trail], ask, &mut found);
        } else {
            self.take(&[trail], &names, ask, &mut found);
            if found.targets.is_empty() && found.unknown.is_none() && found.absent.is_empty() {
                found.unknown = unresolved();
            }
        }
        if dots > 1 && at_root && !package && found.unknown.is_none() {
            // Above the top-level package: Python refuses it whatever lies there.
            found.unknown = unresolved();
        }
        found
    }

    /// A string that may name a module or something in one.
    fn string(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let dotted = specifier.split(':').next().unwrap_or(specifier);
        if dotted.starts_with('.') {
            return self.relative(dotted, ask);
        }
        let names: Vec<&str> = dotted.split('.').collect();
        let mut found = Resolution::default();
        if !names.iter().all(|name| is_identifier(name)) {
            return found;
        }
        let trails = self.trails(&self.search(ask.from), &names, false);
        let depth = trails.iter().filter(|t| !t.files.is_empty()).map(|t| t.depth).max().unwrap_or(0);
        if depth == 0 {
            if !is_stdlib(names[0]) && names.len() > 1 {
                found.absent.extend(trails.iter().take(STRING_ROOTS).flat_map(|t| t.absent.iter().cloned()));
            }
            return found;
        }
        for trail in trails.into_iter().filter(|t| t.depth == depth && !t.files.is_empty()) {
            found.targets.extend(trail.files.into_iter().map(Target::File));
            found.absent.extend(trail.absent);
        }
        found
    }

    /// A file run as a program (`./x.py`, `x.py`), or a module run with `-m`.
    fn script(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let is_path = specifier.contains('/') || specifier.ends_with(".py") || specifier.ends_with(".pyz");
        if !is_path {
            return self.run_module(specifier, ask);
        }
        let mut found = Resolution::default();
        let beside = path::dirname(ask.from);
        let bases: &[&str] = if specifier.starts_with("./") || specifier.starts_with("../") {
            &[beside]
        } else {
            &[beside, self.root.as_str(), ""]
        };
        for base in bases {
            let Some(candidate) = path::join(base, specifier) else { continue };
            if self.index.is_file(&candidate) {
                let real = self.index.tree().real(&candidate).unwrap_or(candidate);
                found.targets.push(Target::File(real));
            } else {
                let main = join(&candidate, "__main__.py");
                if self.index.is_file(&main) {
                    found.targets.push(Target::File(main));
                } else {
                    found.absent.push(candidate);
                }
            }
        }
        if found.targets.is_empty() && !ask.optional {
            found.unknown = Some(UnknownImport::Unresolved);
        }
        found
    }

    /// `python -m a.b`: the module, or the package's `__main__`.
    fn run_module(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let mut found = if specifier.starts_with('.') {
            self.relative(specifier, ask)
        } else {
            self.dotted(specifier, ask)
        };
        let names: Vec<&str> = specifier.split('.').collect();
        for trail in self.trails(&self.search(ask.from), &names, false) {
            if let End::Package(place) | End::Namespace(place) = &trail.end
                && trail.is_complete(names.len())
            {
                match self.index.child(place, "__main__") {
                    Child::Module(forms) if forms.any(Forms::SOURCE) => {
                        found.targets.push(Target::File(self.index.source(place, "__main__")));
                    }
                    _ => missing(&self.index, place, "__main__", false, &mut found.absent),
                }
            }
        }
        found
    }

    /// `pkg.plugins.*`: the package, its listing, and every module that matches.
    fn glob(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let computed = Resolution { unknown: Some(UnknownImport::Computed), ..Resolution::default() };
        let Some(pattern) = pattern::Pattern::parse(specifier) else { return computed };
        if pattern.dots == 0 && pattern.prefix.is_empty() {
            return computed;
        }
        let bare = Ask { wanted: &[], star: false, attributes: false, ..*ask };
        let prefix = pattern.prefix.join(".");
        let mut found = match (pattern.dots, pattern.prefix.is_empty()) {
            (0, _) => self.dotted(&prefix, &bare),
            (dots, _) => self.relative(&format!("{}{prefix}", ".".repeat(dots)), &bare),
        };
        let names: Vec<&str> = pattern.prefix.iter().map(String::as_str).collect();
        let places = if pattern.dots == 0 {
            self.search(ask.from)
        } else {
            let up = vec![".."; pattern.dots - 1].join("/");
            let dir = path::join(path::dirname(ask.from), &up);
            dir.and_then(|dir| self.index.place(&dir)).into_iter().collect()
        };
        let trails = if pattern.dots == 0 {
            self.trails(&places, &names, false)
        } else {
            places.iter().map(|p| walk(&self.index, p, &names, false)).collect()
        };
        for trail in trails.iter().filter(|t| t.is_complete(names.len())) {
            if let End::Package(place) | End::Namespace(place) = &trail.end
                && self.index.holds_python(place)
            {
                for glob in &pattern.globs {
                    self.expand(self.index.path(place), glob, &mut found);
                }
            }
        }
        found
    }

    /// Adds the listing of `glob` (a path glob without extension) below `dir`, and what
    /// matches it now with the `__init__.py` on the way.
    fn expand(&self, dir: &str, glob: &str, found: &mut Resolution) {
        for ending in [".py", "/__init__.py"] {
            let glob = format!("{glob}{ending}");
            let files = pattern::matching(self.index.tree().files(), dir, &glob);
            for file in files {
                let mut chain: Vec<String> = path::ancestors(file)
                    .take_while(|at| path::is_within(at, dir) && *at != dir)
                    .map(|at| join(at, "__init__.py"))
                    .filter(|init| self.index.is_file(init))
                    .collect();
                chain.reverse();
                found.targets.extend(chain.into_iter().map(Target::File));
                found.targets.push(Target::File(file.clone()));
            }
            found.targets.push(Target::Listing(Listing { dir: dir.to_owned(), glob }));
        }
    }
}

/// A native module is loaded, or is missing where one may be: also an optional one.
fn native(ask: &Ask<'_>) -> Option<UnknownImport> {
    (!ask.types).then_some(UnknownImport::Native)
}

#[cfg(test)]
mod tests;
