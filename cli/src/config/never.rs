//! `[[policy.reuse.never]]`: tests that no receipt pays for, of whatever store.
//!
//! An owner's word only adds work here: it takes reuse away and never allows any.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Which tests are run whatever any receipt says.
#[derive(Debug, Default)]
pub(crate) struct NeverReused {
    tables: Vec<(GlobSet, Vec<String>, Option<String>)>,
}

impl NeverReused {
    /// Of tables of globs, relative to the project, with the owner's reason.
    pub(crate) fn new(tables: impl Iterator<Item = (Vec<String>, Option<String>)>) -> Self {
        let table = |(globs, reason): (Vec<String>, Option<String>)| {
            let mut set = GlobSetBuilder::new();
            for glob in &globs {
                set.add(Glob::new(glob).expect("patterns of the configuration compile"));
            }
            (set.build().expect("patterns of the configuration compile"), globs, reason)
        };
        Self { tables: tables.map(table).collect() }
    }

    /// Why the test file at `path` is not reused, for a person.
    pub(crate) fn why(&self, path: &str) -> Option<String> {
        let (set, globs, reason) = self.tables.iter().find(|(set, ..)| set.is_match(path))?;
        let first = set.matches(path).first().map_or("", |&at| globs[at].as_str());
        Some(match reason {
            Some(reason) => format!("policy.reuse.never `{first}`: {reason}"),
            None => format!("policy.reuse.never `{first}`"),
        })
    }
}
