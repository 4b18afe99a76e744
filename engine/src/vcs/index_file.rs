//! Git's index, read as the file that it is (`gitformat-index`, versions 2 to 4).
//!
//! Only the whole of a plain index is an answer: split and sparse indexes, extensions that
//! must be understood, entries with stages or flags, submodules, names that are no UTF-8
//! and anything unexpected give nothing, and git is asked. What the extensions know
//! (cached trees, untracked files, a file system monitor) is passed over, so nothing that
//! they claim is believed. That a file is unchanged is not judged here.

use super::index::Mode;

const SIGNATURE: &[u8] = b"DIRC";
/// Times, device, inode, mode, owner, group and size, 4 bytes each (two times have 8).
const STAT: usize = 40;
const MODE_AT: usize = 24;

/// The paths of an index with ids of `id` bytes, in its order, with their modes.
pub(super) fn entries(bytes: &[u8], id: usize) -> Option<Vec<(String, Mode)>> {
    let (head, body) = bytes.split_first_chunk::<12>()?;
    (&head[..4] == SIGNATURE).then_some(())?;
    let version = u32_at(head, 4)?;
    (2..=4).contains(&version).then_some(())?;
    let count = usize::try_from(u32_at(head, 8)?).ok()?;
    let trailer = body.len().checked_sub(id)?;
    let mut rest = &body[..trailer];
    let mut entries = Vec::with_capacity(count.min(rest.len() / STAT));
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mode = mode_of(u32_at(rest, MODE_AT)?)?;
        let flags = u16::from_be_bytes(*rest.get(STAT + id..)?.first_chunk::<2>()?);
        // Assume-valid, extended flags, and the two bits of a stage.
        (flags & 0xf000 == 0).then_some(())?;
        let fixed = STAT + id + 2;
        let name = &rest[fixed..];
        if version == 4 {
            let (cut, used) = cut_of(name)?;
            path.truncate(path.len().checked_sub(cut)?);
            let name = &name[used..];
            let end = memchr::memchr(0, name)?;
            path.extend_from_slice(&name[..end]);
            rest = &name[end + 1..];
        } else {
            let end = memchr::memchr(0, name)?;
            path.clear();
            path.extend_from_slice(&name[..end]);
            // One to eight NUL bytes make the length a multiple of eight.
            rest = rest.get((fixed + end + 8) & !7..)?;
        }
        let path = std::str::from_utf8(&path).ok().filter(|path| !path.is_empty())?;
        entries.push((path.to_owned(), mode));
    }
    extensions(rest).then_some(entries)
}

/// Whether these are extensions that may be passed over: their names begin with a capital.
fn extensions(mut rest: &[u8]) -> bool {
    while !rest.is_empty() {
        let Some((head, body)) = rest.split_first_chunk::<8>() else { return false };
        let length = u32_at(head, 4).and_then(|length| usize::try_from(length).ok());
        let after = length.and_then(|length| body.get(length..));
        match after {
            Some(after) if head[0].is_ascii_uppercase() => rest = after,
            _ => return false,
        }
    }
    true
}

/// How many bytes of the last path are dropped, and how many bytes said so: git's own
/// numbers of seven bits a byte, where each continuation adds one.
fn cut_of(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, at + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}

fn mode_of(bits: u32) -> Option<Mode> {
    match (bits >> 12, bits & 0o111) {
        (0b1000, 0) => Some(Mode::Regular),
        (0b1000, _) => Some(Mode::Executable),
        (0b1010, _) => Some(Mode::Link),
        // A submodule (0b1110), or a directory of a sparse index (0b0100).
        _ => None,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk::<4>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: u32, flags: u16, name: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; STAT];
        bytes[MODE_AT..MODE_AT + 4].copy_from_slice(&mode.to_be_bytes());
        bytes.extend([0xab; 20]);
        bytes.extend(flags.to_be_bytes());
        bytes.extend(name);
        let end = (bytes.len() + 8) & !7;
        bytes.resize(end, 0);
        bytes
    }

    fn index(entries: &[Vec<u8>], extensions: &[u8]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap().to_be_bytes();
        let mut bytes = [SIGNATURE, &2_u32.to_be_bytes(), &count].concat();
        entries.iter().for_each(|entry| bytes.extend(entry));
        bytes.extend(extensions);
        bytes.extend([0; 20]);
        bytes
    }

    fn names(bytes: &[u8]) -> Option<Vec<String>> {
        Some(entries(bytes, 20)?.into_iter().map(|(path, mode)| format!("{mode:?} {path}")).collect())
    }

    #[test]
    fn a_plain_index_is_read() {
        let plain =
            index(&[entry(0o100_644, 1, b"a"), entry(0o100_755, 4, b"b/cd"), entry(0o120_000, 1, b"e")], b"");
        assert_eq!(names(&plain).unwrap(), ["Regular a", "Executable b/cd", "Link e"]);
        let extended = index(&[entry(0o100_644, 1, b"a")], b"TREE\0\0\0\x02xx");
        assert_eq!(names(&extended).unwrap(), ["Regular a"]);
        for cut in 0..plain.len() {
            let cut_off = names(&plain[..cut]);
            assert!(cut_off.is_none_or(|names| names.len() == 3), "cut at {cut}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let one = |mode, flags, name: &[u8]| names(&index(&[entry(mode, flags, name)], b""));
        assert!(one(0o160_000, 1, b"a").is_none(), "a submodule");
        assert!(one(0o040_000, 1, b"a").is_none(), "a directory of a sparse index");
        assert!(one(0o100_644, 0x8001, b"a").is_none(), "assume-unchanged");
        assert!(one(0o100_644, 0x4001, b"a").is_none(), "skip-worktree, or intended to be added");
        assert!(one(0o100_644, 0x1001, b"a").is_none(), "a conflict");
        assert!(one(0o100_644, 3, b"c\xe9d").is_none(), "no UTF-8");
        assert!(names(&index(&[entry(0o100_644, 1, b"a")], b"link\0\0\0\0")).is_none(), "a split index");
    }

    #[test]
    fn paths_of_version_4_share_their_beginning() {
        assert_eq!(cut_of(&[5, 9]), Some((5, 1)));
        assert_eq!(cut_of(&[0x80, 0]), Some((128, 2)), "git adds one for each continuation");
        assert_eq!(cut_of(&[0x80]), None);
    }
}
