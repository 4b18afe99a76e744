//! The dependency graph: who depends on what, and what each file cannot name.
//!
//! A node is a test, a file *as resolved by one class of runner projects* (equal
//! [`ResolveOptions`](crate::resolve::ResolveOptions)), a file as data, a manifest, a
//! listing, a package or an environment name. Absent candidates are not nodes: there
//! are many, and they only matter when a change names one of them, so they are kept as
//! hashes of their paths (a collision can only add an edge).
//!
//! A finished graph is a few tables of numbers, in both directions ([`tables`]). It is built
//! in memory ([`build`]), or lies in the cache and is read there ([`kept`]); who asks sees no
//! difference. petgraph stays private to this module. Node numbers follow the order of
//! discovery, which is the same for any number of threads.

mod build;
mod kept;
mod keys;
mod reach;
mod tables;

use std::hash::{Hash, Hasher};

use petgraph::graph::NodeIndex;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

pub use reach::Reach;
pub use tables::Graph;

pub(crate) use build::kind_number;
pub(crate) use tables::AbsentRow;

use crate::facts::{ImportKind, Opaque};
use crate::resolve::Listing;
use crate::runner::SharedRole;
use crate::selection::Opacity;

/// The number of a node.
pub type NodeId = NodeIndex<u32>;

/// What a node stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NodeKey {
    /// A test file of a runner project, by its number in [`crate::project::Project::tests`].
    Test(u32),
    /// What all tests of a runner project share, by the number of the project in
    /// [`crate::project::Project::suites`]. It is no step of a chain.
    Suite(u32),
    /// A source file, resolved under the options of a class.
    Source {
        /// Number of the class.
        class: u32,
        /// Project-relative path.
        path: Box<str>,
    },
    /// A file as data (or one that need not exist): only its own bytes count.
    Data(Box<str>),
    /// The meaningful part of a manifest.
    Manifest(Box<str>),
    /// A set of files.
    Listing {
        /// Where and which.
        listing: Listing,
        /// Whether the contents count, too, and not only which files there are.
        contents: bool,
    },
    /// An installed package.
    Package(Box<str>),
    /// An environment name.
    Env(Box<str>),
    /// All sources of a package of the project. It is no step of a chain.
    Sources {
        /// Number of the class.
        class: u32,
        /// The package's directory.
        dir: Box<str>,
    },
}

impl NodeKey {
    /// The path of a file, manifest or data node.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Source { path, .. } | Self::Data(path) | Self::Manifest(path) => Some(path),
            _ => None,
        }
    }

    /// Whether a person would name it on the way from a test to a change; the others only
    /// stand for many nodes at once.
    pub fn is_step(&self) -> bool {
        !matches!(self, Self::Suite(_) | Self::Sources { .. })
    }
}

/// Why one node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EdgeKind {
    /// From a test to its own file.
    Own,
    /// From a test that a type checker reads and nobody runs to its own file.
    Checked,
    /// From a test to what it shares with the other tests of its project.
    Suite,
    /// From a test to what it depends on without importing it.
    Shared(SharedRole),
    /// An import.
    Import(ImportKind),
    /// It reads it.
    Data,
    /// A manifest decided a resolution.
    Consulted,
}

impl EdgeKind {
    /// Whether it leads from a test to its own file.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Own | Self::Checked)
    }

    /// Whether what lies behind it is read by a type checker, and not run.
    pub fn is_checked(self) -> bool {
        matches!(self, Self::Checked | Self::Shared(SharedRole::Program))
    }

    /// The word used in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Checked => "checked",
            Self::Suite => "suite",
            Self::Shared(_) => "shared",
            Self::Data => "data",
            Self::Consulted => "consulted",
            Self::Import(kind) => match kind {
                ImportKind::Static => "static",
                ImportKind::TypeOnly => "type-only",
                ImportKind::Dynamic => "dynamic",
                ImportKind::Require => "require",
                ImportKind::Resolve => "resolve",
                ImportKind::Mock => "mock",
                ImportKind::ReExport => "re-export",
                ImportKind::Star => "star",
                ImportKind::StringRef => "string-ref",
                ImportKind::Script => "script",
                ImportKind::Computed => "computed",
                ImportKind::Glob => "glob",
            },
        }
    }
}

/// An edge: its kind and where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// Why.
    pub kind: EdgeKind,
    /// 1-based line in the depending file; 0 where none exists.
    pub line: u32,
}

/// Something a file depends on that no edge can name, or that joins the identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Trait {
    /// What it makes of a test that reaches it.
    pub opacity: Opacity,
    /// Why, when opaque.
    pub reason: Option<Opaque>,
    /// The operation, or the specifier.
    pub operation: Box<str>,
    /// 1-based line; 0 where none exists.
    pub line: u32,
    /// Which fact of the file says so.
    pub origin: Origin,
}

/// Where a [`Trait`] comes from, in the facts of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// The effect with this number.
    Effect(u32),
    /// The import with this number.
    Import(u32),
    /// The file as a whole: it could not be read or parsed.
    File,
    /// The offered effect with this number.
    Offered(u32),
    /// What the import with this number takes by the way of the files it leads to.
    Taken(u32),
}

/// A path at which nothing is: all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Absent(pub(crate) u64);

impl Absent {
    /// Of `path`.
    pub fn new(path: &str) -> Self {
        Self(hash_of(path))
    }
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The path of a source or data node.
fn file_of(key: &NodeKey) -> Option<&str> {
    match key {
        NodeKey::Source { path, .. } | NodeKey::Data(path) => Some(path),
        _ => None,
    }
}
