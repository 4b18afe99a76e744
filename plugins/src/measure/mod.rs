//! What every reader of functions shares: the stack of open functions, their normalised
//! shapes, digests and complexity.
//!
//! A language walks its tree once and tells [`Builder`] what it meets, in source order;
//! the builder keeps one buffer for all open functions, so that nested functions cost no
//! more than what they hold. It knows no grammar, and it decides nothing about names.
//!
//! **Nested functions in a shape.** A function with an expression body (`x => x + 1`, a
//! `lambda`) is part of the shape around it, up to eight levels deep. Any other nested
//! function, and a class, is one symbol there: the hash of what it says, with names as
//! written. So a function's symbols are bounded by its own tokens.
//!
//! **Cognitive complexity** follows G. A. Campbell's paper: what a nested function adds
//! counts for the functions around it, too, one level of nesting deeper.

mod builder;
mod calls;
mod hash;
mod names;
mod tokens;

pub(crate) use builder::{Builder, ClassMark, Opening};
pub(crate) use calls::Target;
pub(crate) use hash::{Tag, hash};
pub(crate) use names::{Frames, Named};
pub(crate) use tokens::{Lexeme, Text, measure};

/// A string literal whatever quotes it is written in: `inner` is what stands between them.
/// Quotes that need no escape have none, as formatters write them.
pub(crate) fn requoted(prefix: &str, inner: &str, raw: bool) -> String {
    let mut text = String::with_capacity(inner.len() + 2);
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' || raw {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some(quote @ ('"' | '\'')) => text.push(quote),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    let mark = if text.contains('"') && !text.contains('\'') { '\'' } else { '"' };
    format!("{prefix}{mark}{text}{mark}")
}

/// A cause without the control characters that a parser quotes from the source.
pub(crate) fn shown(cause: &str) -> String {
    let mut text = String::with_capacity(cause.len());
    for letter in cause.chars() {
        if letter.is_control() { text.extend(letter.escape_unicode()) } else { text.push(letter) }
    }
    text
}
