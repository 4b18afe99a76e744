//! The closure inside installed packages: which of their files a project runs, with the
//! facts of each.
//!
//! Every file is read once a run, whatever reaches it. What is known of it is a value of its
//! bytes (facts), which the cache keeps by their digest, and of where it lies (what its
//! imports lead to), which is found anew. A package with more files or bytes than the budget is cut:
//! whoever loads it then depends on something that was not looked at, and is told so.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cache::{Content, key_of};
use crate::closure;
use crate::digest::Digest;
use crate::facts::{FileFacts, Import, ImportKind, LoadMode, Names, Opaque, Presence, Span};
use crate::graph::{EdgeKind, NodeId, NodeKey, Origin, Trait};
use crate::language::{Language, SourceFile};
use crate::path;
use crate::project::{Project, Reading};
use crate::reader::source_bytes;
use crate::resolve::{Installed, InstalledModule, Resolver};
use crate::runner::SharedRole;
use crate::selection::Opacity;

/// How much of installed packages is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Files of one package.
    pub files: usize,
    /// Bytes of one package.
    pub bytes: u64,
    /// Files of all packages together.
    pub all_files: usize,
    /// Bytes of all packages together.
    pub all_bytes: u64,
}

impl Default for Budget {
    /// Ten packages as large as the largest that is read.
    fn default() -> Self {
        Self { files: 2_000, bytes: 20 << 20, all_files: 20_000, all_bytes: 200 << 20 }
    }
}

/// A file of an installed package.
#[derive(Debug)]
pub(crate) struct PackageFile {
    /// Project-relative path, links followed.
    pub(crate) path: String,
    /// Its facts.
    pub(crate) facts: FileFacts,
    /// What it cannot name.
    pub(crate) traits: Vec<Trait>,
    /// What its imports lead to: number of the import, number of the file.
    pub(crate) loads: Vec<(u32, u32)>,
    bytes: u64,
}

/// What the project runs of installed packages.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    /// The files, in the order in which they were reached.
    pub(crate) files: Vec<PackageFile>,
    /// What imports of the project lead to: number of the import, number of the file.
    pub(crate) loads: FxHashMap<NodeId, Vec<(u32, u32)>>,
    /// What imports of the project cannot name.
    pub(crate) traits: FxHashMap<NodeId, Vec<Trait>>,
}

/// An import that waits for the files it leads to.
struct Waiting {
    /// A node of the project, or a file of a package.
    from: From,
    import: u32,
    line: u32,
    optional: bool,
    /// Whether it only reads an attribute of a module that is imported elsewhere.
    attribute: bool,
    specifier: String,
    module: InstalledModule,
    class: u32,
}

impl Waiting {
    fn gap(&self, reason: Opaque) -> Trait {
        gap(reason, &self.specifier, self.import, self.line)
    }
}

#[derive(Clone, Copy)]
enum From {
    Node(NodeId),
    File(u32),
}

/// What an import gives the importer, besides loads.
type Given = (From, Trait);

impl Packages {
    /// Follows every import of the project that leads into a package.
    pub(crate) fn walk(project: &Project<'_>, budget: Budget) -> Self {
        let mut walk = Walk::new(project, budget);
        let mut waiting = walk.first_level();
        while !waiting.is_empty() {
            waiting = walk.level(waiting);
        }
        if let Some(cache) = project.cache {
            cache.keep_facts();
        }
        walk.packages
    }
}

/// The state of one walk.
struct Walk<'p, 'a> {
    project: &'p Project<'a>,
    resolvers: Vec<Vec<Box<dyn Resolver + 'p>>>,
    budget: Budget,
    /// Files by path and resolution class.
    numbers: FxHashMap<(String, u32), u32>,
    /// Files and bytes by package directory; of all of them under the empty name. Bytes
    /// are known once a level is read, so a package may pass its limit by one level.
    used: BTreeMap<String, (usize, u64)>,
    packages: Packages,
}

impl<'p, 'a> Walk<'p, 'a> {
    fn new(project: &'p Project<'a>, budget: Budget) -> Self {
        let resolvers = project
            .classes
            .iter()
            .map(|options| {
                project.plugins.languages.iter().map(|l| l.resolver(project.tree, options)).collect()
            })
            .collect();
        Self {
            project,
            resolvers,
            budget,
            numbers: FxHashMap::default(),
            used: BTreeMap::new(),
            packages: Packages::default(),
        }
    }

    /// The imports of the project's own files that lead into packages.
    fn first_level(&mut self) -> Vec<Waiting> {
        let graph = &self.project.graph;
        let sources: Vec<(NodeId, u32, &str)> = graph
            .nodes()
            .filter_map(|node| match graph.key(node) {
                NodeKey::Source { class, path } => Some((node, *class, &**path)),
                _ => None,
            })
            .collect();
        let found: Vec<(Vec<Waiting>, Vec<Given>)> = sources
            .into_par_iter()
            .map(|(node, class, path)| {
                let Some(facts) = self.project.facts.get(path) else { return Default::default() };
                let leads = |import: u32, wanted: fn(&NodeKey) -> bool| {
                    let own = graph.loads(node).iter().filter(|(number, _)| *number == import);
                    own.into_iter().any(|(_, to)| wanted(graph.key(*to)))
                };
                let packages = |import: u32| leads(import, |key| matches!(key, NodeKey::Package(_)));
                // A package of the workspace is there without being installed.
                let sources = |import: u32| leads(import, |key| matches!(key, NodeKey::Source { .. }));
                self.imports(From::Node(node), class, path, facts, &packages, &sources)
            })
            .collect();
        let mut waiting = self.take(found);
        let setup = self.setup();
        waiting.extend(self.take(vec![setup]));
        waiting
    }

    /// Setup that is a package. Which of its modules is loaded is not known here: the main
    /// one stands for it.
    fn setup(&self) -> (Vec<Waiting>, Vec<Given>) {
        let graph = &self.project.graph;
        let (mut waiting, mut given) = (Vec::new(), Vec::new());
        for node in graph.nodes() {
            let suite = match graph.key(node) {
                NodeKey::Test(test) => self.project.suite(self.project.tests[*test as usize]),
                NodeKey::Suite(suite) => &self.project.suites[*suite as usize],
                _ => continue,
            };
            for (to, edge) in graph.outgoing(node) {
                let is_setup =
                    matches!(edge.kind, EdgeKind::Shared(SharedRole::Setup | SharedRole::GlobalSetup));
                let NodeKey::Package(package) = graph.key(to) else { continue };
                if !is_setup || self.is_toolchain(package) {
                    continue;
                }
                let languages = self.project.plugins.languages;
                let prefix = |l: &&dyn crate::language::Language| package.strip_prefix(l.package_prefix());
                let Some((language, name)) =
                    languages.iter().enumerate().find_map(|(at, l)| Some((at, prefix(l)?)))
                else {
                    continue;
                };
                let import = Import {
                    specifier: name.to_owned(),
                    kind: ImportKind::Require,
                    mode: LoadMode::Esm,
                    presence: Presence::Required,
                    names: Names::Effects,
                    line: 0,
                    span: Span::default(),
                };
                let from = path::join(&suite.project.root, "setup").unwrap_or_default();
                match self.resolvers[suite.class as usize][language].installed(&from, &import) {
                    Installed::Nothing | Installed::Absent(_) => {}
                    Installed::Missing(_) => given
                        .push((From::Node(node), gap(Opaque::Unresolved, &import.specifier, u32::MAX, 0))),
                    Installed::Module(module) => waiting.push(Waiting {
                        from: From::Node(node),
                        import: u32::MAX,
                        line: 0,
                        optional: false,
                        attribute: false,
                        specifier: import.specifier,
                        module,
                        class: suite.class,
                    }),
                }
            }
        }
        (waiting, given)
    }

    /// Which imports of a file lead into packages, and what the others give it.
    fn imports(
        &self,
        from: From,
        class: u32,
        path: &str,
        facts: &FileFacts,
        asked: &dyn Fn(u32) -> bool,
        is_here: &dyn Fn(u32) -> bool,
    ) -> (Vec<Waiting>, Vec<Given>) {
        let mut waiting = Vec::new();
        let mut given = Vec::new();
        let languages = self.project.plugins.languages;
        let Some(language) = languages.iter().position(|l| l.reads(path)) else { return (waiting, given) };
        let resolver = &self.resolvers[class as usize][language];
        // A type checker looks for packages; what their code does is nothing to it.
        let checked = self.project.classes[class as usize].checked;
        for (number, import) in facts.imports.iter().enumerate() {
            let number = u32::try_from(number).expect("a file has fewer than 2^32 imports");
            if !asked(number) || (import.kind == ImportKind::TypeOnly && !checked) {
                continue;
            }
            let optional = import.presence == Presence::Optional
                || matches!(import.kind, ImportKind::StringRef | ImportKind::Mock | ImportKind::Resolve);
            match resolver.installed(path, import) {
                // A loader that finds nothing in the environment fails, every time.
                Installed::Nothing | Installed::Absent(_) => {}
                Installed::Missing(package) => {
                    if !optional && !is_here(number) && !self.is_toolchain(&package) {
                        given.push((from, gap(Opaque::Unresolved, &import.specifier, number, import.line)));
                    }
                }
                Installed::Module(module) => {
                    if !checked && !self.is_toolchain(&module.package) {
                        waiting.push(Waiting {
                            from,
                            import: number,
                            line: import.line,
                            optional,
                            attribute: super::module::is_chain(import),
                            specifier: import.specifier.clone(),
                            module,
                            class,
                        });
                    }
                }
            }
        }
        (waiting, given)
    }

    /// Whether a package belongs to a runner: it is in every identity as a whole.
    fn is_toolchain(&self, package: &str) -> bool {
        let fits = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(prefix) => package.starts_with(prefix),
            None => package == *pattern,
        };
        self.project.plugins.runners.iter().any(|runner| runner.toolchain().iter().any(&fits))
    }

    fn take(&mut self, found: Vec<(Vec<Waiting>, Vec<Given>)>) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for (more, given) in found {
            waiting.extend(more);
            given.into_iter().for_each(|(from, fact)| self.give(from, fact));
        }
        waiting
    }

    fn give(&mut self, from: From, fact: Trait) {
        let traits = match from {
            From::Node(node) => self.packages.traits.entry(node).or_default(),
            From::File(file) => &mut self.packages.files[file as usize].traits,
        };
        if !traits.contains(&fact) {
            traits.push(fact);
        }
    }

    /// Settles what waits, reads the files that are new, and gives what waits then.
    fn level(&mut self, waiting: Vec<Waiting>) -> Vec<Waiting> {
        let mut new: Vec<(String, u32)> = Vec::new();
        let mut roots: Vec<String> = Vec::new();
        for import in waiting {
            if import.module.native && !import.attribute {
                self.give(import.from, import.gap(Opaque::Native));
            } else if import.module.files.is_empty() && !import.optional {
                self.give(import.from, import.gap(Opaque::Unresolved));
            }
            for path in &import.module.files {
                if self.project.plugins.language_of(path).is_none() {
                    // Data of the package: its bytes are the package's.
                    continue;
                }
                let key = (path.clone(), import.class);
                let number = match self.numbers.get(&key).copied() {
                    Some(number) => number,
                    None if !self.afford(&import.module.root) => {
                        self.give(import.from, import.gap(Opaque::Budget));
                        continue;
                    }
                    None => {
                        let number = u32::try_from(self.packages.files.len() + new.len())
                            .expect("the budget is far below 2^32 files");
                        self.numbers.insert(key.clone(), number);
                        new.push(key);
                        roots.push(import.module.root.clone());
                        number
                    }
                };
                match import.from {
                    From::Node(node) => {
                        self.packages.loads.entry(node).or_default().push((import.import, number));
                    }
                    From::File(file) => {
                        self.packages.files[file as usize].loads.push((import.import, number));
                    }
                }
            }
        }
        let first = self.packages.files.len();
        let read: Vec<PackageFile> = new.par_iter().map(|(path, _)| self.read(path)).collect();
        for (file, root) in read.iter().zip(&roots) {
            for name in [root.as_str(), ""] {
                self.used.entry(name.to_owned()).or_default().1 += file.bytes;
            }
        }
        self.packages.files.extend(read);
        let found: Vec<(Vec<Waiting>, Vec<Given>)> = new
            .par_iter()
            .enumerate()
            .map(|(at, (path, class))| {
                let number = first + at;
                let from = From::File(u32::try_from(number).expect("the budget is far below 2^32 files"));
                let facts = &self.packages.files[number].facts;
                self.imports(from, *class, path, facts, &|_| true, &|_| false)
            })
            .collect();
        self.take(found)
    }

    /// Whether one more file of the package at `root` may be read.
    fn afford(&mut self, root: &str) -> bool {
        let package = self.used.get(root).copied().unwrap_or_default();
        let all = self.used.get("").copied().unwrap_or_default();
        if package.0 >= self.budget.files
            || package.1 >= self.budget.bytes
            || all.0 >= self.budget.all_files
            || all.1 >= self.budget.all_bytes
        {
            return false;
        }
        for name in [root, ""] {
            self.used.entry(name.to_owned()).or_default().0 += 1;
        }
        true
    }

    /// The facts of a file of a package, from the cache if they are there: an installation
    /// brings the same bytes to every checkout.
    fn facts_of(&self, language: &dyn Language, path: &str, bytes: &[u8]) -> FileFacts {
        let file = SourceFile { path, bytes };
        let Some(cache) = self.project.cache else { return language.read(file) };
        let key = key_of(language, path, Reading::Declarations, Digest::of(bytes));
        if let Some(Content { facts: Ok(facts), .. }) = cache.content(key) {
            return facts;
        }
        let content = Content { size: bytes.len() as u64, facts: Ok(language.read(file)) };
        cache.keep_content(key, &content);
        content.facts.unwrap_or_default()
    }

    fn read(&self, path: &str) -> PackageFile {
        let language = self.project.plugins.language_of(path).expect("asked before it was put on the list");
        let read = source_bytes(self.project.tree, language, &self.project.settings, path);
        let (facts, mut traits, bytes) = match read {
            Ok(bytes) => {
                let facts = self.facts_of(language, path, &bytes);
                let traits = closure::own_traits(self.project, path, &facts);
                (facts, traits, bytes.len() as u64)
            }
            Err(reason) => (FileFacts::default(), vec![closure::unreadable(reason.word())], 0),
        };
        // Files of the package itself change only with the package.
        let beside = |fact: &Trait| {
            let Origin::Effect(number) = fact.origin else { return false };
            matches!(fact.opacity, Opacity::Pinned | Opacity::Bounded)
                && super::cause::is_within_package(&facts.effects[number as usize], path)
        };
        traits.retain(|fact| !beside(fact));
        PackageFile { path: path.to_owned(), facts, traits, loads: Vec::new(), bytes }
    }
}

/// An import behind which something was not looked at.
fn gap(reason: Opaque, specifier: &str, import: u32, line: u32) -> Trait {
    let origin = Origin::Import(import);
    Trait { opacity: Opacity::InputOpaque, reason: Some(reason), operation: specifier.into(), line, origin }
}

/// The directory of the package that a path lies in, as far as the path says.
pub(crate) fn package_dir(file: &str) -> &str {
    let start = ["node_modules/", "site-packages/"]
        .into_iter()
        .filter_map(|dir| file.rfind(dir).map(|at| at + dir.len()))
        .max();
    let Some(start) = start else { return path::dirname(file) };
    let mut parts = file[start..].match_indices('/').map(|(at, _)| start + at);
    let scoped = file[start..].starts_with('@');
    let end = if scoped { parts.nth(1) } else { parts.next() };
    &file[..end.unwrap_or(file.len())]
}
