//! Bytes to functions, or the reason why they are not known.

use crate::facts::Damage;
use crate::function::FunctionFacts;
use crate::language::{Language, SourceFile};
use crate::problem::Unchecked;
use crate::read::text_of;

/// The functions of a file, or why they are not known.
pub(super) fn functions(
    language: &dyn Language,
    path: &str,
    bytes: &[u8],
    limit: u64,
) -> Result<FunctionFacts, (Unchecked, Option<u32>)> {
    if bytes.len() as u64 > limit {
        return Err((Unchecked::TooLarge, None));
    }
    match text_of(bytes) {
        Err(Unchecked::NotUtf8) if language.declares_encoding(bytes) => {}
        Err(reason) => return Err((reason, None)),
        Ok(_) => {}
    }
    let facts =
        language.functions(SourceFile { path, bytes }).ok_or((Unchecked::UnsupportedLanguage, None))?;
    match facts.damage.first() {
        None => Ok(facts),
        Some(Damage { cause, line, .. }) if cause.starts_with("depth") => {
            Err((Unchecked::Depth, Some(*line)))
        }
        Some(damage) => Err((Unchecked::Unparsable, Some(damage.line))),
    }
}
