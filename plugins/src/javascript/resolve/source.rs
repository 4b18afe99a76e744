//! From built output to the sources it is made of, whether or not it has been built.
//!
//! In order: the `outDir` and `rootDir` of the package's `tsconfig` files, the customary
//! layouts (`dist/x.js` from `src/x.ts`), and, when neither leads to a file of the
//! inventory, every source of the package together with a listing of its directory.

use std::sync::Arc;

use owed_engine::path;
use owed_engine::resolve::{Listing, Resolution, Target};

use super::Js;
use super::package::below;
use super::workspace::is_data;

/// Names of directories that hold output.
const OUTPUT_DIRS: &[&str] = &[
    "_build",
    "_cjs",
    "_esm",
    "build",
    "built",
    "bundle",
    "bundles",
    "cjs",
    "commonjs",
    "compiled",
    "declarations",
    "dist",
    "dist-cjs",
    "dist-es",
    "dist-esm",
    "dist-node",
    "dist-src",
    "dist-types",
    "dts",
    "es",
    "es2015",
    "es6",
    "esm",
    "lib",
    "lib-cjs",
    "lib-es",
    "lib-esm",
    "modern",
    "module",
    "modules",
    "out",
    "output",
    "target",
    "types",
    "typings",
    "umd",
];

/// Endings of output, the longest first.
const OUTPUT_ENDINGS: &[&str] =
    &[".d.mts", ".d.cts", ".d.ts", ".min.js", ".mjs", ".cjs", ".jsx", ".mts", ".cts", ".tsx", ".ts", ".js"];

/// What a build may put before the ending: `index.esm.js`, `index.prod.js`.
const FORMATS: &[&str] = &[
    "browser",
    "bundler",
    "cjs",
    "common",
    "development",
    "dev",
    "es",
    "esm",
    "global",
    "legacy",
    "min",
    "modern",
    "module",
    "node",
    "prod",
    "production",
    "umd",
];

const SOURCE_EXTENSIONS: &[&str] =
    &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte", "astro"];

/// What a bundle may hold besides.
const ASSET_EXTENSIONS: &[&str] =
    &["json", "css", "scss", "sass", "less", "html", "graphql", "gql", "svg", "wasm"];

/// Where sources customarily are.
const SOURCE_DIRS: &[&str] = &["src", "source", "lib", "app", ""];

const TEST_DIRS: &[&str] =
    &["__tests__", "__test__", "test", "tests", "e2e", "__e2e__", "spec", "specs", "cypress"];

/// Whether `file` is written by people: by its extension, and no declaration.
pub(super) fn is_source(file: &str) -> bool {
    SOURCE_EXTENSIONS.contains(&path::extension(file))
        && ![".d.ts", ".d.mts", ".d.cts"].iter().any(|d| file.ends_with(d))
}

/// Whether `file` lies in a directory with a name of output.
pub(super) fn is_output(file: &str) -> bool {
    path::dirname(file).split('/').any(|segment| OUTPUT_DIRS.binary_search(&segment).is_ok())
}

impl Js<'_> {
    /// [`Js::built`] for a path that no manifest names: only when it lies in a directory of
    /// output of its package.
    pub(super) fn output(&self, file: &str, exists: bool, out: &mut Resolution) -> bool {
        is_output(file)
            && self.owner(file).is_some_and(|owner| is_output(path::strip(file, owner).unwrap_or(file)))
            && self.built(file, exists, out)
    }

    /// Adds the sources of `file`, which is output: not there, or (`exists`) ignored.
    /// Whether there are any. Where only sources would be and the file is not there, it
    /// is simply missing.
    pub(super) fn built(&self, file: &str, exists: bool, out: &mut Resolution) -> bool {
        if self.laid_out(file, out) {
            return true;
        }
        let Some(owner) = self.owner(file) else { return false };
        let rest = path::strip(file, owner).unwrap_or(file);
        let among_sources = path::dirname(file) != owner && !self.view.below(path::dirname(file)).is_empty();
        (exists || is_output(rest) || !among_sources) && self.whole_package(owner, out)
    }

    /// Adds the source that the layout of the package has for `file`.
    pub(super) fn laid_out(&self, file: &str, out: &mut Resolution) -> bool {
        let known = self.laid_out.get(file, || {
            let mut known = Resolution::default();
            if let Some(owner) = self.owner(file) {
                let rest = path::strip(file, owner).unwrap_or(file);
                let _ =
                    self.layouts(owner, file, rest).iter().any(|place| self.take_source(place, &mut known));
            }
            Arc::new(known)
        });
        // A source that is taken is at least one target, and nothing else is said of it.
        out.targets.extend(known.targets.iter().cloned());
        out.unknown = known.unknown.clone().or(out.unknown.take());
        !known.targets.is_empty()
    }

    /// The directory of the package that `file` belongs to. A manifest without a name is
    /// part of the output (`dist/cjs/package.json`).
    fn owner<'f>(&self, file: &'f str) -> Option<&'f str> {
        let mut named = std::iter::once(file).chain(path::ancestors(file)).filter(|dir| {
            let manifest = below(dir, "package.json");
            self.view.is_file(&manifest) && self.view.in_inventory(&manifest)
        });
        let nearest = named.next()?;
        let has_name = |dir: &&str| self.package(dir).string("name").is_some();
        std::iter::once(nearest).chain(named).find(has_name).or(Some(nearest))
    }

    /// Where the source of `file` may be: paths without an ending, or whole.
    fn layouts(&self, owner: &str, file: &str, rest: &str) -> Vec<String> {
        let mut places = Vec::new();
        for (name, _) in self.view.dir(owner).entries() {
            if !(name.starts_with("tsconfig") && name.ends_with(".json")) {
                continue;
            }
            let config = self.tsconfig(&below(owner, name));
            for dir in &config.out_dirs {
                if let Some(inner) = path::strip(file, dir).filter(|inner| !inner.is_empty()) {
                    places.extend(config.root_dir.iter().map(|root| below(root, inner)));
                    places.push(below(owner, inner));
                    places.push(below(owner, &below("src", inner)));
                }
            }
        }
        let mut inner = rest;
        while let Some((first, deeper)) = inner.split_once('/') {
            if OUTPUT_DIRS.binary_search(&first).is_err() {
                break;
            }
            inner = deeper;
            places.extend(SOURCE_DIRS.iter().map(|dir| below(owner, &below(dir, inner))));
        }
        // Formats may lie side by side further down: `dist/query/cjs/index.js`.
        if inner != rest && inner.contains('/') {
            let kept = inner.split('/').filter(|segment| !FORMATS.contains(segment));
            let plain = kept.collect::<Vec<_>>().join("/");
            if plain != inner {
                places.extend(SOURCE_DIRS.iter().map(|dir| below(owner, &below(dir, &plain))));
            }
        }
        // A bundle is called like its package, and made of the index.
        let bundle = path::basename(inner).split('.').next().unwrap_or(inner);
        let name = self.package(owner).string("name").map(path::basename).unwrap_or_default().to_owned();
        if inner != rest && bundle == name {
            places
                .extend(["src", "source", "lib", ""].iter().map(|dir| below(owner, &below(dir, "index.js"))));
        }
        // A compiler that was run from further up repeats the path to the package.
        if let Some(at) = inner.rfind("src/") {
            places.push(below(owner, &inner[at..]));
        }
        if inner == rest {
            places.extend(SOURCE_DIRS.iter().map(|dir| below(owner, &below(dir, inner))));
        }
        places
    }

    fn take_source(&self, place: &str, out: &mut Resolution) -> bool {
        let ending = OUTPUT_ENDINGS.iter().find_map(|ending| place.strip_suffix(ending));
        let stem = ending.unwrap_or(place);
        let plain =
            stem.rsplit_once('.').filter(|(_, format)| FORMATS.contains(format)).map(|(stem, _)| stem);
        let mut found = false;
        if ending.is_none() && self.view.in_inventory(place) {
            self.hit(place, out);
            return true;
        }
        for stem in [Some(stem), plain].into_iter().flatten() {
            for stem in [stem.to_owned(), below(stem, "index")] {
                let dir = self.view.dir(path::dirname(&stem));
                let present: Vec<&str> = dir.extensions_of(path::basename(&stem)).map(|(it, _)| it).collect();
                if present.is_empty() {
                    continue;
                }
                for extension in SOURCE_EXTENSIONS {
                    if present.iter().any(|it| it.strip_prefix('.') == Some(extension)) {
                        let file = format!("{stem}.{extension}");
                        if self.view.in_inventory(&file) {
                            self.hit(&file, out);
                            found = true;
                        }
                    }
                }
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// Adds everything that the output of a package may be made of.
    fn whole_package(&self, dir: &str, out: &mut Resolution) -> bool {
        if self.package_sources(dir).is_empty() {
            return false;
        }
        out.targets.push(Target::Sources(dir.to_owned()));
        true
    }

    /// The files that the output of a package may be made of, sorted.
    pub(super) fn package_sources(&self, dir: &str) -> Arc<Vec<String>> {
        self.sources.get(dir, || Arc::new(self.sources_of(dir)))
    }

    /// Those files, and their listing: another one may come.
    pub(super) fn whole(&self, dir: &str) -> Resolution {
        let listing = Target::Listing(Listing { dir: dir.to_owned(), glob: "**".to_owned() });
        let files = self.package_sources(dir);
        let targets = std::iter::once(listing).chain(files.iter().cloned().map(Target::File)).collect();
        self.with_styles(Resolution { targets, ..Resolution::default() })
    }

    fn sources_of(&self, dir: &str) -> Vec<String> {
        let own = |file: &&String| {
            let rest = path::strip(file, dir).unwrap_or(file);
            let mut inner = path::ancestors(rest).filter(|at| !at.is_empty());
            let extension = path::extension(rest);
            (SOURCE_EXTENSIONS.contains(&extension) || ASSET_EXTENSIONS.contains(&extension))
                && !matches!(path::basename(rest), "package.json" | "tsconfig.json")
                && !is_test(rest)
                && !rest.split('/').any(|segment| segment.starts_with('.'))
                && !is_data(rest)
                && !inner.any(|at| self.workspace().is_package(&below(dir, at)))
        };
        self.view.below(dir).iter().filter(own).cloned().collect()
    }
}

fn is_test(file: &str) -> bool {
    let name = path::basename(file);
    [".test.", ".spec.", ".bench.", ".config."].iter().any(|part| name.contains(part))
        || path::dirname(file).split('/').any(|segment| TEST_DIRS.contains(&segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_by_its_directory() {
        assert!(OUTPUT_DIRS.is_sorted());
        assert!(is_output("a/dist/x.js") && is_output("lib/x.js"));
        assert!(!is_output("dist.js") && !is_output("src/distance/x.js"));
    }
}
