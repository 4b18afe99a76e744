//! What changed between two states of a project.

use serde::{Deserialize, Serialize};

/// How a path changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ChangeKind {
    /// New since the base, and tracked or staged.
    Added,
    /// Same path, other bytes or another mode.
    Modified,
    /// Gone since the base.
    Deleted,
    /// This path is new and holds (nearly) what `from` held. `from` is reported as
    /// a deletion of its own by [`Change::vanished`].
    Renamed {
        /// The old path.
        from: String,
    },
    /// File became a symlink, a submodule, or the other way round.
    TypeChanged,
    /// New and not tracked (and not ignored).
    Untracked,
}

impl ChangeKind {
    /// The word used in answers.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed { .. } => "renamed",
            Self::TypeChanged => "type-changed",
            Self::Untracked => "untracked",
        }
    }
}

/// One changed path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Change {
    /// Project-relative path, at the head side (at the base side for a deletion).
    pub path: String,
    /// How it changed.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

impl Change {
    /// The path that came into existence, if this change made one.
    pub fn appeared(&self) -> Option<&str> {
        match self.kind {
            ChangeKind::Added
            | ChangeKind::Renamed { .. }
            | ChangeKind::Untracked
            | ChangeKind::TypeChanged => Some(&self.path),
            ChangeKind::Modified | ChangeKind::Deleted => None,
        }
    }

    /// The path that ceased to exist, if this change removed one.
    pub fn vanished(&self) -> Option<&str> {
        match &self.kind {
            ChangeKind::Deleted | ChangeKind::TypeChanged => Some(&self.path),
            ChangeKind::Renamed { from } => Some(from),
            _ => None,
        }
    }

    /// Every path this change touches: its own, and the old one of a rename.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let from = match &self.kind {
            ChangeKind::Renamed { from } => Some(from.as_str()),
            _ => None,
        };
        std::iter::once(self.path.as_str()).chain(from)
    }
}
