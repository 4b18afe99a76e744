//! What a reader says about one file. Language-neutral, owned, small; a value of
//! (bytes, reader version) only, so that it can be cached by content digest.
//!
//! Facts never hold a resolved path: what a specifier means depends on the
//! project, and is found in [`crate::resolve`].

use serde::{Deserialize, Serialize};

/// Everything a reader found in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Everything that makes another file or package run or be consulted.
    pub imports: Vec<Import>,
    /// Which names the file offers to importers.
    pub exports: Vec<Export>,
    /// Each top-level binding, and `<module>` for statements with effects at import.
    pub declarations: Vec<Declaration>,
    /// What the file depends on that is not an import, and what cannot be bounded.
    pub effects: Vec<Effect>,
    /// What names of the file stand for that it imports, or gives another name, without
    /// offering them on purpose: whoever takes such a name gets the operation. When each
    /// happens is [`When::Call`] with the name. Without declarations, one of each kind of
    /// opacity for a name.
    pub offered: Vec<Effect>,
    /// The names that a star import takes, where the file lists them all and offers anything.
    pub listed: Option<Vec<String>>,
    /// The test cases and suites it defines.
    pub tests: Vec<Test>,
    /// Where the reader had to give up. Not empty means: the facts are partial.
    pub damage: Vec<Damage>,
    /// What it says about a stopped clock, when anything. Only kept with declarations.
    pub clock: Option<Box<Clock>>,
}

/// What a file says about a clock that tests stop at a literal time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// How it stops the clock before the body of every test, if it does.
    pub stops: Option<Stops>,
    /// When it may start the real clock again, or stop it at another time.
    pub restarts: Restarts,
    /// Names of its bindings that its statements refer to outside of bodies of tests, sorted.
    /// `None` when that is not known: then all that they refer to may be used before.
    pub early: Option<Vec<String>>,
    /// Effects that a stopped clock answers, because they look it up anew each time.
    pub answered: Vec<Answered>,
}

/// How a file stops the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stops {
    /// Before each test.
    Each,
    /// Before the first one.
    Once,
}

/// When a file may start the real clock again; the latest is the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restarts {
    /// It does not.
    #[default]
    Never,
    /// After the last test.
    AfterAll,
    /// After each test.
    AfterEach,
    /// At any time.
    Anytime,
}

/// An effect that a stopped clock answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Its number among the effects of the file.
    pub effect: u32,
    /// What is left of it.
    pub leaves: Option<Pin>,
    /// Whether it stands in the body of a test itself.
    pub in_test: bool,
}

/// A half-open byte range of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// How a dependency is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportKind {
    /// `import … from "x"`, `import "x"`, `import x`, `from x import y`.
    Static,
    /// `import type … from "x"`; anything the runtime never loads.
    TypeOnly,
    /// `import("x")`, `importlib.import_module("x")`, `__import__("x")`.
    Dynamic,
    /// `require("x")`, `import x = require("x")`.
    Require,
    /// `require.resolve("x")`, `import.meta.resolve("x")`, `find_spec("x")`: the
    /// resolution is an input, and the target is taken as one too.
    Resolve,
    /// `vi.mock("x")`, `jest.mock("x")`, `mock.patch("a.b.c")`: the original, its
    /// `__mocks__` neighbour and the factory are inputs.
    Mock,
    /// `export … from "x"`.
    ReExport,
    /// `export * from "x"`, `from x import *`.
    Star,
    /// A string that names a module (`pytest_plugins`, Django settings, Celery tasks,
    /// entry points). Not resolving is no problem: it may be any string.
    StringRef,
    /// A path to a file that is *run* as a program or loaded as a module
    /// (`new Worker(new URL("./w.js", import.meta.url))`, `fork("./c.js")`,
    /// `runpy.run_path("x.py")`, `subprocess.run([sys.executable, "x.py"])`).
    Script,
    /// A computed specifier. The specifier is a glob relative to the file's directory
    /// (`./locales/*.ts`, `pkg.plugins.*` in Python) when a constant part bounds it,
    /// and empty when nothing does.
    Computed,
    /// `import.meta.glob("./x/*.ts")`, `require.context`, `pkgutil.iter_modules`:
    /// the specifier is a glob; listing and contents are inputs. A leading `!` negates.
    Glob,
}

/// Which loader runs the import; decides resolution conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadMode {
    /// ECMAScript modules, and every language with one loader.
    #[default]
    Esm,
    /// CommonJS.
    Cjs,
}

/// Whether the program may go on when the import fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It must resolve, or the file does not load.
    #[default]
    Required,
    /// `try: import x / except ImportError`, `try { require("x") } catch`, `import("x").catch(…)`.
    Optional,
}

/// What an import takes from its target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    /// Nothing by name: it is imported for its effects.
    #[default]
    Effects,
    /// The whole module under one local name (`import * as ns`, `import a.b` binds `a`).
    Namespace(String),
    /// These names.
    List(Vec<Name>),
}

/// One imported or re-exported name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    /// The name in the module it comes from (`default` for a default import).
    pub imported: String,
    /// The name here.
    pub local: String,
}

/// One dependency of a file on a module or a set of modules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// As written: `./a`, `@scope/pkg/sub`, `os.path`; Python's relative imports keep
    /// their dots (`..pkg.mod`, `.`). For [`ImportKind::Glob`] and
    /// [`ImportKind::Computed`] a glob.
    pub specifier: String,
    /// How it is written.
    pub kind: ImportKind,
    /// Which loader.
    pub mode: LoadMode,
    /// May it fail?
    pub presence: Presence,
    /// What it takes.
    pub names: Names,
    /// 1-based line.
    pub line: u32,
    /// Where.
    pub span: Span,
}

/// A name the file offers, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// The name importers use (`default` for a default export).
    pub name: String,
    /// The local binding it stands for.
    pub local: String,
}

/// What a top-level binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeclarationKind {
    /// A function.
    Function,
    /// A class with its members.
    Class,
    /// A constant or variable.
    Value,
    /// A type, interface or other thing that is erased.
    Type,
    /// All top-level statements with effects at import, taken together.
    Module,
}

/// A top-level binding of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// Its name; `<module>` for [`DeclarationKind::Module`].
    pub name: String,
    /// What it is.
    pub kind: DeclarationKind,
    /// First 16 bytes of the BLAKE3 hash of its tokens: comments, white space and
    /// erased types do not count, so formatting does not change it.
    pub digest: [u8; 16],
    /// Names of this file's other bindings (declarations or imports) it refers to,
    /// sorted, without itself. `m.attr` stands for an attribute of the import `m`, of which
    /// nothing else is used, and `<subclasses>` for the subclasses of whatever class.
    pub references: Vec<String>,
    /// Whether evaluating it at import may have effects (a class with decorators or
    /// static blocks, a constant with a call in its initialiser).
    pub effects_at_import: bool,
    /// 1-based first line.
    pub line: u32,
    /// Where.
    pub span: Span,
}

/// When an effect happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// When the module is loaded.
    Import,
    /// When the named declaration is used.
    Call(String),
}

/// An operation whose result is not determined by the sources alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The operation as a person knows it: `fs.readFileSync`, `Date.now`, `os.environ`.
    pub operation: String,
    /// What it makes of the file.
    pub class: EffectClass,
    /// When.
    pub when: When,
    /// 1-based line.
    pub line: u32,
    /// Where.
    pub span: Span,
}

/// The class of one effect (`effects.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectClass {
    /// It can be named and hashed.
    Pinned(Pin),
    /// It reads below a constant directory of the project.
    Bounded(PathExpr),
    /// It cannot be named.
    Opaque(Opaque),
}

/// An input that can be named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// One environment name.
    Env(String),
    /// The content, kind or existence of one path.
    File(PathExpr),
    /// The entries of a directory; with a glob, those that match it, at any depth it allows.
    Listing {
        /// The directory.
        dir: PathExpr,
        /// A glob relative to `dir`; `*` for its direct entries.
        glob: String,
    },
    /// Anything else with a name: `TZ`, `platform`, `argv`, `cwd`, `whole-env`,
    /// `icu`, `PYTHONHASHSEED`, `project-root`.
    Named(String),
}

/// What a literal path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathBase {
    /// The directory of the file that names it (`__dirname`, `import.meta.url`, `__file__`).
    Module,
    /// The working directory of the process: the runner project's root, or the project root.
    Cwd,
    /// An absolute path as written.
    Absolute,
}

/// A path written in a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathExpr {
    /// Relative to what.
    pub base: PathBase,
    /// The literal part, `/`-separated, may hold `.` and `..`.
    pub path: String,
}

/// Why an input cannot be named (`effects.md`, reason classes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words are the table's")]
pub enum Opaque {
    Clock,
    Random,
    Network,
    /// The network, where every host that is named is literally this machine.
    Loopback,
    Subprocess,
    ComputedLoad,
    Eval,
    Host,
    FsMeta,
    FsOrder,
    Tmp,
    Concurrency,
    Gc,
    Addr,
    Stdin,
    Loader,
    Native,
    MutateGlobal,
    Cwd,
    Unresolved,
    Unparsable,
    SharedSetup,
    Budget,
    Unlisted,
}

impl Opaque {
    /// Whether the set of repository inputs cannot be bounded: a test with such an
    /// effect in its closure is owed by any change (`effects.md` e).
    pub fn is_input_opaque(self) -> bool {
        matches!(
            self,
            Self::ComputedLoad
                | Self::Eval
                | Self::Native
                | Self::Loader
                | Self::Unresolved
                | Self::Unparsable
                | Self::Budget
                | Self::Subprocess
                | Self::Unlisted
        )
    }

    /// What is known besides, for people; it changes no class.
    pub fn label(self) -> Option<&'static str> {
        (self == Self::Loopback).then_some("loopback-only")
    }

    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Random => "random",
            Self::Network | Self::Loopback => "network",
            Self::Subprocess => "subprocess",
            Self::ComputedLoad => "computed-load",
            Self::Eval => "eval",
            Self::Host => "host",
            Self::FsMeta => "fs-meta",
            Self::FsOrder => "fs-order",
            Self::Tmp => "tmp",
            Self::Concurrency => "concurrency",
            Self::Gc => "gc",
            Self::Addr => "addr",
            Self::Stdin => "stdin",
            Self::Loader => "loader",
            Self::Native => "native",
            Self::MutateGlobal => "mutate-global",
            Self::Cwd => "cwd",
            Self::Unresolved => "unresolved",
            Self::Unparsable => "unparsable",
            Self::SharedSetup => "shared-setup",
            Self::Budget => "budget",
            Self::Unlisted => "unlisted",
        }
    }
}

/// Case or suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// A single case (`it`, `test`, `def test_x`).
    Case,
    /// A group (`describe`, a test class).
    Suite,
}

/// A test case or suite as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// Names of the enclosing suites and its own, outermost first. A computed title
    /// is `<computed>`.
    pub name: Vec<String>,
    /// Case or suite.
    pub kind: TestKind,
    /// `it.skip`, `@pytest.mark.skip`, `xit`.
    pub skipped: bool,
    /// `it.only`, `fit`.
    pub only: bool,
    /// 1-based line.
    pub line: u32,
    /// Where.
    pub span: Span,
}

/// A place the reader could not understand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Damage {
    /// What the parser said.
    pub cause: String,
    /// 1-based line.
    pub line: u32,
    /// Where.
    pub span: Span,
}
