//! The program of types that a `tsconfig.json` names: its files, the ambient packages, and
//! everything that decides which these are.
//!
//! A type checker reads the whole program, whatever test is asked for, so each of its files is
//! an input of every type test. More files are better than fewer: JavaScript counts whether or
//! not `allowJs` is set. What cannot be read (a configuration in a package that is not
//! installed, JSON that is broken) is said, and nothing is assumed in its place.

use std::collections::BTreeSet;

use owed_engine::path::{self, below};
use owed_engine::resolve::{Listing, Target};
use owed_engine::runner::{Load, SharedRole};
use owed_engine::tree::{Kind, Tree};

use super::config::value::{Unknown, Value};
use super::config::{json, relative, root_of};
use super::glob::{self, Globs, Style};
use super::manifest::{Packages, chain};
use super::shared::{Inputs, package_of};

/// Configurations of one chain, with those it references; more are a loop or an attack.
const MAX_CONFIGS: usize = 256;
/// Directories that are looked into for files that git does not know.
const MAX_DIRS: usize = 20_000;
/// What a wildcard at the end of a pattern takes in, with or without `allowJs`.
const EXTENSIONS: &[&str] = &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue"];
/// Never looked into by a wildcard.
const PACKAGE_DIRS: &[&str] = &["node_modules", "bower_components", "jspm_packages"];
const LOCKS: &[&str] =
    &["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];

/// A program of types.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Its configuration file.
    pub(super) config: String,
    /// Conditions of packages that it sets.
    pub(super) conditions: Vec<String>,
    /// Its files, what lists them, and what else it is made of.
    pub(super) inputs: Inputs,
    /// What is not known about it.
    pub(super) unknown: Vec<Unknown>,
}

/// Options as merged so far; each list with the directory of the file that wrote it.
#[derive(Clone, Debug, Default)]
struct Raw {
    files: Option<List>,
    include: Option<List>,
    exclude: Option<List>,
    types: Option<List>,
    type_roots: Option<List>,
    conditions: Option<List>,
    out: Option<List>,
    declarations: Option<List>,
    references: Vec<String>,
}

#[derive(Clone, Debug)]
struct List {
    dir: String,
    items: Vec<String>,
}

/// The program of the configuration that a checker finds which is started in `dir`: `named`,
/// or the nearest `tsconfig.json` above.
pub(super) fn program(tree: &dyn Tree, packages: &Packages, dir: &str, named: Option<&str>) -> Program {
    let mut reading =
        Reading { tree, packages, found: Program::default(), seen: BTreeSet::new(), dirs: 0, open: false };
    let config = match named {
        Some(named) if tree.is_dir(named) => Some(beside(named, "tsconfig.json")),
        Some(named) => Some(named.to_owned()),
        None => {
            let mut candidates = chain(dir).map(|d| beside(d, "tsconfig.json"));
            candidates.find(|candidate| {
                // One that appears nearer is another program.
                reading.manifest(candidate);
                tree.is_file(candidate)
            })
        }
    };
    let Some(config) = config.filter(|config| tree.is_file(config)) else {
        reading.unknown("the `tsconfig.json` of the type checker, which is not there,", dir);
        return reading.found;
    };
    let raw = reading.read(&config, path::dirname(&config));
    reading.files(&raw, path::dirname(&config));
    reading.types(&raw, path::dirname(&config));
    reading.references(&raw);
    reading.found.conditions = raw.conditions.map(|list| list.items).unwrap_or_default();
    reading.found.config = config;
    reading.found.unknown.sort();
    reading.found.unknown.dedup();
    reading.found
}

struct Reading<'a> {
    tree: &'a dyn Tree,
    packages: &'a Packages,
    found: Program,
    seen: BTreeSet<String>,
    dirs: usize,
    /// Something that it extends is in a package that is not there.
    open: bool,
}

impl Reading<'_> {
    fn unknown(&mut self, reason: &str, path: &str) {
        self.found.unknown.push(Unknown { reason: reason.to_owned(), path: path.to_owned(), line: 0 });
    }

    fn manifest(&mut self, path: &str) {
        self.found.inputs.add(Target::Manifest(path.to_owned()), SharedRole::Manifest, Load::Content);
    }

    fn program_file(&mut self, path: &str) {
        self.found.inputs.file(path, SharedRole::Program);
    }

    /// The options of `file` and of all it extends, for a program in `own`.
    fn read(&mut self, file: &str, own: &str) -> Raw {
        let mut raw = Raw::default();
        if !self.seen.insert(file.to_owned()) {
            return raw;
        }
        if self.seen.len() > MAX_CONFIGS {
            self.unknown("a `tsconfig.json` that extends too many others", file);
            return raw;
        }
        self.manifest(file);
        let Some(text) = self.tree.text(file) else {
            self.unknown("a `tsconfig.json` that cannot be read", file);
            return raw;
        };
        let value = json::parse(&text, file);
        if !matches!(value, Value::Object(_)) {
            self.found.unknown.push(value.unknown("the `tsconfig.json` of the type checker"));
            return raw;
        }
        let dir = path::dirname(file);
        for base in self.strings(&value.get("extends"), file) {
            if let Some(base) = self.extended(&base, dir, file) {
                raw.merge(self.read(&base, own));
            }
        }
        let options = value.get("compilerOptions");
        let mut list = |value: Value| {
            let absent = matches!(value, Value::Undefined | Value::Null);
            let items = self.strings(&value, file);
            (!absent).then(|| List { dir: dir.to_owned(), items })
        };
        raw.merge(Raw {
            files: list(value.get("files")),
            include: list(value.get("include")),
            exclude: list(value.get("exclude")),
            types: list(options.get("types")),
            type_roots: list(options.get("typeRoots")),
            conditions: list(options.get("customConditions")),
            out: list(options.get("outDir")),
            declarations: list(options.get("declarationDir")),
            references: Vec::new(),
        });
        if let Value::Array(references) = value.get("references") {
            for reference in &references {
                match reference.get("path") {
                    Value::String(path) => match self.at(dir, &path, own) {
                        Some(path) => raw.references.push(path),
                        None => self.unknown("a reference that leaves the repository", file),
                    },
                    other => self.found.unknown.push(other.unknown("a reference")),
                }
            }
        }
        raw
    }

    fn strings(&mut self, value: &Value, file: &str) -> Vec<String> {
        let strings = value.strings();
        for mut unknown in strings.unknown {
            if unknown.path.is_empty() {
                unknown.path = file.to_owned();
            }
            self.found.unknown.push(unknown);
        }
        strings.possible
    }

    /// A path of an option, written in `dir`, for a program in `own`.
    fn at(&self, dir: &str, text: &str, own: &str) -> Option<String> {
        if let Some(rest) = text.strip_prefix("${configDir}") {
            return path::join(own, rest.trim_start_matches('/'));
        }
        if text.starts_with('/') {
            return relative(&root_of(self.tree), text);
        }
        path::join(dir, text)
    }

    /// The file that `extends` means.
    fn extended(&mut self, base: &str, dir: &str, file: &str) -> Option<String> {
        let here = base.starts_with('.') || base.starts_with('/');
        let mut places: Vec<String> = Vec::new();
        if here {
            places.extend(self.at(dir, base, dir));
        } else {
            let package = package_of(base);
            let rest = base[package.len()..].trim_start_matches('/');
            self.found.inputs.package(package, SharedRole::Toolchain);
            let installed = chain(dir).map(|d| beside(d, &format!("node_modules/{package}")));
            let member = self.packages.dir_of(package).map(str::to_owned);
            places.extend(member.into_iter().chain(installed).map(|place| beside(&place, rest)));
        }
        for place in places {
            for candidate in [place.clone(), format!("{place}.json"), beside(&place, "tsconfig.json")] {
                if self.tree.is_file(&candidate) {
                    return Some(self.tree.real(&candidate).unwrap_or(candidate));
                }
                if here {
                    self.manifest(&candidate);
                }
            }
        }
        if here {
            self.unknown(&format!("`{base}`, which the `tsconfig.json` of the type checker extends,"), file);
        } else {
            self.open = true;
        }
        None
    }

    /// The files, and what lists them.
    fn files(&mut self, raw: &Raw, own: &str) {
        for list in raw.files.iter() {
            for text in &list.items {
                match self.at(&list.dir, text, own) {
                    Some(file) => self.program_file(&file),
                    None => self.unknown("a file of the program outside of the repository", text),
                }
            }
        }
        let everything = List { dir: own.to_owned(), items: vec!["**/*".to_owned()] };
        let include = match (&raw.include, &raw.files) {
            (Some(include), _) => include.clone(),
            (None, Some(_)) => return,
            (None, None) => {
                if self.open {
                    // It may say which files there are.
                    self.unknown("the package that the `tsconfig.json` of the type checker extends", own);
                }
                everything
            }
        };
        let mut excluded = Vec::new();
        let out = [&raw.out, &raw.declarations];
        let default = out.into_iter().flatten().filter(|_| raw.exclude.is_none());
        for list in raw.exclude.iter().chain(default) {
            for text in &list.items {
                let Some(pattern) = self.at(&escaped(&list.dir), &escaped_pattern(text), &escaped(own))
                else {
                    continue;
                };
                excluded.push(format!("{pattern}/**"));
                excluded.push(pattern);
            }
        }
        let excluded = Globs::new(&excluded, Style { dot: true });
        for text in &include.items {
            let text = text.trim_end_matches('/');
            let last = text.rsplit('/').next().unwrap_or(text);
            let names_files = last.contains(['.', '*', '?']) && !matches!(last, "." | "..");
            let text = match names_files && !last.starts_with("${") {
                true => text.to_owned(),
                false => format!("{text}/**/*"),
            };
            let Some(pattern) = self.at(&escaped(&include.dir), &escaped_pattern(&text), &escaped(own))
            else {
                self.unknown(&format!("`{text}`, files of the type checker outside of the repository,"), own);
                continue;
            };
            self.included(&pattern, &excluded);
        }
    }

    /// The files that one pattern includes.
    fn included(&mut self, pattern: &str, excluded: &Globs) {
        let base = glob::base(pattern).to_owned();
        let rest = pattern[base.len()..].trim_start_matches('/').to_owned();
        if !rest.contains(['*', '?']) {
            let file = unescaped(pattern);
            self.program_file(&file);
            return;
        }
        let any = rest.ends_with('*');
        let globs = Globs::new([pattern], Style { dot: false });
        let takes = |file: &str| {
            (!any || EXTENSIONS.contains(&path::extension(file)))
                && !file[base.len()..].split('/').any(|segment| PACKAGE_DIRS.contains(&segment))
                && globs.is_match(file)
                && !excluded.is_match(file)
        };
        let files = self.tree.files();
        for file in below(files, &base).iter().filter(|file| takes(file)) {
            self.program_file(file);
        }
        // Files that git does not know are read all the same: generated declarations.
        let mut open = vec![base.clone()];
        while let Some(dir) = open.pop() {
            self.dirs += 1;
            if self.dirs > MAX_DIRS {
                self.unknown("a program of types in too many directories", &base);
                return;
            }
            let known = !below(files, &dir).is_empty();
            if !known && self.tree.real(&dir).is_some_and(|real| real != dir) {
                // A link: what lies behind it counts as a whole.
                self.found.inputs.content(&dir, SharedRole::Program);
                continue;
            }
            for (name, kind) in self.tree.list(&dir) {
                let at = beside(&dir, &name);
                match kind {
                    Kind::Dir if PACKAGE_DIRS.contains(&name.as_str()) || name.starts_with('.') => {}
                    Kind::Dir if excluded.is_match(&at) => {}
                    Kind::Dir => open.push(at),
                    _ if takes(&at) && files.binary_search(&at).is_err() => self.program_file(&at),
                    _ => {}
                }
            }
        }
        let glob = match rest.strip_suffix('*') {
            Some(rest) if any => format!("{rest}*.{{{}}}", EXTENSIONS.join(",")),
            _ => rest,
        };
        let listing = Listing { dir: unescaped(&base), glob };
        self.found.inputs.add(Target::Listing(listing), SharedRole::Program, Load::Content);
    }

    /// The packages whose declarations are there without an import.
    fn types(&mut self, raw: &Raw, own: &str) {
        let known = |this: &Self, name: &str| {
            this.packages.declared(own, name).is_some()
                || chain(own).any(|d| this.tree.is_dir(&beside(d, &format!("node_modules/{name}"))))
        };
        for text in raw.types.iter().flat_map(|list| &list.items).filter(|text| *text != "*") {
            if text.starts_with(['.', '/']) {
                let dir = raw.types.as_ref().map_or(own, |list| &list.dir);
                let place = self.at(dir, text, own);
                place.into_iter().for_each(|place| self.declarations_at(&place));
                continue;
            }
            let package = package_of(text);
            let types = format!("@types/{}", package.trim_start_matches('@').replace('/', "__"));
            let named = known(self, package);
            if named {
                self.found.inputs.package(package, SharedRole::Toolchain);
            }
            if !named || known(self, &types) {
                self.found.inputs.package(&types, SharedRole::Toolchain);
            }
        }
        let mut in_packages = raw.type_roots.is_none();
        for list in raw.type_roots.iter() {
            for text in &list.items {
                match self.at(&list.dir, text, own) {
                    Some(dir) if dir.split('/').any(|segment| segment == "node_modules") => {
                        in_packages = true
                    }
                    Some(dir) => self.declarations_at(&dir),
                    None => self.unknown("a folder of declarations outside of the repository", text),
                }
            }
        }
        let named = raw.types.as_ref().is_some_and(|list| !list.items.iter().any(|text| text == "*"));
        if named || !in_packages {
            return;
        }
        // Whatever is installed below `@types`: the lock file says what that is.
        let dirs: Vec<String> = chain(own).map(str::to_owned).collect();
        for dir in dirs {
            for lock in LOCKS {
                let lock = beside(&dir, lock);
                if self.tree.is_file(&lock) {
                    self.found.inputs.content(&lock, SharedRole::Toolchain);
                }
            }
            for (name, kind) in self.tree.list(&beside(&dir, "node_modules/@types")) {
                if kind == Kind::Dir {
                    self.found.inputs.package(&format!("@types/{name}"), SharedRole::Toolchain);
                }
            }
        }
    }

    /// A file or folder of declarations, with everything in it.
    fn declarations_at(&mut self, place: &str) {
        if self.tree.is_file(place) {
            self.program_file(place);
            return;
        }
        for extension in ["d.ts", "ts"] {
            self.program_file(&format!("{place}.{extension}"));
        }
        self.found.inputs.content(place, SharedRole::Program);
        let files: Vec<String> = below(self.tree.files(), place).to_vec();
        for file in files.iter().filter(|file| EXTENSIONS.contains(&path::extension(file))) {
            self.program_file(file);
        }
    }

    /// Programs that it references: their output is read in the place of their sources.
    fn references(&mut self, raw: &Raw) {
        let mut open = raw.references.clone();
        while let Some(reference) = open.pop() {
            let file =
                if reference.ends_with(".json") { reference } else { beside(&reference, "tsconfig.json") };
            if self.seen.contains(&file) {
                continue;
            }
            let own = path::dirname(&file).to_owned();
            let other = self.read(&file, &own);
            let out: Vec<&List> = [&other.out, &other.declarations].into_iter().flatten().collect();
            let mut places: Vec<String> = Vec::new();
            for list in &out {
                places.extend(list.items.iter().filter_map(|text| self.at(&list.dir, text, &own)));
            }
            // Without a folder of its own, output lies beside the sources.
            if places.is_empty() {
                places.push(own.clone());
            }
            for place in places {
                self.found.inputs.content(&place, SharedRole::Program);
            }
            open.extend(other.references);
        }
    }
}

impl Raw {
    /// Takes every option that `over` sets.
    fn merge(&mut self, over: Self) {
        self.files = over.files.or(self.files.take());
        self.include = over.include.or(self.include.take());
        self.exclude = over.exclude.or(self.exclude.take());
        self.types = over.types.or(self.types.take());
        self.type_roots = over.type_roots.or(self.type_roots.take());
        self.conditions = over.conditions.or(self.conditions.take());
        self.out = over.out.or(self.out.take());
        self.declarations = over.declarations.or(self.declarations.take());
        self.references = over.references;
    }
}

fn beside(dir: &str, name: &str) -> String {
    path::join(dir, name).unwrap_or_else(|| name.to_owned())
}

/// A directory as part of a pattern.
fn escaped(dir: &str) -> String {
    glob::escape(dir)
}

/// A pattern of TypeScript, in which only `*` and `?` are special.
fn escaped_pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (head, rest) = match text.strip_prefix("${configDir}") {
        Some(rest) => ("${configDir}", rest),
        None => ("", text),
    };
    out.push_str(head);
    for c in rest.chars() {
        if matches!(c, '[' | ']' | '{' | '}' | '(' | ')' | '!' | '+' | '@' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn unescaped(text: &str) -> String {
    text.replace('\\', "")
}
