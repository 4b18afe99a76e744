//! Gives meaning to JavaScript and TypeScript specifiers: relative paths, aliases,
//! `tsconfig` paths, workspace packages, `#imports`, globs and mocks.
//!
//! The algorithm is Node.js's, as loaders of test runners widen it. It is written here
//! rather than taken from `oxc_resolver` for three reasons: that crate wants a file system
//! that lives forever, where a [`Tree`] is borrowed; it answers with the one file of one
//! loader, where selection needs every file that some loader could take and every name
//! that was passed over; and it stops at a manifest that is broken or at output that is
//! not built. `oxc_resolver` is the oracle of the tests instead.
//!
//! What it refuses to do: for selection it does not look into third-party packages (their
//! bytes are the lock file's business; [`installed`] is for opacity), it runs nothing, and never reports a first-party specifier
//! that leads nowhere as if it were nothing.

mod alias;
mod bare;
mod cache;
mod enter;
mod glob;
mod installed;
mod mock;
mod package;
mod probe;
mod scope;
mod source;
mod specifier;
mod styles;
mod tsconfig;
mod view;
mod workspace;

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use owed_engine::facts::{Import, ImportKind, LoadMode};
use owed_engine::path;
use owed_engine::resolve::{Installed, Resolution, ResolveOptions, Resolver, Target, UnknownImport};
use owed_engine::tree::Tree;

use super::manifest::jsonc;
use alias::{Rewrite, Rewritten};
use cache::Memo;
use package::Package;
use probe::{Extensions, Found};
use scope::Scope;
use specifier::Specifier;
use tsconfig::TsConfig;
use view::View;
use workspace::Workspace;

/// A resolver over `tree` under `options`.
pub fn resolver<'a>(tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a> {
    resolvers(tree, std::slice::from_ref(options)).remove(0)
}

/// A resolver for each of `options`, with one memory of the tree, and one of answers for those
/// whose options differ in nothing that most specifiers are decided by.
pub fn resolvers<'a>(tree: &'a dyn Tree, options: &[ResolveOptions]) -> Vec<Box<dyn Resolver + 'a>> {
    let ground = Arc::new(Ground::new(tree));
    let mut common: Vec<(ResolveOptions, Arc<Common>)> = Vec::new();
    let several = options.len() > 1;
    let one = |options: &ResolveOptions| {
        let usual = common_of(options);
        let number = common.iter().position(|(known, _)| *known == usual).unwrap_or_else(|| {
            common.push((usual, Arc::default()));
            common.len() - 1
        });
        let js = Js {
            ground: Arc::clone(&ground),
            extensions: Extensions::new(&options.extensions),
            aliases: alias::compile(&options.aliases),
            options: options.clone(),
            group: u32::try_from(number).ok().filter(|_| several),
            common: Arc::clone(&common[number].1),
            answers: Default::default(),
            touched: Memo::default(),
        };
        Box::new(js) as Box<dyn Resolver + 'a>
    };
    options.iter().map(one).collect()
}

/// The options without those that matter to few specifiers: where the project is, and what is
/// rewritten before anything else.
fn common_of(options: &ResolveOptions) -> ResolveOptions {
    ResolveOptions {
        root: String::new(),
        roots: Vec::new(),
        aliases: Vec::new(),
        mock_roots: Vec::new(),
        types_erased: false,
        source_roots: Vec::new(),
        ..options.clone()
    }
}

/// Which conditions and extensions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Esm,
    Cjs,
    Types,
}

/// What is a function of the tree alone.
struct Ground<'a> {
    view: View<'a>,
    packages: Memo<Arc<Package>>,
    tsconfigs: Memo<Arc<TsConfig>>,
    /// A configuration with all it references, by its path.
    references: Memo<Arc<Vec<Arc<TsConfig>>>>,
    /// All sources of a package, by its directory.
    sources: Memo<Arc<Vec<String>>>,
    /// What the layout of a package has for a file that is output.
    laid_out: Memo<Arc<Resolution>>,
    workspace: OnceLock<Workspace>,
    mocks: OnceLock<mock::Mocks>,
}

impl<'a> Ground<'a> {
    fn new(tree: &'a dyn Tree) -> Self {
        Self {
            view: View::new(tree),
            packages: Memo::default(),
            tsconfigs: Memo::default(),
            references: Memo::default(),
            sources: Memo::default(),
            laid_out: Memo::default(),
            workspace: OnceLock::new(),
            mocks: OnceLock::new(),
        }
    }
}

/// What is a function of the tree and of [`common_of`] the options.
#[derive(Default)]
struct Common {
    /// By class, then by directory and specifier; `None` where the roots have a say.
    answers: [Memo<Option<Arc<Resolution>>>; 3],
    scopes: Memo<Arc<Scope>>,
}

/// The resolver. All of its memory is a function of the tree and the options.
struct Js<'a> {
    ground: Arc<Ground<'a>>,
    options: ResolveOptions,
    extensions: Extensions,
    aliases: Vec<Rewrite>,
    /// The number of `common`, where others were made with it.
    group: Option<u32>,
    common: Arc<Common>,
    /// By class, then by directory and specifier, where `common` does not say.
    answers: [Memo<Arc<Resolution>>; 3],
    /// Whether some alias applies to a specifier.
    touched: Memo<bool>,
}

impl<'a> Deref for Js<'a> {
    type Target = Ground<'a>;

    fn deref(&self) -> &Ground<'a> {
        &self.ground
    }
}

impl Resolver for Js<'_> {
    fn resolve(&self, from: &str, import: &Import) -> Resolution {
        let class = match (import.kind, import.mode) {
            _ if self.options.checked => Class::Types,
            (ImportKind::TypeOnly, _) => Class::Types,
            (ImportKind::Require, _) | (_, LoadMode::Cjs) => Class::Cjs,
            _ => Class::Esm,
        };
        let dir = path::dirname(from);
        let mut out = match import.kind {
            ImportKind::Glob => self.glob(dir, &import.specifier),
            ImportKind::Computed => self.computed(dir, &import.specifier),
            ImportKind::Script => self.script(dir, &import.specifier, class),
            ImportKind::Mock => self.mock(dir, &import.specifier, class),
            ImportKind::StringRef => match import.specifier.strip_suffix("/jsx-runtime") {
                Some(package) => self.jsx_runtime(dir, package, class),
                None => self.string_reference(dir, &import.specifier, class),
            },
            _ => self.module(dir, &import.specifier, class),
        };
        if class == Class::Types && !self.options.checked {
            // What does not resolve is erased all the same.
            out.unknown = None;
        }
        if self.options.checked && out.unknown.as_ref().is_some_and(|u| *u != UnknownImport::Unresolved) {
            // Its types are those of a declaration in the program, or there are none.
            out.unknown = None;
        }
        self.with_styles(out)
    }

    fn sources(&self, dir: &str) -> Resolution {
        self.whole(dir)
    }

    fn group(&self) -> Option<u32> {
        self.group
    }

    fn decides(&self, import: &Import) -> bool {
        !self.aliases.is_empty()
            && (self.touches(&import.specifier)
                || matches!(import.kind, ImportKind::Glob | ImportKind::Computed)
                // Aliases of its package are asked, too.
                || (import.kind == ImportKind::StringRef && import.specifier.ends_with("/jsx-runtime")))
    }

    fn installed(&self, from: &str, import: &Import) -> Installed {
        self.package_of(from, import)
    }

    /// The nearest `package.json` (it says whether a file is a module) and the
    /// `tsconfig.json` that owns the directory (it says how types and JSX are erased).
    fn surroundings(&self, from: &str) -> Resolution {
        let dir = path::dirname(from);
        let mut out = Resolution::default();
        let nearest = self.nearest_package(dir, &mut out.absent);
        out.consulted.extend(nearest.map(|at| package::below(&at, "package.json")));
        self.owning_tsconfig(dir, &mut out);
        out
    }
}

impl<'a> Js<'a> {
    /// What `text`, written in a file of `dir`, means as a module.
    fn module(&self, dir: &str, text: &str, class: Class) -> Resolution {
        let touched = !self.aliases.is_empty() && self.touches(text);
        if !touched && let Specifier::Relative(relative) = specifier::parse(text) {
            // Nearly as fast to find again as to remember, and it would fill the memory.
            let mut out = Resolution::default();
            self.relative(dir, relative, class, &mut out);
            return finish(out);
        }
        let key = format!("{dir}\0{text}");
        let common = || {
            self.common.answers[class as usize].get(&key, || {
                let mut out = Resolution::default();
                self.plain(dir, text, class, &mut out);
                (!out.own).then(|| Arc::new(finish(out)))
            })
        };
        let known = if touched { None } else { common() };
        let answer = known.unwrap_or_else(|| {
            self.answers[class as usize].get(&key, || {
                let mut out = Resolution { own: true, ..Resolution::default() };
                if !touched || !self.aliased(dir, text, class, &mut out) {
                    self.plain(dir, text, class, &mut out);
                }
                Arc::new(finish(out))
            })
        });
        Resolution::clone(&answer)
    }

    /// Whether some alias of the runner applies to `text`.
    fn touches(&self, text: &str) -> bool {
        self.touched.get(text, || {
            let applies = |text: &str| self.aliases.iter().any(|alias| alias.apply(text) != Rewritten::No);
            applies(text) || specifier::without_query(text).is_some_and(applies)
        })
    }

    /// Follows the runner's aliases. Whether one of them led to something.
    fn aliased(&self, dir: &str, text: &str, class: Class, out: &mut Resolution) -> bool {
        let mut matched = false;
        for alias in &self.aliases {
            let mut rewritten = alias.apply(text);
            if rewritten == Rewritten::No
                && let Some(bare) = specifier::without_query(text)
            {
                rewritten = alias.apply(bare);
            }
            let (specifiers, certain) = match rewritten {
                Rewritten::No => continue,
                Rewritten::To(specifiers) => (specifiers, true),
                Rewritten::Unknown(specifier) => (specifier.into_iter().collect(), false),
            };
            for specifier in specifiers {
                let mut attempt = Resolution::default();
                match specifier.strip_prefix('/') {
                    // `/` is the project's root here, whatever the runner's own root is.
                    Some(_) => self.rooted("", &specifier, class, &mut attempt),
                    None => self.plain(dir, &specifier, class, &mut attempt),
                };
                let found = attempt.unknown.is_none();
                attempt.unknown = None;
                merge(out, attempt);
                if found && certain {
                    return true;
                }
            }
            matched |= certain;
        }
        if matched {
            // The runner would fail here. It may also be that we read its pattern wrongly.
            self.plain(dir, text, class, out);
            out.unknown = Some(UnknownImport::Unresolved);
        }
        matched
    }

    /// What `text` means without the runner's aliases.
    fn plain(&self, dir: &str, text: &str, class: Class, out: &mut Resolution) {
        match specifier::parse(text) {
            Specifier::Relative(relative) => self.relative(dir, relative, class, out),
            Specifier::Rooted(rooted) => self.rooted_anywhere(rooted, class, out),
            Specifier::Internal(name) => self.internal(dir, name, class, out),
            Specifier::Bare(bare) => self.bare(dir, bare, class, out),
            Specifier::FileUrl(url) => self.rooted("", &percent_decoded(url), class, out),
            Specifier::External(text) => {
                out.targets.push(Target::Package(specifier::external_package(text)));
            }
            Specifier::Runtime => {}
            Specifier::Virtual => out.unknown = Some(UnknownImport::Virtual),
            Specifier::Nothing => out.unknown = Some(UnknownImport::Unresolved),
        }
    }

    /// `./x` or `../x`.
    fn relative(&self, dir: &str, text: &str, class: Class, out: &mut Resolution) {
        for text in spellings(text) {
            let Some(target) = path::join(dir, text) else { continue };
            // A trailing slash or dot asks for the directory.
            let directory = matches!(path::basename(text), "" | "." | "..");
            let found = match node_modules_package(&target) {
                Some(_) => self.locate(&target, class, out),
                None if directory => {
                    self.probe_directory(&target, class, out)
                        || (!target.is_empty() && self.probe_file(&target, class, out) != Found::No)
                }
                None => self.probe(&target, class, out),
            };
            if found || self.below_other_root(dir, &target, class, out) {
                return;
            }
            if self.output(&target, false, out) {
                return;
            }
        }
        out.unknown = Some(UnknownImport::Unresolved);
    }

    /// `/x`: below `root`, below the project, or absolute.
    /// From every root that shares these options; one that is not there is no miss when
    /// another is.
    fn rooted_anywhere(&self, text: &str, class: Class, out: &mut Resolution) {
        let before = out.unknown.take();
        let mut found = false;
        out.own = true;
        for root in self.options.all_roots() {
            self.rooted(root, text, class, out);
            found |= out.unknown.take().is_none();
        }
        out.unknown = if found { before } else { Some(UnknownImport::Unresolved) };
    }

    fn rooted(&self, root: &str, text: &str, class: Class, out: &mut Resolution) {
        for text in spellings(text) {
            let rest = text.trim_start_matches('/');
            let absolute = self.view.tree.root().to_str().map_or("", |root| root.trim_start_matches('/'));
            let candidates = [
                path::join(root, rest),
                path::join("", rest),
                path::strip(rest, absolute)
                    .filter(|_| !absolute.is_empty())
                    .and_then(|rest| path::join("", rest)),
            ];
            let mut tried = Vec::new();
            for candidate in candidates.into_iter().flatten() {
                if tried.contains(&candidate) {
                    continue;
                }
                if self.locate(&candidate, class, out) {
                    return;
                }
                tried.push(candidate);
            }
            if tried.iter().any(|path| self.output(path, false, out)) {
                return;
            }
        }
        out.unknown = Some(UnknownImport::Unresolved);
    }

    /// What is at a project path, which may lead into `node_modules`.
    fn locate(&self, path: &str, class: Class, out: &mut Resolution) -> bool {
        let Some((name, end)) = node_modules_package(path) else { return self.probe(path, class, out) };
        match self.linked(&path[..end]) {
            Some(dir) => self.enter(&self.package(&dir), &path[end..], class, out),
            None => {
                out.targets.push(Target::Package(format!("npm:{name}")));
                true
            }
        }
    }

    /// The project directory that a package in `node_modules` is a link to.
    fn linked(&self, path: &str) -> Option<String> {
        let real = self.view.real(path)?;
        (!real.split('/').any(|segment| segment == "node_modules")).then(|| real.to_string())
    }

    /// `rootDirs`: `target` at the same place below another root.
    fn below_other_root(&self, dir: &str, target: &str, class: Class, out: &mut Resolution) -> bool {
        let scope = self.scope(dir);
        let mut found = false;
        for config in &scope.tsconfigs {
            let Some(rest) = config.root_dirs.iter().find_map(|root| path::strip(target, root)) else {
                continue;
            };
            out.consulted.extend(config.chain.iter().cloned());
            found |= config.root_dirs.iter().any(|root| {
                let other = package::below(root, rest);
                other != target && self.probe(&other, class, out)
            });
        }
        found
    }

    /// A path that is run: relative to the file, to the runner's root, or to the project.
    fn script(&self, dir: &str, text: &str, class: Class) -> Resolution {
        let mut out = Resolution { own: true, ..Resolution::default() };
        let text = specifier::without_query(text).unwrap_or(text);
        if text.starts_with('/') || text.starts_with("file:") {
            self.plain(dir, text, class, &mut out);
            return finish(out);
        }
        let mut found = false;
        let mut tried = Vec::new();
        for base in std::iter::once(dir).chain(self.options.all_roots()).chain([""]) {
            if let Some(target) = path::join(base, text)
                && !tried.contains(&target)
            {
                found |= self.locate(&target, class, &mut out);
                tried.push(target);
            }
        }
        found = found || tried.iter().any(|path| self.output(path, false, &mut out));
        if !found {
            out.unknown = Some(UnknownImport::Unresolved);
        }
        finish(out)
    }

    /// A string that may name a module: kept when it does.
    fn string_reference(&self, dir: &str, text: &str, class: Class) -> Resolution {
        let mut out = self.module(dir, text, class);
        if out.unknown.take().is_some() {
            out.targets.retain(|target| matches!(target, Target::File(_) | Target::Sources(_)));
        }
        out
    }

    /// The runtime of JSX, which no statement names: of `package`, of what an alias makes
    /// of it, and of what the `tsconfig.json` of the directory says. Compilers load
    /// another module of it while developing, and so do tests.
    fn jsx_runtime(&self, dir: &str, package: &str, class: Class) -> Resolution {
        let mut out = Resolution { own: !self.aliases.is_empty(), ..Resolution::default() };
        let mut packages = vec![package.to_owned()];
        if package == "react" {
            for alias in &self.aliases {
                if let Rewritten::To(specifiers) = alias.apply("react/jsx-runtime") {
                    packages.extend(
                        specifiers.iter().filter_map(|s| s.strip_suffix("/jsx-runtime")).map(str::to_owned),
                    );
                }
            }
            for config in &self.scope(dir).tsconfigs {
                packages.extend(config.jsx_import_source.clone());
            }
        }
        for package in packages {
            for module in ["jsx-runtime", "jsx-dev-runtime"] {
                merge(&mut out, self.string_reference(dir, &format!("{package}/{module}"), class));
            }
        }
        finish(out)
    }

    /// Takes the file at `file`, with the link that led to it.
    fn hit(&self, file: &str, out: &mut Resolution) {
        let real = self.view.real(file);
        match real.as_deref() {
            Some(real) if real != file => {
                out.targets.push(Target::File(real.to_owned()));
                // A link of the inventory is an input of its own: it may be turned elsewhere.
                let links = std::iter::once(file).chain(path::ancestors(file));
                let link = links.filter(|prefix| self.view.in_inventory(prefix)).map(str::to_owned);
                out.targets.extend(link.map(Target::File));
            }
            _ => out.targets.push(Target::File(file.to_owned())),
        }
        if path::extension(file) == "node" {
            out.unknown = Some(UnknownImport::Native);
        }
    }

    /// Adds the sources of output that was taken since `before` and is ignored.
    fn settle(&self, before: usize, out: &mut Resolution) {
        for at in before..out.targets.len() {
            if let Target::File(file) = &out.targets[at]
                && source::is_output(file)
                && !self.view.in_inventory(file)
            {
                let file = file.clone();
                self.output(&file, true, out);
            }
        }
    }

    /// The manifest of `dir`, which has one.
    fn package(&self, dir: &str) -> Arc<Package> {
        self.packages.get(dir, || {
            let text = self.view.tree.text(&package::below(dir, "package.json"));
            Arc::new(Package::parse(dir, text.as_deref()))
        })
    }

    fn workspace(&self) -> &Workspace {
        self.workspace.get_or_init(|| workspace::discover(&self.view))
    }
}

/// `text` as it stands, and without its query or fragment: `#` may be part of a name.
fn spellings(text: &str) -> impl Iterator<Item = &str> {
    std::iter::once(text).chain(specifier::without_query(text))
}

/// The package that a path below the last `node_modules` belongs to, and where the path
/// of the package itself ends.
fn node_modules_package(path: &str) -> Option<(&str, usize)> {
    let start = match path.rfind("/node_modules/") {
        Some(at) => at + "/node_modules/".len(),
        None => path.starts_with("node_modules/").then_some("node_modules/".len())?,
    };
    let rest = &path[start..];
    let (name, _) = specifier::package(rest).unwrap_or((rest.split('/').next()?, ""));
    Some((name, start + name.len()))
}

/// `%20` and the like decoded; what is not valid stays.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Adds what `other` found to `out`.
fn merge(out: &mut Resolution, other: Resolution) {
    out.targets.extend(other.targets);
    out.absent.extend(other.absent);
    out.consulted.extend(other.consulted);
    out.unknown = out.unknown.take().or(other.unknown);
    out.own |= other.own;
}

/// Every list sorted and without repetition.
fn finish(mut out: Resolution) -> Resolution {
    out.targets.sort_unstable();
    out.targets.dedup();
    out.absent.sort_unstable();
    out.absent.dedup();
    out.consulted.sort_unstable();
    out.consulted.dedup();
    out
}
