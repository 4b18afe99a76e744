//! The raw output of `git diff`: two modes, two blob ids, a status and a path or two.

use super::error::VcsError;
use super::index::Mode;
use super::run::{fields, utf8};

/// What every raw diff is asked with: nothing that a user's configuration could turn
/// into other words.
pub(crate) const ARGUMENTS: [&str; 6] =
    ["--raw", "-z", "--no-abbrev", "--no-ext-diff", "--no-relative", "--no-color"];

/// Submodules are looked into, however they are configured.
pub(crate) const WITH_SUBMODULES: &str = "--ignore-submodules=none";

/// Submodules are left alone: git would run a process in each.
pub(crate) const WITHOUT_SUBMODULES: &str = "--ignore-submodules=all";

/// Renames, as both sides. The limit bounds the comparison of many new with many old
/// files; over it they are a deletion and an addition, which owe the same. Empty files
/// are not paired: any two would match.
pub(crate) const RENAMES: [&str; 3] = ["-M", "-l400", "--no-rename-empty"];

/// Renames as a deletion and an addition. With the plumbing commands, which alone need
/// `-r`, no content is compared for this.
pub(crate) const NO_RENAMES: [&str; 2] = ["-r", "--no-renames"];

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) old_mode: Mode,
    pub(crate) new_mode: Mode,
    pub(crate) old_oid: String,
    /// All zeros when the new side is the disk and git did not hash it.
    pub(crate) new_oid: String,
    /// `A`, `D`, `M`, `R`, `T` or `U`.
    pub(crate) status: u8,
    /// Where it is now (where it was, for a deletion).
    pub(crate) path: String,
    /// Where it was, for a rename.
    pub(crate) from: Option<String>,
}

/// The records of `bytes`, and (lossily) the paths that are no UTF-8.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Vec<Record>, Vec<String>), VcsError> {
    let mut records = Vec::new();
    let mut undecodable = Vec::new();
    let mut fields = fields(bytes);
    while let Some(head) = fields.next() {
        let unexpected = || VcsError::Unexpected {
            command: "diff --raw".to_owned(),
            detail: String::from_utf8_lossy(head).into_owned(),
        };
        let mut record = parse_head(head).ok_or_else(unexpected)?;
        let first = utf8(fields.next().ok_or_else(unexpected)?);
        if !matches!(record.status, b'R' | b'C') {
            match first {
                Ok(path) => records.push(Record { path, ..record }),
                Err(lossy) => undecodable.push(lossy),
            }
            continue;
        }
        let second = utf8(fields.next().ok_or_else(unexpected)?);
        match (first, second) {
            (Ok(from), Ok(path)) => {
                // A copy leaves its source alone. It is not asked for, so this is only
                // for a git that gives one nevertheless.
                if record.status == b'C' {
                    record = Record { status: b'A', old_mode: Mode::Absent, ..record };
                    records.push(Record { path, ..record });
                } else {
                    records.push(Record { path, from: Some(from), ..record });
                }
            }
            // A rename of which one side cannot be named is the other side.
            (Ok(from), Err(lossy)) => {
                undecodable.push(lossy);
                if record.status == b'R' {
                    records.push(Record { path: from, status: b'D', new_mode: Mode::Absent, ..record });
                }
            }
            (Err(lossy), Ok(path)) => {
                undecodable.push(lossy);
                records.push(Record { path, status: b'A', old_mode: Mode::Absent, ..record });
            }
            (Err(a), Err(b)) => undecodable.extend([a, b]),
        }
    }
    Ok((records, undecodable))
}

/// `:OLDMODE SP NEWMODE SP OLDOID SP NEWOID SP STATUS[SCORE]`
fn parse_head(head: &[u8]) -> Option<Record> {
    let mut parts = head.strip_prefix(b":")?.split(|b| *b == b' ');
    let old_mode = Mode::parse(parts.next()?)?;
    let new_mode = Mode::parse(parts.next()?)?;
    let mut oid = || Some(std::str::from_utf8(parts.next()?).ok()?.to_owned());
    let (old_oid, new_oid) = (oid()?, oid()?);
    let status = *parts.next()?.first()?;
    status.is_ascii_uppercase().then_some(())?;
    Some(Record { old_mode, new_mode, old_oid, new_oid, status, path: String::new(), from: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const Z: &str = "0000000000000000000000000000000000000000";

    fn one(text: &[u8]) -> Record {
        let (mut records, undecodable) = parse(text).unwrap();
        assert!(undecodable.is_empty());
        assert_eq!(records.len(), 1);
        records.remove(0)
    }

    #[test]
    fn records_are_read() {
        let modified = one(format!(":100644 100755 {A} {Z} M\0a\nb\0").as_bytes());
        assert_eq!((modified.status, modified.path.as_str()), (b'M', "a\nb"));
        assert_eq!((modified.old_mode, modified.new_mode), (Mode::Regular, Mode::Executable));
        let renamed = one(format!(":100644 100644 {A} {Z} R086\0old\0new\0").as_bytes());
        assert_eq!((renamed.from.as_deref(), renamed.path.as_str()), (Some("old"), "new"));
        assert!(parse(b":100644 what\0a\0").is_err());
        assert!(parse(format!(":100644 100644 {A} {Z} M\0").as_bytes()).is_err());
        assert_eq!(parse(b"").unwrap().0, []);
    }

    #[test]
    fn half_a_rename_is_its_other_half() {
        let mut text = format!(":100644 100644 {A} {Z} R100\0old\0").into_bytes();
        text.extend(b"n\xffw\0");
        let (records, undecodable) = parse(&text).unwrap();
        assert_eq!((records[0].status, records[0].path.as_str()), (b'D', "old"));
        assert_eq!(undecodable, ["n\u{fffd}w"]);
    }
}
