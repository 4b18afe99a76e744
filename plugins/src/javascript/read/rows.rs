//! The text form of the effect table.

use std::collections::BTreeMap;

use owed_engine::facts::{Opaque, Pin};
use serde::Deserialize;

use super::class::{Act, Class, Use};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    pub(super) schema: String,
    /// Globals of the language and of node whose every use is pure.
    pub(super) pure: Vec<String>,
    /// The same for globals of runners and browsers, which tests may also change.
    #[serde(default)]
    pub(super) platform: Vec<String>,
    /// What to do about a reason, where the row does not say it better.
    #[serde(default)]
    pub(super) fixes: BTreeMap<Opaque, String>,
    pub(super) root: Vec<RawRoot>,
    pub(super) row: Vec<RawRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRoot {
    pub(super) name: String,
    /// Other global names of it.
    #[serde(default)]
    pub(super) globals: Vec<String>,
    /// Other specifiers of it, without `node:`.
    #[serde(default)]
    pub(super) modules: Vec<String>,
    #[serde(default)]
    pub(super) pure: Vec<String>,
    #[serde(default)]
    pub(super) through: Vec<String>,
    /// Members that are other roots: `vi` of `vitest`.
    #[serde(default)]
    pub(super) leads: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) rest: Rest,
    /// Whether tests may change it without changing the platform.
    #[serde(default)]
    pub(super) own: bool,
}

#[derive(Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rest {
    /// A member without a row is opaque, with its name.
    #[default]
    Unlisted,
    /// A member without a row is pure.
    Pure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRow {
    pub(super) operation: Names,
    pub(super) class: Word,
    pub(super) when: Option<Use>,
    pub(super) reason: Option<Opaque>,
    pub(super) pin: Option<Names>,
    pub(super) argument: Option<usize>,
    pub(super) fix: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Names {
    One(String),
    Many(Vec<String>),
}

impl Names {
    pub(super) fn list(&self) -> &[String] {
        match self {
            Self::One(operation) => std::slice::from_ref(operation),
            Self::Many(operations) => operations,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Word {
    Pure,
    Pinned,
    Opaque,
    Env,
    Read,
    Stat,
    List,
    Tree,
    Glob,
    Write,
    Move,
    Copy,
    CopyTree,
    Open,
    Descriptor,
    EnvFile,
    Spawn,
    Shell,
    Run,
    Worker,
    Code,
    Wasm,
    File,
    Body,
    ParseArgs,
    ConsoleTime,
    Snapshot,
    InlineSnapshot,
    StubEnv,
}

impl RawRow {
    pub(super) fn class(&self) -> Result<Class, String> {
        let argument = self.argument.unwrap_or(0);
        let class = match self.class {
            Word::Pure => Class::Pure,
            Word::Pinned => Class::Pinned(match &self.pin {
                Some(names) => names.list().iter().map(|name| pin(name)).collect(),
                None => return Err(self.lacks("pin")),
            }),
            Word::Opaque => Class::Opaque(self.reason.ok_or_else(|| self.lacks("reason"))?),
            Word::Env => Class::Env,
            Word::Read => Class::Acts(Act::Read(argument)),
            Word::Stat => Class::Acts(Act::Stat(argument)),
            Word::List => Class::Acts(Act::List(argument)),
            Word::Tree => Class::Acts(Act::Tree(argument)),
            Word::Glob => Class::Acts(Act::Glob(argument)),
            Word::Write => Class::Acts(Act::Write(argument)),
            Word::Move => Class::Acts(Act::Move),
            Word::Copy => Class::Acts(Act::Copy),
            Word::CopyTree => Class::Acts(Act::CopyTree),
            Word::Open => Class::Acts(Act::Open),
            Word::Descriptor => Class::Acts(Act::Descriptor),
            Word::EnvFile => Class::Acts(Act::EnvFile),
            Word::Spawn => Class::Acts(Act::Spawn),
            Word::Shell => Class::Acts(Act::Shell),
            Word::Run => Class::Acts(Act::Run(argument)),
            Word::Worker => Class::Acts(Act::Worker),
            Word::Code => Class::Acts(Act::Code),
            Word::Wasm => Class::Acts(Act::Wasm),
            Word::File => Class::Acts(Act::File),
            Word::Body => Class::Acts(Act::Body(argument)),
            Word::ParseArgs => Class::Acts(Act::ParseArgs),
            Word::ConsoleTime => Class::Acts(Act::ConsoleTime),
            Word::Snapshot => Class::Acts(Act::Snapshot),
            Word::InlineSnapshot => Class::Acts(Act::InlineSnapshot),
            Word::StubEnv => Class::Acts(Act::StubEnv),
        };
        let stray = (self.reason.is_some() && self.class != Word::Opaque)
            || (self.pin.is_some() && self.class != Word::Pinned);
        if stray {
            return Err(format!("{:?} has a reason or a pin that its class does not use", self.operation));
        }
        Ok(class)
    }

    /// Classes that may turn out opaque say what to do about it, too.
    pub(super) fn needs_fix(&self) -> bool {
        !matches!(
            self.class,
            Word::Pure | Word::Pinned | Word::Env | Word::EnvFile | Word::Snapshot | Word::InlineSnapshot
        )
    }

    fn lacks(&self, key: &str) -> String {
        format!("{:?} ({:?}) lacks {key}", self.operation, self.class)
    }
}

/// `env NAME` is an environment name, anything else an input with that name.
fn pin(name: &str) -> Pin {
    match name.strip_prefix("env ") {
        Some(name) => Pin::Env(name.to_owned()),
        None => Pin::Named(name.to_owned()),
    }
}
