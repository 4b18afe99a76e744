//! Bare specifiers and `#imports`: `tsconfig` paths, packages of the repository, linked
//! directories, jest's extra directories, and last the packages of a registry.
//!
//! Where loaders would disagree about which of these comes first, all that lead to files
//! of the project are kept.

use owed_engine::path;
use owed_engine::resolve::{Resolution, Target, UnknownImport};

use super::super::manifest::name_of;
use super::package::{self, Package, below};
use super::scope::Scope;
use super::specifier;
use super::{Class, Js, spellings};

impl Js<'_> {
    /// A specifier that names a package, or an alias that only `tsconfig` knows.
    pub(super) fn bare(&self, dir: &str, text: &str, class: Class, out: &mut Resolution) {
        let text = text.split('?').next().unwrap_or(text);
        let scope = self.scope(dir);
        if specifier::is_builtin(text) {
            if self.options.checked && scope.declares("@types/node").is_some() {
                out.targets.push(Target::Package("npm:@types/node".to_owned()));
            }
            // Only an entry of `paths` comes before the runtime's own module.
            let mut attempt = Resolution::default();
            if self.mapped(&scope, text, false, class, &mut attempt).found {
                super::merge(out, attempt);
            }
            return;
        }
        let mapped = self.mapped(&scope, text, true, class, out);
        let jest = self.extra_directories(dir, text, class, out);
        let Some((name, subpath)) = specifier::package(text) else {
            if !mapped.found && !jest && !self.last_resort(&scope, text, class, out) {
                let virtual_module = specifier::is_virtual(text);
                out.unknown =
                    Some(if virtual_module { UnknownImport::Virtual } else { UnknownImport::Unresolved });
            }
            return;
        };
        let declared = scope.declares(name);
        let first_party = self.first_party(&scope, name, subpath, class, out);
        let installed = || self.installed(&scope, name);
        let known = declared.is_some() || first_party.is_some() || installed();
        if !known && (mapped.found || jest) {
            return;
        }
        out.targets.push(Target::Package(format!("npm:{name}")));
        if let Some(other) = declared.and_then(|(_, range)| npm_alias(range)) {
            out.targets.push(Target::Package(format!("npm:{other}")));
        }
        if class == Class::Types {
            let types = format!("@types/{}", name.trim_start_matches('@').replace('/', "__"));
            if scope.declares(&types).is_some() {
                out.targets.push(Target::Package(format!("npm:{types}")));
            }
        }
        let elsewhere = match first_party {
            Some(found) => found || (self.link(&scope, name).is_none() && installed()),
            None => known,
        };
        if mapped.found || jest || elsewhere {
            return;
        }
        if self.last_resort(&scope, text, class, out) {
            return;
        }
        let broken = scope.packages.iter().any(|package| package.broken);
        let expected = mapped.matched && self.options.tsconfig_paths;
        out.unknown = Some(if specifier::is_virtual(text) {
            UnknownImport::Virtual
        } else if first_party == Some(false) || broken || expected {
            UnknownImport::Unresolved
        } else {
            UnknownImport::Undeclared
        });
    }

    /// `#name`, from the manifest that the file belongs to, else from `tsconfig`.
    pub(super) fn internal(&self, dir: &str, name: &str, class: Class, out: &mut Resolution) {
        let scope = self.scope(dir);
        let mut found = false;
        if let Some(package) = scope.packages.first() {
            out.consulted.push(package.manifest());
            if let Some(map) = package.field("imports") {
                found = self.imported(package, map, name, class, out);
            }
        }
        for name in spellings(name) {
            found = found || self.mapped(&scope, name, false, class, out).found;
        }
        if !found && !self.mapped_outside(&scope, name, class, out) {
            out.unknown = out.unknown.take().or(Some(UnknownImport::Unresolved));
        }
    }

    fn imported(
        &self,
        package: &Package,
        map: &serde_json::Value,
        name: &str,
        class: Class,
        out: &mut Resolution,
    ) -> bool {
        let look_up = |class: Class, node: bool| {
            package::imports(map, name, &|condition| self.accepts(class, node, condition)).targets
        };
        let mut found = self.exported(package, class, &look_up, &package::every(map, name), out);
        // A target that is no path is a specifier of its own, read in the package.
        let specifiers = look_up(class, true).into_iter().filter(|t| !t.starts_with(['.', '#', '/']));
        for specifier in specifiers {
            self.plain(&package.dir, &specifier, class, out);
            found = true;
        }
        found
    }

    /// Packages of the repository called `name`. `None` when there is none, else whether
    /// the subpath leads to something.
    fn first_party(
        &self,
        scope: &Scope,
        name: &str,
        subpath: &str,
        class: Class,
        out: &mut Resolution,
    ) -> Option<bool> {
        let mut dirs: Vec<String> = Vec::new();
        let mut certain = false;
        let declared = scope.declares(name);
        let local = declared.and_then(|(package, range)| local_path(range).map(|path| (package, path)));
        if let Some((package, path)) = local {
            out.consulted.push(package.manifest());
            if path.ends_with(".tgz") {
                out.targets.extend(path::join(&package.dir, path).map(Target::File));
                return Some(true);
            }
            certain = true;
            dirs.extend(path::join(&package.dir, path));
        }
        // `workspace:other@*` is the package `other` under this name.
        let other = declared.and_then(|(_, range)| range.strip_prefix("workspace:")).map(name_of);
        let members = match other {
            Some(other) if !self.workspace().named(other).is_empty() => self.workspace().named(other),
            _ => self.workspace().named(name),
        };
        let own_name = scope.packages.first().is_some_and(|package| package.string("name") == Some(name));
        let from_registry = declared.is_some_and(|(_, range)| !range.starts_with("workspace:"));
        let listed = members.iter().any(|member| member.listed);
        for member in members {
            // Not listed and declared from a registry: another package of that name.
            if member.listed || (!listed && (!from_registry || own_name)) {
                dirs.push(member.package.dir.clone());
            }
        }
        if dirs.is_empty() && own_name {
            dirs.extend(scope.packages.first().map(|package| package.dir.clone()));
        }
        if dirs.is_empty() {
            dirs.extend(self.link(scope, name));
        }
        if !members.is_empty() && !dirs.is_empty() {
            out.consulted.extend(self.workspace().definers.iter().cloned());
        }
        dirs.dedup();
        if dirs.is_empty() {
            return (certain || declared.is_some_and(|(_, range)| range.starts_with("workspace:")))
                .then_some(false);
        }
        let mut found = false;
        for dir in dirs {
            let manifest = below(&dir, "package.json");
            if self.view.is_file(&manifest) {
                found |= self.enter(&self.package(&dir), subpath, class, out)
                    // Without any entry field Node.js takes the index, which a build may make.
                    || (subpath.is_empty() && self.built(&below(&dir, "index.js"), false, out));
            } else {
                found |= self.locate(&format!("{dir}{subpath}"), class, out);
            }
        }
        Some(found)
    }

    /// The project directory that the installed package `name` is a link to.
    fn link(&self, scope: &Scope, name: &str) -> Option<String> {
        let mut installed = scope.node_modules.iter().map(|dir| below(dir, &format!("node_modules/{name}")));
        let nearest =
            installed.find(|path| self.view.real(path).is_some() || self.view.tree.kind(path).is_some())?;
        self.linked(&nearest)
    }

    fn installed(&self, scope: &Scope, name: &str) -> bool {
        scope
            .node_modules
            .iter()
            .any(|dir| self.view.tree.is_dir(&below(dir, &format!("node_modules/{name}"))))
    }

    /// jest's `modulePaths` and `moduleDirectories`.
    fn extra_directories(&self, dir: &str, text: &str, class: Class, out: &mut Resolution) -> bool {
        let paths = self.options.module_paths.iter().filter_map(|base| path::join(base, text));
        let mut found = false;
        for target in paths {
            found = found || self.locate(&target, class, out);
        }
        for name in self.options.module_directories.iter().filter(|name| *name != "node_modules") {
            let up = std::iter::once(dir).chain(path::ancestors(dir));
            for target in up.filter_map(|at| path::join(&below(at, name), text)) {
                found = found || self.locate(&target, class, out);
            }
        }
        found
    }

    /// Readings of a specifier that nothing declares, for set-ups that are not visible
    /// (`NODE_PATH`, a plugin): `tsconfig` files further up, and the roots.
    fn last_resort(&self, scope: &Scope, text: &str, class: Class, out: &mut Resolution) -> bool {
        out.consulted.extend(scope.packages.iter().map(|package| package.manifest()));
        if self.mapped_outside(scope, text, class, out) {
            return true;
        }
        out.own = true;
        let package = scope.packages.first().map_or("", |package| package.dir.as_str());
        let bases = std::iter::once(package).chain(self.options.all_roots()).chain([""]);
        bases.into_iter().any(|base| {
            let mut attempt = Resolution::default();
            let found = path::join(base, text).is_some_and(|target| self.probe(&target, class, &mut attempt));
            // A miss is no candidate: nothing says that these places are looked at.
            if found {
                super::merge(out, attempt);
            }
            found
        })
    }
}

/// The path of a dependency that is a directory or archive of the project.
fn local_path(range: &str) -> Option<&str> {
    for scheme in ["file:", "link:", "portal:", "workspace:"] {
        if let Some(rest) = range.strip_prefix(scheme) {
            return (scheme != "workspace:" || rest.starts_with('.')).then(|| rest.trim_start_matches("//"));
        }
    }
    (range.starts_with("./") || range.starts_with("../")).then_some(range)
}

/// The package that `npm:other@1` stands for.
fn npm_alias(range: &str) -> Option<&str> {
    range.strip_prefix("npm:").map(name_of)
}
