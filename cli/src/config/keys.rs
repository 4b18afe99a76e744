//! The keys of the configuration, as serde reads them from TOML or JSON. Values are
//! checked while they are read, so that an error points at its place in the file.

use std::collections::BTreeMap;
use std::fmt;

use owed_engine::function::Limits as Reach;
use owed_gates::policy::Rules;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Unexpected, Visitor};

/// All of it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Keys {
    /// The token cap of a function.
    pub cap: Option<u32>,
    /// Token caps by path.
    pub caps: Vec<Cap>,
    /// Files to leave out of everything.
    pub exclude: Vec<Pattern>,
    /// Files that owe nothing unless a closure contains them.
    pub inert: Option<Vec<Pattern>>,
    /// Tests that depend on files by declaration.
    pub inputs: Vec<Inputs>,
    /// Limits of reading.
    pub limits: Limits,
    /// Rules for what may be run.
    pub policy: Option<Policy>,
}

/// `[policy]`. Keys other than these are for commands that are not built yet.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Policy {
    /// Which commands `owed record` may run.
    #[serde(default)]
    pub record: Rules,
    /// Which tests receipts never pay for.
    #[serde(default)]
    pub reuse: Reuse,
    /// The rest.
    #[serde(flatten)]
    pub others: BTreeMap<String, IgnoredAny>,
}

/// `[policy.reuse]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Reuse {
    /// Tests that are run whatever any receipt says.
    pub never: Vec<Never>,
}

/// One `[[policy.reuse.never]]` table.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Never {
    /// Test files.
    pub tests: Vec<Pattern>,
    /// Why; shown where they are run.
    pub reason: Option<String>,
}

/// One `[[caps]]` table.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cap {
    /// Files it holds for.
    pub paths: Vec<Pattern>,
    /// The cap.
    pub cap: u32,
}

/// One `[[inputs]]` table.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inputs {
    /// Test files.
    pub tests: Vec<Pattern>,
    /// What they depend on.
    pub files: Vec<Pattern>,
}

/// `[limits]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Larger files are not parsed.
    pub file_size: Option<Bytes>,
    /// Deeper nesting is not followed.
    pub depth: Option<Depth>,
}

/// A glob that compiles.
#[derive(Debug)]
pub(crate) struct Pattern(pub String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Err(D::Error::custom("an empty glob matches nothing"));
        }
        if text.starts_with('/') || text.split('/').any(|segment| segment == "..") {
            return Err(D::Error::custom(format!(
                "`{text}` leaves the project; globs are relative to its root"
            )));
        }
        match globset::Glob::new(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(D::Error::custom(format!("`{text}` is no glob: {}", error.kind()))),
        }
    }
}

/// A depth of nesting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth(pub u32);

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let levels = i64::deserialize(deserializer)?;
        let sensible = u32::try_from(levels).ok().filter(|levels| Reach::DEPTHS.contains(levels));
        sensible.map(Self).ok_or_else(|| {
            D::Error::custom(format!(
                "a depth of {levels} is out of reach: it is a number of levels from {} to {}, {} by default",
                Reach::DEPTHS.start(),
                Reach::DEPTHS.end(),
                Reach::DEPTH
            ))
        })
    }
}

/// The smallest limit on the size of files: with less, nearly nothing would be read.
const SMALLEST: u64 = 512;
/// The largest: positions in a file are numbers of 32 bits, and its tree takes a multiple of it.
const LARGEST: u64 = 1 << 30;

/// A size: a number of bytes, or a text such as `"5 MiB"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes(pub u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes, or a text such as \"5 MiB\"")
            }

            fn visit_u64<E: Error>(self, bytes: u64) -> Result<Bytes, E> {
                match bytes {
                    0 => Err(E::invalid_value(Unexpected::Unsigned(0), &self)),
                    1..SMALLEST => Err(E::custom(format!(
                        "a limit of {bytes} bytes would leave out nearly every file; for {bytes} MiB write \"{bytes} MiB\""
                    ))),
                    SMALLEST..=LARGEST => Ok(Bytes(bytes)),
                    _ => Err(E::custom(format!(
                        "a limit of {bytes} bytes is more than can be read: at most \"1 GiB\""
                    ))),
                }
            }

            fn visit_i64<E: Error>(self, bytes: i64) -> Result<Bytes, E> {
                match u64::try_from(bytes) {
                    Ok(bytes) => self.visit_u64(bytes),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(bytes), &self)),
                }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                match size(text) {
                    Some(bytes) => self.visit_u64(bytes),
                    None => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit: u64 = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("5 MiB"), Some(5 << 20));
        assert_eq!(size("12"), Some(12));
        assert_eq!(size("1kB"), Some(1000));
        assert_eq!(size("MiB"), None);
        assert_eq!(size("5 apples"), None);
        assert_eq!(size("99999999999999999999 GiB"), None);
    }
}
