//! Which commands may be recorded at all: the rules of a project's policy file.
//!
//! Rules are read anew each time they are asked, once before anything is written down
//! and once more right before the command is let go: a rule that appeared in between
//! counts. A policy that cannot be read or understood permits nothing. No rules permit
//! everything, and a rule says nothing about commands that are spelled differently.
#![expect(clippy::disallowed_methods, reason = "the policy file is read each time it is asked")]

use std::fmt;
use std::path::PathBuf;

use regex_automata::meta::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Commands that are refused.
    pub deny: Vec<Denial>,
    /// When it is there, every command that no pattern of it matches is refused.
    pub allow: Option<Vec<Pattern>>,
}

/// One `[[policy.record.deny]]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// Where it matches, the command is refused.
    pub pattern: Pattern,
    /// Why; shown with the refusal.
    pub reason: String,
}

/// A regular expression that compiles (syntax of Rust's regex crate; it may match
/// anywhere in the command).
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Regex::new(&text) {
            Ok(regex) => Ok(Self(regex)),
            Err(_) => Err(D::Error::custom(format!("`{text}` is no regular expression"))),
        }
    }
}

/// Why a command is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A rule names it.
    Rule {
        /// The rule's reason.
        reason: String,
    },
    /// There is a list of what is allowed, and it is not on it.
    NotAllowed,
    /// The policy cannot be read or understood; what is wrong with it.
    Unreadable(String),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { reason } => write!(f, "the policy denies this command: {reason}"),
            Self::NotAllowed => f.write_str("the policy allows other commands only"),
            Self::Unreadable(what) => write!(f, "the policy cannot be used: {what}"),
        }
    }
}

/// Where rules come from.
pub trait PolicySource {
    /// The rules as they are now.
    ///
    /// # Errors
    /// What is wrong with them.
    fn rules(&self) -> Result<Rules, String>;

    /// Whether a command may run.
    ///
    /// # Errors
    /// Why not.
    fn judge(&self, command: &str) -> Result<(), Denied> {
        self.rules().map_err(Denied::Unreadable)?.judge(command)
    }
}

impl Rules {
    /// Whether a command may run.
    ///
    /// # Errors
    /// Why not.
    pub fn judge(&self, command: &str) -> Result<(), Denied> {
        if let Some(rule) = self.deny.iter().find(|rule| rule.pattern.0.is_match(command)) {
            return Err(Denied::Rule { reason: rule.reason.clone() });
        }
        match &self.allow {
            Some(list) if !list.iter().any(|pattern| pattern.0.is_match(command)) => Err(Denied::NotAllowed),
            _ => Ok(()),
        }
    }
}

/// A project without rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permissive;

impl PolicySource for Permissive {
    fn rules(&self) -> Result<Rules, String> {
        Ok(Rules::default())
    }
}

/// A TOML file with a table `[policy.record]`; other tables are not looked at. A file
/// that is not there holds no rules.
#[derive(Clone, Debug)]
pub struct PolicyFile(pub PathBuf);

impl PolicySource for PolicyFile {
    fn rules(&self) -> Result<Rules, String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct File {
            policy: Section,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Section {
            record: Rules,
        }
        match std::fs::read_to_string(&self.0) {
            Ok(text) => match toml::from_str::<File>(&text) {
                Ok(file) => Ok(file.policy.record),
                Err(error) => Err(error.message().to_owned()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Rules::default()),
            Err(error) => Err(error.kind().to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(rules: &str, command: &str) -> Result<(), Denied> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("owed.toml");
        std::fs::write(&file, rules).unwrap();
        PolicyFile(file).judge(command)
    }

    #[test]
    fn rules_deny_and_lists_allow() {
        let rules = "cap = 3\n[[policy.record.deny]]\npattern = 'git\\s+push'\nreason = 'publishing has its own gate'\n";
        let reason = "publishing has its own gate".to_owned();
        assert_eq!(judge(rules, "make && git  push"), Err(Denied::Rule { reason }));
        assert_eq!(judge(rules, "make"), Ok(()));
        let rules = "[policy.record]\nallow = ['^npm test', '^cargo test']\n";
        assert_eq!(judge(rules, "npm test -- a"), Ok(()));
        assert_eq!(judge(rules, "rm -r x"), Err(Denied::NotAllowed));
        assert_eq!(judge("[policy.record]\nallow = []\n", "true"), Err(Denied::NotAllowed));
    }

    #[test]
    fn what_is_not_understood_permits_nothing() {
        for rules in [
            "[policy.record]\ndenny = []\n",
            "[[policy.record.deny]]\npattern = '('\nreason = 'x'\n",
            "[[policy.record.deny]]\npattern = 'x'\n",
            "[policy.record\n",
        ] {
            assert!(matches!(judge(rules, "true"), Err(Denied::Unreadable(_))), "{rules}");
        }
        assert_eq!(judge("", "true"), Ok(()));
        assert_eq!(PolicyFile("nowhere".into()).judge("true"), Ok(()));
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(PolicyFile(dir.path().to_owned()).judge("true"), Err(Denied::Unreadable(_))));
    }
}
