//! Import statements: dotted names, absolute and relative, and what is taken out of them.

use super::*;
use crate::python::project::literal::{Module, Value};

impl PythonResolver<'_> {
    /// `a.b.c`, from wherever it is searched.
    pub(super) fn dotted(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let specifier = specifier.split(':').next().unwrap_or(specifier);
        let names: Vec<&str> = specifier.split('.').collect();
        if !names.iter().all(|name| is_identifier(name)) {
            let unknown = (!ask.attributes && !ask.optional).then_some(UnknownImport::Unresolved);
            return Resolution { unknown, ..Resolution::default() };
        }
        let top = names[0];
        let stdlib = is_stdlib(top);
        let mut trails = self.trails(ask.from, &names, ask.types);
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
        let absent = trails.iter().flat_map(|t| t.absent.iter().cloned());
        if !complete.is_empty() {
            found.absent.extend(absent);
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
        found.absent.extend(absent);
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
        let trail = walk(&self.index, place, &[name], ask.types, true);
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
                let files = names.flat_map(|name| walk(&self.index, place, &[name], false, false).files);
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
            let candidate = super::within(self.index.path(within), names[trail.depth], ".py");
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
        found.absent.extend(trails.iter().flat_map(|t| t.absent.iter().cloned()));
        if stdlib && top != "test" {
            return;
        }
        let mut places: Vec<Place> = Vec::new();
        // A file of a package may be run as a script too, but then its neighbours seldom
        // have the names of what it declares to depend on.
        let own = self.index.place(path::dirname(ask.from));
        let own = own.filter(|place| !self.index.is_package(place) || !self.declares(top));
        let base = self.index.base(ask.from).map(Place::Known);
        // Source roots may be set in ways that are not read here; a name that nobody
        // declares is then what the repository has of it, wherever that lies.
        let anywhere = if self.declares(top) { &[] } else { self.index.tops_with(top) };
        let anywhere = anywhere.iter().copied().map(Place::Known);
        for place in own.into_iter().chain(base).chain(anywhere) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let nearby = places.iter().map(|place| walk(&self.index, place, names, ask.types, true));
        let (nearby, partial): (Vec<Trail>, Vec<Trail>) =
            nearby.partition(|trail| trail.is_complete(names.len()));
        // A package that has lost the module: its coming back is watched for.
        found.absent.extend(partial.into_iter().filter(|trail| trail.regular).flat_map(|trail| trail.absent));
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
        let roots: Vec<String> =
            self.roots.iter().take(NEAR_ROOTS).map(|place| self.index.path(place).to_owned()).collect();
        for root in &roots {
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

    /// The directory that `dots` leading dots mean in the file `from`.
    pub(super) fn above(&self, from: &str, dots: usize) -> Option<Place> {
        let mut dir = path::dirname(from);
        for _ in 1..dots {
            if dir.is_empty() {
                return None;
            }
            dir = path::dirname(dir);
        }
        self.index.place(dir)
    }

    /// `.x`, `..`, from the directory of the importing file.
    pub(super) fn relative(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let rest = specifier.trim_start_matches('.');
        let dots = specifier.len() - rest.len();
        let names: Vec<&str> = rest.split('.').filter(|name| !name.is_empty()).collect();
        let mut found = Resolution::default();
        let unresolved = || (!ask.optional && !ask.attributes).then_some(UnknownImport::Unresolved);
        let Some(place) = self.above(ask.from, dots) else {
            found.unknown = unresolved();
            return found;
        };
        let package = self.index.is_package(&place);
        let mut trail = walk(&self.index, &place, &names, ask.types, true);
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
}

/// A native module is loaded, or is missing where one may be: also an optional one.
fn native(ask: &Ask<'_>) -> Option<UnknownImport> {
    (!ask.types).then_some(UnknownImport::Native)
}
