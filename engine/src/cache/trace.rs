//! What somebody looked at while it answered: the contents it read, and whether it asked
//! where the project lies or what a child process says.
//!
//! Kinds of paths and listings of directories are not recorded one by one: a tree tells
//! them all at once ([`Tree::layout`], [`Tree::witness`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::digest::Digest;
use crate::problem::Unchecked;
use crate::runner::ConfigLoader;
use crate::tree::{Kind, Tree, Witness};

/// A tree that remembers what was read from it.
pub(crate) struct TracedTree<'a> {
    inner: &'a dyn Tree,
    reads: Mutex<BTreeMap<String, Digest>>,
    located: AtomicBool,
}

impl<'a> TracedTree<'a> {
    pub(crate) fn new(inner: &'a dyn Tree) -> Self {
        Self { inner, reads: Mutex::default(), located: AtomicBool::new(false) }
    }

    /// The contents that were read, sorted by path, and whether the root was asked for.
    pub(crate) fn finish(self) -> (Vec<(String, Digest)>, bool) {
        let reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        (reads.into_iter().collect(), self.located.into_inner())
    }

    fn note(&self, path: &str, digest: Digest) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if !reads.contains_key(path) {
            reads.insert(path.to_owned(), digest);
        }
    }
}

impl Tree for TracedTree<'_> {
    fn root(&self) -> &Path {
        self.located.store(true, Ordering::Relaxed);
        self.inner.root()
    }

    fn files(&self) -> &[String] {
        self.inner.files()
    }

    fn kind(&self, path: &str) -> Option<Kind> {
        self.inner.kind(path)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, Unchecked> {
        self.read_with_digest(path).map(|(bytes, _)| bytes)
    }

    fn list(&self, dir: &str) -> Vec<(String, Kind)> {
        self.inner.list(dir)
    }

    fn real(&self, path: &str) -> Option<String> {
        self.inner.real(path)
    }

    fn read_with_digest(&self, path: &str) -> Result<(Vec<u8>, Digest), Unchecked> {
        let read = self.inner.read_with_digest(path);
        self.note(path, Digest::or_reason(read.as_ref().map(|(_, digest)| *digest).map_err(|e| *e)));
        read
    }

    fn known_digest(&self, path: &str) -> Option<Digest> {
        self.inner.known_digest(path)
    }

    fn layout(&self) -> Option<Digest> {
        self.inner.layout()
    }

    fn witness(&self) -> Option<Witness> {
        self.inner.witness()
    }

    fn confirms(&self, witness: &Witness) -> bool {
        self.inner.confirms(witness)
    }
}

/// A loader that remembers whether it was asked. What it says depends on more than the
/// project: on programs, the environment, the clock.
pub(crate) struct TracedLoader<'a> {
    inner: &'a dyn ConfigLoader,
    asked: AtomicBool,
}

impl<'a> TracedLoader<'a> {
    pub(crate) fn new(inner: &'a dyn ConfigLoader) -> Self {
        Self { inner, asked: AtomicBool::new(false) }
    }

    pub(crate) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl ConfigLoader for TracedLoader<'_> {
    fn load(
        &self,
        interpreter: &str,
        program: &str,
        cwd: &str,
        arguments: &[&str],
    ) -> Result<String, String> {
        self.asked.store(true, Ordering::Relaxed);
        self.inner.load(interpreter, program, cwd, arguments)
    }
}
