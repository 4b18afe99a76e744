//! The complete text of a command as it is dispatched, and its limit.
//!
//! A command of the shell runs behind a wrapper that enters the checkout. The command is
//! quoted into it in one of two ways: *original*, in single quotes, as it has always
//! been; and *compact*, in double quotes, which is used only where the original would be
//! over the limit. A command of 16,000 characters that are all single quotes is 64,000 in
//! the original form and 16,000 in the other; no text needs more than 32,000 in the
//! compact form. The hash of an operation is that of the original form wherever that
//! fits, so that it does not depend on there being another.

use std::path::Path;

use crate::ledger::Digest;

/// Characters of the complete dispatched text.
pub const DISPATCH_CHARS: usize = 64_000;

/// How the arguments behind `--` are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A text for `/bin/sh`.
    Shell(String),
    /// A program and its arguments, executed as they are.
    Program(Vec<String>),
}

/// A command, ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The complete text: what the limit counts, and what the hash is of.
    pub text: String,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Why a command cannot be dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// The complete text has more than [`DISPATCH_CHARS`] characters in either form.
    Text,
    /// The checkout's path cannot be written into it.
    Path,
}

impl Command {
    /// One text that stands for the command: what the shell is given, or the arguments
    /// quoted for it. Records and policies see this.
    pub fn text(&self) -> String {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Program(words) => words.iter().map(|word| plainly(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// The command for a checkout.
    ///
    /// # Errors
    /// When it is too long. It is never shortened.
    pub fn dispatch(&self, checkout: &Path) -> Result<Dispatch, TooLong> {
        let path = checkout.to_str().ok_or(TooLong::Path)?;
        let fits = |text: &String| text.chars().count() <= DISPATCH_CHARS;
        let enter = format!("cd {} && exec ", single(path));
        match self {
            Self::Shell(command) => {
                let shell = format!("{enter}/bin/sh -c ");
                let original = format!("{shell}{}", single(command));
                let text = Some(original)
                    .filter(fits)
                    .or_else(|| Some(format!("{shell}{}", double(command))).filter(fits))
                    .ok_or(TooLong::Text)?;
                let arguments = vec!["-c".to_owned(), text.clone()];
                Ok(Dispatch { text, program: "/bin/sh".to_owned(), arguments })
            }
            Self::Program(words) => {
                let text = Some(format!("{enter}{}", self.text())).filter(fits).ok_or(TooLong::Text)?;
                let (program, arguments) = words.split_first().ok_or(TooLong::Text)?;
                Ok(Dispatch { text, program: program.clone(), arguments: arguments.to_vec() })
            }
        }
    }
}

impl Dispatch {
    /// The hash of the operation.
    pub fn hash(&self) -> Digest {
        Digest::of("owed check 1: operation", &[self.text.as_bytes()])
    }
}

/// In single quotes: nothing in it means anything to a shell.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// In double quotes, with the four characters escaped that mean something in them.
fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '$' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// As a person would type it.
fn plainly(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
    };
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { single(word) }
}
