//! Names and digests that the ledger takes: checked when they are made and again when they
//! are read, so that no record can hold one that the writer would have refused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a name or a text was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Of what kind it should have been.
    pub what: &'static str,
    /// Which rule it breaks.
    pub rule: &'static str,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.rule)
    }
}

impl std::error::Error for Invalid {}

macro_rules! checked_text {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks a text.
            ///
            /// # Errors
            /// [`Invalid`] with the rule it breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
                let text = text.into();
                let check: fn(&str) -> Result<(), &'static str> = $check;
                match check(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(rule) => Err(Invalid { what: $what, rule }),
                }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// A run's name is the name of its directory, so it is a plain file name on every system.
fn plain_name(text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > 64 {
        return Err("1 to 64 characters");
    }
    if text.starts_with('.') {
        return Err("does not start with a dot");
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
        return Err("only letters and digits of ASCII, '.', '_' and '-'");
    }
    Ok(())
}

fn label(text: &str) -> Result<(), &'static str> {
    // Room for the path of a checkout; three of these are in what a call reserves.
    if text.is_empty() || text.len() > 1024 {
        return Err("1 to 1,024 bytes");
    }
    if text.chars().any(char::is_control) {
        return Err("no control characters");
    }
    Ok(())
}

checked_text! {
    /// The name of a run: its directory in the ledger.
    RunId, "run id", plain_name
}

checked_text! {
    /// The identity of a call within its run.
    CallId, "call id", |text: &str| {
        if text.len() > 128 {
            return Err("at most 128 bytes");
        }
        label(text)
    }
}

checked_text! {
    /// A label that a caller gives and that is only ever compared byte by byte: an owner, a
    /// thread, a workspace, a resource.
    Label, "label", label
}

/// A BLAKE3 digest, written as 64 hexadecimal digits in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a list of parts under a domain. Each part is preceded by its length, so
    /// that no two lists give the same bytes.
    #[must_use]
    pub fn of(domain: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// A digest that was computed elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.hex())
    }
}

impl TryFrom<String> for Digest {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let invalid = Invalid { what: "digest", rule: "64 hexadecimal digits in lower case" };
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(invalid);
        }
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| invalid)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.hex()
    }
}
