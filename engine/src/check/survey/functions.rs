//! Bytes to functions, or the reason why they are not known.

use crate::facts::Damage;
use crate::function::{FunctionFacts, Limits};
use crate::language::{Language, SourceFile};
use crate::problem::Unchecked;
use crate::read::text_of;

/// The functions of a file, or why they are not known.
pub(super) fn functions(
    language: &dyn Language,
    path: &str,
    bytes: &[u8],
    size: u64,
    limits: &Limits,
) -> Result<FunctionFacts, (Unchecked, Option<u32>)> {
    if bytes.len() as u64 > size {
        return Err((Unchecked::TooLarge, None));
    }
    match text_of(bytes) {
        Err(Unchecked::NotUtf8) if language.declares_encoding(bytes) => {}
        Err(reason) => return Err((reason, None)),
        Ok(_) => {}
    }
    let facts = language
        .functions_within(SourceFile { path, bytes }, limits)
        .ok_or((Unchecked::UnsupportedLanguage, None))?;
    match facts.damage.first() {
        None => Ok(facts),
        Some(Damage { cause, line, .. }) if cause.starts_with(Limits::DEPTH_CAUSE) => {
            Err((Unchecked::Depth, Some(*line)))
        }
        Some(Damage { cause, line, .. }) if cause.starts_with(Limits::WORK_CAUSE) => {
            Err((Unchecked::Timeout, Some(*line)))
        }
        Some(damage) => Err((Unchecked::Unparsable, Some(damage.line))),
    }
}
