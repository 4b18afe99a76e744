//! `jest.mock` and `vi.mock`: the module itself, and the `__mocks__` file that stands in
//! for it, existing or not.
//!
//! jest knows every `__mocks__` file of its roots by name, wherever it lies, and uses
//! those of packages without being asked; so existing ones are taken from everywhere.
//! Where one may appear is said for the places both runners document.

use owed_engine::path;
use owed_engine::resolve::{Resolution, Target};
use rustc_hash::FxHashMap;

use super::package::below;
use super::probe::Found;
use super::specifier::{self, Specifier};
use super::{Class, Js, finish};

/// Files in `__mocks__` directories by their name below it, without extension.
#[derive(Debug, Default)]
pub(super) struct Mocks {
    by_name: FxHashMap<String, Vec<String>>,
}

impl Js<'_> {
    /// A mocked module.
    pub(super) fn mock(&self, dir: &str, text: &str, class: Class) -> Resolution {
        let mut out = self.module(dir, text, class);
        let originals: Vec<String> = out
            .targets
            .iter()
            .flat_map(|target| match target {
                Target::File(file) => vec![file.clone()],
                Target::Sources(dir) => self.package_sources(dir).to_vec(),
                _ => Vec::new(),
            })
            .collect();
        for original in originals.iter().chain(&self.missing_original(dir, text, &out)) {
            let place = below(&below(path::dirname(original), "__mocks__"), stem(path::basename(original)));
            self.stand_in(&place, class, &mut out);
        }
        let text = specifier::without_query(text).unwrap_or(text);
        let package = text.strip_prefix("node:").unwrap_or(text);
        if matches!(specifier::parse(package), Specifier::Bare(_)) {
            out.own = true;
            self.existing_mocks(package, &mut out);
            let roots = self.options.mock_roots.iter().map(String::as_str);
            for root in roots.chain(self.options.all_roots()).chain([""]) {
                if let Some(place) = path::join(&below(root, "__mocks__"), package) {
                    self.stand_in(&place, class, &mut out);
                }
            }
        }
        finish(out)
    }

    /// Existing mocks of a package, wherever they are.
    fn existing_mocks(&self, name: &str, out: &mut Resolution) {
        if let Some(files) = self.mocks().by_name.get(name) {
            out.targets.extend(files.iter().cloned().map(Target::File));
        }
    }

    /// Where the original would be, when it is not there: a mock may be all there is.
    fn missing_original(&self, dir: &str, text: &str, out: &Resolution) -> Vec<String> {
        match specifier::parse(text) {
            Specifier::Relative(relative) if out.unknown.is_some() => {
                path::join(dir, relative).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn stand_in(&self, place: &str, class: Class, out: &mut Resolution) {
        let before = out.absent.len();
        if self.probe_file(place, class, out) == Found::No && !self.probe_index(place, class, out) {
            // Only the usual names: each is one more thing that the graph must keep.
            out.absent.truncate(before);
            out.absent.extend(self.extensions.usual().map(|extension| format!("{place}{extension}")));
            out.absent.extend(self.extensions.usual().map(|extension| format!("{place}/index{extension}")));
        }
    }

    fn mocks(&self) -> &Mocks {
        self.mocks.get_or_init(|| {
            let mut mocks = Mocks::default();
            for file in self.view.tree.files() {
                let Some(rest) = below_mocks(file) else { continue };
                let (parent, name) = (path::dirname(rest), stem(path::basename(rest)));
                let name = if name == "index" && !parent.is_empty() {
                    parent.to_owned()
                } else {
                    below(parent, name)
                };
                mocks.by_name.entry(name).or_default().push(file.clone());
            }
            mocks
        })
    }
}

/// The part of a path after its last `__mocks__`.
fn below_mocks(file: &str) -> Option<&str> {
    match file.rfind("/__mocks__/") {
        Some(at) => Some(&file[at + "/__mocks__/".len()..]),
        None => file.strip_prefix("__mocks__/"),
    }
}

fn stem(name: &str) -> &str {
    name.rfind('.').filter(|at| *at > 0).map_or(name, |at| &name[..at])
}
