//! What a changed manifest or lock file means.

pub(super) mod jsonc;
pub(super) mod yaml;

use owed_engine::language::ManifestDiff;
use owed_engine::tree::Tree;

/// The meaning of a changed manifest or lock file; `None` when `path` is neither.
pub fn diff(
    _tree: &dyn Tree,
    _path: &str,
    _base: Option<&[u8]>,
    _head: Option<&[u8]>,
) -> Option<ManifestDiff> {
    None
}
