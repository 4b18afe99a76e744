//! What a row of the effect table may say: how an operation is used, and what that makes
//! of the file. Nothing is decided here.

use owed_engine::facts::{Opaque, Pin};
use serde::Deserialize;

/// How an operation is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Use {
    /// In any way.
    Any,
    /// Called.
    Call,
    /// Called with no argument, or one that is or may be `undefined`.
    CallEmpty,
    /// Constructed.
    New,
    /// Constructed with no argument, or one that is or may be `undefined`.
    NewEmpty,
    /// Read as a value, so that anyone may use it.
    Read,
    /// Of a member without a row of its own; never written in the table.
    #[serde(skip)]
    Unspecific,
}

/// What an operation makes of the file that uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Pure,
    /// Inputs with a name.
    Pinned(Vec<Pin>),
    /// It cannot be named.
    Opaque(Opaque),
    /// The environment: the member read is the name.
    Env,
    /// A file-system or process operation whose arguments say which input it is.
    Acts(Act),
}

/// Operations whose class depends on their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Reads the file named by the argument with that number.
    Read(usize),
    /// Reads kind and size of it; more when more fields are used.
    Stat(usize),
    /// Lists the directory.
    List(usize),
    /// Reads everything below it.
    Tree(usize),
    /// Lists what a pattern matches.
    Glob(usize),
    /// Writes at the path in the argument.
    Write(usize),
    /// Writes at the paths in the first two arguments.
    Move,
    /// Reads the file in the first argument, writes at the second.
    Copy,
    /// The same for everything below it.
    CopyTree,
    /// Opens a file: the flags say whether to read or to write.
    Open,
    /// Asks about an open file.
    Descriptor,
    /// Loads an environment file.
    EnvFile,
    /// Starts a program: the command and its arguments.
    Spawn,
    /// Runs a shell command line.
    Shell,
    /// Runs a script of the same interpreter.
    Run(usize),
    /// Starts a worker.
    Worker,
    /// Makes code from text.
    Code,
    /// Makes code from bytes.
    Wasm,
    /// A file with a date: now, unless one is given.
    File,
    /// Serialises the body in the argument; a form gets a random boundary.
    Body(usize),
    /// Parses the command line, unless arguments are given.
    ParseArgs,
    /// Prints how long something took.
    ConsoleTime,
    /// Compares with a snapshot file.
    Snapshot,
    /// Compares with a snapshot in the test file itself.
    InlineSnapshot,
    /// Sets an environment name for a test.
    StubEnv,
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// When it holds.
    pub(super) when: Use,
    /// What it says.
    pub(super) class: Class,
}

impl Class {
    /// Worse classes have higher ranks.
    pub(super) fn rank(&self) -> u32 {
        match self {
            Self::Pure => 0,
            Self::Pinned(_) | Self::Env => 1,
            Self::Acts(
                Act::EnvFile | Act::ParseArgs | Act::Snapshot | Act::InlineSnapshot | Act::StubEnv,
            ) => 2,
            Self::Opaque(reason) if reason.is_input_opaque() => 4,
            Self::Opaque(_)
            | Self::Acts(
                Act::Write(_) | Act::Move | Act::Descriptor | Act::File | Act::Body(_) | Act::ConsoleTime,
            ) => 3,
            Self::Acts(_) => 4,
        }
    }
}
