//! Modules and files named in other ways: in strings, as scripts, by globs, as data of a
//! package.

use owed_engine::resolve::Listing;

use super::walk::missing;
use super::*;

impl PythonResolver<'_> {
    /// A string that may name a module or something in one.
    pub(super) fn string(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let dotted = specifier.split(':').next().unwrap_or(specifier);
        if dotted.starts_with('.') {
            return self.relative(dotted, ask);
        }
        let names: Vec<&str> = dotted.split('.').collect();
        let mut found = Resolution::default();
        if !names.iter().all(|name| is_identifier(name)) {
            return found;
        }
        let trails = self.trails(ask.from, &names, false);
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
    pub(super) fn script(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let is_path = specifier.contains('/') || specifier.ends_with(".py") || specifier.ends_with(".pyz");
        if !is_path {
            return self.run_module(specifier, ask);
        }
        let mut found = Resolution::default();
        let beside = path::dirname(ask.from);
        let mut bases = vec![beside];
        if !(specifier.starts_with("./") || specifier.starts_with("../")) {
            bases.extend(self.starts.iter().map(String::as_str));
            bases.push("");
        }
        let absolute = self.index.tree().root().to_str().and_then(|root| specifier.strip_prefix(root));
        let specifier = absolute.map_or(specifier, |inside| inside.trim_start_matches('/'));
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
        for trail in self.trails(ask.from, &names, false) {
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
    /// `pkg.data/schema.json`, `./data/**`: files of a package.
    pub(super) fn glob(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        if let Some((package, inside)) = specifier.split_once('/') {
            return self.package_files(package, inside, ask);
        }
        let computed = Resolution { unknown: Some(UnknownImport::Computed), ..Resolution::default() };
        let Some(pattern) = pattern::Pattern::parse(specifier) else { return computed };
        let prefix = format!("{}{}", ".".repeat(pattern.dots), pattern.prefix.join("."));
        let mut found = self.module(&prefix, ask);
        for dir in self.package_dirs(&prefix, ask.from) {
            for glob in &pattern.globs {
                self.expand(&dir, glob, &mut found);
            }
        }
        found
    }

    /// The module `specifier` alone, absolute or relative.
    fn module(&self, specifier: &str, ask: &Ask<'_>) -> Resolution {
        let bare = Ask { wanted: &[], star: false, attributes: false, ..*ask };
        if specifier.starts_with('.') {
            self.relative(specifier, &bare)
        } else {
            self.dotted(specifier, &bare)
        }
    }

    /// The directories of the inventory that the package `specifier` may be.
    fn package_dirs(&self, specifier: &str, from: &str) -> Vec<String> {
        let rest = specifier.trim_start_matches('.');
        let names: Vec<&str> = rest.split('.').filter(|name| !name.is_empty()).collect();
        let trails = match specifier.len() - rest.len() {
            0 => self.trails(from, &names, false),
            dots => {
                let place = self.above(from, dots);
                place.iter().map(|place| walk(&self.index, place, &names, false, false)).collect()
            }
        };
        let complete = trails.iter().filter(|t| t.is_complete(names.len()));
        let mut dirs: Vec<String> = complete
            .filter_map(|trail| match &trail.end {
                End::Package(place) | End::Namespace(place) if self.index.holds_python(place) => {
                    Some(self.index.path(place).to_owned())
                }
                // A module stands for the package it lies in.
                End::Module => trail.files.last().map(|file| path::dirname(file).to_owned()),
                _ => None,
            })
            .collect();
        dirs.dedup();
        dirs
    }

    /// Files below a package, by a path or path glob.
    fn package_files(&self, package: &str, inside: &str, ask: &Ask<'_>) -> Resolution {
        let mut found = self.module(package, ask);
        for dir in self.package_dirs(package, ask.from) {
            let Some(at) = path::join(&dir, inside) else { continue };
            let tree = self.index.tree();
            if inside.contains(['*', '?', '[']) {
                let files = pattern::matching(tree.files(), &dir, inside);
                found.targets.extend(files.into_iter().cloned().map(Target::File));
                found.targets.push(Target::Listing(Listing { dir, glob: inside.to_owned() }));
            } else if tree.is_dir(&at) {
                found.targets.push(Target::Listing(Listing { dir: at, glob: "**".to_owned() }));
            } else if tree.is_file(&at) {
                found.targets.push(Target::File(tree.real(&at).unwrap_or(at)));
            } else {
                found.absent.push(at);
            }
        }
        found
    }

    /// Adds the listing of `glob` (a path glob without extension) below `dir`, and what
    /// matches it now with the `__init__.py` on the way.
    pub(super) fn expand(&self, dir: &str, glob: &str, found: &mut Resolution) {
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
