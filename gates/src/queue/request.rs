//! What somebody wants run: an immutable value, and when one stands for another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sealed::Form;
use crate::lease::ProcessIdentity;

/// How a path had changed when it was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It came into existence.
    Added,
    /// Same path, other bytes.
    Modified,
    /// It is gone.
    Deleted,
    /// It may be any of these: as if it had come and gone.
    Any,
}

impl Kind {
    /// Both at once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Any }
    }

    /// Whether what is done for this is enough for the other.
    fn includes(self, other: Self) -> bool {
        self == other || self == Self::Any
    }
}

/// Changed paths, project-relative, with how they changed.
pub type Changes = BTreeMap<String, Kind>;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    /// Every test there is. Then the changes are only inputs to look at again afterwards.
    pub full: bool,
    /// The run has to produce coverage.
    pub coverage: bool,
    /// The changes that owe tests.
    pub changes: Changes,
}

impl Asks {
    /// Whether a run for `self` is also one for `other`. A path that is not among ours is
    /// never included: nobody would look at it again after the run.
    pub fn covers(&self, other: &Self) -> bool {
        self.meets(other) && self.tracks(&other.changes)
    }

    /// Whether `self` may take the place of `narrower` once it has taken over its paths. A
    /// full request is never replaced by a selected one, nor coverage by a run without it.
    pub fn replaces(&self, narrower: &Self) -> bool {
        self.meets(narrower) && (self.full || self.tracks(&narrower.changes))
    }

    fn meets(&self, other: &Self) -> bool {
        (self.full || !other.full) && (self.coverage || !other.coverage)
    }

    fn tracks(&self, changes: &Changes) -> bool {
        changes.iter().all(|(path, kind)| self.changes.get(path).is_some_and(|own| own.includes(*kind)))
    }

    /// Takes in everything that `other` asks for.
    pub fn absorb(&mut self, other: &Self) {
        self.full |= other.full;
        self.coverage |= other.coverage;
        self.absorb_changes(&other.changes);
    }

    /// Takes over paths.
    pub fn absorb_changes(&mut self, changes: &Changes) {
        for (path, kind) in changes {
            self.changes.entry(path.clone()).and_modify(|own| *own = own.and(*kind)).or_insert(*kind);
        }
    }
}

/// How it is to be run. Requests with other terms are other work: they share no batch, and
/// none stands for the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Words for every runner.
    pub arguments: Vec<String>,
    /// How long one command may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// How many workers a runner may use.
    pub workers: Option<u64>,
    /// Children see only the names that tests are known to read.
    pub env_strict: bool,
    /// What is paid for is run, too.
    pub no_reuse: bool,
}

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// It comes from an edit: nobody waits for it, and it never makes anybody wait.
    Background,
    /// Somebody waits for it.
    Interactive,
}

impl Priority {
    /// The word in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Interactive => "interactive",
        }
    }
}

/// A request, as its file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its name, and that of its file.
    pub id: String,
    /// When it was made, in milliseconds since 1970. Shown, and the order of the queue.
    pub created_ms: u64,
    /// Who made it.
    pub by: ProcessIdentity,
    /// As which it was made.
    pub priority: Priority,
    /// What is wanted.
    pub asks: Asks,
    /// How.
    pub terms: Terms,
    /// The requests whose place it took.
    pub replaces: Vec<String>,
}

impl Form for Request {
    const FORM: &'static str = "owed.request/1";
}

/// Somebody who waits for a request, or has joined it and left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subscription {
    pub(super) request: String,
    pub(super) process: ProcessIdentity,
    pub(super) waits: bool,
}

impl Form for Subscription {
    const FORM: &'static str = "owed.subscription/1";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(full: bool, coverage: bool, paths: &[&str]) -> Asks {
        let changes = paths.iter().map(|path| ((*path).to_owned(), Kind::Modified)).collect();
        Asks { full, coverage, changes }
    }

    #[test]
    fn a_request_covers_what_it_tracks_and_produces() {
        let two = asks(false, false, &["a", "b"]);
        assert!(two.covers(&asks(false, false, &["a"])));
        assert!(two.covers(&two));
        assert!(!two.covers(&asks(false, false, &["a", "c"])));
        assert!(!two.covers(&asks(true, false, &["a"])));
        assert!(!two.covers(&asks(false, true, &["a"])));
        let full = asks(true, true, &["a"]);
        assert!(full.covers(&asks(false, true, &["a"])));
        assert!(!full.covers(&asks(false, false, &["b"])), "nobody would look at b after the run");
    }

    #[test]
    fn kinds_of_change_are_united_and_the_safe_one_includes_all() {
        let mut one = asks(false, false, &["a"]);
        let gone = Asks { changes: [("a".to_owned(), Kind::Deleted)].into(), ..Asks::default() };
        assert!(!one.covers(&gone));
        one.absorb(&gone);
        assert_eq!(one.changes["a"], Kind::Any);
        assert!(one.covers(&gone));
    }

    #[test]
    fn what_may_take_whose_place() {
        let full = asks(true, false, &[]);
        assert!(full.replaces(&asks(false, false, &["a"])));
        assert!(!asks(false, false, &["a"]).replaces(&full));
        assert!(!full.replaces(&asks(false, true, &["a"])));
        assert!(asks(false, false, &["a", "b"]).replaces(&asks(false, false, &["b"])));
        assert!(!asks(false, false, &["a"]).replaces(&asks(false, false, &["a", "b"])));
    }
}
