//! From a package of the project and a subpath to its files: `exports`, the entry
//! fields, or the path itself, and from output that is not there to its sources.

use owed_engine::path;
use owed_engine::resolve::{Resolution, Target};

use super::package::{self, Package, below};
use super::probe::Found;
use super::source::{is_output, is_source};
use super::{Class, Js};

/// Entry fields for each class, when the runner names none.
const MODULE_FIELDS: &[&str] = &["module", "main"];
const MAIN_FIELDS: &[&str] = &["main", "module"];
const TYPES_FIELDS: &[&str] = &["types", "typings", "module", "main"];

/// What a file named by a manifest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    /// Not there.
    Missing,
    /// There, but ignored.
    Output,
    /// In the inventory, but other loaders go on to the directory of that name.
    Partly,
    /// In the inventory.
    Source,
}

impl Js<'_> {
    /// What `subpath` (`""` or `/sub/path`) of a package of the project means.
    pub(super) fn enter(&self, package: &Package, subpath: &str, class: Class, out: &mut Resolution) -> bool {
        out.consulted.push(package.manifest());
        if let Some(map) = package.field("exports") {
            let key = format!(".{subpath}");
            let look_up = |class: Class, node: bool| {
                package::exports(map, &key, &|condition| self.accepts(class, node, condition)).targets
            };
            if self.exported(package, class, &look_up, &package::every(map, &key), out) {
                return true;
            }
        }
        self.unexported(package, subpath, class, out)
    }

    /// Follows a map of conditions: the targets for this loader, the sources that another
    /// loader would take, and for output its sources. `every` is each target of the key.
    pub(super) fn exported(
        &self,
        package: &Package,
        class: Class,
        look_up: &dyn Fn(Class, bool) -> Vec<String>,
        every: &[String],
        out: &mut Resolution,
    ) -> bool {
        let file = |target: &String| path::join(&package.dir, target.strip_prefix("./")?);
        let browser = self.options.conditions.iter().any(|c| c == "browser");
        // With `browser`, `node` holds for some loaders only.
        let variants = [(class, !browser), (class, true), (Class::Esm, true), (Class::Cjs, true)];
        let mut found = false;
        let mut output: Vec<String> = Vec::new();
        for (at, (class, node)) in variants.into_iter().enumerate() {
            for file in look_up(class, node).iter().filter_map(file) {
                if at == 0 {
                    match self.entry_or_directory(&file, class, out) {
                        Entry::Source | Entry::Partly => {
                            found = true;
                            break;
                        }
                        Entry::Output | Entry::Missing => output.push(file),
                    }
                    continue;
                }
                let mut other = Resolution::default();
                if self.entry_or_directory(&file, class, &mut other) >= Entry::Partly {
                    found = true;
                    out.targets.extend(other.targets);
                } else {
                    output.push(file);
                }
            }
        }
        let sources =
            every.iter().filter_map(file).filter(|file| is_source(file) && self.view.in_inventory(file));
        if !output.is_empty() && !found {
            for file in sources {
                self.hit(&file, out);
                found = true;
            }
        }
        for file in &output {
            found |= self.laid_out(file, out);
        }
        found
            || output
                .iter()
                .any(|file| self.built(file, self.view.is_file(file), out) || self.view.is_file(file))
    }

    /// Whether a condition holds.
    pub(super) fn accepts(&self, class: Class, node: bool, condition: &str) -> bool {
        match condition {
            "node" => node,
            "import" => class != Class::Cjs,
            "require" => class == Class::Cjs,
            "module-sync" => node,
            "types" => class == Class::Types,
            other => self.options.conditions.iter().any(|known| known == other),
        }
    }

    /// A package without `exports`, or a subpath that they do not name.
    fn unexported(&self, package: &Package, subpath: &str, class: Class, out: &mut Resolution) -> bool {
        let target = path::join(&package.dir, subpath.trim_start_matches('/'));
        match target {
            None => false,
            Some(target) if target == package.dir => self.main(package, class, out),
            Some(target) => match self.entry_or_directory(&target, class, out) {
                Entry::Source | Entry::Partly => true,
                // What `exports` do not lead to is not output either.
                Entry::Missing if package.field("exports").is_some() && !is_output(&target) => false,
                entry => self.built(&target, entry == Entry::Output, out) || entry == Entry::Output,
            },
        }
    }

    /// The entry of a package without `exports`.
    fn main(&self, package: &Package, class: Class, out: &mut Resolution) -> bool {
        let fields: Vec<&str> = match class {
            _ if !self.options.main_fields.is_empty() => {
                self.options.main_fields.iter().map(String::as_str).collect()
            }
            Class::Esm => MODULE_FIELDS.to_vec(),
            Class::Cjs => MAIN_FIELDS.to_vec(),
            Class::Types => TYPES_FIELDS.to_vec(),
        };
        let file = |field: &str| path::join(&package.dir, package.string(field)?.trim_start_matches('/'));
        let mut entries: Vec<String> = fields.into_iter().filter_map(file).collect();
        entries.retain(|entry| *entry != package.dir);
        let (mut found, mut index) = (false, entries.is_empty());
        let mut missing = Vec::new();
        for entry in &entries {
            match self.entry_or_directory(entry, class, out) {
                Entry::Source => found = true,
                Entry::Partly => (found, index) = (true, true),
                Entry::Output => {
                    self.built(entry, true, out);
                    found = true;
                }
                Entry::Missing => missing.push(entry.clone()),
            }
        }
        // An entry that is not there is passed over for the index.
        if index || !missing.is_empty() {
            found |= self.probe_index(&package.dir, class, out);
        }
        for entry in &missing {
            found |= self.laid_out(entry, out);
        }
        if !found && let Some(source) = file("source").filter(|source| self.view.in_inventory(source)) {
            self.hit(&source, out);
            return true;
        }
        missing.extend(["types", "typings"].into_iter().filter_map(file));
        found || missing.iter().any(|entry| self.built(entry, false, out))
    }

    /// A file that a manifest names.
    fn entry(&self, file: &str, class: Class, out: &mut Resolution) -> Entry {
        let before = out.targets.len();
        match self.probe_file(file, class, out) {
            Found::No => Entry::Missing,
            Found::Partly => self.entry_kind(before, out).min(Entry::Partly),
            Found::Yes => self.entry_kind(before, out),
        }
    }

    fn entry_kind(&self, before: usize, out: &Resolution) -> Entry {
        let in_inventory =
            |target: &Target| matches!(target, Target::File(file) if self.view.in_inventory(file));
        if out.targets[before..].iter().any(in_inventory) { Entry::Source } else { Entry::Output }
    }

    /// [`Js::entry`], or the index of a directory; a manifest in it may point elsewhere.
    fn entry_or_directory(&self, target: &str, class: Class, out: &mut Resolution) -> Entry {
        let before = out.targets.len();
        let mut best = self.entry(target, class, out);
        if matches!(best, Entry::Output | Entry::Source) {
            return best;
        }
        if !self.view.is_dir(target) {
            // It may come as a directory.
            self.probe_index(target, class, out);
            return best;
        }
        let manifest = below(target, "package.json");
        if self.view.is_file(&manifest) {
            let inner = self.package(target);
            out.consulted.push(manifest);
            let fields = ["module", "main", "types"].into_iter();
            for entry in fields.filter_map(|field| path::join(target, inner.string(field)?)) {
                best = best.max(self.entry(&entry, class, out));
                if best == Entry::Missing && self.built(&entry, false, out) {
                    best = Entry::Source;
                }
            }
        }
        if matches!(best, Entry::Missing | Entry::Partly) && self.probe_index(target, class, out) {
            best = best.max(self.entry_kind(before, out));
        }
        best
    }
}
