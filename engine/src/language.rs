//! The trait a language implements. The engine knows no language by name.

use crate::digest::Digest;
use crate::facts::FileFacts;
use crate::function::{FunctionFacts, Limits};
use crate::resolve::{ResolveOptions, Resolver};
use crate::tree::Tree;

/// One source file, as read.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Project-relative path; only its name and extension may influence the facts.
    pub path: &'a str,
    /// Its bytes, as on disk.
    pub bytes: &'a [u8],
}

/// A language plugin.
pub trait Language: Send + Sync {
    /// Its name in answers: `javascript`, `python`.
    fn name(&self) -> &'static str;

    /// How the names of its packages start in answers, with the colon: `npm:`.
    fn package_prefix(&self) -> &'static str;

    /// Changes whenever the facts of equal bytes may change.
    fn reader_version(&self) -> &'static str;

    /// Whether this language reads the file at `path` (by its name alone).
    fn reads(&self, path: &str) -> bool;

    /// Reads one file. Never fails: what is not understood is
    /// [`FileFacts::damage`]. Not UTF-8 text is for the caller to refuse, except where
    /// the language declares encodings in the file.
    fn read(&self, file: SourceFile<'_>) -> FileFacts;

    /// The same without [`FileFacts::declarations`] (but for names that discovery asks for) and
    /// [`FileFacts::exports`], for answers that need none (selection by file); a language for
    /// which that saves nothing reads all.
    fn read_without_declarations(&self, file: SourceFile<'_>) -> FileFacts {
        self.read(file)
    }

    /// The functions of one file, for checks; `None` when the language does not measure
    /// functions. Never fails: what is not understood is [`FunctionFacts::damage`].
    fn functions(&self, file: SourceFile<'_>) -> Option<FunctionFacts> {
        let _ = file;
        None
    }

    /// The same within other limits than the usual ones. A language whose reader has bounds of
    /// its own, and no use for these, leaves it.
    fn functions_within(&self, file: SourceFile<'_>, limits: &Limits) -> Option<FunctionFacts> {
        let _ = limits;
        self.functions(file)
    }

    /// The digest of what is left of a text without comments, each piece where it was and on its
    /// line; `None` when that cannot be told (it does not parse).
    fn code(&self, path: &str, text: &str) -> Option<Digest> {
        let _ = (path, text);
        None
    }

    /// What a person can do about an effect with this operation, in one line.
    fn fix(&self, operation: &str) -> Option<&'static str> {
        let _ = operation;
        None
    }

    /// How the tokens of a function are counted; another word makes every count one that
    /// cannot be compared with those recorded before.
    fn measure(&self) -> &'static str {
        "tokens/1"
    }

    /// Whether files of this language may have [`FileFacts::offered`]. Where none has, what
    /// others take of them by the way is not looked for.
    fn offers_by_the_way(&self) -> bool {
        true
    }

    /// Whether `bytes`, which may not be UTF-8, name an encoding that this language can
    /// decode (Python's PEP 263 cookie).
    fn declares_encoding(&self, bytes: &[u8]) -> bool {
        let _ = bytes;
        false
    }

    /// A resolver over `tree` under `options`.
    fn resolver<'a>(&self, tree: &'a dyn Tree, options: &ResolveOptions) -> Box<dyn Resolver + 'a>;

    /// A resolver for each of `options`, in order; what they find in the tree they may share.
    fn resolvers<'a>(&self, tree: &'a dyn Tree, options: &[ResolveOptions]) -> Vec<Box<dyn Resolver + 'a>> {
        options.iter().map(|options| self.resolver(tree, options)).collect()
    }

    /// What a change of a manifest or lock file means; `None` when `path` is neither for
    /// this language. `base` and `head` are the bytes on each side, `None` when absent.
    /// `tree` is the head side.
    fn manifest(
        &self,
        tree: &dyn Tree,
        path: &str,
        base: Option<&[u8]>,
        head: Option<&[u8]>,
    ) -> Option<ManifestDiff> {
        let _ = (tree, path, base, head);
        None
    }
}

/// What a changed manifest or lock file means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestDiff {
    /// Whether it is a lock file (`placed: lock`) rather than a manifest (`placed: config`).
    pub lock: bool,
    /// Resolution or runner behaviour may differ for everything under this manifest:
    /// whoever depends on [`crate::resolve::Target::Manifest`] of it is owed.
    pub shared: bool,
    /// Packages (`npm:x`, `pypi:x`) whose version, bytes or own dependencies differ, with
    /// all packages that depend on them, transitively.
    pub packages: Vec<String>,
    /// Set when it cannot be told which packages differ: every package of
    /// [`ManifestDiff::ecosystem`] may.
    pub any_package: Option<String>,
    /// How the names of this manifest's packages start (`npm:`); filled in by the engine
    /// from [`Language::package_prefix`].
    pub ecosystem: Option<&'static str>,
    /// Set when one side cannot be understood at all: the plan widens with this detail.
    pub broken: Option<String>,
}
