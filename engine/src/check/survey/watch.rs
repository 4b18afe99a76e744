//! Which functions may be somebody that is remembered: only of these an identity is kept.

use rustc_hash::FxHashSet;

use crate::check::ratchet::{Base, Debt, half, simple};
use crate::check::repeated::content_digest;
use crate::function::Function;

/// Which functions may be somebody that is remembered.
#[derive(Default)]
pub(super) struct Watch {
    paths: FxHashSet<String>,
    contents: FxHashSet<u64>,
    names: FxHashSet<String>,
    /// Contents of fewer tokens are not looked for.
    least: u32,
}

impl Watch {
    pub(super) fn new(debt: Option<&Debt>, base: Option<&Base>) -> Self {
        let mut watch = Self { least: u32::MAX, ..Self::default() };
        for entry in debt.into_iter().flat_map(|debt| &debt.functions) {
            watch.paths.insert(entry.identity.path.clone());
            watch.contents.insert(entry.identity.content);
            // Types are not part of a content, so one of equal content may be smaller.
            watch.least = watch.least.min(entry.identity.tokens / 2);
            watch.names.insert(simple(&entry.identity.name).to_owned());
        }
        watch.paths.extend(base.into_iter().flat_map(|base| base.files.keys().cloned()));
        watch
    }

    pub(super) fn holds(&self, path: &str, function: &Function) -> bool {
        self.paths.contains(path)
            || self.names.contains(simple(&function.name))
            || !self.contents.is_empty()
                && function.own_tokens >= self.least
                && self.contents.contains(&half(&content_digest(&function.shape).to_le_bytes()))
    }

    /// Whether a file is looked at whatever is asked about.
    pub(super) fn holds_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}
