//! Follows a dotted name from one directory, as Python's path finder does, and keeps
//! what ran on the way (`__init__.py`) and what was looked for and is not there.

use super::index::{Child, Forms, Index, Place, join, within};

/// Where a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// In a package with `__init__.py`, or the directory it started from.
    Package(Place),
    /// In a directory without `__init__.py`.
    Namespace(Place),
    /// At a module file; names may be left over (then they can only be attributes).
    Module,
    /// A name was not found in `within`.
    Nothing {
        /// Where it was looked for.
        within: Place,
    },
}

/// One walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trail {
    /// Files that run, in order.
    pub(super) files: Vec<String>,
    /// Paths that were looked for and are not there.
    pub(super) absent: Vec<String>,
    /// How many names were found.
    pub(super) depth: usize,
    /// Where it ended.
    pub(super) end: End,
    /// Whether the first name is a package or module, not a bare directory.
    pub(super) regular: bool,
    /// Whether a native module was found, or only a native module can be meant.
    pub(super) native: bool,
}

impl Trail {
    /// Whether every one of `count` names was found.
    pub(super) fn is_complete(&self, count: usize) -> bool {
        self.depth == count
    }
}

/// Follows `names` from `start`. With `types`, stubs beside sources count as well;
/// without `absent`, what was looked for and not found is not kept.
pub(super) fn walk(index: &Index<'_>, start: &Place, names: &[&str], types: bool, absent: bool) -> Trail {
    let mut trail = Trail {
        files: Vec::new(),
        absent: Vec::new(),
        depth: 0,
        end: End::Package(start.clone()),
        regular: false,
        native: false,
    };
    let mut place = start.clone();
    for name in names {
        match index.child(&place, name) {
            Child::Package(inner) => {
                trail.files.push(index.source(&inner, "__init__"));
                if types && index.forms(&inner, "__init__").any(Forms::STUB) {
                    trail.files.push(join(index.path(&inner), "__init__.pyi"));
                }
                trail.regular |= trail.depth == 0;
                trail.end = End::Package(inner.clone());
                place = inner;
            }
            Child::Module(forms) => {
                module(index, &place, name, forms, types, &mut trail);
                if !absent {
                    trail.absent.clear();
                }
                trail.regular |= trail.depth == 0;
                trail.depth += 1;
                trail.end = End::Module;
                return trail;
            }
            Child::Namespace(inner) => {
                if absent {
                    missing(index, &place, name, types, &mut trail.absent);
                }
                trail.end = End::Namespace(inner.clone());
                place = inner;
            }
            Child::Nothing(forms) => {
                if absent {
                    missing(index, &place, name, types, &mut trail.absent);
                }
                trail.native = forms.any(Forms::NATIVE);
                trail.end = End::Nothing { within: place };
                return trail;
            }
        }
        trail.depth += 1;
    }
    trail
}

fn module(index: &Index<'_>, place: &Place, name: &str, forms: Forms, types: bool, trail: &mut Trail) {
    let dir = index.path(place);
    trail.absent.push(within(dir, name, "/__init__.py"));
    if forms.any(Forms::SOURCE) {
        trail.files.push(index.source(place, name));
    } else {
        trail.absent.push(within(dir, name, ".py"));
    }
    // A stub alone, or a binary, is a compiled module.
    trail.native = forms.any(Forms::BINARY) || !forms.any(Forms::SOURCE);
    if types && forms.any(Forms::STUB) {
        trail.files.push(within(dir, name, ".pyi"));
    }
}

/// Adds the candidates of `name` in `place` that are not there.
pub(super) fn missing(index: &Index<'_>, place: &Place, name: &str, types: bool, absent: &mut Vec<String>) {
    let dir = index.path(place);
    absent.push(within(dir, name, "/__init__.py"));
    absent.push(within(dir, name, ".py"));
    if types {
        absent.push(within(dir, name, ".pyi"));
    }
}
