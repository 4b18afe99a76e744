//! A person's word for a request, in the place of a run.
//!
//! It is bound to the bytes that the request is about, as they are when it is given: once
//! one of them differs, the request is pending again. It makes no evidence: no receipt, no
//! verdict, and nothing that a waiter could take.
#![expect(clippy::disallowed_methods, reason = "this module looks at the bytes that a word is bound to")]

use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::log::Event;
use super::request::Request;
use super::sealed::Form;
use super::{Fault, Pending, Queue, sealed};
use crate::lease::ProcessIdentity;
use crate::observe::{WHOLE, observe};

/// A word, and what it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// The request, or the name of the held file.
    pub request: String,
    /// The digest of the bytes it is bound to.
    pub bound: String,
    /// By which process.
    pub by: ProcessIdentity,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What was said.
    pub because: String,
}

impl Form for Acknowledgement {
    const FORM: &'static str = "owed.acknowledgement/1";
}

/// Why a word was not taken.
#[derive(Debug)]
pub enum Refused {
    /// No pending request and no held file has this name.
    Unknown,
    /// There is nothing that it could be bound to.
    Unbound(String),
    /// It could not be written down.
    Fault(Fault),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "no pending request has this name"),
            Self::Unbound(why) => write!(f, "there is nothing that the word could be bound to: {why}"),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}

impl Queue {
    /// Takes a person's word for a pending request, or a held file.
    ///
    /// # Errors
    /// When there is no such request, or nothing to bind it to.
    pub fn acknowledge(&self, name: &str, because: &str) -> Result<Acknowledgement, Refused> {
        let lock = self.lock().map_err(Refused::Fault)?;
        let pending = self.pending().map_err(Refused::Fault)?;
        let request = pending.requests.iter().find(|request| request.id == name);
        let bound = match request {
            Some(request) => self.bound(request).map_err(Refused::Unbound)?,
            None if pending.held.iter().any(|held| held.name == name) => {
                self.bytes_of(name).ok_or_else(|| Refused::Unbound("the file cannot be read".to_owned()))?
            }
            None => return Err(Refused::Unknown),
        };
        let word = Acknowledgement {
            request: name.to_owned(),
            bound,
            by: self.host.me(),
            at_ms: self.host.now_ms(),
            because: because.to_owned(),
        };
        if let Some(request) = request {
            self.log(Event::Acknowledged, request, Some(because)).map_err(Refused::Fault)?;
        }
        let path = self.path("acknowledged", name);
        sealed::write(&*self.disk, &path, &word)
            .map_err(|error| Refused::Fault(Fault::Disk { path, error }))?;
        drop(lock);
        Ok(word)
    }

    /// Takes those out of what is pending for which a word holds.
    pub(super) fn acknowledged(&self, pending: &mut Pending) -> Result<(), Fault> {
        for name in self.names("acknowledged")? {
            let read = sealed::read::<Acknowledgement>(&*self.disk, &self.path("acknowledged", &name));
            let Some(Ok(word)) = read else { continue };
            if let Some(at) = pending.requests.iter().position(|request| request.id == name) {
                if self.bound(&pending.requests[at]).is_ok_and(|bound| bound == word.bound) {
                    pending.acknowledged.push((Some(pending.requests.remove(at)), word));
                }
            } else if let Some(at) = pending.held.iter().position(|held| held.name == name)
                && self.bytes_of(&name).is_some_and(|bound| bound == word.bound)
            {
                pending.held.remove(at);
                pending.acknowledged.push((None, word));
            }
        }
        Ok(())
    }

    /// What a word for a request is bound to: the bytes of its paths, and for a full one
    /// everything that differs from the commit.
    fn bound(&self, request: &Request) -> Result<String, String> {
        let mut hasher = blake3::Hasher::new();
        for path in request.asks.changes.keys() {
            for part in [path.as_str(), &content(&self.root.join(path))?] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        if request.asks.full {
            let seen = observe(&self.root).ok().filter(|seen| seen.fingerprint.starts_with(WHOLE));
            let seen =
                seen.ok_or("it asks for every test, and the checkout cannot be observed as a whole")?;
            hasher.update(seen.fingerprint.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn bytes_of(&self, name: &str) -> Option<String> {
        content(&self.path("requests", name)).ok().filter(|content| content != "absent")
    }
}

/// The bytes at a path, as a word or a digest.
fn content(path: &Path) -> Result<String, String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok("absent".to_owned());
        }
        Err(error) => return Err(said(error)),
    };
    if metadata.is_symlink() {
        let target = fs::read_link(path).map_err(said)?;
        let behind = fs::read(path).map(|bytes| blake3::hash(&bytes).to_hex().to_string());
        return Ok(format!("link {} {}", target.display(), behind.unwrap_or_default()));
    }
    if metadata.is_dir() {
        return Ok("dir".to_owned());
    }
    let bytes = fs::read(path).map_err(said)?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}
