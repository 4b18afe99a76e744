//! From a path without certainty to the files it may mean: exact, with TypeScript's
//! substitutions (`./a.js` is written for `a.ts`), with an extension, as a directory.
//!
//! Loaders disagree about order (vite takes `.mjs` before `.ts`, TypeScript the
//! reverse). Each order is followed to its own first hit, and every hit is kept; every
//! name that some order passed on its way is an absent candidate.

use owed_engine::path;
use owed_engine::resolve::Resolution;
use owed_engine::tree::Kind;

use super::package::{below, join};
use super::view::Dir;
use super::{Class, Js};

const VITE: &[&str] = &[".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"];
const JEST: &[&str] = &[".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".node"];
const TYPESCRIPT: &[&str] = &[".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
const TYPES: &[&str] =
    &[".ts", ".tsx", ".d.ts", ".mts", ".d.mts", ".cts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];
/// Taken when nothing else is there: the import is of types only, or it fails.
const DECLARATIONS: &[&str] = &[".d.ts", ".d.mts", ".d.cts"];

/// The extensions that are tried, and in which orders.
#[derive(Debug)]
pub(super) struct Extensions {
    /// All of them, each once; at most 64, so that sets are one word.
    table: Vec<String>,
    runtime: Vec<Vec<u8>>,
    types: Vec<Vec<u8>>,
    declarations: Vec<u8>,
}

impl Extensions {
    /// The orders of a runner's configuration; its list is the first of them.
    pub(super) fn new(configured: &[String]) -> Self {
        let mut table: Vec<String> = Vec::new();
        let mut order = |extensions: &mut dyn Iterator<Item = &str>| -> Vec<u8> {
            let mut order = Vec::new();
            for extension in extensions {
                let at = table.iter().position(|known| known == extension).unwrap_or_else(|| {
                    table.push(extension.to_owned());
                    table.len() - 1
                });
                // More than 64 extensions are no configuration; the rest is not tried.
                if at < 64 {
                    order.push(at as u8);
                }
            }
            order
        };
        let mut fixed = |list: &[&str]| order(&mut list.iter().copied());
        let typescript = fixed(TYPESCRIPT);
        let types = fixed(TYPES);
        let declarations = fixed(DECLARATIONS);
        let first = if configured.is_empty() {
            vec![fixed(VITE), fixed(JEST)]
        } else {
            vec![order(&mut configured.iter().map(String::as_str))]
        };
        let runtime = first.iter().cloned().chain([typescript]).collect();
        let types = first.into_iter().chain([types]).collect();
        Self { table, runtime, types, declarations }
    }

    /// The extensions of the first order, for names that are only written down.
    pub(super) fn usual(&self) -> impl Iterator<Item = &str> {
        self.runtime[0].iter().map(|at| self.table[*at as usize].as_str())
    }

    fn orders(&self, class: Class) -> &[Vec<u8>] {
        if class == Class::Types { &self.types } else { &self.runtime }
    }

    fn present(&self, dir: &Dir, base: &str) -> u64 {
        let mut set = 0;
        for (rest, kind) in dir.extensions_of(base) {
            if kind == Kind::File
                && let Some(at) = self.table.iter().position(|extension| extension == rest)
                && at < 64
            {
                set |= 1 << at;
            }
        }
        set
    }
}

/// What TypeScript source a name with this extension may be written for.
fn substitutions(name: &str) -> Option<(&str, &'static [&'static str], &'static str)> {
    let (stem, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "js" => (stem, &[".ts", ".tsx"], ".d.ts"),
        "jsx" => (stem, &[".tsx", ".ts"], ".d.ts"),
        "mjs" => (stem, &[".mts"], ".d.mts"),
        "cjs" => (stem, &[".cts"], ".d.cts"),
        _ => return None,
    })
}

/// Whether a file was found, and by all loaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    No,
    /// Some order of extensions has no hit, or only a declaration is there: that loader
    /// goes on to the directory of the same name.
    Partly,
    Yes,
}

impl Js<'_> {
    /// The file or directory at `path`. Whether something was found.
    pub(super) fn probe(&self, path: &str, class: Class, out: &mut Resolution) -> bool {
        let before = out.targets.len();
        let found = if path.is_empty() { Found::No } else { self.probe_file(path, class, out) };
        self.settle(before, out);
        found == Found::Yes || self.probe_directory(path, class, out) || found == Found::Partly
    }

    /// The file at `path`, by its exact name or with an extension.
    pub(super) fn probe_file(&self, file: &str, class: Class, out: &mut Resolution) -> Found {
        let (parent, base) = (path::dirname(file), path::basename(file));
        let dir = self.view.dir(parent);
        let is_file = |name: &str| dir.kind(name) == Some(Kind::File);
        let exact = dir.kind(base);
        let mut found = Found::No;
        if exact == Some(Kind::File) {
            self.hit(file, out);
            found = Found::Yes;
        } else if exact.is_none() {
            out.absent.push(file.to_owned());
        }
        if let Some((stem, sources, declaration)) = substitutions(base) {
            for extension in sources {
                let name = join(parent, &[stem, extension]);
                if is_file(path::basename(&name)) {
                    self.hit(&name, out);
                    found = Found::Yes;
                    break;
                }
                out.absent.push(name);
            }
            let declaration = join(parent, &[stem, declaration]);
            if (found == Found::No || class == Class::Types) && is_file(path::basename(&declaration)) {
                self.hit(&declaration, out);
                found = found.max(if class == Class::Types { Found::Yes } else { Found::Partly });
            }
        }
        if found == Found::Yes {
            found
        } else {
            found.max(self.probe_extensions(parent, &dir, base, class, out))
        }
    }

    /// `parent/base` with an extension.
    fn probe_extensions(
        &self,
        parent: &str,
        dir: &Dir,
        base: &str,
        class: Class,
        out: &mut Resolution,
    ) -> Found {
        let extensions = &self.extensions;
        let present = extensions.present(dir, base);
        let (mut hits, mut passed, mut found) = (0u64, 0u64, Found::Yes);
        for order in extensions.orders(class) {
            let mut hit = false;
            for at in order {
                let bit = 1 << at;
                if present & bit != 0 {
                    hits |= bit;
                    hit = true;
                    break;
                }
                passed |= bit;
            }
            if !hit {
                found = Found::Partly;
            }
        }
        if hits == 0 {
            hits =
                extensions.declarations.iter().map(|at| 1 << at).find(|bit| present & bit != 0).unwrap_or(0);
        }
        out.absent.reserve((passed & !hits).count_ones() as usize);
        for (at, extension) in extensions.table.iter().enumerate().take(64) {
            if hits & (1 << at) != 0 {
                self.hit(&join(parent, &[base, extension]), out);
            } else if passed & (1 << at) != 0 {
                out.absent.push(join(parent, &[base, extension]));
            }
        }
        if hits == 0 { Found::No } else { found }
    }

    /// The directory `dir`: what its manifest names as entry, else its index.
    pub(super) fn probe_directory(&self, dir: &str, class: Class, out: &mut Resolution) -> bool {
        let kind = self.view.kind(dir);
        if kind == Some(Kind::File) {
            return false;
        }
        let manifest = below(dir, "package.json");
        if kind == Some(Kind::Dir) && self.view.is_file(&manifest) {
            let package = self.package(dir);
            if self.enter(&package, "", class, out) {
                return true;
            }
        } else {
            out.absent.push(manifest);
        }
        let before = out.targets.len();
        let found = self.probe_index(dir, class, out);
        self.settle(before, out);
        found
    }

    /// The index file of `dir`.
    pub(super) fn probe_index(&self, dir: &str, class: Class, out: &mut Resolution) -> bool {
        self.probe_extensions(dir, &self.view.dir(dir), "index", class, out) != Found::No
    }
}
