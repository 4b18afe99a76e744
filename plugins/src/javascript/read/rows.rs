//! The text form of the effect table.

use owed_engine::facts::Opaque;
use serde::Deserialize;

use super::table::{Act, Class, Use};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    pub(super) schema: String,
    pub(super) pure: Vec<String>,
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
    #[serde(default)]
    pub(super) rest: Rest,
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
    pub(super) operation: Operations,
    pub(super) class: Word,
    pub(super) when: Option<Use>,
    pub(super) reason: Option<Opaque>,
    pub(super) pin: Option<String>,
    pub(super) argument: Option<usize>,
    pub(super) fix: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Operations {
    One(String),
    Many(Vec<String>),
}

impl Operations {
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
    EnvFile,
    Spawn,
    Shell,
    Run,
    Worker,
}

impl RawRow {
    pub(super) fn class(&self) -> Result<Class, String> {
        let argument = self.argument.unwrap_or(0);
        let class = match self.class {
            Word::Pure => Class::Pure,
            Word::Pinned => Class::Pinned(self.pin.clone().ok_or_else(|| self.lacks("pin"))?),
            Word::Opaque => Class::Opaque(self.reason.ok_or_else(|| self.lacks("reason"))?),
            Word::Env => Class::Env,
            Word::Read => Class::Acts(Act::Read(argument)),
            Word::Stat => Class::Acts(Act::Stat(argument)),
            Word::List => Class::Acts(Act::List(argument)),
            Word::Tree => Class::Acts(Act::Tree(argument)),
            Word::Glob => Class::Acts(Act::Glob(argument)),
            Word::Write => Class::Acts(Act::Write),
            Word::EnvFile => Class::Acts(Act::EnvFile),
            Word::Spawn => Class::Acts(Act::Spawn),
            Word::Shell => Class::Acts(Act::Shell),
            Word::Run => Class::Acts(Act::Run(argument)),
            Word::Worker => Class::Acts(Act::Worker),
        };
        let stray = (self.reason.is_some() && self.class != Word::Opaque)
            || (self.pin.is_some() && self.class != Word::Pinned);
        if stray {
            return Err(format!("{:?} has a reason or a pin that its class does not use", self.operation));
        }
        if self.fix.is_none() && self.class == Word::Opaque {
            return Err(self.lacks("fix"));
        }
        Ok(class)
    }

    fn lacks(&self, key: &str) -> String {
        format!("{:?} ({:?}) lacks {key}", self.operation, self.class)
    }
}
