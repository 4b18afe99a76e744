//! Which files an import path of Go stands for: a directory of the module, of another
//! module of the project (`go.work`, `replace`), or of `vendor`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use owed_engine::facts::{Import, ImportKind};
use owed_engine::path;
use owed_engine::resolve::{Listing, Resolution, Resolver, Target, UnknownImport};
use owed_engine::tree::{Kind, Tree};

const MANIFEST: &str = "go.mod";

pub(super) struct GoResolver<'a> {
    tree: &'a dyn Tree,
    modules: OnceLock<BTreeMap<String, Module>>,
}

/// One `go.mod`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Module {
    /// Its import path.
    pub(super) name: String,
    /// Modules that are taken from a directory instead, longest name first.
    pub(super) replaced: Vec<(String, String)>,
    /// Modules that it requires.
    pub(super) required: Vec<String>,
}

impl<'a> GoResolver<'a> {
    pub(super) fn new(tree: &'a dyn Tree) -> Self {
        Self { tree, modules: OnceLock::new() }
    }

    /// By directory.
    fn modules(&self) -> &BTreeMap<String, Module> {
        self.modules.get_or_init(|| {
            let files = self.tree.files().iter().filter(|file| path::basename(file) == MANIFEST);
            files
                .filter_map(|file| {
                    let text = self.tree.text(file)?;
                    Some((path::dirname(file).to_owned(), Module::read(&text)))
                })
                .collect()
        })
    }

    fn module_of(&self, from: &str) -> Option<(&str, &Module)> {
        let (dir, module) = path::ancestors(from).find_map(|dir| self.modules().get_key_value(dir))?;
        Some((dir.as_str(), module))
    }

    /// The files of the package in `dir`, tests left out unless `tests` is said.
    fn package(&self, dir: &str, tests: bool, found: &mut Resolution) -> bool {
        let mut any = false;
        for (name, kind) in self.tree.list(dir) {
            let is_source = kind == Kind::File && name.ends_with(".go");
            if is_source && (tests || !name.ends_with("_test.go")) {
                any = true;
                found.targets.push(Target::File(joined(dir, &name)));
            }
        }
        if any || self.tree.is_dir(dir) {
            let listing = Listing { dir: dir.to_owned(), glob: "*.go".to_owned() };
            found.targets.push(Target::Listing(listing));
        } else {
            found.absent.push(dir.to_owned());
        }
        any
    }

    /// A path below the module `name` in `dir`.
    fn below(&self, name: &str, dir: &str, specifier: &str) -> Option<String> {
        let rest = specifier.strip_prefix(name)?;
        match rest.strip_prefix('/') {
            Some(rest) => Some(joined(dir, rest)),
            None => rest.is_empty().then(|| dir.to_owned()),
        }
    }

    fn import(&self, from: &str, specifier: &str, found: &mut Resolution) {
        if specifier == "C" {
            found.unknown = Some(UnknownImport::Native);
            return;
        }
        let home = self.module_of(from);
        if let Some((dir, module)) = home {
            found.consulted.push(joined(dir, MANIFEST));
            if let Some(place) = self.below(&module.name, dir, specifier) {
                if !self.package(&place, false, found) {
                    found.unknown = Some(UnknownImport::Unresolved);
                }
                return;
            }
            for (name, target) in &module.replaced {
                let Some(target) = path::join(dir, target) else { continue };
                if let Some(place) = self.below(name, &target, specifier) {
                    if !self.package(&place, false, found) {
                        found.unknown = Some(UnknownImport::Unresolved);
                    }
                    return;
                }
            }
        }
        // Another module of the project, as `go.work` makes them known to each other.
        for (dir, module) in self.modules() {
            if module.name.is_empty() {
                continue;
            }
            if let Some(place) = self.below(&module.name, dir, specifier)
                && self.package(&place, false, found)
            {
                found.consulted.push(joined(dir, MANIFEST));
                return;
            }
        }
        for above in path::ancestors(from) {
            let vendored = joined(above, &format!("vendor/{specifier}"));
            if self.tree.is_dir(&vendored) && self.package(&vendored, false, found) {
                return;
            }
        }
        let first = specifier.split('/').next().unwrap_or_default();
        if !first.contains('.') {
            // The standard library comes with the toolchain.
            return;
        }
        let required = home.and_then(|(_, module)| {
            let is_it = |name: &&String| self.below(name, "", specifier).is_some();
            module.required.iter().filter(is_it).max_by_key(|name| name.len())
        });
        match required {
            Some(name) => found.targets.push(Target::Package(format!("go:{name}"))),
            None => found.unknown = Some(UnknownImport::Undeclared),
        }
    }

    /// Files that a source embeds.
    fn embedded(&self, from: &str, pattern: &str, found: &mut Resolution) {
        let dir = path::dirname(from);
        let Some(place) = path::join(dir, pattern) else {
            found.unknown = Some(UnknownImport::Unresolved);
            return;
        };
        match self.tree.kind(&place) {
            Some(Kind::Dir) => {
                found.targets.push(Target::Listing(Listing { dir: place.clone(), glob: "**".to_owned() }));
                let inside = self.tree.files().iter().filter(|file| path::is_within(file, &place));
                found.targets.extend(inside.cloned().map(Target::File));
            }
            Some(_) => found.targets.push(Target::File(place)),
            None if place.contains(['*', '?', '[']) => {
                let glob = path::strip(&place, dir).unwrap_or(&place).to_owned();
                let matcher = globset::GlobBuilder::new(&glob).literal_separator(true).build();
                let Ok(matcher) = matcher.map(|glob| glob.compile_matcher()) else {
                    found.unknown = Some(UnknownImport::Computed);
                    return;
                };
                let below =
                    |file: &&String| path::strip(file, dir).is_some_and(|rest| matcher.is_match(rest));
                found.targets.push(Target::Listing(Listing { dir: dir.to_owned(), glob: glob.clone() }));
                found.targets.extend(self.tree.files().iter().filter(below).cloned().map(Target::File));
            }
            None => {
                found.absent.push(place);
                found.unknown = Some(UnknownImport::Unresolved);
            }
        }
    }
}

impl Resolver for GoResolver<'_> {
    fn resolve(&self, from: &str, import: &Import) -> Resolution {
        let mut found = Resolution::default();
        match import.kind {
            ImportKind::Glob => self.embedded(from, &import.specifier, &mut found),
            _ => self.import(from, &import.specifier, &mut found),
        }
        found
    }

    fn surroundings(&self, from: &str) -> Resolution {
        let mut found = Resolution::default();
        let tests = from.ends_with("_test.go");
        self.package(path::dirname(from), tests, &mut found);
        found.targets.retain(|target| !matches!(target, Target::File(file) if file == from));
        for dir in path::ancestors(from) {
            let manifest = joined(dir, MANIFEST);
            if self.modules().contains_key(dir) {
                found.consulted.push(manifest);
                break;
            }
            found.absent.push(manifest);
        }
        found
    }
}

impl Module {
    /// The parts of a `go.mod` that say where packages lie. Unknown lines say nothing
    /// about that.
    pub(super) fn read(text: &str) -> Self {
        let mut module = Self::default();
        let mut block: Option<String> = None;
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            if words == [")"] {
                block = None;
                continue;
            }
            let verb = match &block {
                Some(verb) => verb.clone(),
                None => {
                    let verb = words.remove(0).to_owned();
                    if words == ["("] {
                        block = Some(verb);
                        continue;
                    }
                    verb
                }
            };
            let plain = |word: &str| word.trim_matches(['"', '`']).to_owned();
            match (verb.as_str(), &words[..]) {
                ("module", [name, ..]) => module.name = plain(name),
                ("require", [name, ..]) => module.required.push(plain(name)),
                ("replace", words) => {
                    let Some(arrow) = words.iter().position(|word| *word == "=>") else { continue };
                    let (Some(name), Some(target)) = (words.first(), words.get(arrow + 1)) else { continue };
                    let target = plain(target);
                    if target.starts_with('.') {
                        module.replaced.push((plain(name), target));
                    }
                }
                _ => {}
            }
        }
        module.replaced.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        module
    }
}

fn joined(dir: &str, rest: &str) -> String {
    match (dir, rest) {
        ("", rest) => rest.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, rest) => format!("{dir}/{rest}"),
    }
}
