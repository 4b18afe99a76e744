//! What the tolerant reader adds to the facts of a file that the first reader rejects.
//!
//! Only adds: what the first reader kept stays, and the damage stays. So whatever was owed
//! without this is owed with it. What is added is *possible*: an import that leads nowhere is
//! no problem of its own, because the text that it was found in may not be what it seems.

use owed_engine::facts::{Declaration, DeclarationKind, FileFacts, Presence};

use super::{Dialect, read};

/// Adds to `facts`, which have damage, what the tolerant reader sees in `text`. `declarations`
/// says that declarations are wanted.
pub(crate) fn recover(facts: &mut FileFacts, dialect: Dialect, text: &str, declarations: bool) {
    let Some(seen) = read(dialect, text) else { return };
    let known = facts.imports.len();
    for mut import in seen.imports {
        // A load of anything is what damage says already.
        let is_known = import.specifier.is_empty()
            || facts.imports[..known].iter().any(|it| {
                it.specifier == import.specifier && (it.kind == import.kind || it.span == import.span)
            });
        if !is_known {
            import.presence = Presence::Optional;
            facts.imports.push(import);
        }
    }
    facts.imports.sort_by_key(|import| import.span);
    for test in seen.tests {
        if !facts.tests.iter().any(|it| it.name == test.name || it.span == test.span) {
            facts.tests.push(test);
        }
    }
    facts.tests.sort_by_key(|test| test.span);
    if !declarations {
        return;
    }
    let functions = seen.functions.into_iter().filter_map(|it| Some((it.top?, it.span, it.line)));
    let functions = functions.map(|it| (it, DeclarationKind::Function));
    let classes = seen.classes.into_iter().map(|it| ((it.name, it.span, it.line), DeclarationKind::Class));
    for ((name, span, line), kind) in functions.chain(classes) {
        if facts.declarations.iter().any(|it| it.name == name) {
            continue;
        }
        let mut digest = [0; 16];
        let bytes = &text.as_bytes()[span.start as usize..span.end as usize];
        digest.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        facts.declarations.push(Declaration {
            name,
            kind,
            digest,
            references: Vec::new(),
            effects_at_import: true,
            line,
            span,
        });
    }
}
