//! Snapshots: what an assertion compares with is an input, and whether it may be
//! written.

use owed_engine::facts::{PathBase, PathExpr, Pin};
use oxc_span::Span;

use super::walk::Walk;

impl Walk<'_, '_> {
    /// `toMatchSnapshot()`, or `toMatchInlineSnapshot()`, which is kept in the test itself.
    /// Where a project keeps its snapshots elsewhere, its runner says so.
    pub(super) fn snapshot(&mut self, name: &str, file: bool, span: Span) {
        if file {
            let path = PathExpr { base: PathBase::Module, path: format!("__snapshots__/{}.snap", self.file) };
            self.pinned(name, Pin::File(path), span);
            self.snapshot_flags(name, span);
        } else {
            self.named(name, "self", span);
        }
    }

    /// What decides whether a snapshot file is compared or written.
    pub(super) fn snapshot_flags(&mut self, name: &str, span: Span) {
        self.pinned(name, Pin::Env("CI".to_owned()), span);
        self.named(name, "snapshot-update", span);
    }
}
