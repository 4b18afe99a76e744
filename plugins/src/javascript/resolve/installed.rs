//! Into installed packages: Node.js's algorithm over `node_modules`, for whoever follows a
//! closure through their bytes.
//!
//! Selection does not need this (the lock file says when a package changes). Where several
//! loaders would take different files of a package, all of them are given.

use owed_engine::facts::{Import, ImportKind, LoadMode};
use owed_engine::path;
use owed_engine::resolve::{Installed, InstalledModule};

use super::package::{self, Package, below};
use super::specifier::{self, Specifier};
use super::{Js, node_modules_package};

/// What an extension that is left out may be, in Node.js's order, and what bundlers add.
const EXTENSIONS: &[&str] = &["", ".js", ".json", ".node", ".cjs", ".mjs"];

impl Js<'_> {
    /// What `import`, written in the file `from`, runs of an installed package.
    pub(super) fn package_of(&self, from: &str, import: &Import) -> Installed {
        if matches!(import.kind, ImportKind::TypeOnly | ImportKind::Glob) {
            return Installed::Nothing;
        }
        let text = specifier::without_query(&import.specifier).unwrap_or(&import.specifier);
        let inside = node_modules_package(from).map(|(name, end)| (name, &from[..end]));
        match (specifier::parse(text), inside) {
            (Specifier::Bare(bare), _) => self.bare_package(path::dirname(from), bare, import),
            (Specifier::Relative(relative), Some((name, root))) => {
                let relative = if import.kind == ImportKind::Computed { "" } else { relative };
                let Some(target) = path::join(path::dirname(from), relative) else {
                    return Installed::Nothing;
                };
                let mut files = Vec::new();
                self.take(&target, &mut files);
                module(name, root, files)
            }
            (Specifier::Internal(key), Some((name, root))) => {
                let package = self.package(root);
                let mut files = Vec::new();
                if let Some(map) = package.field("imports") {
                    for target in self.mapped_targets(import, |accepts| package::imports(map, key, accepts)) {
                        if let Specifier::Bare(bare) = specifier::parse(&target) {
                            return self.bare_package(root, bare, import);
                        }
                        files.extend(path::join(root, &target).filter(|file| self.view.is_file(file)));
                    }
                }
                module(name, root, files)
            }
            _ => Installed::Nothing,
        }
    }

    fn bare_package(&self, dir: &str, bare: &str, import: &Import) -> Installed {
        let Some((name, subpath)) = specifier::package(bare) else { return Installed::Nothing };
        // What the effect table has rows for is judged by them.
        if specifier::is_builtin(bare) || name.starts_with("@types/") || super::super::read::models(name) {
            return Installed::Nothing;
        }
        let mut above = std::iter::once(dir).chain(path::ancestors(dir));
        let installed = above.find_map(|at| {
            let at = below(at, &format!("node_modules/{name}"));
            self.view.tree.is_dir(&at).then_some(at)
        });
        let Some(installed) = installed else {
            let package = format!("npm:{name}");
            return match node_modules_package(dir) {
                Some(_) => Installed::Absent(package),
                None => Installed::Missing(package),
            };
        };
        let Some(root) = self.view.real(&installed) else { return Installed::Missing(format!("npm:{name}")) };
        if node_modules_package(&root).is_none() {
            // A link to a package of the project.
            return Installed::Nothing;
        }
        let package = self.package(&root);
        let mut files = Vec::new();
        match package.field("exports") {
            Some(map) => {
                let key = format!(".{subpath}");
                let targets = self.mapped_targets(import, |accepts| package::exports(map, &key, accepts));
                for target in targets.iter().filter_map(|target| path::join(&root, target)) {
                    self.take(&target, &mut files);
                }
                // Bundlers and jest reach what `exports` do not name.
                if files.is_empty() && !subpath.is_empty() {
                    self.take(&below(&root, &subpath[1..]), &mut files);
                }
            }
            None if subpath.is_empty() => self.take_main(&package, &mut files),
            None => self.take(&below(&root, &subpath[1..]), &mut files),
        }
        module(name, &root, files)
    }

    /// The targets of a map for this import, and for the other loader when it is a
    /// statement of the project, which a runner may rewrite to `require`.
    fn mapped_targets(
        &self,
        import: &Import,
        look_up: impl Fn(&dyn Fn(&str) -> bool) -> package::Mapped,
    ) -> Vec<String> {
        let cjs = import.kind == ImportKind::Require || import.mode == LoadMode::Cjs;
        let mut targets: Vec<String> = Vec::new();
        for require in [cjs, true] {
            let accepts = |condition: &str| match condition {
                "import" => !require,
                "require" => require,
                "node" | "module-sync" => true,
                other => self.options.conditions.iter().any(|known| known == other),
            };
            targets.extend(look_up(&accepts).targets);
        }
        targets.sort();
        targets.dedup();
        targets
    }

    /// The entry of a package without `exports`.
    fn take_main(&self, package: &Package, files: &mut Vec<String>) {
        for field in ["main", "module"] {
            let entry = package.string(field).and_then(|entry| path::join(&package.dir, entry));
            if let Some(entry) = entry.filter(|entry| *entry != package.dir) {
                self.take(&entry, files);
            }
        }
        if files.is_empty() {
            self.take_index(&package.dir, files);
        }
    }

    /// A file by its path, with or without its extension, or the entry of a directory.
    fn take(&self, target: &str, files: &mut Vec<String>) {
        for extension in EXTENSIONS {
            let file = format!("{target}{extension}");
            if self.view.is_file(&file) {
                files.push(self.view.real(&file).map_or(file, |real| real.to_string()));
                return;
            }
        }
        if !self.view.is_dir(target) {
            return;
        }
        let manifest = below(target, "package.json");
        let main = self.view.is_file(&manifest).then(|| self.package(target)).and_then(|package| {
            let main = path::join(target, package.string("main")?)?;
            (main != target).then_some(main)
        });
        if let Some(main) = main {
            for extension in EXTENSIONS {
                let file = format!("{main}{extension}");
                if self.view.is_file(&file) {
                    files.push(file);
                    return;
                }
            }
            self.take_index(&main, files);
        }
        if files.is_empty() {
            self.take_index(target, files);
        }
    }

    fn take_index(&self, dir: &str, files: &mut Vec<String>) {
        let index = EXTENSIONS.iter().skip(1).map(|extension| below(dir, &format!("index{extension}")));
        files.extend(index.into_iter().find(|file| self.view.is_file(file)));
    }
}

fn module(name: &str, root: &str, mut files: Vec<String>) -> Installed {
    files.sort();
    files.dedup();
    let native = files.iter().any(|file| path::extension(file) == "node");
    Installed::Module(InstalledModule {
        package: format!("npm:{name}"),
        root: root.to_owned(),
        files,
        native,
    })
}
