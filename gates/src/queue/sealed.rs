//! Sealed files: one JSON value under a line with its form and its BLAKE3. Written beside
//! its place, synced, moved there, and never changed.
//!
//! What cannot be read back as it was written is [`Held`], by its reason; it is never taken
//! for nothing.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::{Disk, Mode, read_from};

/// No file of the queue is longer.
const MOST_BYTES: usize = 64 << 20;

/// How the names of files begin that are being written.
pub(super) const DRAFT: &str = ".draft-";

/// Why a file is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// It cannot be read, or is no regular file.
    Unreadable,
    /// It does not begin as ours do, or is not named after what is in it.
    Foreign,
    /// A version that this program does not know.
    Newer,
    /// Its bytes are not those that were sealed: cut, or edited.
    Damaged,
    /// Sealed, and yet no value of its form.
    Malformed,
}

impl Held {
    /// The word in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Foreign => "foreign",
            Self::Newer => "newer-version",
            Self::Damaged => "damaged",
            Self::Malformed => "malformed",
        }
    }
}

/// A value with a form of its own, `owed.NAME/MAJOR`.
pub(super) trait Form: Serialize + DeserializeOwned {
    const FORM: &'static str;
}

/// The bytes of a file.
pub(super) fn sealed<T: Form>(value: &T) -> Vec<u8> {
    let body = serde_json::to_string(value).expect("what the queue writes has a form in JSON");
    format!("{} {}\n{body}\n", T::FORM, seal(T::FORM, &body)).into_bytes()
}

fn seal(form: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [form, body] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The value that was sealed.
pub(super) fn opened<T: Form>(bytes: &[u8]) -> Result<T, Held> {
    let stem = T::FORM.split('/').next().expect("a split has a first part");
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(if bytes.starts_with(stem.as_bytes()) { Held::Damaged } else { Held::Foreign });
    };
    let Some((head, body)) = text.split_once('\n') else {
        return Err(if text.starts_with(stem) || stem.starts_with(text) {
            Held::Damaged
        } else {
            Held::Foreign
        });
    };
    let Some((form, digest)) = head.split_once(' ') else { return Err(Held::Foreign) };
    if form != T::FORM {
        let other = form.strip_prefix(stem).is_some_and(|rest| rest.starts_with('/'));
        return Err(if other { Held::Newer } else { Held::Foreign });
    }
    let body = body.strip_suffix('\n').ok_or(Held::Damaged)?;
    if seal(form, body) != digest {
        return Err(Held::Damaged);
    }
    serde_json::from_str(body).map_err(|_| Held::Malformed)
}

/// Reads a sealed file; `None` when nothing is there.
pub(super) fn read<T: Form>(disk: &dyn Disk, path: &Path) -> Option<Result<T, Held>> {
    let file = match disk.open(path, Mode::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(Err(Held::Unreadable)),
    };
    let is_small = file.size().is_ok_and(|size| size <= MOST_BYTES as u64);
    let bytes = if is_small { read_from(&*file, 0, MOST_BYTES).ok() } else { None };
    Some(bytes.map_or(Err(Held::Unreadable), |bytes| opened(&bytes)))
}

/// Writes a sealed file; when this returns, it is there whole and durable.
pub(super) fn write<T: Form>(disk: &dyn Disk, path: &Path, value: &T) -> io::Result<()> {
    put(disk, path, value, true)
}

/// The same for what is only of use while this machine runs: whole, but not synced.
pub(super) fn write_lightly<T: Form>(disk: &dyn Disk, path: &Path, value: &T) -> io::Result<()> {
    put(disk, path, value, false)
}

fn put<T: Form>(disk: &dyn Disk, path: &Path, value: &T, is_durable: bool) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let draft = dir.join(format!("{DRAFT}{}-{number}", std::process::id()));
    let bytes = sealed(value);
    let file = disk.open(&draft, Mode::Create)?;
    file.truncate(0)?;
    let mut written = 0;
    while written < bytes.len() {
        match file.write_at(written as u64, &bytes[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if is_durable {
        file.sync()?;
    }
    disk.rename(&draft, path)?;
    if is_durable { disk.sync_dir(dir) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Number {
        number: u32,
    }

    impl Form for Number {
        const FORM: &'static str = "owed.number/1";
    }

    #[test]
    fn whatever_is_not_as_it_was_sealed_is_named() {
        let bytes = sealed(&Number { number: 7 });
        assert_eq!(opened::<Number>(&bytes), Ok(Number { number: 7 }));
        for cut in 0..bytes.len() {
            let held = opened::<Number>(&bytes[..cut]).unwrap_err();
            assert!(matches!(held, Held::Damaged | Held::Foreign), "{cut}: {held:?}");
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(opened::<Number>(&other).is_err(), "{at}");
        }
        let newer = String::from_utf8(bytes).unwrap().replace("number/1", "number/2");
        assert_eq!(opened::<Number>(newer.as_bytes()), Err(Held::Newer));
        assert_eq!(opened::<Number>(b"{\"number\":7}\n"), Err(Held::Foreign));
        let more = r#"{"number":7,"more":1}"#;
        let text = format!("owed.number/1 {}\n{more}\n", seal("owed.number/1", more));
        assert_eq!(opened::<Number>(text.as_bytes()), Err(Held::Malformed));
    }
}
