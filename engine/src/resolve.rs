//! What a specifier means: the trait that languages implement, the options that
//! runners give, and the answer with everything that was probed on the way.

use serde::{Deserialize, Serialize};

use crate::facts::Import;

/// How a runner's project resolves imports. Equal options share one resolver and one
/// part of the graph. Fields a language does not know are ignored by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResolveOptions {
    /// Directory of the runner's project (`""` for the root): where bare, root-relative
    /// (`/src/x`) and working-directory-relative paths start.
    pub root: String,
    /// The roots of all projects that share these options, when the engine has put them
    /// into one class; empty otherwise. Whatever starts at the root starts at each.
    pub roots: Vec<String>,
    /// Export conditions beyond `import`/`require` and `default`, in the runner's order.
    pub conditions: Vec<String>,
    /// Rewrites tried before anything else, in order.
    pub aliases: Vec<Alias>,
    /// Extensions tried for extensionless specifiers, with dots; empty = the language's own.
    pub extensions: Vec<String>,
    /// `package.json` fields for the entry point; empty = the language's own.
    pub main_fields: Vec<String>,
    /// Directories searched for bare specifiers besides `node_modules` up the tree
    /// (jest `modulePaths`, `roots`; project-relative).
    pub module_paths: Vec<String>,
    /// Names of directories searched up the tree (jest `moduleDirectories`);
    /// empty = `node_modules`.
    pub module_directories: Vec<String>,
    /// `tsconfig.json` whose `paths` and `baseUrl` hold for all files; `None` = the
    /// nearest one above each file, with its references.
    pub tsconfig: Option<String>,
    /// Whether `tsconfig` `paths` are honoured at run time for sure. When false they are
    /// still followed (a plugin may do it), but a miss is no problem.
    pub tsconfig_paths: bool,
    /// Directories with `__mocks__` folders for packages (jest `roots`, vitest `root`).
    pub mock_roots: Vec<String>,
    /// Whether type-only imports are surely erased before the tests run (no type checker
    /// runs with them). When false, a type-only import is an edge like any other.
    pub types_erased: bool,
    /// Whether everything is read by a type checker and nothing is run: imports mean what it
    /// takes them for, declarations and `paths` included.
    pub checked: bool,
    /// Python: directories on `sys.path`, in order (source roots, `pythonpath`, `rootdir`).
    pub source_roots: Vec<String>,
}

impl ResolveOptions {
    /// Every directory that is a root: [`ResolveOptions::roots`], or the one root.
    pub fn all_roots(&self) -> impl Iterator<Item = &str> {
        let one = self.roots.is_empty().then_some(self.root.as_str());
        one.into_iter().chain(self.roots.iter().map(String::as_str))
    }
}

/// One alias of a runner's configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Alias {
    /// What is replaced.
    pub find: AliasFind,
    /// What replaces it: project-relative when it starts with `/` (as in `"/src"`, where
    /// `/` stands for the *project* root), else a specifier again. For a regular
    /// expression it may hold `$1`.
    pub replacement: String,
}

/// The left side of an alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AliasFind {
    /// `@` matches `@` and `@/x` (vite, webpack).
    Prefix(String),
    /// Only the whole specifier.
    Exact(String),
    /// A JavaScript regular expression (jest `moduleNameMapper`, vite `{find: /…/}`).
    Regex(String),
}

/// A set of files named by a pattern, kept as such: a file that appears or vanishes
/// in it is a change of the importer's inputs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Listing {
    /// The directory it starts at, project-relative.
    pub dir: String,
    /// A glob relative to `dir`: `*` for the direct entries, `**` for the whole subtree.
    pub glob: String,
}

impl Listing {
    /// The pattern with its directory, as it is written in answers; the middle of a long
    /// pattern is left out.
    pub fn shown(&self) -> String {
        const LONG: usize = 72;
        let glob = if self.glob.len() > LONG && self.glob.is_ascii() {
            format!("{}…{}", &self.glob[..LONG / 2], &self.glob[self.glob.len() - LONG / 2..])
        } else {
            self.glob.clone()
        };
        if self.dir.is_empty() { glob } else { format!("{}/{glob}", self.dir) }
    }
}

/// Something a file depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file of the project, by path; it need not exist (an absent candidate).
    File(String),
    /// The meaningful part of a manifest (`package.json`, `tsconfig.json`,
    /// `pyproject.toml`): changed only when [`crate::language::ManifestDiff::shared`] says so.
    Manifest(String),
    /// A set of files.
    Listing(Listing),
    /// An installed package, with its ecosystem: `npm:lodash`, `pypi:yaml` (for Python
    /// the top-level import name).
    Package(String),
    /// One environment name.
    Env(String),
    /// Everything that a package of the project, in this directory, is made of: what an
    /// import of its output stands for when the output's own sources cannot be told.
    /// [`Resolver::sources`] lists it, once for all who mean it.
    Sources(String),
}

/// What one import means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// What runs or is consulted: files (more than one when it is ambiguous, or when a
    /// package `__init__` chain runs), packages, listings. Files of the project are
    /// given by their real path (links followed).
    pub targets: Vec<Target>,
    /// Project-relative paths that were probed before the hit and are not there: if one
    /// appears, the import may mean it. For an unresolved import, all that were probed.
    pub absent: Vec<String>,
    /// Manifests that were read to decide (project-relative, inside the project).
    pub consulted: Vec<String>,
    /// Why the meaning is not known; targets may still hold what it possibly is.
    pub unknown: Option<UnknownImport>,
    /// Whether options had a say that resolvers of one [`Resolver::group`] need not share.
    pub own: bool,
}

/// Why an import has no known meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownImport {
    /// A first-party specifier (relative, aliased, or below a first-party package)
    /// that leads nowhere.
    Unresolved,
    /// The specifier is computed and nothing bounds it.
    Computed,
    /// Native code (`.node`, a compiled extension).
    Native,
    /// A bare specifier of a package that is neither installed nor declared. It can have
    /// no first-party bytes; the program would fail to load.
    Undeclared,
    /// A module made by a bundler plugin (`virtual:…`).
    Virtual,
}

/// What an import runs of an installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installed {
    /// No installed package: the project's own, the runtime's, a type, or a package whose
    /// operations the effect table names.
    Nothing,
    /// This package, which is not installed where it can be seen.
    Missing(String),
    /// This package, which an installed package would use if it were there.
    Absent(String),
    /// These files.
    Module(InstalledModule),
}

/// Files of an installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledModule {
    /// The package, with its ecosystem: `npm:lodash`, `pypi:yaml`.
    pub package: String,
    /// Its directory, or for a single file the file itself; project-relative.
    pub root: String,
    /// The files, links followed; empty when the package has no such module.
    pub files: Vec<String>,
    /// Whether native code is loaded, too.
    pub native: bool,
}

/// Gives meaning to imports, for one set of [`ResolveOptions`].
pub trait Resolver: Send + Sync {
    /// What `import`, written in the file `from` (project-relative), means.
    fn resolve(&self, from: &str, import: &Import) -> Resolution;

    /// Resolvers that one call of [`Language::resolvers`] made and that have the same number
    /// here agree on every import of which each of them says that its own options
    /// [do not decide it](Resolver::decides), when the answer of one is not
    /// [its own](Resolution::own). They agree on [`Resolver::surroundings`].
    ///
    /// [`Language::resolvers`]: crate::language::Language::resolvers
    fn group(&self) -> Option<u32> {
        None
    }

    /// Whether options that others of the group need not have may decide what `import` means.
    fn decides(&self, import: &Import) -> bool {
        let _ = import;
        true
    }

    /// What `import`, written in the file `from` (of the project or of an installed
    /// package), runs of installed packages.
    fn installed(&self, from: &str, import: &Import) -> Installed {
        let _ = (from, import);
        Installed::Nothing
    }

    /// What the file `from` depends on by where it lies, whatever it says: the manifests
    /// that decide how it is loaded, and where a nearer one would lie.
    fn surroundings(&self, from: &str) -> Resolution {
        let _ = from;
        Resolution::default()
    }

    /// What [`Target::Sources`] of `dir` stands for; empty when this resolver never gives it.
    fn sources(&self, dir: &str) -> Resolution {
        let _ = dir;
        Resolution::default()
    }
}
