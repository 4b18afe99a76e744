//! Table-driven tests of the reader, one file an idea.

mod damage;
mod declarations;
mod effects;
mod files;
mod imports;
mod suites;

use owed_engine::facts::FileFacts;
use owed_engine::language::SourceFile;

/// The facts of a text under a path.
fn facts(path: &str, text: &str) -> FileFacts {
    super::read(SourceFile { path, bytes: text.as_bytes() })
}

/// The facts of a TypeScript module without damage.
fn module(text: &str) -> FileFacts {
    let facts = facts("src/a.ts", text);
    assert_eq!(facts.damage, [], "{text}");
    facts
}
