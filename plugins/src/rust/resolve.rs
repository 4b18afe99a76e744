//! Which file a module or a path of Rust is.
//!
//! A path is followed as far as there are files: `crate::cart::Cart` is `src/cart.rs`,
//! because `src/cart/Cart.rs` is not there. What a module offers from elsewhere
//! (`pub use`) is found through its own imports.

use std::sync::OnceLock;

use owed_engine::facts::{Import, ImportKind, Presence};
use owed_engine::path;
use owed_engine::resolve::{Resolution, Resolver, Target, UnknownImport};
use owed_engine::tree::Tree;

use super::crates::{Crate, Crates};

/// Crates that come with the compiler.
const TOOLCHAIN: &[&str] = &["std", "core", "alloc", "proc_macro", "test"];
/// Parts of a path that are looked for as files.
const LONGEST: usize = 24;

pub(super) struct RustResolver<'a> {
    tree: &'a dyn Tree,
    crates: OnceLock<Crates>,
}

/// Where a file's module stands.
struct Module {
    /// The directory of its child modules.
    children: String,
    /// Whether it is the start of a crate.
    starts: bool,
}

impl<'a> RustResolver<'a> {
    pub(super) fn new(tree: &'a dyn Tree) -> Self {
        Self { tree, crates: OnceLock::new() }
    }

    fn crates(&self) -> &Crates {
        self.crates.get_or_init(|| Crates::read(self.tree))
    }

    fn module(&self, file: &str) -> Module {
        let (dir, name) = (path::dirname(file), path::basename(file));
        let stem = name.strip_suffix(".rs").unwrap_or(name);
        let home = self.crates().of(file);
        let in_crate = home.and_then(|home| path::strip(file, &home.dir)).unwrap_or(file);
        let conventional = |folder: &str| {
            path::dirname(in_crate) == folder
                || path::dirname(path::dirname(in_crate)) == folder && stem == "main"
        };
        let starts = matches!(in_crate, "src/main.rs" | "src/lib.rs" | "build.rs")
            || home.is_some_and(|home| home.library == file)
            || ["src/bin", "tests", "examples", "benches"].into_iter().any(conventional);
        let is_folder = starts || matches!(stem, "mod" | "lib" | "main");
        let children = if is_folder { dir.to_owned() } else { joined(dir, stem) };
        Module { children, starts }
    }

    /// Follows `parts` from the directory of a module's children as far as there are files;
    /// `None` when not even the first is one.
    fn follow(&self, children: &str, parts: &[&str], found: &mut Resolution) -> Option<String> {
        let parts = &parts[..parts.len().min(LONGEST)];
        for end in (1..=parts.len()).rev() {
            let place = joined(children, &parts[..end].join("/"));
            for file in [format!("{place}.rs"), format!("{place}/mod.rs")] {
                if self.tree.is_file(&file) {
                    return Some(file);
                }
                found.absent.push(file);
            }
        }
        None
    }

    /// The files that a crate starts with, for a file of it.
    fn starts_of(&self, home: &Crate) -> Vec<String> {
        let dir = path::dirname(&home.library);
        let main = joined(dir, "main.rs");
        [home.library.clone(), main].into_iter().filter(|file| self.tree.is_file(file)).collect()
    }

    /// `crate::…` in `from`.
    fn in_crate(&self, from: &str, parts: &[&str], found: &mut Resolution) {
        let module = self.module(from);
        if module.starts {
            let file = self.follow(&module.children, parts, found);
            found.targets.extend(file.map(Target::File));
            return;
        }
        let home = self.crates().of(from);
        let sources = home.map(|home| path::dirname(&home.library).to_owned());
        match (home, sources) {
            (Some(home), Some(sources)) if path::is_within(from, &sources) => {
                match self.follow(&sources, parts, found) {
                    Some(file) => found.targets.push(Target::File(file)),
                    None => found.targets.extend(self.starts_of(home).into_iter().map(Target::File)),
                }
            }
            // A module that the tests of a crate share: it belongs to whoever includes it.
            _ => {
                let dirs = path::ancestors(from).take(LONGEST);
                let hit = dirs.into_iter().find_map(|dir| self.follow(dir, parts, found));
                found.targets.extend(hit.map(Target::File));
            }
        }
    }

    /// `self::…`, or `super::…` so many times.
    fn relative(&self, from: &str, up: usize, parts: &[&str], found: &mut Resolution) {
        let mut children = self.module(from).children;
        for _ in 0..up {
            children = path::dirname(&children).to_owned();
        }
        if let Some(file) = self.follow(&children, parts, found) {
            found.targets.push(Target::File(file));
            return;
        }
        if up == 0 {
            return;
        }
        // An item of that module itself.
        let own = [
            format!("{children}.rs"),
            joined(&children, "mod.rs"),
            joined(&children, "lib.rs"),
            joined(&children, "main.rs"),
        ];
        found.targets.extend(own.into_iter().filter(|file| self.tree.is_file(file)).map(Target::File));
    }

    /// A path that starts with a crate, or with a module of the file.
    fn bare(&self, from: &str, parts: &[&str], optional: bool, found: &mut Resolution) {
        let absolute = parts.first() == Some(&"");
        let parts = if absolute { &parts[1..] } else { parts };
        let Some(&first) = parts.first() else { return };
        if TOOLCHAIN.contains(&first) || first.starts_with(char::is_uppercase) {
            return;
        }
        if !absolute {
            let children = self.module(from).children;
            if let Some(file) = self.follow(&children, parts, found) {
                found.targets.push(Target::File(file));
                return;
            }
        }
        if let Some(home) = self.crates().of(from) {
            found.consulted.push(joined(&home.dir, "Cargo.toml"));
            let library = match self.crates().meant(home, first) {
                Some(Ok(other)) => Some(other),
                Some(Err(package)) => {
                    found.targets.push(Target::Package(format!("cargo:{package}")));
                    return;
                }
                None if home.name == first => Some(home),
                None => None,
            };
            if let Some(library) = library {
                let sources = path::dirname(&library.library);
                let file = self.follow(sources, &parts[1..], found);
                found.targets.push(Target::File(file.unwrap_or_else(|| library.library.clone())));
                found.consulted.push(joined(&library.dir, "Cargo.toml"));
                return;
            }
            // Before 2018, paths started at the crate.
            let sources = path::dirname(&home.library).to_owned();
            if let Some(file) = self.follow(&sources, parts, found) {
                found.targets.push(Target::File(file));
                return;
            }
        }
        if !optional {
            found.unknown = Some(UnknownImport::Undeclared);
        }
    }

    /// A module in a file of its own.
    fn declared(&self, from: &str, place: &str, found: &mut Resolution) {
        let own = self.module(from).children;
        // A file that `#[path]` names has its modules beside it, whatever it is called.
        for children in [own.as_str(), path::dirname(from)] {
            let base = joined(children, place);
            for file in [format!("{base}.rs"), format!("{base}/mod.rs")] {
                if self.tree.is_file(&file) {
                    found.targets.push(Target::File(file));
                    return;
                }
                found.absent.push(file);
            }
        }
        found.unknown = Some(UnknownImport::Unresolved);
    }

    fn at(&self, dir: &str, relative: &str, found: &mut Resolution) {
        match path::join(dir, relative) {
            Some(file) if self.tree.kind(&file).is_some() => found.targets.push(Target::File(file)),
            Some(file) => {
                found.absent.push(file);
                found.unknown = Some(UnknownImport::Unresolved);
            }
            None => found.unknown = Some(UnknownImport::Unresolved),
        }
    }
}

impl Resolver for RustResolver<'_> {
    fn resolve(&self, from: &str, import: &Import) -> Resolution {
        let mut found = Resolution::default();
        if import.kind == ImportKind::Computed {
            found.unknown = Some(UnknownImport::Computed);
            return found;
        }
        if let Some(place) = import.specifier.strip_prefix("mod ") {
            self.declared(from, place, &mut found);
        } else if let Some(place) = import.specifier.strip_prefix("path ") {
            let dir = match place.contains('/') && !place.starts_with('.') {
                // Below inline modules, the path starts where their modules lie.
                true if self.tree.kind(&joined(path::dirname(from), place)).is_none() => {
                    self.module(from).children
                }
                _ => path::dirname(from).to_owned(),
            };
            self.at(&dir, place, &mut found);
        } else if let Some(place) = import.specifier.strip_prefix("include ") {
            self.at(path::dirname(from), place, &mut found);
        } else {
            let parts: Vec<&str> = import.specifier.split("::").collect();
            let up = parts.iter().take_while(|part| **part == "super").count();
            match parts[0] {
                "crate" => self.in_crate(from, &parts[1..], &mut found),
                "self" => self.relative(from, 0, &parts[1..], &mut found),
                "super" => self.relative(from, up, &parts[up..], &mut found),
                _ => self.bare(from, &parts, import.presence == Presence::Optional, &mut found),
            }
        }
        found.targets.retain(|target| !matches!(target, Target::File(file) if file == from));
        found.targets.dedup();
        found.absent.sort();
        found.absent.dedup();
        found
    }

    fn surroundings(&self, from: &str) -> Resolution {
        let home = self.crates().of(from);
        let consulted = home.map(|home| joined(&home.dir, "Cargo.toml")).into_iter();
        let broken = self.crates().broken.iter().filter(|file| path::is_within(from, path::dirname(file)));
        Resolution { consulted: consulted.chain(broken.cloned()).collect(), ..Resolution::default() }
    }
}

fn joined(dir: &str, rest: &str) -> String {
    match (dir, rest) {
        ("", rest) => rest.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, rest) => format!("{dir}/{rest}"),
    }
}
