//! The environment of a run: what the child sees, and what of it is an input.
//!
//! By default the child sees everything, and everything counts but what no runner's verdict
//! hangs on: the shell's own bookkeeping and what git sets for its hooks. Under `strict` it
//! sees the names that its tests are known to read and a small set that programs need to
//! start, and only these count: receipts then outlive a shell and a machine.

use std::collections::{BTreeMap, BTreeSet};

use owed_engine::receipt::{Dimension, Entry};

/// Names that never count (requirement row B3), and nothing besides.
pub(super) const DROPPED: &[&str] =
    &["GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH", "GIT_PREFIX", "OLDPWD", "PWD", "SHLVL", "_"];

/// How our own bookkeeping is called.
const OWN: &str = "OWED_";

/// What programs need to start, under `strict`.
const RUNTIME: &[&str] = &["HOME", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "VIRTUAL_ENV"];

/// What decides the locale, together.
pub(super) const LOCALE: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
];

/// What decides much that nobody reads by name, besides the locale.
const AMBIENT: &[&str] =
    &["NODE_ICU_DATA", "NODE_OPTIONS", "NODE_PATH", "PYTHONHASHSEED", "PYTHONPATH", "TZ"];

/// A process environment, by name. Values never leave this type but for a child.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    names: BTreeMap<String, String>,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names.keys()).finish()
    }
}

impl Environment {
    /// Of these names and values.
    pub fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { names: names.into_iter().collect() }
    }

    /// A value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(String::as_str)
    }

    /// The same with one name set.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.names.insert(name.to_owned(), value.to_owned());
        self
    }

    /// What a child sees: everything but the dropped names and our own, or under `strict`
    /// what it needs to start and what is `pinned`.
    #[must_use]
    pub fn for_child(&self, strict: Option<&BTreeSet<String>>) -> Self {
        let sees = |name: &String| match strict {
            None => !DROPPED.contains(&name.as_str()) && !name.starts_with(OWN),
            Some(pinned) => {
                RUNTIME.contains(&name.as_str())
                    || AMBIENT.contains(&name.as_str())
                    || LOCALE.contains(&name.as_str())
                    || (pinned.contains(name) && !name.starts_with(OWN))
            }
        };
        Self {
            names: self
                .names
                .iter()
                .filter(|(name, _)| sees(name))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect(),
        }
    }

    /// All of it, for a child.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// An entry for each name.
    pub fn entries(&self) -> Vec<Entry> {
        self.names.keys().map(|name| self.entry(name)).collect()
    }

    /// The entry of one name: unset, empty and a value are three things.
    pub fn entry(&self, name: &str) -> Entry {
        let seen = match self.get(name) {
            None => "unset".to_owned(),
            Some("") => "empty".to_owned(),
            Some(value) => blake3::hash(value.as_bytes()).to_hex().to_string(),
        };
        Entry::new(Dimension::Environment, name, seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bookkeeping_is_dropped_and_three_states_are_told_apart() {
        let names = ["PATH", "TMPDIR", "CI", "PWD", "_", "OWED_X", "SHLVL", "GIT_PREFIX", "EMPTY"];
        let all = names.map(|name| (name.to_owned(), if name == "EMPTY" { "" } else { "1" }.to_owned()));
        let environment = Environment::new(all);
        let child = environment.for_child(None);
        assert_eq!(child.pairs().map(|(n, _)| n).collect::<Vec<_>>(), ["CI", "EMPTY", "PATH", "TMPDIR"]);
        let pinned = BTreeSet::from(["CI".to_owned(), "NOT_SET".to_owned()]);
        let strict = environment.for_child(Some(&pinned));
        assert_eq!(strict.pairs().map(|(n, _)| n).collect::<Vec<_>>(), ["CI", "PATH"]);
        assert_eq!(child.entry("NOT_SET").seen, "unset");
        assert_eq!(child.entry("EMPTY").seen, "empty");
        assert!(!format!("{environment:?}").contains('1'));
    }
}
