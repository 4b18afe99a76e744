//! The integration tests of the engine, as one binary: they need a real disk and a
//! real git. Everything else is tested next to its code.

#![expect(clippy::disallowed_methods, reason = "tests make the projects they look at")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod disk;
mod project;
mod vcs_base;
mod vcs_changes;
mod vcs_environment;
mod vcs_files;
mod vcs_objects;
mod vcs_submodules;
